package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
)

// Turn is a committed turn.
type Turn struct {
	Branch string `json:"branch,omitempty"`
	Model  string `json:"model,omitempty"`
	// Last is the key of the turn's last message.
	Last string `json:"last"`
	// Chain is the hash over the turn's messages.
	Chain string `json:"chain"`
	// Captured reports that the working state was captured with the turn.
	Captured bool `json:"captured,omitempty"`
	// Over reports that the host ended the turn while a call was open; see [api.Turn.Over].
	Over bool `json:"over,omitempty"`
	// Completes reports that the turn adds the later messages of an earlier turn with Over.
	Completes bool `json:"completes,omitempty"`
	// First is the key of the first message of a turn with Over, and of the turn that completes it.
	First string `json:"first,omitempty"`
}

// oldTurn is a committed turn as the journal had it before turns were written back.
type oldTurn struct {
	Turn
	Summary summary.State `json:"summary"`
}

// Boundary is a boundary that the session passed.
type Boundary struct {
	Point  journal.CommitPoint `json:"point"`
	Branch string              `json:"branch,omitempty"`
	Reason string              `json:"reason,omitempty"`
	// Checkpoint is the newest checkpoint at that time.
	Checkpoint string `json:"checkpoint,omitempty"`
	// Last is the newest message that had been ingested.
	Last string    `json:"last,omitempty"`
	Time time.Time `json:"time,omitzero"`
	// Pending reports that the conversation was unknown, so that the next plan must make the cut.
	Pending bool `json:"pending,omitempty"`
}

// account is the journal's record of a session's turns, boundaries and summaries.
type account struct {
	// Over has the keys of the first messages of turns that the host ended while a call was open.
	Over map[string]bool
	// Captured reports that the working state of a turn was captured, and is in the folder.
	Captured bool
	// Committed counts the committed turns.
	Committed int
	// Chains has the hash over the messages of each committed turn, by key.
	Chains map[string]string
	// staged is the turn whose commit has not been read yet.
	staged *oldTurn
	// Observed is the summary of all observed turns, used from the next cut on.
	Observed map[string]summary.State

	seq               int // writebacks that were read
	turns, boundaries int // entries that were read
	// Epoch counts resets. Every summary and every projection belongs to one epoch.
	Epoch int
	// Compactions counts the host's compactions since the last reset.
	Compactions int
	// Compacted has the times of the host's newest compactions.
	Compacted []time.Time
	// Pending has, by branch, the number of the last boundary whose cut the next plan must make.
	// Boundaries are counted from 1.
	Pending map[string]int
	// Boundaries has the number of each passed boundary, counted from 1, by the boundary's key.
	Boundaries map[string]int
	// summaries has the version of each summary page that was read.
	summaries map[string]int
}

// keptTimes is the number of compactions whose times are kept.
const keptTimes = 16

// recallAccount adds the journal's new records of turns, boundaries and summaries to the account.
func (s *Session) recallAccount() error {
	a, store := &s.Account, s.Journal.Store()
	if store.Seq() == a.seq {
		return nil
	}
	if err := recall(s, sessionKey, turnsField, "turn", &a.turns, func(id string, t *Turn) {
		if a.Chains[id] = t.Chain; !t.Completes {
			a.Committed++
		}
		if t.Over {
			a.Over[t.First] = true
		} else {
			delete(a.Over, t.First)
		}
		a.Captured = a.Captured || t.Captured
	}); err != nil {
		return err
	}
	if err := recall(s, sessionKey, boundariesField, "boundary", &a.boundaries, func(id string, b *Boundary) {
		a.Boundaries[id] = a.boundaries
		switch b.Point {
		case journal.PointReset: // pages, spans, turns and the hosts' own pages stay
			a.Epoch++
			a.Compactions, a.Compacted = 0, nil
			clear(a.Pending)
			clear(a.Observed)
			s.Branches.drop()
			clear(s.Branches.cut)
		case journal.PointCompaction:
			a.Compactions++
			a.Compacted = append(a.Compacted, b.Time)
			a.Compacted = a.Compacted[max(0, len(a.Compacted)-keptTimes):]
			if b.Pending {
				a.Pending[b.Branch] = a.boundaries
			}
		}
	}); err != nil {
		return err
	}
	for _, p := range store.Pages(s.Name) {
		branch, ok := strings.CutPrefix(p.Key, a.SummaryPage(""))
		if !ok || p.Type != summaryType || a.summaries[p.Key] == p.Version {
			continue
		}
		st, err := summary.Assemble(func(name string) json.RawMessage {
			v, _ := store.Entry(p.Address, membersField, name)
			return v.Value
		})
		if err != nil {
			return fmt.Errorf("read %s: %w", p.Address, err)
		}
		a.Observed[branch], a.summaries[p.Key] = st, p.Version
	}
	a.seq = store.Seq()
	return nil
}

// recall reads the new entries of a list in the journal and passes them to each. read counts the
// entries that were read, including the one that each gets.
func recall[T any](s *Session, page, field, what string, read *int, each func(id string, v *T)) error {
	for _, e := range s.Journal.Store().Entries(addressIn(s.Name, page), field, *read) {
		v := new(T)
		if err := json.Unmarshal(e.Current().Value, v); err != nil {
			return fmt.Errorf("read %s %s: %w", what, e.ID, err)
		}
		*read++
		each(e.ID, v)
	}
	return nil
}

// SummaryPage returns the page of a branch's summary in this epoch.
func (a *account) SummaryPage(branch string) string {
	return fmt.Sprintf("summary/%d/%s", a.Epoch, branch)
}

// summaryUpdate returns the update that brings a branch's summary in the journal up to st. ok is
// false if the summary is already up to date.
func (s *Session) summaryUpdate(branch string, st summary.State) (u journal.Update, ok bool, err error) {
	next, err := st.Members()
	if err != nil {
		return u, false, err
	}
	var items []mapItem
	page := s.Account.SummaryPage(branch)
	for _, member := range slices.Sorted(maps.Keys(next)) {
		known, _ := s.Journal.Store().Entry(addressIn(s.Name, page), membersField, member)
		// An entry that left its list stays in the journal, but the list does not name it any more.
		if !bytes.Equal(known.Value, next[member]) {
			items = append(items, mapItem{ID: member, Version: known.Version, Value: next[member]})
		}
	}
	value, err := json.Marshal(items)
	return journal.Update{ID: "memkernel-summary", Key: page, Type: summaryType, Field: membersField, Op: journal.OpMerge,
		Value: value, Scope: memkernel.ScopeSession, EvidenceRef: s.Evidence()}, len(items) > 0, err
}

// mapItem is a member in the value of a merge.
type mapItem struct {
	ID      string          `json:"id"`
	Version int             `json:"version"`
	Value   json.RawMessage `json:"value"`
}

// Furthest returns the summary that covers most of a branch. It compares the summaries of the
// branch's conversations and of the observed turns.
func (a *account) Furthest(l *branch.State) summary.State {
	st := a.Observed[l.Branch]
	if l.Summary.Offset.Messages > st.Offset.Messages {
		st = l.Summary
	}
	return st
}
