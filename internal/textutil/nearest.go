package textutil

import "strings"

// maxRunes is the number of characters of a word that are compared. Distance adds the difference in
// length of the rest.
const maxRunes = 128

// Distance returns the least number of edits that turn a into b. An edit adds, drops or changes a
// letter, or swaps two neighbours. Case makes no difference.
func Distance(a, b string) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	rest := max(len(x), maxRunes) - max(len(y), maxRunes)
	x, y = x[:min(len(x), maxRunes)], y[:min(len(y), maxRunes)]
	var before []int // the row before the last one
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range x {
		next := make([]int, len(y)+1)
		next[0] = i + 1
		for j, s := range y {
			change := row[j]
			if r != s {
				change++
			}
			next[j+1] = min(change, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && r == y[j-1] && x[i-1] == s {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(y)] + max(rest, -rest)
}

// Nearest returns at most three of words that a mistyped word probably means. The nearest words
// within a third of its length come first, and then the words that begin with it.
func Nearest(typed string, words []string) []string {
	best := (len([]rune(typed)) + 1) / 3
	var near, begin []string
	for _, w := range words {
		d := Distance(typed, w)
		if d < best {
			best, near = d, nil
		}
		if d == best && typed != "" {
			near = append(near, w)
		} else if typed != "" && strings.HasPrefix(strings.ToLower(w), strings.ToLower(typed)) {
			begin = append(begin, w)
		}
	}
	near = append(near, begin...)
	return near[:min(len(near), 3)]
}
