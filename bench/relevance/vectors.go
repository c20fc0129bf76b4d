package relevance

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/index"
)

// The kinds of vectors that are made from a set's known answers. They show how good and bad vectors
// affect a search, without a model.
const (
	// vectorsRight puts a question near the chunks that hold its evidence.
	vectorsRight = "right"
	// vectorsNoise makes random vectors that depend only on the text.
	vectorsNoise = "noise"
	// vectorsAdversarial puts a question near chunks without its evidence, and opposite to the
	// chunks with it.
	vectorsAdversarial = "adversarial"
	// vectorsConstant makes nearly the same vector for all texts, like a model that doesn't know
	// the language.
	vectorsConstant = "constant"
	// vectorsForeign makes vectors that follow the spelling of texts and not their meaning, and
	// that are near to one another, like the vectors of a model for another language.
	vectorsForeign = "foreign"
)

// vectorKinds lists the kinds of made vectors.
var vectorKinds = []string{vectorsRight, vectorsNoise, vectorsAdversarial, vectorsConstant, vectorsForeign}

const (
	madeDim = 256
	// madeNoise is the length of the random part of a right vector. The other part has length 1.
	madeNoise = .3
	// wrongChunks is the number of chunks near an adversarial question.
	wrongChunks = 10
)

// made is a provider of made vectors.
type made struct {
	kind string
	// known holds the vectors that don't follow from the text alone.
	known map[string][]float32
	cut   []cut
}

// Vectors makes a provider of a kind of vectors for the set.
func (b *bench) Vectors(kind string) (embed.Provider, error) {
	if !slices.Contains(vectorKinds, kind) {
		return nil, fmt.Errorf("there are no vectors %q, there are %s", kind, strings.Join(vectorKinds, ", "))
	}
	m := &made{kind, map[string][]float32{}, b.cut}
	if kind == vectorsNoise || kind == vectorsConstant || kind == vectorsForeign {
		return m, nil
	}
	for i := range b.cut {
		m.put(b.cut[i].text, 0, nil)
	}
	for _, q := range b.Questions {
		concept := random("concept " + q.ID + " " + q.Text)
		m.put(q.Text, 1, concept)
		for _, e := range q.Evidence {
			for _, c := range b.cut {
				if e.in(c.path, c.from, c.to) {
					m.put(c.text, map[bool]float32{true: 1, false: -1}[kind == vectorsRight], concept)
				}
			}
		}
		if kind == vectorsAdversarial {
			b.mislead(m, q, concept)
		}
	}
	return m, nil
}

// mislead puts a question's concept on chunks without evidence.
func (b *bench) mislead(m *made, q Question, concept []float32) {
	rng := rand.New(rand.NewPCG(hashed(q.ID+q.Text), 0))
	for n, tries := 0, 0; n < wrongChunks && tries < 10*wrongChunks; tries++ {
		c := b.cut[rng.IntN(len(b.cut))]
		if !slices.ContainsFunc(q.Evidence, func(e Evidence) bool { return e.in(c.path, c.from, c.to) }) {
			m.put(c.text, 1, concept)
			n++
		}
	}
}

// put adds a share of a vector to the vector of a text, which begins as noise.
func (m *made) put(text string, share float32, of []float32) {
	if m.known[text] == nil {
		m.known[text] = random(text)
		for i := range m.known[text] {
			m.known[text][i] *= madeNoise
		}
	}
	for i := range of {
		m.known[text][i] += share * of[i]
	}
}

// Model implements embed.Provider.
func (m *made) Model() string { return "made/" + m.kind }

// EmbedQuery implements embed.Provider.
func (m *made) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	if v := m.known[text]; v != nil {
		return v, nil
	}
	if m.kind == vectorsForeign {
		return letters(text), nil
	}
	v := random(text)
	if c := m.holding(text); c != nil {
		for i := range v {
			v[i] = v[i]*madeNoise + c[i]
		}
		return v, nil
	}
	if m.kind == vectorsConstant {
		for i := range v {
			v[i] = v[i]*.05 + 1
		}
	}
	return v, nil
}

// holding returns the vector of the chunk that holds a passage of the set. It returns nil for
// other texts and other kinds of vectors.
func (m *made) holding(text string) []float32 {
	if m.kind != vectorsRight {
		return nil
	}
	for i := range m.cut {
		if v := m.known[m.cut[i].text]; v != nil && strings.Contains(m.cut[i].text, text) {
			return v
		}
	}
	return nil
}

// EmbedDocuments implements embed.Provider.
func (m *made) EmbedDocuments(ctx context.Context, texts []string) (embed.Result, error) {
	var r embed.Result
	for _, t := range texts {
		v, _ := m.EmbedQuery(ctx, t)
		r.Vectors = append(r.Vectors, v)
	}
	return r, nil
}

// letters returns a vector that counts the runs of three characters in a text. Each run is
// counted in one component of the vector. A part that all texts share is added.
func letters(text string) []float32 {
	v := make([]float32, madeDim)
	rs := []rune(text)
	sum := 0.0
	for i := range max(len(rs)-2, 0) {
		v[hashed(string(rs[i:i+3]))%madeDim]++
	}
	for _, x := range v {
		sum += float64(x * x)
	}
	for i := range v {
		v[i] = v[i]/float32(math.Sqrt(max(sum, 1))) + .1 // all vectors share a part of length 1.6
	}
	return v
}

// random returns a random vector with a mean length of 1. It depends only on the text.
func random(text string) []float32 {
	rng := rand.New(rand.NewPCG(hashed(text), 1))
	v := make([]float32, madeDim)
	for i := range v {
		v[i] = float32(rng.NormFloat64()) / 16 // the root of madeDim
	}
	return v
}

func hashed(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// cut is a chunk of the set, with the text from which its vector is made, and its lines.
type cut struct {
	path, text string
	from, to   int
}

// Embed fills the index with a provider's vectors. A text that the provider refuses is an error,
// because questions about the text would count as failures of the search.
func (b *bench) Embed(ctx context.Context, p embed.Provider) error {
	dim := embed.Describe(p).Dim
	if dim == 0 {
		v, err := p.EmbedQuery(ctx, "length")
		if err != nil {
			return fmt.Errorf("embed %s: %w", b.Dir, err)
		}
		dim = len(v)
	}
	if err := b.Index.UseModel(ctx, p.Model(), dim); err != nil {
		return err
	}
	report, err := embed.Fill(ctx, p, b.unembedded(ctx, p.Model()), func(ctx context.Context, vs []embed.Vector[index.Hash]) error {
		out := make([]index.Embedding, len(vs))
		for i, v := range vs {
			out[i] = index.Embedding{Hash: v.Key, Vector: v.Vector}
		}
		return b.Index.PutEmbeddings(ctx, p.Model(), out)
	}, nil)
	if err = cmp.Or(err, report.RefusedErr); err != nil {
		return fmt.Errorf("embed %s: %w", b.Dir, err)
	}
	if m, ok := b.Index.(interface {
		Measure(context.Context, func(context.Context, string) ([]float32, error)) error
	}); ok {
		return m.Measure(ctx, p.EmbedQuery)
	}
	return nil
}

func (b *bench) unembedded(ctx context.Context, model string) iter.Seq2[embed.Text[index.Hash], error] {
	return func(yield func(embed.Text[index.Hash], error) bool) {
		for m, err := range b.Index.MissingEmbeddings(ctx, model) {
			if !yield(embed.Text[index.Hash]{Key: m.Hash, Text: embed.Compose(m.Trail, m.Text)}, err) {
				return
			}
		}
	}
}
