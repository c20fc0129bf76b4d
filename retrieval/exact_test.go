package retrieval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/index"
)

// What stands as it was typed is found first, whatever surrounds the other passages, in
// any writing.
func TestExactFirst(t *testing.T) {
	for _, c := range []struct{ question, holds, near string }{
		{"tides at the quay", "- he reads the tides at the quay", "- quay, tides, quay tides: at the quay the tides"},
		{"walTailBytes", "- the flag is walTailBytes here", "- the wal tail bytes, the wal tail bytes"},
		{"what sets wal_tail_bytes for the tail?", "- one line for wal_tail_bytes", "- what sets the bytes of the tail of the wal for the tail"},
		{"why is cmd/tide/main.go broken", "- see cmd/tide/main.go", "- main is broken, tide is broken, why is cmd broken"},
		{"who wrote 9f2c1ab7e4?", "- Torunn wrote 9f2c1ab7e4", "- who wrote wrote wrote what was written"},
		{"what did \"the red lamp\" mean", "- the red lamp", "- red red lamp lamp mean mean"},
		{"港口的灯塔", "- 他说港口的灯塔坏了", "- 港口 港口 灯塔 灯塔 的灯"},
		{"Hafenlampe am Kai", "- die **Hafenlampe** am Kai", "- Kai Kai Hafenlampe Hafenlampe"},
	} {
		near := c.near + strings.Repeat("\n"+c.near, 3)
		ix := &fakeIndex{hits: index.Hits{Keyword: ranked(hit("a", "a.md", 1, .9, near), hit("b", "b.md", 1, .3, "- a thing\n"+c.holds+"\n- more"))}}
		got := askPassages(ix, c.question, Options{})
		if len(got) == 0 || got[0].Path != "b.md" || got[0].Text != c.holds {
			t.Errorf("%q: %q is not the first: %+v", c.question, c.holds, got)
		}
		if !slices.IsSortedFunc(got, func(a, b Hit) int { return int(1e9 * (b.Score - a.Score)) }) {
			t.Errorf("%q: scores rise", c.question)
		}
	}
}

// A part of a longer word is not the word; neither is a common word with a hyphen a name.
func TestStands(t *testing.T) {
	for _, c := range []struct {
		text, what string
		want       bool
	}{
		{"the pilots' boat", "pilot", false}, {"pilot, boat", "pilot", true}, {"copilot pilot", "pilot", true}, {"灯塔", "塔", true}, {"x", "", false}, {"v1.20", "v1.2", false}, {"v1.2.", "v1.2", true},
	} {
		if got := stands(c.text, c.what); got != c.want {
			t.Errorf("%q in %q: %v", c.what, c.text, got)
		}
	}
	e := exactOf("is the well-known walTail of 2026 at 2026-03-01, ~/a/b.md or “a lamp” in 7-a-b9?")
	if want := []string{"a lamp", "waltail", "2026-03-01", "~/a/b.md", "7-a-b9"}; !slices.Equal(e.marks, want) {
		t.Errorf("%q, want %q", e.marks, want)
	}
}

// What holds no word of the question stands behind all that hold each, and is left out
// where the question is one word.
func TestNoWordNoPlace(t *testing.T) {
	text := "- Ada: the harbour has a new lamp?\n- Bo: nothing here\n- Ada: so it goes\n- Bo: and again"
	for q, most := range map[string]int{"harbour": 2, "harbour lamp": 10} {
		ix := &fakeIndex{hits: index.Hits{Keyword: ranked(hit("a", "a.md", 1, .9, text), hit("b", "b.md", 1, .1, "- lamp and harbour, "+strings.Repeat("filler words ", 40)))}}
		got := askPassages(ix, q, Options{})
		last := -1
		for i, h := range got {
			if strings.Contains(h.Text, "harbour") {
				last = i
			}
		}
		if last != 1 || len(got) > most {
			t.Errorf("%q: %d hits, the last that holds it is number %d", q, len(got), last)
		}
	}
}

// A word of the question that nothing holds does not keep the line with all the others from the first
// place.
func TestWordThatNothingHolds(t *testing.T) {
	near := "- agency, agency: the small agency" + strings.Repeat("\n- the small agency asks the agency", 3)
	for _, q := range []string{"plan agency", "spends plan agency"} {
		ix := &fakeIndex{hits: index.Hits{Keyword: ranked(hit("a", "a.md", 1, .9, near), hit("b", "b.md", 1, .3, "- plan: free, then 690, for an agency 2990, and so on for all who ask for it on the page\n- more"))}}
		if got := askPassages(ix, q, Options{}); len(got) == 0 || got[0].Path != "b.md" {
			t.Errorf("%q: %+v", q, got)
		}
	}
}

