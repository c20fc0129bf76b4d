package kernel

import (
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// Fault is something that went wrong for the model or for us, by name.
type Fault struct {
	Code   FaultCode `json:"code"`
	Page   string    `json:"page,omitempty"`
	Key    string    `json:"key,omitempty"`
	Detail string    `json:"detail"`
	// Turn is the user message in whose turn it showed, Cause what took the page
	// away, and Plan the plan whose decision that was; "" where there is none.
	Turn  string `json:"turn,omitempty"`
	Cause string `json:"cause,omitempty"`
	Plan  string `json:"plan,omitempty"`
	// BudgetInsufficient: no policy could have helped, there was no room.
	BudgetInsufficient bool `json:"budget_insufficient,omitempty"`
}

// FaultCode names a fault or an alert: small letters and underscores. Beside those that
// are listed here there are those of repairing, by the names of package transcript's
// notes, such as missing_result.
type FaultCode string

// The faults of the paging contract that a plan or a boundary can show, by the
// engine's names.
const (
	// FaultRefetch: the model fetched a page by its handle that the prompt did not
	// show in full.
	FaultRefetch = FaultCode(plan.FaultRefetch)
	// FaultDuplicateTool: a call ran again that only looks at something, it came to the
	// same, and its result before did not stand in full. What waits or acts, and what
	// asks how things stand after an act, is none.
	FaultDuplicateTool = FaultCode(plan.FaultDuplicateTool)
	// FaultPinned: a page that is pinned does not stand, or below its floor.
	FaultPinned = FaultCode(plan.FaultPinned)
	// FaultBootstrap: after a compaction a file of standing instructions does not
	// stand, or below its floor.
	FaultBootstrap = FaultCode(plan.FaultBootstrap)
	// FaultSilentRecall: something that is known could not be brought back. It is
	// never answered by silence: the fault says what and why.
	FaultSilentRecall = FaultCode(plan.FaultSilentRecall)
	// FaultFlushMiss: a boundary was passed and the summary could not be brought up
	// to the newest message. The messages' pages stand in the journal all the same.
	FaultFlushMiss = FaultCode(paging.FlushMiss)
)

// The faults of what a host sends.
const (
	// FaultRewrite: a message that stands in the prompt was edited, replaced or
	// compacted away. FaultRewriteUnder: only messages that had left it changed.
	// FaultRewind: the host took back messages at the end.
	FaultRewrite      = FaultCode(pagevm.RewriteBehind)
	FaultRewriteUnder = FaultCode(pagevm.RewriteUnder)
	FaultRewind       = FaultCode(pagevm.RewriteRewind)
	// FaultDuplicateKey: two messages have one id.
	FaultDuplicateKey = FaultCode(ingest.FaultDuplicateKey)
	// FaultLeadingAssistant: the conversation begins with the assistant and got an
	// opening.
	FaultLeadingAssistant = FaultCode(ingest.FaultLeadingAssistant)
	// FaultUsageIgnored: the usage of an observed turn can't be that of the prompt that
	// was planned, as when a gateway reports a part of it.
	FaultUsageIgnored = FaultCode(turn.FaultUsageIgnored)
	// FaultHostTruncated: the host's own prompt shows a file in part; the rest is
	// carried.
	FaultHostTruncated = FaultCode(plan.FaultHostTruncated)
)

// The faults of what the kernel reads.
const (
	// FaultWorkspaceFile: a file of the workspace could not be read, and stands in no
	// prompt.
	FaultWorkspaceFile = FaultCode(plan.FaultWorkspaceFile)
	// FaultWorkspaceSize: the workspace's files take more than their share even at their
	// floors.
	FaultWorkspaceSize = FaultCode(plan.FaultWorkspaceSize)
	// FaultWorkspaceCut: less than half of a file of the workspace is shown, since the room
	// for these files holds no more; the detail says which setting it is.
	FaultWorkspaceCut = FaultCode(plan.FaultWorkspaceCut)
	// FaultNotesUnread: a model's notes on the session can't be read.
	FaultNotesUnread = FaultCode(plan.FaultNotesUnread)
	// FaultProject: what the sessions of the workspace share can't be read, so none of
	// it stands in the prompt.
	FaultProject = FaultCode(turn.FaultProject)
	// FaultCheckpoint: a checkpoint or a file of the captured state could not be used;
	// the detail says what stands in for it.
	FaultCheckpoint = FaultCode(plan.FaultCheckpoint)
	// FaultNotSearched: a page that left the prompt can't be read any more, so nothing
	// of it can be recalled.
	FaultNotSearched = FaultCode(turn.FaultNotSearched)
	// FaultProjectionLost: the plan had to begin anew because projection.jsonl was
	// damaged or gone: the provider's cache misses once, and nothing else is lost. A
	// damaged file is kept beside the new one.
	FaultProjectionLost = FaultCode(turn.FaultProjectionLost)
)

// The faults of what the kernel writes, or asks for.
const (
	// FaultNotRecorded: the plan could not be written down: nothing new was degraded,
	// and the next plan knows nothing of this one.
	FaultNotRecorded = FaultCode(turn.FaultNotRecorded)
	// FaultNotTraced: how the plan was decided could not be written down. The plan
	// itself is recorded.
	FaultNotTraced = FaultCode(turn.FaultNotTraced)
	// FaultNotCounted: the provider could not be asked for a count; the kernel's own
	// stands.
	FaultNotCounted = FaultCode(turn.FaultNotCounted)
	// FaultFlushSkipped: what should have been written to the day's log was not, and
	// why. It stands in the checkpoint.
	FaultFlushSkipped = FaultCode(workstate.FaultFlushSkipped)
	// FaultNet: one of the records of the working state was not written; the cause says
	// which, the detail why. What stands in the way of all writes is told once.
	FaultNet = FaultCode(workstate.FaultFallback)
)

// The alerts: signs of trouble that no prompt could have prevented.
const (
	// AlertSpiral: the session was compacted often within a short time: what fills it
	// comes back as fast as it goes.
	AlertSpiral = FaultCode(plan.AlertSpiral)
	// AlertDuplicateSignature: a call as of [FaultDuplicateTool] ran again though its
	// result stood in full.
	AlertDuplicateSignature = FaultCode(plan.AlertDuplicateSignature)
)

// faultOf is a fault that a room found, as hosts get it.
func faultOf(f ingest.Fault) Fault {
	return Fault{Code: FaultCode(f.Code), Page: f.Page, Key: f.Key, Detail: f.Detail, Turn: f.Turn, Cause: f.Cause, Plan: f.Plan, BudgetInsufficient: f.BudgetInsufficient}
}

func faultsOf(found []ingest.Fault) []Fault {
	var out []Fault
	for _, f := range found {
		out = append(out, faultOf(f))
	}
	return out
}
