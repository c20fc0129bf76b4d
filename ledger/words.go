package ledger

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
)

//go:embed words.txt
var wordsText string

// phrases is a set of phrases of one meaning.
type phrases struct {
	// byFirst has the phrases of whole words by their first word.
	byFirst map[string][][]string
	// stems are the beginnings of words. wide are phrases of scripts without spaces.
	stems, wide []string
}

// tables has the words and phrases of each section of words.txt.
var tables = sync.OnceValue(func() map[string][]string {
	out, now := map[string][]string{}, ""
	for line := range strings.Lines(wordsText) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			now = strings.Trim(line, "[]")
		default:
			_, list, _ := strings.Cut(line, ": ")
			for p := range strings.SplitSeq(list, ", ") {
				out[now] = append(out[now], strings.TrimSpace(p))
			}
		}
	}
	return out
})

// cues begins the names of the sections for package consolidation.
const cues = "cue "

// Cue returns the words and phrases by which a text shows a sense.
func Cue(name string) []string { return tables()[cues+name] }

// meanings has the phrases by the names of the sections in words.txt.
var meanings = sync.OnceValue(func() map[string]*phrases {
	out := map[string]*phrases{}
	for name, list := range tables() {
		if strings.HasPrefix(name, cues) {
			continue
		}
		out[name] = &phrases{byFirst: map[string][][]string{}}
		for _, p := range list {
			out[name].add(p)
		}
	}
	return out
})

func (p *phrases) add(text string) {
	if strings.ContainsFunc(text, isWide) {
		p.wide = append(p.wide, text)
		return
	}
	ws := wordsOf(text)
	switch stem, isStem := strings.CutSuffix(text, "*"); {
	case len(ws) == 0:
	case isStem && len(ws) == 1:
		p.stems = append(p.stems, stem)
	default:
		p.byFirst[ws[0]] = append(p.byFirst[ws[0]], ws)
	}
}

// isWide reports whether a character belongs to a script in which particles and words follow each
// other without spaces.
func isWide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// wordsOf returns the words of a text in small letters, with the signs that join the parts of a
// word.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(text), "’", "'"), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("'-_./:@—", r)
	})
}

// in reports whether a phrase is among words, or in the text of these words.
func (p *phrases) in(words []string, text string) bool {
	at, _ := p.find(words)
	wide, _ := p.wideAt(text)
	return at >= 0 || wide >= 0
}

// find returns the place of the first phrase among words, or -1, and the number of its words.
func (p *phrases) find(words []string) (at, n int) {
	for i, w := range words {
		w = strings.TrimRight(w, ".:")
		longest := 0
		for _, ws := range p.byFirst[w] {
			if len(ws) > longest && len(ws) <= len(words)-i && slices.EqualFunc(words[i+1:i+len(ws)], ws[1:], func(said, known string) bool { return strings.TrimRight(said, ".:") == known }) {
				longest = len(ws)
			}
		}
		if longest > 0 {
			return i, longest
		}
		if slices.ContainsFunc(p.stems, func(stem string) bool { return strings.HasPrefix(w, stem) }) {
			return i, 1
		}
	}
	return -1, 0
}

// wideAt returns the place of the first phrase of a script without spaces in a text, or -1, and its
// length in bytes.
func (p *phrases) wideAt(text string) (at, n int) {
	at = -1
	for _, w := range p.wide {
		if i := strings.Index(text, w); i >= 0 && (at < 0 || i < at || i == at && len(w) > n) {
			at, n = i, len(w)
		}
	}
	return at, n
}
