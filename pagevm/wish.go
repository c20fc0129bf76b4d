package pagevm

import "time"

// CutReason is why a cut is wished.
type CutReason string

const (
	// CutHighWater: the prompt reached its high-water mark.
	CutHighWater CutReason = "high_water"
	// CutCold: the provider's cache has expired, so a change costs nothing.
	CutCold CutReason = "cold"
	// CutForced: the prompt would exceed window minus reserve, or a price cliff.
	CutForced CutReason = "forced"
	// CutPayback: a voluntary change whose savings repay the rewritten tokens.
	CutPayback CutReason = "payback"
	// CutDemand: the host asked for it.
	CutDemand CutReason = "demand"
	// CutThinking: the provider refused the thinking that the prompt holds. It is taken out,
	// and nothing leaves.
	CutThinking CutReason = "thinking_refused"
)

// Wishes is everything that others may ask of the next projection.
type Wishes struct {
	// Cut is nil to grow only.
	Cut *CutWish `json:"cut,omitempty"`
	// Carry is the carry block as it should be from the next cut on; if CarryNow it is shown from
	// the first plan (some page has no source position), or from here on if the host replaced the
	// prompt's content (by a summary of its own, or by another conversation).
	Carry    []Block `json:"carry,omitempty"`
	CarryNow bool    `json:"carry_now,omitempty"`
	// Drop are notes that the carry block of a cut replaces with better ones: they go with the cut.
	Drop map[string]bool `json:"drop,omitempty"`
	// Append are kernel blocks to put after the newest host message.
	Append []Block `json:"append,omitempty"`
	// Ahead is how many of the new host messages at the end the kernel blocks precede. A system
	// message that ends a request belongs to the user's turn, and nothing must part it from the
	// answer.
	Ahead int `json:"ahead,omitempty"`
	// Recall is the result of retrieval, if it ran. Its block must be among Append.
	Recall *Recall `json:"recall,omitempty"`
}

// CutWish asks for one batch cut.
type CutWish struct {
	Reason CutReason `json:"reason,omitempty"`
	// Levels asks for a level per page; a page not named keeps its level.
	Levels map[string]Level `json:"levels"`
	// Leave names the atoms that should leave.
	Leave map[int]bool `json:"leave"`
	// Compacted: the carry block begins with a provider's compaction of the messages that leave.
	// It also holds content that only the provider understands.
	Compacted bool `json:"compacted,omitempty"`
	// CarryOnly: a new carry block is reason enough, though every message stays.
	CarryOnly bool `json:"carry_only,omitempty"`
}

// Block is text of the kernel's own: a page without a source position.
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
	// Cold: nothing of the prompt is cached any more. Event names this cold
	// event, so that it is used at most once.
	Cold  bool   `json:"cold,omitempty"`
	Event string `json:"event,omitempty"`
	// Forced: the prompt as it would grow exceeds its hard limit.
	Forced bool `json:"forced,omitempty"`
	// Resolver: the model can follow pointers.
	Resolver bool `json:"resolver,omitempty"`
	// StripThinking: thinking blocks are bound to their prefix and the provider is not told to
	// drop invalid ones, so a cut takes them out of all remaining messages.
	StripThinking bool `json:"strip_thinking,omitempty"`
	// Now stamps the cut.
	Now time.Time `json:"now,omitzero"`
}

// Refusal is a wish, or a part of one, that the rules did not allow.
type Refusal struct {
	// Page or Atom is the subject of the wish: "" and -1 for the cut itself.
	Page string `json:"page,omitempty"`
	Atom int    `json:"atom"`
	Rule string `json:"rule"`
}

// Decision describes the choices of Next.
type Decision struct {
	Rewrite Rewrite `json:"rewrite,omitempty"`
	// Cut is nil if the projection only grew.
	Cut *CutPoint `json:"cut,omitempty"`
	// Kept is the number of leading items, the carry block included, whose bytes
	// are those of the projection before.
	Kept int `json:"kept"`
	// Refused lists the wishes that were not granted.
	Refused []Refusal `json:"refused,omitempty"`
}
