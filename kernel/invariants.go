package kernel

import (
	"fmt"

	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/retrieval"
)

// The faults of the paging contract that a plan or a boundary can show, by the
// engine's names.
const (
	// FaultRefetch: the model fetched a page by its handle that the prompt did not
	// show in full.
	FaultRefetch = string(paging.Refetch)
	// FaultDuplicateTool: a call ran again that only looks at something, it came to the
	// same, and its result before did not stand in full. What waits or acts, and what
	// asks how things stand after an act, is none.
	FaultDuplicateTool = string(paging.DuplicateTool)
	// FaultPinned: a page that is pinned does not stand, or below its floor.
	FaultPinned = string(paging.PinnedInvariantMiss)
	// FaultBootstrap: after a compaction a file of standing instructions does not
	// stand, or below its floor.
	FaultBootstrap = string(paging.PostCompactionBootstrap)
	// FaultSilentRecall: something that is known could not be brought back. It is
	// never answered by silence: the fault says what and why.
	FaultSilentRecall = string(paging.SilentRecall)
	// FaultFlushMiss: a boundary was passed and the summary could not be brought up
	// to the newest message. The messages' pages stand in the journal all the same.
	FaultFlushMiss = string(paging.FlushMiss)
	// AlertDuplicateSignature: such a call ran again though its result stood in full. No
	// prompt could have prevented it.
	AlertDuplicateSignature = paging.AlertDuplicateSignature
)

// verify looks at the finished projection as a stranger would: what the contract
// promises of pins, of bootstrap files after a compaction and of recall either
// stands, or is a fault that says why.
func (w *work) verify() {
	for i := range w.pins() {
		w.verifyPin(&w.pinned[i])
	}
	if w.decision.Cut != nil || w.renewed() {
		w.verifyBootstrap()
	}
	if turn, _, fresh := w.userTurn(); fresh && w.proj.Recall.Turn == turn {
		w.verifyRecall(turn)
	}
}

func (w *work) verifyPin(p *journal.StoredPage) {
	page := w.told(pinRef(p))
	if page != nil && w.levelOf(page.ID) >= pagevm.Structured {
		return
	}
	need := w.scale(w.Count.Text(pinText(p, true)))
	f := Fault{Code: FaultPinned, Page: p.String(), Cause: string(paging.CauseSelection),
		Detail: fmt.Sprintf("the pinned %s %s does not stand in the prompt", p.Type, p.Key)}
	if room := w.hard - w.planned(w.proj); room < need {
		f.Cause, f.BudgetInsufficient = string(paging.CauseBudget), true
		f.Detail += fmt.Sprintf(": it takes %d tokens, %d more than there are; it stands from the next cut on", need, need-max(room, 0))
	}
	w.fault(f)
}

func (w *work) verifyBootstrap() {
	for i := range w.sources() {
		src := &w.files[i]
		if src.typ != pagevm.Bootstrap || w.hostShows(src.text) {
			continue
		}
		if page := w.told(src.path); page != nil && w.levelOf(page.ID) >= pagevm.Structured {
			continue
		}
		if w.unshown(src) != "" {
			w.fault(Fault{Code: FaultBootstrap, Page: ids.Page("ws", src.path), Cause: string(paging.CauseCompaction),
				Detail: src.path + " does not stand in the prompt after the compaction"})
		}
	}
}

// verifyRecall tells of a recall that failed: nothing recalled is no proof that
// nothing is known.
func (w *work) verifyRecall(turn string) {
	switch r := w.proj.Recall; retrieval.Reason(r.Reason) {
	case retrieval.BackendError, retrieval.Denied:
		w.fault(Fault{Code: FaultSilentRecall, Key: turn, Cause: r.Reason, Detail: "memory was asked and could not answer: " + r.Detail})
	}
}

// levelOf is how the plan shows a page.
func (w *work) levelOf(page string) pagevm.Level { return levelIn(w.proj, page) }

// levelIn is how a projection shows a page, Gone if it does not.
func levelIn(p *pagevm.Projection, page string) pagevm.Level {
	for _, items := range [][]pagevm.Item{p.Items, p.Carry} {
		for i := range items {
			if items[i].Page == page {
				return items[i].Level
			}
		}
	}
	return pagevm.Gone
}

// fault files a fault under the user's turn and the plan that it comes from: the
// last one, which the model has acted on, unless the fault is this plan's own.
func (w *work) fault(f Fault) {
	if f.Turn == "" {
		f.Turn, _, _ = w.userTurn()
	}
	w.faults = append(w.faults, f)
}
