package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
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

// readFiles returns the workspace's files that have a place in a session's prompts, most important
// first. A sidechain has its own prompt for its one task. It gets the files with rules, but not
// the files about the person.
func readFiles(prior *Prior, r *Request, ws Workspace, l *log) (out []File) {
	o := &prior.Memory
	if ws == nil || o.WorkspaceTokens < 0 {
		return nil
	}
	paths := o.Bootstrap[:len(o.Bootstrap):len(o.Bootstrap)]
	if r.Branch != "" {
		paths = []string{"AGENTS.md", "TOOLS.md"}
	} else if !o.NoRemembered && r.Private {
		paths = append(paths, "USER.md", ws.Remembered())
	}
	for _, path := range paths {
		f, ok, err := ws.File(path)
		if err != nil {
			l.fault(fault.Fault{Code: fault.WorkspaceFile, Detail: err.Error()})
		}
		if ok {
			out = append(out, f)
		}
	}
	return out
}

// files holds the pins and workspace files of a carry block, and the values on which they depend:
// whether the host's first messages are gone, and the size by which the files have to shrink.
type files struct {
	made     bool
	leadGone bool
	squeezed int
	blocks   []textBlock
}

// shown returns the blocks. A caller may append to them.
func (f *files) shown() []textBlock { return f.blocks[:len(f.blocks):len(f.blocks)] }

// withFiles returns the material with the files as they are to be shown now.
func (m material) withFiles(c *call, l *limits, leadGone bool) material {
	if f := &m.files; !f.made || f.leadGone != leadGone || f.squeezed != m.squeezed {
		m.files = files{true, leadGone, m.squeezed, carryFiles(c, l, leadGone, m.squeezed)}
	}
	return m
}

// carryFiles chooses a level for every pin and every file so that together they stay within their
// limit, pins first. It uses the remaining room for excerpts of shortened files. It leaves out
// parts that the host's own prompt shows.
func carryFiles(c *call, l *limits, leadGone bool, squeezed int) (blocks []textBlock) {
	var pages []*pagevm.Page
	var fits []costs
	files := map[int]*File{} // by the place of their pages
	add := func(p *pagevm.Page) {
		fit := costs{Floor: pagevm.Floor(p.Type, c.Request.Resolver != "")}
		for _, r := range p.Reps {
			fit.Tokens[r.Level] = c.Maker.Count.Text(r.Text)
		}
		pages, fits = append(pages, p), append(fits, fit)
	}
	for i := range c.pins {
		add(pinPage(c, &c.pins[i]))
	}
	for _, f := range c.files() {
		if f.Text = c.unshown(&f, leadGone); f.Text != "" {
			files[len(pages)] = &f
			add(filePage(c, &f))
		}
	}
	if len(pages) == 0 {
		return nil
	}
	room := l.unscale(max(carryBound(c, l)-squeezed, 0))
	levels, over := fitLevels(fits, room)
	if over > 0 {
		c.log.fault(fault.Fault{Code: "workspace_over_budget",
			Detail: fmt.Sprintf("what is pinned and the workspace's files take %d tokens more than the %d that they may, at the least that may be shown of them", l.Scale(over), l.Scale(room))})
	}
	for i := range fits {
		room -= fits[i].Tokens[levels[i]]
	}
	for i, p := range pages {
		f, level, full, shown := files[i], levels[i], fits[i].Tokens[pagevm.Full], 0
		if at := slices.IndexFunc(p.Reps, func(r pagevm.Rep) bool { return r.Level == level }); at >= 0 {
			shown = fits[i].Tokens[level]
			b := textBlock{Block: pagevm.Block{Kind: pagevm.ItemCarry, Page: p.ID, Level: level, Hash: p.Reps[at].Hash, Tokens: shown}}
			if f != nil && level != pagevm.Full && room > 0 {
				if text, took := excerptOf(c, f, p.ID, full, room+shown); took > shown {
					room, shown = room-(took-shown), took
					b.Level, b.Hash, b.Tokens, b.text = pagevm.Compressed, ingest.Hash(text), took, text
				}
			}
			blocks = append(blocks, b)
		}
		if f != nil && 2*shown < full {
			c.log.fault(fault.Fault{Code: "workspace_cut", Page: p.ID, Detail: cutDetail(c, l, f, full, shown, squeezed)})
		}
	}
	return blocks
}

