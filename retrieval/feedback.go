package retrieval

import (
	"cmp"
	"math"
	"slices"
)

// Feedback: the best passages' words that the question lacks are searched for too, with little
// weight. This finds answers in other words, and the next link in a chain of evidence: the name,
// the place or the thing that the first hit mentions.
//
// Words weigh by their rarity and by the scores of the passages that hold them, so
// those that several of the best agree on come first. Requiring agreement loses most
// of the gain.

const (
	// feedbackFrom is how many of the best passages lend words. feedbackWords is how many words
	// they lend.
	feedbackFrom  = 3
	feedbackWords = 8
	// feedbackCommon is the part of the passages in which a word is too common.
	feedbackCommon = 5
)

// lent is a word of the best passages that the question does not have.
type lent struct {
	term uint32
	// score is the sum of those of the passages that lend it.
	score float64
	// holders is how many of all passages hold it.
	holders float64
	idf     float64
}

// feedback adds to the passages' scores the weight of the lent words that they hold.
func (r *refiner) feedback() {
	words := r.lend(r.leaders(feedbackFrom))
	if len(words) == 0 {
		return
	}
	r.countHolders(words)
	words = pick(words, float64(len(r.places)))
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
	out := make([]*place, 0, n+1)
	for _, p := range r.places {
		if p.score <= 0 || len(out) == n && p.score <= out[n-1].score {
			continue
		}
		at := len(out)
		for at > 0 && out[at-1].score < p.score {
			at--
		}
		out = slices.Insert(out, at, p)
		out = out[:min(len(out), n)]
	}
	return out
}

// lend returns the words of some passages, in order, without the question's.
func (r *refiner) lend(leaders []*place) []lent {
	var words []lent
	for i, p := range leaders {
		for _, t := range p.body.set {
			if !slices.Contains(r.terms, t) && !p.echoes(leaders[:i], t) {
				words = append(words, lent{term: t, score: p.score})
			}
		}
	}
	slices.SortStableFunc(words, func(a, b lent) int { return cmp.Compare(a.term, b.term) })
	n := 0
	for _, w := range words {
		if n > 0 && words[n-1].term == w.term {
			words[n-1].score += w.score
			continue
		}
		words[n] = w
		n++
	}
	return words[:n]
}

// echoes reports whether a better passage of the same session has lent a word
// already: a session that repeats itself doesn't count as agreement.
func (p *place) echoes(better []*place, t uint32) bool {
	return slices.ContainsFunc(better, func(q *place) bool { return q.session == p.session && q.body.count(t) > 0 })
}

// countHolders counts the passages that hold words, which must be sorted. A table gives the first
// of the words that share the upper bits of their hashes.
func (r *refiner) countHolders(words []lent) {
	const shift = 32 - 12
	var first [1 << 12]uint16 // from 1 on
	for i := min(len(words), math.MaxUint16) - 1; i >= 0; i-- {
		first[words[i].term>>shift] = uint16(i + 1)
	}
	for _, p := range r.places {
		for _, t := range p.body.set {
			i := int(first[t>>shift])
			if i == 0 {
				continue
			}
			for i--; i < len(words) && words[i].term < t; i++ {
			}
			if i < len(words) && words[i].term == t {
				words[i].holders++
			}
		}
	}
}

// pick keeps the words that distinguish most: those that other passages hold
// too, but not all of them.
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
