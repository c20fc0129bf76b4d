package index

import (
	"crypto/sha256"
	"encoding/binary"
	pathpkg "path"
	"strings"

	"github.com/memkernel/memkernel/index/analysis"
)

// ReadyChunk is a chunk with all its stored data. Keywords has the stored form of keywords and Over.
type ReadyChunk struct {
	Chunk
	Hash Hash
	// TrailText is the stored form of the trail, with one heading on each line.
	TrailText string
	// Words is nil until Analyse makes it.
	Words *Words
}

// Words are the terms of a chunk, separated by spaces. Body has the terms of its text, Trail of its
// headings, and Names of the names of its file. File has the terms of the file's folder and
// keywords, and of the days on which the chunk was written and which it mentions. Lang is the
// language of the text.
type Words struct{ Lang, Body, Trail, File, Names string }

// columns returns the terms in the order of the columns of chunks_fts.
func (w *Words) columns() [4]string { return [...]string{w.Body, w.Trail, w.File, w.Names} }

// Ready names and hashes the chunks of a file. It does not make their words. The returned hash
// covers all chunks and their places.
func Ready(path string, chunks []Chunk) (out []ReadyChunk, hash []byte) {
	out, nth := make([]ReadyChunk, len(chunks)), map[Hash]int{}
	for i, c := range chunks {
		r := &out[i]
		r.Chunk, r.TrailText = c, joinTrail(c.Trail)
		r.Keywords = storedKeywords(&c)
		r.Hash = hashStored(r.TrailText, c.Text)
		if c.ID == "" {
			r.ID = deriveID(path, r.Hash, nth[r.Hash])
			nth[r.Hash]++
		}
	}
	return out, hashFile(out)
}

// Analyse makes the chunk's words.
func (r *ReadyChunk) Analyse(a *analysis.Analyzer, path string) {
	r.Words = analyse(a, path, r.Keywords, r.TrailText, r.Date, r.Text)
}

// analyse makes a chunk's words. Headings, path and keywords are too short to tell their language, so
// they are analysed in the language of the text.
func analyse(a *analysis.Analyzer, path, keywords, trail, date, text string) *Words {
	body, lang := a.AppendIndex(nil, text)
	folder, base := pathpkg.Split(path)
	names, keywords := searched(keywords)
	file := string(a.AppendIndexAs(nil, folder+"\n"+keywords, lang))
	return &Words{
		Lang:  lang,
		Body:  string(body),
		Trail: string(a.AppendIndexAs(nil, trail, lang)),
		File:  strings.TrimSpace(file + " " + analysis.DateWords(text, SplitLines(trail), date)),
		Names: string(a.AppendIndexAs(nil, strings.TrimSuffix(base, pathpkg.Ext(base))+"\n"+names, lang)),
	}
}

// hashFile returns the hash of all stored data of a file's chunks.
func hashFile(chunks []ReadyChunk) []byte {
	h := sha256.New()
	var buf []byte
	for i := range chunks {
		c := &chunks[i]
		buf = append(buf[:0], c.Hash[:]...)
		for _, n := range [3]int{c.StartLine, c.EndLine, c.Tokens} {
			buf = binary.AppendVarint(buf, int64(n))
		}
		for _, s := range [3]string{c.ID, c.Date, c.Keywords} {
			buf = append(append(buf, s...), 0)
		}
		h.Write(buf)
	}
	h.Write([]byte(LabelsOf(chunks)))
	return h.Sum(nil)
}
