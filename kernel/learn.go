package kernel

import (
	"fmt"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/session"
)

// plausible tells whether a prompt that we counted may have been so large. It may
// well be larger: some hosts do not show us their system prompt and tools.
func plausible(actual, counted int) bool {
	const maxHidden = 200_000
	return 5*actual >= 2*counted && actual <= 10*counted+maxHidden
}

// learn takes what the provider billed for a planned call: it trains the model's
// calibration, and anchors the line on the measured prompt. It gives the row to log.
func learn(s *session.Session, t Turn, m cachelayout.Model) (*UsageRow, *Fault) {
	key := branch.Key{Branch: t.Branch, Model: t.Model}
	l := s.Branches.All[key]
	if t.Usage == nil || l == nil || l.Plan == "" || l.Plan != t.PlanID || l.Billed == t.PlanID {
		return nil, nil
	}
	if actual, counted := t.Usage.InputTotal(), l.Planned+l.LedgerFixed(); !plausible(actual, counted) {
		return nil, &Fault{Code: FaultUsageIgnored, Detail: fmt.Sprintf("%d tokens were reported for a prompt of about %d", actual, counted)}
	}
	row := usageRow(t, l, m)
	cal := s.Calibrations.Of(t.Model)
	cal.Observe(budget.Count{Tokens: l.Proj.Tokens(), Kind: budget.Estimated}, len(l.Proj.Items), t.Usage.InputTotal()-l.LedgerFixed())
	n := *l
	n.Billed = t.PlanID
	n.Overflow = l.Overflow.Billed(l.Proj.Tokens(), t.Usage.InputTotal()-l.LedgerFixed())
	n.Anchor = branch.Anchor{Total: t.Usage.InputTotal(), Carry: len(l.Proj.Carry), Items: len(l.Proj.Items),
		Generation: l.Proj.Generation, Fixed: l.LedgerFixed()}
	s.Branches.All[key] = &n
	if err := s.Calibrations.Set(t.Model, cal); err != nil {
		return &row, &Fault{Code: FaultNotRecorded, Detail: err.Error()}
	}
	return &row, nil
}
