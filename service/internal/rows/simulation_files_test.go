package rows_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/service/internal/rows"
)

// simFiles are the files of the workspace that all writers of a simulation write to.
var simFiles = []string{"MEMORY.md", "memory/2026-11-03.md"}

// shelf has the lines of the workspace's files that were acknowledged.
type shelf struct {
	written, removed map[string][]acked // by file; removed are those of files that were taken away
	most             int                // lines that a writer writes
}

// write writes to the workspace at any machine: a line at the end of a file, a new text of a file
// with a line more, and a file that is made and taken away again.
func (h *host) write(lines int) {
	for i := range lines {
		name, line := simFiles[h.rng.IntN(len(simFiles))], fmt.Sprintf("- %s-%02d\n", h.key, i)
		appends := func(name string, add func(old string) string) func(markdownstore.Writer) error {
			return func(w markdownstore.Writer) error {
				for {
					_, settled, err := w.Append(name, func(old string) (string, error) { return add(old), nil })
					if err != nil || settled {
						return err
					}
				}
			}
		}
		switch h.rng.IntN(4) {
		case 0:
			h.change(name, line, func(w markdownstore.Writer, seen func(string)) error {
				err := w.Swap(name, func(_ fs.FileInfo, old string) (string, error) {
					seen(old)
					return with(old, line), nil
				})
				if errors.Is(err, fs.ErrNotExist) {
					err = w.Create(name, line)
				}
				return err
			})
		case 1:
			h.passing(fmt.Sprintf("memory/%s-%02d.md", h.key, i), line, appends)
		default:
			h.change(name, line, func(w markdownstore.Writer, seen func(string)) error {
				return appends(name, func(old string) string {
					seen(old)
					return with(old, line)[len(old):]
				})(w)
			})
		}
		if h.s.recalls && h.rng.IntN(3) == 0 {
			h.search()
		}
		time.Sleep(time.Duration(h.rng.IntN(2_000_000)))
	}
}

// passing makes a file, and takes it away again.
func (h *host) passing(name, line string, appends func(string, func(string) string) func(markdownstore.Writer) error) {
	var over atomic.Bool // a call that was made twice comes too late
	h.change(name, "", func(w markdownstore.Writer, _ func(string)) error {
		return appends(name, func(old string) string {
			if over.Load() {
				return ""
			}
			return with(old, line)[len(old):]
		})(w)
	})
	over.Store(true)
	age := h.s.age()
	h.change(name, "", func(w markdownstore.Writer, _ func(string)) error {
		err := w.Remove(name, func(fs.FileInfo, string) error { return nil })
		if errors.Is(err, fs.ErrNotExist) && !h.s.split() { // it was removed, and the answer was lost
			return nil
		}
		return err
	})
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	h.s.files.removed[name] = append(h.s.files.removed[name], acked{line, age})
}

// with returns a text with a line, once.
func with(text, line string) string {
	if strings.Contains(text, line) {
		return text
	}
	return text + line
}

// change makes a change until it is acknowledged. It must see what was acknowledged before it was
// asked for.
func (h *host) change(name, line string, f func(w markdownstore.Writer, seen func(string)) error) {
	s := h.s
	h.deliver(strings.TrimSpace("write "+line)+" to "+name, func(ctx context.Context, mc *machine) (func(), error) {
		s.mu.Lock()
		before, age, split := slices.Clone(s.files.written[name]), s.age(), s.split()
		s.mu.Unlock()
		stale := ""
		err := mc.store.Workspace().Write(ctx, func(w markdownstore.Writer) error {
			return f(w, func(old string) {
				stale = ""
				for _, l := range before {
					if !strings.Contains(old, l.what) && !s.mayBeLost(l.age) {
						stale = l.what
					}
				}
			})
		})
		if err == nil && stale != "" && !split && !s.split() { // an old primary has old data
			s.fault("%s at %s: %s was acknowledged before, and is not seen", name, mc.name, strings.TrimSpace(stale))
		}
		return func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if line != "" {
				s.files.written[name] = append(s.files.written[name], acked{line, age})
			}
		}, err
	})
}

