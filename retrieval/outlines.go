package retrieval

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/analysis"
)

// maxOutlines bounds the chunks whose outlines are kept; of the usual size, each
// takes about 4 KiB.
const maxOutlines = 4096

// outlines caches what was made of chunks, by their content. It keeps the last
// maxOutlines to 2·maxOutlines that were requested.
type outlines struct {
	mu         sync.Mutex
	young, old map[index.Hash]*outline
}

// get returns the outline of a candidate; if the hash of its chunk is not known, it is made.
func (o *outlines) get(a *analysis.Analyzer, c *candidate) *outline {
	key, h := c.hash, &c.hit
	if key == (index.Hash{}) {
		key = index.HashChunk(h.Trail, h.Text)
	}
	if len(c.facts) > 0 {
		key = withFacts(key, c)
	}
	got, young := o.seen(key)
	if got == nil {
		got = outlineOf(a, h.Text, h.Trail)
		got.learn(a, c)
	}
	if !young {
		o.put(key, got)
	}
	return got
}

// withFacts is the key of a chunk with facts, which are no part of its hash.
func withFacts(key index.Hash, c *candidate) index.Hash {
	b := append([]byte(nil), key[:]...)
	for _, f := range c.facts {
		b = fmt.Appendf(b, "%d-%d %s\n", f.StartLine-c.hit.StartLine, f.EndLine-c.hit.StartLine, f.Text)
	}
	return sha256.Sum256(b)
}

// seen returns an outline that is kept, else nil, and whether it was asked for lately.
func (o *outlines) seen(key index.Hash) (got *outline, young bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if got := o.young[key]; got != nil {
		return got, true
	}
	return o.old[key], false
}

// digest is that of a chunk's text, kept with its outline.
func (o *outlines) digest(a *analysis.Analyzer, key index.Hash, text string) *digest {
	kept, _ := o.seen(key)
	if kept == nil {
		return digestOf(a, text, "")
	}
	if d := kept.whole.Load(); d != nil {
		return d
	}
	d := digestOf(a, text, "")
	kept.whole.Store(d)
	return d
}

func (o *outlines) put(key index.Hash, got *outline) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.young) >= maxOutlines {
		o.young, o.old = nil, o.young
	}
	if o.young == nil {
		o.young = map[index.Hash]*outline{}
	}
	o.young[key] = got
}
