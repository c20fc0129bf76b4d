package retrieval

import (
	"sync/atomic"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/analysis"
	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/internal/textutil"
)

// maxOutlines bounds the number of chunks whose outlines are kept. The outline of a chunk of the
// usual size takes about 4 KiB.
const maxOutlines = 4096

// outlines caches the analysis of chunks, by their content. It keeps the last maxOutlines to
// 2·maxOutlines that were requested.
type outlines struct {
	textutil.Recent[index.Hash, *outline]
}

// outlinesEach is the number of missing outlines for which another goroutine is worthwhile.
const outlinesEach = 4

// of returns the outlines of candidates. It makes missing outlines, in parallel on several
// processors. This is most of the cost of a search whose chunks are not cached.
func (o *outlines) of(a *analysis.Analyzer, cs []*candidate) []*outline {
	out := make([]*outline, len(cs))
	var missing []int
	for i, c := range cs {
		var ok bool
		if out[i], ok = o.Get(c.key()); !ok {
			missing = append(missing, i)
		}
	}
	var next atomic.Int32
	var given atomic.Bool // whether a is in use
	longwork.Run(len(missing)/outlinesEach, func() {
		a := a
		if !given.CompareAndSwap(false, true) {
			a = analyzers.Lend()
			defer analyzers.Give(a)
		}
		for n := int(next.Add(1)); n <= len(missing); n = int(next.Add(1)) {
			c := cs[missing[n-1]]
			made := outlineOf(a, c.hit.Text, c.hit.Trail)
			o.Put(c.key(), made, 1, maxOutlines)
			out[missing[n-1]] = made
		}
	})
	return out
}

// key is the cache key of a candidate's outline: the hash of its chunk, which is computed if it
// is not known.
func (c *candidate) key() index.Hash {
	f := c.found
	if f.Hash == (index.Hash{}) {
		f.Hash = index.HashChunk(f.Trail, f.Text)
	}
	return f.Hash
}

// digest returns the digest of a chunk's text and keeps it with the chunk's outline.
func (o *outlines) digest(a *analysis.Analyzer, key index.Hash, text string) *digest {
	kept, ok := o.Get(key)
	if !ok {
		return digestOf(a, text, "")
	}
	if d := kept.whole.Load(); d != nil {
		return d
	}
	d := digestOf(a, text, "")
	kept.whole.Store(d)
	return d
}