// checkFiles compares the workspace with what was acknowledged, and machines with each other.
func (s *simulation) checkFiles(fresh *machine) {
	for _, name := range simFiles {
		want := ""
		for _, mc := range append([]*machine{fresh}, s.machines...) {
			w := mc.store.Workspace()
			if _, err := w.Version(context.Background(), 0); err != nil {
				s.fault("%s: %v", mc.name, err)
				return
			}
			text, err := fs.ReadFile(w, name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				s.fault("%s: %v", mc.name, err)
				return
			}
			if mc == fresh {
				want = string(text)
			} else if want != string(text) {
				s.fault("%s: %s has %q, and %s %q", name, mc.name, text, fresh.name, want)
			}
		}
		s.checkLines(name, slices.Collect(strings.Lines(want)))
	}
	found, err := fs.Glob(fresh.store.Workspace(), "memory/[a-z]-*.md")
	if err != nil || len(found) > 0 && !s.mayBeLost(0) {
		s.fault("%v were taken away, and are there, %v", found, err)
	}
}

// checkLines compares a file's lines with those that were acknowledged.
func (s *simulation) checkLines(name string, lines []string) {
	last := map[byte]string{}
	for _, l := range lines {
		// A line that was lost may come again behind others, by a call that was made twice.
		if slices.ContainsFunc(s.files.written[name], func(w acked) bool { return w.what == l && s.mayBeLost(w.age) }) {
			continue
		}
		if by := l[len("- ")]; l <= last[by] {
			s.fault("%s: %s stands behind %s", name, strings.TrimSpace(l), strings.TrimSpace(last[by]))
		} else {
			last[by] = l
		}
	}
	lost := 0
	for _, l := range s.files.written[name] {
		switch there := slices.Contains(lines, l.what); {
		case !there && s.mayBeLost(l.age):
			lost++
		case !there:
			s.fault("%s: %s was acknowledged, and is not there", name, strings.TrimSpace(l.what))
		}
	}
	if len(lines) != len(s.files.written[name])-lost {
		s.fault("%s has %d lines, and %d were acknowledged", name, len(lines), len(s.files.written[name]))
	}
}

// brokenIndex is a rule that a machine breaks, not the server.
const brokenIndex rows.Broken = "an index is believed whatever is written to the workspace"

// unnumbered is a workspace of which nobody hears that it has changed.
type unnumbered struct{ *rows.Workspace }

func (u unnumbered) Version(ctx context.Context, old time.Duration) (int64, error) {
	_, err := u.Workspace.Version(ctx, old)
	return 1, err
}

var _ markdownstore.Remote = unnumbered{}

// memory is how a process shows and searches the workspace: by the index of its machine.
func (s *simulation) memory(mc *machine) kernel.MemoryOptions {
	switch {
	case !s.recalls:
		return kernel.MemoryOptions{Off: true}
	case s.broken == brokenIndex:
		return kernel.MemoryOptions{Files: unnumbered{mc.store.Workspace()}}
	}
	return kernel.MemoryOptions{Files: mc.store.Workspace()}
}

// knowledge is what was acknowledged of the workspace at a moment.
type knowledge struct {
	written, removed map[string][]acked
	age              int
	split            bool
}

func (s *simulation) known() knowledge {
	s.mu.Lock()
	defer s.mu.Unlock()
	clone := func(m map[string][]acked) map[string][]acked {
		m = maps.Clone(m)
		for name := range m {
			m[name] = slices.Clone(m[name])
		}
		return m
	}
	return knowledge{clone(s.files.written), clone(s.files.removed), s.age(), s.split()}
}

// counts reports whether what was known at a moment has to be seen until now: who asks while there
// are two servers, or as one dies, may have asked the old one.
func (s *simulation) counts(k knowledge) bool { return !k.split && !s.split() && s.age() == k.age }

// recallsLine names a line in what a user says, so that it is recalled.
func (h *host) recallsLine(i int) string {
	if !h.s.recalls {
		return ""
	}
	return fmt.Sprintf(" What did we write as p-%02d?", i)
}

// checkShown compares the first plan of a user's turn with what was acknowledged before it was
// asked for. MEMORY.md is in it, in front or as a note, and in a session's first plan today's log.
func (h *host) checkShown(p *api.ContextPlan, k knowledge) {
	s := h.s
	if !s.counts(k) {
		return
	}
	files := simFiles
	if h.turns > 0 || h.clock {
		files = simFiles[:1]
	}
	shown := prompt(p)
	for _, name := range files {
		for _, l := range k.written[name] {
			if !strings.Contains(shown, strings.TrimSpace(l.what)) && !s.mayBeLost(l.age) {
				s.fault("%s: plan %s does not show %s of %s, which was acknowledged before it", h.key, p.ID, strings.TrimSpace(l.what), name)
			}
		}
	}
}

var simLine = regexp.MustCompile(`(?m)^- [pq]-\d\d$`)

