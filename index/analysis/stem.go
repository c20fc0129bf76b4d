package analysis

import (
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
)

// word is a distinct lower-case word with the terms it leaves, found out once.
type word struct {
	text string
	// stop holds, as bits, the languages in which it is a function word, and asks also those in
	// which it only asks.
	stop, asks uint32
	// hint holds, likewise, the languages that its letters hint at.
	hint uint32
	// script is an index into recipes for words whose letters identify their
	// language, roman for those in Latin letters, plain for the rest.
	script int
	// terms are the terms of the word in language lang, separated by spaces; more has them for
	// the other languages once they were needed.
	lang  int
	terms string
	more  []string
}

// in returns the terms of w in Latin language l, which words of other scripts
// ignore.
func (lx *lexicon) in(w *word, l int) string {
	if w.script != roman {
		l = w.script
	}
	switch {
	case w.terms == "":
		w.lang, w.terms = l, lx.terms(w.text, l)
	case w.lang == l:
	default:
		if w.more == nil {
			w.more = make([]string, latin)
		}
		if w.more[l] == "" {
			w.more[l] = lx.terms(w.text, l)
		}
		return w.more[l]
	}
	return w.terms
}

// terms stems a word for language l. An accent can change the ending that a stemmer takes off, so
// a word with accents leaves its stem and the stem of its bare form. In Vietnamese accents
// distinguish words, so a syllable yields itself and its bare form, for users who type without
// accents.
func (lx *lexicon) terms(w string, l int) string {
	out := lx.term(w, l)
	if bare := lx.folded(w); bare != w {
		if alt := lx.term(bare, l); alt != out {
			out += " " + alt
		}
	}
	if strings.IndexByte(out, '\'') >= 0 {
		out = lx.apostrophes(out, l)
	}
	if root := rootOf(lx.folded(w), out, l); root != "" {
		out += " " + root
	}
	if vietnamese(w) || l == vietnam && !isASCII(w) {
		out += " " + strings.ReplaceAll(w, "'", "")
	}
	return out
}

// term is one word stemmed and folded. A filter that leaves nothing is undone.
func (lx *lexicon) term(w string, l int) string {
	switch l {
	case plain, vietnam:
		return lx.folded(w)
	case arabic:
		return lightArabic(lx.folded(w))
	}
	var one struct { // in one piece, since this is made for every word
		token  analysis.Token
		stream [1]*analysis.Token
		term   [32]byte
	}
	one.token.Term = append(one.term[:0], w...)
	one.stream[0] = &one.token
	ts := analysis.TokenStream(one.stream[:])
	for _, f := range lx.filters[l] {
		ts = f.Filter(ts)
	}
	if len(ts) == 0 || len(ts[0].Term) == 0 {
		return lx.folded(w)
	}
	return lx.folded(string(ts[0].Term))
}

// apostrophes handles those that the language's own rules left in place: the
// word is kept without them, and so are its longer sides.
func (lx *lexicon) apostrophes(terms string, l int) string {
	var out []string
	for _, t := range strings.Fields(terms) {
		out = append(out, lx.term(strings.ReplaceAll(t, "'", ""), l))
		for _, side := range strings.Split(t, "'") {
			if utf8.RuneCountInString(side) > 2 && side != t {
				out = append(out, strings.ReplaceAll(lx.term(side, l), "'", ""))
			}
		}
	}
	return strings.Join(out, " ")
}

// scriptOf returns the script of a word's first letter, which decides which
// stemmer it needs.
func scriptOf(w []byte) int {
	for i := 0; i < len(w); {
		r, n := utf8.DecodeRune(w[i:])
		switch {
		case classOf(r) != letter:
		case r < 0x0250, r >= 0x1E00 && r <= 0x1EFF:
			return roman
		case r >= 0x0400 && r <= 0x052F:
			return russian
		case r >= 0x0900 && r <= 0x097F:
			return hindi
		case r >= 0x0620 && r <= 0x064A:
			return arabic
		default:
			return plain
		}
		i += n
	}
	return plain
}
