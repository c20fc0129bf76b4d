package kernel

import (
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/kernel/internal/plan"
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
	r := plan.RefusedError{Tries: e.Tries, Planned: e.Planned, Window: e.Window}
	for _, it := range e.Largest {
		r.Largest = append(r.Largest, budget.Item(it))
	}
	return r.Error()
}

// ErrNoOverflow is returned for a text that is no refusal of a request as too long.
var ErrNoOverflow = plan.ErrNoOverflow
