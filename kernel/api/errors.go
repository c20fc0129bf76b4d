package api

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/internal/store"
)

var (
	// ErrNoMessages is returned for a request whose conversation is empty.
	ErrNoMessages = errors.New("nothing to plan: the conversation is empty")
	// ErrAnswered is returned for a request that ends with an assistant message:
	// there is nothing for the model to answer.
	ErrAnswered = errors.New("nothing to plan: the conversation ends with an assistant message; add a prompt (Prompt, --prompt) or plan an earlier call")
)

// ErrPrivate is returned for a shared plan of a conversation that was planned as private before.
// Such a conversation has been shown texts that must not reach others.
var ErrPrivate = errors.New("this conversation was planned as private before: plan it as private, or under another session key")

// OverflowError is returned if a request was refused again and again although each plan was
// smaller, or if no part of the refused prompt can be made smaller.
type OverflowError struct {
	// Tries is the number of attempts. Planned is the size of the last plan by our count, in
	// tokens. Window is the provider's known limit, in tokens.
	Tries, Planned, Window int
	// Largest lists the largest items of the prompt.
	Largest []budget.Item
}

func (e *OverflowError) Error() string {
	what := ""
	for i, it := range e.Largest {
		if i > 0 {
			what += ", "
		}
		what += fmt.Sprintf("%s %d", it.Name, it.Tokens)
	}
	return fmt.Sprintf("the provider refused %d requests in a row as too long, the last of about %d tokens for a window of %d (largest: %s); shorten what is largest, name the window that the provider really has (ContextWindow, --context-window), or begin a new session",
		e.Tries, e.Planned, e.Window, what)
}

// ErrNoThinking is returned for a request that was refused for its thinking if the prompt for the
// given messages would hold no thinking.
var ErrNoThinking = errors.New("the provider refused the thinking of earlier turns, and this request would hold none: hand in the refusal with the messages that were refused")

// ErrQuestion is returned by Kernel.Search for a question longer than [MaxQuestion].
var ErrQuestion = errors.New("the question is too long")

// ErrNoOverflow is returned for a text that is not a refusal of a request as too long.
var ErrNoOverflow = errors.New("this is no refusal of a request as too long: hand it in for what it is, or without its text")

// ErrNoSession is the error that every [NoSessionError] wraps.
var ErrNoSession = errors.New("no such session")

// NoSessionError is the error of a call about a session that does not exist. Such a call creates
// no session. A session begins with its first message.
type NoSessionError struct {
	Key string
	// Near holds at most five keys of existing sessions, the most similar to Key first.
	Near []string
	// Count is the number of all sessions.
	Count int
}

func (e *NoSessionError) Error() string {
	return fmt.Sprintf("there is no session %q", shortKey(e.Key))
}

// shownRunes limits the shown part of a key, in runes.
const shownRunes = 128

// shortKey returns a key as an error text shows it.
func shortKey(key string) string {
	if r := []rune(key); len(r) > shownRunes {
		return string(r[:shownRunes]) + "…"
	}
	return key
}

func (e *NoSessionError) Unwrap() error { return ErrNoSession }

// Hint returns a sentence that names the existing sessions. The parameter all is the command that
// lists the rest.
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

// Errors of stored state, with which a session can't be opened.
var (
	// ErrDamaged means that a journal is damaged. Kernel.Salvage continues with its sound part.
	ErrDamaged = store.ErrDamaged
	// ErrNewer means that a newer version of this module wrote the state.
	ErrNewer = store.ErrNewer
)

// ErrClosed is returned by every call on a closed kernel.
var ErrClosed = errors.New("kernel is closed")

// NumberError is returned for a number that is out of range, such as a negative window or a share
// that is not a finite number. Nothing was done.
type NumberError struct {
	// Name is the field's full path, such as ContextWindow, Overflow.Limit or
	// Memory.Ranking.Floor. Value is the rejected value. Want describes the permitted values.
	Name, Value, Want string
}

func (e *NumberError) Error() string {
	return fmt.Sprintf("%s is %s; it has to be %s", e.Name, e.Value, e.Want)
}

const (
	wantTokens = "a number of tokens, or 0 where it is not known"
	wantShare  = "a share between 0 and 1"
)

// notBelow returns an error if n is below least.
func notBelow[T cmp.Ordered](name string, n, least T, want string) error {
	if n >= least {
		return nil
	}
	return &NumberError{name, fmt.Sprint(n), want}
}
