package index

import (
	"context"
	"iter"
	"math"
	"time"

	"github.com/memkernel/memkernel/index/analysis"
)

// What stands here is for those who keep the same index in another store: files
// are compared, chunks named and hashed, words made and hits ranked by these
// rules alone, so that an index may move from one store to the other and answers
// alike in both.

// BM25 as FTS5 has it: the constants, the weight of a word by where it stands, and
// what a word is worth that more than half of the chunks hold.
const (
	BM25K1      = 1.2
	BM25B       = 0.75
	BM25Least   = 1e-6
	WeightBody  = weightBody
	WeightTrail = weightTrail
	WeightFile  = weightFile
	// MaxTerms bounds the words of one search; a longer question is reduced to the
	// rarest of its first MaxLookup.
	MaxTerms  = maxTerms
	MaxLookup = maxLookup
	// Ties is how many hits are to be fetched beyond those that are asked for.
	Ties = ties
)

// Listing is what a source of files says.
type Listing struct {
	// Files are sorted by path, each once.
	Files []FileStat
	// Stamp is the sum of their hashes: equal sums, equal files.
	Stamp uint64
	// Problems are what could not be listed.
	Problems []FileError
	inner    *listing
}

// List reads a source to its end.
func List(ctx context.Context, source iter.Seq2[FileStat, error]) (*Listing, error) {
	l, err := list(ctx, source)
	if err != nil {
		return nil, err
	}
	return &Listing{l.files, l.stamp, l.problems, l}, nil
}

// Unsure tells whether a file that was not listed may be there all the same.
func (l *Listing) Unsure(path string) bool { return l.inner.unsure(path) }

// Nanos is the file's time as it is stored, in ns since 1970.
func (f FileStat) Nanos() int64 { return nanos(f.ModTime) }

// Stamp is the file's part in [Listing.Stamp].
func (f FileStat) Stamp() uint64 { return f.hash() }

// Young tells whether a file may change once more without its time changing.
func (f FileStat) Young(read time.Time) bool { return fresh(f.ModTime, read) }

// ReadyChunk is a chunk with its name, its hash and its words.
type ReadyChunk struct {
	Chunk
	Hash Hash
	// TrailText is the trail as it is stored, one heading to a line.
	TrailText string
	Words     Words
}

// Words are a chunk's terms, separated by spaces: of its text, of its headings, and
// of its file's path and keywords. Lang is the language of the text.
type Words struct{ Lang, Body, Trail, File string }

// Ready names and hashes the chunks of a file, without their words. The hash is
// that of all of them and their places.
func Ready(path string, chunks []Chunk) (out []ReadyChunk, hash []byte) {
	ready := readyChunks(path, chunks)
	out = make([]ReadyChunk, len(ready))
	for i := range ready {
		out[i] = ReadyChunk{Chunk: ready[i].Chunk, Hash: ready[i].hash, TrailText: ready[i].trail}
	}
	return out, hashFile(ready)
}

func readyChunks(path string, chunks []Chunk) []readyChunk {
	out, nth := make([]readyChunk, len(chunks)), map[Hash]int{}
	for i, c := range chunks {
		r := &out[i]
		r.Chunk, r.trail = c, joinTrail(c.Trail)
		r.hash = hashStored(r.trail, c.Text)
		if c.ID == "" {
			r.ID = deriveID(path, r.hash, nth[r.hash])
			nth[r.hash]++
		}
	}
	return out
}

// Analyse makes the chunk's words.
func (r *ReadyChunk) Analyse(a *analysis.Analyzer, path string) {
	w := analyse(a, path, r.Keywords, r.TrailText, r.Text)
	r.Words = Words{w.lang, w.body, w.trail, w.file}
}

// SplitTrail reads a trail as it is stored.
func SplitTrail(stored string) []string { return splitTrail(stored) }

// RankKeyword rounds −bm25, sorts, numbers the best k and gives them scores.
func RankKeyword(hits []Hit, k int) []Hit {
	for i := range hits {
		hits[i].Raw = math.Round(hits[i].Raw/grain) * grain
	}
	hits = rank(hits, k)
	for i := range hits {
		hits[i].Score = hits[i].Raw / (hits[i].Raw + halfScore)
	}
	return hits
}

// RankVector sorts by cosine, numbers the best k and gives them scores.
func RankVector(hits []Hit, k int) []Hit {
	hits = rank(hits, k)
	for i := range hits {
		hits[i].Score = min(1, max(0, hits[i].Raw))
	}
	return hits
}

// Unit is v scaled to length 1, or an error if that can't be done.
func Unit(v []float32) ([]float32, error) {
	b, err := unit(v)
	if err != nil {
		return nil, err
	}
	out, _ := decodeVector(b, len(v))
	return out, nil
}

// Problem makes an [*Error] about an index that is kept at a place.
func Problem(op, place string, kind, cause error) error { return problem(op, place, kind, cause) }
