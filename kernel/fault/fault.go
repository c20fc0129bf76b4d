// Package fault names the faults of a plan, a turn or a boundary: one type, and one list of
// codes. It finds no faults itself. A fault is never an error: the plan, turn or boundary
// continues without the part that the fault names.
package fault

import (
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// Fault is a problem of the model's or ours, by name.
type Fault struct {
	Code Code   `json:"code"`
	Page string `json:"page,omitempty"`
	// Key is the message that the fault is about.
	Key    string `json:"key,omitempty"`
	Detail string `json:"detail"`
	// Turn is the user message of the turn in which the fault showed. Cause is the decision that
	// removed the page, and Plan the plan that made it. Each is "" if there is none.
	Turn  string `json:"turn,omitempty"`
	Cause string `json:"cause,omitempty"`
	Plan  string `json:"plan,omitempty"`
	// BudgetInsufficient: no policy could have helped, there was no room.
	BudgetInsufficient bool `json:"budget_insufficient,omitempty"`
}

// Code names a fault or an alert: small letters and underscores. In addition to those listed here
// there are those of repairing. They are named after package transcript's notes, such as
// missing_result.
type Code string

// The faults of the paging contract that a plan or a boundary can show, by the
// engine's names.
const (
	// Refetch: the model fetched a page by its handle that the prompt did not
	// show in full.
	Refetch = Code(paging.Refetch)
	// DuplicateTool: a call that only looks at something ran again with the same outcome, and the
	// prompt did not show its earlier result in full. Calls that wait or act do not count, nor do
	// those that ask for a state after an act.
	DuplicateTool = Code(paging.DuplicateTool)
	// Pinned: a pinned page is missing from the prompt, or below its floor.
	Pinned = Code(paging.PinnedInvariantMiss)
	// Bootstrap: after a compaction a file of instructions is missing from the
	// prompt, or below its floor.
	Bootstrap = Code(paging.PostCompactionBootstrap)
	// SilentRecall: a known page could not be brought back. The kernel never stays silent about
	// it: the fault names the page and the reason.
	SilentRecall = Code(paging.SilentRecall)
	// FlushMiss: at a boundary the summary could not be brought up to the newest message. The
	// journal has the messages' pages all the same.
	FlushMiss = Code(paging.FlushMiss)
)

// The faults of a host's input.
const (
	// Rewrite: a message that the prompt shows was edited, replaced or
	// compacted away. RewriteUnder: only messages that had left it changed.
	// Rewind: the host took back messages at the end.
	Rewrite      = Code(pagevm.RewriteBehind)
	RewriteUnder = Code(pagevm.RewriteUnder)
	Rewind       = Code(pagevm.RewriteRewind)
	// DuplicateKey: two messages have the same id.
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
	// HostTruncated: the host's own prompt shows a part of a file; the carry block shows the
	// rest.
	HostTruncated Code = "host_truncated"
)

// The faults of the files that the kernel reads.
const (
	// WorkspaceFile: a file of the workspace could not be read, and is in no
	// prompt.
	WorkspaceFile Code = "workspace_file"
	// WorkspaceSize: the workspace's files take more than their share even at their
	// floors.
	WorkspaceSize Code = "workspace_over_budget"
	// WorkspaceCut: less than half of a file of the workspace is shown, since the room for these
	// files holds no more. The detail names the setting.
	WorkspaceCut Code = "workspace_cut"
	// NotesUnread: a model's notes on the session can't be read.
	NotesUnread Code = "notes_unread"
	// Project: the pages that the sessions of the workspace share can't be read, so the prompt
	// has none of them.
	Project Code = "project_unreadable"
	// Checkpoint: a checkpoint or a file of the captured state could not be used. The detail
	// names the replacement.
	Checkpoint Code = "checkpoint_damaged"
	// NotSearched: a page that left the prompt can no longer be read, so nothing of it can be
	// recalled.
	NotSearched Code = "not_searched"
	// ProjectionLost: the plan had to begin anew because projection.jsonl was damaged or gone.
	// The provider's cache misses once, and nothing else is lost. A damaged file is kept next to
	// the new one.
	ProjectionLost Code = "projection_lost"
)

// The faults of the kernel's writes, and of its requests.
const (
	// NotRecorded: the plan could not be recorded. Nothing new was degraded, and the next plan
	// does not know this one.
	NotRecorded Code = "not_recorded"
	// NotTraced: the decisions of the plan could not be traced. The plan itself is recorded.
	NotTraced Code = "not_traced"
	// NotCounted: the provider could not be asked for a count; the kernel's own
	// count is used.
	NotCounted Code = "not_counted"
	// FlushSkipped: items that should have been written to the day's log were not, and why. The
	// checkpoint has them.
	FlushSkipped Code = "flush_skipped"
	// Net: one of the records of the working state was not written. The cause says which, the
	// detail why. A fault that keeps all of them from being written is reported once.
	Net Code = "net_skipped"
)

// The alerts: signs of trouble that no prompt could have prevented.
const (
	// AlertSpiral: the session was compacted often within a short time: its content returns as
	// fast as it leaves.
	AlertSpiral Code = "death_spiral"
	// AlertDuplicateSignature: a call like that of [DuplicateTool] ran again though the prompt
	// showed its result in full.
	AlertDuplicateSignature = Code(paging.AlertDuplicateSignature)
)
