package embed

import (
	"fmt"
	"math"
	"sync/atomic"
)

// read returns the vectors of an answer to n texts. If a vector can't be used, it returns the vectors
// before that one, and the error.
func (o *remote) read(data []row, n int) ([][]float32, error) {
	vectors, err := inOrder(data, n)
	if err != nil {
		return nil, &Error{Err: err, Hint: "the server does not keep to the API: check base_url"}
	}
	for i, v := range vectors {
		if e := check(v, &o.length, o.lengthHint()); e != nil {
			e.Err = fmt.Errorf("vector %d of %d %w", i+1, n, e.Err)
			return vectors[:i], e
		}
	}
	return vectors, nil
}

// inOrder returns the vectors in the order of the texts. Vectors without numbers are already in this
// order.
func inOrder(data []row, n int) ([][]float32, error) {
	if len(data) != n {
		return nil, fmt.Errorf("the answer has %d vectors for %d texts", len(data), n)
	}
	numbered := false
	for _, d := range data {
		numbered = numbered || d.Index != 0
	}
	out := make([][]float32, n)
	for i, d := range data {
		if numbered {
			i = d.Index
		}
		if i < 0 || i >= n || out[i] != nil {
			return nil, fmt.Errorf("the answer numbers a vector %d that is not expected or stands there twice", i)
		}
		if out[i] = d.Embedding; out[i] == nil {
			out[i] = []float32{} // accepted here, and refused later because of its length
		}
	}
	return out, nil
}

// check returns an error for a vector that can't be compared with the others. All vectors must
// have the length of the first.
func check(v []float32, length *atomic.Int64, hint string) *Error {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	switch {
	case len(v) == 0:
		return &Error{Err: fmt.Errorf("is empty"), Hint: "check that model is an embedding model"}
	case math.IsNaN(sum) || math.IsInf(sum, 0):
		return &Error{Texts: true, Err: fmt.Errorf("has a number that is none"), Hint: "the model fails on this text: choose another model"}
	case sum == 0:
		return &Error{Texts: true, Err: fmt.Errorf("is all zeros"), Hint: "the model makes nothing of this text: choose another model"}
	}
	length.CompareAndSwap(0, int64(len(v)))
	if want := length.Load(); int64(len(v)) != want {
		return &Error{Err: fmt.Errorf("has length %d, not %d", len(v), want), Hint: hint}
	}
	return nil
}

func (o *remote) lengthHint() string {
	if o.cfg.Dimensions != 0 {
		return "the server or the model can't shorten vectors to dimensions: leave that out, or set it to the model's own length"
	}
	return "the server changed its model meanwhile: start again, and name the model exactly"
}
