package kernel

import (
	"fmt"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/session"
)

// Overflow is a provider's refusal of a request as too long.
type Overflow struct {
	// Text is what the provider said, in any form; see [budget.ParseOverflow]. Without
	// one, or without figures in it, the request is taken to be larger than the window.
	Text string
	// Input and Limit are the figures where the host knows them better, in tokens.
	Input, Limit int
	// PlanID is the plan that was refused; "" is the newest. A refusal that is
	// delivered again, after the plan that answers it, teaches nothing.
	PlanID string
}

// OverflowError is returned where a request was refused again and again although
// each plan was smaller, or where nothing that was refused can be made smaller.
type OverflowError struct {
	// Tries were made; Planned is how large the last plan was by our count, Window
	// what the provider is known to take, both in tokens.
	Tries, Planned, Window int
	// Largest is what takes most of it.
	Largest []LargeItem
}

func (e *OverflowError) Error() string {
	what := ""
	for i, it := range e.Largest {
		if i > 0 {
			what += ", "
		}
		what += fmt.Sprintf("%s %d", it.Name, it.Tokens)
	}
	return fmt.Sprintf("the provider refused %d requests in a row as too long, the last of about %d tokens for a window of %d (largest: %s); shorten what is largest, name the window that the provider really has (ContextWindow, --context-window), or begin a new session",
		e.Tries, e.Planned, e.Window, what)
}

// ErrNoOverflow is returned for a text that is no refusal of a request as too long.
var ErrNoOverflow = plan.ErrNoOverflow

// learnForGood trains the model's calibration on a refusal that named figures.
func learnForGood(s *session.Session, pl *planned) {
	if !pl.Learned || pl.Refusal == nil || pl.Refusal.Input == 0 || pl.RefusedCount == 0 {
		return
	}
	cal := s.Calibrations.Of(pl.req.Model)
	if !cal.Observe(budget.Count{Tokens: pl.RefusedCount, Kind: budget.Estimated}, len(pl.Msgs), pl.RefusedActual) {
		return
	}
	if err := s.Calibrations.Set(pl.req.Model, cal); err != nil {
		pl.faults = append(pl.faults, Fault{Code: FaultNotRecorded, Detail: err.Error()})
	}
}
