package ledger

import (
	"slices"
	"strconv"
	"strings"
)

// Amends reports whether a person's text tells that something is no longer as it was.
func Amends(text string) bool {
	return slices.ContainsFunc(sentencesIn(text), func(s sentence) bool { return s.amends() })
}

func (s *sentence) amends() bool {
	return !asksIn(s.said) && s.has("news", "changes", "corrects", "fresh")
}

// Outdates returns a function that reports whether a person's text tells of a change to a value that
// a sentence of an older text gives: "from now on we deploy on Tuesdays" and "We deploy on Fridays".
// Either sentence must have one value of the kind, and the two a word in common.
func Outdates(newer string) func(older string) bool {
	changed := slices.DeleteFunc(sentencesIn(newer), func(s sentence) bool { return !s.amends() || len(singleValues(s.said)) == 0 })
	return func(older string) bool {
		return slices.ContainsFunc(changed, func(s sentence) bool {
			return slices.ContainsFunc(sentencesIn(older), func(o sentence) bool { return !asksIn(o.said) && outdates(s.said, o.said) })
		})
	}
}

// Asked returns the share of a text that its questions make up, 0 to 1. Of a sentence that tells
// something before it asks ("the mole is closed, can you note that?"), only the last clause is one.
func Asked(text string) float64 {
	asked, all := 0, 0
	for _, s := range sentencesIn(text) {
		all += len(s.said)
		if !asksIn(s.said) {
			continue
		}
		clauses, last := slices.Collect(s.clauses()), len(s.said)
		if n := len(clauses); n > 1 && !s.begins("questions") && last-len(clauses[n-1].said) >= leastTold {
			last = len(clauses[n-1].said)
		}
		asked += last
	}
	return float64(asked) / float64(max(all, 1))
}

// leastTold is the least length in bytes of the clauses before a question that tell something, our
// choice.
const leastTold = 20

// sentencesIn returns the sentences of all paragraphs of a text.
func sentencesIn(text string) (out []sentence) {
	for _, p := range paragraphs(text) {
		out = append(out, sentences(p.text)...)
	}
	return out
}

// singleValue is the only value of its kind in a sentence. neighbours are the words next to it.
type singleValue struct {
	Value
	neighbours []string
}

func outdates(newer, older string) bool {
	if !sharesWord(newer, older) {
		return false
	}
	after := singleValues(newer)
	for _, w := range singleValues(older) {
		for _, v := range after {
			if v.Disagrees(w.Value) && (v.Kind != kindNumber && v.Kind != kindVersion || v.Unit != "" ||
				slices.ContainsFunc(v.neighbours, func(word string) bool { return slices.Contains(w.neighbours, word) })) {
				return true
			}
		}
	}
	return false
}

// singleValues returns the weekdays, times, dates, numbers and versions of a sentence.
func singleValues(said string) (out []singleValue) {
	ts := tokens(said)
	kinds := map[valueKind]int{}
	for i := 0; i < len(ts); {
		v, n := Value{Kind: kindWeekday, Text: strconv.Itoa(int(ts[i].weekday))}, 1
		if ts[i].weekday == 0 {
			v, n = lexiconOf().valueAt(ts[i:])
		}
		switch v.Kind {
		case kindWeekday, kindClock, kindDate, kindNumber, kindVersion:
			kinds[v.Kind]++
			one := singleValue{Value: v}
			if i > 0 {
				one.neighbours = append(one.neighbours, strings.TrimSuffix(ts[i-1].low, "'s"))
			}
			if i+n < len(ts) {
				one.neighbours = append(one.neighbours, ts[i+n].low)
			}
			out = append(out, one)
		}
		i += max(n, 1)
	}
	return slices.DeleteFunc(out, func(v singleValue) bool { return kinds[v.Kind] > 1 })
}
