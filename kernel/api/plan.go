// Package api has the questions that a kernel is asked and its answers: data with a few checks
// of numbers and the texts of errors. Each is declared once: the kernel's rooms, the daemon,
// the command's documents and the clients share these types. The package decides nothing, and
// never opens a file.
package api

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/retrieval/foreign"
	"github.com/memkernel/memkernel/transcript"
	"time"
)

// RuleNoProgress is the rule that refuses a cut after two cuts that reclaimed next to nothing.
const RuleNoProgress = "no_progress"

// The reasons of [ContextPlan.FlushDue].
const (
	FlushTokens = "tokens"
	FlushBytes  = "transcript_bytes"
)

// Check returns a *[NumberError] for a number that is out of range. Every call that takes a
// request calls it first.
func (r *PlanRequest) Check() error {
	return firstError(
		notBelow("ContextWindow", r.ContextWindow, 0, wantTokens),
		notBelow("ServerWindow", r.ServerWindow, 0, wantTokens),
		notBelow("Reserve", r.Reserve, 0, wantTokens),
		notBelow("FixedTokens", r.FixedTokens, 0, wantTokens),
		notBelow("TTL", r.TTL, min(0, ChooseTTL), "a lifetime, 0 or ChooseTTL"),
		notBelow("FixedTTL", r.FixedTTL, 0, "a lifetime, or 0"),
		checkEconomy(r.Economy),
		r.Overflow.Check())
}

func (o *Overflow) Check() error {
	if o == nil {
		return nil
	}
	return firstError(notBelow("Overflow.Input", o.Input, 0, wantTokens), notBelow("Overflow.Limit", o.Limit, 0, wantTokens))
}

// PlanRequest is one model call that a host is about to make.
type PlanRequest struct {
	// SessionKey names the session; any bytes. "" is the session "default".
	SessionKey string
	// Branch is "" on the main line, else the id of a sidechain. Branches of one
	// session have projections of their own.
	Branch string
	// Model is the provider's model id.
	Model string
	// ContextWindow in tokens; 0 takes the price book's figure for the model, else ServerWindow,
	// else the window that this state directory has learned for the model. If none of these has
	// one, the plan recalls and appends, and cuts nothing until a refusal
	// ([PlanRequest.Overflow]) shows the window.
	ContextWindow int
	// ServerWindow is the window that the model's server lists, 0 if unknown. It is kept for
	// plans that come without it.
	ServerWindow int
	// Reserve is kept free for the answer, in tokens; 0 takes
	// [budget.DefaultReserve].
	Reserve int
	// System and Tools are the host's own; they are always sent in full.
	System []memkernel.Part
	Tools  []memkernel.Tool
	// FixedTokens is the size of system prompt and tools that the host sends but
	// does not show us.
	FixedTokens int
	// Messages is the host's whole conversation, oldest first. It must end with a
	// user or tool-result message unless Prompt is set.
	Messages []memkernel.Message
	// Prompt is a user prompt that is not in Messages yet; Turn is its id, by
	// which the later message is recognised.
	Prompt string
	Turn   string
	// Now is the time of the call; zero takes the kernel's clock.
	Now time.Time
	// Resolver is the tool or command by which the model can follow a pointer;
	// "" keeps every page at structured or above.
	Resolver string
	// Source names the origin of the conversation.
	Source checkpoint.Source
	// Private: the session belongs to one person, and may use MEMORY.md and USER.md. Sessions are
	// shared by default.
	Private bool
	// Loaded are the names of files that the host itself shows its model, such as CLAUDE.md. They
	// are not recalled, in any folder of the workspace.
	Loaded []string
	// ToolChoice, Thinking and Effort are the request settings that the
	// provider's cache depends on, in the host's own spelling.
	ToolChoice, Thinking, Effort string
	// DropOption: the host can send the provider's option by which thinking blocks
	// that a cut invalidated are dropped on the provider's side.
	DropOption bool
	// Format is the shape of the request that the host will send; "" takes the
	// model's provider's.
	Format transcript.Format
	// Deferred asks for the list of changes that wait for a cut ([ContextPlan.Deferred]).
	Deferred bool
	// Table asks for the page table ([ContextPlan.Table]).
	Table bool
	// Memories are the answers of the host's own memory to the user's newest words. They are
	// recalled with ours, once per user turn and within the same bounds. Memories that come later
	// in a turn are left out with [ReasonTurnRecalled].
	Memories []MemoryAnswer
	// TTL is the cache lifetime that the host asks for its messages; the kernel
	// chooses that of tools and system. 0 takes the one that the host was seen to
	// use, for all parts, and lets the kernel choose if there is none; [ChooseTTL]
	// lets it choose in any case.
	TTL time.Duration
	// FixedTTL is the shortest cache lifetime of the host's own markers on tools and system,
	// where those stay; 0 if it sets none there.
	FixedTTL time.Duration
	// Overflow is a provider's refusal of the last call: the prompt was too long, or it had
	// thinking whose prefix has changed, which the plan then leaves out. The plan fits the limit
	// that the refusal names. Each further refusal gives a smaller plan, until there have been
	// too many in a row (*[OverflowError]).
	Overflow *Overflow
	// Economy is the preference where memory costs money; "" takes kernel.Options.Economy.
	Economy cachelayout.Economy
	// Unplanned is the newest request that went out without a plan since the newest plan; nil if
	// there was none. With Overflow it is the refused request.
	Unplanned *Unplanned
}

