package retrieval

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/index"
)

// cutText is the passages of a text, as "from-to label".
func cutText(t testing.TB, text string) []string {
	t.Helper()
	a := analyzers.Lend()
	defer analyzers.Give(a)
	var out []string
	for _, p := range outlineOf(a, text, nil).passages {
		named := ""
		if p.label != nil {
			named = " named"
		}
		out = append(out, fmt.Sprintf("%d-%d%s", p.from+1, p.to, named))
	}
	return out
}

func TestPassages(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"turns", "- Ann: hello\n- Bo: how are you?\n", []string{"1-1 named", "2-2 named"}},
		{"heading with what is under it", "## Deploys\n\nAt night.\n\nNever on Friday.\n", []string{"1-3", "5-5"}},
		{"headings one under the other", "# A\n\n## B\n\ntext\n", []string{"1-5"}},
		{"sibling headings", "## A\n## B\ntext\n", []string{"1-1", "2-3"}},
		{"only a heading", "# A\n", []string{"1-1"}},
		{"far from its heading", "# A\n\n\n\n\n\ntext\n", []string{"1-7"}},
		{"a table", "# A\n\n| a |\n|---|\n| b |\n", []string{"1-3", "4-4", "5-5"}},
		{"paragraph", strings.Repeat("line\n", 12), []string{"1-12"}},
		{"long paragraph", strings.Repeat("A line of text that ends.\n", 40), []string{"1-20", "21-40"}},
		{"sentences over lines", strings.Repeat("goes on. This here\n", 60), []string{"1-30", "30-60"}},
		{"abbreviations end no sentence", strings.Repeat("goes on, e.g. This\n", 60), []string{"1-30", "31-60"}},
		{"log", "09:12 a\n09:13 b\n", []string{"1-1", "2-2"}},
		{"code", "```go\na\nb\nc\nd\ne\nf\n```\n", []string{"1-8"}},
		{"long code", "```go\n" + strings.Repeat("x = compute(1, 2, 3)\n", 60) + "```\n", []string{"1-31", "32-62"}},
		{"rule and blank lines", "\n\n---\n\ntext\n\n\n", []string{"5-5"}},
		{"nothing", "", nil},
		{"blank", "\n\n", nil},
	} {
		if d := cmp.Diff(tc.want, cutText(t, tc.text)); d != "" {
			t.Errorf("%s: %s", tc.name, d)
		}
	}
}

// Whatever a chunk holds, its passages are in order and none overlaps another. Each ends on a
// later line than the one before it, and begins on a later line.
func TestPassagesTile(t *testing.T) {
	a := analyzers.Lend()
	line := rapid.OneOf(
		rapid.SampledFrom([]string{"", "# H", "## H", "- Ann: yes", "* item", "text", "```", "| a | b |", "---", "> quote", "    code", "<!-- mk:x -->", "名前：はい", "\t",
			"ends. Begins", "ends! (Begins", "句子。句子", strings.Repeat("long ", 80) + "end. Next"}),
		rapid.StringN(0, 20, -1))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(line, 0, 60).Draw(t, "lines"), "\n")
		lines := splitLines(text)
		begin, last := int32(0), &passage{from: -1}
		for _, p := range outlineOf(a, text, []string{"T"}).passages {
			if p.begin < begin || p.ownBegin < p.begin || p.end <= p.ownBegin || p.from <= last.from || p.to <= last.to || p.to > len(lines) {
				t.Fatalf("lines %d to %d of %d, behind %d to %d", p.from, p.to, len(lines), last.from, last.to)
			}
			start, end := lineSpan(text, p.from, p.to)
			if int(p.begin) < start || int(p.end) > end || strings.Count(text[p.begin:p.end], "\n") != p.to-p.from-1 {
				t.Fatalf("%q is not lines %d to %d", text[p.begin:p.end], p.from, p.to)
			}
			begin, last = p.end, p
		}
	})
}

// dialogue is an index of one chunk with a session of two speakers.
func dialogue(lines ...string) *fakeIndex {
	h := hit("c", "memory/2026-02-01.md", 3, .5, strings.Join(lines, "\n"))
	h.Date = "2026-02-01"
	return &fakeIndex{hits: index.Hits{Chunks: 1, Keyword: ranked(h)}}
}

