package embed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// fake embeds what does not have "poison" in it and notes what it embedded.
type fake struct {
	embedded []string
	calls    int
	stop     func(calls int) error // before a call
	closed   bool                  // refuses everything

	closeAfterProbe bool
}

func (f *fake) Model() string { return "fake" }

func (f *fake) EmbedQuery(context.Context, string) ([]float32, error) {
	return nil, errors.New("not asked")
}

func (f *fake) EmbedDocuments(ctx context.Context, texts []string) (Result, error) {
	f.calls++
	res := Result{Usage: Usage{Requests: 1}}
	if f.stop != nil {
		if err := f.stop(f.calls); err != nil {
			return res, err
		}
	}
	for _, t := range texts {
		if f.closed || strings.Contains(t, "poison") {
			return res, &Error{Texts: true, Err: errors.New("refused")}
		}
	}
	for _, t := range texts {
		res.Vectors = append(res.Vectors, vectorOf(t))
	}
	if texts[0] == probe {
		f.closed = f.closeAfterProbe
		return res, nil
	}
	f.embedded = append(f.embedded, texts...)
	return res, nil
}

// corpus keeps vectors, and lists texts without one as an index does.
type corpus struct {
	texts   []string // by key
	vectors map[int][]float32
	puts    int
}

func newCorpus(texts ...string) *corpus { return &corpus{texts: texts, vectors: map[int][]float32{}} }

func (s *corpus) missing() iter.Seq2[Text[int], error] {
	return func(yield func(Text[int], error) bool) {
		for key, text := range s.texts {
			if s.vectors[key] == nil && !yield(Text[int]{key, text}, nil) {
				return
			}
		}
	}
}

func (s *corpus) put(ctx context.Context, vs []Vector[int]) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.puts++
	for _, v := range vs {
		s.vectors[v.Key] = v.Vector
	}
	return nil
}

// right checks that every vector is its text's.
func (s *corpus) right(t interface{ Errorf(string, ...any) }) {
	for key, v := range s.vectors {
		if !slices.Equal(v, vectorOf(s.texts[key])) {
			t.Errorf("text %d %q has the vector %v", key, s.texts[key], v)
		}
	}
}

var counts = cmpopts.IgnoreFields(FillReport{}, "RefusedErr")

// Whatever the texts: all that can have a vector get theirs, and the report adds up.
func TestFill(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", " \n", "a", "b", "c", "d", "e", "f", "g", "poison 1", "poison 2"})
		s, p := newCorpus(rapid.SliceOf(text).Draw(t, "texts")...), &fake{}
		var last FillReport
		opts := &FillOptions{BatchSize: rapid.IntRange(1, 9).Draw(t, "batch"), Progress: func(r FillReport) { last = r }}
		r, err := Fill(t.Context(), p, s.missing(), s.put, opts)
		if err != nil {
			t.Fatal(err)
		}
		s.right(t)
		checkFilled(t, s, p, r)
		if last.Done() != r.Done() {
			t.Fatalf("the last progress was %+v, the report is %+v", last, r)
		}
	})
}

func checkFilled(t *rapid.T, s *corpus, p *fake, r FillReport) {
	want := FillReport{Texts: len(s.texts), Usage: Usage{Requests: p.calls}}
	for key, text := range s.texts {
		poison := strings.Contains(text, "poison")
		switch {
		case blank(text):
			want.Blank++
		case poison:
			want.Refused++
		default:
			want.Embedded++
		}
		if (s.vectors[key] != nil) != (!blank(text) && !poison) {
			t.Fatalf("text %d %q has the vector %v", key, text, s.vectors[key])
		}
	}
	if d := cmp.Diff(want, r, counts); d != "" {
		t.Fatalf("report (-want +got):\n%s", d)
	}
	if r.Done() != r.Texts || (r.RefusedErr != nil) != (r.Refused > 0) {
		t.Fatalf("the report does not add up: %+v", r)
	}
}

func numbered(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("text %d", i))
	}
	return out
}

// What an interrupted run paid for is not paid for again.
func TestFillGoesOnAfterAnInterruption(t *testing.T) {
	s := newCorpus(numbered(25)...)
	ctx, cancel := context.WithCancel(t.Context())
	srv := serve(t, func(w http.ResponseWriter, a asked, nth int) {
		if nth == 6 {
			cancel()
		}
		io.WriteString(w, goodAnswer(a.Input))
	})
	o := openAt(t, srv.URL, func(c *Config) { c.BatchSize = 2 })
	r, err := Fill(ctx, o, s.missing(), s.put, &FillOptions{BatchSize: 8})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	if n := len(s.vectors); n != r.Embedded || n < 10 || n > 12 {
		t.Errorf("%d vectors are stored, %d reported, of 5 to 6 requests of 2", n, r.Embedded)
	}
	before := r.Embedded
	r, err = Fill(t.Context(), o, s.missing(), s.put, &FillOptions{BatchSize: 8})
	if err != nil || r.Embedded != 25-before || len(s.vectors) != 25 {
		t.Errorf("went on to %d vectors: %+v, %v", len(s.vectors), r, err)
	}
	s.right(t)
	if r, err = Fill(t.Context(), o, s.missing(), s.put, nil); err != nil || r.Requests != 0 || r.Texts != 0 {
		t.Errorf("nothing was left to do: %+v, %v", r, err)
	}
}

