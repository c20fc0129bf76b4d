package kernel

import (
	"context"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
)

// bytesPerToken is a careful estimate for the masked excerpts of a delta: English
// has about four, other languages and code less.
const bytesPerToken = 3

// noteJob is a delta on its way to the model.
type noteJob struct {
	key, name, branch string // the session and its folder, and the branch
	epoch, version    int    // as they were when the delta was taken
	prompt            summary.Prompt
	answered          summary.Answered
	now               time.Time
	// ended: the epoch ends with the delta, and what is remembered of it stands.
	ended bool
}

// takeNotes starts to ask the model about what was said since it last looked, if
// that is due. The session is locked; nothing here waits for anybody.
func (k *Kernel) takeNotes(s *session, w *intake, t Turn, o *Observation) {
	if k.notes == nil || o.Outcome == Conflict || k.notes.busy(s.name) {
		return
	}
	if job, ok := k.noteJob(s, w, t, s.observed[t.Branch], false); ok {
		k.notes.start(s.name, func(ctx context.Context) { k.runNotes(ctx, job) })
	}
}

// noteJob takes the delta up to a summary, if it is large or old enough, or in any
// case.
func (k *Kernel) noteJob(s *session, w *intake, t Turn, st summary.State, anyway bool) (*noteJob, bool) {
	opt, end := &k.notes.opt, w.turnEnd()
	all, err := s.notes(t.Branch)
	if err != nil || end == 0 || !reaches(w.Msgs, end, st.Offset.Key) {
		return nil, false
	}
	from := noted(all, w.Msgs[:end])
	msgs := w.Msgs[from:end]
	if len(msgs) == 0 || !anyway && !due(opt, w.Hosts[from:end], msgs, t.Now) || k.notes.calm.cooling(opt.Model.Name(), k.now()) {
		return nil, false
	}
	notes := all.Rooted(ingest.RootedIn(w.Msgs))
	d := summary.DeltaOf(msgs, st.Sidechain, s.masker.Text, opt.DeltaTokens*bytesPerToken)
	if d.Used == 0 {
		return nil, false
	}
	for i := range d.Sources {
		d.Sources[i].Page = pageOf(w.Hosts[from:end], d.Sources[i].Key)
	}
	p := summary.PromptFor(st, notes, d)
	p.User = s.masker.Text(p.User) // once more as a whole: what was kept from before a rule was known
	return &noteJob{key: s.key, name: s.name, branch: t.Branch, epoch: s.account.epoch, version: all.Version, prompt: p, now: t.Now,
		answered: summary.Answered{State: st, Notes: notes, Page: s.notesPage(t.Branch), Session: s.evidence(), Sources: d.Sources, Mask: s.masker.Text,
			Mark: summary.Mark{Key: msgs[d.Used-1].Key, Messages: d.Used, Model: summary.Excerpt(opt.Model.Name(), 120)}}}, true
}

// reaches tells whether the ended turns go as far as the summary: an old turn that
// is delivered again has nothing that is new.
func reaches(msgs []memkernel.Message, end int, key string) bool {
	for i := end - 1; i < len(msgs); i++ {
		if msgs[i].Key == key {
			return true
		}
	}
	return false
}

// noted is how many of the messages a model has read: up to the newest mark whose
// message still stands.
func noted(n summary.Notes, msgs []memkernel.Message) int {
	read := make(map[string]bool, len(n.Marks))
	for _, m := range n.Marks {
		read[m.Key] = true
	}
	for i := len(msgs); i > 0; i-- {
		if read[msgs[i-1].Key] {
			return i
		}
	}
	return 0
}

// due tells whether a delta is to be asked about.
func due(opt *SummaryOptions, hosts []pagevm.HostMessage, msgs []memkernel.Message, now time.Time) bool {
	tokens := 0
	for i := range hosts {
		tokens += hosts[i].Tokens()
	}
	if tokens >= opt.Tokens {
		return true
	}
	for i := range msgs {
		if !msgs[i].Time.IsZero() {
			return now.Sub(msgs[i].Time) >= opt.After
		}
	}
	return false
}

// pageOf is the first page of a message, "" if it has none.
func pageOf(hosts []pagevm.HostMessage, key string) string {
	for i := range hosts {
		if hosts[i].Key == key && len(hosts[i].Segments) > 0 {
			return hosts[i].Segments[0].Page
		}
	}
	return ""
}

// notesPage is the page of the notes on a branch in this epoch.
func (s *session) notesPage(branch string) string {
	return "notes" + s.summaryPage(branch)[len("summary"):]
}

// notes are all notes that the journal holds on a branch.
func (s *session) notes(branch string) (summary.Notes, error) { return s.notesOn(s.notesPage(branch)) }

func (s *session) notesOn(page string) (summary.Notes, error) {
	if s.journal == nil {
		return summary.ReadNotes(journal.StoredPage{})
	}
	p, _ := s.journal.Store().Page(s.address(page))
	return summary.ReadNotes(p)
}

// notesLock is held among processes while a session's delta is asked about. The
// kernel of the machine gives it back when its holder dies.
const notesLock = "summary.lock"

// runNotes asks about a delta and commits what is answered.
func (k *Kernel) runNotes(ctx context.Context, job *noteJob) {
	lock, err := k.folder(job.name).Lock(notesLock)
	if err != nil {
		return
	}
	if ok, err := lock.TryLock(); !ok || err != nil {
		return // another process asks
	}
	defer lock.Close()
	if !k.stillDue(ctx, job) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, k.notes.opt.Timeout)
	defer cancel()
	answer, err := k.notes.opt.Model.Complete(ctx, job.prompt)
	if k.notes.ctx.Err() != nil {
		return // the kernel was closed meanwhile: the delta is asked about again
	}
	var ops []summary.Operation
	if err == nil {
		ops, err = summary.ParseOperations(answer.Text)
	}
	var failed *summary.ModelError
	job.answered.Mark.Reason = summary.ReasonOK
	if err != nil {
		failed = summary.Explain(err)
		job.answered.Mark.Reason = failed.Reason
	}
	k.notes.calm.note(k.notes.opt.Model.Name(), failed, k.now())
	if !job.answered.Mark.Reason.Spent() {
		return
	}
	if err := k.commitNotes(job, ops); err != nil {
		// Asking again at once would only be paid for again.
		k.notes.calm.note(k.notes.opt.Model.Name(), &summary.ModelError{Reason: summary.ReasonNotWritten, Err: err}, k.now())
	}
}

// stillDue looks whether another process was faster.
func (k *Kernel) stillDue(ctx context.Context, job *noteJob) bool {
	s, unlock, err := k.openFolder(ctx, job.key, job.name, false)
	if err != nil {
		return false
	}
	defer unlock()
	return s.current(job)
}

// current tells whether a job is made from what the journal says now.
func (s *session) current(job *noteJob) bool {
	n, err := s.notesOn(job.answered.Page)
	return err == nil && (s.account.epoch == job.epoch || job.ended && s.account.epoch == job.epoch+1) && n.Version == job.version
}
