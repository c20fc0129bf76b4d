package kernel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/notes"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
)

// SummaryOptions say whether a model makes notes of sessions, and when.
type SummaryOptions struct {
	// Model is asked. Nil, the default, asks nobody.
	Model summary.Model
	// Tokens is the size of a delta from which it is asked about; After is the age
	// of its oldest message from which a smaller one is. Defaults: 4,000 and
	// 15 minutes.
	Tokens int
	After  time.Duration
	// DeltaTokens bounds how much of a delta is sent in one request, about; what
	// is left goes with the next. Default: 24,000.
	DeltaTokens int
	// Timeout bounds one request. Default: a minute.
	Timeout time.Duration
	// CloseWait is how long Close waits for a request before it is cancelled.
	// Default: 2 seconds; negative does not wait.
	CloseWait time.Duration
	// NoFacts keeps what a model proposes to remember out of the daily log.
	NoFacts bool
}

// The defaults of [SummaryOptions]. Four thousand tokens are a few tool calls: a
// request per handful of turns, of which the prompt's own text is a sixth.
const (
	DefaultSummaryTokens    = 4_000
	DefaultSummaryAfter     = 15 * time.Minute
	DefaultSummaryDelta     = 24_000
	DefaultSummaryTimeout   = time.Minute
	DefaultSummaryCloseWait = 2 * time.Second
)

func (o SummaryOptions) filled() SummaryOptions {
	if o.Tokens == 0 {
		o.Tokens = DefaultSummaryTokens
	}
	if o.After == 0 {
		o.After = DefaultSummaryAfter
	}
	if o.DeltaTokens == 0 {
		o.DeltaTokens = DefaultSummaryDelta
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultSummaryTimeout
	}
	if o.CloseWait == 0 {
		o.CloseWait = DefaultSummaryCloseWait
	}
	return o
}

// takeNotes starts to ask the model about what was said since it last looked, if
// that is due. The session is locked; nothing here waits for anybody.
func (k *Kernel) takeNotes(s *session.Session, w *intake, t Turn, o *Observation) {
	if o.Outcome == Conflict || k.notes.Busy(s.Files) {
		return
	}
	if job := k.noteJob(s, w, t, s.Account.Observed[t.Branch], false); job != nil {
		k.notes.Start(job, &noted{k, s.Key, s.Name})
	}
}

// noteJob takes the delta up to a summary, if it is large or old enough, or it is the
// last.
func (k *Kernel) noteJob(s *session.Session, w *intake, t Turn, st summary.State, last bool) *notes.Job {
	all, err := notesOf(s, t.Branch)
	if err != nil {
		return nil
	}
	return k.notes.Job(&notes.Said{Folder: s.Files, Branch: t.Branch, Epoch: s.Account.Epoch, Page: notesPage(s, t.Branch), Evidence: s.Evidence(),
		Messages: w.Msgs, Hosts: w.Hosts, Ended: w.turnEnd(), Summary: st, Notes: all, Mask: s.Masker.Text, Now: t.Now, Last: last})
}

// noted is a session that a model is asked about.
type noted struct {
	k         *Kernel
	key, name string
}

// Current looks whether another process was faster.
func (n *noted) Current(ctx context.Context, job *notes.Job) bool {
	s, unlock, err := n.k.openFolder(ctx, n.key, n.name, false)
	if err != nil {
		return false
	}
	defer unlock()
	return upToDate(s, job)
}

// current tells whether a job is made from what the journal says now.
func upToDate(s *session.Session, job *notes.Job) bool {
	n, err := notesOn(s, job.Answered.Page)
	return err == nil && (s.Account.Epoch == job.Epoch || job.EndsEpoch && s.Account.Epoch == job.Epoch+1) && n.Version == job.Version
}

// Commit writes what a model answered: one transaction of the mark, the operations,
// and what is to be remembered; the daily log is brought up to it then.
func (n *noted) Commit(job *notes.Job, updates []journal.Update, facts []summary.Fact) error {
	// Not the request's context, which may have ended: what was paid for is kept.
	ctx := context.Background()
	s, unlock, err := n.k.openFolder(ctx, n.key, n.name, true)
	if errors.Is(err, ErrClosed) {
		return nil
	} else if err != nil {
		return err
	}
	defer unlock()
	if !upToDate(s, job) {
		return nil
	}
	if err := commitNotes(s, n.k.memory, job, updates, facts); err != nil {
		s.Invalidate() // what stands on disk counts
		return err
	}
	s.WriteMemories(ctx)
	if n.k.memory != nil {
		n.k.memory.Sync.Written()
	}
	return nil
}

