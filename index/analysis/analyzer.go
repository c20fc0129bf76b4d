package analysis

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
)

// maxMemo bounds the words that an Analyzer remembers. They take a few megabytes.
const maxMemo = 1 << 15

// Analyzer turns texts into terms. It remembers the stems of words, which makes it several times
// faster than stemming each occurrence. Its results do not depend on earlier calls. An Analyzer must
// not be used by two goroutines at once.
type Analyzer struct {
	lx    *lexicon
	memo  map[string]*word
	items []item
	runes []rune
	buf   []byte
	cuts  []int
}

// New returns an Analyzer.
func New() *Analyzer { return &Analyzer{lx: words(), memo: make(map[string]*word, 1024)} }

func (a *Analyzer) lookup(w []byte) *word {
	if got, ok := a.memo[string(w)]; ok {
		return got
	}
	if len(a.memo) >= maxMemo {
		clear(a.memo)
	}
	text := string(w)
	// In Vietnamese a word without its accents is another word: mấy is "how many", máy is "machine".
	got := &word{text: text, stop: a.lx.stops[text] | a.lx.stops[a.lx.folded(text)]&^(1<<vietnam), hint: hintOf(text), script: scriptOf(w)}
	if vietnamese(text) {
		got.stop &= 1 << vietnam
	}
	got.asks = got.stop | a.lx.asks[text] | a.lx.asks[a.lx.folded(text)]
	a.memo[text] = got
	return got
}

// AppendIndex appends the terms of a document's text to dst, separated by spaces. It returns the
// language for which it stemmed the text: a code such as "en", or "" for a text without a word in
// Latin letters.
func (a *Analyzer) AppendIndex(dst []byte, text string) ([]byte, string) {
	a.scan(text)
	l, lang := a.language()
	return a.emit(dst, l), lang
}

// Language returns the language that AppendIndex finds a text to be in.
func (a *Analyzer) Language(text string) string {
	a.scan(text)
	_, lang := a.language()
	return lang
}

// language returns the language of the scanned text and its code. The code is "" if the text has no
// word in Latin letters.
func (a *Analyzer) language() (l int, code string) {
	t := a.tally(false)
	if l = t.best(); t.words == 0 {
		return l, ""
	}
	return l, recipes[l].code
}

// AppendLines appends the terms of a text to dst, like AppendIndex, and keeps the line feeds of the
// text, so that each line of the result has the terms of one line. lang is the language of the text.
func (a *Analyzer) AppendLines(dst []byte, text string) (terms []byte, lang string) {
	a.scan(text)
	l, lang := a.language()
	done := 0
	for i := range text {
		if text[i] != '\n' {
			continue
		}
		for ; done < len(a.items) && a.items[done].at < i; done++ {
			dst = a.emitItem(dst, &a.items[done], l)
		}
		dst = append(dst, '\n')
	}
	for ; done < len(a.items); done++ {
		dst = a.emitItem(dst, &a.items[done], l)
	}
	return dst, lang
}

// AppendIndexAs does what AppendIndex does for a text whose language is known, such as the title of a
// document. An unknown code means English.
func (a *Analyzer) AppendIndexAs(dst []byte, text, lang string) []byte {
	a.scan(text)
	return a.emit(dst, max(english, codeOf(lang)))
}

// Index returns the terms of a document's text, in order and with repeats.
func (a *Analyzer) Index(text string) []string {
	out, _ := a.AppendIndex(nil, text)
	return strings.Fields(string(out))
}

// codeOf returns the index in recipes of a language in Latin letters by its code, or -1.
func codeOf(code string) int {
	return slices.IndexFunc(recipes[:latin], func(r recipe) bool { return r.code == code })
}

func (a *Analyzer) tally(question bool) *tally {
	var t tally
	for i := range a.items {
		if w := a.items[i].word; w != nil && w.script == roman {
			functional := w.stop
			if question {
				functional = w.asks
			}
			t.count(w, functional)
		}
	}
	return &t
}

// emit appends the terms of the scanned items.
func (a *Analyzer) emit(dst []byte, l int) []byte {
	for i := range a.items {
		dst = a.emitItem(dst, &a.items[i], l)
	}
	return dst
}

func (a *Analyzer) emitItem(dst []byte, it *item, l int) []byte {
	if it.word != nil {
		return append(appendSpace(dst), a.lx.in(it.word, l)...)
	}
	return appendGrams(dst, a.runes[it.from:it.to], it.class)
}

func appendSpace(dst []byte) []byte {
	if n := len(dst); n > 0 && dst[n-1] != ' ' && dst[n-1] != '\n' {
		return append(dst, ' ')
	}
	return dst
}

// appendGrams appends the terms of a run of characters: the characters and their pairs, or pairs and
// triples for scripts whose single characters mean little. A shorter run is one term.
func appendGrams(dst []byte, run []rune, c class) []byte {
	short := 1
	if c == tight && len(run) > 1 {
		short = 2
	}
	for i := range run {
		for n := short; n <= short+1 && i+n <= len(run); n++ {
			dst = appendRunes(appendSpace(dst), run[i:i+n])
		}
	}
	return dst
}

func appendRunes(dst []byte, rs []rune) []byte {
	for _, r := range rs {
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// widen replaces the half-width katakana in a.runes[from:] by normal katakana.
func (a *Analyzer) widen(from int) {
	if !slices.ContainsFunc(a.runes[from:], func(r rune) bool { return r >= 0xFF66 && r <= 0xFF9F }) {
		return
	}
	ts := a.lx.width.Filter(analysis.TokenStream{{Term: []byte(string(a.runes[from:]))}})
	a.runes = append(a.runes[:from], []rune(string(ts[0].Term))...)
}

// maxIdle is the number of analyzers that a Pool keeps. Each may take a few megabytes.
const maxIdle = 4

// Pool keeps analyzers between uses, because they remember words. A sync.Pool would drop them at every
// garbage collection. The zero value is empty. Several goroutines may use a Pool at once.
type Pool struct {
	mu   sync.Mutex
	idle []*Analyzer
}

// Lend returns an Analyzer from the pool. Callers must return it by Give.
func (p *Pool) Lend() *Analyzer {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return New()
	}
	a := p.idle[last]
	p.idle = p.idle[:last]
	return a
}

// Give returns an Analyzer to the pool.
func (p *Pool) Give(a *Analyzer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) < maxIdle {
		p.idle = append(p.idle, a)
	}
}
