package retrieval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/index"
)

// off switches decay and diversity off.
func off() Options { return Options{HalfLife: -1, Lambda: 1} }

func ask(ix Index, o Options, q Query) Result {
	if q.Text == "" {
		q.Text = "staging deploy"
	}
	q.Now, q.Lines = now, true
	return New(ix, &o).Search(context.Background(), q)
}

func TestMerge(t *testing.T) {
	ix := &fakeIndex{hits: index.Hits{
		Keyword: ranked(hit("both", "a.md", 1, 0.5, "x"), hit("words", "b.md", 1, 0.4, "y")),
		Vector:  ranked(hit("near", "c.md", 1, 0.9, "z"), hit("both", "a.md", 1, 0.8, "x")),
	}}
	for _, tc := range []struct {
		name string
		o    Options
		want map[string]float64
		mode Mode
	}{
		{"both", Options{Embedder: works}, map[string]float64{"both": .7*.8 + .3*.5, "near": .63, "words": .12}, Hybrid},
		{"no embedder", Options{}, map[string]float64{"both": .5, "words": .4}, Keyword},
		{"own weights", Options{Embedder: works, VectorWeight: 1, KeywordWeight: 3}, map[string]float64{"both": .575, "near": .225, "words": .3}, Hybrid},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.o.HalfLife, tc.o.Lambda = -1, 1
			got := ask(ix, tc.o, Query{})
			scores := map[string]float64{}
			for _, h := range got.Hits {
				scores[h.ID] = math.Round(h.Score*1e9) / 1e9
			}
			if d := cmp.Diff(tc.want, scores, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-6 })); d != "" {
				t.Error(d)
			}
			if got.Mode != tc.mode || got.Reason != OK {
				t.Errorf("mode %s, reason %s", got.Mode, got.Reason)
			}
		})
	}
}

// A search that is given no weight is not asked, unless the other fails.
func TestWordsSwitchedOff(t *testing.T) {
	ix := &fakeIndex{hits: index.Hits{Vector: ranked(hit("v", "a.md", 1, .5, "x"))}}
	got := ask(ix, Options{Embedder: works, VectorWeight: 1}, Query{})
	if ix.got[0].Text != "" || got.Mode != byVector || len(got.Hits) != 1 || got.Hits[0].Score != .5 {
		t.Errorf("asked %q: %+v", ix.got[0].Text, got)
	}
}

