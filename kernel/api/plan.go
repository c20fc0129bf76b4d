// Package api declares the requests that a kernel takes and its answers. They are data, with a few
// checks of numbers and the texts of errors. The packages of the kernel, the daemon, the command's
// documents and the clients share these types. The package decides nothing, and never opens a file.
package api

import (
	"cmp"
	"fmt"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/retrieval/foreign"
	"github.com/memkernel/memkernel/transcript"
)

// Check returns a *[NumberError] for a number that is out of range. Every call that takes a
// request calls it first.
func (r *PlanRequest) Check() error {
	economy := r.Economy.Check()
	if economy != nil {
		economy = fmt.Errorf("economy: %w", economy)
	}
	return cmp.Or(
		notBelow("ContextWindow", r.ContextWindow, 0, wantTokens),
		notBelow("ServerWindow", r.ServerWindow, 0, wantTokens),
		notBelow("Reserve", r.Reserve, 0, wantTokens),
		notBelow("MaxTokens", r.MaxTokens, 0, wantTokens),
		notBelow("FixedTokens", r.FixedTokens, 0, wantTokens),
		notBelow("TTL", r.TTL, min(0, ChooseTTL), "a lifetime, 0 or ChooseTTL"),
		notBelow("FixedTTL", r.FixedTTL, 0, "a lifetime, or 0"),
		economy,
		r.Overflow.Check())
}

// Check returns a *[NumberError] for a negative number. A nil refusal is valid.
func (o *Overflow) Check() error {
	if o == nil {
		return nil
	}
	return cmp.Or(notBelow("Overflow.Input", o.Input, 0, wantTokens), notBelow("Overflow.Limit", o.Limit, 0, wantTokens))
}

// PlanRequest is one model call that a host is about to make.
type PlanRequest struct {
	// SessionKey names the session and may hold any bytes. "" is the session "default".
	SessionKey string
	// Branch is the id of a sidechain, "" for the main line. Each branch of a session has its own
	// projection.
	Branch string
	// Model is the provider's model id.
	Model string
	// ContextWindow is the size of the model's window in tokens. 0 takes the price book's figure
	// for the model, else ServerWindow, else the window that this state directory has learned for
	// the model. If the window is still unknown, the plan recalls and appends, and cuts nothing
	// until a refusal ([PlanRequest.Overflow]) shows the window.
	ContextWindow int
	// ServerWindow is the window that the model's server lists, 0 if unknown. The kernel keeps
	// the value for later plans that lack it.
	ServerWindow int
	// Reserve is the number of tokens to keep free for the answer. 0 takes MaxTokens if the
	// provider refuses a prompt that leaves less, else [budget.Reserve].
	Reserve int
	// MaxTokens is the longest answer that the host's request allows, 0 if unknown.
	MaxTokens int
	// System is the host's system prompt. It is always sent in full.
	System []memkernel.Part
	// Tools are the host's tools. They are always sent in full.
	Tools []memkernel.Tool
	// FixedTokens is the size of system prompt and tools that the host sends but
	// does not show us.
	FixedTokens int
	// Messages is the host's whole conversation, oldest first. It must end with a
	// user or tool-result message unless Prompt is set.
	Messages []memkernel.Message
	// Prompt is a user prompt that is not in Messages yet.
	Prompt string
	// Turn is the id of the prompt. The kernel recognises the later message by it.
	Turn string
	// Now is the time of the call; zero takes the kernel's clock.
	Now time.Time
	// Resolver is the tool or command by which the model can follow a pointer;
	// "" keeps every page at structured or above.
	Resolver string
	// Source names the origin of the conversation.
	Source checkpoint.Source
	// Private: the session belongs to one person. Such a session may use MEMORY.md and USER.md.
	// Sessions are shared by default.
	Private bool
	// Loaded are the names of files that the host itself shows its model, such as CLAUDE.md.
	// Files of these names are not recalled, in whichever folder of the workspace they are.
	Loaded []string
	// ToolChoice, Thinking and Effort are the request settings that the
	// provider's cache depends on, in the host's own spelling.
	ToolChoice, Thinking, Effort string
	// DropOption: the host can send the option that makes the provider drop the thinking blocks
	// that a cut invalidated.
	DropOption bool
	// Format is the shape of the request that the host will send; "" takes the format of the
	// model's provider.
	Format transcript.Format
	// Table requests the page table ([ContextPlan.Table]).
	Table bool
	// Memories are the answers of the host's own memory to the user's newest words. They are
	// recalled together with the kernel's memory, once per user turn and within the same bounds.
	// Memories that come later in a turn are left out with the reason turn_recalled.
	Memories []MemoryAnswer
	// TTL is the cache lifetime that the host requests for its messages. The kernel then chooses
	// the lifetime of tools and system. 0 takes the lifetime that the host was seen to use, for
	// all parts. If no such lifetime is known, the kernel chooses. With [ChooseTTL] the kernel
	// always chooses.
	TTL time.Duration
	// FixedTTL is the shortest cache lifetime of the host's own markers on tools and system, if
	// these markers stay in the request. It is 0 if the host sets no markers there.
	FixedTTL time.Duration
	// Overflow is a provider's refusal of the last call. Either the prompt was too long, or its
	// thinking followed a changed prefix. In the first case the plan fits the limit that the
	// refusal names. In the second case the plan leaves the thinking out. Each further refusal
	// gives a smaller plan. After too many refusals in a row the call returns an
	// *[OverflowError].
	Overflow *Overflow
	// Economy is the preference where memory costs money; "" takes kernel.Options.Economy.
	Economy cachelayout.Economy
	// Unplanned is the newest request that went out without a plan since the newest plan; nil if
	// there was no such request. With Overflow it is the refused request.
	Unplanned *Unplanned
}

