package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/retrieval/foreign"
)

// maxNamed is the number of bad records of an answer that a plan names.
const maxNamed = 3

// memoryRecord is a record that may be shown, as a hit, with the source of its page.
type memoryRecord struct {
	foreign.Record
	hit    retrieval.Hit
	masked mask.Secrets
}

// memoryRecords returns the records that were handed over and may be shown. It takes one record
// of each answer at a time, and keeps the order of each answer. It also returns the private
// records that a shared session may not see.
func memoryRecords(c *call, l *limits) (out []memoryRecord, denied []api.Excluded) {
	var answers [][]memoryRecord
	longest := 0
	for i := range c.Request.Memories {
		from := &c.Request.Memories[i]
		var rs []memoryRecord
		private, all := 0, answer(c, i, from)
		for _, r := range all {
			if from.Scope != "" {
				r.Scope = from.Scope
			}
			m := recordOf(c, r)
			if r.Scope != memkernel.ScopeProject && !c.Request.Private {
				private++
				denied = append(denied, leftOut(c, l, m.hit.Citation, m.hit.Text, retrieval.LeftReason(retrieval.Denied)))
				continue
			}
			rs = append(rs, m)
		}
		if private > 0 {
			silent(c, retrieval.Denied, fmt.Sprintf("memories %d: %d of %d records are private, and the session is shared", i+1, private, len(all)))
		}
		answers, longest = append(answers, rs), max(longest, len(rs))
	}
	for n := range longest {
		for _, rs := range answers {
			if n < len(rs) {
				out = append(out, rs[n])
			}
		}
	}
	return out, denied
}

// answer reads one answer. A part of it that can't be read is a fault.
func answer(c *call, i int, from *api.MemoryAnswer) []foreign.Record {
	var out []foreign.Record
	var bad []error
	if len(from.JSON) > 0 {
		parsed, err := foreign.Parse(from.JSON, from.Format)
		if err != nil {
			bad = append(bad, err)
		} else {
			out = parsed.Records
			for _, b := range parsed.Bad {
				bad = append(bad, b)
			}
		}
	}
	for n, r := range from.Records {
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
		silent(c, retrieval.BackendError, fmt.Sprintf("memories %d: %v", i+1, err))
		if n == maxNamed {
			break
		}
	}
	return out
}

func silent(c *call, why retrieval.Reason, detail string) {
	c.fault(fault.Fault{Code: fault.SilentRecall, Cause: string(why), Detail: detail})
}

// recordOf makes the hit of a record. The hit's id is the page that the record becomes if it is
// shown.
func recordOf(c *call, r foreign.Record) memoryRecord {
	m := memoryRecord{Record: r}
	mask := c.Maker.Mask
	m.Text, m.masked = mask.Find(r.Text)
	id := ingest.PageID("fm", c.prior.Name, string(r.Format), r.ID, ingest.Hash(m.Text))
	m.hit = retrieval.Hit{Kind: retrieval.Foreign, ID: id, StartLine: 1, EndLine: 1 + strings.Count(m.Text, "\n"), Origin: mask.Text(r.Origin()),
		Date: r.Date(), Score: r.Score, Citation: citation(m.ref(mask)), Text: m.Text}
	if r.Title != "" {
		m.hit.Trail = []string{mask.Text(r.Title)}
	}
	return m
}

// keepMemories makes pages of the records that a block shows. The pages have the type preference
// and the record as provenance.
func keepMemories(c *call, items []retrieval.Item, records []memoryRecord, turn string) {
	for _, it := range items {
		i := slices.IndexFunc(records, func(m memoryRecord) bool { return it.Kind == retrieval.Foreign && m.hit.ID == it.ID })
		if i < 0 {
			continue
		}
		m := &records[i]
		p := &pagevm.Page{ID: it.ID, Type: pagevm.Preference, Scope: m.Scope, MessageKey: turn, Created: m.Created, Masked: m.masked.Total(), MaskedBy: m.masked,
			Refs: []memkernel.Ref{m.ref(c.Maker.Mask)}}
		c.Maker.Keep(p, m.Text, func(p *pagevm.Page) []pagevm.Rep {
			return represent.Preference(p.ID, m.hit.Origin, m.Text, c.Request.Resolver)
		})
	}
}

// ref returns the record as provenance, with secrets masked.
func (m *memoryRecord) ref(mask *mask.Masker) memkernel.Ref {
	r := m.Ref()
	r.Path = mask.Text(r.Path)
	return r
}

// unread names the answers of other systems that were not examined, and why.
func unread(c *call, why string) (out []api.Excluded) {
	for i := range c.Request.Memories {
		out = append(out, api.Excluded{Kind: cachelayout.RegionRetrieval, ID: fmt.Sprintf("memories %d", i+1), Reason: why})
	}
	return out
}
