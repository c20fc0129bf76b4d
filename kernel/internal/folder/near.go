package folder

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/textutil"
)

// Near returns the keys of all sessions. The keys most like key come first.
func Near(state store.Store, key string) ([]string, error) {
	keys, err := Keys(state)
	if err != nil {
		return nil, err
	}
	away := map[string]int{}
	for _, k := range keys {
		away[k] = distance(key, k)
	}
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(away[a], away[b]), strings.Compare(a, b)) })
	return keys, nil
}

// Keys returns the keys of all sessions, in the order of their folders. A session without a known
// key has the name of its folder, as in check and status.
func Keys(state store.Store) (keys []string, err error) {
	folders, err := All(state)
	for _, f := range folders {
		key, err := KeyIn(state, f)
		if err != nil {
			key = f
		}
		keys = append(keys, key)
	}
	return keys, err
}

// distance returns the number of letters in which two keys differ, or 0 if one key contains the
// other. It ignores case.
func distance(a, b string) int {
	x, y := strings.ToLower(a), strings.ToLower(b)
	if x != "" && strings.Contains(y, x) || y != "" && strings.Contains(x, y) {
		return 0
	}
	return textutil.Distance(x, y)
}
