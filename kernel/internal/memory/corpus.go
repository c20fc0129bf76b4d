package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/sessions"
)

// corpus is the set of documents to index: the memory files, the media that the embedder takes,
// and documents of past sessions, if past sessions are searched.
type corpus struct {
	// store is the workspace. shared is the part of the workspace that a shared session sees.
	store, shared *markdownstore.Store
	extras        []*extra // additional folders
	masker        *mask.Masker
	embedder      embed.Provider
	mediaPaths    []string
	past          *sessions.Store
	searched      bool
}

// skip reports a file that is left out. It does nothing if skipped is nil.
func skip(skipped func(api.SkippedFile), path, why string) {
	if skipped != nil {
		skipped(api.SkippedFile{Path: path, Reason: why})
	}
}

// files lists all documents with their stats. It calls skipped for each file that is not indexed
// although its name is suitable.
func (c *corpus) files(ctx context.Context, skipped func(api.SkippedFile)) iter.Seq2[index.FileStat, error] {
	lists := []iter.Seq2[index.FileStat, error]{c.markdown(ctx, skipped)}
	for _, x := range c.extras {
		lists = append(lists, x.list(ctx, skipped))
	}
	for _, dir := range c.mediaPaths {
		lists = append(lists, c.mediaUnder(ctx, path.Clean(dir), skipped))
	}
	if c.searched {
		lists = append(lists, func(yield func(index.FileStat, error) bool) {
			for f, err := range c.past.Files() {
				if !yield(index.FileStat{Path: f.Path, Size: f.Size, ModTime: f.ModTime}, err) {
					return
				}
			}
		})
	}
	return func(yield func(index.FileStat, error) bool) {
		for _, list := range lists {
			for f, err := range list {
				if !yield(f, err) {
					return
				}
			}
		}
	}
}

