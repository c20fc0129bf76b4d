package embed

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestRequestSaysWhatIsConfigured(t *testing.T) {
	s := serve(t, nil)
	o := openAt(t, s.URL+"/v1/", func(c *Config) {
		c.Model, c.Dimensions = "nomic", 3
		c.QueryPrefix, c.DocumentPrefix = "query: ", "passage: "
	})
	if _, err := o.EmbedQuery(t.Context(), "why"); err != nil {
		t.Fatal(err)
	}
	res, err := o.EmbedDocuments(t.Context(), []string{"a <b>", "ä"})
	if err != nil {
		t.Fatal(err)
	}
	want := []asked{
		{Input: []string{"query: why"}, Model: "nomic", Dimensions: 3, path: "/v1/embeddings", auth: "Bearer " + testKey},
		{Input: []string{"passage: a <b>", "passage: ä"}, Model: "nomic", Dimensions: 3, path: "/v1/embeddings", auth: "Bearer " + testKey},
	}
	if d := cmp.Diff(want, s.asked, cmp.AllowUnexported(asked{})); d != "" {
		t.Errorf("requests (-want +got):\n%s", d)
	}
	if d := cmp.Diff(Usage{Requests: 1, Tokens: 7}, res.Usage); d != "" {
		t.Errorf("usage (-want +got):\n%s", d)
	}
}

func TestVectorsComeInTheOrderOfTheTexts(t *testing.T) {
	texts := []string{"one", "two", "three"}
	a, b, c := vectorOf("one"), vectorOf("two"), vectorOf("three")
	for name, answer := range map[string]string{
		"numbered and mixed": answerOf(entry(2, c), entry(0, a), entry(1, b)),
		"zero left out":      answerOf(entry(1, b), `{"embedding":[322,3,1]}`, entry(2, c)),
		"not numbered":       answerOf(entry(0, a), entry(0, b), entry(0, c)),
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ asked, _ int) { io.WriteString(w, answer) })
			res, err := openAt(t, s.URL, nil).EmbedDocuments(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([][]float32{a, b, c}, res.Vectors); name != "zero left out" && d != "" {
				t.Errorf("vectors (-want +got):\n%s", d)
			}
			if !slices.Equal(res.Vectors[1], b) || !slices.Equal(res.Vectors[2], c) {
				t.Errorf("vectors are mixed up: %v", res.Vectors)
			}
		})
	}
}

// Batches put side by side are the texts, none is over a bound but for a text
// that is so alone, and none could have taken the next text too.
func TestBatchesTileTheTexts(t *testing.T) {
	base := mustParse(t, "http://localhost")
	rapid.Check(t, func(t *rapid.T) {
		small := *openAI
		small.batchBytes = rapid.IntRange(1, 60).Draw(t, "bytes")
		o := newRemote(&small, Config{
			Model:          "m",
			BatchSize:      rapid.IntRange(1, 5).Draw(t, "size"),
			DocumentPrefix: rapid.SampledFrom([]string{"", "p: "}).Draw(t, "prefix"),
		}, base, "")
		o.textBytes = rapid.IntRange(8, 30).Draw(t, "text")
		all := rapid.SliceOf(rapid.StringMatching(`[aä漢😀]{1,12}`)).Draw(t, "texts")
		for rest := all; len(rest) > 0; {
			inputs := o.batch(rest)
			checkBatch(t, o, texts(inputs), rest)
			rest = rest[len(inputs):]
		}
	})
}

func checkBatch(t *rapid.T, o *remote, inputs []string, rest []string) {
	c := o.cfg
	if len(inputs) == 0 || len(inputs) > c.BatchSize {
		t.Fatalf("%d texts in a batch of at most %d", len(inputs), c.BatchSize)
	}
	bytes := 0
	for i, in := range inputs {
		whole := c.DocumentPrefix + rest[i]
		if in != whole {
			if len(in) < o.textBytes-utf8.UTFMax+1 {
				t.Fatalf("%q was cut to %q, more than to %d bytes", whole, in, o.textBytes)
			}
		}
		if !strings.HasPrefix(whole, in) || !utf8.ValidString(in) || len(in) > o.textBytes {
			t.Fatalf("%q became %q at %d bytes", whole, in, o.textBytes)
		}
		bytes += len(in)
	}
	if len(inputs) > 1 && bytes > o.batchBytes {
		t.Fatalf("%d bytes in a batch of at most %d", bytes, o.batchBytes)
	}
	if n := len(inputs); n < len(rest) && n < c.BatchSize {
		next := fit(c.DocumentPrefix, rest[n], o.textBytes)
		if bytes+len(next) <= o.batchBytes {
			t.Fatalf("a batch of %d bytes leaves out a text of %d", bytes, len(next))
		}
	}
}

