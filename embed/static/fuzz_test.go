package static

import (
	"bytes"
	"math"
	"testing"
)

// Whatever a file holds: it is read or refused, and what is read can be used.
func FuzzTensors(f *testing.F) {
	whole := tensors(f, []string{"embeddings", "weights", "mapping"}, map[string]nums{
		"embeddings": table, "weights": {"F32", []int{5}, []float64{1, 2, 3, 4, 5}}, "mapping": {"I32", []int{5}, []float64{4, 3, 2, 1, 0}}})
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte{})
	tok, err := parseTokenizer([]byte(words))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		m, data := &Model{tok: tok}, bytes.NewReader(file)
		if m.tensors(data, data.Size()) != nil {
			return
		}
		sum := make([]float64, m.Dim())
		for id := range tok.tokens {
			if err := m.add(data, sum, id); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Whatever a tokenizer is: it is read or refused, and what it makes of a text are
// numbers that the model has been checked for.
func FuzzTokenizer(f *testing.F) {
	for _, file := range []string{words,
		`{"normalizer":{"type":"Precompiled","precompiled_charsmap":"CAAAAAEAAAAAAAAAYQA="},"pre_tokenizer":{"type":"Metaspace"},"model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["▁a",-3],["a",-2]]}}`,
		`{"added_tokens":[{"id":3,"content":"a","lstrip":true,"single_word":true}],"normalizer":{"type":"Replace","pattern":{"Regex":"a+"},"content":"a"},"pre_tokenizer":{"type":"Whitespace"},"model":{"type":"WordLevel","vocab":{"a":0}}}`,
	} {
		f.Add([]byte(file), "a ab Redhouse 漢 \xff")
	}
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		tok, err := parseTokenizer(file)
		if err != nil || len(text) > 1000 {
			return
		}
		got, err := tok.encode(text)
		if err != nil {
			return
		}
		for _, id := range got {
			if id < 0 || id >= tok.tokens {
				t.Fatalf("token %d of %d", id, tok.tokens)
			}
		}
	})
}

func TestScoresThatAreNone(t *testing.T) {
	u := &unigram{vocab: map[string]int{"a": 0}, scores: []float64{math.Inf(-1)}, unk: 0, longest: 1}
	if got := u.encode("aa", nil); len(got) > 2 {
		t.Errorf("%v", got)
	}
}