// carryBound returns the room that pins and the workspace's files may take in a prompt.
func carryBound(c *call, l *limits) int { return min(c.prior.Memory.CarryTokens, l.Window/8) }

// costs are the costs of a page in the carry block.
type costs struct {
	// Tokens is the cost of each level, 0 for a level that the page does not have.
	Tokens [pagevm.Full + 1]int
	// Floor is the lowest level that the page may take.
	Floor pagevm.Level
}

// fitLevels chooses a level for each page so that together they cost at most room, as far as
// their floors let them. Callers must give the pages with the most important one first. The last
// page is lowered as far as its floor before the page in front of it loses anything. fitLevels
// also returns by how many tokens the result exceeds room, 0 if it fits.
func fitLevels(pages []costs, room int) (levels []pagevm.Level, over int) {
	levels = make([]pagevm.Level, len(pages))
	for i := range pages {
		levels[i] = pagevm.Full
		over += pages[i].Tokens[pagevm.Full]
	}
	over -= room
	for i := len(pages) - 1; i >= 0 && over > 0; i-- {
		for l := pagevm.Full - 1; l >= max(pages[i].Floor, pagevm.Pointer) && over > 0; l-- {
			if saved := pages[i].Tokens[levels[i]] - pages[i].Tokens[l]; pages[i].Tokens[l] > 0 && saved > 0 {
				levels[i], over = l, over-saved
			}
		}
	}
	return levels, max(over, 0)
}

// filePage makes the page of a file. The representations of the page are the texts that a
// prompt would show, including the heading.
func filePage(c *call, src *File) *pagevm.Page {
	p := &pagevm.Page{ID: ingest.PageID("ws", src.Path), Type: src.Type, Scope: memkernel.ScopeProject, Path: src.Path,
		Role: string(memkernel.RoleUser), Created: c.Request.Now, Refs: []memkernel.Ref{src.Ref()}}
	return c.Maker.Keep(p, src.Text, func(p *pagevm.Page) []pagevm.Rep {
		var reps []pagevm.Rep
		if src.Type == pagevm.Bootstrap {
			reps = represent.Bootstrap(src.Path, src.Text)
		} else {
			reps = represent.Preference(p.ID, src.Path, src.Text, c.Request.Resolver)
		}
		reps = append([]pagevm.Rep{{Level: pagevm.Full, Text: src.Text}}, reps...)
		for i := range reps {
			reps[i].Text = src.headed(reps[i].Text)
			reps[i].Hash = ingest.Hash(reps[i].Text)
		}
		return reps
	})
}

// headed puts a heading with the file's name above the shown text. Rules are shown as the user's
// own words. Remembered text is marked as reference.
func (s *File) headed(text string) string {
	if s.Type == pagevm.Bootstrap {
		return "[Workspace file " + s.Path + ", standing instructions]\n" + strings.TrimSpace(text)
	}
	return retrieval.Render([]retrieval.Item{{Kind: retrieval.Memory, Path: s.Path, StartLine: 1, EndLine: s.Lines, Citation: s.Path, Text: strings.TrimSpace(text)}})
}

// unshown returns the part of a file that is not in the host's own prompt. The host's own prompt
// is its system prompt and the messages that it put in front of the first answer. Hosts that load
// a file themselves often show only a part of it.
func (c *call) unshown(src *File, leadGone bool) string {
	var missing, names []string
	shown := 0
	for _, s := range represent.Sections(src.Text) {
		switch text := strings.TrimSpace(s.Text); {
		case text == "":
		case c.hostShows(text, leadGone):
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
	c.log.fault(fault.Fault{Code: "host_truncated",
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
func (c *call) hostShows(text string, leadGone bool) bool {
	for i := range c.Request.System {
		if strings.Contains(c.Request.System[i].Text, text) {
			return true
		}
	}
	for i := range c.Msgs {
		if leadGone || c.Msgs[i].Role == memkernel.RoleAssistant {
			return false
		}
		for j := range c.Msgs[i].Parts {
			if strings.Contains(c.Msgs[i].Parts[j].Text, text) {
				return true
			}
		}
	}
	return false
}
