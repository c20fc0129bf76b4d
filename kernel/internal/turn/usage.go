package turn

import (
	"cmp"
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

// opUsage is a row of a session's usage.jsonl: the bill of a call next to its plan. The file is a
// report, and nothing depends on it.
const opUsage = "usage"

// coldShare is the share of the previous prompt that a call must read from the cache to count as
// warm.
const coldShare = 0.6

// compareBill returns the row that compares a bill with a conversation's last plan.
func compareBill(u *memkernel.Usage, l *branch.State, m cachelayout.Model) billing.Call {
	row := sentCall(u, l, m)
	row.Plan, row.PlannedInputTokens, row.Planned = l.Plan, l.Planned+l.LedgerFixed(), l.Expected
	e := row.Planned
	if e == nil {
		return row
	}
	planned, _ := row.Expected()
	row.PlannedInputTokens = planned.InputTokens
	cold := e.Cold
	if before := e.BeforeTokens; caches(m) && before >= max(1, m.MinCacheTokens) && !e.Cut {
		cold = float64(u.CacheReadTokens) < coldShare*float64(before)
		row.ColdSeen = &cold
	}
	if a := &e.Alone; a.Tokens > 0 && !a.Same {
		whole := max(u.InputTotal()+a.Tokens-planned.InputTokens, 0)
		read := max(whole-a.Fresh, 0)
		if cold || !caches(m) {
			read = min(u.CacheReadTokens, whole) // like now, only others' prefixes are cached
		}
		row.WithoutUSD = nil
		cut := new(float64) // the cost of the host's compaction
		switch {
		case a.Summarised == 0:
		case cold || !caches(m):
			cut = m.Cost(0, 0, 0, a.Summarised, cachelayout.HostSummary)
		default:
			cut = m.Cost(a.Summarised, 0, 0, 0, cachelayout.HostSummary)
		}
		if call := priceOf(withoutPlan(*u, whole, read), m); call != nil && cut != nil {
			row.WithoutUSD = new(*call + *cut)
		}
	}
	return row
}

// extendBill returns the row of a call that was sent with the prompt of a conversation's last plan
// and the new messages. Messages that the plan left out are missing from this call, too. Without
// the plan they would have been read from a warm cache, or else written to the cache.
func extendBill(u *memkernel.Usage, l *branch.State, m cachelayout.Model) billing.Call {
	row := sentCall(u, l, m)
	if e := l.Expected; e != nil && e.Alone.Tokens > 0 && !e.Alone.Same {
		last := billing.Call{Planned: e}
		planned, _ := last.Expected()
		more := e.Alone.Tokens - planned.InputTokens
		whole, read := max(u.InputTotal()+more, 0), u.CacheReadTokens
		if float64(read) >= coldShare*float64(planned.InputTokens) {
			read = max(read+more, 0)
		}
		row.WithoutUSD = priceOf(withoutPlan(*u, whole, min(read, whole)), m)
	}
	return row
}

// sentCall returns the row of a call that would have cost as much without the kernel.
func sentCall(u *memkernel.Usage, l *branch.State, m cachelayout.Model) billing.Call {
	row := billing.Call{Branch: l.Branch, Model: l.Model, Usage: *u}
	priceCall(&row, m)
	row.WithoutUSD = row.BilledUSD
	return row
}

// priceCall sets the cost of a call.
func priceCall(row *billing.Call, m cachelayout.Model) {
	row.BilledUSD = priceOf(row.Usage, m)
	input := row.Usage
	input.OutputTokens = 0
	row.BilledCostUSD = priceOf(input, m)
}

func priceOf(u memkernel.Usage, m cachelayout.Model) *float64 {
	return m.Cost(u.CacheReadTokens, u.CacheWrite5mTokens, u.CacheWrite1hTokens, u.InputTokens, u.OutputTokens)
}

// withoutPlan returns the bill that a prompt of whole tokens would have had in place of the prompt
// that was billed as u. read is the number of tokens that the prompt reads from the cache. The
// other tokens are written or uncached in the same way as the tokens of the call.
func withoutPlan(u memkernel.Usage, whole, read int) memkernel.Usage {
	rest := whole - read
	out := memkernel.Usage{CacheReadTokens: read, InputTokens: rest, OutputTokens: u.OutputTokens}
	switch short, long := u.CacheWrite5mTokens, u.CacheWrite1hTokens; {
	case short == 0 && long == 0:
	case short == 0:
		out.InputTokens = min(u.InputTokens, rest)
		out.CacheWrite1hTokens = rest - out.InputTokens
	default: // tokens written for the long lifetime come first
		out.InputTokens = min(u.InputTokens, rest)
		out.CacheWrite1hTokens = min(long, rest-out.InputTokens)
		out.CacheWrite5mTokens = rest - out.InputTokens - out.CacheWrite1hTokens
	}
	return out
}

func caches(m cachelayout.Model) bool { return m.Cache != "" && m.Cache != cachelayout.CacheNone }

// readUsage reads a usage.jsonl. It leaves out an incomplete last line, and reports it in torn.
// Rows that several processes logged count once: the last row of a plan counts, and for a call the
// row of its plan.
func readUsage(dir store.Store, session string) (rows []billing.Call, torn bool, err error) {
	j, err := journal.OpenJournalIn(dir, folder.UsageFile, &journal.Options{ReadOnly: true, Derived: true})
	if err != nil {
		return nil, false, err
	}
	plans, calls, n := map[string]int{}, map[string]int{}, 0
	for rec, err := range j.Records() {
		if err != nil {
			return nil, false, err
		}
		if n++; rec.Op != opUsage {
			continue // a newer version wrote the row
		}
		row := billing.Call{Session: session, Time: rec.Time}
		if err := readRow(&row, rec.Body); err != nil {
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
	return onceEach(rows), j.Torn() > 0, nil
}

// onceEach returns rows with each call once. If a call was sent through memkernel and is also in
// the host's own log, the host's row is dropped. The rows are matched by equal bills of the input,
// because logs often have only a part of the output.
func onceEach(rows []billing.Call) []billing.Call {
	sent := map[billing.Tokens]int{}
	for i := range rows {
		if rows[i].Ours() {
			sent[rows[i].Billed()]++
		}
	}
	return slices.DeleteFunc(rows, func(r billing.Call) bool {
		again := !r.Ours() && sent[r.Billed()] > 0
		if again {
			sent[r.Billed()]--
		}
		return again
	})
}

// readRow reads the figures of a row that any version wrote.
func readRow(r *billing.Call, body []byte) error {
	type figures memkernel.Usage // without the checks for figures of hosts
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

// logUsage appends to usage.jsonl, which is a report and not state.
func logUsage(dir store.Store, rows []billing.Call) error {
	if len(rows) == 0 {
		return nil
	}
	var records []store.Record
	for i := range rows {
		raw, err := json.Marshal(&rows[i])
		if err != nil {
			return err
		}
		id := cmp.Or(rows[i].Plan, "call:"+rows[i].Call)
		records = append(records, store.Record{Op: opUsage, ID: strings.ToValidUTF8(id, "\ufffd"), Time: rows[i].Time, Body: raw})
	}
	j, err := journal.OpenJournalIn(dir, folder.UsageFile, &journal.Options{Derived: true})
	var damage *store.LogError
	if errors.As(err, &damage) {
		if _, err = store.PutAside(dir, folder.UsageFile); err == nil {
			j, err = journal.OpenJournalIn(dir, folder.UsageFile, &journal.Options{Derived: true})
		}
	}
	if err != nil {
		return fmt.Errorf("log usage: %w", err)
	}
	_, err = j.Append(false, records...)
	return err
}

// Usage reads the bills for the calls of all sessions, or of one session. It writes nothing. For a
// damaged line it returns an error that names the file and the line. none returns the error for a
// missing session.
func Usage(ctx context.Context, state store.Store, o billing.Options, none func(key string) error) (*billing.Report, error) {
	folders, err := folder.All(state)
	if err != nil {
		return nil, err
	}
	if o.Session != "" {
		name := folder.Of(o.Session)
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
		rows, torn, err := readUsage(dir, key)
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