func TestFillEndsWithTheErrorThatMatters(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		stop   func(calls int) error
		closed bool
		calls  int // at most; 0 is any number
		put    error
		list   error
		stored int
		want   error
	}{
		"provider fails later":  {stop: func(n int) error { return onCall(n, 3, broken) }, stored: 8, want: broken},
		"provider fails":        {stop: func(n int) error { return onCall(n, 1, broken) }, want: broken},
		"not about the texts":   {stop: func(n int) error { return onCall(n, 2, &Error{Err: broken}) }, calls: 2, stored: 4, want: broken},
		"put fails":             {put: broken, want: broken},
		"listing fails":         {list: broken, want: broken},
		"everything is refused": {closed: true, want: &Error{}},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := newCorpus(numbered(20)...), &fake{stop: c.stop, closed: c.closed}
			texts := func(yield func(Text[int], error) bool) {
				s.missing()(yield)
				if c.list != nil {
					yield(Text[int]{}, c.list)
				}
			}
			put := func(ctx context.Context, vs []Vector[int]) error {
				if c.put != nil {
					return c.put
				}
				return s.put(ctx, vs)
			}
			_, err := Fill(t.Context(), p, texts, put, &FillOptions{BatchSize: 4})
			var e *Error
			if wantError := errors.As(c.want, &e); !errors.Is(err, c.want) && !(wantError && errors.As(err, &e)) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if c.calls > 0 && p.calls > c.calls {
				t.Errorf("%d calls, want at most %d", p.calls, c.calls)
			}
			if len(s.vectors) != c.stored || c.list != nil && p.calls > 0 {
				t.Errorf("%d vectors are stored, want %d; %d calls", len(s.vectors), c.stored, p.calls)
			}
		})
	}
}

func onCall(n, nth int, err error) error {
	if n == nth {
		return err
	}
	return nil
}

// Texts that were refused come first in the next run, and must not keep what
// came after them from having vectors. That the provider begins to refuse
// everything is noticed soon.
func TestFillTellsBadTextsFromABadProvider(t *testing.T) {
	s, p := newCorpus(), &fake{}
	for i := range 40 {
		s.texts = append(s.texts, fmt.Sprint("poison ", i))
	}
	s.texts = append(s.texts, numbered(60)...)
	r, err := Fill(t.Context(), p, s.missing(), s.put, &FillOptions{BatchSize: 16})
	if err != nil || r.Embedded != 60 || r.Refused != 40 {
		t.Errorf("%+v, %v", r, err)
	}
	s, p = newCorpus(append([]string{"poison"}, numbered(1000)...)...), &fake{}
	before := 0
	_, err = Fill(t.Context(), p, s.missing(), s.put, &FillOptions{BatchSize: 16, Progress: func(FillReport) { p.closed, before = true, p.calls }})
	if err == nil || p.calls > before+6 || len(s.vectors) != 15 {
		t.Errorf("%d vectors after %d and %d calls, error %v", len(s.vectors), before, p.calls-before, err)
	}
	s, p = newCorpus(append([]string{"poison"}, numbered(1000)...)...), &fake{closeAfterProbe: true}
	_, err = Fill(t.Context(), p, s.missing(), s.put, &FillOptions{BatchSize: 16})
	if err == nil || p.calls > 16+5+probeEvery || len(s.vectors) != 0 {
		t.Errorf("%d vectors after %d calls, error %v", len(s.vectors), p.calls, err)
	}
}

func TestFillMistrustsTheProvider(t *testing.T) {
	s := newCorpus("a", "b")
	if _, err := Fill(t.Context(), short{}, s.missing(), s.put, nil); err == nil || !strings.Contains(err.Error(), "1 vectors for 2 texts") {
		t.Errorf("got %v", err)
	}
}

// short gives one vector, whatever is asked.
type short struct{}

func (short) Model() string { return "short" }
func (short) EmbedQuery(context.Context, string) ([]float32, error) {
	return []float32{1}, nil
}
func (short) EmbedDocuments(context.Context, []string) (Result, error) {
	return Result{Vectors: [][]float32{{1}}}, nil
}
