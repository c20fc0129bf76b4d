package markdownstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// CopyOptions say how files are copied.
type CopyOptions struct {
	// RemoveSource deletes the files from the source when all of them are in the target.
	RemoveSource bool
	// Wait is how long to wait for another writer. 0 means until the context ends.
	Wait time.Duration
	// Progress, if not nil, is called with the progress of the copy.
	Progress func(what string, done, all int)
}

// Copied is the result of a copy.
type Copied struct {
	// From and To are the places.
	From, To string
	// Files is the number of files in the target. Copied is the number of files that the target
	// did not have before.
	Files, Copied int
	Bytes         int64
	// LeftOut are the files that were not copied, with the reasons.
	LeftOut []CopyLeft
	// Removed reports whether the files were deleted from the source.
	Removed bool
}

// CopyLeft is a file that was not copied.
type CopyLeft struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// CopyConflictError is returned when the target has files with the same names and different
// texts. Nothing was written.
type CopyConflictError struct {
	// Place is the target.
	Place string
	Paths []string
}

func (e *CopyConflictError) Error() string {
	const most = 10
	names := strings.Join(e.Paths[:min(most, len(e.Paths))], ", ")
	if more := len(e.Paths) - most; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%s has other texts by the same names: %s; nothing was copied", e.Place, names)
}

// copying is a copy that is under way.
type copying struct {
	from, to *Store
	o        CopyOptions
	out      *Copied
	// hashes are the hashes of the source's files, in the order of paths.
	paths  []string
	hashes map[string]string
	there  map[string]bool
}

// Copy copies the files of a private store, with their facts, to another place, and compares all
// of them by hash. A file with another text is never written over: Copy then returns a
// *CopyConflictError before it writes anything. An interrupted copy continues when Copy is called
// again. Until then nobody can open a target that is a [Remote].
func Copy(ctx context.Context, from, to *Store, o CopyOptions) (*Copied, error) {
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	c := &copying{from: from, to: to, o: o, out: &Copied{From: PlaceOf(from), To: PlaceOf(to), LeftOut: []CopyLeft{}}, hashes: map[string]string{}, there: map[string]bool{}}
	if _, err := Version(ctx, from, 0); err != nil {
		return nil, err
	}
	if err := c.list(ctx); err != nil {
		return nil, err
	}
	was, err := c.mark(ctx, c.out.From)
	if err != nil {
		return nil, err
	}
	if err := c.compare(ctx); err != nil {
		if was == "" {
			_, unmarked := c.mark(context.WithoutCancel(ctx), "")
			err = errors.Join(err, unmarked)
		}
		return nil, err
	}
	if err := c.write(ctx); err != nil {
		return nil, err
	}
	if err := c.verify(ctx); err != nil {
		return nil, err
	}
	if _, err := c.mark(ctx, ""); err != nil {
		return nil, err
	}
	if !o.RemoveSource {
		return c.out, nil
	}
	return c.out, c.remove(ctx)
}

// mark keeps others out of the target, or lets them in again.
func (c *copying) mark(ctx context.Context, from string) (was string, err error) {
	if r, ok := c.to.files.(Remote); ok {
		return r.Moving(ctx, from)
	}
	return "", nil
}

// list reads the source.
func (c *copying) list(ctx context.Context) error {
	c.o.Progress("reading", 0, 0)
	var denied *DeniedError
	for f, err := range c.from.Walk(ctx) {
		switch {
		case errors.As(err, &denied):
			c.out.LeftOut = append(c.out.LeftOut, CopyLeft{f.Path, denyTexts[denied.Reason]})
		case err != nil:
			return err
		case f.TooLarge:
			c.out.LeftOut = append(c.out.LeftOut, CopyLeft{f.Path, fmt.Sprintf("it is larger than files may be: %d bytes; raise workspace.max_file_size", f.Size)})
		default:
			c.paths = append(c.paths, f.Path)
		}
	}
	entries, err := readDir(c.from.files, factsDir)
	if err != nil && gone(err) != nil && !errors.As(err, &denied) {
		return err
	}
	for _, e := range entries {
		if _, ok := FactsPath(memoryDir + "/" + e.Name()); ok && e.Type().IsRegular() {
			c.paths = append(c.paths, factsDir+"/"+e.Name())
		}
	}
	slices.Sort(c.paths)
	for _, p := range c.paths {
		text, there, err := rawText(c.from.files, p)
		if err == nil && !there {
			err = fmt.Errorf("%s went away while it was read; run it again", p)
		}
		if err != nil {
			return err
		}
		c.hashes[p] = hashOf(text)
		c.out.Files, c.out.Bytes = c.out.Files+1, c.out.Bytes+int64(len(text))
	}
	return c.unlisted()
}

