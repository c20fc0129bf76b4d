package kernel

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/folder"
)

// ErrNoSession is what every [NoSessionError] wraps.
var ErrNoSession = errors.New("no such session")

// NoSessionError is the error of a call about a session of which nothing is kept. Nothing
// is made for such a call: a session begins with what is said in it.
type NoSessionError struct {
	Key string
	// Near are keys of sessions that there are, those most like Key first, at most
	// NearSessions; Count is how many there are in all.
	Near  []string
	Count int
}

// NearSessions is how many sessions an error names.
const NearSessions = 5

func (e *NoSessionError) Error() string {
	return fmt.Sprintf("there is no session %q", shortKey(e.Key))
}

// shortKey is a key as an error says it.
func shortKey(key string) string {
	if r := []rune(key); len(r) > alikeRunes {
		return string(r[:alikeRunes]) + "…"
	}
	return key
}

func (e *NoSessionError) Unwrap() error { return ErrNoSession }

// Hint says in words what there is instead; all is how to list the rest of it.
func (e *NoSessionError) Hint(all string) string {
	switch {
	case e.Count == 0:
		return "no session is kept here yet: check the workspace and the state directory"
	case e.Count == 1:
		return fmt.Sprintf("there is one: %q; %s", shortKey(e.Near[0]), all)
	}
	var names []string
	for _, n := range e.Near {
		names = append(names, fmt.Sprintf("%q", shortKey(n)))
	}
	return fmt.Sprintf("there are %d, the most alike first: %s; %s", e.Count, strings.Join(names, ", "), all)
}

// noSession is the error for a key.
func noSession(state store.Store, key string) error {
	e := &NoSessionError{Key: key}
	folders, err := folder.All(state)
	if err != nil {
		return err
	}
	for _, f := range folders {
		of, err := folder.KeyIn(state, f)
		if err != nil {
			of = f // check and status name it so, too
		}
		e.Near = append(e.Near, of)
	}
	e.Count = len(e.Near)
	away := map[string]int{}
	for _, n := range e.Near {
		away[n] = distance(key, n)
	}
	slices.SortStableFunc(e.Near, func(a, b string) int { return cmp.Or(cmp.Compare(away[a], away[b]), strings.Compare(a, b)) })
	e.Near = slices.Clip(e.Near[:min(len(e.Near), NearSessions)])
	return e
}

// known refuses a session of which nothing is kept, on disk or, where that can't be
// written to, in memory.
func (k *Kernel) known(key string) error {
	key = keyOr(key)
	name, err := folder.Of(k.state, key)
	if err != nil || store.Exists(folder.In(k.state, name), "") {
		return err
	}
	if k.sessions.Keeps(name) {
		return nil
	}
	return noSession(k.state, key)
}

// alikeRunes bounds how much of a key is compared and shown, in runes.
const alikeRunes = 128

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
