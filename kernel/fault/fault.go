// Package fault names the faults of a plan, a turn or a boundary: one type, and one list of
// codes. It finds no faults itself. A fault is never an error: the plan, turn or boundary
// continues without the part that the fault names. A code without a constant is set in one place.
//
// The faults of the paging contract that a plan or a boundary can show, by the engine's names:
//
//	refetch                    see Refetch
//	duplicate_tool             see DuplicateTool
//	pinned_invariant_miss      a pinned page is missing from the prompt, or below its floor
//	post_compaction_bootstrap  after a compaction a file of instructions is missing from the
//	                           prompt, or below its floor
//	silent_recall              see SilentRecall
//	flush_miss                 at a boundary the summary could not be brought up to the newest
//	                           message; the journal still has the messages' pages
//
// The faults of a host's input:
//
//	host_rewrite               a message that the prompt shows was edited, replaced or compacted away
//	host_rewrite_under_cut     only messages that had left the prompt changed
//	host_rewind                the host took back messages at the end
//	duplicate_key              two messages have the same id
//	leading_assistant          the conversation begins with the assistant and got an opening
//	usage_ignored              the usage of an observed turn can't be the usage of the planned
//	                           prompt, as when a gateway reports only a part of it
//	thinking_refused           the provider refused the last request for thinking of earlier turns
//	                           whose prefix had changed; this plan sends none of it again
//	host_truncated             the host's own prompt shows only a part of a file; the carry block
//	                           shows the rest
//
// The faults of the files that the kernel reads:
//
//	workspace_file             see WorkspaceFile
//	workspace_over_budget      the workspace's files exceed their share of the prompt even at
//	                           their floors
//	workspace_cut              the prompt shows less than half of a file of the workspace, because
//	                           the room for such files is full; the detail names the setting that
//	                           limits the room
//	notes_unread               a model's notes on the session can't be read
//	project_unreadable         the pages that the sessions of the workspace share can't be read, so
//	                           the prompt has none of them
//	checkpoint_damaged         see Checkpoint
//	not_searched               a page that left the prompt can no longer be read, so nothing of it
//	                           can be recalled
//	projection_lost            the plan had to start without a projection because projection.jsonl
//	                           was damaged or gone; the provider's cache misses once, nothing else
//	                           is lost, and a damaged file is kept next to the new one
//
// The faults of the kernel's writes, and of its requests:
//
//	not_recorded               see NotRecorded
//	not_traced                 the decisions of the plan could not be traced; the plan itself is
//	                           recorded
//	flush_skipped              see FlushSkipped
//	net_skipped                see Net
//
// The alerts, which are signs of trouble that no prompt could have prevented:
//
//	death_spiral               the session was compacted often within a short time, and its content
//	                           returns as fast as it leaves
//	duplicate_signature        see AlertDuplicateSignature
package fault

import "github.com/memkernel/memkernel/pagevm/paging"

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

// The codes that several places set or read.
const (
	// Refetch: the model fetched a page by its handle that the prompt did not
	// show in full.
	Refetch = Code(paging.Refetch)
	// DuplicateTool: a call that only looks at something ran again with the same outcome, and the
	// prompt did not show its earlier result in full. Calls that wait or act do not count. Calls
	// that read a state after an act do not count either.
	DuplicateTool = Code(paging.DuplicateTool)
	// SilentRecall: the content of a known page could not be restored. The fault names the page and
	// the reason.
	SilentRecall = Code(paging.SilentRecall)
	// WorkspaceFile: a file of the workspace could not be read, and is in no
	// prompt.
	WorkspaceFile Code = "workspace_file"
	// Checkpoint: a checkpoint or a file of the captured state could not be used. The detail
	// names the replacement.
	Checkpoint Code = "checkpoint_damaged"
	// NotRecorded: the plan could not be recorded. The plan degraded nothing new, and the next
	// plan does not know of it.
	NotRecorded Code = "not_recorded"
	// FlushSkipped: items that should be in the day's log were not written. The checkpoint has
	// these items.
	FlushSkipped Code = "flush_skipped"
	// Net: a record of the working state was not written. The cause names the record, and the
	// detail gives the reason. If one problem prevents all of these records, it is reported once.
	Net Code = "net_skipped"
	// AlertDuplicateSignature: a call that only looks at something ran again although the prompt
	// showed its result in full.
	AlertDuplicateSignature Code = "duplicate_signature"
)
