package retrieval

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A hit and the block have the dates of the times that are named in them, the text as
// it is.
func TestDatesAreShown(t *testing.T) {
	ix := dialogue("- Ann: I went to the harbour yesterday.", "- Bo: The harbour? On 1 May 2020?", "- Ann: The harbour, and Yesterday!", "- Bo: The harbour was frozen last month.")
	hits := askPassages(ix, "harbour", Options{})
	var got []string
	for _, h := range hits {
		if !strings.Contains(ix.hits.Keyword[0].Text, h.Text) {
			t.Errorf("text %q", h.Text)
		}
		for _, d := range h.Dates {
			if d.Line < h.StartLine || d.Line > h.EndLine || !strings.Contains(h.Text, d.Text) {
				t.Errorf("%+v of %s", d, h.Citation)
			}
			got = append(got, d.Text+" = "+d.Date)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"Yesterday = 2026-01-31", "last month = 2026-01", "yesterday = 2026-01-31"}, got); diff != "" {
		t.Error(diff)
	}
	block := Render(Pack(hits, nil).Items)
	if want := `dates="yesterday = 2026-01-31; last month = 2026-01"`; strings.Count(block, want) != 1 || strings.Count(block, "2026-01-31") != 1 {
		t.Errorf("want %s in\n%s", want, block)
	}
}

// Dates stand beside the lines that are shown, and no others.
func TestDatesOfWhatIsShown(t *testing.T) {
	h := Hit{Kind: Memory, ID: "c", Path: "a.md", StartLine: 1, EndLine: 2, Date: "2026-02-01", Text: strings.Repeat("harbour ", 200) + "\nyesterday"}
	h.Dates = datesOf(&h)
	if p := Pack([]Hit{h}, nil); len(p.Items) != 1 || len(p.Items[0].Dates) != 1 {
		t.Errorf("whole: %+v", p)
	}
	h.terms = hashTerms([]string{"harbour"})
	p := Pack([]Hit{h}, &PackOptions{Tokens: 200})
	if len(p.Items) != 1 || !p.Items[0].Cut || strings.Contains(p.Items[0].Text, "yesterday") || len(p.Items[0].Dates) != 0 {
		t.Errorf("cut: %+v", p)
	}
}

// The same word of two days has its line.
func TestDatesText(t *testing.T) {
	got := DatesText([]dated{{3, "yesterday", "2026-01-31"}, {9, "Yesterday", "2026-02-06"}, {9, "last week", "2026-01"}, {10, "Last week", "2026-01"}})
	if want := "L3 yesterday = 2026-01-31; L9 Yesterday = 2026-02-06; last week = 2026-01"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A question that names a time finds the lines that mention it in whatever words.
func TestQuestionWithDate(t *testing.T) {
	for _, tc := range []struct {
		question, day string
		line          int
	}{
		{"What did Ann see on 31 January 2026?", "20260131", 4},
		{"Was sah Ann am 31. Januar 2026?", "20260131", 4},
		{"What did Ann see in December 2025?", "202512", 6},
		{"Was sah Ann vorletzten, was letzten Sonntag?", "20260222", 5},
		{"她上周日看到什么？ Ann", "20260222", 5},
		{"Qu'est-ce que Ann a vu dimanche dernier ?", "20260222", 5},
	} {
		ix := dialogue("- Ann: Hello there.", "- Ann: I saw a pilot yesterday, a tall one.", "- Ann: I saw a lamp on February 22, a small one.", "- Ann: Two months ago I saw a whale.", "- Ann: I saw a seal, a grey one.")
		hits := askPassages(ix, tc.question, Options{})
		if len(hits) == 0 || hits[0].StartLine != tc.line {
			t.Errorf("%q: lines %v, want %d first", tc.question, firstLines(hits), tc.line)
		}
		if q := ix.got[0]; !slices.Contains(q.Days, tc.day) || q.Text != tc.question {
			t.Errorf("%q asks the index for %q", tc.question, q.Days)
		}
	}
	ix := dialogue("- Ann: I saw a pilot yesterday.")
	if askPassages(ix, "What did Ann see?", Options{}); len(ix.got[0].Days) > 0 {
		t.Errorf("days of no question: %q", ix.got[0].Days)
	}
}

// What a question asks the index for is bounded.
func TestDayWords(t *testing.T) {
	w := whenOf("What broke in January, February, March, April, May, June and July, last week and in 2019?", now)
	if got := w.words(now); len(got) != mostDayWords {
		t.Errorf("%q", got)
	}
	if got := (when{stretches: []stretch{{time.Time{}, now}}}).words(now); len(got) > mostDayWords {
		t.Errorf("%d words of a long stretch", len(got))
	}
}
