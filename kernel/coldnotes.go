package kernel

import (
	"github.com/memkernel/memkernel/kernel/internal/notes"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/summary"
)

// boundaryNotes is the delta up to a boundary, however little that is; nil if there
// is none, or nobody to ask.
func (k *Kernel) boundaryNotes(s *session.Session, w *intake, b Boundary, st summary.State) *notes.Job {
	if w == nil || b.Reason == startReason || k.notes.Busy(s.Files) {
		return nil
	}
	return k.noteJob(s, w, b.turn(), st, true)
}

// askAtBoundary asks about it in the background: nobody waits.
func (k *Kernel) askAtBoundary(s *session.Session, job *notes.Job, ended bool) {
	if job == nil {
		return
	}
	job.EndsEpoch = ended
	k.notes.Start(job, &noted{k, s.Key, s.Name})
}
