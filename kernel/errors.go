package kernel

import (
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/plan"
)

var (
	// ErrNoMessages is returned for a request whose conversation is empty.
	ErrNoMessages = ingest.ErrNoMessages
	// ErrAnswered is returned for a request that ends with an assistant message:
	// there is nothing for the model to answer.
	ErrAnswered = ingest.ErrAnswered
)

// WindowError is returned when nobody knows the model's context window.
type WindowError struct{ Model string }

func (e *WindowError) Error() string { return (*plan.WindowError)(e).Error() }

// TooSmallError is returned when even the least that must stand does not fit
// between window and reserve. It says by how much, and what is largest.
type TooSmallError = budget.TooSmallError

// ErrPrivate is returned for a shared plan of a conversation that was planned as
// private: what it has been shown must not reach others.
var ErrPrivate = plan.ErrPrivate