// unlisted names files of a database that are no Markdown of the settings: in a folder
// there are many, and they stay there.
func (c *copying) unlisted() error {
	if !IsRemote(c.from) {
		return nil
	}
	return fs.WalkDir(c.from.files, ".", func(p string, d fs.DirEntry, err error) error {
		if _, listed := c.hashes[p]; err == nil && !d.IsDir() && !listed && !slices.ContainsFunc(c.out.LeftOut, func(l CopyLeft) bool { return l.Path == p }) {
			c.out.LeftOut = append(c.out.LeftOut, CopyLeft{p, "it is no Markdown that index.include names"})
		}
		return err
	})
}

// rawText reads a file by its path alone.
func rawText(files Files, p string) (text string, there bool, err error) {
	if err := checkFolders(files, p); err != nil {
		return "", false, gone(err)
	}
	b, err := fs.ReadFile(files, p)
	if err != nil {
		return "", false, gone(err)
	}
	return string(b), true, nil
}

// compare finds the files that the target has already.
func (c *copying) compare(ctx context.Context) error {
	conflict := &CopyConflictError{Place: c.out.To}
	for i, p := range c.paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.o.Progress("comparing", i, len(c.paths))
		if !filepath.IsLocal(filepath.FromSlash(p)) {
			return fmt.Errorf("copy %q: %w", p, deny(p, denyOutside))
		}
		text, there, err := rawText(c.to.files, p)
		switch {
		case errors.Is(err, ErrDenied):
			conflict.Paths = append(conflict.Paths, p)
		case err != nil:
			return fmt.Errorf("read %s in %s: %w", p, c.out.To, err)
		case there && hashOf(text) != c.hashes[p]:
			conflict.Paths = append(conflict.Paths, p)
		default:
			c.there[p] = there
		}
	}
	if len(conflict.Paths) > 0 {
		return conflict
	}
	return nil
}

// write writes the missing files.
func (c *copying) write(ctx context.Context) error {
	locking := ctx
	if c.o.Wait > 0 {
		var cancel context.CancelFunc
		locking, cancel = context.WithTimeout(ctx, c.o.Wait)
		defer cancel()
	}
	err := c.to.files.Write(locking, func(w Writer) error {
		for i, p := range c.paths {
			if c.there[p] {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			c.o.Progress("copying", i, len(c.paths))
			text, there, err := rawText(c.from.files, p)
			if err == nil && (!there || hashOf(text) != c.hashes[p]) {
				err = errors.New("it was changed meanwhile: run it again")
			}
			if err == nil {
				err = w.Create(p, text)
			}
			if err != nil {
				return fmt.Errorf("copy %s to %s: %w", p, c.out.To, err)
			}
			c.out.Copied++
		}
		return nil
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = fmt.Errorf("%s is in use: end the programs that write there, and run it again", c.out.To)
	}
	return err
}

// verify reads both again: only the content that they return counts.
func (c *copying) verify(ctx context.Context) error {
	for _, s := range []*Store{c.from, c.to} {
		if _, err := Version(ctx, s, 0); err != nil {
			return err
		}
		for i, p := range c.paths {
			if err := ctx.Err(); err != nil {
				return err
			}
			c.o.Progress("comparing", i, len(c.paths))
			text, there, err := rawText(s.files, p)
			if err == nil && (!there || hashOf(text) != c.hashes[p]) {
				err = fmt.Errorf("%s was changed in %s meanwhile: run it again", p, PlaceOf(s))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// remove takes the files out of the source, as they were copied.
func (c *copying) remove(ctx context.Context) error {
	err := c.from.files.Write(ctx, func(w Writer) error {
		for i, p := range c.paths {
			c.o.Progress("removing", i, len(c.paths))
			err := w.Remove(p, func(_ fs.FileInfo, old string) error {
				if have := hashOf(old); have != c.hashes[p] {
					return &ConflictError{Path: p, Want: c.hashes[p], Have: have}
				}
				return nil
			})
			if err != nil {
				return fmt.Errorf("all is in %s, but %s stays in %s: %w", c.out.To, p, c.out.From, err)
			}
		}
		return nil
	})
	c.out.Removed = err == nil
	return err
}
