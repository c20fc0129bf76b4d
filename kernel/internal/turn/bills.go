package turn

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/transcript"
)

// bill is the bill of one call in a delivered conversation.
type bill struct {
	message    *memkernel.Message
	usage      memkernel.Usage
	call, turn string
	// news are the messages since the previous billed call.
	news []memkernel.Message
}

// billsOf returns the bills of the conversation's messages. If the delivery names no plan, its own
// bill is included. newest is the last call, for which a plan may have been made, with its bill if
// that is known.
func billsOf(t *api.Turn) (out []bill, newest bill) {
	ends, start, from := transcript.TurnEnds(t.Messages, true), 0, 0
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
		if i == last && (u == nil || u.InputTotal() == 0) && t.PlanID == "" && t.Sent == "" && !slices.ContainsFunc(t.Messages[i+1:], func(m memkernel.Message) bool { return !transcript.HasResults(m) }) {
			u = t.Usage // nobody spoke after this answer, so the delivery's bill is its bill
		}
		billed := u != nil && u.InputTotal() > 0
		if m.Role != memkernel.RoleAssistant || m.Origin != memkernel.OriginHost || !billed && i < last {
			continue
		}
		newest = bill{message: m, call: callID(m, i), turn: callID(&t.Messages[start], start)}
		if billed {
			newest.usage, newest.news = *u, t.Messages[from:i]
			from = i
			out = append(out, newest)
		}
	}
	return out, newest
}

// callID names a message in usage.jsonl. The kernel's keys of messages without a key of the host
// change when the host removes earlier messages. The time of writing and the bill do not change.
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

// takeBill learns from the bill of the plan's call, and logs the bills of all calls in the
// delivery, each once. The turn is committed even if takeBill fails.
func takeBill(s *session.Session, o *api.Observation, w *intake, t api.Turn) {
	if t.More && t.PlanID == "" {
		return // the last delivery has all bills
	}
	told, newest := billsOf(&t)
	if t.Reported == nil && newest.message != nil {
		t.Reported = newest.message.Reported
	}
	row := learn(s, o, t, w.model)
	if row == nil && t.Sent != "" {
		row = unplanned(s, t, w.model)
	}
	if row != nil {
		row.Turn, row.Time = newest.turn, t.Now
		if t.Sent == "" && newest.usage != (memkernel.Usage{}) {
			row.Call = newest.call
		}
		o.Bills = append(o.Bills, *row)
	}
	var unread error
	if !t.More && len(told) > 0 {
		if unread = readBilled(s); unread != nil {
			told = nil
		} else if row != nil {
			s.Billed[billID(t.Branch, row.Call)] = true
		}
		for _, b := range told {
			if id := billID(t.Branch, b.call); !s.Billed[id] {
				s.Billed[id] = true
				o.Bills = append(o.Bills, w.row(&b))
			}
		}
	}
	o.Faults = append(o.Faults, fault.Of(fault.NotRecorded, errors.Join(unread, logUsage(s.Files, o.Bills)))...)
}

func billID(branch, call string) string { return branch + "\x00" + call }

// readBilled reads, on the first call, which bills usage.jsonl has.
func readBilled(s *session.Session) error {
	if s.Billed != nil {
		return nil
	}
	logged, _, err := readUsage(s.Files, s.Key)
	if store.OutOfReach(err) {
		return err
	}
	if err != nil {
		logged = nil // a damaged report is put aside when it is written
	}
	s.Billed = map[string]bool{}
	for i := range logged {
		s.Billed[billID(logged[i].Branch, logged[i].Call)] = true
	}
	return nil
}

// firstSight returns the results in new messages that a hook shortened before the model saw them,
// and how much of such results the model fetched. It skips a result whose content can't be read.
func (w *intake) firstSight(news []memkernel.Message) (out []billing.FirstSight) {
	for i := range news {
		for j := range news[i].Parts {
			r := news[i].Parts[j].Result
			if r == nil {
				continue
			}
			shown := func() int { return w.Count.Part(&news[i].Parts[j]) }
			if page := w.Shaped(r); page != nil && page.Door() != "" {
				if whole, err := w.Whole(page); err == nil {
					out = billing.AddFirstSight(out, billing.FirstSight{Kind: page.Door(), Results: 1, Tokens: w.Count.Text(whole) - shown()})
				}
			}
			call := w.Calls[r.CallID]
			if call == nil || !strings.HasSuffix(call.Name, "memory_get") && !strings.HasSuffix(call.Name, "memory_search") && !represent.Resolves("memkernel get", call.Name, call.Input) {
				continue
			}
			for _, id := range pagevm.Handles(call.Input) {
				if of := w.Known[id]; of != nil && of.Door() != "" {
					out = billing.AddFirstSight(out, billing.FirstSight{Kind: of.Door(), FetchedTokens: shown()})
				}
			}
		}
	}
	return out
}

