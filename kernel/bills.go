package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/transcript"
)

// bill is what a call was billed that a delivery tells of.
type bill struct {
	message    *memkernel.Message
	usage      memkernel.Usage
	call, turn string
}

// bills are those of the conversation's messages, and the delivery's own where it is of
// no plan. newest is the last call's, which a plan may have been made for.
func (t *Turn) bills() (out []bill, newest bill) {
	ends, start := transcript.TurnEnds(t.Messages), 0
	last := -1
	for i := range t.Messages {
		if m := &t.Messages[i]; m.Role == memkernel.RoleAssistant && m.Origin == memkernel.OriginHost {
			last = i
		}
	}
	for i := range last + 1 {
		if len(ends) > 0 && i == ends[0] {
			ends, start = ends[1:], i
		}
		m := &t.Messages[i]
		u := m.Usage
		if i == last && (u == nil || u.InputTotal() == 0) && t.PlanID == "" && t.answers(i) {
			u = t.Usage
		}
		billed := u != nil && u.InputTotal() > 0
		if m.Role != memkernel.RoleAssistant || m.Origin != memkernel.OriginHost || !billed && i < last {
			continue
		}
		newest = bill{message: m, call: callID(m, i), turn: callID(&t.Messages[start], start)}
		if billed {
			newest.usage = *u
			out = append(out, newest)
		}
	}
	return out, newest
}

// answers tells whether nobody has spoken since an answer.
func (t *Turn) answers(i int) bool {
	return !slices.ContainsFunc(t.Messages[i+1:], func(m memkernel.Message) bool { return !transcript.HasResults(m) })
}

// callID names a message in usage.jsonl. The kernel's keys of messages without one of
// the host's change when the host takes away what stood before them; when they were
// written, and what was billed for them, does not.
func callID(m *memkernel.Message, i int) string {
	switch {
	case m.Key != "":
		return m.Key
	case m.Time.IsZero():
		return fmt.Sprintf("#%d %s", i, ingest.HashMessage(m))
	case m.Usage == nil:
		return m.Time.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprintf("%s %d", m.Time.UTC().Format(time.RFC3339Nano), m.Usage.InputTotal())
}

// takeBill learns what was billed: the plan's call, and once for each all calls that the
// delivery tells of. The turn stands whatever comes of it.
func takeBill(s *session.Session, o *Observation, w *intake, t Turn) {
	if t.More && t.PlanID == "" {
		return // the last delivery tells of all
	}
	told, newest := t.bills()
	row, fault := learn(s, t, w.model)
	var rows []UsageRow
	if row != nil {
		row.Turn, row.Time = newest.turn, t.Now
		if newest.usage != (memkernel.Usage{}) {
			row.Call = newest.call
		}
		rows = append(rows, *row)
	}
	if fault != nil {
		o.Faults = append(o.Faults, *fault)
	}
	if !t.More {
		rows = append(rows, unlogged(s, w.prices, &t, told, row)...)
	}
	if err := logUsage(s.Files, rows); err != nil {
		o.Faults = append(o.Faults, Fault{Code: FaultNotRecorded, Detail: err.Error()})
	}
}

// unlogged are the rows of calls that usage.jsonl does not have, nor the row of a plan.
func unlogged(s *session.Session, prices *cachelayout.Book, t *Turn, told []bill, planned *UsageRow) (rows []UsageRow) {
	if len(told) == 0 {
		return nil
	}
	if s.Billed == nil {
		s.Billed = map[string]bool{}
		logged, _, err := readUsage(s.Files, s.Key)
		if err != nil {
			logged = nil // a damaged report is put aside when it is written
		}
		for i := range logged {
			s.Billed[logged[i].Branch+"\x00"+logged[i].Call] = true
		}
	}
	if planned != nil {
		s.Billed[t.Branch+"\x00"+planned.Call] = true
	}
	for _, b := range told {
		if id := t.Branch + "\x00" + b.call; !s.Billed[id] {
			s.Billed[id] = true
			rows = append(rows, b.row(prices, t))
		}
	}
	return rows
}

// row is a bill without a plan.
func (b *bill) row(prices *cachelayout.Book, t *Turn) UsageRow {
	r := UsageRow{Branch: t.Branch, Model: b.message.Model, Usage: b.usage, Call: b.call, Turn: b.turn, Time: b.message.Time}
	if r.Model == "" {
		r.Model = t.Model
	}
	if r.Time.IsZero() {
		r.Time = t.Now
	}
	m, _ := prices.Lookup(r.Model, r.Time)
	u := b.usage
	r.BilledCostUSD = m.Cost(u.CacheReadTokens, u.CacheWrite5mTokens, u.CacheWrite1hTokens, u.InputTokens, 0)
	return r
}

// logUsage appends to usage.jsonl, which is a report and not state.
func logUsage(dir store.Store, rows []UsageRow) error {
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
