// Package branch holds the state of a conversation. A conversation is a branch of a session as
// one model is shown the branch. A state never changes after it was made. A plan makes the next
// state, which shares the unchanged parts. The package encodes and decodes states. It reads and
// writes no file, and decides nothing.
package branch

import (
	"maps"
	"math"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/summary"
	"github.com/memkernel/memkernel/transcript"
)

// Key names a conversation of a session.
type Key struct{ Branch, Model string }

// State is the state of one conversation, which is a branch of a session as shown to one model.
type State struct {
	Branch, Model string
	Proj          *pagevm.Projection
	Ledger        cachelayout.Ledger
	carried
	sent
	// Plan is the newest plan. Billed is the newest plan whose bill was recorded.
	Plan, Billed string
	// Raw is the host's conversation as the host sent it. Msgs is the conversation after it was
	// made valid. On a state read from disk, Raw, Msgs, Hosts and Places are empty until the
	// first request.
	Raw, Msgs []memkernel.Message
	Hosts     []pagevm.HostMessage
	Places    []pagevm.Place
	// Adopted maps the key of a prompt to the host's key of the message that the prompt became.
	Adopted map[string]string
	// Removed are the parts that were removed to make the messages valid.
	Removed []api.Excluded
	// Calls finds a tool call by its id.
	Calls map[string]*toolcall.Call
	// Summary is the state of the mechanical summary.
	Summary summary.State
	// Spans are the messages that have left.
	Spans []Span
	// System is the system prompt of the last call. Only the process that saw the call knows it.
	System []memkernel.Part
	// Tools are the tools of the last call. Only the process that saw the call knows them.
	Tools []memkernel.Tool
	// Ran are the calls that ran, so that equal calls are recognised.
	Ran Ran
	// Fitted are the pages that are shown by a text of a special size, because they were larger
	// than the free room.
	Fitted map[string]bool
	// Settled is the state that the messages' levels were last compared with.
	Settled Settled

	// restored is the newest record of a state that is being read from disk.
	restored *Record
}

// Settled identifies the state on which the levels of sent messages depend. Generation is the
// generation of the projection. Releveled counts how often pages of the session got other
// representations.
type Settled struct{ Generation, Releveled int }

// New returns the state of a new conversation.
func New(session, branch, model string) *State {
	return &State{
		Branch: branch, Model: model,
		Proj:  &pagevm.Projection{Version: pagevm.ProjectionVersion, Session: session, Branch: branch, Model: model},
		Calls: map[string]*toolcall.Call{},
	}
}

// LastCall returns the last call without its messages.
func (s *State) LastCall() Call {
	if s.Call == nil {
		return Call{}
	}
	return *s.Call
}

// Whole returns the size of the newest plan's input, as well as it is known.
func (s *State) Whole() int {
	if s.Full > 0 {
		return s.Full
	}
	return s.Planned + s.LedgerFixed()
}

// LedgerFixed returns the size of tools and system prompt in the last request.
func (s *State) LedgerFixed() int {
	fixed := len(s.Ledger.Chain) - len(s.Proj.Carry) - len(s.Proj.Items)
	if fixed <= 0 || fixed > len(s.Ledger.Chain) {
		return 0
	}
	return s.Ledger.Chain[fixed-1].Tokens
}

// FixedTokens returns the size of tools and system prompt in the last call.
func (s *State) FixedTokens() int {
	c := s.LastCall()
	return c.ToolTokens + c.SystemTokens
}

// Scale returns the ratio of real to counted tokens at which requests were refused, 1 if no
// request was refused.
func (r *Refusals) Scale() float64 { return math.Max(1, r.Ratio) }

// Span is a run of messages that left the prompt at a cut.
type Span struct {
	// ID is the id of the span's page. Kernel.Get restores the messages by it.
	ID string `json:"id"`
	// Keys are the keys of the host's messages.
	Keys []string `json:"keys"`
	// Pages are the pages of these messages, in order.
	Pages []string `json:"pages"`
	// From and To are the host's times of the first and the last message.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// Tokens is the full size of the messages.
	Tokens int `json:"tokens"`
	// Level is the level of the span.
	Level pagevm.Level `json:"level"`
	// Text is the text that is shown for the span.
	Text string `json:"text"`
}

