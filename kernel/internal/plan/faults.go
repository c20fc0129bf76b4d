package plan

import (
	"github.com/memkernel/memkernel/pagevm/paging"
)

// The faults and alerts of plans; the kernel's constants of the same names say what each
// of them means.
const (
	FaultRefetch            = string(paging.Refetch)
	FaultDuplicateTool      = string(paging.DuplicateTool)
	FaultPinned             = string(paging.PinnedInvariantMiss)
	FaultBootstrap          = string(paging.PostCompactionBootstrap)
	FaultSilentRecall       = string(paging.SilentRecall)
	FaultWorkspaceFile      = "workspace_file"
	FaultWorkspaceSize      = "workspace_over_budget"
	FaultWorkspaceCut       = "workspace_cut"
	FaultHostTruncated      = "host_truncated"
	FaultNotesUnread        = "notes_unread"
	FaultCheckpoint         = "checkpoint_damaged"
	AlertSpiral             = "death_spiral"
	AlertDuplicateSignature = paging.AlertDuplicateSignature
	// RuleNoProgress is the rule by which a cut is refused that would be one more for
	// nothing.
	RuleNoProgress = "no_progress"
)
