package plan

import (
	"fmt"
	"maps"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/retrieval"
)

// File is a file of the workspace that has a place in prompts.
type File struct {
	Path  string
	Type  pagevm.Type
	Text  string // masked
	Hash  string // of Text
	Lines int
}

// Ref cites the whole file.
func (f *File) Ref() memkernel.Ref {
	return memkernel.Ref{Path: f.Path, StartLine: 1, EndLine: f.Lines, Hash: f.Hash}
}

// shelf holds the files that were read from the workspace, once per plan.
type shelf struct {
	read  bool
	files []File
}

// sources returns the workspace's files that have a place in this session's prompts, most
// important first. They are read once per plan.
func (m *measured) sources() []File {
	sh := m.shelf
	if sh.read || m.workspace == nil || m.prior.Memory.WorkspaceTokens < 0 {
		return sh.files
	}
	sh.read = true
	for _, path := range sourcePaths(m) {
		src, ok, err := m.workspace.File(path)
		if err != nil {
			m.log.faults = append(m.log.faults, fault.Fault{Code: fault.WorkspaceFile, Detail: err.Error()})
		}
		if ok {
			sh.files = append(sh.files, src)
		}
	}
	return sh.files
}

// sourcePaths returns the paths of these files. A sidechain has its own prompt for its one task.
// It gets the files with rules, but not the files about the person.
func sourcePaths(m *measured) []string {
	o := &m.prior.Memory
	if m.req.Branch != "" {
		return []string{"AGENTS.md", "TOOLS.md"}
	}
	paths := o.Bootstrap[:len(o.Bootstrap):len(o.Bootstrap)]
	if o.NoRemembered || !m.req.Private {
		return paths
	}
	return append(paths, "USER.md", m.workspace.Remembered())
}

// workspaceBlocks returns the carry block's part of the workspace, within its limit. It leaves
// out parts that the host's own prompt shows.
func workspaceBlocks(d *deciding) []pagevm.Block {
	if c := d.carried; c == nil || c.leadGone != d.leadGone || c.squeezed != d.squeezed {
		blocks, texts := carryWorkspace(d)
		d.carried = &carried{blocks, texts, d.leadGone, d.squeezed}
	}
	maps.Copy(d.Texts, d.carried.texts)
	b := d.carried.blocks
	return b[:len(b):len(b)]
}

// carryWorkspace chooses a level for every pin and every file so that together they stay within
// the limit, pins first. It uses the remaining room for excerpts of shortened files.
func carryWorkspace(d *deciding) ([]pagevm.Block, map[string]string) {
	var pages []*pagevm.Page
	var fits []pagevm.Fit
	var files []File
	for i := range d.prior.Pinned {
		p := d.pinPage(&d.prior.Pinned[i])
		pages, fits = append(pages, p), append(fits, d.fitOf(p))
	}
	for _, src := range d.sources() {
		if src.Text = d.unshown(&src); src.Text != "" {
			p := d.sourcePage(&src)
			pages, fits, files = append(pages, p), append(fits, d.fitOf(p)), append(files, src)
		}
	}
	if len(pages) == 0 {
		return nil, nil
	}
	room := d.unscale(max(d.carryBound()-d.squeezed, 0))
	levels, over := pagevm.FitLevels(fits, room)
	if over > 0 {
		d.log.faults = append(d.log.faults, fault.Fault{Code: fault.WorkspaceSize,
			Detail: fmt.Sprintf("what is pinned and the workspace's files take %d tokens more than the %d that they may, at the least that may be shown of them", d.Scale(over), d.Scale(room))})
	}
	return d.spread(files, pages, fits, levels, room)
}

// carryBound returns the room that pins and the workspace's files may take in a prompt.
func (m *measured) carryBound() int { return min(m.prior.Memory.CarryTokens, m.Window/8) }

// fitOf returns the cost of each level of a page.
func (m *measured) fitOf(p *pagevm.Page) pagevm.Fit {
	f := pagevm.Fit{Floor: pagevm.Floor(p.Type, m.req.Resolver != "")}
	for _, r := range p.Reps {
		f.Tokens[r.Level] = m.Count.Text(r.Text)
	}
	return f
}