// markdown lists the memory files.
func (c *corpus) markdown(ctx context.Context, skipped func(api.SkippedFile)) iter.Seq2[index.FileStat, error] {
	return func(yield func(index.FileStat, error) bool) {
		for f, err := range listMarkdown(ctx, c.store, "", skipped) {
			if x, _ := c.folderOf(f.Path); x != nil {
				skip(skipped, f.Path, "its name begins as those of the folder "+x.Name+" do; rename it, or give that folder another name in index.folders")
				continue
			}
			if _, own := markdownstore.Classify(f.Path); err == nil && !own && slices.ContainsFunc(c.extras, func(x *extra) bool { return x.holds(f.Path) }) {
				continue // the file is listed under that folder's name
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// listMarkdown lists the memory files of a store, with prefix before their paths.
func listMarkdown(ctx context.Context, st *markdownstore.Store, prefix string, skipped func(api.SkippedFile)) iter.Seq2[index.FileStat, error] {
	return func(yield func(index.FileStat, error) bool) {
		for f, err := range st.Walk(ctx) {
			c, _ := st.Classify(f.Path)
			if f.Path != "" {
				f.Path = prefix + f.Path
			}
			var denied *markdownstore.DeniedError
			switch {
			case errors.As(err, &denied):
				skip(skipped, f.Path, denied.Error())
			case err == nil && f.Shadowed:
				skip(skipped, f.Path, "MEMORY.md stands in its place")
			case err == nil && f.TooLarge && c.Indexed:
				skip(skipped, f.Path, "files over 32 MiB are not indexed; split it")
			case err == nil && !f.Indexed:
			case !yield(statOf(f), err):
				return
			}
		}
	}
}

// with returns f with a stat that also changes if a second file changes, such as the caption of f.
func with(f markdownstore.File, second fs.FileInfo) markdownstore.File {
	f.Size += second.Size()
	f.Changed = max(f.Changed, cmp.Or(markdownstore.Changed(second), second.ModTime().UnixNano()))
	if second.ModTime().After(f.ModTime) {
		f.ModTime = second.ModTime()
	}
	return f
}

func statOf(f markdownstore.File) index.FileStat {
	return index.FileStat{Path: f.Path, Size: f.Size, ModTime: f.ModTime, Changed: f.Changed}
}

// mediaUnder lists the media in a folder of the workspace.
func (c *corpus) mediaUnder(ctx context.Context, dir string, skipped func(api.SkippedFile)) iter.Seq2[index.FileStat, error] {
	return func(yield func(index.FileStat, error) bool) {
		root, err := os.OpenRoot(c.store.Dir())
		if err != nil {
			yield(index.FileStat{Path: dir}, err)
			return
		}
		defer root.Close()
		if !fs.ValidPath(dir) {
			skip(skipped, dir, "media_paths are folders of the workspace, by their relative names")
			return
		}
		more := true
		err = fs.WalkDir(root.FS(), dir, func(name string, e fs.DirEntry, err error) error {
			st := index.FileStat{Path: name}
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, fs.ErrNotExist) && name == dir:
				skip(skipped, dir, "there is no such folder of media")
				return nil
			case err == nil && e.IsDir() && name != dir && strings.HasPrefix(e.Name(), "."):
				return fs.SkipDir
			case err == nil && !e.IsDir() && (!e.Type().IsRegular() || mediaType(name) == ""):
				return nil
			case err == nil && !textutil.IsVisible(name):
				skip(skipped, name, nameless)
				if e.IsDir() {
					return fs.SkipDir
				}
				return nil
			case err == nil && e.IsDir():
				return nil
			case err == nil:
				var why string
				if st, why, err = mediaStat(root, name, c.embedder); why != "" {
					skip(skipped, name, why)
					return nil
				}
			}
			if more = yield(st, err); !more {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil && more {
			yield(index.FileStat{Path: dir}, err)
		}
	}
}

// nameless is the reason for leaving out a file or folder whose name can't be shown.
const nameless = "its name holds characters that can't be shown; rename it"

// chunks reads a file and cuts it into chunks.
func (c *corpus) chunks(path string, r *api.Reindexed) ([]index.Chunk, error) {
	if IsPast(path) {
		return c.pastChunks(path)
	}
	if mediaType(path) != "" {
		_, line, err := c.media(path)
		if err != nil {
			return nil, err
		}
		return []index.Chunk{{StartLine: 1, EndLine: 1, Text: line, Tokens: embed.EstimateTokens(line)}}, nil
	}
	st, rest, err := c.storeOf(path, true)
	if err != nil {
		return nil, err
	}
	l, err := st.ReadFile(rest)
	if err != nil {
		return nil, err
	}
	text := markdownstore.BlankRules(c.masker.Lines(l.Text))
	d := markdownstore.Parse(path, text)
	d.Class = l.Class
	for _, n := range d.Notes {
		note := api.SkippedFile{Path: path, Reason: n.Text}
		if n.Line > 0 {
			note.Path = fmt.Sprintf("%s:%d", path, n.Line)
		}
		if d.Binary {
			r.Skipped = append(r.Skipped, note)
			return nil, fmt.Errorf("%s: %w", path, index.ErrSkip)
		}
		r.Notes = append(r.Notes, note)
	}
	var out []index.Chunk
	words, over, labels := d.Keywords(), c.masker.Text(d.Over()), d.Labels()
	for k := range markdownstore.ChunkSeq(d, c.chunking()) {
		out = append(out, index.Chunk{ID: k.ID, StartLine: k.StartLine, EndLine: k.EndLine, Trail: k.Trail, Date: k.Date,
			Tokens: k.Tokens, Text: k.Text, Keywords: words, Over: over, Labels: labels})
	}
	return out, nil
}

// instructions are the files that hosts load by themselves. One of these files is often a link to
// another.
var instructions = []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md"}

// without excludes the files that a host shows by itself. These are the files with the given
// names, and the targets of links with these names in the workspace's root.
func (c *corpus) without(names []string, also func(string) bool) func(string) bool {
	shown := slices.Clone(names)
	if root, err := os.OpenRoot(c.store.Dir()); err == nil {
		defer root.Close()
		for _, name := range names {
			own, err := root.Stat(name)
			for _, other := range instructions {
				if fi, oerr := root.Stat(other); err == nil && oerr == nil && os.SameFile(own, fi) {
					shown = append(shown, other)
				}
			}
		}
	}
	return func(p string) bool {
		name := p
		if x, _ := c.folderOf(p); x == nil {
			name = path.Base(p)
		}
		if slices.Contains(shown, name) {
			return false
		}
		return also == nil || also(p)
	}
}

// pastChunks cuts a document of a past session into chunks. The document's secrets are masked
// already.
func (c *corpus) pastChunks(path string) ([]index.Chunk, error) {
	text, err := c.past.Read(path)
	if err != nil {
		return nil, err
	}
	var out []index.Chunk
	date := sessions.Date(path)
	for k := range markdownstore.ChunkSeq(markdownstore.Parse(path, text), c.chunking()) {
		out = append(out, index.Chunk{ID: k.ID, StartLine: k.StartLine, EndLine: k.EndLine, Trail: k.Trail, Date: date, Tokens: k.Tokens, Text: k.Text})
	}
	return out, nil
}

func (c *corpus) chunking() *markdownstore.Chunking {
	k := c.store.Chunking()
	return &k
}
