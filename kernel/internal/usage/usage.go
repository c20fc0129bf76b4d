// Package usage holds what calls were billed against what was planned: the rows of a session's
// usage.jsonl, which is a report and no state.
package usage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/pagevm/journal"
)

const opUsage = "usage"

// coldShare is the share of the prompt before below which a read is a miss.
const coldShare = 0.6

// Compare sets a bill beside a conversation's last plan.
func Compare(u *memkernel.Usage, l *branch.State, m cachelayout.Model) billing.Call {
	row := billing.Call{Plan: l.Plan, Branch: l.Branch, Model: l.Model, PlannedInputTokens: l.Planned + l.LedgerFixed(), Planned: l.Expected, Usage: *u}
	row.BilledCostUSD = m.Cost(u.CacheReadTokens, u.CacheWrite5mTokens, u.CacheWrite1hTokens, u.InputTokens, 0)
	e := row.Planned
	if e == nil {
		return row
	}
	row.PlannedInputTokens = e.UncachedTokens + e.CacheReadTokens + e.CacheWrite5mTokens + e.CacheWrite1hTokens
	cold := e.Cold
	if before := l.Anchor.Total; m.Cache != "" && m.Cache != cachelayout.CacheNone && before >= max(1, m.MinCacheTokens) && !e.Cut {
		cold = float64(u.CacheReadTokens) < coldShare*float64(before)
		row.ColdSeen = &cold
	}
	row.SavedCostUSD = savedCost(*u, e, cold, m)
	return row
}

// savedCost is how much dearer a call would have been without any cut. Without the
// cut of a warm cache, nearly all that was written would have been read.
func savedCost(u memkernel.Usage, e *billing.Expected, cold bool, m cachelayout.Model) *float64 {
	read, w5, w1, plain := u.CacheReadTokens, u.CacheWrite5mTokens, u.CacheWrite1hTokens, u.InputTokens
	now, saved := m.Cost(read, w5, w1, plain, 0), e.SavedTokens
	switch {
	case !cold && e.Cut:
		read, w5, w1 = read+w5+w1+saved, 0, 0
	case !cold:
		read += saved
	case w1 > w5:
		w1 += saved
	case w5 > 0:
		w5 += saved
	default:
		plain += saved
	}
	more := m.Cost(read, w5, w1, plain, 0)
	if now == nil || more == nil {
		return nil
	}
	d := *more - *now
	return &d
}

// Read reads a usage.jsonl. A torn last line is left out; torn tells that
// there was one. What was logged again, by another process, counts once: a plan by its
// last row, a call by that of its plan.
func Read(dir store.Store, session string) (rows []billing.Call, torn bool, err error) {
	j, err := journal.OpenJournalIn(dir, folder.UsageFile, &journal.Options{ReadOnly: true, Derived: true})
	if err != nil {
		return nil, false, err
	}
	defer j.Close()
	plans, calls, n := map[string]int{}, map[string]int{}, 0
	for rec, err := range j.Records() {
		if err != nil {
			return nil, false, err
		}
		if n++; rec.Op != opUsage {
			continue // a newer version's
		}
		row := billing.Call{Session: session, Time: rec.Time}
		if err := read(&row, rec.Body); err != nil {
			return nil, false, fmt.Errorf("%s, line %d: %w", dir.Where(folder.UsageFile), n, err)
		}
		if row.Planned != nil && !row.Planned.At.IsZero() {
			row.Time = row.Planned.At
		}
		i, ok := plans[row.Plan]
		if !ok || row.Plan == "" {
			i, ok = calls[row.Branch+"\x00"+row.Call]
			ok = ok && row.Call != "" && (row.Plan == "" || rows[i].Plan == "")
		}
		switch {
		case !ok:
			i = len(rows)
			rows = append(rows, row)
		case row.Plan != "":
			rows[i] = row
		}
		plans[row.Plan], calls[row.Branch+"\x00"+row.Call] = i, i
	}
	return rows, j.Torn() > 0, nil
}

// read takes figures as they were written, by whatever version.
func read(r *billing.Call, body []byte) error {
	type figures memkernel.Usage // without the checks that hosts' figures get
	type plain billing.Call
	var usage struct {
		Usage figures `json:"usage"`
	}
	row := struct {
		*plain
		Usage struct{} `json:"usage"`
	}{plain: (*plain)(r)}
	err := errors.Join(json.Unmarshal(body, &row), json.Unmarshal(body, &usage))
	r.Usage = memkernel.Usage(usage.Usage)
	return err
}

// Log appends to usage.jsonl, which is a report and not state.
func Log(dir store.Store, rows []billing.Call) error {
	if len(rows) == 0 {
		return nil
	}
	var records []journal.Record
	for i := range rows {
		raw, err := json.Marshal(&rows[i])
		if err != nil {
			return err
		}
		id := rows[i].Plan
		if id == "" {
			id = "call:" + rows[i].Call
		}
		records = append(records, journal.Record{Op: opUsage, ID: strings.ToValidUTF8(id, "\ufffd"), Time: rows[i].Time, Body: raw})
	}
	j, err := journal.OpenJournalIn(dir, folder.UsageFile, &journal.Options{Derived: true})
	var damage *journal.DamageError
	if errors.As(err, &damage) {
		if _, err = store.PutAside(dir, folder.UsageFile); err == nil {
			j, err = journal.OpenJournalIn(dir, folder.UsageFile, &journal.Options{Derived: true})
		}
	}
	if err != nil {
		return fmt.Errorf("log usage: %w", err)
	}
	_, err = j.Append(false, records...)
	return errors.Join(err, j.Close())
}

// All reads what was billed for the calls of all sessions, or of one. It writes nothing. A
// damaged line is an error that names file and line; none is the error for a session that
// is not there.
func All(ctx context.Context, state store.Store, o billing.Options, none func(key string) error) (*billing.Report, error) {
	folders, err := folder.All(state)
	if err != nil {
		return nil, err
	}
	if o.Session != "" {
		name, err := folder.Of(state, o.Session)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(folders, name) {
			return nil, fmt.Errorf("stats: %w", none(o.Session))
		}
		folders = []string{name}
	}
	calls, cut := []billing.Call{}, []string{}
	for _, f := range folders {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		dir := folder.In(state, f)
		if _, err := dir.Stat(folder.UsageFile); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		key, err := folder.KeyIn(state, f)
		if err != nil {
			return nil, fmt.Errorf("stats: %w", err)
		}
		rows, torn, err := Read(dir, key)
		if err != nil {
			return nil, fmt.Errorf("stats: %w", err)
		}
		if torn {
			cut = append(cut, dir.Where(folder.UsageFile))
		}
		calls = append(calls, rows...)
	}
	out := billing.Of(slices.DeleteFunc(calls, func(r billing.Call) bool { return r.Time.Before(o.Since) }), o.Location)
	out.Torn = cut
	return out, nil
}