func blocksAt(pages []*pagevm.Page, fits []pagevm.Fit, levels []pagevm.Level) []pagevm.Block {
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

// sourcePage makes the page of a file. The representations of the page are the texts that a
// prompt would show, including the heading.
func (m *measured) sourcePage(src *File) *pagevm.Page {
	p := &pagevm.Page{ID: ids.Page("ws", src.Path), Type: src.Type, Scope: memkernel.ScopeProject, Path: src.Path,
		Role: string(memkernel.RoleUser), Created: m.req.Now, Refs: []memkernel.Ref{src.Ref()}}
	return m.maker().Keep(p, src.Text, func(p *pagevm.Page) []pagevm.Rep {
		var reps []pagevm.Rep
		if src.Type == pagevm.Bootstrap {
			reps = represent.Bootstrap(src.Path, src.Text)
		} else {
			reps = represent.Preference(p.ID, src.Path, src.Text, m.req.Resolver, m.Represent)
		}
		reps = append([]pagevm.Rep{{Level: pagevm.Full, Text: src.Text}}, reps...)
		for i := range reps {
			reps[i].Text = src.headed(reps[i].Text)
			reps[i].Hash = ids.Hash(reps[i].Text)
		}
		return reps
	})
}

// headed puts a heading with the file's name above the shown text. Rules are shown as the user's
// own words. Remembered text is fenced as reference.
func (s *File) headed(text string) string {
	if s.Type == pagevm.Bootstrap {
		return "[Workspace file " + s.Path + ", standing instructions]\n" + strings.TrimSpace(text)
	}
	return retrieval.Render([]retrieval.Item{{Kind: retrieval.Memory, Path: s.Path, StartLine: 1, EndLine: s.Lines, Citation: s.Path, Text: strings.TrimSpace(text)}})
}

// unshown returns the part of a file that is not in the host's own prompt. The host's own prompt
// is its system prompt and the messages that it put in front of the first answer. Hosts that load
// a file themselves often show only a part of it.
func (d *decision) unshown(src *File) string {
	var missing, names []string
	shown := 0
	for _, s := range represent.Sections(src.Text) {
		switch text := strings.TrimSpace(s.Text); {
		case text == "":
		case d.hostShows(text):
			shown += len(s.Text)
		default:
			missing, names = append(missing, s.Text), append(names, s.Heading)
		}
	}
	switch {
	case len(missing) == 0:
		return ""
	case 2*shown < len(src.Text):
		return src.Text
	}
	d.log.faults = append(d.log.faults, fault.Fault{Code: fault.HostTruncated,
		Detail: fmt.Sprintf("the host's prompt shows %s without %s", src.Path, strings.Join(quoted(names), ", "))})
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

// hostShows reports whether a text is in the host's own prompt. The host's own prompt is its
// system prompt, and the messages that it put in front of the first answer as long as the prompt
// shows them.
func (d *decision) hostShows(text string) bool {
	for i := range d.req.System {
		if strings.Contains(d.req.System[i].Text, text) {
			return true
		}
	}
	for i := range d.Msgs {
		if d.leadGone || d.Msgs[i].Role == memkernel.RoleAssistant {
			return false
		}
		for j := range d.Msgs[i].Parts {
			if strings.Contains(d.Msgs[i].Parts[j].Text, text) {
				return true
			}
		}
	}
	return false
}

// squeezeCarried makes the workspace's files give up room if the newest messages do not fit next
// to the files. The files give up room down to their floors. They do so in this plan if the carry
// block is made now, otherwise at the next cut.
func squeezeCarried(d *deciding) {
	over := d.Fixed + d.Standing + d.newestTokens() + d.Scale(carryRoom(d.Window)) - d.Hard
	if over <= 0 || d.Standing == 0 {
		return
	}
	d.squeezed = over
	if d.Wishes.CarryNow {
		d.Wishes.Carry = workspaceBlocks(d)
		d.Standing = sizeCarried(d)
	}
}

// sizeCarried returns the size of pins and workspace files in the carry block. If the carry block
// is about to be made, it returns the size in the new block.
func sizeCarried(d *deciding) (n int) {
	if d.Wishes.Carry == nil {
		for i := range d.Prev.Proj.Carry {
			if p := d.Page(d.Prev.Proj.Carry[i].Page); p != nil && len(p.Refs) > 0 {
				n += d.Scale(d.Prev.Proj.Carry[i].Tokens)
			}
		}
		return n
	}
	for _, b := range d.carried.blocks {
		n += d.Scale(b.Tokens)
	}
	return n
}
