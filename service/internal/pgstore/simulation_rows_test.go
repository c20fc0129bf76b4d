package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/memkernel/memkernel/markdownstore"
)

// simFiles are the files of the workspace that all writers of a simulation write to.
var simFiles = []string{"MEMORY.md", "memory/2026-11-03.md"}

// write is what a host writes into the workspace, at any machine: a line at the end of a file,
// one that takes another's place, and a file that is made and taken away again.
func (h *host) write(lines int) {
	defer func() { h.s.mu.Lock(); h.done = true; h.s.mu.Unlock() }()
	for i := range lines {
		name, line := simFiles[h.rng.IntN(len(simFiles))], fmt.Sprintf("- %s-%02d\n", h.key, i)
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
			own := fmt.Sprintf("memory/%s-%02d.md", h.key, i)
			var over atomic.Bool // a call that was made twice comes too late
			h.change(own, "", func(w markdownstore.Writer, _ func(string)) error {
				for settled := false; !settled; {
					var err error
					_, settled, err = w.Append(own, func(old string) (string, error) {
						if over.Load() {
							return "", nil
						}
						return with(old, line)[len(old):], nil
					})
					if err != nil {
						return err
					}
				}
				return nil
			})
			over.Store(true)
			age := h.s.age()
			h.change(own, "", func(w markdownstore.Writer, _ func(string)) error {
				err := w.Remove(own, func(fs.FileInfo, string) error { return nil })
				if errors.Is(err, fs.ErrNotExist) && !h.s.split() { // by a call whose answer was lost
					return nil
				}
				return err
			})
			h.s.took(own, line, age)
		default:
			h.change(name, line, func(w markdownstore.Writer, seen func(string)) error {
				for settled := false; !settled; {
					var err error
					_, settled, err = w.Append(name, func(old string) (string, error) {
						seen(old)
						return with(old, line)[len(old):], nil
					})
					if err != nil {
						return err
					}
				}
				return nil
			})
		}
		if h.s.recalls && h.rng.IntN(3) == 0 {
			h.search()
		}
		time.Sleep(time.Duration(h.rng.IntN(2_000_000)))
	}
}

// took notes that a file with a line was taken away.
func (s *simulation) took(name, line string, age int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removed[name] = append(s.removed[name], acked{line, age})
}

// with is a text with a line, once.
func with(text, line string) string {
	if strings.Contains(text, line) {
		return text
	}
	return text + line
}

// change makes a change until it is acknowledged. Whoever has the workspace's lock sees what was
// acknowledged before they asked for it.
func (h *host) change(name, line string, f func(w markdownstore.Writer, seen func(string)) error) {
	s := h.s
	what := "change of " + name
	if line != "" {
		what = "write of " + strings.TrimSpace(line) + " to " + name
	}
	h.deliver(what, func(ctx context.Context, mc *machine) (func(), error) {
		s.mu.Lock()
		before, age, split := slices.Clone(s.written[name]), s.age(), s.split()
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
		if err == nil && stale != "" && !split && !s.split() { // an old primary has what is old
			s.fault("%s at %s: %s was acknowledged before, and is not seen", what, mc.name, strings.TrimSpace(stale))
		}
		return func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if line != "" {
				s.written[name] = append(s.written[name], acked{line, age})
			}
		}, err
	})
}

// checkRows compares the workspace with what was acknowledged, and machines with each other.
func (s *simulation) checkRows(fresh *machine) {
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
		last := map[byte]string{}
		lines := slices.Collect(strings.Lines(want))
		for _, l := range lines {
			// One that was lost may come again behind others, by a call that was made twice.
			if slices.ContainsFunc(s.written[name], func(w acked) bool { return w.what == l && s.mayBeLost(w.age) }) {
				continue
			}
			if by := l[len("- ")]; l <= last[by] {
				s.fault("%s: %s stands behind %s", name, strings.TrimSpace(l), strings.TrimSpace(last[by]))
			} else {
				last[by] = l
			}
		}
		lost := 0
		for _, l := range s.written[name] {
			switch there := slices.Contains(lines, l.what); {
			case !there && s.mayBeLost(l.age):
				lost++
			case !there:
				s.fault("%s: %s was acknowledged, and is not there", name, strings.TrimSpace(l.what))
			}
		}
		if len(lines) != len(s.written[name])-lost {
			s.fault("%s has %d lines, and %d were acknowledged", name, len(lines), len(s.written[name]))
		}
	}
	found, err := fs.Glob(fresh.store.Workspace(), "memory/[a-z]-*.md")
	if err != nil || len(found) > 0 && !s.mayBeLost(0) {
		s.fault("%v were taken away, and are there, %v", found, err)
	}
}
