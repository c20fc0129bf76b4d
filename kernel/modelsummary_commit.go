package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
)

// commitNotes writes what a model answered: one transaction of the mark, the
// operations, and what is to be remembered; the daily log is brought up to it
// then. An error leaves the delta as it was, to be asked about again; an answer that
// another one or a reset overtook is dropped.
func (k *Kernel) commitNotes(job *noteJob, ops []summary.Operation) error {
	// Not the request's context, which may have ended: what was paid for is kept.
	ctx := context.Background()
	s, unlock, err := k.openFolder(ctx, job.key, job.name, true)
	if errors.Is(err, ErrClosed) {
		return nil
	} else if err != nil {
		return err
	}
	defer unlock()
	if !s.current(job) {
		return nil
	}
	if err := s.commitNotes(k, job, ops); err != nil {
		s.forget() // what stands on disk counts
		return err
	}
	s.redo(ctx, k.memory)
	if k.memory != nil {
		k.memory.fresh.written()
	}
	return nil
}

func (s *session) commitNotes(k *Kernel, job *noteJob, ops []summary.Operation) error {
	updates, facts, err := job.answered.Updates(ops)
	if err != nil {
		return err
	}
	if k.memory != nil && !k.notes.opt.NoFacts {
		for _, f := range facts {
			u, err := s.factUpdate(k.memory, job, f)
			if err != nil {
				return err
			}
			updates = append(updates, u)
		}
	}
	tx := journal.Transaction{Key: "notes:" + ids.Page("no", s.name, job.branch, fmt.Sprint(job.epoch, job.version), job.answered.Mark.Key),
		Time: job.now, Point: journal.PointTurn, By: journal.Principal{Name: "model " + summary.Excerpt(job.answered.Mark.Model, 80), Session: s.name}, Updates: updates}
	r, err := s.writeNotes(tx, job.answered.Policy())
	if err == nil && len(r.Accepted) == 0 {
		err = errors.New("the mark of the delta was refused")
	}
	return err
}

// factUpdate promises an entry of today's log, as [Kernel.Remember] does.
func (s *session) factUpdate(m *memory, job *noteJob, f summary.Fact) (journal.Update, error) {
	body := rememberBody{Path: m.store(false).DailyPath(job.now), Text: "- " + f.Text + " (noted by " + summary.Excerpt(job.answered.Mark.Model, 80) + ")"}
	value, err := json.Marshal([]struct {
		ID    string       `json:"id"`
		Value rememberBody `json:"value"`
	}{{ids.Page("me", s.name, body.Path, body.Text), body}})
	return journal.Update{ID: f.ID, Key: memoryKey, Type: memoryType, Field: memoryField, Op: journal.OpAppend, Value: value,
		Scope: memkernel.ScopeSession, EvidenceRef: f.Evidence}, err
}

// writeNotes commits under the kernel's contract and the notes' own policy.
func (s *session) writeNotes(tx journal.Transaction, own journal.Policy) (journal.Receipt, error) {
	rules, err := journal.NewRules(s.contract.schema, evidence{s}, append([]journal.Policy{own}, s.contract.policies...)...)
	if err != nil {
		return journal.Receipt{}, err
	}
	if err := s.openJournal(); err != nil {
		return journal.Receipt{}, err
	}
	return s.journal.Writeback(tx, rules)
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
func (s *session) modelSummaries() []ModelSummary {
	out := []ModelSummary{}
	if s.journal == nil {
		return out
	}
	prefix := s.notesPage("")
	for _, p := range s.journal.Store().Pages(s.name) {
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
