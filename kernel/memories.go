package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/foreign"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/retrieval"
)

// MemoryAnswer is what a memory of the host's own found on the user's words. Its
// order is kept, its scores are not looked at.
type MemoryAnswer struct {
	// Format says whose answer JSON is; "" finds out.
	Format foreign.Format
	// JSON is the answer as that system gave it.
	JSON []byte
	// Records are what the host read itself, in place of JSON or behind it. Their
	// Format may be any short name.
	Records []foreign.Record
	// Scope, if set, stands for that of every record: project for what any session
	// may see, session for what is private. Else each record's own counts.
	Scope memkernel.Scope
}

// ReasonTurnRecalled is why memories are left out that come when the user turn has
// been recalled for: what was sent stays, and nothing is added to it.
const ReasonTurnRecalled = "turn_recalled"

// maxNamed is how many bad records of an answer a plan names.
const maxNamed = 3

// memoryRecord is a record that may be shown, as a hit, with what its page is made
// of.
type memoryRecord struct {
	foreign.Record
	hit    retrieval.Hit
	masked mask.Secrets
}

// memories are the records that were handed over and may be shown, each answer's
// in its order, the answers in turn.
func (w *work) memories() []memoryRecord {
	var answers [][]memoryRecord
	longest := 0
	for i := range w.req.Memories {
		a := &w.req.Memories[i]
		rs := w.allowed(i, a, w.answer(i, a))
		answers, longest = append(answers, rs), max(longest, len(rs))
	}
	var out []memoryRecord
	for n := range longest {
		for _, rs := range answers {
			if n < len(rs) {
				out = append(out, rs[n])
			}
		}
	}
	return out
}

// answer reads one answer; what of it can't be read is a fault.
func (w *work) answer(i int, a *MemoryAnswer) []foreign.Record {
	var out []foreign.Record
	var bad []error
	if len(a.JSON) > 0 {
		parsed, err := foreign.Parse(a.JSON, a.Format)
		if err != nil {
			bad = append(bad, err)
		} else {
			out = parsed.Records
			for _, b := range parsed.Bad {
				bad = append(bad, b)
			}
		}
	}
	for n, r := range a.Records {
		if err := r.Check(); err != nil {
			bad = append(bad, &foreign.RecordError{Format: r.Format, Index: n + 1, ID: r.ID, Err: err})
			continue
		}
		out = append(out, r)
	}
	for n, err := range bad {
		if n == maxNamed {
			err = fmt.Errorf("%d more records can't be read", len(bad)-n)
		}
		w.silent(retrieval.BackendError, fmt.Sprintf("memories %d: %v", i+1, err))
		if n == maxNamed {
			break
		}
	}
	return out
}

func (w *work) silent(why retrieval.Reason, detail string) {
	w.fault(Fault{Code: FaultSilentRecall, Cause: string(why), Detail: detail})
}

// allowed keeps private records from sessions that are shared.
func (w *work) allowed(i int, a *MemoryAnswer, rs []foreign.Record) []memoryRecord {
	var out []memoryRecord
	denied := 0
	for _, r := range rs {
		if a.Scope != "" {
			r.Scope = a.Scope
		}
		m := w.memoryRecord(r)
		if r.Scope != memkernel.ScopeProject && !w.req.Private {
			denied++
			w.leave(&m.hit, string(retrieval.Denied))
			continue
		}
		out = append(out, m)
	}
	if denied > 0 {
		w.silent(retrieval.Denied, fmt.Sprintf("memories %d: %d of %d records are private, and the session is shared", i+1, denied, len(rs)))
	}
	return out
}

// memoryRecord makes the hit of a record. Its id is the page that it becomes if it
// is shown.
func (w *work) memoryRecord(r foreign.Record) memoryRecord {
	m := memoryRecord{Record: r}
	mask := w.s.masker
	m.Text, m.masked = mask.Find(r.Text)
	id := ids.Page("fm", w.s.name, string(r.Format), r.ID, ids.Hash(m.Text))
	m.hit = retrieval.Hit{Kind: retrieval.Foreign, ID: id, StartLine: 1, EndLine: 1 + strings.Count(m.Text, "\n"), Origin: mask.Text(r.Origin()),
		Date: r.Date(), Score: r.Score, Citation: citation(m.ref(mask)), Text: m.Text}
	if r.Title != "" {
		m.hit.Trail = []string{mask.Text(r.Title)}
	}
	return m
}

// keepMemories makes pages of the records that a block shows: of type preference,
// with the record as provenance.
func (w *work) keepMemories(items []retrieval.Item, records []memoryRecord, turn string) {
	for _, it := range items {
		i := slices.IndexFunc(records, func(m memoryRecord) bool { return it.Kind == retrieval.Foreign && m.hit.ID == it.ID })
		if i < 0 {
			continue
		}
		m := &records[i]
		p := &pagevm.Page{ID: it.ID, Type: pagevm.Preference, Scope: m.Scope, MessageKey: turn, Created: m.Created, Masked: m.masked.Total(), MaskedBy: m.masked,
			Refs: []memkernel.Ref{m.ref(w.s.masker)}}
		w.ingester().Keep(p, m.Text, func(p *pagevm.Page) []pagevm.Rep {
			return represent.Preference(p.ID, m.hit.Origin, m.Text, w.req.Resolver, w.Represent)
		})
	}
}

// ref is the record as provenance, without a secret in it.
func (m *memoryRecord) ref(mask *mask.Masker) memkernel.Ref {
	r := m.Ref()
	r.Path = mask.Text(r.Path)
	return r
}

// leave notes a hit that is not shown.
func (w *work) leave(h *retrieval.Hit, reason string) {
	w.left = append(w.left, Excluded{Kind: RegionRetrieval, ID: h.Citation, Tokens: w.scale(w.Count.Text(h.Text)), Reason: reason})
}

// leaveMemories notes that the answers were not looked at.
func (w *work) leaveMemories(reason string) {
	for i := range w.req.Memories {
		w.left = append(w.left, Excluded{Kind: RegionRetrieval, ID: fmt.Sprintf("memories %d", i+1), Reason: reason})
	}
}

// origins say where the cited pages of other systems come from, one for each
// citation, "" for what is our own; nil if all is.
func (w *work) origins(citations []string) []string {
	var out []string
	for i, c := range citations {
		if p := w.page(c); p != nil && p.Type == pagevm.Preference && len(p.Refs) > 0 {
			if out == nil {
				out = make([]string, len(citations))
			}
			out[i] = citation(p.Refs[0])
		}
	}
	return out
}
