package represent

import (
	"fmt"
	"strings"
	"testing"
)

// manyLines is a text of n lines of which each tells something.
func manyLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of module_%d: handler_%d returned %d\n", i, i%17, i*i%911, i*37%1009)
	}
	return b.String()
}

// An excerpt is a function of text and size, takes the size that it is given, shows
// verbatim lines in their order, and reads as it runs where there is much room.
func TestExcerptsTakeTheirSize(t *testing.T) {
	text := manyLines(9_000)
	e := NewExcerpts(EvidenceInput{Tool: "Bash", Text: text})
	for _, share := range []float64{.02, .2, .5, .8, .95} {
		size := int(share * float64(len(text)))
		got := e.Rep(size)
		if again := NewExcerpts(EvidenceInput{Tool: "Bash", Text: text}).Rep(size); again.Hash != got.Hash {
			t.Errorf("%v: two texts of the same size", share)
		}
		if n := len(got.Text); n > size+size/20 || n < size*9/10 {
			t.Errorf("%v: %d bytes, want about %d", share, n, size)
		}
		at := 0
		for line := range strings.SplitSeq(got.Text, "\n") {
			if !strings.HasPrefix(line, "line ") {
				continue
			}
			i := strings.Index(text[at:], line+"\n")
			if i < 0 {
				t.Fatalf("%v: %q does not stand in the text, or not there", share, line)
			}
			at += i
		}
		if gaps := strings.Count(got.Text, "[…"); share > .9 && gaps > 60 {
			t.Errorf("%v: %d gaps", share, gaps)
		}
	}
}

// A footer may be longer than the excerpt was to be. It is shown all the same.
func TestExcerptShorterThanItsFooter(t *testing.T) {
	var b strings.Builder
	for i := range 600 {
		fmt.Fprintf(&b, "services/harbour/berths/allocation_%d.go:%d:\treturn berth, nil\n", i, i*7%311+1)
	}
	resolver := strings.Repeat("/far/away", 80) + "/memkernel get"
	e := NewExcerpts(EvidenceInput{Tool: "Grep", Text: b.String(), Resolver: resolver, PageID: "ev-1"})
	for _, size := range []int{1, 40, 100} {
		if got := e.Rep(size).Text; !strings.Contains(got, "\n[of 600 lines, 37.8 KB") || !strings.Contains(got, resolver+" ev-1") {
			t.Errorf("%d: %q", size, got)
		}
	}
}

// What a person wrote at either end is kept at every level, and parts keep apart.
func TestMessagesKeepTheirWritersWords(t *testing.T) {
	text := "What is wrong here?\n" + manyLines(2_000) + PartBreak + "\n" + manyLines(2_000) + "Answer in one line."
	in := EvidenceInput{PageID: "cv-1", Text: text, Breaks: true, Own: []Range{{0, 400, false}, {len(text) - 400, len(text), true}}}
	reps := Message(in)
	if len(reps) != 3 {
		t.Fatalf("%d levels", len(reps))
	}
	for _, r := range reps {
		parts := strings.Split(r.Text, PartBreak)
		if len(parts) != 2 || !strings.HasPrefix(parts[0], "What is wrong here?\n") || !strings.Contains(parts[1], "Answer in one line.\n[this message is shown shortened") {
			t.Errorf("%v: %.300s", r.Level, r.Text)
		}
	}
}
