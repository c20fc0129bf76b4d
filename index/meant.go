package index

import (
	"context"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/index/analysis"
)

const (
	// mostMeant is the largest number of words that are searched because they mean the same as one
	// word of the question. With 2, 3 and 4 of 215 questions over seven folders of notes 115, 115
	// and 116 are answered first (`mkbench eval`, 2026-11-30; bench/testdata/asked has four of the
	// folders).
	mostMeant = 2
	// Common words are left out. A word is common if more than usualMeant chunks and more than one
	// chunk in meantShare hold it, because such words take the most time. It is common too if more
	// than fewMeant chunks and more than half of all chunks hold it, such as the name of a folder.
	usualMeant = 64
	meantShare = 5
	fewMeant   = 4
	// mostStems is the largest number of terms of such a word. A word in writing without spaces has
	// a term for each pair of its characters, which other words have too.
	mostStems = 3
)

// meant returns words that mean the same as words of the question ([analysis.SameMeaning]) and that
// the index holds. terms are the terms of the question. more are the terms of the words found, which
// the caller appends to terms.
func (r *reader) meant(ctx context.Context, a *analysis.Analyzer, question string, terms []string) (out []Also, more []string, err error) {
	for _, m := range analysis.SameMeaning(question) {
		also := Also{Typed: strings.Join(m.Typed, " "), meaning: true}
		for _, w := range m.Typed {
			also.Of = append(also.Of, placesOf(terms, a.Query(w, r.v.langs))...)
		}
		if len(also.Of) == 0 {
			continue
		}
		for _, w := range m.Same {
			if !a.Tells(w) { // such as thé, which is "the" without its accent
				continue
			}
			ts := a.Stems(w, r.v.langs)
			if len(ts) == 0 { // writing without spaces
				ts = a.Query(w, nil)
			}
			for _, t := range ts {
				if len(ts) > mostStems || slices.Contains(terms, t) || slices.Contains(more, t) || len(also.Terms) == mostMeant {
					continue
				}
				n, err := r.chunksWith(ctx, t)
				if err != nil {
					return nil, nil, err
				}
				if n > 0 && n <= max(usualMeant, r.v.total/meantShare) && n <= max(fewMeant, r.v.total/2) {
					also.Terms = append(also.Terms, len(terms)+len(more))
					more = append(more, t)
				}
			}
		}
		if len(also.Terms) > 0 {
			out = append(out, also)
		}
	}
	return out, more, nil
}
