// Package fault names the faults of a plan, a turn or a boundary: one type, and one list of
// codes. It finds no faults itself. A fault is never an error: the plan, turn or boundary
// continues without the part that the fault names.
package fault

import (
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// Fault is a named problem of the model or of the kernel.
type Fault struct {
	Code Code   `json:"code"`
	Page string `json:"page,omitempty"`
	// Key is the message that the fault is about.
	Key    string `json:"key,omitempty"`
	Detail string `json:"detail"`
	// Turn is the user message of the turn in which the fault showed, "" if it is not known.
	Turn string `json:"turn,omitempty"`
	// Cause is the decision that removed the page, "" if no decision did.
	Cause string `json:"cause,omitempty"`
	// Plan is the plan that made the decision, "" if no plan did.
	Plan string `json:"plan,omitempty"`
	// BudgetInsufficient: there was no room, so that no policy could have helped.
	BudgetInsufficient bool `json:"budget_insufficient,omitempty"`
}

// Of returns an error as a fault, or nothing if there is no error.
func Of(code Code, err error) []Fault {
	if err == nil {
		return nil
	}
	return []Fault{{Code: code, Detail: err.Error()}}
}

// Code names a fault or an alert. It consists of small letters and underscores. Repairs of a
// conversation have further codes, which are the names of package transcript's notes, such as
// missing_result.
type Code string

// The faults of the paging contract that a plan or a boundary can show, by the
// engine's names.
const (
	// Refetch: the model fetched a page by its handle that the prompt did not
	// show in full.
	Refetch = Code(paging.Refetch)
	// DuplicateTool: a call that only looks at something ran again with the same outcome, and the
	// prompt did not show its earlier result in full. Calls that wait or act do not count. Calls
	// that read a state after an act do not count either.
	DuplicateTool = Code(paging.DuplicateTool)
	// Pinned: a pinned page is missing from the prompt, or below its floor.
	Pinned = Code(paging.PinnedInvariantMiss)
	// Bootstrap: after a compaction a file of instructions is missing from the
	// prompt, or below its floor.
	Bootstrap = Code(paging.PostCompactionBootstrap)
	// SilentRecall: a known page could not be brought back. The fault names the page and the
	// reason.
	SilentRecall = Code(paging.SilentRecall)
	// FlushMiss: at a boundary the summary could not be brought up to the newest message. The
	// journal still has the messages' pages.
	FlushMiss = Code(paging.FlushMiss)
)

// The faults of a host's input.
const (
	// Rewrite: a message that the prompt shows was edited, replaced or compacted away.
	Rewrite = Code(pagevm.RewriteBehind)
	// RewriteUnder: only messages that had left the prompt changed.
	RewriteUnder = Code(pagevm.RewriteUnder)
	// Rewind: the host took back messages at the end.
	Rewind = Code(pagevm.RewriteRewind)
	// DuplicateKey: two messages have the same id.
	DuplicateKey Code = "duplicate_key"
	// LeadingAssistant: the conversation begins with the assistant and got an
	// opening.
	LeadingAssistant Code = "leading_assistant"
	// UsageIgnored: the usage of an observed turn can't be the usage of the planned prompt. This
	// happens when a gateway reports only a part of the usage.
	UsageIgnored Code = "usage_ignored"
	// ThinkingRefused: the provider refused the last request for thinking of earlier turns
	// whose prefix had changed. This plan sends none of it again.
	ThinkingRefused Code = "thinking_refused"
	// HostTruncated: the host's own prompt shows only a part of a file. The carry block shows the
	// rest.
	HostTruncated Code = "host_truncated"
)

// The faults of the files that the kernel reads.
const (
	// WorkspaceFile: a file of the workspace could not be read, and is in no
	// prompt.
	WorkspaceFile Code = "workspace_file"
	// WorkspaceSize: the workspace's files exceed their share of the prompt even at their floors.
	WorkspaceSize Code = "workspace_over_budget"
	// WorkspaceCut: the prompt shows less than half of a file of the workspace, because the room
	// for such files is full. The detail names the setting that limits the room.
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
	// ProjectionLost: the plan had to start without a projection because projection.jsonl was
	// damaged or gone. The provider's cache misses once, and nothing else is lost. A damaged file
	// is kept next to the new one.
	ProjectionLost Code = "projection_lost"
)

// The faults of the kernel's writes, and of its requests.
const (
	// NotRecorded: the plan could not be recorded. The plan degraded nothing new, and the next
	// plan does not know of it.
	NotRecorded Code = "not_recorded"
	// NotTraced: the decisions of the plan could not be traced. The plan itself is recorded.
	NotTraced Code = "not_traced"
	// NotCounted: the provider could not be asked for a count. The plan uses the kernel's own
	// count.
	NotCounted Code = "not_counted"
	// FlushSkipped: items that should be in the day's log were not written. The checkpoint has
	// these items.
	FlushSkipped Code = "flush_skipped"
	// Net: a record of the working state was not written. The cause names the record, and the
	// detail gives the reason. If one problem prevents all of these records, it is reported once.
	Net Code = "net_skipped"
)

// The alerts: signs of trouble that no prompt could have prevented.
const (
	// AlertSpiral: the session was compacted often within a short time. Its content returns as
	// fast as it leaves.
	AlertSpiral Code = "death_spiral"
	// AlertDuplicateSignature: a call that only looks at something ran again although the prompt
	// showed its result in full.
	AlertDuplicateSignature = Code(paging.AlertDuplicateSignature)
)
