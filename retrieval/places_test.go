package retrieval

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/index"
)

// askPlaces asks for places.
func askPlaces(ix *fakeIndex, text string, limit int) []Hit {
	a := analyzers.Lend()
	defer analyzers.Give(a)
	ix.hits.Terms = a.Query(text, nil)
	return New(ix, &Options{HalfLife: -1, Lambda: 1}).Search(context.Background(), Query{Text: text, Passages: true, Limit: limit, Now: now}).Hits
}

// shown are the lines that a hit shows, as "L3 text".
func shown(h Hit) []string {
	out := []string{}
	for _, r := range h.Runs() {
		for i, l := range strings.Split(r.Text, "\n") {
			if l != "" {
				out = append(out, fmt.Sprintf("L%d %s", r.StartLine+i, l))
			}
		}
	}
	return out
}

// What answers in one section is one hit: its best lines first in rank, all of them in the
// order in which they stand. Other sections have hits of their own, unless they are
// close by under the same two headings.
func TestPlaces(t *testing.T) {
	far := strings.Repeat("\n", placeLines)
	for _, tc := range []struct {
		name, text, ask string
		limit           int
		want            [][]string
	}{
		{"one section", "# Port\n\n## Ferry\n\n- the ferry is old\n\n- a gull\n\n- the ferry leaves the harbour at nine\n", "ferry harbour", 10,
			[][]string{{"L1 # Port", "L3 ## Ferry", "L5 - the ferry is old", "L7 - a gull", "L9 - the ferry leaves the harbour at nine"}}},
		{"two sections", "# Port\n\n## Ferry\n\n- the ferry harbour\n\n## Boat\n\n- the ferry\n", "ferry harbour", 10,
			[][]string{{"L1 # Port", "L3 ## Ferry", "L5 - the ferry harbour"}, {"L7 ## Boat", "L9 - the ferry"}}},
		{"close by in one session", "# Port\n\n## Sea\n\n### East\n\n- the ferry harbour\n\n### West\n\n- the ferry\n", "ferry harbour", 10,
			[][]string{{"L1 # Port", "L3 ## Sea", "L5 ### East", "L7 - the ferry harbour", "L9 ### West", "L11 - the ferry"}}},
		{"far off in one session", "# Port\n\n## Sea\n\n### East\n\n- the ferry harbour\n" + far + "### West\n\n- the ferry\n", "ferry harbour", 10,
			[][]string{{"L1 # Port", "L3 ## Sea", "L5 ### East", "L7 - the ferry harbour"}, {"L58 ### West", "L60 - the ferry"}}},
		{"no heading", "- the ferry harbour\n\n- a gull\n\n- the ferry\n", "ferry harbour", 10,
			[][]string{{"L1 - the ferry harbour", "L3 - a gull", "L5 - the ferry"}}},
		{"other writing", "# 港口\n\n## 渡轮\n\n- 渡轮很旧\n\n- 别的\n\n- 渡轮九点离开港口\n", "渡轮 港口", 10,
			[][]string{{"L1 # 港口", "L3 ## 渡轮", "L5 - 渡轮很旧", "L7 - 别的", "L9 - 渡轮九点离开港口"}}},
		{"announced by a colon", "- Berths of the ferry:\n\n- nine\n- ten\n\n- eleven\n", "berths", 1,
			[][]string{{"L1 - Berths of the ferry:", "L3 - nine", "L4 - ten"}}},
		{"announced by a heading", "## Ferry\n- nine\n- ten\n\n- eleven\n", "ferry", 1,
			[][]string{{"L1 ## Ferry", "L2 - nine", "L3 - ten"}}},
		{"announces nothing", "- Berths of the ferry:\n\n## Boats\n- nine\n", "berths", 1,
			[][]string{{"L1 - Berths of the ferry:"}}},
		{"announces a rule", "## Ferry\n- nine\n\n---\n\n*made by hand*\n", "ferry", 1,
			[][]string{{"L1 ## Ferry", "L2 - nine"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ix := &fakeIndex{hits: index.Hits{Chunks: 1, Keyword: ranked(hit("c", "a.md", 1, .5, tc.text))}}
			got := [][]string{}
			for _, h := range askPlaces(ix, tc.ask, tc.limit) {
				got = append(got, shown(h))
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// Pieces of one page are one place, in the order of its lines; pages are apart.
func TestPlacesOfSpans(t *testing.T) {
	var spans []Span
	for _, lines := range []string{"L101-L120", "L21-L40", "L1-L20"} {
		spans = append(spans, Span{ID: "ev-1@" + lines, Label: "bash", Text: "the ferry of " + lines})
	}
	s := spansOf(t, append(spans, Span{ID: "ev-2", Label: "bash", Text: "a ferry"})...)
	got := New(nil, nil).Search(t.Context(), Query{Text: "ferry", Spans: s, Now: now}).Hits
	if len(got) != 2 {
		t.Fatalf("%d places, want 2: %+v", len(got), got)
	}
	for _, h := range got {
		var cited []string
		for _, r := range h.Runs() {
			cited = append(cited, r.Citation)
		}
		want := []string{"ev-1@L1-L20", "ev-1@L21-L40", "ev-1@L101-L120"}
		if h.ID == "ev-2" {
			want = []string{"ev-2"}
		}
		if d := cmp.Diff(want, cited); d != "" {
			t.Error(d)
		}
	}
}

// The other lines of a place push none out: places are in the order of their best lines,
// and whatever a search for lines finds is shown by one of them.
func TestPlacesKeepRanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 6).Draw(t, "limit")
		var hits []Hit
		for i := range rapid.IntRange(0, 40).Draw(t, "n") {
			from := 1 + 3*i*rapid.IntRange(0, 9).Draw(t, "line")
			text := strings.Repeat("word ", rapid.IntRange(1, 60).Draw(t, "size"))
			path := rapid.SampledFrom([]string{"a.md", "b.md", "c.md"}).Draw(t, "file")
			hits = append(hits, Hit{Kind: Memory, ID: fmt.Sprint(i), Path: path, StartLine: from, EndLine: from, Text: text, Citation: cite(path, from, from),
				Trail: rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y"}), 0, 3).Draw(t, "trail"), Score: 1 / float64(i+1), place: &place{passage: &passage{}, session: &session{}, chunk: &candidate{hit: Hit{Text: text, StartLine: from}}}})
		}
		got := places(append([]Hit(nil), hits...), limit)
		if len(got) > limit {
			t.Fatalf("%d places of %d", len(got), limit)
		}
		rank, cited := -1, map[string]bool{}
		for _, h := range got {
			var at int
			fmt.Sscan(h.ID, &at)
			if at <= rank {
				t.Fatalf("place of hit %d stands behind that of %d", at, rank)
			}
			rank = at
			size := 0
			for _, r := range h.Runs() {
				var no int
				fmt.Sscan(r.ID, &no)
				if cited[r.Citation] = true; no < at {
					t.Fatalf("hit %d ranks its place by %d", no, at)
				}
				if no >= limit {
					size += len([]rune(r.Text))
				}
			}
			if size > maxSnippet {
				t.Fatalf("a place shows %d characters beside what a search for lines finds", size)
			}
		}
		for i, h := range hits[:min(limit, len(hits))] {
			if !cited[h.Citation] {
				t.Fatalf("hit %d, %s, is not shown", i, h.Citation)
			}
		}
	})
}

// Notes of one page or file stand together, in the order of its lines.
func TestPackPageOrder(t *testing.T) {
	var hits []Hit
	for _, id := range []string{"ev-1@L101-L120", "ev-2", "ev-1@L21-L40", "ev-3@L9-L12", "ev-1@L9-L20", "ev-3@L1-L8"} {
		text := "what stands in " + id + " and nowhere else"
		hits = append(hits, Hit{Kind: Session, ID: id, Citation: id, StartLine: 1, EndLine: 1, Text: text})
	}
	hits = append(hits, chunk(t, "memory/a.md", 9, 0, "a note of memory"), chunk(t, "memory/b.md", 1, 0, "another file"), chunk(t, "memory/a.md", 1, 0, "the first line"))
	var got []string
	for _, it := range Pack(hits, &PackOptions{Items: 10}).Items {
		got = append(got, it.Citation)
	}
	if d := cmp.Diff([]string{"ev-1@L9-L20", "ev-1@L21-L40", "ev-1@L101-L120", "ev-2", "ev-3@L1-L8", "ev-3@L9-L12", "memory/a.md#L1", "memory/a.md#L9", "memory/b.md#L1"}, got); d != "" {
		t.Error(d)
	}
}
