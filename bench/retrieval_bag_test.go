package bench

import (
	"context"
	"hash/fnv"
	"math/rand"
	"strings"
	"sync"

	"github.com/memkernel/memkernel/embed"
)

// bag embeds texts as the sum of a direction per word: a stand-in for a model that
// needs none. It remembers questions.
type bag struct {
	mu    sync.Mutex
	known map[string][]float32
	words map[string][]float32
}

const bagDim = 384

func newBag() *bag {
	return &bag{known: map[string][]float32{}, words: map[string][]float32{}}
}

func (g *bag) Model() string { return "bag-of-words" }

func (g *bag) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if v := g.known[text]; v != nil {
		return v, nil
	}
	v := g.sum(text)
	g.known[text] = v
	clear(g.words)
	return v, nil
}

func (g *bag) EmbedDocuments(_ context.Context, texts []string) (embed.Result, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out embed.Result
	for _, t := range texts {
		out.Vectors = append(out.Vectors, g.sum(t))
	}
	return out, nil
}

func (g *bag) sum(text string) []float32 {
	v := make([]float32, bagDim)
	v[0] = 1e-3 // texts without a word have a direction too
	for w := range strings.FieldsSeq(strings.ToLower(text)) {
		w = strings.Trim(w, ".,;:!?()\"'*#-")
		d := g.words[w]
		if d == nil {
			h := fnv.New64a()
			h.Write([]byte(w))
			d = direction(rand.New(rand.NewSource(int64(h.Sum64()))), bagDim)
			g.words[w] = d
		}
		mix(v, 1, d, 1)
	}
	return v
}
