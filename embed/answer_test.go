package embed

import (
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
)

func TestAnswersThatCannotBeUsed(t *testing.T) {
	a, b := vectorOf("a"), vectorOf("b")
	for name, c := range map[string]struct {
		answer     string
		dimensions int
		kept       int // vectors before the bad one
		texts      bool
		want       string
	}{
		"too few":            {answer: answerOf(entry(0, a)), want: "1 vectors for 2 texts"},
		"too many":           {answer: answerOf(entry(0, a), entry(1, b), entry(2, b)), want: "3 vectors for 2 texts"},
		"none":               {answer: `{"error":{"message":"overloaded"}}`, want: "0 vectors for 2 texts"},
		"number twice":       {answer: answerOf(entry(1, a), entry(1, b)), want: "numbers a vector 1"},
		"number too high":    {answer: answerOf(entry(0, a), entry(2, b)), want: "numbers a vector 2"},
		"number negative":    {answer: answerOf(entry(0, a), entry(-1, b)), want: "numbers a vector -1"},
		"different lengths":  {answer: answerOf(entry(0, a), entry(1, b[:2])), kept: 1, want: "vector 2 of 2 has length 2, not 3"},
		"not the dimensions": {answer: answerOf(entry(0, a), entry(1, b)), dimensions: 2, want: "can't shorten vectors to dimensions"},
		"empty vector":       {answer: answerOf(entry(0, a), `{"index":1,"embedding":[]}`), kept: 1, want: "vector 2 of 2 is empty"},
		"no vector":          {answer: answerOf(entry(0, a), `{"index":1}`), kept: 1, want: "vector 2 of 2 is empty"},
		"all zeros":          {answer: answerOf(entry(0, a), entry(1, make([]float32, 3))), kept: 1, texts: true, want: "vector 2 of 2 is all zeros"},
		"number too large":   {answer: answerOf(entry(0, a), `{"index":1,"embedding":[1e99,0,0]}`), want: "the answer can't be read"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ asked, _ int) { io.WriteString(w, c.answer) })
			o := openAt(t, s.URL, func(cf *Config) { cf.Dimensions = c.dimensions })
			res, err := o.EmbedDocuments(t.Context(), []string{"a", "b"})
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || e.Texts != c.texts {
				t.Errorf("error %v (texts %v), want %q in it", err, e != nil && e.Texts, c.want)
			}
			if len(res.Vectors) != c.kept || len(s.asked) != 1 {
				t.Errorf("%d vectors kept, want %d; %d requests, want 1", len(res.Vectors), c.kept, len(s.asked))
			}
			if e != nil && (e.Hint == "" || e.Model != "m" || e.Endpoint != s.URL) {
				t.Errorf("the error lacks model, endpoint or hint: %+v", e)
			}
		})
	}
}

// JSON has no NaN; servers that answer in other formats can send it.
func TestNumbersThatAreNone(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		o := openAt(t, "http://localhost", nil)
		v, err := o.read([]row{{Embedding: []float32{1, float32(x)}}}, 1)
		if err == nil || len(v) != 0 {
			t.Errorf("%v passed as part of a vector", x)
		}
	}
}

func TestLengthMayNotChangeBetweenRequests(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, a asked, _ int) {
		v := make([]float32, len(a.Input[0]))
		v[0] = 1
		io.WriteString(w, answerOf(entry(0, v)))
	})
	o := openAt(t, s.URL, nil)
	if _, err := o.EmbedQuery(t.Context(), "four"); err != nil {
		t.Fatal(err)
	}
	if _, err := o.EmbedQuery(t.Context(), "seven.."); err == nil || !strings.Contains(err.Error(), "has length 7, not 4") {
		t.Errorf("got %v", err)
	}
}

func TestAnswerIsBounded(t *testing.T) {
	var sent int64
	s := serve(t, func(w http.ResponseWriter, _ asked, _ int) {
		io.WriteString(w, `{"data":[{"index":0,"embedding":[1`)
		for block := strings.Repeat(",1", 32<<10); ; {
			n, err := io.WriteString(w, block)
			if sent += int64(n); err != nil || sent > 64<<20 {
				return
			}
		}
	})
	_, err := openAt(t, s.URL, nil).EmbedQuery(t.Context(), "a")
	if err == nil || !strings.Contains(err.Error(), "larger than") || len(s.asked) != 1 {
		t.Errorf("%d requests: %v", len(s.asked), err)
	}
	s.Close()
	if sent > 64<<20 {
		t.Error("the whole of an endless answer was read")
	}
}
