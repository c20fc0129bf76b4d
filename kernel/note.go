package kernel

import (
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
)

// noteBytes bounds what one note tells of a changed file.
const noteBytes = 6000

// tellings are notes, at the beginning of a user turn, on files that are not what
// the prompt shows: each change once, behind the newest message, since what stands in
// front must keep its bytes until the next cut.
func (w *work) tellings() []pagevm.Block {
	turn, _, fresh := w.userTurn()
	if w.memory == nil || !fresh {
		return nil
	}
	var blocks []pagevm.Block
	if len(w.prev.Proj.Seen) > 0 && w.decision.Cut == nil {
		blocks = w.changes(turn)
	}
	if b, ok := w.stateNote(turn); ok {
		blocks = append(blocks, b)
	}
	return blocks
}

// changes are the notes on files that the carry block shows, or would if it were
// made now.
func (w *work) changes(turn string) []pagevm.Block {
	var blocks []pagevm.Block
	here := map[string]bool{}
	add := func(path string, typ pagevm.Type, old, text string, ref memkernel.Ref) {
		id := ids.Page("nt", w.s.name, w.req.Branch, path, ref.Hash, turn)
		blocks = append(blocks, w.blockPage(pagevm.ItemNote, id, typ, represent.Change(path, old, text, noteBytes), turn, []memkernel.Ref{ref}))
	}
	for i := range w.sources() {
		src := &w.files[i]
		here[src.path] = true
		switch told := w.told(src.path); {
		case told != nil && told.Refs[0].Hash == src.hash:
		case told != nil:
			add(src.path, src.typ, w.oldText(told), src.text, src.ref())
		default:
			if text := w.unshown(src); text != "" {
				add(src.path, src.typ, "", text, src.ref())
			}
		}
	}
	for i := range w.proj.Carry {
		if p := w.page(w.proj.Carry[i].Page); p != nil && p.Path != "" && !here[p.Path] {
			here[p.Path] = true
			if told := w.told(p.Path); told.Refs[0].Hash != goneHash {
				add(p.Path, p.Type, "", "", memkernel.Ref{Path: p.Path, Hash: goneHash})
			}
		}
	}
	return blocks
}

// goneHash stands for the content of a file that is no more.
var goneHash = ids.Hash("")

// told finds the page by which the prompt shows a file most recently, nil if it
// does not.
func (w *work) told(path string) *pagevm.Page {
	for i := len(w.proj.Items) - 1; i >= 0; i-- {
		if it := &w.proj.Items[i]; it.Kind == pagevm.ItemNote {
			if p := w.page(it.Page); p != nil && len(p.Refs) > 0 && p.Refs[0].Path == path {
				return p
			}
		}
	}
	for i := range w.proj.Carry {
		if p := w.page(w.proj.Carry[i].Page); p != nil && len(p.Refs) > 0 && p.Refs[0].Path == path {
			return p
		}
	}
	return nil
}

// oldText is the file as the carry block shows it. Where that can't be read, all
// of the new text counts as changed.
func (w *work) oldText(told *pagevm.Page) string {
	for _, r := range told.Reps {
		if r.Level == pagevm.Full && told.Path != "" {
			return r.Text
		}
	}
	return ""
}

// stateNote tells of SESSION-STATE.md where it says something new.
func (w *work) stateNote(turn string) (pagevm.Block, bool) {
	if w.req.Branch != "" || w.memory.opts.WorkspaceTokens < 0 {
		return pagevm.Block{}, false
	}
	src := w.state()
	if src.text == "" {
		return pagevm.Block{}, false
	}
	if told := w.told(src.path); told != nil && told.Refs[0].Hash == src.hash {
		return pagevm.Block{}, false
	}
	text := src.text
	if w.Count.Text(text) > stateTokens {
		for _, r := range represent.Plan(src.path, text, w.req.Resolver) {
			if r.Level == pagevm.Structured {
				text = r.Text
			}
		}
	}
	id := ids.Page("nt", w.s.name, src.path, src.hash, turn)
	text = "[Workspace file " + src.path + ", where the work stands]\n" + strings.TrimSpace(text)
	return w.blockPage(pagevm.ItemNote, id, pagevm.Plan, text, turn, []memkernel.Ref{src.ref()}), true
}

// stateTokens is the size up to which SESSION-STATE.md is shown whole.
const stateTokens = 600

// state is what SESSION-STATE.md tells the model now, empty if there is none or it
// says nothing that the kernel did not write itself.
func (w *work) state() source {
	if !w.stateRead && w.memory != nil {
		w.stateRead = true
		var err error
		if w.stateFile, _, err = w.memory.source(w.req.Private, statePath); err != nil {
			w.faults = append(w.faults, Fault{Code: FaultWorkspaceFile, Detail: err.Error()})
		}
		w.stateFile = w.newsOf(w.stateFile)
	}
	return w.stateFile
}

// blockPage makes the page of a kernel block that stands behind a message, and the
// block that shows it.
func (w *work) blockPage(kind pagevm.ItemKind, id string, typ pagevm.Type, text, key string, refs []memkernel.Ref) pagevm.Block {
	scope := memkernel.ScopeProject
	if typ == pagevm.Plan {
		scope = memkernel.ScopeSession
	}
	p := &pagevm.Page{ID: id, Type: typ, Scope: scope, MessageKey: key, Role: string(memkernel.RoleUser), Created: w.req.Now, Refs: refs}
	p = w.ingester().Keep(p, text, func(*pagevm.Page) []pagevm.Rep {
		return []pagevm.Rep{{Level: pagevm.Full, Hash: ids.Hash(text), Text: text}}
	})
	return pagevm.Block{Kind: kind, Page: p.ID, Level: pagevm.Full, Hash: p.Hash, Tokens: w.Count.Text(text) + w.Count.Overheads.PerMessage}
}
