package pgstore_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/service/internal/pgstore"
)

// brokenIndex is a rule that a machine breaks, not the server.
const brokenIndex pgstore.Broken = "an index is believed whatever is written to the workspace"

// recall draws, from numbers of its own, whether kernels read memory from the workspace in rows.
func (s *simulation) recall() { s.recalls = rand.New(rand.NewPCG(s.seed, 27)).IntN(8) == 5 }

// own is the folder of a machine, which outlives its processes and has its index.
func (s *simulation) own(slot int) string {
	return filepath.Join(s.dir, fmt.Sprint("seed-", s.seed), fmt.Sprint("machine-", slot+1))
}

// forgetMachines removes what machines have kept of their own.
func (s *simulation) forgetMachines() {
	if err := os.RemoveAll(filepath.Dir(s.own(0))); err != nil {
		s.fault("%v", err)
	}
}

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

// unnumbered is a workspace of which nobody hears that it has changed.
type unnumbered struct{ *pgstore.Workspace }

func (u unnumbered) Version(ctx context.Context, old time.Duration) (int64, error) {
	_, err := u.Workspace.Version(ctx, old)
	return 1, err
}

var _ markdownstore.Remote = unnumbered{}

// knowledge is what of the workspace was acknowledged at a moment: by file the lines that are there,
// and those that were taken away.
type knowledge struct {
	lines, gone map[string][]acked
	age         int
	split       bool
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
	return knowledge{clone(s.written), clone(s.removed), s.age(), s.split()}
}

// counts is whether what was known at a moment has to be seen until now: who asks while there
// are two servers, or as one dies, may have asked the old one, which has what is old.
func (s *simulation) counts(k knowledge) bool { return !k.split && !s.split() && s.age() == k.age }

// recallsLine names a line in what a user says, so that it is recalled.
func (h *host) recallsLine(i int) string {
	if !h.s.recalls {
		return ""
	}
	return fmt.Sprintf(" What did we write as p-%02d?", i)
}

// checkShown holds the first plan of a user's turn against what was acknowledged before it was
// asked for: MEMORY.md as it was or is by then stands in it, in front or as a note, and with a
// session's first plan today's log.
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
		for _, l := range k.lines[name] {
			if !strings.Contains(shown, strings.TrimSpace(l.what)) && !s.mayBeLost(l.age) {
				s.fault("%s: plan %s does not show %s of %s, which was acknowledged before it", h.key, p.ID, strings.TrimSpace(l.what), name)
			}
		}
	}
}

var simLine = regexp.MustCompile(`(?m)^- [pq]-\d\d$`)

// linesOf are the lines of a text that writers wrote, as they stand in files.
func linesOf(text string) (out []string) {
	for _, l := range simLine.FindAllString(text, -1) {
		out = append(out, l+"\n")
	}
	return out
}

// find searches for all that was ever written, and gives what is found by file; whole is false
// if the answer says that something is missing.
func (mc *machine) find(ctx context.Context) (found map[string][]string, whole bool, err error) {
	var q strings.Builder
	for _, by := range "pq" {
		for i := range mc.sim.most {
			fmt.Fprintf(&q, "%c-%02d ", by, i)
		}
	}
	r, err := mc.k.Search(ctx, api.SearchRequest{Query: q.String(), Private: true, Lines: true, MaxResults: 1000})
	if err != nil {
		return nil, false, err
	}
	found = map[string][]string{}
	for _, h := range r.Hits {
		if h.Path == simFiles[0] || strings.HasPrefix(h.Path, "memory/") {
			found[h.Path] = append(found[h.Path], linesOf(h.Text)...)
		}
	}
	whole = r.Err == nil && r.Behind == nil && (r.Reason == retrieval.OK || r.Reason == retrieval.NoMatch)
	return found, whole, nil
}

// search searches at any machine. An answer that does not say that it lacks something has what was
// acknowledged before, and nothing that was taken away.
func (h *host) search() {
	s := h.s
	h.deliver("search", func(ctx context.Context, mc *machine) (func(), error) {
		k := s.known()
		found, whole, err := mc.find(ctx)
		if err == nil && whole && s.counts(k) {
			for name, lines := range k.lines {
				for _, l := range lines {
					if !slices.Contains(found[name], l.what) && !s.mayBeLost(l.age) {
						s.fault("%s finds no %s of %s, which was acknowledged before", mc.name, strings.TrimSpace(l.what), name)
					}
				}
			}
			for name, lines := range k.gone {
				for _, l := range lines {
					if slices.Contains(found[name], l.what) && !s.mayBeLost(l.age) {
						s.fault("%s finds %s of %s, which was taken away before", mc.name, strings.TrimSpace(l.what), name)
					}
				}
			}
		}
		return func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if whole {
				s.happened["searches"]++
			} else {
				s.happened["searches that lack something"]++
			}
		}, err
	})
}

// checkFound compares what machines find with what is there for one that has just begun. None
// finds a line that is gone, or misses one that is there: an index is of what the server has,
// and not of what another had that this one took over from.
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
			if found, whole, err = mc.find(context.Background()); err != nil {
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
