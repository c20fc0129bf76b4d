package paging

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
)

// Pin is how firmly a page is held in the prompt.
type Pin string

// The three pin classes. A soft pin only raises the score; a hard pin is an
// invariant.
const (
	PinNone Pin = "none"
	PinSoft Pin = "soft"
	PinHard Pin = "hard"
)

// Tokens is the cost of each representation of a page; 0 means that the page does not have it.
// Levels outside the type's degradation path are not used.
type Tokens struct {
	Full       int `json:"full"`
	Compressed int `json:"compressed"`
	Structured int `json:"structured"`
	Pointer    int `json:"pointer"`
}

// At returns the cost of one level, 0 for Gone.
func (t Tokens) At(l pagevm.Level) int {
	switch l {
	case pagevm.Full:
		return t.Full
	case pagevm.Compressed:
		return t.Compressed
	case pagevm.Structured:
		return t.Structured
	case pagevm.Pointer:
		return t.Pointer
	}
	return 0
}

// Provenance describes where a page comes from.
type Provenance struct {
	// Call is the canonical tool call.
	Call string `json:"call,omitempty"`
	// Span is the transcript span.
	Span string `json:"span,omitempty"`
	// From are the pages that the page was derived from.
	From []string `json:"from,omitempty"`
}

// Page is the owner's description of a page in the page table.
type Page struct {
	ID   string      `json:"id"`
	Type pagevm.Type `json:"type"`
	// Scope is session-private or project-shared. A shared page is in every session.
	Scope memkernel.Scope `json:"scope"`
	// Session is the owner of a private page.
	Session    string     `json:"session,omitempty"`
	Provenance Provenance `json:"provenance,omitzero"`
	Pin        Pin        `json:"pin"`
	// Version rises with every change of the content.
	Version int    `json:"version"`
	Tokens  Tokens `json:"tokens"`
	// RecomputeCost is the cost of making the page again. 1 is the cost of an ordinary tool call.
	RecomputeCost float64 `json:"recompute_cost"`
	// Supersedes is the id of a page that this one makes stale.
	Supersedes string `json:"supersedes,omitempty"`
	// Group is the name of the page's group. At most one page of a group is raised above its
	// floor.
	Group string `json:"group,omitempty"`
}

// These errors are wrapped by the errors of Add, Update, Remove and Step.
var (
	errUnknownPage = errors.New("no such page")
	errPageExists  = errors.New("the page exists")
	errScope       = errors.New("the page belongs to another session")
	errOrder       = errors.New("out of order")
)

// maxTokens is the largest cost of a representation. It keeps sums far from overflow.
const maxTokens = 1 << 30

// types in the order of Table 1.
var types = []pagevm.Type{pagevm.Bootstrap, pagevm.Constraint, pagevm.Plan, pagevm.Preference, pagevm.Evidence, pagevm.Conversation}

// Check returns an error if a page is invalid.
func (p *Page) Check() error {
	switch {
	case p.ID == "":
		return errors.New("page without id: give it a stable one")
	case !slices.Contains(types, p.Type):
		return fmt.Errorf("page %q: unknown type %q, use one of %v", p.ID, p.Type, types)
	case p.Pin != PinNone && p.Pin != PinSoft && p.Pin != PinHard:
		return fmt.Errorf("page %q: unknown pin %q, use none, soft or hard", p.ID, p.Pin)
	case p.Scope != memkernel.ScopeSession && p.Scope != memkernel.ScopeProject:
		return fmt.Errorf("page %q: unknown scope %q, use session or project", p.ID, p.Scope)
	case p.Scope == memkernel.ScopeSession && p.Session == "":
		return fmt.Errorf("page %q is private and names no session: name one, or share it with scope project", p.ID)
	case p.Version < 0:
		return fmt.Errorf("page %q: version %d is negative", p.ID, p.Version)
	case math.IsNaN(p.RecomputeCost) || math.IsInf(p.RecomputeCost, 0) || p.RecomputeCost < 0:
		return fmt.Errorf("page %q: recompute cost %v is no cost, give a number from 0", p.ID, p.RecomputeCost)
	case p.Supersedes == p.ID || slices.Contains(p.Provenance.From, p.ID):
		return fmt.Errorf("page %q: cyclic provenance, it comes from itself", p.ID)
	}
	return p.checkTokens()
}

func (p *Page) checkTokens() error {
	if p.Tokens.Full <= 0 {
		return fmt.Errorf("page %q: full costs %d tokens, want at least 1", p.ID, p.Tokens.Full)
	}
	above, cost := pagevm.Full, p.Tokens.Full
	for _, l := range []pagevm.Level{pagevm.Full, pagevm.Compressed, pagevm.Structured, pagevm.Pointer} {
		n := p.Tokens.At(l)
		switch {
		case n < 0 || n > maxTokens:
			return fmt.Errorf("page %q: %v costs %d tokens, want 0 to %d", p.ID, l, n, maxTokens)
		case n == 0:
		case n > cost:
			return fmt.Errorf("page %q is over its own budget: %v costs %d tokens, %v only %d; leave %v out (0)", p.ID, l, n, above, cost, l)
		default:
			above, cost = l, n
		}
	}
	return nil
}

// Floor returns the lowest level at which the page may be shown while it is held (Table 1):
// structured for bootstrap, constraint and plan, and the handle for all others. If the page lacks
// that level, Floor returns the next better level of the page.
func (p *Page) Floor() pagevm.Level {
	want := pagevm.Floor(p.Type, true)
	if p.Type == pagevm.Plan {
		want = pagevm.Structured
	}
	return p.has(want)
}

// lowest returns the cheapest level on the page's degradation path.
func (p *Page) lowest() pagevm.Level { return p.has(pagevm.Pointer) }

// has returns the page's lowest level that is not below l.
func (p *Page) has(l pagevm.Level) pagevm.Level {
	low := pagevm.Full
	for _, at := range pagevm.Path(p.Type) {
		if at >= l && p.Tokens.At(at) > 0 {
			low = at
		}
	}
	return low
}

// visible reports whether a session may name the page.
func (p *Page) visible(session string) bool {
	return p.Scope == memkernel.ScopeProject || p.Session == session
}