// ContextPlan is the answer to a [PlanRequest]: the prompt to send, and the reasons for it.
type ContextPlan struct {
	Outline
	Details
	Tools  []memkernel.Tool
	System []memkernel.Part
	// Messages are the messages of the prompt. A message shown in full is the host's own value.
	Messages []memkernel.Message
	// Markers are the places of cache markers, by index into Messages.
	Markers []transcript.Marker
	// Table is the page table with this plan, and the paging counts of the conversation's plans
	// including this one. It is nil unless [PlanRequest.Table] is set.
	Table *paging.PageTable `json:",omitempty"`
}

// Outline sums up a plan. Every document that shows a plan has these members.
type Outline struct {
	// ID names the plan. Hosts should hand it back in [Turn.PlanID]. It is "" for a plan that was
	// only peeked at or could not be recorded. The pointers of such a plan do not resolve yet.
	ID         string `json:"plan_id"`
	SessionKey string `json:"session_key"`
	Branch     string `json:"branch"`
	Model      string `json:"model"`
	// Format is the shape of request that the plan is for.
	Format transcript.Format `json:"format"`
	// Generation is the generation of the projection. It rises at every cut and host rewrite.
	Generation int `json:"generation"`
	// FlushDue is the reason why a flush turn (Kernel.FlushTurn) is due before the next call:
	// tokens or transcript_bytes. It is "" if no flush turn is due.
	FlushDue string  `json:"flush_due"`
	Budgets  Budgets `json:"budgets"`
	// Regions add up to Budgets.PlannedInputTokens.
	Regions []Region `json:"regions"`
	// Params are settings that the request needs.
	Params Params `json:"params"`
	// Retrieval is the outcome of recall for this call.
	Retrieval Retrieval `json:"retrieval"`
	// Reduced are the pages of the conversation that are shortened or not shown, with the way to
	// get their full content.
	Reduced []Reduced     `json:"reduced"`
	Faults  []fault.Fault `json:"faults"`
	// Alerts are signs of trouble that no prompt could have prevented.
	Alerts []fault.Fault `json:"alerts"`
	// Stats is the kernel's own work for the plan.
	Stats Stats `json:"stats"`
}

// Details explain a plan.
type Details struct {
	// Layout describes the plan's use of the provider's cache.
	Layout Layout `json:"layout"`
	// Debug lists every page with its outcome.
	Debug Debug `json:"debug"`
}

// Stats is the kernel's own work for a plan.
type Stats struct {
	// Ingested counts messages new to the session.
	Ingested int `json:"ingested"`
	// Examined counts the messages of an observed turn that were read, made valid or hashed. They
	// are the new messages and some messages before them. It does not count the messages of the
	// previous turn.
	Examined int `json:"examined,omitempty"`
	// Blobs counts the written blobs.
	Blobs int `json:"blobs"`
	// BlobBytes is the size of the written blobs.
	BlobBytes int64 `json:"blob_bytes"`
	// JournalBytes is the number of bytes that were appended durably to the journal.
	JournalBytes int64 `json:"journal_bytes"`
	// LogBytes is the number of bytes that were appended to the projection's record and the
	// trace. These files are not synced.
	LogBytes int64 `json:"log_bytes"`
	// Files is the number of files that these writes made or changed.
	Files int `json:"files"`
	// StateBytes is the number of bytes that were written for the working state. The files of the
	// working state are not synced, but the checkpoints are.
	StateBytes int64 `json:"state_bytes"`
	// LiftedBytes is the size of the base64 text in results that the prompt does not show. The
	// decoded content is in a blob.
	LiftedBytes int64 `json:"lifted_bytes"`
	// Syncs counts the calls to sync.
	Syncs int `json:"syncs"`
	// SyncTime is the time that these calls took.
	SyncTime time.Duration `json:"sync_ns"`
}

// MemoryAnswer is the answer of a host's own memory to the user's words. The kernel keeps the
// order of the records and ignores their scores.
type MemoryAnswer struct {
	// Format names the system that gave the answer in JSON; "" detects the system.
	Format foreign.Format
	// JSON is the answer as that system gave it.
	JSON []byte
	// Records are records that the host parsed itself. They may be set instead of JSON or in
	// addition to it, and then follow the records of JSON. Format may then be any short name.
	Records []foreign.Record
	// Scope, if set, replaces the scope of every record: project for records that any session may
	// see, session for private records. Otherwise each record's own scope applies.
	Scope memkernel.Scope
}

// Overflow is a provider's refusal of a request as too long.
type Overflow struct {
	// Text is the provider's error text, in any form; see [budget.ParseOverflow]. Without a text,
	// or without figures in it, the request is assumed to be larger than the window.
	Text string
	// Input is the size of the refused request and Limit the provider's limit, in tokens. A host
	// sets them if it knows the figures better than Text does.
	Input, Limit int
	// PlanID is the plan that was refused; "" is the newest plan. If a refusal is delivered again
	// after a plan has answered it, the kernel ignores it.
	PlanID string
}

// Unplanned is a request that went out without its own plan. It had the newest plan's messages,
// followed by the new messages as the host wrote them. The next plan must know of the request, so
// that it keeps every byte of the request and knows the age of the provider's cache.
type Unplanned struct {
	// Messages is the host's whole conversation at that time, as in
	// [PlanRequest.Messages].
	Messages []memkernel.Message
	// Now is the time at which the request was sent.
	Now time.Time
}

// ChooseTTL as a [PlanRequest.TTL] lets the kernel choose all lifetimes, whatever the host was
// seen to use.
const ChooseTTL time.Duration = -1