// A search shows every line that holds all of its words, and a prompt only those about as good as the
// best.
func TestSearchKeepsWhatHoldsAll(t *testing.T) {
	ix := &fakeIndex{hits: index.Hits{Keyword: ranked(hit("a", "a.md", 1, .9, "- puma"), hit("b", "b.md", 1, .3, "- puma: "+strings.Repeat("a long line about ports and restarts ", 12)))}}
	for prompt, want := range map[bool]int{false: 2, true: 1} {
		if got := New(ix, nil).Search(t.Context(), Query{Text: "puma", Passages: true, Lines: true, MinShare: .9, Prompt: prompt, Now: now}).Hits; len(got) != want {
			t.Errorf("prompt %v: %d hits", prompt, len(got))
		}
	}
}

// deepIndex has chunks of common words before the one that is asked for.
type deepIndex struct{ n int }

func (d deepIndex) Search(_ context.Context, q index.Query) (index.Hits, error) {
	var hits []index.Hit
	for i := range min(d.n, max(q.K, q.KMany)) {
		text := "- the quay and the lamp, the lamp and the quay"
		if i == d.n-1 {
			text = "- lamp on the quay"
		}
		hits = append(hits, hit(fmt.Sprint(i), fmt.Sprintf("%03d.md", i), 1, 1-float64(i)/1000, text))
	}
	return index.Hits{Chunks: 1000, Terms: []string{"lamp", "quay"}, Keyword: ranked(hits...)}, nil
}

// A short piece of text is found where common words put it far down.
func TestDeep(t *testing.T) {
	if got := New(deepIndex{100}, nil).Search(t.Context(), Query{Text: "lamp on the quay", Passages: true, Lines: true, Now: now}).Hits; len(got) == 0 || got[0].Text != "- lamp on the quay" {
		t.Errorf("%+v", got)
	}
}

// In a conversation a turn is found by the one before it. Elsewhere a passage stands for
// itself, unless nothing holds most of the question.
func TestNeighboursOutsideOfConversations(t *testing.T) {
	score := func(text string, apart float64) float64 {
		s := DefaultSignals()
		s.Apart = apart
		ix := &fakeIndex{hits: index.Hits{Keyword: ranked(hit("a", "a.md", 1, .9, text))}}
		got := askPassages(ix, "harbour lamp", Options{Signals: s})
		i := slices.IndexFunc(got, func(h Hit) bool { return strings.Contains(h.Text, "oil") })
		if i < 0 {
			return 0
		}
		return got[i].Parts.Keyword
	}
	talk, list := "- Ada: is the harbour lamp lit\n- Bo: the lamp needs oil", "- is the harbour lamp lit\n- the lamp needs oil"
	tasks := "- [ ] Ada: is the harbour lamp lit\n- [x] Bo: the lamp needs oil"
	if score(talk, 0) != score(talk, 1) {
		t.Error("turns stand for themselves")
	}
	for _, text := range []string{list, tasks} {
		if score(text, .3) >= score(text, 1) {
			t.Errorf("%q: neighbours count in full", text)
		}
	}
}

