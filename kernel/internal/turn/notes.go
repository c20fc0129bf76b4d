package turn

import (
	"context"
	"errors"
	"fmt"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/memory"
	"github.com/memkernel/memkernel/kernel/internal/notes"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
)

// startNotes asks the model about a job in the background, unless the job is nil. No caller waits.
func (d *Desk) startNotes(s *session.Session, job *notes.Job) {
	if job != nil {
		d.Notes.Start(job, &noted{d, s.Key, s.Name})
	}
}

// noteJob takes the delta up to a summary, if the delta is large or old enough, or is the last
// one.
func (d *Desk) noteJob(s *session.Session, w *intake, t api.Turn, st summary.State, last bool) *notes.Job {
	all, err := NotesOf(s, t.Branch)
	if err != nil {
		return nil
	}
	return d.Notes.Job(&notes.Said{Folder: s.Files, Branch: t.Branch, Epoch: s.Account.Epoch, Page: NotesPage(s, t.Branch), Evidence: s.Evidence(),
		Messages: w.Msgs, Hosts: w.Hosts, Ended: w.turnEnd(), Summary: st, Notes: all.Rooted(ingest.RootedIn(w.Msgs)), Mask: s.Masker.Text, Now: t.Now, Last: last})
}

// noted is the session about which a model is asked for notes.
type noted struct {
	desk      *Desk
	key, name string
}

// Current reports whether no other process has changed the notes since the job was made.
func (n *noted) Current(ctx context.Context, job *notes.Job) bool {
	s, unlock, err := n.desk.Sessions.ReadFolder(ctx, n.name)
	if err != nil {
		return false
	}
	defer unlock()
	return upToDate(s, job)
}

// upToDate reports whether a job is made from the journal's present state.
func upToDate(s *session.Session, job *notes.Job) bool {
	n, err := notesOn(s, job.Answered.Page)
	return err == nil && (s.Account.Epoch == job.Epoch || job.EndsEpoch && s.Account.Epoch == job.Epoch+1) && n.Version == job.Version
}

// Commit writes a model's answer. One transaction holds the mark, the operations, and the facts
// to remember. Commit then adds the facts to the daily log.
func (n *noted) Commit(job *notes.Job, updates []journal.Update, facts []summary.Fact) error {
	// The request's context may have ended by now. The answer is kept, because it was paid for.
	ctx := context.Background()
	err := n.desk.Sessions.Write(ctx, n.key, func(s *session.Session) error {
		if !upToDate(s, job) {
			return nil
		}
		if err := commitNotes(s, n.desk.Memory, job, updates, facts); err != nil {
			s.Invalidate() // the data on disk counts
			return err
		}
		s.WriteMemories(ctx)
		if n.desk.Memory != nil {
			n.desk.Memory.Sync.Written()
		}
		return nil
	})
	if errors.Is(err, api.ErrClosed) {
		return nil
	}
	return err
}

func commitNotes(s *session.Session, m *memory.Memory, job *notes.Job, updates []journal.Update, facts []summary.Fact) error {
	if m != nil {
		for _, f := range facts { // the facts are promised entries of today's log
			body := workstate.Entry{Path: m.Store(false).DailyPath(job.Now), Text: "- " + f.Text + " (noted by " + summary.Excerpt(job.Answered.Mark.Model, 80) + ")"}
			u, err := session.MemoryUpdate(ingest.PageID("me", s.Name, body.Path, body.Text), body, f.Evidence)
			if err != nil {
				return err
			}
			u.ID = f.ID
			updates = append(updates, u)
		}
	}
	mark := &job.Answered.Mark
	tx := journal.Transaction{Key: "notes:" + ingest.PageID("no", s.Name, job.Branch, fmt.Sprint(job.Epoch, job.Version), mark.Key),
		Time: job.Now, Point: journal.PointTurn, By: journal.Principal{Name: "model " + summary.Excerpt(mark.Model, 80), Session: s.Name}, Updates: updates}
	r, err := s.Writeback(tx, s, job.Answered.Policy())
	if err == nil && len(r.Accepted) == 0 {
		err = errors.New("the mark of the delta was refused")
	}
	return err
}

// NotesPage returns the page of the notes on a branch in this epoch.
func NotesPage(s *session.Session, branch string) string {
	return "notes" + s.Account.SummaryPage(branch)[len("summary"):]
}

// NotesOf returns all notes in the journal about a branch.
func NotesOf(s *session.Session, branch string) (summary.Notes, error) {
	return notesOn(s, NotesPage(s, branch))
}

func notesOn(s *session.Session, page string) (summary.Notes, error) {
	p, _ := s.Page(page)
	return summary.ReadNotes(p)
}
