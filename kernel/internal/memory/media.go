package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/markdownstore"
)

// mediaTypes are the types of images and sounds that can be embedded, by the extensions of their
// file names.
var mediaTypes = map[string]string{
	".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp", ".gif": "image/gif",
	".heic": "image/heic", ".heif": "image/heif", ".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg",
	".opus": "audio/opus", ".m4a": "audio/mp4", ".aac": "audio/aac", ".flac": "audio/flac",
}

// mediaType returns the type of an image or sound by its file name, or "" for any other file.
func mediaType(name string) string { return mediaTypes[strings.ToLower(path.Ext(name))] }

// mediaStat returns the stat of a file. The stat also changes if the file's caption changes. why is
// the reason why the file can't be embedded.
func mediaStat(root *os.Root, name string, by embed.Provider) (st index.FileStat, why string, err error) {
	fi, err := root.Stat(name)
	if err != nil {
		return index.FileStat{Path: name}, "", err
	}
	p, ok := by.(embed.MediaProvider)
	if !ok {
		return st, fmt.Sprintf("%s is not embedded: that takes provider gemini with model gemini-embedding-2", mediaType(name)), nil
	}
	if err := p.TakesMedia(mediaType(name), fi.Size()); err != nil {
		return st, "it is not embedded: " + err.Error(), nil
	}
	f := markdownstore.File{Path: name, Size: fi.Size(), ModTime: fi.ModTime(), Changed: markdownstore.Changed(fi)}
	if _, ci, ok := captionFile(root, name); ok {
		f = with(f, ci)
	}
	return statOf(f), "", nil
}

// captionFile finds the caption of a file: shed.png.md, shed.png.txt, shed.md or shed.txt next to
// shed.png.
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
	// maxCaption bounds the bytes that are read of a caption.
	maxCaption = 2 << 10
	// maxMediaFile bounds the bytes that are read of a file. The embedder's own bound is smaller.
	maxMediaFile = 64 << 20
)

// media returns the data of a file for embedding, and the line by which the file is found and
// shown. The line has the kind, the path, the caption and a part of the file's hash, so that a
// changed file is another chunk.
func (c *corpus) media(name string) (file embed.Media, line string, err error) {
	root, err := os.OpenRoot(c.store.Dir())
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
	if caption, _, ok := captionFile(root, name); ok {
		text, err := readBounded(root, caption, maxCaption)
		if err != nil {
			return file, "", err
		}
		line += ": " + strings.Join(strings.Fields(strings.ToValidUTF8(c.masker.Lines(string(text)), "")), " ")
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
