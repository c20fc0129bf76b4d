// Package embedtest is an embedding provider for tests. It is deterministic and needs no network. A
// vector is a bag of hashed words, so texts that share words are near each other. It knows no
// synonyms, so it can't be used to measure the quality of retrieval.
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

// Vector returns a vector of length 1 for the words of a text, in lower case. If the text has no words,
// it is treated as one word.
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

// bag returns the vector that has +1 or −1 for every word at the index of the word's hash, scaled to
// length 1. It returns nil if the sum is zero.
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
