package plan

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
)

// noteBytes limits the text of one note on a changed file.
const noteBytes = 6000

// tellings returns notes, at the beginning of a user turn, on files that differ from the prompt.
// Each change is noted once. The notes come after the newest message because the blocks in front
// must keep their bytes until the next cut.
func tellings(a *appended) []pagevm.Block {
	turn, _, fresh := a.userTurn()
	if a.workspace == nil || !fresh {
		return nil
	}
	if len(a.Prev.Proj.Seen) == 0 || a.Made.Cut != nil {
		return nil
	}
	return changes(a, turn)
}

// changes returns the notes on files that the carry block shows, or would show if the block were
// made now.
func changes(a *appended, turn string) []pagevm.Block {
	var blocks []pagevm.Block
	here := map[string]bool{}
	add := func(path string, typ pagevm.Type, old, text string, ref memkernel.Ref) {
		id := ids.Page("nt", a.prior.Name, a.req.Branch, path, ref.Hash, turn)
		blocks = append(blocks, a.blockPage(pagevm.ItemNote, id, typ, represent.Change(path, old, text, noteBytes), turn, []memkernel.Ref{ref}))
	}
	for i := range a.sources() {
		src := &a.shelf.files[i]
		here[src.Path] = true
		switch told := a.told(src.Path); {
		case told != nil && told.Refs[0].Hash == src.Hash:
		case told != nil:
			add(src.Path, src.Type, oldText(told), src.Text, src.Ref())
		default:
			if text := a.unshown(src); text != "" {
				add(src.Path, src.Type, "", text, src.Ref())
			}
		}
	}
	for i := range a.Proj.Carry {
		if p := a.Page(a.Proj.Carry[i].Page); p != nil && p.Path != "" && !here[p.Path] {
			here[p.Path] = true
			if told := a.told(p.Path); told.Refs[0].Hash != goneHash {
				add(p.Path, p.Type, "", "", memkernel.Ref{Path: p.Path, Hash: goneHash})
			}
		}
	}
	return blocks
}

// goneHash replaces the hash of a file that no longer exists.
var goneHash = ids.Hash("")

// told finds the page by which the prompt shows a file most recently, nil if the prompt does not
// show the file.
func (d *decision) told(path string) *pagevm.Page {
	for i := len(d.Proj.Items) - 1; i >= 0; i-- {
		if it := &d.Proj.Items[i]; it.Kind == pagevm.ItemNote {
			if p := d.Page(it.Page); p != nil && len(p.Refs) > 0 && p.Refs[0].Path == path {
				return p
			}
		}
	}
	for i := range d.Proj.Carry {
		if p := d.Page(d.Proj.Carry[i].Page); p != nil && len(p.Refs) > 0 && p.Refs[0].Path == path {
			return p
		}
	}
	return nil
}

// oldText returns the text of the file that the carry block shows. If this text can't be read,
// all of the new text counts as changed.
func oldText(told *pagevm.Page) string {
	for _, r := range told.Reps {
		if r.Level == pagevm.Full && told.Path != "" {
			return r.Text
		}
	}
	return ""
}

// gaugeNote returns the gauge's line after the newest message, when a level was crossed.
func gaugeNote(a *appended) []pagevm.Block {
	text := a.NextCut.Line(a.Reading, a.crossed, a.Trigger != "")
	if a.crossed == checkpoint.LevelNone || text == "" {
		return nil
	}
	key := a.Hosts[len(a.Hosts)-1].Key
	id := ids.Page("nt", a.prior.Name, "gauge", key, text)
	return []pagevm.Block{a.blockPage(pagevm.ItemNote, id, pagevm.Plan, text, key, nil)}
}

// blockPage makes the page of a kernel block after a message, and the block that shows it.
func (m *measured) blockPage(kind pagevm.ItemKind, id string, typ pagevm.Type, text, key string, refs []memkernel.Ref) pagevm.Block {
	scope := memkernel.ScopeProject
	if typ == pagevm.Plan {
		scope = memkernel.ScopeSession
	}
	p := &pagevm.Page{ID: id, Type: typ, Scope: scope, MessageKey: key, Role: string(memkernel.RoleUser), Created: m.req.Now, Refs: refs}
	p = m.maker().Keep(p, text, func(*pagevm.Page) []pagevm.Rep {
		return []pagevm.Rep{{Level: pagevm.Full, Hash: ids.Hash(text), Text: text}}
	})
	return pagevm.Block{Kind: kind, Page: p.ID, Level: pagevm.Full, Hash: p.Hash, Tokens: m.Count.Text(text) + m.Count.Overheads.PerMessage}
}

// fitting returns the blocks that fit into the remaining room. A change without room is noted at
// the next turn, or is in the carry block after the next cut.
func fitting(a *appended, blocks []pagevm.Block) []pagevm.Block {
	room := a.Hard - a.Planned(a.Proj)
	var out []pagevm.Block
	for _, b := range blocks {
		if t := a.Scale(b.Tokens); t <= room {
			out, room = append(out, b), room-t
		}
	}
	return out
}
