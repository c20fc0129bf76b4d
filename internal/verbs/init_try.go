package verbs

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

// These limit the search for a question, and the number of questions to try.
const (
	maxQuestionFiles = 200
	maxQuestionBytes = 64 << 10
	maxQuestions     = 8
)

// try runs an example search for a subject of the workspace's own files. It returns nil if no
// search finds anything.
func try(ctx context.Context, a *cli.App, k *kernel.Kernel) *triedJSON {
	st, err := a.OpenStore(ctx, a.Private())
	if err != nil || st == nil {
		return nil
	}
	defer st.Close()
	for _, q := range questions(ctx, st) {
		res, err := k.Search(ctx, api.SearchRequest{Query: q, Private: a.Private(), MaxResults: 1})
		if err == nil && len(res.Hits) > 0 {
			h := res.Hits[0]
			return &triedJSON{Query: q, Citation: h.Citation, Snippet: h.Snippet}
		}
	}
	return nil
}

// questions returns the headings that occur in only one file, and then the longest word of each
// file. Headings of two or more words come first.
func questions(ctx context.Context, st *markdownstore.Store) []string {
	var found []string
	words := []string{}
	in := map[string]int{} // the number of files with a heading
	n := 0
	for f, err := range st.Walk(ctx) {
		if err != nil || !f.Indexed || f.Shadowed || f.Size > maxQuestionBytes {
			continue
		}
		if n++; n > maxQuestionFiles {
			break
		}
		loaded, err := st.ReadFile(f.Path)
		if err != nil {
			continue
		}
		doc := markdownstore.Parse(f.Path, markdownstore.BlankRules(loaded.Text))
		if doc.Binary {
			continue
		}
		headings, longest := speaksOf(doc.Body)
		for _, h := range headings {
			if in[h]++; in[h] == 1 {
				found = append(found, h)
			}
		}
		if longest != "" {
			words = append(words, longest)
		}
	}
	found = slices.DeleteFunc(found, func(h string) bool { return in[h] > 1 })
	slices.SortStableFunc(found, func(a, b string) int { return rank(a) - rank(b) })
	out := append(found, words...)
	return out[:min(len(out), maxQuestions)]
}

// rank returns 0 for a good question, a heading of two to seven words, and higher numbers for
// others.
func rank(h string) int {
	switch n := len(strings.Fields(h)); {
	case n >= 2 && n <= 7, n == 1 && len([]rune(h)) > 5 && !isASCII(h): // scripts without spaces
		return 0
	case n == 1:
		return 1
	}
	return 2
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// speaksOf returns a text's headings and its longest word. Each heading has at least one letter
// and fits a line of a terminal.
func speaksOf(text string) (headings []string, longest string) {
	seen := map[string]bool{}
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		if rest := strings.TrimLeft(line, "#"); rest != line && strings.HasPrefix(rest, " ") {
			h := strings.Join(strings.FieldsFunc(rest, func(r rune) bool {
				return unicode.IsSpace(r) || strings.ContainsRune("`*_[]()<>#\"", r) || unicode.IsControl(r)
			}), " ")
			if strings.ContainsFunc(h, unicode.IsLetter) && len([]rune(h)) <= 60 && !seen[h] {
				seen[h] = true
				headings = append(headings, h)
			}
			continue
		}
		for _, w := range strings.FieldsFunc(line, func(r rune) bool { return !unicode.IsLetter(r) }) {
			if n := len([]rune(w)); n > len([]rune(longest)) && n <= 20 {
				longest = w
			}
		}
	}
	return headings, longest
}
