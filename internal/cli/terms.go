package cli

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/textutil"
)

// terms is doc/terms.md.
//
//go:embed terms.md
var terms string

// termLine matches a word and its meaning.
var termLine = regexp.MustCompile(`(?m)^- \*\*(.+?)\*\*: (.+)$`)

// termNames are the words that are explained.
func termNames() []string {
	var out []string
	for _, m := range termLine.FindAllStringSubmatch(terms, -1) {
		out = append(out, m[1])
	}
	return out
}

// Terms explains words in lines of at most width columns. It explains the words in asked. If
// asked is empty, it explains all words under their headings. If a word has no explanation, it
// returns that word as unknown and no text.
func Terms(asked []string, width int) (text, unknown string) {
	var b strings.Builder
	if len(asked) == 0 {
		for line := range strings.Lines(terms) {
			if heading, ok := strings.CutPrefix(line, "## "); ok {
				fmt.Fprintf(&b, "%s\n", strings.TrimSpace(heading))
			} else if m := termLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				explain(&b, m, width)
			} else if b.Len() > 0 && strings.TrimSpace(line) == "" {
				b.WriteByte('\n')
			}
		}
		return b.String(), ""
	}
	for _, word := range asked {
		found := find(word)
		if len(found) == 0 {
			return "", word
		}
		for _, m := range found {
			explain(&b, m, width)
		}
	}
	return b.String(), ""
}

// find returns the terms for a word: the term itself, terms of several words that contain it, or
// terms with a similar spelling.
func find(word string) [][]string {
	var same, like [][]string
	all := termLine.FindAllStringSubmatch(terms, -1)
	for _, m := range all {
		if strings.EqualFold(m[1], word) {
			return [][]string{m}
		}
		for _, w := range strings.FieldsFunc(m[1], func(r rune) bool { return strings.ContainsRune(" ,()", r) }) {
			if strings.EqualFold(w, word) || strings.EqualFold(w+"s", word) {
				same = append(same, m)
				break
			}
			if len(textutil.Nearest(word, []string{w})) > 0 {
				like = append(like, m)
				break
			}
		}
	}
	if len(same) > 0 {
		return same
	}
	return like
}

// explain writes a term with its meaning below.
func explain(b *strings.Builder, m []string, width int) {
	fmt.Fprintf(b, "  %s\n", m[1])
	for _, l := range display.Wrap(strings.ReplaceAll(m[2], "`", "'"), width-6) {
		fmt.Fprintf(b, "      %s\n", l)
	}
}
