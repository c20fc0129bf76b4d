package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// mainFields are the fields that a page's structured form shows, in this order. For a page without
// them, the form shows every scalar.
var mainFields = []string{"text", "goal", "step", "status", "attributes"}

// Standing returns the pages that every prompt of a branch shows, binding ones first. A sidechain
// gets the rules, but not the plan of the main line.
func Standing(pages []journal.StoredPage, branch string) []journal.StoredPage {
	var out []journal.StoredPage
	for _, class := range []paging.Pin{paging.PinHard, paging.PinSoft} {
		for _, p := range pages {
			if pinClass(p) == class && (branch == "" || p.Type != pagevm.Plan) {
				out = append(out, p)
			}
		}
	}
	return out
}

// pinClass returns how firmly a page of the journal is pinned.
func pinClass(p journal.StoredPage) paging.Pin {
	switch pin := TextField(p, journal.PinField); {
	case p.Type == pagevm.Constraint || pin == journal.PinHard:
		return paging.PinHard
	case pin == string(paging.PinSoft), p.Type == pagevm.Plan && !slices.Contains(endedPlan, TextField(p, "status")):
		return paging.PinSoft
	}
	return paging.PinNone
}

// endedPlan has the states of a plan that nobody follows any more.
var endedPlan = []string{"done", "completed", "abandoned", "closed"}

// scopeName returns a scope in words.
func scopeName(s memkernel.Scope) string {
	if s == memkernel.ScopeProject {
		return "of this workspace"
	}
	return "of this session"
}

// pin is a page that every prompt shows. full and short are its texts. short is "" if it would not
// be shorter. ref cites the page in place of a file, with the hash of the full text.
type pin struct {
	*journal.StoredPage
	id, full, short string
	ref             memkernel.Ref
}

// pinsOf returns the pins of a plan.
func pinsOf(pages []journal.StoredPage) []pin {
	out := make([]pin, len(pages))
	for i := range pages {
		p := &pages[i]
		full, short := pinText(p, false), pinText(p, true)
		if len(short) >= len(full) {
			short = ""
		}
		out[i] = pin{p, ingest.PageID("pn", p.String(), string(p.Type)), full, short, memkernel.Ref{Path: "page:" + p.String(), Hash: ingest.Hash(full)}}
	}
	return out
}

// pinPage makes the page of a pin, as the carry block shows it.
func pinPage(c *call, p *pin) *pagevm.Page {
	page := &pagevm.Page{ID: p.id, Type: p.Type, Scope: p.Scope, Role: string(memkernel.RoleUser), Created: c.Request.Now, Refs: []memkernel.Ref{p.ref}}
	return c.Maker.Keep(page, p.full, func(*pagevm.Page) []pagevm.Rep {
		reps := []pagevm.Rep{{Level: pagevm.Full, Hash: p.ref.Hash, Text: p.full}}
		if p.short != "" {
			reps = append(reps, pagevm.Rep{Level: pagevm.Structured, Hash: ingest.Hash(p.short), Text: p.short})
		}
		return reps
	})
}

// pinText returns a text of a page's fields: of all fields or, with short, of the main ones.
func pinText(p *journal.StoredPage, short bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s %s, %s, version %d]", p.Type, p.Key, scopeName(p.Scope), p.Version)
	shown := map[string]bool{journal.PinField: true}
	for _, name := range mainFields {
		if f, ok := p.Field(name); ok {
			shown[name] = true
			writeField(&b, f)
		}
	}
	main := len(shown) > 1
	for _, f := range p.Fields {
		if !shown[f.Name] && (!short || !main && f.Kind == journal.KindScalar) {
			writeField(&b, f)
		}
	}
	return b.String()
}

func writeField(b *strings.Builder, f journal.StoredField) {
	switch f.Kind {
	case journal.KindScalar:
		if f.Name != "text" {
			fmt.Fprintf(b, "\n%s: ", f.Name)
		} else {
			b.WriteByte('\n')
		}
		b.WriteString(plainValue(f.Entries[0].Current().Value))
	case journal.KindList:
		fmt.Fprintf(b, "\n%s:", f.Name)
		for _, e := range f.Entries {
			b.WriteString("\n- " + plainValue(e.Current().Value))
		}
	case journal.KindMap:
		for _, e := range f.Entries {
			fmt.Fprintf(b, "\n%s: %s", e.ID, plainValue(e.Current().Value))
		}
	}
}

// plainValue returns a string without quotes, and any other value as JSON.
func plainValue(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// TextField returns a scalar string of a page, "" if the page has no such string.
func TextField(p journal.StoredPage, name string) string {
	f, ok := p.Field(name)
	if !ok || len(f.Entries) == 0 || f.Kind != journal.KindScalar {
		return ""
	}
	return plainValue(f.Entries[0].Current().Value)
}

// untold returns the pins whose current version a prompt does not show.
func untold(c *call, proj *pagevm.Projection) []pin {
	return slices.DeleteFunc(slices.Clone(c.pins), func(p pin) bool {
		told := c.told(proj, p.ref.Path)
		return told != nil && told.Refs[0].Hash == p.ref.Hash
	})
}

// noteHead is the heading of a page that was pinned or changed after the carry block was made.
const noteHead = "[Set now, and binding from here on]\n"

// waitingPins returns the size that notes on untold pins would add to a prompt. If there is no room
// for them, a cut is made.
func waitingPins(c *call, l *limits, proj *pagevm.Projection) int {
	n := 0
	for _, p := range untold(c, proj) {
		n += l.Scale(c.Maker.Count.Text(noteHead+p.full) + c.Maker.Count.PerMessage)
	}
	return n
}

// pinNotes returns notes on untold pins. They come after the newest message, once per version.
func pinNotes(c *call, proj *pagevm.Projection) []pagevm.Block {
	key := c.Hosts[len(c.Hosts)-1].Key
	var blocks []pagevm.Block
	for _, p := range untold(c, proj) {
		id := ingest.PageID("nt", c.prior.Name, c.Request.Branch, p.ref.Path, p.ref.Hash)
		blocks = append(blocks, blockPage(c, pagevm.ItemNote, id, p.Type, noteHead+p.full, key, []memkernel.Ref{p.ref}))
	}
	return blocks
}
