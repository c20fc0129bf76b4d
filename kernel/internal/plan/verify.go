package plan

import (
	"fmt"

	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/retrieval"
)

// verify checks the finished projection from the outside. The contract makes promises about pins,
// about bootstrap files after a compaction and about recall. Each promise is kept, or is reported
// as a fault that says why.
func verify(a *appended) {
	for i := range a.prior.Pinned {
		verifyPin(a, &a.prior.Pinned[i])
	}
	if a.Made.Cut != nil || a.Renewed() {
		verifyBootstrap(a)
	}
	if turn, _, fresh := a.userTurn(); fresh && a.Proj.Recall.Turn == turn {
		verifyRecall(a, turn)
	}
}

func verifyPin(a *appended, p *journal.StoredPage) {
	page := a.told(pinRef(p))
	if page != nil && a.levelOf(page.ID) >= pagevm.Structured {
		return
	}
	need := a.Scale(a.Count.Text(pinText(p, true)))
	f := fault.Fault{Code: fault.Pinned, Page: p.String(), Cause: string(paging.CauseSelection),
		Detail: fmt.Sprintf("the pinned %s %s does not stand in the prompt", p.Type, p.Key)}
	if room := a.Hard - a.Planned(a.Proj); room < need {
		f.Cause, f.BudgetInsufficient = string(paging.CauseBudget), true
		f.Detail += fmt.Sprintf(": it takes %d tokens, %d more than there are; it stands from the next cut on", need, need-max(room, 0))
	}
	a.fault(f)
}

func verifyBootstrap(a *appended) {
	for i := range a.sources() {
		src := &a.shelf.files[i]
		if src.Type != pagevm.Bootstrap || a.hostShows(src.Text) {
			continue
		}
		if page := a.told(src.Path); page != nil && a.levelOf(page.ID) >= pagevm.Structured {
			continue
		}
		if a.unshown(src) != "" {
			a.fault(fault.Fault{Code: fault.Bootstrap, Page: ids.Page("ws", src.Path), Cause: string(paging.CauseCompaction),
				Detail: src.Path + " does not stand in the prompt after the compaction"})
		}
	}
}

// verifyRecall reports a recall that failed, so that its empty result is not taken as proof that
// memory has nothing.
func verifyRecall(a *appended, turn string) {
	switch r := a.Proj.Recall; retrieval.Reason(r.Reason) {
	case retrieval.BackendError, retrieval.Denied:
		a.fault(fault.Fault{Code: fault.SilentRecall, Key: turn, Cause: r.Reason, Detail: "memory was asked and could not answer: " + r.Detail})
	}
}

// levelOf returns the level at which the plan shows a page.
func (d *decision) levelOf(page string) pagevm.Level { return LevelIn(d.Proj, page) }

// LevelIn returns the level at which a projection shows a page, Gone if it does not show the
// page.
func LevelIn(p *pagevm.Projection, page string) pagevm.Level {
	for _, items := range [][]pagevm.Item{p.Items, p.Carry} {
		for i := range items {
			if items[i].Page == page {
				return items[i].Level
			}
		}
	}
	return pagevm.Gone
}