// Call is the part of a call that is stored in addition to the messages. A compaction needs it to
// know the call that it makes room for.
type Call struct {
	ContextWindow int                 `json:"context_window,omitempty"`
	Reserve       int                 `json:"reserve,omitempty"`
	FixedTokens   int                 `json:"fixed_tokens,omitempty"`
	Resolver      string              `json:"resolver,omitempty"`
	ToolChoice    string              `json:"tool_choice,omitempty"`
	Thinking      string              `json:"thinking,omitempty"`
	Effort        string              `json:"effort,omitempty"`
	DropOption    bool                `json:"drop_option,omitempty"`
	Format        transcript.Format   `json:"format,omitempty"`
	TTL           time.Duration       `json:"ttl,omitempty"`
	Economy       cachelayout.Economy `json:"economy,omitempty"`
	// ToolTokens and SystemTokens are the sizes of tools and system prompt in the plan. The
	// hashes identify their texts, which only the host has.
	ToolTokens   int    `json:"tool_tokens,omitempty"`
	SystemTokens int    `json:"system_tokens,omitempty"`
	ToolHash     string `json:"tool_hash,omitempty"`
	SystemHash   string `json:"system_hash,omitempty"`
}

// Anchor ties a real prompt size to a state of the projection.
type Anchor struct {
	// Total is the measured input. Items and Carry name the parts of the projection that Total
	// covers. Generation is the generation of the projection. Fixed is the fixed part of the
	// request.
	Total      int `json:"total"`
	Carry      int `json:"carry"`
	Items      int `json:"items"`
	Generation int `json:"generation"`
	Fixed      int `json:"fixed"`
}

// Refusals are the limits that a conversation has learned from refusals.
type Refusals struct {
	// Tries counts the refusals in a row.
	Tries int `json:"tries,omitempty"`
	// Window is the limit that the provider named, 0 if it named no limit.
	Window int `json:"window,omitempty"`
	// Reserve is the part of Window that must stay free for the answer.
	Reserve int `json:"reserve,omitempty"`
	// Ratio is the least number of real tokens for a counted token.
	Ratio float64 `json:"ratio,omitempty"`
	// Hidden is the number of tokens that the provider counts and that the host does not show the
	// kernel.
	Hidden int `json:"hidden,omitempty"`
	// Last is the size that the newest refusal named. The kernel recognises a repeated refusal by
	// this size.
	Last int `json:"last,omitempty"`
}

// tighter is the factor by which every further refusal in a row lowers the limit.
const tighter = 0.9

// Tightened returns the limit after r.Tries refusals in a row.
func (r *Refusals) Tightened(hard, fixed int) int {
	for range r.Tries - 1 {
		hard = fixed + int(float64(hard-fixed)*tighter)
	}
	return hard
}

// Billed corrects limits that refusals made too strict. It uses a bill of actual tokens for a
// prompt of counted tokens.
func (r Refusals) Billed(counted, actual int) Refusals {
	r.Tries = 0
	if counted > 0 && r.Ratio > 0 {
		if real := float64(actual) / float64(counted); real < r.Ratio {
			r.Ratio = math.Max(1, real)
		}
	}
	return r
}

// Breaker counts the cuts that reclaimed next to nothing.
type Breaker struct {
	// Futile counts such cuts in a row.
	Futile int `json:"futile,omitempty"`
	// Size is the size of the conversation after the newest of these cuts, in calibrated tokens.
	Size int `json:"size,omitempty"`
	// Turn is the user turn of the newest of these cuts.
	Turn int `json:"turn,omitempty"`
}

// Ran holds the calls that a conversation has seen. Its maps are never changed; see [Ran.Clone].
type Ran struct {
	// Last is the newest result of each call, by the hash of the call's canonical form.
	Last map[string]Run
	// Acts holds the last call that changed something, by the thing that the call may have
	// changed.
	Acts map[string]int
	// About is the newest look at a path.
	About map[string]About
	// Calls counts the calls. Messages counts the messages that hold these calls.
	Calls, Messages int
}

// Clone returns a copy that the caller may change.
func (r Ran) Clone() Ran {
	if r.Last == nil {
		r.Last, r.Acts, r.About = map[string]Run{}, map[string]int{}, map[string]About{}
		return r
	}
	r.Last, r.Acts, r.About = maps.Clone(r.Last), maps.Clone(r.Acts), maps.Clone(r.About)
	return r
}

// About is the newest page about a path, and the message that shows the page.
type About struct {
	Page string
	At   int
}

// Run is the newest result of a call. It holds the result's page, the hash of its content, and
// the numbers of its call and message. It also records whether the call ever returned something
// else.
type Run struct {
	Page, Said string
	Call, At   int
	Moved      bool
}
