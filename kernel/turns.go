package kernel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
)

// turnEntry is a committed turn on the session's page.
type turnEntry struct {
	Branch string `json:"branch,omitempty"`
	Model  string `json:"model,omitempty"`
	// Last is the key of the turn's last message, Chain the hash over its
	// messages.
	Last  string `json:"last"`
	Chain string `json:"chain"`
}

// boundaryEntry is a boundary that the session passed.
type boundaryEntry struct {
	Point  journal.CommitPoint `json:"point"`
	Branch string              `json:"branch,omitempty"`
	Reason string              `json:"reason,omitempty"`
	// Checkpoint is the newest that stood then.
	Checkpoint string `json:"checkpoint,omitempty"`
	// Last is the newest message that had been taken in.
	Last string    `json:"last,omitempty"`
	Time time.Time `json:"time,omitzero"`
	// Pending: the conversation was not known, so that the next plan is to cut.
	Pending bool `json:"pending,omitempty"`
}

// account is what the journal's pages say of the session.
type account struct {
	seq               int // writebacks that were read
	turns, boundaries int // entries that were read
	// epoch counts resets: summaries and projections belong to one.
	epoch int
	// compactions counts the host's since the last reset.
	compactions int
	// compacted are the times of the newest of them, pending which boundary, counted
	// from 1, asked last for a cut that a plan has to make, by branch.
	compacted []time.Time
	pending   map[string]int
	// summaries are the versions of the pages of summaries that were read.
	summaries map[string]int
}

// recallAccount takes over what the journal holds of turns, boundaries and
// summaries that was not read before.
func (s *session) recallAccount() error {
	if s.journal == nil || s.journal.Store().Seq() == s.account.seq {
		return nil
	}
	store := s.journal.Store()
	if err := s.recallTurns(store); err != nil {
		return err
	}
	if err := s.recallBoundaries(store); err != nil {
		return err
	}
	prefix := s.summaryPage("")
	for _, p := range store.Heads(s.name) {
		branch, ok := strings.CutPrefix(p.Key, prefix)
		if !ok || p.Type != summaryType || s.account.summaries[p.Key] == p.Version {
			continue
		}
		if err := s.recallSummary(store, branch, p); err != nil {
			return err
		}
	}
	s.account.seq = store.Seq()
	return nil
}

func (s *session) recallTurns(store *journal.State) error {
	entries := store.Entries(s.address(sessionKey), turnsField, s.account.turns)
	for _, e := range entries {
		var t turnEntry
		if err := json.Unmarshal(e.Current().Value, &t); err != nil {
			return fmt.Errorf("read turn %s: %w", e.ID, err)
		}
		s.turns++
		s.turnChains[e.ID] = t.Chain
	}
	s.account.turns += len(entries)
	return nil
}

func (s *session) recallBoundaries(store *journal.State) error {
	entries := store.Entries(s.address(sessionKey), boundariesField, s.account.boundaries)
	for i, e := range entries {
		var b boundaryEntry
		if err := json.Unmarshal(e.Current().Value, &b); err != nil {
			return fmt.Errorf("read boundary %s: %w", e.ID, err)
		}
		switch b.Point {
		case journal.PointReset:
			s.beginEpoch()
		case journal.PointCompaction:
			s.account.compaction(&b, s.account.boundaries+i+1)
		}
	}
	s.account.boundaries += len(entries)
	return nil
}

// keptTimes is how many compactions are remembered by their times.
const keptTimes = 16

// compaction takes note of a compaction, the nth boundary of the session.
func (a *account) compaction(b *boundaryEntry, n int) {
	a.compactions++
	a.compacted = append(a.compacted, b.Time)
	a.compacted = a.compacted[max(0, len(a.compacted)-keptTimes):]
	if b.Pending {
		if a.pending == nil {
			a.pending = map[string]int{}
		}
		a.pending[b.Branch] = n
	}
}

// beginEpoch forgets what a reset ends: summaries and projections. Pages, spans,
// turns and what hosts wrote stay.
func (s *session) beginEpoch() {
	s.account.epoch++
	s.account.compactions, s.account.compacted, s.account.pending = 0, nil, nil
	s.observed = map[string]summary.State{}
	s.lines, s.heard = map[lineKey]*branch.State{}, map[lineKey]*ingest.Heard{}
	s.cut = map[lineKey]bool{}
}

