package moving

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/markdownstore"
)

// CopyLeft is a file that was not copied.
type CopyLeft struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// ConflictError is returned when the target has files with the same names and different texts.
// Nothing was written.
type ConflictError struct {
	// Place is the target.
	Place string
	Paths []string
}

func (e *ConflictError) Error() string {
	const most = 10
	names := strings.Join(e.Paths[:min(most, len(e.Paths))], ", ")
	if more := len(e.Paths) - most; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%s has other texts by the same names: %s; nothing was copied", e.Place, names)
}

// copying is a copy of Markdown that is under way.
type copying struct {
	from, to *markdownstore.Store
	o        Options
	Report
	left  []CopyLeft
	paths []string
	// hashes are the hashes of the source's files by their paths.
	hashes map[string]string
}

// Markdown copies the files of a private store, with their facts, to another place, and compares
// all of them by hash. If the target has a file with another text, Markdown returns a
// *ConflictError before it writes anything. An interrupted copy continues when Markdown is called
// again. Until then nobody can open a target that is a [markdownstore.Remote]. Markdown does not
// use Options.Names.
func Markdown(ctx context.Context, from, to *markdownstore.Store, o Options) (*Report, []CopyLeft, error) {
	c := &copying{from: from, to: to, o: o, hashes: map[string]string{}}
	c.From, c.To = from.Place(), to.Place()
	if err := c.list(ctx); err != nil {
		return nil, nil, err
	}
	mark := func(ctx context.Context, from string) (string, error) { return "", nil }
	if r, ok := to.Files().(markdownstore.Remote); ok {
		mark = r.Moving
	}
	was, err := mark(ctx, c.From)
	if err != nil {
		return nil, nil, err
	}
	there, err := c.compare(ctx)
	if err != nil {
		if was == "" {
			_, unmarked := mark(context.WithoutCancel(ctx), "")
			err = errors.Join(err, unmarked)
		}
		return nil, nil, err
	}
	if err := c.write(ctx, there); err != nil {
		return nil, nil, err
	}
	for _, s := range []*markdownstore.Store{from, to} {
		if err := c.verify(ctx, s); err != nil {
			return nil, nil, err
		}
	}
	if _, err := mark(ctx, ""); err != nil || !o.RemoveSource {
		return &c.Report, c.left, err
	}
	return &c.Report, c.left, c.remove(ctx)
}

// each calls f for each path, until it returns an error or ctx ends.
func (c *copying) each(ctx context.Context, what string, f func(p string) error) error {
	for i, p := range c.paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.o.Progress(what, i, len(c.paths))
		if err := f(p); err != nil {
			return err
		}
	}
	return nil
}

// read returns the text and the hash of the file at a path. The hash is "" if the file is missing.
// read does not follow a folder that is a link.
func read(s *markdownstore.Store, p string) (text, hash string, err error) {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if fi, err := s.Files().Lstat(dir); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
			return "", "link", nil
		}
	}
	data, err := fs.ReadFile(s.Files(), p)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return "", "", nil
	}
	return string(data), store.Sum(data), err
}

// list reads the source.
func (c *copying) list(ctx context.Context) error {
	c.o.Progress("reading", 0, 0)
	if _, err := c.from.Version(ctx, 0); err != nil {
		return err
	}
	var denied *markdownstore.DeniedError
	for f, err := range c.from.Walk(ctx) {
		switch {
		case errors.As(err, &denied):
			c.left = append(c.left, CopyLeft{f.Path, denied.Text()})
		case err != nil:
			return err
		case f.TooLarge:
			c.left = append(c.left, CopyLeft{f.Path, fmt.Sprintf("it has %d bytes, and a file may have 32 MiB; split it", f.Size)})
		default:
			c.paths = append(c.paths, f.Path)
		}
	}
	c.paths = slices.AppendSeq(c.paths, maps.Keys(c.from.FactFiles()))
	slices.Sort(c.paths)
	for _, p := range c.paths {
		text, hash, err := read(c.from, p)
		switch {
		case err != nil:
			return err
		case hash == "":
			return fmt.Errorf("%s went away while it was read; run it again", p)
		case !filepath.IsLocal(filepath.FromSlash(p)):
			return fmt.Errorf("copy %q: it leads out of the workspace", p)
		}
		c.hashes[p] = hash
		c.Documents, c.Bytes = c.Documents+1, c.Bytes+int64(len(text))
	}
	if !c.from.IsRemote() {
		return nil // other files than Markdown stay in the source
	}
	return fs.WalkDir(c.from.Files(), ".", func(p string, d fs.DirEntry, err error) error {
		told := slices.ContainsFunc(c.left, func(l CopyLeft) bool { return l.Path == p })
		if err == nil && !d.IsDir() && c.hashes[p] == "" && !told {
			c.left = append(c.left, CopyLeft{p, "it is no Markdown that index.include names"})
		}
		return err
	})
}

// compare returns the files that the target has already, with the same text.
func (c *copying) compare(ctx context.Context) (there map[string]bool, err error) {
	there = map[string]bool{}
	conflict := &ConflictError{Place: c.To}
	err = c.each(ctx, "comparing", func(p string) error {
		_, hash, err := read(c.to, p)
		if err != nil {
			return fmt.Errorf("read %s in %s: %w", p, c.To, err)
		}
		if there[p] = hash != ""; there[p] && hash != c.hashes[p] {
			conflict.Paths = append(conflict.Paths, p)
		}
		return nil
	})
	if err == nil && len(conflict.Paths) > 0 {
		err = conflict
	}
	return there, err
}

// write writes the missing files.
func (c *copying) write(ctx context.Context, there map[string]bool) error {
	locking, cancel := context.WithTimeout(ctx, c.o.Wait)
	defer cancel()
	err := c.to.Files().Write(locking, func(w markdownstore.Writer) error {
		return c.each(ctx, "copying", func(p string) error {
			if there[p] {
				return nil
			}
			text, hash, err := read(c.from, p)
			if err == nil && hash != c.hashes[p] {
				err = errors.New("it was changed meanwhile: run it again")
			}
			if err == nil {
				err = w.Create(p, text)
			}
			if err != nil {
				return fmt.Errorf("copy %s to %s: %w", p, c.To, err)
			}
			c.Copied++
			return nil
		})
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = fmt.Errorf("%s is in use: end the programs that write there, and run it again", c.To)
	}
	return err
}

// verify reads the copied files in s again. It returns an error if one of them has another text than
// the source had.
func (c *copying) verify(ctx context.Context, s *markdownstore.Store) error {
	if _, err := s.Version(ctx, 0); err != nil {
		return err
	}
	return c.each(ctx, "comparing", func(p string) error {
		_, hash, err := read(s, p)
		if err == nil && hash != c.hashes[p] {
			err = fmt.Errorf("%s was changed in %s meanwhile: run it again", p, s.Place())
		}
		return err
	})
}

// remove removes the copied files from the source.
func (c *copying) remove(ctx context.Context) error {
	err := c.from.Files().Write(ctx, func(w markdownstore.Writer) error {
		return c.each(ctx, "removing", func(p string) error {
			err := w.Remove(p, func(_ fs.FileInfo, old string) error {
				if have := store.Sum([]byte(old)); have != c.hashes[p] {
					return &markdownstore.ConflictError{Path: p, Want: c.hashes[p], Have: have}
				}
				return nil
			})
			if err != nil {
				return fmt.Errorf("all is in %s, but %s stays in %s: %w", c.To, p, c.From, err)
			}
			return nil
		})
	})
	c.Removed = err == nil
	return err
}
