// Package fault names what can go wrong in a plan, a turn or a boundary: one type, and one
// list of codes. It finds nothing itself, and a fault is never an error: what it is about
// goes on without what the fault names.
package fault

import (
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// Fault is something that went wrong for the model or for us, by name.
type Fault struct {
	Code Code   `json:"code"`
	Page string `json:"page,omitempty"`
	// Key is the message that it is about.
	Key    string `json:"key,omitempty"`
	Detail string `json:"detail"`
	// Turn is the user message in whose turn it showed, Cause what took the page
	// away, and Plan the plan whose decision that was; "" where there is none.
	Turn  string `json:"turn,omitempty"`
	Cause string `json:"cause,omitempty"`
	Plan  string `json:"plan,omitempty"`
	// BudgetInsufficient: no policy could have helped, there was no room.
	BudgetInsufficient bool `json:"budget_insufficient,omitempty"`
}

// Code names a fault or an alert: small letters and underscores. Beside those that
// are listed here there are those of repairing, by the names of package transcript's
// notes, such as missing_result.
type Code string

// The faults of the paging contract that a plan or a boundary can show, by the
// engine's names.
const (
	// Refetch: the model fetched a page by its handle that the prompt did not
	// show in full.
	Refetch = Code(paging.Refetch)
	// DuplicateTool: a call ran again that only looks at something, it came to the
	// same, and the prompt did not show its earlier result in full. What waits or acts, and what
	// asks how things stand after an act, is none.
	DuplicateTool = Code(paging.DuplicateTool)
	// Pinned: a pinned page is missing from the prompt, or below its floor.
	Pinned = Code(paging.PinnedInvariantMiss)
	// Bootstrap: after a compaction a file of instructions is missing from the
	// prompt, or below its floor.
	Bootstrap = Code(paging.PostCompactionBootstrap)
	// SilentRecall: something that is known could not be brought back. It is
	// never answered by silence: the fault says what and why.
	SilentRecall = Code(paging.SilentRecall)
	// FlushMiss: a boundary was passed and the summary could not be brought up
	// to the newest message. The journal has the messages' pages all the same.
	FlushMiss = Code(paging.FlushMiss)
)

// The faults of what a host sends.
const (
	// Rewrite: a message that the prompt shows was edited, replaced or
	// compacted away. RewriteUnder: only messages that had left it changed.
	// Rewind: the host took back messages at the end.
	Rewrite      = Code(pagevm.RewriteBehind)
	RewriteUnder = Code(pagevm.RewriteUnder)
	Rewind       = Code(pagevm.RewriteRewind)
	// DuplicateKey: two messages have one id.
	DuplicateKey Code = "duplicate_key"
	// LeadingAssistant: the conversation begins with the assistant and got an
	// opening.
	LeadingAssistant Code = "leading_assistant"
	// UsageIgnored: the usage of an observed turn can't be that of the prompt that
	// was planned, as when a gateway reports a part of it.
	UsageIgnored Code = "usage_ignored"
	// ThinkingRefused: the provider refused the last request for thinking of earlier turns
	// whose prefix had changed. This plan sends none of it again.
	ThinkingRefused Code = "thinking_refused"
	// HostTruncated: the host's own prompt shows a file in part; the rest is
	// carried.
	HostTruncated Code = "host_truncated"
)

// The faults of what the kernel reads.
const (
	// WorkspaceFile: a file of the workspace could not be read, and is in no
	// prompt.
	WorkspaceFile Code = "workspace_file"
	// WorkspaceSize: the workspace's files take more than their share even at their
	// floors.
	WorkspaceSize Code = "workspace_over_budget"
	// WorkspaceCut: less than half of a file of the workspace is shown, since the room
	// for these files holds no more; the detail says which setting it is.
	WorkspaceCut Code = "workspace_cut"
	// NotesUnread: a model's notes on the session can't be read.
	NotesUnread Code = "notes_unread"
	// Project: what the sessions of the workspace share can't be read, so the
	// prompt has none of it.
	Project Code = "project_unreadable"
	// Checkpoint: a checkpoint or a file of the captured state could not be used;
	// the detail says what is used instead.
	Checkpoint Code = "checkpoint_damaged"
	// NotSearched: a page that left the prompt can't be read any more, so nothing
	// of it can be recalled.
	NotSearched Code = "not_searched"
	// ProjectionLost: the plan had to begin anew because projection.jsonl was
	// damaged or gone: the provider's cache misses once, and nothing else is lost. A
	// damaged file is kept beside the new one.
	ProjectionLost Code = "projection_lost"
)

// The faults of what the kernel writes, or asks for.
const (
	// NotRecorded: the plan could not be written down: nothing new was degraded,
	// and the next plan knows nothing of this one.
	NotRecorded Code = "not_recorded"
	// NotTraced: how the plan was decided could not be written down. The plan
	// itself is recorded.
	NotTraced Code = "not_traced"
	// NotCounted: the provider could not be asked for a count; the kernel's own
	// count is used.
	NotCounted Code = "not_counted"
	// FlushSkipped: what should have been written to the day's log was not, and
	// why. The checkpoint has it.
	FlushSkipped Code = "flush_skipped"
	// Net: one of the records of the working state was not written; the cause says
	// which, the detail why. What keeps all of them from being written is reported once.
	Net Code = "net_skipped"
)

// The alerts: signs of trouble that no prompt could have prevented.
const (
	// AlertSpiral: the session was compacted often within a short time: what fills it
	// comes back as fast as it goes.
	AlertSpiral Code = "death_spiral"
	// AlertDuplicateSignature: a call as of [DuplicateTool] ran again though the
	// prompt showed its result in full.
	AlertDuplicateSignature = Code(paging.AlertDuplicateSignature)
)
