package notes

import (
	"context"
	"slices"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
)

// bytesPerToken is a careful estimate for the masked excerpts of a delta. English has about four
// bytes per token, other languages and code have fewer.
const bytesPerToken = 3

// Said is a branch of a session after a turn or a boundary, and the notes on it.
type Said struct {
	// Folder is the session's folder.
	Folder store.Store
	Branch string
	Epoch  int
	// Page is the key of the branch's notes in this Epoch. Evidence is the citation that names
	// the session as a source.
	Page, Evidence string
	// Messages are all valid messages.
	Messages []memkernel.Message
	// Hosts has the pages of Messages.
	Hosts []pagevm.HostMessage
	// Ended is the number of leading messages that belong to ended turns.
	Ended int
	// Summary is the mechanical summary. Notes are the notes in the journal that are about
	// Messages.
	Summary summary.State
	Notes   summary.Notes
	Mask    func(string) string
	Now     time.Time
	// Last takes the delta however small it is, because no larger delta will follow.
	Last bool
}

// Job is a delta on its way to the model.
type Job struct {
	Folder store.Store
	Branch string
	// Epoch and Version are the epoch and the version of the notes when the delta was taken.
	Epoch, Version int
	Now            time.Time
	// EndsEpoch reports that the epoch ends with the delta. The texts remembered from the delta
	// are then final.
	EndsEpoch bool
	// Answered is the state to which the answer is applied.
	Answered summary.Answered
	prompt   summary.Prompt
}

// session is the source of a job and the receiver of its answer.
type session interface {
	// Current reports whether a job is made from the journal's present state.
	Current(ctx context.Context, job *Job) bool
	// Commit writes the mark of the delta, the operations and the facts at once. If another
	// answer or a reset came first, the answer is dropped without an error. After an error the
	// delta stays as it was, and the model is asked about it again.
	Commit(job *Job, updates []journal.Update, facts []summary.Fact) error
}

// Job takes the delta up to a summary. It returns nil if the delta is neither large nor old
// enough, or if the model is in a cool-down.
func (n *Taker) Job(s *Said) *Job {
	if s.Ended == 0 || !reaches(s.Messages, s.Ended, s.Summary.Offset.Key) {
		return nil
	}
	from := noted(s.Notes, s.Messages[:s.Ended])
	msgs, hosts := s.Messages[from:s.Ended], s.Hosts[from:s.Ended]
	if len(msgs) == 0 || !s.Last && !due(&n.opt, hosts, msgs, s.Now) || n.calm.Cooling(n.opt.Model.Name(), n.now()) {
		return nil
	}
	d := summary.DeltaOf(msgs, s.Summary.Sidechain, s.Mask, n.opt.DeltaTokens*bytesPerToken)
	if d.Used == 0 {
		return nil
	}
	for i := range d.Sources {
		d.Sources[i].Page = pageOf(hosts, d.Sources[i].Key)
	}
	p := summary.PromptFor(s.Summary, s.Notes, d)
	p.User = s.Mask(p.User) // masked once more as a whole, because a part may be older than a rule
	return &Job{Folder: s.Folder, Branch: s.Branch, Epoch: s.Epoch, Version: s.Notes.Version, Now: s.Now, prompt: p,
		Answered: summary.Answered{State: s.Summary, Notes: s.Notes, Page: s.Page, Session: s.Evidence, Sources: d.Sources, Mask: s.Mask,
			Mark: summary.Mark{Key: msgs[d.Used-1].Key, Messages: d.Used, Model: summary.Excerpt(n.opt.Model.Name(), 120)}}}
}

// reaches reports whether the ended turns include the message with key, up to which the summary
// goes. If they don't, an old turn was delivered again and there is nothing new.
func reaches(msgs []memkernel.Message, end int, key string) bool {
	return slices.ContainsFunc(msgs[end-1:], func(m memkernel.Message) bool { return m.Key == key })
}

// noted returns the number of messages that a model has read. They end at the newest mark whose
// message is still in the conversation.
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

// due reports whether the model is due to be asked about a delta.
func due(opt *api.SummaryOptions, hosts []pagevm.HostMessage, msgs []memkernel.Message, now time.Time) bool {
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

// pageOf returns the first page of a message, or "" if the message has no page.
func pageOf(hosts []pagevm.HostMessage, key string) string {
	for i := range hosts {
		if hosts[i].Key == key && len(hosts[i].Segments) > 0 {
			return hosts[i].Segments[0].Page
		}
	}
	return ""
}

// A process must hold lockName while it asks about a session's delta. The operating system
// releases the lock when its holder dies.
const lockName = "summary.lock"

// ask sends a delta to the model. The session s commits the answer.
func (n *Taker) ask(ctx context.Context, job *Job, s session) {
	if !store.Exists(job.Folder, "") {
		return // the session ended
	}
	release, err := job.Folder.Lock(lockName, store.Alone)
	if err != nil {
		return // another process is asking the model
	}
	defer release()
	if !s.Current(ctx, job) {
		return // another process was faster
	}
	ctx, cancel := context.WithTimeout(ctx, n.opt.Timeout)
	defer cancel()
	answer, err := n.opt.Model.Complete(ctx, job.prompt)
	if n.ctx.Err() != nil {
		return // the kernel was closed meanwhile, and the next process asks about the delta again
	}
	var ops []summary.Operation
	if err == nil {
		ops, err = summary.ParseOperations(answer.Text)
	}
	var failed *summary.ModelError
	job.Answered.Mark.Reason = summary.ReasonOK
	if err != nil {
		failed = summary.Explain(err)
		job.Answered.Mark.Reason = failed.Reason
	}
	n.calm.Note(n.opt.Model.Name(), failed, n.now())
	if !job.Answered.Mark.Reason.Spent() {
		return
	}
	updates, facts, err := job.Answered.Updates(ops)
	if err == nil {
		err = s.Commit(job, updates, facts)
	}
	if err != nil {
		// Another attempt would cost the same again.
		n.calm.Note(n.opt.Model.Name(), &summary.ModelError{Reason: summary.ReasonNotWritten, Err: err}, n.now())
	}
}