// linesOf returns the lines of a text that writers wrote, as they are in files.
func linesOf(text string) (out []string) {
	for _, l := range simLine.FindAllString(text, -1) {
		out = append(out, l+"\n")
	}
	return out
}

// find searches for everything that was ever written, and returns what is found by file. It asks again
// for each wanted line that is missing, since a hit with few of the words is too weak to be shown with
// better ones. whole is false if an answer says that something is missing.
func (mc *machine) find(ctx context.Context, wanted map[string][]string) (found map[string][]string, whole bool, err error) {
	found, whole = map[string][]string{}, true
	ask := func(question string) error {
		r, err := mc.k.Search(ctx, api.SearchRequest{Query: question, Private: true, Lines: true, MaxResults: 1000})
		if err != nil {
			return err
		}
		for _, h := range r.Hits {
			if h.Path != simFiles[0] && !strings.HasPrefix(h.Path, "memory/") {
				continue
			}
			for _, l := range linesOf(h.Text) {
				if !slices.Contains(found[h.Path], l) {
					found[h.Path] = append(found[h.Path], l)
				}
			}
		}
		whole = whole && r.Err == nil && r.Behind == nil && (r.Reason == retrieval.OK || r.Reason == retrieval.NoMatch)
		return nil
	}
	var q strings.Builder
	for _, by := range "pq" {
		for i := range mc.sim.files.most {
			fmt.Fprintf(&q, "%c-%02d ", by, i)
		}
	}
	if err := ask(q.String()); err != nil {
		return nil, false, err
	}
	for name, lines := range wanted {
		for _, l := range lines {
			if whole && !slices.Contains(found[name], l) {
				if err := ask(l); err != nil {
					return nil, false, err
				}
			}
		}
	}
	return found, whole, nil
}

// search searches at any machine. An answer that does not say that it lacks something has
// everything that was acknowledged before, and nothing that was taken away.
func (h *host) search() {
	s := h.s
	h.deliver("search", func(ctx context.Context, mc *machine) (func(), error) {
		k := s.known()
		wanted := map[string][]string{}
		for name, lines := range k.written {
			for _, l := range lines {
				wanted[name] = append(wanted[name], l.what)
			}
		}
		found, whole, err := mc.find(ctx, wanted)
		if err == nil && whole && s.counts(k) {
			for name, lines := range k.written {
				for _, l := range lines {
					if !slices.Contains(found[name], l.what) && !s.mayBeLost(l.age) {
						s.fault("%s finds no %s of %s, which was acknowledged before", mc.name, strings.TrimSpace(l.what), name)
					}
				}
			}
			for name, lines := range k.removed {
				for _, l := range lines {
					if slices.Contains(found[name], l.what) && !s.mayBeLost(l.age) {
						s.fault("%s finds %s of %s, which was taken away before", mc.name, strings.TrimSpace(l.what), name)
					}
				}
			}
		}
		return func() { s.count(map[bool]string{true: "searches", false: "searches that lack something"}[whole], 1) }, err
	})
}

// checkFound compares what machines find with what is there for one that has just begun: an index
// is of the server's files, and not of those of another server before it.
func (s *simulation) checkFound(fresh *machine, by ...*machine) {
	if !s.recalls {
		return
	}
	names, err := fs.Glob(fresh.store.Workspace(), "memory/*.md")
	if err != nil {
		s.fault("%v", err)
		return
	}
	there := map[string][]string{}
	for _, name := range append(names, simFiles[0]) {
		text, err := fs.ReadFile(fresh.store.Workspace(), name)
		if err != nil && name != simFiles[0] {
			s.fault("%v", err)
			return
		}
		if lines := linesOf(string(text)); lines != nil {
			there[name] = slices.Sorted(slices.Values(lines))
		}
	}
	for _, mc := range by {
		var found map[string][]string
		for try, whole := 0, false; !whole; try++ {
			if try == 3 {
				s.fault("%s finds only some of what there is, and says so again and again", mc.name)
				return
			}
			if try > 0 {
				time.Sleep(6 * time.Second) // a machine does not try again at once
			}
			if found, whole, err = mc.find(context.Background(), there); err != nil {
				s.fault("%s: %v", mc.name, err)
				return
			}
		}
		for _, lines := range found {
			slices.Sort(lines)
		}
		if !maps.EqualFunc(found, there, slices.Equal) {
			s.fault("%s finds %q, and there is %q", mc.name, found, there)
		}
	}
}
