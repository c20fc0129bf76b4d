package kernel

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// mainFields are what a page's structured form says, in this order; of a page that
// has none of them it is every scalar.
var mainFields = []string{"text", "goal", "step", "status", "attributes"}

// pins are the pages that stand in every prompt, read once per plan.
func (w *work) pins() []journal.StoredPage {
	if !w.pinsRead {
		w.pinsRead = true
		w.pinned = inScope(standingPages(append(w.shared, w.s.stored()...)), w.req.Branch)
	}
	return w.pinned
}

// pinPage makes the page of what a host wrote, as the carry block shows it.
func (w *work) pinPage(p *journal.StoredPage) *pagevm.Page {
	id := ids.Page("pn", p.String(), string(p.Type))
	full, short := pinText(p, false), pinText(p, true)
	page := &pagevm.Page{ID: id, Type: p.Type, Scope: p.Scope, Role: string(memkernel.RoleUser), Created: w.req.Now,
		Refs: []memkernel.Ref{{Path: pinRef(p), Hash: ids.Hash(full)}}}
	return w.ingester().Keep(page, full, func(*pagevm.Page) []pagevm.Rep {
		reps := []pagevm.Rep{{Level: pagevm.Full, Hash: ids.Hash(full), Text: full}}
		if len(short) < len(full) {
			reps = append(reps, pagevm.Rep{Level: pagevm.Structured, Hash: ids.Hash(short), Text: short})
		}
		return reps
	})
}

// pinRef names a page of the journal where a file's path would stand.
func pinRef(p *journal.StoredPage) string { return "page:" + p.String() }

// pinText shows a page's fields, all of them or the main ones.
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

// plainValue is a string as it reads, and any other value as JSON.
func plainValue(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// textField is a scalar string of a page, "" if it has none.
func textField(p journal.StoredPage, name string) string {
	f, ok := p.Field(name)
	if !ok || len(f.Entries) == 0 || f.Kind != journal.KindScalar {
		return ""
	}
	return plainValue(f.Entries[0].Current().Value)
}

// untold are the pins that the prompt does not show as they are now.
func (w *work) untold() []*journal.StoredPage {
	var out []*journal.StoredPage
	for i := range w.pins() {
		p := &w.pinned[i]
		if told := w.told(pinRef(p)); told == nil || told.Refs[0].Hash != ids.Hash(pinText(p, false)) {
			out = append(out, p)
		}
	}
	return out
}

// noteHead stands over a page that was pinned, or changed, since the carry block
// was made.
const noteHead = "[Set now, and binding from here on]\n"

// waitingPins is what telling of them would add to the prompt, so that a cut is
// made for them where they need it.
func (w *work) waitingPins() int {
	n := 0
	for _, p := range w.untold() {
		n += w.scale(w.Count.Text(noteHead+pinText(p, false)) + w.Count.Overheads.PerMessage)
	}
	return n
}

// pinNotes tell of them behind the newest message, each version once.
func (w *work) pinNotes() []pagevm.Block {
	key := w.Hosts[len(w.Hosts)-1].Key
	var blocks []pagevm.Block
	for _, p := range w.untold() {
		text := pinText(p, false)
		ref := memkernel.Ref{Path: pinRef(p), Hash: ids.Hash(text)}
		id := ids.Page("nt", w.s.name, w.req.Branch, ref.Path, ref.Hash)
		blocks = append(blocks, w.blockPage(pagevm.ItemNote, id, p.Type, noteHead+text, key, []memkernel.Ref{ref}))
	}
	return blocks
}

// pinnedKeys names what stands in every prompt of the session.
func (s *session) pinnedKeys() []string {
	out := []string{}
	for _, p := range standingPages(s.stored()) {
		out = append(out, p.Key)
	}
	return out
}
