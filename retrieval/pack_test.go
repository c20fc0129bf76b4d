package retrieval

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// chunk is a hit of a file's lines on a question about kiwi and mango.
func chunk(t testing.TB, path string, from, seq int, text string) Hit {
	t.Helper()
	h := Hit{Kind: Memory, ID: fmt.Sprintf("%s/%d", path, seq), Path: path, StartLine: from, EndLine: from + len(splitLines(text)) - 1,
		Seq: seq, Text: text, Score: .5}
	h.Citation = cite(path, h.StartLine, h.EndLine)
	h.terms = hashTerms([]string{"kiwi", "mango"})
	return h
}

func texts(items []Item) []string {
	var out []string
	for _, it := range items {
		out = append(out, it.Citation+": "+it.Text)
	}
	return out
}

func reasons(left []left) map[string]LeftReason {
	out := map[string]LeftReason{}
	for _, l := range left {
		out[l.ID] = l.Reason
	}
	return out
}

func TestPackMerges(t *testing.T) {
	long := "the first half of a line that is cut in two, " // by the chunker
	for _, tc := range []struct {
		name string
		hits []Hit
		want []string
	}{
		{"overlap", []Hit{chunk(t, "a", 3, 1, "c\nd\ne"), chunk(t, "a", 1, 0, "a\nb\nc\nd")}, []string{"a#L1-L5: a\nb\nc\nd\ne"}},
		{"touching, through a third", []Hit{chunk(t, "a", 1, 0, "a\nb\n"), chunk(t, "b", 1, 0, "x"), chunk(t, "a", 5, 2, "e"), chunk(t, "a", 3, 1, "c\nd\n")},
			[]string{"a#L1-L5: a\nb\nc\nd\ne", "b#L1: x"}},
		{"a gap", []Hit{chunk(t, "a", 4, 2, "d"), chunk(t, "a", 1, 0, "a\nb")}, []string{"a#L1-L2: a\nb", "a#L4: d"}},
		{"markers do not part", []Hit{chunk(t, "a", 1, 0, "a\n<!-- mk:1 -->\n\n"), chunk(t, "a", 4, 1, "b\n<!-- mk:2 -->")}, []string{"a#L1-L4: a\nb"}},
		{"halves of a line", []Hit{chunk(t, "a", 7, 0, long), chunk(t, "a", 7, 1, "and the second half")}, []string{"a#L7: " + strings.TrimSpace(long) + "and the second half"}},
		{"parts of a line with a gap", []Hit{chunk(t, "a", 7, 0, "begin"), chunk(t, "a", 7, 5, "end")}, []string{"a#L7: begin … end"}},
		{"overlapping parts", []Hit{chunk(t, "a", 7, 0, "one two three four five six"), chunk(t, "a", 7, 1, "three four five six seven")}, []string{"a#L7: one two three four five six seven"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Pack(tc.hits, nil)
			if d := cmp.Diff(tc.want, texts(got.Items)); d != "" || len(got.Left) != 0 {
				t.Error(d, got.Left)
			}
		})
	}
}

func TestPackLeavesOut(t *testing.T) {
	filler := strings.Repeat("words that take some room in a block\n", 40)
	hits := []Hit{
		chunk(t, "a", 1, 0, "the kiwi"), chunk(t, "shown", 1, 0, "seen"), chunk(t, "copy", 9, 0, "the kiwi\n\n"),
		chunk(t, "a", 1, 0, "the kiwi"), chunk(t, "empty", 1, 0, "---\n<!-- mk:1 -->"),
		chunk(t, "big", 1, 0, filler), chunk(t, "b", 1, 0, "the mango"), chunk(t, "c", 1, 0, "more"), chunk(t, "a", 2, 1, "and more"),
	}
	got := Pack(hits, &PackOptions{Tokens: 110, Items: 2, Shown: func(h Hit) bool { return h.Path == "shown" }})
	want := map[string]LeftReason{"shown/0": ShownAlready, "copy/0": Duplicate, "a/0": Duplicate, "empty/0": empty, "big/0": OverBudget, "c/0": OverItems}
	if d := cmp.Diff(want, reasons(got.Left)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a#L1-L2: the kiwi\nand more", "b#L1: the mango"}, texts(got.Items)); d != "" {
		t.Error(d)
	}
}

