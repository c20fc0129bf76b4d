package kernel

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/session"
)

var (
	// ErrNoMessages is returned for a request whose conversation is empty.
	ErrNoMessages = ingest.ErrNoMessages
	// ErrAnswered is returned for a request that ends with an assistant message:
	// there is nothing for the model to answer.
	ErrAnswered = ingest.ErrAnswered
)

// TooSmallError is returned when even the least that must be shown does not fit
// between window and reserve. It says by how much, and what is largest.
type TooSmallError = budget.TooSmallError

// ErrPrivate is returned for a shared plan of a conversation that was planned as
// private: what it has been shown must not reach others.
var ErrPrivate = plan.ErrPrivate

// OverflowError is returned where a request was refused again and again although
// each plan was smaller, or where nothing that was refused can be made smaller.
type OverflowError struct {
	// Tries were made; Planned is how large the last plan was by our count, Window
	// what the provider is known to take, both in tokens.
	Tries, Planned, Window int
	// Largest is what takes most of it.
	Largest []LargeItem
}

func (e *OverflowError) Error() string {
	r := plan.RefusedError{Tries: e.Tries, Planned: e.Planned, Window: e.Window}
	for _, it := range e.Largest {
		r.Largest = append(r.Largest, budget.Item(it))
	}
	return r.Error()
}

// ErrNoThinking is returned where a request was refused for its thinking and would hold none.
var ErrNoThinking = plan.ErrNoThinking

// ErrQuestion is returned by [Kernel.Search] for a question longer than [MaxQuestion].
var ErrQuestion = errors.New("the question is too long")

// ErrNoOverflow is returned for a text that is no refusal of a request as too long.
var ErrNoOverflow = plan.ErrNoOverflow

// ErrNoSession is what every [NoSessionError] wraps.
var ErrNoSession = folder.ErrNone

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

// shownRunes bounds how much of a key is shown, in runes.
const shownRunes = 128

// shortKey is a key as an error says it.
func shortKey(key string) string {
	if r := []rune(key); len(r) > shownRunes {
		return string(r[:shownRunes]) + "…"
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
	near, err := folder.Near(state, key)
	if err != nil {
		return err
	}
	return &NoSessionError{Key: key, Near: slices.Clip(near[:min(len(near), NearSessions)]), Count: len(near)}
}

// known refuses a session of which nothing is kept, on disk or, where that can't be
// written to, in memory.
func known(state store.Store, sessions *session.Table, key string) error {
	key = keyOr(key)
	name, err := folder.Of(state, key)
	if err != nil {
		return err
	}
	if there, err := store.Find(folder.In(state, name), ""); there || err != nil {
		return err
	}
	if sessions.Keeps(name) {
		return nil
	}
	return noSession(state, key)
}

// SessionKeys are the keys of the sessions that a store has, in the order of their folders.
// It opens none of them; one that doesn't say whose it is goes by the name of its folder.
func SessionKeys(s Store) ([]string, error) { return folder.Keys(s.State()) }