func TestReasons(t *testing.T) {
	some := index.Hits{Terms: []string{"stage"}, Keyword: ranked(hit("a", "a.md", 1, .5, "x"))}
	down := errors.New("no route")
	broken := fakeEmbedder(func(context.Context, string) ([]float32, error) { return nil, down })
	slow := fakeEmbedder(func(ctx context.Context, _ string) ([]float32, error) { <-ctx.Done(); return nil, ctx.Err() })
	spans := spansOf(t, Span{ID: "s", Text: "the staging deploy went well"})
	for _, tc := range []struct {
		name   string
		ix     Index
		o      Options
		q      Query
		reason Reason
		mode   Mode
		hits   int
		detail string
		err    error
	}{
		{"ok", &fakeIndex{hits: some}, Options{}, Query{}, OK, Keyword, 1, "", nil},
		{"none", &fakeIndex{}, Options{}, Query{}, NoMatch, Keyword, 0, "holds any of the question's words", nil},
		{"no word", &fakeIndex{hits: some}, Options{}, Query{Text: "?!"}, NoMatch, NoSearch, 0, "no word", nil},
		{"min score", &fakeIndex{hits: some}, Options{}, Query{MinScore: .6}, NoMatch, Keyword, 0, "0.50, which is below 0.60", nil},
		{"denied", &fakeIndex{hits: some}, Options{}, Query{Denied: "the session is shared"}, Denied, NoSearch, 0, "shared", nil},
		{"nil index", nil, Options{}, Query{}, Disabled, NoSearch, 0, "no index", nil},
		{"missing", &fakeIndex{err: index.ErrMissing}, Options{}, Query{}, Disabled, NoSearch, 0, "there is no index yet", index.ErrMissing},
		{"damaged", &fakeIndex{err: fmt.Errorf("x: %w", index.ErrDamaged)}, Options{}, Query{}, BackendError, NoSearch, 0, "damaged", index.ErrDamaged},
		{"stale", &fakeIndex{hits: some}, Options{}, Query{StaleBy: "1 changed"}, StaleIndex, Keyword, 1, "behind", nil},
		{"outdated", &fakeIndex{hits: index.Hits{Outdated: true, Keyword: some.Keyword}}, Options{}, Query{}, StaleIndex, Keyword, 1, "behind", nil},
		{"stale and none", &fakeIndex{}, Options{}, Query{StaleBy: "1 changed"}, StaleIndex, Keyword, 0, "words; the index is behind", nil},
		{"embedder down", &fakeIndex{hits: some}, Options{Embedder: broken}, Query{}, OK, Keyword, 1, "words alone", down},
		{"embedder slow", &fakeIndex{hits: some}, Options{Embedder: slow, EmbedTimeout: time.Millisecond}, Query{}, OK, Keyword, 1, "1ms", context.DeadlineExceeded},
		{"other model", &fakeIndex{hits: index.Hits{Keyword: some.Keyword, VectorErr: index.ErrModel}}, Options{Embedder: works}, Query{}, OK, Keyword, 1, "words alone", index.ErrModel},
		{"words fail", &fakeIndex{hits: index.Hits{Vector: some.Keyword, KeywordErr: index.ErrBusy}}, Options{Embedder: works}, Query{}, OK, byVector, 1, "vectors alone", index.ErrBusy},
		{"spans only", nil, Options{}, Query{Spans: spans}, OK, Keyword, 1, "", nil},
		{"spans, no match", nil, Options{}, Query{Text: "quantum", Spans: spans}, NoMatch, Keyword, 0, "words", nil},
		{"spans beside a failure", &fakeIndex{err: index.ErrDamaged}, Options{}, Query{Spans: spans}, BackendError, Keyword, 1, "damaged", index.ErrDamaged},
		{"spans when denied", &fakeIndex{hits: some}, Options{}, Query{Spans: spans, Denied: "no"}, Denied, Keyword, 1, "no", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ask(tc.ix, tc.o, tc.q)
			if got.Reason != tc.reason || got.Mode != tc.mode || len(got.Hits) != tc.hits {
				t.Errorf("reason %s, mode %s, %d hits, want %s, %s, %d", got.Reason, got.Mode, len(got.Hits), tc.reason, tc.mode, tc.hits)
			}
			if !strings.Contains(got.Detail, tc.detail) || (tc.detail == "") != (got.Detail == "") {
				t.Errorf("detail %q, want %q in it", got.Detail, tc.detail)
			}
			if !errors.Is(got.Err, tc.err) {
				t.Errorf("error %v, want %v", got.Err, tc.err)
			}
		})
	}
}

// A weak match beside a strong one is dropped, before diversity could prefer it.
func TestMinShare(t *testing.T) {
	ix := &fakeIndex{hits: index.Hits{Keyword: ranked(hit("a", "a.md", 1, .6, "x"), hit("b", "b.md", 1, .3, "y"), hit("c", "c.md", 1, .29, "z"))}}
	for share, want := range map[float64][]string{0: {"a", "b", "c"}, .5: {"a", "b"}, 1: {"a"}} {
		if d := cmp.Diff(want, ids(ask(ix, off(), Query{MinShare: share}).Hits)); d != "" {
			t.Errorf("share %v: %s", share, d)
		}
	}
}