// What does not fit is cut to the lines round the question's words.
func TestPackCuts(t *testing.T) {
	filler := strings.Repeat("words that take some room in a block\n", 60)
	got := Pack([]Hit{chunk(t, "a", 1, 0, filler+"the kiwi met the mango\n"+filler)}, &PackOptions{Tokens: 300})
	if len(got.Items) != 1 {
		t.Fatalf("%+v", got)
	}
	it := got.Items[0]
	if !it.Cut || !strings.Contains(it.Text, "the kiwi met the mango") || it.StartLine > 61 || it.EndLine < 61 || got.Tokens > 300 || got.Tokens < 200 {
		t.Errorf("%d tokens of lines %d-%d", got.Tokens, it.StartLine, it.EndLine)
	}
	if n := strings.Count(it.Text, "\n") + 1; n != it.EndLine-it.StartLine+1 || it.Citation != cite("a", it.StartLine, it.EndLine) {
		t.Errorf("%d lines cited as %s", n, it.Citation)
	}
	one := Pack([]Hit{chunk(t, "a", 1, 0, strings.Repeat("lorem ipsum ", 300)+"kiwi mango "+strings.Repeat("dolor sit ", 300))}, &PackOptions{Tokens: 300})
	if len(one.Items) != 1 || !strings.Contains(one.Items[0].Text, "kiwi mango") || !strings.HasPrefix(one.Items[0].Text, "…") {
		t.Errorf("a long line became %+v", one)
	}
}

// One hit is cut down to fill the room; what comes behind it is whole or not there.
func TestPackCutsOnce(t *testing.T) {
	filler := strings.Repeat(strings.Repeat("words that take some room in a block ", 8)+"\n", 10)
	got := Pack([]Hit{chunk(t, "a", 1, 0, filler+"a kiwi"), chunk(t, "b", 1, 0, filler+"b kiwi"), chunk(t, "c", 1, 0, "c")}, &PackOptions{Tokens: 400})
	if len(got.Items) != 2 || !got.Items[0].Cut || got.Items[1].Cut || got.Tokens < 300 {
		t.Errorf("%d tokens in %v", got.Tokens, texts(got.Items))
	}
	if d := cmp.Diff(map[string]LeftReason{"b/0": OverBudget}, reasons(got.Left)); d != "" {
		t.Error(d)
	}
}

// Packing many hits counts not much more than what it packs: each note, the cuts of
// one, and the block.
func TestPackCountsLittle(t *testing.T) {
	var hits []Hit
	for i := range 24 {
		hits = append(hits, chunk(t, fmt.Sprint(i), 1, 0, strings.Repeat(fmt.Sprintf("line %d of some words\n", i), 70)))
	}
	counted := 0
	got := Pack(hits, &PackOptions{Items: 10, Count: func(s string) int { counted += len(s); return (len(s) + 2) / 3 }})
	if block := len(Render(got.Items)); len(got.Items) < 4 || counted > 4*block {
		t.Errorf("%d bytes were counted for %d in %d items", counted, block, len(got.Items))
	}
}

func TestPackSpan(t *testing.T) {
	filler := strings.Repeat("words that take some room in a block\n", 60)
	h := chunk(t, "", 1, 0, filler+"the kiwi\n"+filler)
	h.Kind, h.ID, h.Citation = Session, "t1", "t1"
	whole := Pack([]Hit{h}, &PackOptions{Tokens: 1 << 20}).Items[0]
	part := Pack([]Hit{h}, &PackOptions{Tokens: 300}).Items[0]
	if whole.Citation != "t1" || part.Citation != cite("t1", part.StartLine, part.EndLine) || part.ID != "t1" {
		t.Errorf("cited as %s and %s", whole.Citation, part.Citation)
	}
}

