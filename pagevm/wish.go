package pagevm

import "time"

// CutReason is the reason for a cut. Next treats all reasons but the following ones alike.
type CutReason string

const (
	// CutCold: the provider's cache has expired, so a change costs nothing.
	CutCold CutReason = "cold"
	// CutForced: without a cut the prompt would exceed the window minus the reserve, or the size
	// at which a higher price begins.
	CutForced CutReason = "forced"
	// CutDemand: the host requested the cut.
	CutDemand CutReason = "demand"
	// CutThinking: the provider refused the thinking that the prompt holds. The cut takes the
	// thinking out, and no message leaves.
	CutThinking CutReason = "thinking_refused"
)

// Wishes holds everything that other components may request of the next projection.
type Wishes struct {
	// Cut is the requested cut. If it is nil, the projection only grows.
	Cut *CutWish `json:"cut,omitempty"`
	// Carry is the carry block that the prompt shows from the next cut on.
	Carry []Block `json:"carry,omitempty"`
	// CarryNow shows Carry without a cut, from the first plan on or after the host replaced the
	// prompt's content. The host does so by a summary of its own, or by another conversation.
	CarryNow bool `json:"carry_now,omitempty"`
	// Drop names the notes that the carry block of a cut replaces with better ones. The cut
	// removes them.
	Drop map[string]bool `json:"drop,omitempty"`
	// Append are kernel blocks to put after the newest host message.
	Append []Block `json:"append,omitempty"`
	// Ahead is the number of last host messages, all of them new, that follow the kernel blocks. A
	// system message that ends a request belongs to the user's turn, and no block may separate it
	// from the answer.
	Ahead int `json:"ahead,omitempty"`
	// Recall is the result of retrieval, if it ran. Its block must be among Append.
	Recall *Recall `json:"recall,omitempty"`
}

// CutWish requests one cut.
type CutWish struct {
	Reason CutReason `json:"reason,omitempty"`
	// Levels is the wished level of each page, by the page's id. A page that is not named keeps
	// its level.
	Levels map[string]Level `json:"levels"`
	// Leave names the atoms that should leave.
	Leave map[int]bool `json:"leave"`
	// Compacted: the carry block begins with a provider's compaction of the messages that leave.
	// The compaction also holds content that only the provider understands.
	Compacted bool `json:"compacted,omitempty"`
	// CarryOnly: a new carry block is reason enough for a cut, even if every message stays.
	CarryOnly bool `json:"carry_only,omitempty"`
}

// Block is a text that the kernel adds to the prompt: a page without a position in the host's
// conversation.
type Block struct {
	Kind ItemKind `json:"kind"`
	Page string   `json:"page"`
	// Level is the level at which the page is shown.
	Level  Level  `json:"level"`
	Hash   string `json:"hash"`
	Tokens int    `json:"tokens"`
}

// Cache is the state of the provider's cache and of the budget that Next must know.
type Cache struct {
	// Cold: the provider's cache holds nothing of the prompt any more.
	Cold bool `json:"cold,omitempty"`
	// Event names the cold event, so that at most one cut uses it.
	Event string `json:"event,omitempty"`
	// Forced: without a cut the prompt would exceed its hard limit.
	Forced bool `json:"forced,omitempty"`
	// Resolver: the model can follow pointers.
	Resolver bool `json:"resolver,omitempty"`
	// LeaveThinking: a cut leaves the thinking of settled messages out.
	LeaveThinking bool `json:"leave_thinking,omitempty"`
	// StripThinking: thinking blocks are bound to their prefix and the provider is not told to
	// drop invalid ones, so a cut takes them out of all remaining messages.
	StripThinking bool `json:"strip_thinking,omitempty"`
	// Now is the time of the cut.
	Now time.Time `json:"now,omitzero"`
}

// Refusal is a wish, or a part of a wish, that the rules did not allow.
type Refusal struct {
	// Page is the id of the page that the wish was about. It is "" if the wish was not about a
	// page.
	Page string `json:"page,omitempty"`
	// Atom is the number of the atom that the wish was about. It is -1 if the wish was not about an
	// atom. A refusal without page and atom is about the whole cut.
	Atom int    `json:"atom"`
	Rule string `json:"rule"`
}

// Decision describes the choices of Next.
type Decision struct {
	Rewrite Rewrite `json:"rewrite,omitempty"`
	// Cut is nil if the projection only grew.
	Cut *CutPoint `json:"cut,omitempty"`
	// Kept is the number of leading items, the carry block included, whose bytes are the same as in
	// the previous projection.
	Kept int `json:"kept"`
	// Refused lists the wishes that were not granted.
	Refused []Refusal `json:"refused,omitempty"`
}