// Without snippets Pack cuts as with them.
func TestNoSnippets(t *testing.T) {
	filler := strings.Repeat("words that take some room in a block\n", 60)
	ix := &fakeIndex{hits: index.Hits{Terms: []string{"kiwi"}, Keyword: ranked(hit("a", "a.md", 1, .6, filler+"the kiwi\n"+filler))}}
	with, without := ask(ix, off(), Query{}), ask(ix, off(), Query{NoSnippets: true})
	if with.Hits[0].Snippet == "" || without.Hits[0].Snippet != "" {
		t.Errorf("snippets %q and %q", with.Hits[0].Snippet, without.Hits[0].Snippet)
	}
	o := &PackOptions{Tokens: 300}
	if d := cmp.Diff(Render(Pack(with.Hits, o).Items), Render(Pack(without.Hits, o).Items)); d != "" || !strings.Contains(Render(Pack(without.Hits, o).Items), "the kiwi") {
		t.Error(d)
	}
}

func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	got := New(&fakeIndex{}, nil).Search(ctx, Query{Text: "deploy"})
	if got.Reason != BackendError || !errors.Is(got.Err, context.Canceled) {
		t.Errorf("reason %s, error %v", got.Reason, got.Err)
	}
}

func TestJSON(t *testing.T) {
	h := hit("id", "memory/a.md", 3, .5, "staging deploy\nat noon")
	h.Trail, h.Date = []string{"Deploys"}, "2026-02-01"
	b, err := json.Marshal(ask(&fakeIndex{hits: index.Hits{Terms: []string{"stage", "deploy"}, Keyword: ranked(h)}}, off(), Query{}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"results":[{"kind":"memory","id":"id","path":"memory/a.md","start_line":3,"end_line":4,"trail":["Deploys"],"date":"2026-02-01",` +
		`"score":0.5,"parts":{"keyword":0.5,"keyword_rank":1,"vector":0,"merged":0.5,"decay":1,"rank":1},` +
		`"snippet":"staging deploy\nat noon","snippet_start_line":3,"snippet_end_line":4,"citation":"memory/a.md#L3-L4"}],"reason":"OK","mode":"keyword"}`
	if d := cmp.Diff(want, string(b)); d != "" {
		t.Error(d)
	}
	if b, _ = json.Marshal(ask(nil, off(), Query{})); !strings.Contains(string(b), `"results":[]`) {
		t.Errorf("no results are %s", b)
	}
}

func TestDecay(t *testing.T) {
	dates := map[string]time.Time{"new.md": now, "month.md": now.AddDate(0, 0, -30), "old.md": now.AddDate(-3, 0, 0), "coming.md": now.AddDate(1, 0, 0)}
	age := func(path, _ string, _ time.Time) (time.Time, bool) { from, ok := dates[path]; return from, ok }
	var hits []index.Hit
	for _, p := range []string{"new.md", "month.md", "old.md", "coming.md", "evergreen.md"} {
		hits = append(hits, hit(p, p, 1, .5, "x"))
	}
	ix := &fakeIndex{hits: index.Hits{Keyword: ranked(hits...)}}
	for _, tc := range []struct {
		floor float64
		want  map[string]float64
	}{
		{0, map[string]float64{"new.md": 1, "month.md": .95, "old.md": .9, "coming.md": 1, "evergreen.md": 1}},
		{.2, map[string]float64{"new.md": 1, "month.md": .6, "old.md": .2, "coming.md": 1, "evergreen.md": 1}},
		{-1, map[string]float64{"new.md": 1, "month.md": .5, "old.md": 0, "coming.md": 1, "evergreen.md": 1}},
	} {
		got := map[string]float64{}
		for _, h := range ask(ix, Options{Floor: tc.floor, Lambda: 1}, Query{Age: age}).Hits {
			got[h.ID] = math.Round(h.Parts.Decay*1e6) / 1e6
			if math.Abs(h.Score-h.Parts.Merged*h.Parts.Decay) > 1e-12 || h.Parts.AgeDays < 0 {
				t.Errorf("score %v of parts %+v", h.Score, h.Parts)
			}
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("floor %v: %s", tc.floor, d)
		}
	}
}

// Age never raises a score, never takes it under the floor, and the older of
// two is never worth more.
func TestDecayFallsToTheFloor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := decay{time.Duration(rapid.Int64Range(1, 1e18).Draw(t, "half")), rapid.Float64Range(0, 1).Draw(t, "floor")}
		a := time.Duration(rapid.Int64().Draw(t, "a"))
		b := time.Duration(rapid.Int64Min(int64(a)).Draw(t, "b"))
		x, y := d.factor(a), d.factor(b)
		if y > x || x > 1 || y < d.floor {
			t.Fatalf("factors %v and %v for %v and %v", x, y, a, b)
		}
	})
}

func TestTiesByPlace(t *testing.T) {
	ix := &fakeIndex{hits: index.Hits{Keyword: ranked(hit("c", "b.md", 1, .5, "x"), hit("b", "a.md", 9, .5, "x"), hit("a", "a.md", 2, .5, "x"))}}
	if d := cmp.Diff([]string{"a", "b", "c"}, ids(ask(ix, off(), Query{}).Hits)); d != "" {
		t.Error(d)
	}
}

func TestDiversity(t *testing.T) {
	same := "we moved the staging database to the new cluster on monday"
	ix := &fakeIndex{hits: index.Hits{Keyword: ranked(hit("a", "a.md", 1, .60, same), hit("copy", "b.md", 1, .59, same),
		hit("other", "c.md", 1, .55, "grafana shows latency of the billing service"), hit("last", "d.md", 1, .30, "lunch"))}}
	got := ask(ix, Options{HalfLife: -1}, Query{})
	if d := cmp.Diff([]string{"a", "other", "copy", "last"}, ids(got.Hits)); d != "" {
		t.Error(d)
	}
	if p := got.Hits[2].Parts; p.Similarity != 1 || p.Rank != 2 {
		t.Errorf("the copy's parts are %+v", p)
	}
	if d := cmp.Diff([]string{"a", "copy", "other", "last"}, ids(ask(ix, off(), Query{}).Hits)); d != "" {
		t.Errorf("switched off: %s", d)
	}
}

// Stopping early picks what looking at everything would.
func TestDiversityEqualsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 12).Draw(t, "n")
		lambda := rapid.Float64Range(.01, .99).Draw(t, "lambda")
		var lazy, full []*candidate
		for i := range n {
			set := tally(rapid.SliceOfN(rapid.Uint32Range(0, 9), 0, 6).Draw(t, "terms"))
			h := Hit{ID: fmt.Sprint(i), Score: float64(rapid.IntRange(1, 9).Draw(t, "score"))}
			lazy = append(lazy, &candidate{hit: h, digest: &digest{set: set}})
		}
		order(lazy)
		for _, c := range lazy {
			copied := *c
			full = append(full, &copied)
		}
		k := rapid.IntRange(1, n).Draw(t, "k")
		got := diversify(lazy, lambda, k, func(c *candidate) []uint32 { return c.digest.set })
		if d := cmp.Diff(plainMMR(full, lambda, k), candidateIDs(got)); d != "" {
			t.Fatal(d)
		}
	})
}

// plainMMR is the definition, without any saving.
func plainMMR(cs []*candidate, lambda float64, k int) []string {
	low, high := cs[len(cs)-1].hit.Score, cs[0].hit.Score
	var picked []*candidate
	for len(picked) < k {
		best, top := -1, math.Inf(-1)
		for i, c := range cs {
			rel, sim := 1.0, 0.0
			if high > low {
				rel = (c.hit.Score - low) / (high - low)
			}
			for _, p := range picked {
				sim = max(sim, jaccard(c.digest.set, p.digest.set))
			}
			if v := lambda*rel - (1-lambda)*sim; v > top {
				best, top = i, v
			}
		}
		picked = append(picked, cs[best])
		cs = append(cs[:best:best], cs[best+1:]...)
	}
	return candidateIDs(picked)
}

func candidateIDs(cs []*candidate) []string {
	var out []string
	for _, c := range cs {
		out = append(out, c.hit.ID)
	}
	return out
}
