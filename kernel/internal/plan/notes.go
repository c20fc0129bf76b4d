package plan

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
)

// noteBytes limits the text of one note on a changed file.
const noteBytes = 6000

// tellings returns notes on changed files, at the beginning of a user turn. These are files that
// the carry block shows in another version, or would show if it were made now. Each change is noted
// once. The notes come after the newest message because the blocks in front must keep their bytes
// until the next cut.
func tellings(c *call, d *decision) []pagevm.Block {
	turn, _, fresh := c.userTurn()
	if c.workspace == nil || !fresh || len(c.Prev.Proj.Seen) == 0 || d.Chosen.Made.Cut != nil {
		return nil
	}
	proj := d.Chosen.Proj
	var blocks []pagevm.Block
	here := map[string]bool{}
	add := func(path string, typ pagevm.Type, old, text string, ref memkernel.Ref) {
		id := ingest.PageID("nt", c.prior.Name, c.Request.Branch, path, ref.Hash, turn)
		blocks = append(blocks, blockPage(c, pagevm.ItemNote, id, typ, represent.Change(path, old, text, noteBytes), turn, []memkernel.Ref{ref}))
	}
	for _, f := range c.files() {
		here[f.Path] = true
		switch told := c.told(proj, f.Path); {
		case told != nil && told.Refs[0].Hash == f.Hash:
		case told != nil:
			add(f.Path, f.Type, oldText(told), f.Text, f.Ref())
		default:
			if text := c.unshown(&f, proj.Seen[0].Gone); text != "" {
				add(f.Path, f.Type, "", text, f.Ref())
			}
		}
	}
	for i := range proj.Carry {
		if p := c.Page(proj.Carry[i].Page); p != nil && p.Path != "" && !here[p.Path] {
			here[p.Path] = true
			if told := c.told(proj, p.Path); told.Refs[0].Hash != goneHash {
				add(p.Path, p.Type, "", "", memkernel.Ref{Path: p.Path, Hash: goneHash})
			}
		}
	}
	return blocks
}

// goneHash replaces the hash of a file that no longer exists.
var goneHash = ingest.Hash("")

// told returns the page by which a prompt shows a file most recently, nil if the prompt does not
// show the file.
func (c *call) told(proj *pagevm.Projection, path string) *pagevm.Page {
	for i := len(proj.Items) - 1; i >= 0; i-- {
		if p := c.Page(proj.Items[i].Page); proj.Items[i].Kind == pagevm.ItemNote && p.Source() == path {
			return p
		}
	}
	for i := range proj.Carry {
		if p := c.Page(proj.Carry[i].Page); p.Source() == path {
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

// gaugeNote returns the note with the gauge's line, if the plan crossed a level.
func gaugeNote(c *call, d *decision) []pagevm.Block {
	g := &d.Gauge
	text := g.NextCut.Line(g.Reading, g.crossed, g.Trigger != "")
	if g.crossed == checkpoint.LevelNone || text == "" {
		return nil
	}
	key := c.Hosts[len(c.Hosts)-1].Key
	id := ingest.PageID("nt", c.prior.Name, "gauge", key, text)
	return []pagevm.Block{blockPage(c, pagevm.ItemNote, id, pagevm.Plan, text, key, nil)}
}

// blockPage makes the page of a kernel block after a message, and the block that shows it.
func blockPage(c *call, kind pagevm.ItemKind, id string, typ pagevm.Type, text, key string, refs []memkernel.Ref) pagevm.Block {
	scope := memkernel.ScopeProject
	if typ == pagevm.Plan {
		scope = memkernel.ScopeSession
	}
	p := &pagevm.Page{ID: id, Type: typ, Scope: scope, MessageKey: key, Role: string(memkernel.RoleUser), Created: c.Request.Now, Refs: refs}
	p = c.Maker.Keep(p, text, func(*pagevm.Page) []pagevm.Rep {
		return []pagevm.Rep{{Level: pagevm.Full, Hash: ingest.Hash(text), Text: text}}
	})
	return pagevm.Block{Kind: kind, Page: p.ID, Level: pagevm.Full, Hash: p.Hash, Tokens: c.Maker.Count.Text(text) + c.Maker.Count.PerMessage}
}

// withRoom returns the blocks that fit into the remaining room. A change without room is noted at
// the next turn, or is in the carry block after the next cut.
func withRoom(l *limits, proj *pagevm.Projection, blocks []pagevm.Block) []pagevm.Block {
	room := l.room(proj)
	var out []pagevm.Block
	for _, b := range blocks {
		if t := l.Scale(b.Tokens); t <= room {
			out, room = append(out, b), room-t
		}
	}
	return out
}
