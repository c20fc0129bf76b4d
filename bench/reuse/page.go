package reuse

import (
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/replay/recall"
)

// page is one unit of a session that a prompt can show or leave out.
type page struct {
	act    toolcall.Act
	tokens int
	born   int // calls before it
	path   string
	failed bool
	// stale: a newer call read or changed the path. Solved: a newer result of the
	// same path, or of the same tool if there is none, was no error. Again counts
	// the earlier reads of the path.
	stale, solved bool
	again         int
	names         []represent.Name
	reps          []pagevm.Rep
	// works is the file that the page is about, of edits their input's.
	works string
}

// survive counts whether the line of a reference is in the shorter forms.
func (p *page) survive(out Counts, line string) {
	for _, r := range p.reps {
		n := Count{Units: 1}
		if strings.Contains(r.Text, line) {
			n.Hits = 1
		}
		out.add(Cell{tableLevel, p.act.String(), r.Level.String()}, n)
		out.add(Cell{tableLevel, "any result", r.Level.String()}, n)
	}
}

// where finds a page by message and call; call is "" for a message's own words.
type where struct {
	message int
	call    string
}

// book is the state of a session in front of a call.
type book struct {
	pages []page
	at    map[where]int
	calls map[string]*memkernel.ToolCall
	names map[represent.Name]*use
	order []*use
	// edited is the newest call that edited a file.
	edited map[string]int
}

// use is how a name has been used.
type use struct {
	said, last int // pages of dialogue that name it; calls before it was last seen
}

func newBook() *book {
	return &book{at: map[where]int{}, calls: map[string]*memkernel.ToolCall{}, names: map[represent.Name]*use{}, edited: map[string]int{}}
}

// add takes a message in.
func (b *book) add(i, born int, m memkernel.Message) {
	b.dialogue(i, born, m)
	for j := range m.Parts {
		if r := m.Parts[j].Result; r != nil && b.calls[r.CallID] != nil {
			b.result(where{i, r.CallID}, born, r)
		}
	}
}

// dialogue is the page of a message's words and tool inputs.
func (b *book) dialogue(i, born int, m memkernel.Message) {
	text := ""
	p := page{act: toolcall.ActUser, born: born}
	if m.Role == memkernel.RoleAssistant {
		p.act, text = toolcall.ActSay, recall.UseOf(m)
	}
	for j := range m.Parts {
		switch q := &m.Parts[j]; {
		case q.Call != nil:
			b.calls[q.Call.ID] = q.Call
			if toolcall.IsEdit(q.Call.Name, q.Call.Input) {
				p.act, p.works = toolcall.ActEdit, toolcall.Path(q.Call.Name, q.Call.Input)
				b.edited[p.works] = born
			}
		case q.Kind == memkernel.PartText && m.Role != memkernel.RoleAssistant:
			text += q.Text + "\n"
		}
	}
	if text != "" {
		b.keep(where{i, ""}, p, text)
	}
}

func (b *book) result(at where, born int, r *memkernel.ToolResult) {
	call := b.calls[r.CallID]
	kind, paths := toolcall.Classify(call.Name, call.Input)
	p := page{act: toolcall.ActOf(call.Name, call.Input), born: born, failed: r.IsError}
	if len(paths) > 0 {
		p.path, p.works = paths[0], paths[0]
	}
	for i := range b.pages {
		old := &b.pages[i]
		if p.path == "" || old.path != p.path {
			continue
		}
		old.stale = true
		old.solved = old.solved || !r.IsError
		if kind == toolcall.CallRead && old.act == toolcall.ActRead {
			p.again++
		}
	}
	text := ""
	for i := range r.Content {
		text += r.Content[i].Text
	}
	for _, rep := range represent.Evidence(represent.EvidenceInput{Tool: call.Name, Input: call.Input, Text: text,
		IsError: r.IsError, Bytes: int64(len(text))}, nil) {
		if len(rep.Text) < len(text) {
			p.reps = append(p.reps, rep)
		}
	}
	b.keep(at, p, text)
}

func (b *book) keep(at where, p page, text string) {
	p.tokens = utf8.RuneCountInString(text) / 3
	p.names = represent.Names(text)
	b.at[at] = len(b.pages)
	b.pages = append(b.pages, p)
	for _, n := range p.names {
		u := b.names[n]
		if u == nil {
			u = &use{}
			b.names[n] = u
			b.order = append(b.order, u)
		}
		u.last = p.born
		if p.act.Dialogue() {
			u.said++
		}
	}
}
