package kernel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"strings"

	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/visible"
)

// mediaTypes are the images and sounds that may be found by meaning, by the end of
// their names.
var mediaTypes = map[string]string{
	".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp", ".gif": "image/gif",
	".heic": "image/heic", ".heif": "image/heif", ".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg",
	".opus": "audio/opus", ".m4a": "audio/mp4", ".aac": "audio/aac", ".flac": "audio/flac",
}

// mediaType is "" for what is no media.
func mediaType(name string) string { return mediaTypes[strings.ToLower(path.Ext(name))] }

// files lists what is to be indexed: the memory files, the media that the embedder
// takes, and documents of past sessions.
func (m *memory) files(ctx context.Context, skipped func(Skipped)) iter.Seq2[index.FileStat, error] {
	return func(yield func(index.FileStat, error) bool) {
		for st, err := range indexed(m.private.Walk(ctx), skipped) {
			if !yield(st, err) {
				return
			}
		}
		for _, dir := range m.opts.MediaPaths {
			if !m.mediaUnder(ctx, path.Clean(dir), skipped, yield) {
				return
			}
		}
		if !m.opts.Sessions.Enabled {
			return
		}
		for f, err := range m.past.Files() {
			if !yield(index.FileStat{Path: f.Path, Size: f.Size, ModTime: f.ModTime}, err) {
				return
			}
		}
	}
}

// mediaUnder lists the media in a folder of the workspace. It is false if yield
// wants no more.
func (m *memory) mediaUnder(ctx context.Context, dir string, skipped func(Skipped), yield func(index.FileStat, error) bool) bool {
	root, err := os.OpenRoot(m.private.Dir())
	if err != nil {
		return yield(index.FileStat{Path: dir}, err)
	}
	defer root.Close()
	if !fs.ValidPath(dir) {
		skip(skipped, dir, "media_paths are folders of the workspace, by their relative names")
		return true
	}
	more := true
	err = fs.WalkDir(root.FS(), dir, func(name string, e fs.DirEntry, err error) error {
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
		case err == nil && !visible.Name(name):
			skip(skipped, name, nameless)
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case err == nil && e.IsDir():
			return nil
		}
		st := index.FileStat{Path: name}
		if err == nil {
			var why string
			if st, why, err = m.mediaStat(root, name); why != "" {
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
		more = yield(index.FileStat{Path: dir}, err)
	}
	return more
}

// nameless is why a file or folder is left out whose name can't be shown.
const nameless = "its name holds characters that can't be shown; rename it"

// mediaStat is the stat of a file together with what is said of it, so that either
// can change; why tells that it can't be embedded.
func (m *memory) mediaStat(root *os.Root, name string) (st index.FileStat, why string, err error) {
	fi, err := root.Stat(name)
	if err != nil {
		return index.FileStat{Path: name}, "", err
	}
	p, ok := m.opts.Embedder.(embed.MediaProvider)
	if !ok {
		return st, fmt.Sprintf("%s is not embedded: that takes provider gemini with model gemini-embedding-2", mediaType(name)), nil
	}
	if err := p.TakesMedia(mediaType(name), fi.Size()); err != nil {
		return st, "it is not embedded: " + err.Error(), nil
	}
	st = index.FileStat{Path: name, Size: fi.Size(), ModTime: fi.ModTime()}
	if _, ci, ok := captionFile(root, name); ok {
		st.Size += ci.Size()
		if ci.ModTime().After(st.ModTime) {
			st.ModTime = ci.ModTime()
		}
	}
	return st, "", nil
}

// captionFile finds what is said of a file: shed.png.md, shed.png.txt, shed.md or
// shed.txt beside shed.png.
func captionFile(root *os.Root, name string) (string, fs.FileInfo, bool) {
	base := strings.TrimSuffix(name, path.Ext(name))
	for _, c := range []string{name + ".md", name + ".txt", base + ".md", base + ".txt"} {
		if fi, err := root.Lstat(c); err == nil && fi.Mode().IsRegular() {
			return c, fi, true
		}
	}
	return "", nil, false
}

const (
	// maxCaption bounds what is read of a caption, maxMediaFile what is read of a
	// file; the embedder's own bound is smaller.
	maxCaption   = 2 << 10
	maxMediaFile = 64 << 20
)

// media is a file as it is embedded, and the one line by which it is found and
// shown: kind, path, caption and a part of its hash, so that another content is
// another chunk.
func (m *memory) media(name string) (file embed.Media, line string, err error) {
	root, err := os.OpenRoot(m.private.Dir())
	if err != nil {
		return file, "", err
	}
	defer root.Close()
	if file.Data, err = readBounded(root, name, maxMediaFile); err != nil {
		return file, "", err
	}
	file.Type = mediaType(name)
	kind, _, _ := strings.Cut(file.Type, "/")
	line = kind + " " + name
	if c, _, ok := captionFile(root, name); ok {
		text, err := readBounded(root, c, maxCaption)
		if err != nil {
			return file, "", err
		}
		line += ": " + strings.Join(strings.Fields(strings.ToValidUTF8(m.masker.Lines(string(text)), "")), " ")
	}
	file.Caption = line
	sum := sha256.Sum256(file.Data)
	return file, line + " [" + hex.EncodeToString(sum[:8]) + "]", nil
}

// readBounded reads the beginning of a file.
func readBounded(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// mediaChunk is the one chunk of a file of media.
func (m *memory) mediaChunk(name string) ([]index.Chunk, error) {
	_, line, err := m.media(name)
	if err != nil {
		return nil, err
	}
	return []index.Chunk{{StartLine: 1, EndLine: 1, Text: line, Tokens: embed.EstimateTokens(line)}}, nil
}

// media embeds the files among what lacks a vector. One that is refused stays
// without and is told.
func (f *filling) media(ctx context.Context) error {
	p, ok := f.p.(embed.MediaProvider)
	for t, err := range f.ix.MissingEmbeddings(ctx, f.p.Model()) {
		if err != nil {
			return err
		}
		if !ok || mediaType(t.Path) == "" {
			continue
		}
		if err := f.file(ctx, p, t); err != nil {
			return err
		}
	}
	return nil
}

func (f *filling) file(ctx context.Context, p embed.MediaProvider, t index.Missing) error {
	file, line, err := f.m.media(t.Path)
	if err != nil || line != t.Text {
		f.r.Skipped = append(f.r.Skipped, Skipped{t.Path, "it changed while it was indexed: run reindex again"})
		return nil
	}
	v, use, err := p.EmbedMedia(ctx, file)
	f.r.Embedded.Requests += use.Requests
	f.r.Embedded.Retries += use.Retries
	f.r.Embedded.Tokens += use.Tokens
	var e *embed.Error
	switch {
	case errors.As(err, &e) && e.Texts:
		f.r.Embedded.Refused++
		f.r.Skipped = append(f.r.Skipped, Skipped{t.Path, "it is found by its name only: " + err.Error()})
		return nil
	case err != nil:
		return err
	}
	f.r.Embedded.Embedded++
	return f.put(context.WithoutCancel(ctx), []embed.Vector[index.Hash]{{Key: t.Hash, Vector: v}})
}