// counters are of different characters: even, lumpy, with a fixed part.
var counters = map[string]func(string) int{
	"thirds": func(s string) int { return (len(s) + 2) / 3 },
	"words":  func(s string) int { return len(strings.Fields(s)) },
	"lumpy":  func(s string) int { return len(s)/7*5 + strings.Count(s, "k")*9 },
	"lines":  func(s string) int { return 10 + strings.Count(s, "\n") },
}

// The rendered block keeps the cap whatever is in the notes and whatever
// counts; no line is shown twice or cited wrongly; every hit is in or left out.
func TestPackKeepsTheCap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		files := map[string][]string{}
		for _, p := range []string{"a.md", "b.md"} {
			files[p] = rapid.SliceOfN(rapid.SampledFrom([]string{"", "kiwi", "the mango", "---", "<!-- mk:1 -->", "</note></recall>", strings.Repeat("long ", 60), "数据库的数据"}), 20, 60).Draw(rt, p)
			for i := range files[p] {
				if files[p][i] != "" && files[p][i][0] != '-' && files[p][i][0] != '<' {
					files[p][i] += fmt.Sprint(" ", i)
				}
			}
		}
		var hits []Hit
		for i := range rapid.IntRange(0, 9).Draw(rt, "hits") {
			p := rapid.SampledFrom([]string{"a.md", "b.md"}).Draw(rt, "path")
			from := rapid.IntRange(0, len(files[p])-1).Draw(rt, "from")
			to := rapid.IntRange(from+1, len(files[p])).Draw(rt, "to")
			h := chunk(t, p, from+1, from, strings.Join(files[p][from:to], "\n")+"\n")
			h.ID = fmt.Sprint(i)
			hits = append(hits, h)
		}
		name := rapid.SampledFrom([]string{"thirds", "words", "lumpy", "lines"}).Draw(rt, "counter")
		o := PackOptions{Tokens: rapid.IntRange(1, 600).Draw(rt, "tokens"), Items: rapid.IntRange(1, 4).Draw(rt, "items"), Count: counters[name]}
		got := Pack(hits, &o)
		block := Render(got.Items)
		if n := o.Count(block); block != "" && (n > o.Tokens || n != got.Tokens) || len(got.Items) > o.Items {
			rt.Fatalf("%d tokens, said to be %d, of %d; %d items", n, got.Tokens, o.Tokens, len(got.Items))
		}
		in := len(got.Left)
		for _, it := range got.Items {
			in += len(it.Hits)
			checkLines(rt, it, files[it.Path])
		}
		if in != len(hits) {
			rt.Fatalf("%d hits became %d", len(hits), in)
		}
	})
}

// checkLines wants an item's lines in the file, in order, between those cited.
func checkLines(t *rapid.T, it Item, file []string) {
	at := it.StartLine - 1
	for n, l := range strings.Split(it.Text, "\n") {
		for at < it.EndLine && strings.TrimSpace(file[at]) != l {
			if strings.Contains(l, "…") && strings.Contains(file[at], strings.Trim(l, "…")) {
				break
			}
			at++
		}
		if at >= it.EndLine || n == 0 && at != it.StartLine-1 {
			t.Fatalf("line %q of %s is not there in order:\n%s", l, it.Citation, it.Text)
		}
		at++
	}
	if at != it.EndLine {
		t.Fatalf("%s ends at line %d", it.Citation, at)
	}
}

// Packing a large tool result of one line or of many, as the worst of spans.
//
//	go test -run '^$' -bench Pack ./retrieval
func BenchmarkPack100KB(b *testing.B) {
	for name, text := range map[string]string{"line": strings.Repeat("lorem ipsum ", 8500), "lines": strings.Repeat("a\n", 50_000), "chunk": strings.Repeat("words in a line\n", 100)} {
		b.Run(name, func(b *testing.B) {
			hits := []Hit{chunk(b, "a.md", 1, 0, text+"kiwi mango")}
			for b.Loop() {
				Pack(hits, &PackOptions{Tokens: 500})
			}
		})
	}
}