// ContextPlan is the answer to a [PlanRequest]: the prompt to send, and the reasons for it.
type ContextPlan struct {
	Outline
	Details
	Tools  []memkernel.Tool
	System []memkernel.Part
	// Messages are the prompt's. A message shown in full is the host's own value.
	Messages []memkernel.Message
	// Markers are the places of cache markers, by index into Messages.
	Markers []transcript.Marker
	// Split is the division of the window: the size to which each region may grow.
	Split budget.Plan
	// Table is the page table with this plan, and the paging counts of the conversation's plans
	// including this one; nil unless asked for.
	Table *paging.PageTable `json:",omitempty"`
}

// Outline sums up a plan. Every document that shows a plan has these members.
type Outline struct {
	// ID names the plan. Hosts should hand it back in [Turn.PlanID]. It is "" for a plan that was
	// only peeked at or could not be recorded: its pointers do not resolve yet.
	ID         string `json:"plan_id"`
	SessionKey string `json:"session_key"`
	Branch     string `json:"branch"`
	Model      string `json:"model"`
	// Format is the shape of request that the plan is for.
	Format transcript.Format `json:"format"`
	// Generation is the generation of the projection. It rises at every cut and host rewrite.
	Generation int `json:"generation"`
	// FlushDue asks for a flush turn before the next call (Kernel.FlushTurn): tokens
	// or transcript_bytes; "" if none is due.
	FlushDue string  `json:"flush_due"`
	Budgets  Budgets `json:"budgets"`
	// Regions add up to Budgets.PlannedInputTokens.
	Regions []Region `json:"regions"`
	// Params are settings that the request needs.
	Params Params `json:"params"`
	// Retrieval is the outcome of recall for this call.
	Retrieval Retrieval `json:"retrieval"`
	// Reduced are the pages of the conversation that are not shown in full, or
	// not at all, with the way back.
	Reduced []Reduced     `json:"reduced"`
	Faults  []fault.Fault `json:"faults"`
	// Alerts are signs of trouble that no prompt could have prevented.
	Alerts []fault.Fault `json:"alerts"`
	// Stats is the kernel's own work for the plan.
	Stats Stats `json:"stats"`
}

// Details explain a plan.
type Details struct {
	// Layout is the side of the provider's cache.
	Layout Layout `json:"layout"`
	// Debug lists every page with its outcome.
	Debug Debug `json:"debug"`
	// Deferred are changes that wait for a cut; nil unless asked for.
	Deferred []Deferred `json:"deferred,omitzero"`
}

// Stats is the kernel's own work for a plan.
type Stats struct {
	// Ingested counts messages new to the session. Counted counts the tokenised texts.
	Ingested int `json:"ingested"`
	Counted  int `json:"counted"`
	// Examined counts the messages of an observed turn that were read, made valid or hashed: the
	// new ones, and some before them. It does not count the messages of the turn before.
	Examined int `json:"examined,omitempty"`
	// Blobs and BlobBytes count the written blobs. Syncs counts the calls to sync, which took
	// SyncTime.
	Blobs     int   `json:"blobs"`
	BlobBytes int64 `json:"blob_bytes"`
	// JournalBytes were appended durably to the journal. LogBytes were appended to the
	// projection's record and the trace, which are not synced. Files is the number of files that
	// these writes made or changed.
	JournalBytes int64 `json:"journal_bytes"`
	LogBytes     int64 `json:"log_bytes"`
	Files        int   `json:"files"`
	// StateBytes were written for the working state: its files, which are not synced, and
	// checkpoints, which are.
	StateBytes int64 `json:"state_bytes"`
	// LiftedBytes is the base64 that results held and that the prompt does not show:
	// its content is a blob.
	LiftedBytes int64         `json:"lifted_bytes"`
	Syncs       int           `json:"syncs"`
	SyncTime    time.Duration `json:"sync_ns"`
}

// MemoryAnswer is the answer of a host's own memory to the user's words. Its order is kept, its
// scores are ignored.
type MemoryAnswer struct {
	// Format names the system whose answer JSON is; "" detects it.
	Format foreign.Format
	// JSON is the answer as that system gave it.
	JSON []byte
	// Records are records that the host parsed itself. They replace JSON or follow it. Their
	// Format may be any short name.
	Records []foreign.Record
	// Scope, if set, replaces that of every record: project for records that any session may see,
	// session for private ones. Otherwise each record's own scope applies.
	Scope memkernel.Scope
}

// ReasonTurnRecalled is the reason for memories that arrive after memory was recalled for the
// user turn. The prompt keeps the recalled block unchanged, and nothing is added to it.
const ReasonTurnRecalled = "turn_recalled"

// Overflow is a provider's refusal of a request as too long.
type Overflow struct {
	// Text is the provider's error text, in any form; see [budget.ParseOverflow]. Without a text,
	// or without figures in it, the request is assumed to be larger than the window.
	Text string
	// Input and Limit are the figures where the host knows them better, in tokens.
	Input, Limit int
	// PlanID is the plan that was refused; "" is the newest. A refusal that is
	// delivered again, after the plan that answers it, teaches nothing.
	PlanID string
}

// Unplanned is a request that went out without a plan of its own: the newest plan's messages,
// followed by the new messages as the host wrote them. The next plan takes it in, so that every
// byte of it is kept and the age of the provider's cache is known.
type Unplanned struct {
	// Messages is the host's whole conversation at that time, as in
	// [PlanRequest.Messages].
	Messages []memkernel.Message
	// Now is when it was sent.
	Now time.Time
}

// ChooseTTL as a [PlanRequest.TTL] lets the kernel choose all lifetimes, whatever the host was
// seen to use.
const ChooseTTL time.Duration = -1
