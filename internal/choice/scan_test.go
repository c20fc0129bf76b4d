package choice

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A text that is read token by token has those of the text read at once: what joins a
// token later has joined it by then.
func TestReadInPieces(t *testing.T) {
	pieces := []string{"1", "2.", "(a)", "Option", "Opción B", "either", "or", "l'option", "İstanbul", "É", "第一", "选", "项", "方案二", "안", "1안", "ー", "ok?", ": ", "—", "#3", "\n", " ", ", ", "３", "2-way", "\xff"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), "")
		want := scan(text)
		r := reader{text: text, lx: lexical()}
		for n := range want {
			if !r.has(n) || r.out[n] != want[n] {
				t.Fatalf("%q: token %d is %+v, want %+v", text, n, r.out[min(n, len(r.out)-1)], want[n])
			}
		}
		if r.has(len(want)) {
			t.Fatalf("%q has a token beyond %d", text, len(want))
		}
	})
}
