package plan

import (
	"cmp"
	"fmt"

	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/retrieval"
)

// verify checks the finished projection independently of the stages. The paging contract makes
// promises about pins, about bootstrap files after a compaction and about recall. A broken promise
// is reported as a fault with the reason.
func verify(c *call, l *limits, a *appended) {
	for i := range c.pins {
		verifyPin(c, l, a.Proj, &c.pins[i])
	}
	if a.Made.Cut != nil || c.Renewed() {
		verifyBootstrap(c, a.Proj)
	}
	if turn, _, fresh := c.userTurn(); fresh && a.Proj.Recall.Turn == turn {
		verifyRecall(c, a.Proj.Recall)
	}
}

func verifyPin(c *call, l *limits, proj *pagevm.Projection, p *pin) {
	page := c.told(proj, p.ref.Path)
	if page != nil && proj.LevelOf(page.ID) >= pagevm.Structured {
		return
	}
	need := l.Scale(c.Maker.Count.Text(cmp.Or(p.short, p.full)))
	f := fault.Fault{Code: "pinned_invariant_miss", Page: p.String(), Cause: string(paging.CauseSelection),
		Detail: fmt.Sprintf("the pinned %s %s does not stand in the prompt", p.Type, p.Key)}
	if room := l.room(proj); room < need {
		f.Cause, f.BudgetInsufficient = string(paging.CauseBudget), true
		f.Detail += fmt.Sprintf(": it takes %d tokens, %d more than there are; it stands from the next cut on", need, need-max(room, 0))
	}
	c.fault(f)
}

func verifyBootstrap(c *call, proj *pagevm.Projection) {
	gone := proj.Seen[0].Gone
	for _, f := range c.files() {
		if f.Type != pagevm.Bootstrap || c.hostShows(f.Text, gone) {
			continue
		}
		if page := c.told(proj, f.Path); page != nil && proj.LevelOf(page.ID) >= pagevm.Structured {
			continue
		}
		if c.unshown(&f, gone) != "" {
			c.fault(fault.Fault{Code: "post_compaction_bootstrap", Page: ingest.PageID("ws", f.Path), Cause: string(paging.CauseCompaction),
				Detail: f.Path + " does not stand in the prompt after the compaction"})
		}
	}
}

// verifyRecall reports a failed recall, so that its empty result is not taken as proof that memory
// has nothing.
func verifyRecall(c *call, r pagevm.Recall) {
	switch retrieval.Reason(r.Reason) {
	case retrieval.BackendError, retrieval.Denied:
		c.fault(fault.Fault{Code: fault.SilentRecall, Key: r.Turn, Cause: r.Reason, Detail: "memory was asked and could not answer: " + r.Detail})
	}
}
