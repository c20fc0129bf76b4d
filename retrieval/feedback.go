package retrieval

import (
	"cmp"
	"slices"
)

// Feedback searches, with little weight, for the words of the best passages that the question
// lacks. It finds answers in other words. It also finds the next link in a chain of evidence: the
// name, the place or the thing that the first hit mentions.
//
// A word weighs more if it is rare and if the passages that hold it have high scores. So words
// that several of the best passages hold weigh most. Requiring that several passages hold a word
// loses most of the gain.

const (
	// feedbackFrom is the number of best passages from which words are taken.
	feedbackFrom = 3
	// feedbackWords is the number of words that are taken from them.
	feedbackWords = 8
	// feedbackCommon makes a word too common if more than one passage in feedbackCommon holds it.
	feedbackCommon = 5
)

// lent is a word of the best passages that the question lacks. Passages with such words rank higher.
type lent struct {
	term uint32
	// score is the sum of the scores of the best passages that hold the word.
	score float64
	// holders is the number of all passages that hold the word.
	holders float64
	idf     float64
}

// feedback raises the scores of passages by the weight of the lent words in them.
func (r *refiner) feedback() {
	words := pick(r.lend(r.leaders(feedbackFrom)), float64(len(r.places)))
	if len(words) == 0 {
		return
	}
	var chunk *candidate
	there := make([]lent, 0, len(words))
	for _, p := range r.places {
		if p.chunk != chunk {
			chunk, there = p.chunk, there[:0]
			for _, w := range words {
				if chunk.outline.mask.has(w.term) {
					there = append(there, w)
				}
			}
		}
		add := 0.0
		for _, w := range there {
			if f := float64(p.body.count(w.term)); f > 0 {
				add += w.idf * f * (r.sig.K1 + 1) / (f + r.sig.K1)
			}
		}
		if p.named && r.sig.Speaker != 0 {
			add *= r.sig.Speaker
		}
		p.score += r.sig.Feedback * p.session.lends * add
	}
}

// leaders returns the n best passages, the best first.
func (r *refiner) leaders(n int) []*place {
	out := slices.DeleteFunc(slices.Clone(r.places), func(p *place) bool { return p.score <= 0 })
	slices.SortStableFunc(out, func(a, b *place) int { return cmp.Compare(b.score, a.score) })
	return out[:min(len(out), n)]
}

// lend returns the words of the given passages that the question lacks, with their holders.
func (r *refiner) lend(leaders []*place) (words []lent) {
	at := map[uint32]int{}
	for i, p := range leaders {
		for _, t := range p.body.set {
			if slices.Contains(r.terms, t) || p.echoes(leaders[:i], t) {
				continue
			}
			j, known := at[t]
			if !known {
				j = len(words)
				at[t], words = j, append(words, lent{term: t})
			}
			words[j].score += p.score
		}
	}
	for _, p := range r.places {
		for _, t := range p.body.set {
			if j, lent := at[t]; lent {
				words[j].holders++
			}
		}
	}
	return words
}

// echoes reports whether a better passage of the same session also holds the word t. Such a word is
// not taken again: a session that repeats itself doesn't count as agreement.
func (p *place) echoes(better []*place, t uint32) bool {
	return slices.ContainsFunc(better, func(q *place) bool { return q.session == p.session && q.body.count(t) > 0 })
}

// pick returns the words with the largest score times idf. It leaves out words that only one
// passage holds, and words that are too common.
func pick(words []lent, total float64) []lent {
	words = slices.DeleteFunc(words, func(w lent) bool { return w.holders < 2 || w.holders > total/feedbackCommon })
	for i := range words {
		words[i].idf = idf(total, words[i].holders)
	}
	slices.SortFunc(words, func(a, b lent) int {
		return cmp.Or(cmp.Compare(b.score*b.idf, a.score*a.idf), cmp.Compare(a.term, b.term))
	})
	return words[:min(len(words), feedbackWords)]
}