func commitNotes(s *session.Session, m *memory, job *notes.Job, updates []journal.Update, facts []summary.Fact) error {
	if m != nil {
		for _, f := range facts {
			u, err := factUpdate(s, m, job, f)
			if err != nil {
				return err
			}
			updates = append(updates, u)
		}
	}
	mark := &job.Answered.Mark
	tx := journal.Transaction{Key: "notes:" + ids.Page("no", s.Name, job.Branch, fmt.Sprint(job.Epoch, job.Version), mark.Key),
		Time: job.Now, Point: journal.PointTurn, By: journal.Principal{Name: "model " + summary.Excerpt(mark.Model, 80), Session: s.Name}, Updates: updates}
	r, err := s.Writeback(tx, job.Answered.Policy())
	if err == nil && len(r.Accepted) == 0 {
		err = errors.New("the mark of the delta was refused")
	}
	return err
}

// factUpdate promises an entry of today's log, as [Kernel.Remember] does.
func factUpdate(s *session.Session, m *memory, job *notes.Job, f summary.Fact) (journal.Update, error) {
	body := workstate.Entry{Path: m.Store(false).DailyPath(job.Now), Text: "- " + f.Text + " (noted by " + summary.Excerpt(job.Answered.Mark.Model, 80) + ")"}
	u, err := session.MemoryUpdate(ids.Page("me", s.Name, body.Path, body.Text), body, f.Evidence)
	u.ID = f.ID
	return u, err
}

// notesPage is the page of the notes on a branch in this epoch.
func notesPage(s *session.Session, branch string) string {
	return "notes" + s.Account.SummaryPage(branch)[len("summary"):]
}

// notes are all notes that the journal holds on a branch.
func notesOf(s *session.Session, branch string) (summary.Notes, error) {
	return notesOn(s, notesPage(s, branch))
}

func notesOn(s *session.Session, page string) (summary.Notes, error) {
	p, _ := s.Page(page)
	return summary.ReadNotes(p)
}

// ModelSummary is how it stands with a model's notes on a branch of a session.
type ModelSummary struct {
	Branch string `json:"branch"`
	// Model was asked last, at Time, about so many Messages, and proposed so many
	// Operations; Reason is OK, or why the mechanical summary stands alone for them.
	Model      string         `json:"model"`
	Time       time.Time      `json:"time"`
	Messages   int            `json:"messages"`
	Operations int            `json:"operations"`
	Reason     summary.Reason `json:"reason"`
	// Deltas counts how often a model answered.
	Deltas int `json:"deltas"`
	// Notes counts those that stand, open or closed, Closed what was closed.
	Notes  int `json:"notes"`
	Closed int `json:"closed"`
}

// modelSummaries says how it stands with the notes on each branch of this epoch.
func modelSummaries(s *session.Session) []ModelSummary {
	out := []ModelSummary{}
	if s.Journal == nil {
		return out
	}
	prefix := notesPage(s, "")
	for _, p := range s.Journal.Store().Pages(s.Name) {
		branch, ok := strings.CutPrefix(p.Key, prefix)
		if !ok || p.Type != summary.NotesType {
			continue
		}
		if n, err := summary.ReadNotes(p); err == nil {
			last := n.Last()
			m := ModelSummary{Branch: branch, Deltas: n.Version, Model: last.Model, Time: last.Time, Messages: last.Messages, Operations: last.Operations, Reason: last.Reason}
			m.Notes, m.Closed = n.Count()
			out = append(out, m)
		}
	}
	return out
}

// Cooldown is how it stands with a model that is asked for notes. It is shared by
// all sessions of a state directory, since they have one account at one server.
type Cooldown struct {
	Model string `json:"model"`
	// Failures counts those since the last answer that could be used; Until is
	// when the model is asked again.
	Failures int       `json:"failures"`
	Until    time.Time `json:"until,omitzero"`
	// Reason and Detail say what the last failure was, Failed when.
	Reason summary.Reason `json:"reason"`
	Detail string         `json:"detail,omitempty"`
	Failed time.Time      `json:"failed,omitzero"`
	// Answered is when it last gave what could be used.
	Answered time.Time `json:"answered,omitzero"`
}

// cooldowns are those of all models that were asked, by name.
func (k *Kernel) cooldowns() []Cooldown {
	out := []Cooldown{}
	for _, c := range notes.OpenCooldowns(k.state).All() {
		out = append(out, Cooldown(c))
	}
	return out
}
