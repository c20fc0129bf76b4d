package index

import (
	"iter"
	"math"
	"time"

	"github.com/memkernel/memkernel/index/internal/fts5"
	"github.com/memkernel/memkernel/index/internal/vec"
)

// The names exported here are for packages that keep the same index in another store. They hold
// the rules for comparing files, naming and hashing chunks, making words and ranking hits. All
// stores use the same rules and hence return the same hits.

// BM25 holds the constants of a score, and the weights of a word by where it is: in a chunk's text,
// in its headings, in the folder and keywords of its file, in the names of its file.
var BM25 = fts5.BM25

// Nanos returns the file's time as it is stored, in ns since 1970. If Changed is set, the part
// below a millisecond is a hash of ModTime and Changed. Two times with the same millisecond are
// then equal by accident once in a million.
func (f FileStat) Nanos() int64 {
	at := nanos(f.ModTime)
	if f.Changed == 0 {
		return at
	}
	const grain = int64(time.Millisecond)
	hash := statHash("", at, f.Changed) % uint64(grain)
	return min(at, math.MaxInt64-grain)/grain*grain + int64(hash)
}

// RankKeyword rounds the −bm25 of the hits, sorts the hits, numbers the best k and sets their
// scores.
func RankKeyword(hits []Hit, k int) []Hit {
	for i := range hits {
		hits[i].Raw = rounded(hits[i].Raw)
	}
	return keywordScores(rank(hits, k))
}

// RankVector sorts the hits by cosine, numbers the best k and sets their scores.
func RankVector(hits []Hit, k int) []Hit {
	hits = rank(hits, k)
	for i := range hits {
		hits[i].Score = min(1, max(0, hits[i].Raw))
	}
	return hits
}

// Unit returns v scaled to length 1, or an error if v can't be scaled.
func Unit(v []float32) ([]float32, error) {
	b, err := vec.Unit(v)
	if err != nil {
		return nil, err
	}
	out, _ := vec.Decode(b, len(v))
	return out, nil
}

// MissingSteps yields the texts without a vector that read returns step by step, each text once.
// Nothing stays open between two texts. Each call of read gets the end of the previous step; the
// first call gets the parameter first. A step that ends where it began is the last step.
func MissingSteps[At comparable](first At, read func(after At) (step []Missing, last At, err error)) iter.Seq2[Missing, error] {
	return func(yield func(Missing, error) bool) {
		seen := map[Hash]bool{}
		for at := first; ; {
			step, last, err := read(at)
			if err != nil {
				yield(Missing{}, err)
				return
			}
			for _, m := range step {
				if !seen[m.Hash] && !yield(m, nil) {
					return
				}
				seen[m.Hash] = true
			}
			if last == at {
				return
			}
			at = last
		}
	}
}
