package reuse

import (
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/replay/recall"
	"github.com/memkernel/memkernel/transcript"
)

// Cell is a group of pages or names by what is known of them before a call.
type Cell struct {
	// What is counted: page, read again, size, state or name.
	Table string
	Row   string
	// Col is the bucket of age, or of size.
	Col string
}

// Count is what a cell has seen.
type Count struct {
	// Units are page-calls or name-calls, Tokens token-calls.
	Units, Tokens float64
	// Hits are references, or reads of the path again.
	Hits float64
}

// Counts are those of one session.
type Counts map[Cell]Count

func (c Counts) add(k Cell, d Count) {
	n := c[k]
	c[k] = Count{n.Units + d.Units, n.Tokens + d.Tokens, n.Hits + d.Hits}
}

// The tables.
const (
	tablePage  = "references by page"
	tableRead  = "read again"
	tableSize  = "references by size"
	tableState = "references by state of a result"
	tableName  = "references by name"
	tableForm  = "references by form"
	tableLevel = "lines that stand by level"
	tableEdit  = "replaced lines by file"
)

// Measure walks the messages of a session and counts.
func Measure(msgs []memkernel.Message) Counts {
	calls := map[int]bool{}
	for _, c := range transcript.Calls(msgs) {
		calls[c.Index] = true
	}
	b, tr, out := newBook(), recall.New(), Counts{}
	n := 0
	for i, m := range msgs {
		if calls[i] {
			b.expose(out, n)
			b.refer(out, n, tr, msgs, m)
			b.edits(out, n, tr, msgs, m)
			b.reread(out, n, m)
			n++
		}
		b.add(i, n, m)
		tr.Append(m)
	}
	return out
}

// expose counts everything that is in front of call n.
func (b *book) expose(out Counts, n int) {
	for i := range b.pages {
		p := &b.pages[i]
		for _, k := range append(p.cells(n), b.editCell(p, n)) {
			out.add(k, Count{Units: 1, Tokens: float64(p.tokens)})
		}
		if p.path != "" && !p.act.Dialogue() {
			out.add(p.readCell(n), Count{Units: 1})
		}
	}
	for _, u := range b.order {
		out.add(u.cell(n), Count{Units: 1})
	}
}

// refer counts what call n, which made m, refers to.
func (b *book) refer(out Counts, n int, tr *recall.Tracker, msgs []memkernel.Message, m memkernel.Message) {
	tr.References(m, func(token string, at []recall.Occurrence) {
		var pages []int
		seen := map[int]bool{}
		for _, o := range at {
			k := where{o.Message, ""}
			if msgs[o.Message].Role != memkernel.RoleAssistant {
				k.call = o.CallID
			}
			if i, ok := b.at[k]; ok && !seen[i] {
				b.pages[i].survive(out, o.Line)
				seen[i] = true
				pages = append(pages, i)
			}
		}
		for _, i := range pages {
			for _, k := range b.pages[i].cells(n) {
				out.add(k, Count{Hits: 1 / float64(len(pages))})
			}
		}
		b.referName(out, n, token)
	})
}

// edits counts the pages that hold a line which call n replaces, each line as one hit
// that they share.
func (b *book) edits(out Counts, n int, tr *recall.Tracker, msgs []memkernel.Message, m memkernel.Message) {
	for _, places := range tr.EditPlaces(m) {
		var pages []*page
		for _, at := range places {
			k := where{at.Message, ""}
			if msgs[at.Message].Role != memkernel.RoleAssistant {
				k.call = at.CallID
			}
			if i, ok := b.at[k]; ok && !slices.Contains(pages, &b.pages[i]) {
				pages = append(pages, &b.pages[i])
			}
		}
		for _, p := range pages {
			out.add(b.editCell(p, n), Count{Hits: 1 / float64(len(pages))})
		}
	}
}

// referName counts a reference for its name; the last name of a text is the whole
// of it, those before are its parts.
func (b *book) referName(out Counts, n int, token string) {
	names := represent.Names(token)
	if len(names) == 0 || b.names[names[len(names)-1]] == nil {
		out.add(Cell{tableForm, "number or quoted string", ""}, Count{Hits: 1})
		return
	}
	out.add(Cell{tableForm, "name", ""}, Count{Hits: 1})
	out.add(b.names[names[len(names)-1]].cell(n), Count{Hits: 1})
}

// reread counts the results whose path call n reads again: of each path the newest.
func (b *book) reread(out Counts, n int, m memkernel.Message) {
	for j := range m.Parts {
		c := m.Parts[j].Call
		if c == nil || !toolcall.IsRead(c.Name, c.Input) {
			continue
		}
		path := toolcall.Path(c.Name, c.Input)
		for i := len(b.pages) - 1; i >= 0; i-- {
			if p := &b.pages[i]; p.path == path && !p.act.Dialogue() {
				out.add(p.readCell(n), Count{Hits: 1})
				break
			}
		}
	}
}
