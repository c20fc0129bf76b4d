package represent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/pagevm"
	"pgregory.net/rapid"
)

// freshLine writes the i-th line of a text of a kind in which every line contains
// something that no other does.
var freshLine = map[string]func(i int, w string) string{
	"log": func(i int, w string) string {
		return fmt.Sprintf("2026-01-02T10:%02d:%02dZ INFO %s%d done\n", i/60%60, i%60, w, i)
	},
	"code":        func(i int, w string) string { return fmt.Sprintf("\t%s%d := load_%d(ctx)\n", w, i, i*7) },
	"search hits": func(i int, w string) string { return fmt.Sprintf("pkg/%s/file_%d.go:%d:\tcall_%d(x)\n", w, i, i, i) },
	"table":       func(i int, w string) string { return fmt.Sprintf("| %s_%d | %d | team_%d |\n", w, i, i*31, i) },
	"prose": func(i int, w string) string {
		return fmt.Sprintf("The step %s_%d moves what place_%d holds to another.\n", w, i, i*3)
	},
	"listing": func(i int, w string) string { return fmt.Sprintf("./cmd/%s_%d/tool_%d.go\n", w, i, i*5) },
	"diff": func(i int, w string) string {
		return fmt.Sprintf("@@ -%d,1 +%d,1 @@\n-\t%s_%d\n+\t%sNew%d\n", i, i, w, i, w, i)
	},
	"json": func(i int, w string) string {
		return fmt.Sprintf(`{"id":%d,"%s_name":"item_%d","path":"/srv/%s/%d.bin"},`, i*17, w, i, w, i)
	},
}

// kindText makes a text of a kind of about size bytes.
func kindText(kind, word string, size int) string {
	var b strings.Builder
	end := ""
	switch kind {
	case "diff":
		b.WriteString("diff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n")
	case "json":
		b.WriteString(`{"items":[`)
		end = `{}]}`
	}
	for i := 0; b.Len() < size; i++ {
		b.WriteString(freshLine[kind](i, word))
	}
	return b.String() + end
}

// excerptOf returns an excerpt of about room bytes.
func excerptOf(text string, room int) string {
	k, numbered := detectKind(text)
	s := scanText(text, k, numbered)
	defer s.free()
	return s.excerpt(s.pick(room).chosen)
}

// Whatever the kind, an excerpt is never larger than its room, but for what a few lines need, and
// not much smaller while there is something new to show.
func TestRatioIsKept(t *testing.T) {
	for kind := range freshLine {
		t.Run(kind, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				size := rapid.IntRange(6<<10, 60<<10).Draw(t, "size")
				ratio := rapid.Float64Range(0.1, 0.7).Draw(t, "ratio")
				text := kindText(kind, rapid.StringMatching(`[a-z]{3,12}`).Draw(t, "word"), size)
				if got := ContentKind(text); got != kind {
					t.Fatalf("taken for %s", got)
				}
				want := ratio * float64(len(text))
				if got := float64(len(excerptOf(text, int(want)))); got > want+64 || got < 0.85*want-64 {
					t.Errorf("%.0f bytes in a room of %.0f", got, want)
				}
			})
		})
	}
}

// What is short or contains nothing new is held by the upper bound alone.
func TestRatioBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"log", "code", "search hits", "table", "prose", "listing", "diff", "json"}).Draw(t, "kind")
		size := rapid.IntRange(800, 6<<10).Draw(t, "size")
		room := rapid.IntRange(200, 4<<10).Draw(t, "room")
		text := kindText(kind, "word", size)
		if n := len(excerptOf(text, room)); n > room+maxUnit {
			t.Errorf("%s: %d of %d bytes, want at most %d", kind, n, len(text), room+maxUnit)
		}
		rep := repAt(Evidence(evidence(text)), pagevm.Compressed)
		if limit := max(int(0.35*float64(len(text))), 1200/8+80) + maxUnit; rep != nil && len(rep.Text) > limit {
			t.Errorf("%s: %d of %d bytes, want at most %d", kind, len(rep.Text), len(text), limit)
		}
	})
}
