package kernel

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/retrieval"
)

// The faults that a workspace's files can cause.
const (
	// FaultWorkspaceFile: a file could not be read, and stands in no prompt.
	FaultWorkspaceFile = "workspace_file"
	// FaultWorkspaceSize: the files take more than their share even at their
	// floors.
	FaultWorkspaceSize = "workspace_over_budget"
	// FaultHostTruncated: the host's own prompt shows a file in part; the rest is
	// carried.
	FaultHostTruncated = "host_truncated"
)

// source is a workspace file that has a place in prompts.
type source struct {
	path  string
	typ   pagevm.Type
	text  string // masked
	hash  string // of text
	lines int
}

// cachedFile is a file as it was read, good while its stat stays.
type cachedFile struct {
	size int64
	mod  time.Time
	source
}

// mtimeGrain is the age from which a modification time is trusted: within a clock's
// grain a file can change twice.
const mtimeGrain = 2 * time.Second

// source reads a file of the workspace; ok is false if there is none.
func (m *memory) source(private bool, path string) (src source, ok bool, err error) {
	store := m.store(private)
	f, err := store.Stat(path)
	if err != nil || f.ModTime.IsZero() {
		return source{}, false, err
	}
	m.mu.Lock()
	c, known := m.cache[path]
	m.mu.Unlock()
	if known && c.size == f.Size && c.mod.Equal(f.ModTime) {
		return c.source, true, nil
	}
	l, err := store.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return source{}, false, nil
	}
	if err != nil {
		return source{}, false, err
	}
	text := m.masker.Text(strings.TrimPrefix(l.Text, "\ufeff"))
	c = cachedFile{size: f.Size, mod: f.ModTime, source: source{path: path, typ: pagevm.Type(f.PageType), text: text, hash: ids.Hash(text),
		lines: 1 + strings.Count(strings.TrimSuffix(text, "\n"), "\n")}}
	if !l.Unsettled && time.Since(f.ModTime) > mtimeGrain {
		m.mu.Lock()
		m.cache[path] = c
		m.mu.Unlock()
	}
	return c.source, strings.TrimSpace(text) != "", nil
}

// ref cites the whole file.
func (s *source) ref() memkernel.Ref {
	return memkernel.Ref{Path: s.path, StartLine: 1, EndLine: s.lines, Hash: s.hash}
}

// sources are the workspace's files that have a place in this session's prompts,
// most important first. They are read once per plan.
func (w *work) sources() []source {
	if w.read || w.memory == nil || w.memory.opts.WorkspaceTokens < 0 {
		return w.files
	}
	w.read = true
	for _, path := range w.sourcePaths() {
		src, ok, err := w.memory.source(w.req.Private, path)
		if err != nil {
			w.faults = append(w.faults, Fault{Code: FaultWorkspaceFile, Detail: err.Error()})
		}
		if ok {
			w.files = append(w.files, src)
		}
	}
	return w.files
}

// sourcePaths names them. A sidechain has a prompt of its own for its one task: it
// gets the rules and not the person.
func (w *work) sourcePaths() []string {
	o := &w.memory.opts
	if w.req.Branch != "" {
		return []string{"AGENTS.md", "TOOLS.md"}
	}
	paths := o.Bootstrap[:len(o.Bootstrap):len(o.Bootstrap)]
	if o.NoRemembered || !w.req.Private {
		return paths
	}
	paths = append(paths, "USER.md")
	if f, err := w.memory.private.Stat("MEMORY.md"); err == nil && f.ModTime.IsZero() {
		return append(paths, "memory.md")
	}
	return append(paths, "MEMORY.md")
}

// workspaceBlocks are the carry block's part of the workspace, within its bound.
// What the host's own prompt shows is left out.
func (w *work) workspaceBlocks() []pagevm.Block {
	if !w.carriedMade || w.carriedGone != w.leadGone {
		w.carriedMade, w.carriedGone = true, w.leadGone
		w.carried = w.carryWorkspace()
	}
	return w.carried[:len(w.carried):len(w.carried)]
}

// carryWorkspace chooses a level for every pin and every file so that all keep
// within the bound, pins first.
func (w *work) carryWorkspace() []pagevm.Block {
	var pages []*pagevm.Page
	var fits []pagevm.Fit
	for i := range w.pins() {
		p := w.pinPage(&w.pinned[i])
		pages, fits = append(pages, p), append(fits, w.fit(p))
	}
	for _, src := range w.sources() {
		if src.text = w.unshown(&src); src.text != "" {
			p := w.sourcePage(&src)
			pages, fits = append(pages, p), append(fits, w.fit(p))
		}
	}
	if len(pages) == 0 {
		return nil
	}
	room := w.unscale(max(w.carryBound()-w.squeezed, 0))
	levels, over := pagevm.FitLevels(fits, room)
	if over > 0 {
		w.faults = append(w.faults, Fault{Code: FaultWorkspaceSize,
			Detail: fmt.Sprintf("what is pinned and the workspace's files take %d tokens more than the %d that they may, at the least that may be shown of them", w.scale(over), w.scale(room))})
	}
	return carryBlocks(pages, fits, levels)
}

// carryBound is what pins and the workspace's files may take of a prompt.
func (w *work) carryBound() int {
	bound := DefaultWorkspaceTokens
	if w.memory != nil && w.memory.opts.WorkspaceTokens > 0 {
		bound = w.memory.opts.WorkspaceTokens
	}
	return min(bound, w.window/8)
}