func askPassages(ix *fakeIndex, text string, o Options) []Hit {
	a := analyzers.Lend()
	ix.hits.Terms = a.Query(text, nil)
	o.HalfLife = -1
	return ask(ix, o, Query{Text: text, Passages: true}).Hits
}

// firstLines are the first lines of hits.
func firstLines(hits []Hit) []int {
	out := []int{}
	for _, h := range hits {
		out = append(out, h.StartLine)
	}
	return out
}

// The answer to a question is found by the words of the question before it, and
// ranks above it; what is far away is not found.
func TestAnswerBehindQuestion(t *testing.T) {
	ix := dialogue("- Bo: Which harbour pilot did you take?", "- Ann: Torunn, as always.", "- Bo: I see.", "- Ann: Fine.", "- Bo: Good.", "- Ann: Right.")
	got := askPassages(ix, "harbour pilot", Options{})
	if len(got) < 2 || got[0].StartLine != 4 && got[1].StartLine != 4 {
		t.Errorf("lines %v, want 4 among the first two", firstLines(got))
	}
	for _, h := range got {
		if h.EndLine != h.StartLine || h.Citation == "" || h.Snippet != h.Text {
			t.Errorf("hit %+v", h)
		}
	}
	none := DefaultSignals()
	none.Before, none.Behind, none.Away, none.Session, none.Chunk = 0, 0, 0, 0, 0
	if got := askPassages(ix, "harbour pilot", Options{Signals: none}); cmp.Diff([]int{3}, firstLines(got)) != "" {
		t.Errorf("without context: lines %v, want 3 alone", firstLines(got))
	}
}

// TestQuestionIsNoAnswer: a question that was asked in an earlier session ranks below the note that
// answers it.
func TestQuestionIsNoAnswer(t *testing.T) {
	note := hit("n", "memory/ferry.md", 3, .4, "The ferry moors at gate two.")
	asked := hit("c", "sessions/main/s1/0001.md", 3, .6, "- user: Where does the ferry moor?\n- assistant: Let me look.")
	asked.Date = "2026-02-01"
	for _, question := range []string{"where does the ferry moor", "Where does the ferry moor?"} {
		got := askPassages(&fakeIndex{hits: index.Hits{Chunks: 2, Keyword: ranked(asked, note)}}, question, Options{})
		if len(got) == 0 || got[0].Path != note.Path {
			t.Errorf("%q: %+v", question, got)
		}
	}
}

// A turn of the one who is named goes before an equal one that calls her.
func TestSpeaker(t *testing.T) {
	turns := []string{"- Bo: Ann, the painting is done."}
	for range 6 {
		turns = append(turns, "- Bo: Well, Ann.", "- Ann: Yes.")
	}
	got := askPassages(dialogue(append(turns, "- Ann: the painting is done now.")...), "Ann painting", Options{})
	if len(got) == 0 || got[0].StartLine != 3+13 {
		t.Errorf("lines %v, want 16 first", firstLines(got))
	}
}

// Of equal turns in two files, that of the month which is named is first.
func TestNamedMonth(t *testing.T) {
	a, b := hit("a", "memory/2026-01-20.md", 1, .5, "- Ann: we ate cake"), hit("b", "memory/2026-05-20.md", 1, .5, "- Ann: we ate cake")
	a.Date, b.Date = "2026-01-20", "2026-05-20"
	ix := &fakeIndex{hits: index.Hits{Chunks: 2, Keyword: ranked(a, b)}}
	if got := askPassages(ix, "who ate cake in May?", Options{Lambda: 1}); len(got) != 2 || got[0].Path != b.Path {
		t.Errorf("%v", ids(got))
	}
}

// Where a question asks for several things, sessions take turns.
func TestSpread(t *testing.T) {
	a := hit("a", "memory/2026-01-20.md", 1, .5, strings.TrimSpace(strings.Repeat("- Ann: read a book, a book\n\n", 8)))
	b := hit("b", "memory/2026-02-20.md", 1, .5, "- Ann: also read one book long ago")
	ix := &fakeIndex{hits: index.Hits{Chunks: 2, Keyword: ranked(a, b)}}
	rank := func(text string) int {
		for i, h := range askPassages(ix, text, Options{Lambda: 1}) {
			if h.Path == b.Path {
				return i + 1
			}
		}
		return 0
	}
	if one, many := rank("book read by Ann?"), rank("What books were read by Ann?"); many == 0 || many >= one {
		t.Errorf("rank %d, of a question for several %d", one, many)
	}
}

