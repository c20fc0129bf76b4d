package kernel

import (
	"context"

	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/summary"
)

// notesWait tells whether a model's notes are newer than what the carry block shows
// of them, and the cache is cold, so that showing them costs nothing. Before the
// first cut there is no summary to stand beside: the whole conversation stands.
func (w *work) notesWait(c pagevm.Cache) bool {
	if w.demand != nil || !c.Cold || !w.sent() || len(w.proj.Cuts) == 0 || c.Event != "" && c.Event == w.proj.LastEvent() {
		return false
	}
	n, err := w.s.notes(w.req.Branch)
	return err == nil && n.Version > w.prev.Notes
}

// showNotes makes the carry block again with the notes as they are now: a cut that
// lets nothing go. It uses up the cold event.
func (w *work) showNotes(delta pagevm.Delta, cache pagevm.Cache) {
	before, texts := w.next.Summary, w.texts
	w.advanceSummary()
	w.seen = w.proj.Seen
	wishes := pagevm.Wishes{Cut: &pagevm.CutWish{Reason: pagevm.CutCold, CarryOnly: true}, Carry: w.carry()}
	wishes.Drop = w.saidBy(wishes.Carry)
	proj, dec := w.nextProjection(delta, wishes, cache)
	if dec.Cut == nil || w.planned(proj) > w.hard {
		w.next.Summary, w.texts = before, texts
		return
	}
	w.proj, w.decision, w.wishes, w.granted = proj, dec, wishes, cache
}

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
