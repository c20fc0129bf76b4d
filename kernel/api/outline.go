package api

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/retrieval"
)

// Params are request settings that a plan requires.
type Params struct {
	// ThinkingOff reports that thinking must be off for this call, because the open tool loop lost
	// the thinking blocks that the provider would require. The provider requires them with a
	// thinking budget ("enabled"), but not with adaptive thinking, which some models can't turn
	// off.
	ThinkingOff bool `json:"thinking_off"`
	// DropOption tells the host to send thinking.block_binding.prefix_mismatch_behavior
	// "drop_block" with the beta header in Betas.
	DropOption bool     `json:"drop_option"`
	Betas      []string `json:"betas"`
	// CacheKey is a stable key for providers that route requests by a key.
	CacheKey string `json:"cache_key,omitempty"`
}

// Retrieval is the outcome of recall for the newest user turn.
type Retrieval struct {
	// Reason is a reason of package retrieval.
	Reason string `json:"reason"`
	// Mode is a mode of package retrieval.
	Mode string `json:"mode"`
	// Detail is why recall found nothing, or less than it could.
	Detail string `json:"detail,omitempty"`
	// Page is the block that shows recalled memory, "" if nothing was recalled.
	Page string `json:"page,omitempty"`
	// Items is the number of items in the block.
	Items int `json:"items"`
	// Tokens is the size of the block.
	Tokens int `json:"tokens"`
	// Citations are the sources of the items.
	Citations []string `json:"citations"`
	// Origins names the system that each citation comes from; "" is the kernel's own memory. It
	// is nil if all citations come from the kernel's own memory.
	Origins []string `json:"origins,omitempty"`
	// Withheld are the parts of memory that were not searched because the session is shared.
	Withheld []retrieval.Withheld `json:"withheld,omitempty"`
}

// Layout describes a plan's use of the provider's cache.
type Layout struct {
	// Breakpoints are the cache markers, in prompt order.
	Breakpoints []Breakpoint `json:"breakpoints"`
	// Change is the first difference from the last request.
	Change cachelayout.Change `json:"change"`
	// Bill estimates the tokens that the call reads and writes, and their cost.
	Bill cachelayout.Bill `json:"bill"`
	// Cold reports whether the cache holds none of the messages.
	Cold bool `json:"cold"`
	// Clock is the clock by which Cold was decided.
	Clock string `json:"clock"`
	// Cut is the cut planner's answer with its figures.
	Cut cachelayout.Cut `json:"cut"`
	// Made is the cut that the projection granted, nil if it granted no cut.
	Made *pagevm.CutPoint `json:"made"`
	// Refused are the wishes for cuts that the rules did not allow.
	Refused []pagevm.Refusal `json:"refused"`
	// Cuts are all cuts of this projection so far.
	Cuts []pagevm.CutPoint `json:"cuts"`
	// Notes name the limits of the model's cache that this layout meets.
	Notes []string `json:"notes"`
	// Reasoning counts the model's reasoning that the plan loses.
	Reasoning cachelayout.Reasoning `json:"reasoning"`
	// Reported is the provider's report on the last request that was billed, nil if there is no
	// report.
	Reported  *memkernel.Reported `json:"reported"`
	Lifetimes Lifetimes           `json:"lifetimes"`
	Pace      Pace                `json:"pace"`
}

// Breakpoint is a cache marker.
type Breakpoint struct {
	// Block is an index into the blocks of the request. Message is an index into its messages. A
	// Message of -1 is the system prompt, and -2 is the tools.
	Block   int    `json:"block"`
	Message int    `json:"message"`
	Region  string `json:"region"`
	// Why is one of the Why constants of package cachelayout.
	Why        string `json:"why"`
	TTLSeconds int    `json:"ttl_seconds"`
	// CumulativeTokens is the size of the prompt up to and including the block.
	CumulativeTokens int `json:"cumulative_tokens"`
}

// Lifetimes are the cache lifetimes that the breakpoints request, with the reasons. Tools and
// system prompt have one lifetime, and the messages have another.
type Lifetimes struct {
	FixedSeconds    int    `json:"fixed_seconds"`
	FixedWhy        string `json:"fixed_why"`
	MessagesSeconds int    `json:"messages_seconds"`
	MessagesWhy     string `json:"messages_why"`
}