// fit is what each level of a page costs.
func (w *work) fit(p *pagevm.Page) pagevm.Fit {
	f := pagevm.Fit{Floor: pagevm.Floor(p.Type, w.req.Resolver != "")}
	for _, r := range p.Reps {
		f.Tokens[r.Level] = w.Count.Text(r.Text)
	}
	return f
}

func carryBlocks(pages []*pagevm.Page, fits []pagevm.Fit, levels []pagevm.Level) []pagevm.Block {
	var blocks []pagevm.Block
	for i, p := range pages {
		for _, r := range p.Reps {
			if r.Level == levels[i] {
				blocks = append(blocks, pagevm.Block{Kind: pagevm.ItemCarry, Page: p.ID, Level: r.Level, Hash: r.Hash, Tokens: fits[i].Tokens[r.Level]})
			}
		}
	}
	return blocks
}

// sourcePage makes the page of a file. Its representations are what a prompt would
// show, their heading included.
func (w *work) sourcePage(src *source) *pagevm.Page {
	p := &pagevm.Page{ID: ids.Page("ws", src.path), Type: src.typ, Scope: memkernel.ScopeProject, Path: src.path,
		Role: string(memkernel.RoleUser), Created: w.req.Now, Refs: []memkernel.Ref{src.ref()}}
	return w.ingester().Keep(p, src.text, func(p *pagevm.Page) []pagevm.Rep {
		var reps []pagevm.Rep
		if src.typ == pagevm.Bootstrap {
			reps = represent.Bootstrap(src.path, src.text)
		} else {
			reps = represent.Preference(p.ID, src.path, src.text, w.req.Resolver, w.Represent)
		}
		reps = append([]pagevm.Rep{{Level: pagevm.Full, Text: src.text}}, reps...)
		for i := range reps {
			reps[i].Text = src.headed(reps[i].Text)
			reps[i].Hash = ids.Hash(reps[i].Text)
		}
		return reps
	})
}

// headed puts the file's name over what is shown of it. Rules are the user's own
// words; what was remembered is fenced as what it is, reference.
func (s *source) headed(text string) string {
	if s.typ == pagevm.Bootstrap {
		return "[Workspace file " + s.path + ", standing instructions]\n" + strings.TrimSpace(text)
	}
	return retrieval.Render([]retrieval.Item{{Kind: retrieval.Memory, Path: s.path, StartLine: 1, EndLine: s.lines, Citation: s.path, Text: strings.TrimSpace(text)}})
}

// unshown is what of a file does not stand in the host's own prompt: its system
// prompt, or what it put in front of the first answer. Hosts that load the file
// themselves often cut it.
func (w *work) unshown(src *source) string {
	var missing, names []string
	shown := 0
	for _, s := range represent.Sections(src.text) {
		switch text := strings.TrimSpace(s.Text); {
		case text == "":
		case w.hostShows(text):
			shown += len(s.Text)
		default:
			missing, names = append(missing, s.Text), append(names, s.Heading)
		}
	}
	switch {
	case len(missing) == 0:
		return ""
	case 2*shown < len(src.text):
		return src.text
	}
	w.faults = append(w.faults, Fault{Code: FaultHostTruncated,
		Detail: fmt.Sprintf("the host's prompt shows %s without %s", src.path, strings.Join(quoted(names), ", "))})
	return strings.Join(missing, "")
}

func quoted(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprintf("%q", n)
		if n == "" {
			out[i] = "its beginning"
		}
	}
	return out
}

// hostShows tells whether a text stands in what the host sends of its own: its
// system prompt, and what it put in front of the first answer as long as that
// stands.
func (w *work) hostShows(text string) bool {
	for i := range w.req.System {
		if strings.Contains(w.req.System[i].Text, text) {
			return true
		}
	}
	for i := range w.Msgs {
		if w.leadGone || w.Msgs[i].Role == memkernel.RoleAssistant {
			return false
		}
		for j := range w.Msgs[i].Parts {
			if strings.Contains(w.Msgs[i].Parts[j].Text, text) {
				return true
			}
		}
	}
	return false
}

// squeezeCarried makes the workspace's files give way where the newest messages do
// not fit beside them: as far as their floors let them, at this plan if the carry
// block is made now, else at the cut that has to come.
func (w *work) squeezeCarried() {
	over := w.fixed + w.standing + w.newestTokens() + w.scale(carryRoom(w.window)) - w.hard
	if over <= 0 || w.standing == 0 {
		return
	}
	w.squeezed, w.carriedMade = over, false
	if w.wishes.CarryNow {
		w.wishes.Carry = w.workspaceBlocks()
		w.sizeCarried()
	}
}

// sizeCarried sums up what of pins and workspace stands in the carry block, or
// will.
func (w *work) sizeCarried() {
	w.standing = 0
	if w.wishes.Carry == nil {
		for i := range w.prev.Proj.Carry {
			if p := w.page(w.prev.Proj.Carry[i].Page); p != nil && len(p.Refs) > 0 {
				w.standing += w.scale(w.prev.Proj.Carry[i].Tokens)
			}
		}
		return
	}
	for _, b := range w.carried {
		w.standing += w.scale(b.Tokens)
	}
}
