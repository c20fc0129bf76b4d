package retrieval

import (
	"sync"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/analysis"
)

// maxOutlines bounds the chunks whose outlines are kept; of the usual size, each
// takes about 4 KiB.
const maxOutlines = 4096

// outlines keeps what was made of chunks, by what they say. It keeps the last
// maxOutlines to 2·maxOutlines that were asked for.
type outlines struct {
	mu         sync.Mutex
	young, old map[index.Hash]*outline
}

// get is the outline of a chunk; key is its hash, zero if it is not known.
func (o *outlines) get(a *analysis.Analyzer, key index.Hash, text string, trail []string) *outline {
	if key == (index.Hash{}) {
		key = index.HashChunk(trail, text)
	}
	o.mu.Lock()
	got := o.young[key]
	if got == nil {
		got = o.old[key]
	}
	o.mu.Unlock()
	if got == nil {
		got = outlineOf(a, text, trail)
	}
	o.put(key, got)
	return got
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