// Questions and chunks of any kind are answered, and in the same way twice.
func TestBadPassages(t *testing.T) {
	long := strings.Repeat("wort ", 20_000) // 100 KB in one line
	texts := []string{"", "\x00\x00", "🙂 🙂", "\u202eمرحبا\u202c hello 世界", long, "```", "- : x", strings.Repeat("- Ann: yes\n", 400), "\xff\xfe"}
	questions := []string{"", "?!", "the of and", `"a" OR b* NEAR(c) -d {`, "a\x00b", "🙂", "\u202eمرحبا", "世", "wort", strings.Repeat("long question ", 8000), "Ann yes hello 世界 wort"}
	for _, q := range questions {
		var hits []index.Hit
		for i, text := range texts {
			h := hit(fmt.Sprint(i), fmt.Sprintf("memory/%d.md", i), 1, .5, text)
			h.Date = "9999-12-31"
			hits = append(hits, h)
		}
		ix := &fakeIndex{hits: index.Hits{Chunks: int64(len(hits)), Keyword: ranked(hits...)}}
		first := askPassages(ix, q, Options{})
		for _, h := range first {
			if !(h.Score >= 0 && h.Score <= 1) || h.StartLine < 1 || h.EndLine < h.StartLine || utf8.RuneCountInString(h.Snippet) > maxSnippet {
				t.Errorf("%.20q: lines %d to %d, score %v", q, h.StartLine, h.EndLine, h.Score)
			}
		}
		if d := cmp.Diff(firstLines(first), firstLines(askPassages(ix, q, Options{}))); d != "" {
			t.Errorf("%.20q: not the same twice: %s", q, d)
		}
		if n := Pack(first, &PackOptions{Tokens: 500}); n.Tokens > 500 {
			t.Errorf("%.20q: %d tokens", q, n.Tokens)
		}
	}
}

// Two files with the same text are packed once; a clock in the future ages
// nothing.
func TestSameTextTwice(t *testing.T) {
	text := "- Ann: the harbour master keeps the spare key in the blue box"
	ix := &fakeIndex{hits: index.Hits{Chunks: 2, Keyword: ranked(hit("a", "memory/a.md", 1, .5, text), hit("b", "memory/b.md", 1, .5, text+" now"))}}
	hits := askPassages(ix, "spare key", Options{Lambda: 1})
	packed := Pack(hits, nil)
	if len(hits) != 2 || len(packed.Items) != 1 || len(packed.Left) != 1 || packed.Left[0].Reason != Duplicate {
		t.Errorf("%d hits, packed %+v", len(hits), packed)
	}
	future := Query{Text: "spare key", Passages: true, Now: now, Age: func(string, string, time.Time) (time.Time, bool) { return now.AddDate(50, 0, 0), true }}
	for _, h := range New(ix, nil).Search(t.Context(), future).Hits {
		if h.Parts.Decay != 1 || h.Parts.AgeDays != 0 {
			t.Errorf("%+v", h.Parts)
		}
	}
}

// Passages of one session become one note, with a mark where something is left
// out, and a single line between two is shown.
func TestPackTogether(t *testing.T) {
	ix := dialogue("- Ann: the ferry leaves at nine", "- Bo: I see", "- Ann: the ferry has forty berths", "- Bo: well", "- Ann: so", "- Bo: hm", "- Ann: the ferry was painted")
	none := DefaultSignals()
	none.Before, none.Behind, none.Away, none.Session, none.Chunk = 0, 0, 0, 0, 0
	packed := Pack(askPassages(ix, "ferry", Options{Signals: none, Lambda: 1}), nil)
	if len(packed.Items) != 1 {
		t.Fatalf("%d notes, want 1: %+v", len(packed.Items), packed.Items)
	}
	it := packed.Items[0]
	want := "- Ann: the ferry leaves at nine\n- Bo: I see\n- Ann: the ferry has forty berths\n…\n- Ann: the ferry was painted"
	if d := cmp.Diff(want, it.Text); d != "" {
		t.Error(d)
	}
	for no, shown := range map[int]bool{3: true, 4: true, 5: true, 6: false, 7: false, 9: true} {
		if it.Shows(no) != shown {
			t.Errorf("line %d is shown: %v", no, it.Shows(no))
		}
	}
}