// summaryPage is the page of a branch's summary in this epoch.
func (s *session) summaryPage(branch string) string {
	return fmt.Sprintf("summary/%d/%s", s.account.epoch, branch)
}

func (s *session) recallSummary(store *journal.State, branch string, p journal.StoredPage) error {
	st, err := summary.Assemble(func(name string) json.RawMessage {
		v, _ := store.Entry(p.Address, membersField, name)
		return v.Value
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", p.Address, err)
	}
	s.observed[branch] = st
	if s.account.summaries == nil {
		s.account.summaries = map[string]int{}
	}
	s.account.summaries[p.Key] = p.Version
	return nil
}

// summaryUpdate is what brings the journal's summary of a branch up to st; ok is
// false if it says that already.
func (s *session) summaryUpdate(branch string, st summary.State) (u journal.Update, ok bool, err error) {
	next, err := st.Members()
	if err != nil {
		return u, false, err
	}
	var items []mapItem
	for _, name := range sortedKeys(next) {
		// An entry that left its list is only no longer named by it.
		if known := s.summaryMember(branch, name); !bytes.Equal(known.Value, next[name]) {
			items = append(items, mapItem{ID: name, Version: known.Version, Value: next[name]})
		}
	}
	value, err := json.Marshal(items)
	return journal.Update{ID: "memkernel-summary", Key: s.summaryPage(branch), Type: summaryType, Field: membersField, Op: journal.OpMerge,
		Value: value, Scope: memkernel.ScopeSession, EvidenceRef: s.evidence()}, len(items) > 0, err
}

// mapItem is a member in the value of a merge.
type mapItem struct {
	ID      string          `json:"id"`
	Version int             `json:"version"`
	Value   json.RawMessage `json:"value"`
}

// summaryMember is what the journal says of a member, the zero value if nothing.
func (s *session) summaryMember(branch, name string) (v journal.Version) {
	if s.journal != nil {
		v, _ = s.journal.Store().Entry(s.address(s.summaryPage(branch)), membersField, name)
	}
	return v
}

// listUpdate appends one entry to a list of the session's page.
func (s *session) listUpdate(field, id string, entry any) (journal.Update, error) {
	value, err := json.Marshal([]struct {
		ID    string `json:"id"`
		Value any    `json:"value"`
	}{{id, entry}})
	return journal.Update{ID: "memkernel-" + field, Key: sessionKey, Type: sessionType, Field: field, Op: journal.OpAppend, Value: value,
		Scope: memkernel.ScopeSession, EvidenceRef: s.evidence()}, err
}

// settle commits, as one transaction, an entry of the session's page, the summary
// of a branch and what the host writes beside them.
func (s *session) settle(tx journal.Transaction, entry journal.Update, branch string, st summary.State, host []journal.Update) (journal.Receipt, error) {
	tx.By.Session = s.name
	if entry.ID != "" {
		tx.Updates = append(tx.Updates, entry)
	}
	u, ok, err := s.summaryUpdate(branch, st)
	if err != nil {
		return journal.Receipt{}, err
	}
	if ok {
		tx.Updates = append(tx.Updates, u)
	}
	for i, h := range host {
		if h.ID == "" {
			h.ID = fmt.Sprint("u", i+1)
		}
		if bookkeeping(h.Type) || h.Scope == memkernel.ScopeProject {
			return journal.Receipt{}, fmt.Errorf("update %q: a turn writes private pages of the host's types; use Write for the project's", h.ID)
		}
		h.Value = maskJSON(s.masker, h.Value)
		tx.Updates = append(tx.Updates, h)
	}
	if len(tx.Updates) == 0 {
		return journal.Receipt{Outcome: journal.Duplicate}, nil
	}
	r, err := s.writeback(tx)
	if err != nil {
		return r, err
	}
	for _, rej := range r.Rejected {
		if strings.HasPrefix(rej.ID, "memkernel-") {
			return r, &journal.RejectionError{Code: rej.Code, Detail: rej.Detail}
		}
	}
	return r, s.recallAccount()
}
