package retrieval

import (
	"math/bits"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/index"
)

// snippet shows what of a text answers a question.
func snippet(t testing.TB, question, text string) Hit {
	t.Helper()
	a := analyzers.Lend()
	defer analyzers.Give(a)
	h := fileHit(index.Hit{ID: "x", Path: "a.md", StartLine: 10, EndLine: 9 + len(splitLines(text)), Text: text})
	h.terms = hashTerms(a.Query(question, nil))
	h.show()
	return h
}

func TestSnippet(t *testing.T) {
	filler := strings.Repeat("nothing of interest stands in this sentence here\n", 30)
	for _, tc := range []struct {
		name, text, has string
		from, to        int
	}{
		{"whole", "\none\nthe kiwi deploy\n\n", "one\nthe kiwi deploy", 11, 12},
		{"far down", filler + "the kiwi deploy\n" + filler, "the kiwi deploy", 0, 0},
		{"both words beat one", "a deploy\n" + filler + "kiwi\ndeploys\n" + filler, "kiwi\ndeploys", 0, 0},
		{"long line", strings.Repeat("lorem ipsum ", 200) + "kiwi deploy " + strings.Repeat("dolor sit ", 200), "kiwi deploy", 10, 10},
		{"chinese", strings.Repeat("天地玄黄宇宙洪荒", 200) + "kiwi deploy" + strings.Repeat("日月盈昃辰宿列张", 200), "kiwi deploy", 10, 10},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := snippet(t, "when was the kiwi deployed", tc.text)
			if !strings.Contains(h.Snippet, tc.has) || utf8.RuneCountInString(h.Snippet) > maxSnippet {
				t.Errorf("%d characters without %q: %s", utf8.RuneCountInString(h.Snippet), tc.has, h.Snippet)
			}
			if tc.from != 0 && (h.SnippetStart != tc.from || h.SnippetEnd != tc.to) {
				t.Errorf("lines %d-%d, want %d-%d", h.SnippetStart, h.SnippetEnd, tc.from, tc.to)
			}
		})
	}
}

// A snippet is never too long, and is the lines that it names, except a single
// line that is longer than a snippet may be.
func TestSnippetIsItsLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("kiwi \n\néß数据\u200b🙂")), 1, 3000, -1).Draw(t, "text")
		h := Hit{StartLine: 5, Text: text, terms: hashTerms([]string{"kiwi", "数据"})}
		h.show()
		if n := utf8.RuneCountInString(h.Snippet); n > maxSnippet {
			t.Fatalf("%d characters", n)
		}
		if !utf8.ValidString(h.Snippet) {
			t.Fatal("a character was cut")
		}
		lines := linesOf(&h)
		if join(trim(lines)) == "" {
			return
		}
		want := join(lines[h.SnippetStart-5 : h.SnippetEnd-4])
		if cut := strings.Trim(h.Snippet, "…"); h.Snippet != want && (h.SnippetStart != h.SnippetEnd || !strings.Contains(want, cut)) {
			t.Fatalf("lines %d-%d are %q, not %q", h.SnippetStart, h.SnippetEnd, want, h.Snippet)
		}
	})
}

// A line is taken apart without loss.
func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, n := rapid.String().Draw(t, "text"), rapid.IntRange(1, 20).Draw(t, "n")
		got := ""
		for _, p := range cut(text, n) {
			if size := utf8.RuneCountInString(p.text); size == 0 || size > n {
				t.Fatalf("a piece of %d", size)
			}
			got += p.text
		}
		if got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

func TestStrip(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"marker", "fact\n<!-- mk:abc -->\n\nother\n<!-- mk:def -->", "1 fact|3 |4 other"},
		{"blank lines", "\n\na\n\n\n\nb\n\n", "3 a|4 |7 b"},
		{"trailing spaces", "a  \nb\t", "1 a|2 b"},
		{"rules", "a\n---\nb\n* * *\n- - x\n___", "1 a|3 b|5 - - x"},
		{"comment over lines", "a\n<!-- x\ny\n\nz --> rest\nb", "1 a|5  rest|6 b"},
		{"within a line", "a <!-- x --> b <!-- y -->", "1 a  b"},
		{"never closed", "<!-- a\nb", "1 <!-- a|2 b"},
		{"opened within a line", "about <!-- and\nnot --> more", "1 about <!-- and|2 not --> more"},
		{"in a code span", "write `<!-- x -->` there", "1 write `<!-- x -->` there"},
		{"in a fence", "```html\n<!-- x -->\n---\n\n\n```\n---\nb", "1 ```html|2 <!-- x -->|3 ---|4 |5 |6 ```|8 b"},
		{"code in one line", "```x```\n---", "1 ```x```"},
		{"nothing left", "\n---\n<!-- mk:a -->\n", ""},
		{"table", "|a|\n|---|\n|b|", "1 |a||2 |---||3 |b|"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, l := range strip(linesOf(&Hit{StartLine: 1, Text: tc.in})) {
				got = append(got, strings.TrimRight(string(rune('0'+l.no))+" "+l.text, "\n"))
			}
			if d := cmp.Diff(tc.want, strings.Join(got, "|")); d != "" {
				t.Error(d)
			}
		})
	}
}

// The window holds as many of the terms as any window of its size does.
func TestWindowIsTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lines []line
		for range rapid.IntRange(1, 12).Draw(t, "lines") {
			lines = append(lines, line{text: strings.Repeat("x", rapid.IntRange(0, 9).Draw(t, "size")), mark: rapid.Uint64Range(0, 15).Draw(t, "mark")})
		}
		limit := rapid.IntRange(1, 30).Draw(t, "limit")
		held := func(from, to int) int {
			var m uint64
			for _, l := range lines[from:to] {
				m |= l.mark
			}
			return bits.OnesCount64(m)
		}
		best := 0
		for i := range lines {
			for j := i + 1; j <= len(lines) && (j == i+1 || sum(lines[i:j]) <= limit); j++ {
				best = max(best, held(i, j))
			}
		}
		from, to := window(lines, limit)
		if held(from, to) != best || to-from > 1 && sum(lines[from:to]) > limit {
			t.Fatalf("lines %d-%d hold %d terms in %d characters; %d can be had in %d", from, to, held(from, to), sum(lines[from:to]), best, limit)
		}
	})
}
