// Package embedtest is a provider for tests: deterministic, without a network, and without any
// notion of meaning. A vector is a bag of hashed words, so texts are near when they share words.
// It knows no synonyms. Figures of retrieval quality that are made with it mean nothing.
package embedtest

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"unicode"

	"github.com/memkernel/memkernel/embed"
)

// Dim is the length of the vectors.
const Dim = 256

// Provider implements embed.Provider. The zero value is ready.
type Provider struct{}

// Model implements embed.Provider.
func (Provider) Model() string { return fmt.Sprintf("embedtest/%d", Dim) }

// EmbedQuery implements embed.Provider.
func (Provider) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return Vector(text), nil
}

// EmbedDocuments implements embed.Provider.
func (Provider) EmbedDocuments(ctx context.Context, texts []string) (embed.Result, error) {
	res := embed.Result{Usage: embed.Usage{Requests: 1}}
	for _, t := range texts {
		if ctx.Err() != nil {
			break
		}
		res.Vectors = append(res.Vectors, Vector(t))
	}
	return res, ctx.Err()
}

// Vector returns the unit vector of a text's words, in lower case. The vector of a text without
// words is that of its characters as one word.
func Vector(text string) []float32 {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	})
	v := bag(words)
	if v == nil {
		v = bag([]string{text})
	}
	return v
}

// bag adds a signed one for every word at its hashed place and scales the sum to
// length 1; nil if nothing is left of it.
func bag(words []string) []float32 {
	sum := make([]float64, Dim)
	for _, w := range words {
		h := fnv.New64a()
		h.Write([]byte(w))
		place := h.Sum64()
		sum[place%Dim] += 1 - 2*float64(place>>63)
	}
	var square float64
	for _, x := range sum {
		square += x * x
	}
	if square == 0 {
		return nil
	}
	v := make([]float32, Dim)
	for i, x := range sum {
		v[i] = float32(x / math.Sqrt(square))
	}
	return v
}