// Pace describes the gaps between the calls of a session, including the planned one.
type Pace struct {
	Calls int `json:"calls"`
	// IdleSeconds are the gaps of a minute and more, oldest first.
	IdleSeconds []int `json:"idle_seconds"`
}

// Budgets is the arithmetic of a plan, in tokens.
type Budgets struct {
	// ContextWindow is the size of the window, 0 if it is not known. Without a window nothing is
	// cut, and MarginTokens and Utilization are 0.
	ContextWindow int        `json:"context_window"`
	WindowFrom    WindowFrom `json:"window_from"`
	// ReserveTokens is the number of tokens that are kept free for the answer.
	ReserveTokens int `json:"reserve_tokens"`
	// PlannedInputTokens is the whole prompt.
	PlannedInputTokens      int `json:"planned_input_tokens"`
	PlannedCacheReadTokens  int `json:"planned_cache_read_tokens"`
	PlannedCacheWriteTokens int `json:"planned_cache_write_tokens"`
	PlannedUncachedTokens   int `json:"planned_uncached_tokens"`
	// PlannedCostUSD is the cost of the input.
	PlannedCostUSD *float64 `json:"planned_cost_usd"`
	// TokensAre is how far the counts can be trusted.
	TokensAre budget.Kind `json:"tokens_are"`
	// MarginTokens is the room that was kept free for the error of the counts.
	MarginTokens int `json:"margin_tokens"`
	// Utilization is the size of the call before any cut, divided by the window.
	Utilization float64 `json:"utilization"`
}

// AnswerTokens returns the longest answer to ask for, in tokens: the reserve, or more if the prompt
// leaves the room.
func (b *Budgets) AnswerTokens() int {
	return max(b.ReserveTokens, min(budget.Reserve(b.ContextWindow, 0, 0), b.ContextWindow-b.MarginTokens-b.PlannedInputTokens))
}

// WindowFrom is the source of a plan's window.
type WindowFrom string

// The sources of a window, in the order in which they are tried.
const (
	WindowRequest WindowFrom = "request" // ContextWindow
	WindowPrices  WindowFrom = "prices"  // the price book
	WindowServer  WindowFrom = "server"  // the list of models of the model's server
	WindowRefusal WindowFrom = "refusal" // a provider's refusal of a prompt as too long
	WindowUnknown WindowFrom = "unknown"
)

// Region is a part of the prompt and its size.
type Region struct {
	// Name is one of the Region constants of package cachelayout.
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// Debug lists every page with its outcome.
type Debug struct {
	Included []Included `json:"included"`
	Excluded []Excluded `json:"excluded"`
}

// Included is a page that the prompt shows.
type Included struct {
	// Kind is tools, system, conversation, evidence, retrieval, carry, or the page type of
	// a file of the workspace.
	Kind string `json:"kind"`
	// ID is the argument for memkernel get.
	ID     string `json:"id"`
	Tokens int    `json:"tokens"`
	// Level is full, compressed, structured or pointer.
	Level pagevm.Level `json:"level"`
	// FullTokens is the size of the page in full. It differs from Tokens for degraded pages only.
	FullTokens int    `json:"full_tokens"`
	Note       string `json:"note,omitempty"`
}

// Excluded is a page, or a part of a page, that the prompt does not show.
type Excluded struct {
	Kind   string `json:"kind"`
	ID     string `json:"id"`
	Tokens int    `json:"tokens"`
	// Reason is the reason why the page is not shown. For a hit it is shown_already, duplicate,
	// over_items, over_budget or empty. For a record of another system it may also be DENIED,
	// DISABLED or turn_recalled. DENIED means that the record is private and the session shared.
	// The reason turn_recalled means that the record came after the recall.
	Reason string `json:"reason"`
}

// Reduced is a page of the conversation that the prompt does not show in full.
type Reduced struct {
	// Page is the page's id.
	Page string `json:"page"`
	// Key is the host's message.
	Key string `json:"key"`
	// CallID is the tool call.
	CallID string `json:"call_id,omitempty"`
	// Level is the level at which the page is shown, gone if it left the prompt.
	Level pagevm.Level `json:"level"`
	// Handle is the id by which Kernel.Get restores the item. It is the page itself, or the span
	// that the page left with. The prompt names this id. An exception is a text that a host put
	// in place of messages that had left. Its page can be read, but no prompt names the page.
	Handle string `json:"handle"`
}