func TestVectorsBeforeAnErrorAreKept(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, a asked, nth int) {
		if nth == 3 {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		io.WriteString(w, goodAnswer(a.Input))
	})
	o := openAt(t, s.URL, func(c *Config) { c.BatchSize = 2 })
	res, err := o.EmbedDocuments(t.Context(), []string{"a", "b", "c", "d", "e", "f", "g"})
	if err == nil || len(res.Vectors) != 4 || res.Requests != 3 || res.Tokens != 14 {
		t.Errorf("4 vectors of 3 requests stand beside an error; got %d of %+v, %v", len(res.Vectors), res.Usage, err)
	}
}

func TestTooLongTextsAreCut(t *testing.T) {
	s := serve(t, nil)
	o := openAt(t, s.URL, nil)
	o.textBytes = 10
	res, err := o.EmbedDocuments(t.Context(), []string{"0123456789", "01234567漢", "漢漢漢漢"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"0123456789", "01234567", "漢漢漢"}; !slices.Equal(s.asked[0].Input, want) || len(res.Vectors) != 3 {
		t.Errorf("sent %q, %d vectors", s.asked[0].Input, len(res.Vectors))
	}
}

func TestBlankTextsAreNotSent(t *testing.T) {
	s := serve(t, nil)
	o := openAt(t, s.URL, nil)
	if _, err := o.EmbedQuery(t.Context(), " \n"); err == nil {
		t.Error("a blank question has a vector")
	}
	if _, err := o.EmbedDocuments(t.Context(), []string{"a", "\t"}); err == nil || !strings.Contains(err.Error(), "text 2") {
		t.Errorf("the error names the blank text; got %v", err)
	}
	if res, err := o.EmbedDocuments(t.Context(), nil); err != nil || len(res.Vectors) != 0 {
		t.Errorf("no texts have no vectors; got %v, %v", res, err)
	}
	if len(s.asked) != 0 {
		t.Errorf("%d requests were sent", len(s.asked))
	}
}

// Equal names mean equal settings, among all combinations of some that are made
// to be mistaken for each other.
func TestModelNamesWhatChangesVectors(t *testing.T) {
	type settings struct {
		base, model, query, document string
		dimensions                   int
	}
	prefixes := []string{"", `"`, `" document="`, "a", "a dimensions=50", `a" dimensions=50 "`}
	named := map[string]settings{}
	for _, base := range []string{defaultBaseURL, "https://a.example/v1", "https://a.example/v2"} {
		for _, model := range []string{"m", "n", "dimensions=5"} {
			for _, dimensions := range []int{0, 5, 50} {
				for i := range len(prefixes) * len(prefixes) {
					s := settings{base, model, prefixes[i/len(prefixes)], prefixes[i%len(prefixes)], dimensions}
					o := newRemote(openAI, Config{Model: model, Dimensions: dimensions, QueryPrefix: s.query, DocumentPrefix: s.document}, mustParse(t, base), "")
					if other, ok := named[o.Model()]; ok {
						t.Fatalf("%+v and %+v are both %q", s, other, o.Model())
					}
					named[o.Model()] = s
				}
			}
		}
	}
}

func TestModelIsPlainByDefault(t *testing.T) {
	t.Setenv(defaultAPIKeyEnv, testKey)
	p, err := FromConfig(Config{Provider: "openai"})
	if err != nil || p.Model() != defaultModel {
		t.Errorf("got %v, %v", p, err)
	}
}

func TestQueryEndsWithItsContext(t *testing.T) {
	s := serve(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := openAt(t, s.URL, nil).EmbedQuery(ctx, "a"); err == nil || len(s.asked) != 0 {
		t.Errorf("%d requests, error %v", len(s.asked), err)
	}
}
