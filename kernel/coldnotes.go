package kernel

import (
	"context"

	"github.com/memkernel/memkernel/summary"
)

// boundaryNotes is the delta up to a boundary, however little that is; nil if there
// is none, or nobody to ask.
func (k *Kernel) boundaryNotes(s *session, w *intake, b Boundary, st summary.State) *noteJob {
	if k.notes == nil || w == nil || b.Reason == startReason || k.notes.busy(s.name) {
		return nil
	}
	job, ok := k.noteJob(s, w, b.turn(), st, true)
	if !ok {
		return nil
	}
	return job
}

// askAtBoundary asks about it in the background: nobody waits.
func (k *Kernel) askAtBoundary(s *session, job *noteJob, ended bool) {
	if job == nil {
		return
	}
	job.ended = ended
	k.notes.start(s.name, func(ctx context.Context) { k.runNotes(ctx, job) })
}
