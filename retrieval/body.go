package retrieval

import (
	"sync/atomic"

	"github.com/memkernel/memkernel/index/analysis"
)

// body is a text that is analysed once, when it is first needed.
type body struct {
	text string
	// keys are the keys of the body's words. ascii is false if the text has other letters, whose
	// keys are unknown.
	keys  []key
	ascii bool
	made  atomic.Pointer[digest]
}

// bytesPerKey is a little less than the length of a word with the separator after it, in code as
// in prose.
const bytesPerKey = 5

func newBody(text string) *body {
	b := &body{text: text}
	b.keys, b.ascii = appendKeys(make([]key, 0, len(text)/bytesPerKey), text)
	return b
}

// digest analyses the body in a language. If the language is "", digest detects it. Two
// goroutines may call digest at the same time, since both make the same digest.
func (b *body) digest(a *analysis.Analyzer, lang string) *digest {
	if !b.ascii {
		lang = ""
	}
	if d := b.made.Load(); d != nil && (lang == "" || lang == d.lang) {
		return d
	}
	d := digestOf(a, b.text, lang)
	b.made.Store(d)
	return d
}

// size returns the body's length in terms, taken from its keys where possible, so that it does
// not depend on which bodies were analysed.
func (b *body) size(a *analysis.Analyzer) int {
	if b.ascii {
		return len(b.keys)
	}
	return b.digest(a, "").size
}
