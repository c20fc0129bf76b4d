package embedtest

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/memkernel/memkernel/embed"
	"pgregory.net/rapid"
)

var _ embed.Provider = Provider{}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// Every text has a vector of length 1, which order and case of its words don't
// change.
func TestVectors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		v := Vector(text)
		if len(v) != Dim || math.Abs(dot(v, v)-1) > 1e-5 {
			t.Fatalf("%q has a vector of %d numbers, squared %v", text, len(v), dot(v, v))
		}
	})
	if !slices.Equal(Vector("The tea, Ana!"), Vector("ana the TEA")) {
		t.Error("order or case counts")
	}
}

func TestSharedWordsAreNear(t *testing.T) {
	question := Vector("where are the backups")
	near, far := dot(question, Vector("the backups are on borealis")), dot(question, Vector("ana likes tea"))
	if near < 0.5 || far > 0.3 {
		t.Errorf("near %v, far %v", near, far)
	}
}

// The vectors are the same in every process and release: fixtures may hold them.
func TestVectorsAreFixed(t *testing.T) {
	v := Vector("tea")
	if i := slices.IndexFunc(v, func(x float32) bool { return x != 0 }); i != 73 || v[i] != 1 {
		t.Errorf("%v at %d", v[max(i, 0)], i)
	}
}

func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	res, err := Provider{}.EmbedDocuments(ctx, []string{"a", "b"})
	if err != nil || len(res.Vectors) != 2 {
		t.Errorf("%d vectors, %v", len(res.Vectors), err)
	}
	cancel()
	if _, err := (Provider{}).EmbedDocuments(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
