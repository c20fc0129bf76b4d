package folder

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/store"
)

// alikeRunes bounds how much of a key is compared, in runes.
const alikeRunes = 128

// Near are the keys of all sessions, those most like a key first.
func Near(state store.Store, key string) ([]string, error) {
	folders, err := All(state)
	if err != nil {
		return nil, err
	}
	var keys []string
	away := map[string]int{}
	for _, f := range folders {
		of, err := KeyIn(state, f)
		if err != nil {
			of = f // check and status name it so, too
		}
		keys = append(keys, of)
		away[of] = distance(key, of)
	}
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(away[a], away[b]), strings.Compare(a, b)) })
	return keys, nil
}

// distance is how many letters make two keys differ, none where one is in the other.
// Case makes no difference.
func distance(a, b string) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	x, y = x[:min(len(x), alikeRunes)], y[:min(len(y), alikeRunes)]
	if len(x) > 0 && strings.Contains(string(y), string(x)) || len(y) > 0 && strings.Contains(string(x), string(y)) {
		return 0
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range x {
		before := row[0]
		row[0] = i + 1
		for j, s := range y {
			change := before
			if r != s {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)]
}