// row returns the row of a bill for a call without a plan.
func (w *intake) row(b *bill) billing.Call {
	t := w.turn
	r := billing.Call{Branch: t.Branch, Model: cmp.Or(b.message.Model, t.Model), Usage: b.usage, Reported: b.message.Reported, Call: b.call, Turn: b.turn, Time: b.message.Time,
		FirstSight: w.firstSight(b.news)}
	if r.Time.IsZero() {
		r.Time = t.Now
	}
	m, _ := w.prices.Lookup(r.Model, r.Time)
	priceCall(&r, m)
	return r
}

// unplanned returns the row of a call without a plan of its own. It returns nil if the turn has
// no bill.
func unplanned(s *session.Session, t api.Turn, m cachelayout.Model) *billing.Call {
	if t.Usage == nil || t.Usage.InputTotal() == 0 {
		return nil
	}
	l := s.Branches.All[branch.Key{Branch: t.Branch, Model: t.Model}]
	if l == nil || t.Sent == api.SentWhole {
		l = branch.New(s.Key, t.Branch, t.Model)
	}
	row := extendBill(t.Usage, l, m)
	row.Sent = t.Sent
	row.Call = t.Sent + " " + t.Now.UTC().Format(time.RFC3339Nano)
	row.Reported = t.Reported
	return &row
}

// plausible reports whether the measured size actual fits our count of a prompt. It may well be
// larger, because some hosts do not show us their system prompt and tools.
func plausible(actual, counted int) bool {
	const maxHidden = 200_000
	return 5*actual >= 2*counted && actual <= 10*counted+maxHidden
}

// unbilled returns the conversation whose newest plan the turn names. It returns nil if the turn
// names no such plan, or if the plan's bill was taken before.
func unbilled(s *session.Session, t *api.Turn) *branch.State {
	l := s.Branches.All[branch.Key{Branch: t.Branch, Model: t.Model}]
	if l == nil || l.Plan == "" || l.Plan != t.PlanID || l.Billed == t.PlanID {
		return nil
	}
	return l
}

// learn uses the provider's bill for a planned call. It trains the model's calibration, and anchors
// the conversation on the measured prompt. It returns the row to log.
func learn(s *session.Session, o *api.Observation, t api.Turn, m cachelayout.Model) *billing.Call {
	l := unbilled(s, &t)
	if t.Usage == nil || l == nil {
		return nil
	}
	actual, fixed := t.Usage.InputTotal(), l.LedgerFixed()
	if counted := l.Planned + fixed; !plausible(actual, counted) {
		o.Faults = append(o.Faults, fault.Fault{Code: "usage_ignored", Detail: fmt.Sprintf("%d tokens were reported for a prompt of about %d", actual, counted)})
		return nil
	}
	row := compareBill(t.Usage, l, m)
	row.Reported = t.Reported
	err := s.Learn(t.Model, func(cal *budget.Calibration) bool {
		cal.Observe(budget.Count{Tokens: l.Proj.Tokens(), Kind: budget.Estimated}, len(l.Proj.Items), actual-fixed)
		if shown := m.Bind(cachelayout.Binding(cal.Binding)).Shown(t.Reported.Of(memkernel.RemovedPrefix) > 0, l.LastCall().DropOption); shown != "" {
			cal.Binding = string(shown)
		}
		return true
	})
	n := *l
	n.Billed, n.Reported = t.PlanID, t.Reported
	if row.ColdSeen != nil {
		n.Ledger.Hit = !*row.ColdSeen
	}
	n.Overflow = l.Overflow.Billed(l.Proj.Tokens(), actual-fixed)
	n.Anchor = branch.Anchor{Total: actual, Carry: len(l.Proj.Carry), Items: len(l.Proj.Items), Generation: l.Proj.Generation, Fixed: fixed}
	s.Branches.All[branch.Key{Branch: t.Branch, Model: t.Model}] = &n
	o.Faults = append(o.Faults, fault.Of(fault.NotRecorded, err)...)
	return &row
}