// Rows of tables and lines of logs are found one by one.
func TestRowsAndLogLines(t *testing.T) {
	for _, text := range []string{
		"| part | shelf |\n|---|---|\n| bolt | A1 |\n| hose | A2 |\n| seal | A3 |",
		"```\n2026-05-01 10:00:01 hose A1\n2026-05-01 10:00:02 bolt A2\n2026-05-01 10:00:03 hose A2\n```",
		"10:00 bolt A1\n10:01 hose A3\n10:02 hose A2",
	} {
		ix := &fakeIndex{hits: index.Hits{Keyword: ranked(hit("a", "a.md", 1, .9, text))}}
		got := askPassages(ix, "hose A2", Options{})
		if len(got) == 0 || got[0].StartLine != got[0].EndLine || !strings.Contains(got[0].Text, "A2") || !strings.Contains(got[0].Text, "hose") {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// Spans of the session, and chunks that only their vectors found, are held to the same.
func TestExactFirstInSpansAndChunks(t *testing.T) {
	for _, c := range []struct{ question, holds, near string }{
		{"tides at the quay", "one\nhe reads the tides\nat the quay\ntwo", "quay, tides, quay tides: at the quay the tides"},
		{"what sets wal_tail_bytes for the tail?", "one line for wal_tail_bytes", "what sets the bytes of the tail of the wal for the tail"},
		{"who wrote 9f2c1ab7e4?", "Torunn wrote 9f2c1ab7e4", "who wrote wrote wrote what was written"},
		{"what did \"the red lamp\" mean", "the red lamp", "red red lamp lamp mean mean"},
		{"港口的灯塔", "他说港口的灯塔坏了", "港口 港口 灯塔 灯塔 的灯"},
		{"Hafenlampe am Kai", "die **Hafenlampe** am Kai", "Kai Kai Hafenlampe Hafenlampe"},
	} {
		var spans []Span
		for i := range 100 {
			spans = append(spans, Span{ID: fmt.Sprint("near", i), Text: c.near + fmt.Sprint(" ", i)})
		}
		long := strings.Repeat("filler of another kind. ", 20)
		for n, most := range map[int]int{30: 0, 100: 12} {
			s := spansOf(t, append(slices.Clone(spans[:n]), Span{ID: "holds", Text: long + "\n" + c.holds})...)
			if got := New(nil, nil).Search(t.Context(), Query{Text: c.question, Spans: s, MostSpans: most, Passages: true, Lines: true, Now: now}).Hits; len(got) == 0 || got[0].ID != "holds" {
				t.Errorf("%q among %d spans: %v", c.question, n, ids(got))
			}
		}
		a := analyzers.Lend()
		terms := a.Query(c.question, nil)
		analyzers.Give(a)
		for name, hits := range map[string]index.Hits{
			"beside words":  {Terms: terms, Keyword: ranked(hit("near", "a.md", 1, .9, c.near)), Vector: ranked(hit("other", "b.md", 1, .9, "filler"), hit("holds", "c.md", 1, .1, c.holds))},
			"without words": {Terms: terms, KeywordErr: index.ErrBusy, Vector: ranked(hit("other", "b.md", 1, .9, "filler"), hit("holds", "c.md", 1, .1, c.holds))},
		} {
			got := ask(&fakeIndex{hits: hits}, Options{Embedder: works}, Query{Text: c.question, Passages: true}).Hits
			if len(got) == 0 || got[0].Path != "c.md" {
				t.Errorf("%q, chunks %s: %v", c.question, name, ids(got))
			}
		}
	}
}

// A mark that several spans hold tells none of them from the others; the whole question does.
func TestCommonMarkInSpans(t *testing.T) {
	var spans []Span
	for i := range 6 {
		spans = append(spans, Span{ID: fmt.Sprint("log", i), Text: fmt.Sprintf("GET /v1/sailings %d took long, and much more of the same is told here", i)})
	}
	best := Span{ID: "limit", Text: "the rate limit for a scraper, per client: rate, limit, scraper"}
	whole := Span{ID: "whole", Text: "long filler\nwhat limits the rate of a scraper at /v1/sailings\nmore filler"}
	for _, c := range []struct {
		more []Span
		want string
	}{{[]Span{best}, "limit"}, {[]Span{best, whole}, "whole"}} {
		s := spansOf(t, append(slices.Clone(spans), c.more...)...)
		if got := New(nil, nil).Search(t.Context(), Query{Text: "what limits the rate of a scraper at /v1/sailings", Spans: s, Passages: true, Lines: true, Now: now}).Hits; len(got) == 0 || got[0].ID != c.want {
			t.Errorf("%v, want %s first", ids(got), c.want)
		}
	}
}

// Where passages are short, as in lists, the length of one says little; among paragraphs
// it says more.
func TestLengthOfItems(t *testing.T) {
	loss := func(filler int) float64 {
		item := "- lamp " + strings.Repeat("oil ", filler)
		long := "- lamp " + strings.Repeat("oil ", 2*filler)
		ix := &fakeIndex{hits: index.Hits{Terms: []string{"lamp"}, Keyword: ranked(hit("a", "a.md", 1, .5, item), hit("b", "b.md", 1, .5, long))}}
		s := DefaultSignals()
		s.Session, s.Chunk = 0, 0
		raw := map[string]float64{}
		for _, h := range askPassages(ix, "lamp", Options{Signals: s}) {
			raw[h.Path] = h.Parts.Keyword / (1 - h.Parts.Keyword)
		}
		return raw["b.md"] / raw["a.md"]
	}
	if list, text := loss(10), loss(200); list <= text+.01 || text == 0 {
		t.Errorf("twice the length leaves %.3f of an item's score, %.3f of a paragraph's", list, text)
	}
}
