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

// account is what the journal says of a session's turns, boundaries and summaries. It
// knows the journal and the folder's name, and nothing else of the session.
type account struct {
	// committed counts the turns, chains are their contents by key, staged the turn whose
	// commit has not been read yet.
	committed int
	chains    map[string]string
	staged    *turnBody
	// observed is the summary of all observed turns, used from the next cut on.
	observed map[string]summary.State

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

func newAccount() account {
	return account{chains: map[string]string{}, observed: map[string]summary.State{}}
}

// recallAccount takes over what the journal holds of turns, boundaries and
// summaries that was not read before.
func (s *session) recallAccount() error {
	if s.journal == nil {
		return nil
	}
	epoch := s.account.epoch
	err := s.account.recall(s.journal.Store(), s.name)
	if s.account.epoch != epoch {
		// What a reset ends: projections. Pages, spans, turns and what hosts wrote stay.
		s.lines, s.heard = map[lineKey]*branch.State{}, map[lineKey]*ingest.Heard{}
		s.cut = map[lineKey]bool{}
	}
	return err
}

// recall takes over what the journal of the session whose folder has a name holds that
// was not read before.
func (a *account) recall(store *journal.State, name string) error {
	if store.Seq() == a.seq {
		return nil
	}
	page := addressIn(name, sessionKey)
	if err := a.recallTurns(store, page); err != nil {
		return err
	}
	if err := a.recallBoundaries(store, page); err != nil {
		return err
	}
	prefix := a.summaryPage("")
	for _, p := range store.Heads(name) {
		branch, ok := strings.CutPrefix(p.Key, prefix)
		if !ok || p.Type != summaryType || a.summaries[p.Key] == p.Version {
			continue
		}
		if err := a.recallSummary(store, branch, p); err != nil {
			return err
		}
	}
	a.seq = store.Seq()
	return nil
}

// keepTurn takes over a turn that was committed before turns were written back.
func (a *account) keepTurn(key string, b *turnBody) {
	a.committed++
	a.chains[key] = b.Chain
	if b.Summary.Offset.Messages >= a.observed[b.Branch].Offset.Messages {
		a.observed[b.Branch] = b.Summary
	}
}

func (a *account) recallTurns(store *journal.State, page journal.Address) error {
	entries := store.Entries(page, turnsField, a.turns)
	for _, e := range entries {
		var t turnEntry
		if err := json.Unmarshal(e.Current().Value, &t); err != nil {
			return fmt.Errorf("read turn %s: %w", e.ID, err)
		}
		a.committed++
		a.chains[e.ID] = t.Chain
	}
	a.turns += len(entries)
	return nil
}

func (a *account) recallBoundaries(store *journal.State, page journal.Address) error {
	entries := store.Entries(page, boundariesField, a.boundaries)
	for i, e := range entries {
		var b boundaryEntry
		if err := json.Unmarshal(e.Current().Value, &b); err != nil {
			return fmt.Errorf("read boundary %s: %w", e.ID, err)
		}
		switch b.Point {
		case journal.PointReset:
			a.beginEpoch()
		case journal.PointCompaction:
			a.compaction(&b, a.boundaries+i+1)
		}
	}
	a.boundaries += len(entries)
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

// beginEpoch drops what a reset ends: summaries, and what was asked of plans.
func (a *account) beginEpoch() {
	a.epoch++
	a.compactions, a.compacted, a.pending = 0, nil, nil
	a.observed = map[string]summary.State{}
}

// summaryPage is the page of a branch's summary in this epoch.
func (a *account) summaryPage(branch string) string {
	return fmt.Sprintf("summary/%d/%s", a.epoch, branch)
}

func (a *account) recallSummary(store *journal.State, branch string, p journal.StoredPage) error {
	st, err := summary.Assemble(func(name string) json.RawMessage {
		v, _ := store.Entry(p.Address, membersField, name)
		return v.Value
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", p.Address, err)
	}
	a.observed[branch] = st
	if a.summaries == nil {
		a.summaries = map[string]int{}
	}
	a.summaries[p.Key] = p.Version
	return nil
}

// summaryUpdate is what brings the summary of a branch up to st, in the journal, nil if
// there is none yet, of the session whose folder has a name; ok is false if it says that
// already.
func (a *account) summaryUpdate(j *journal.Journal, name, branch string, st summary.State) (u journal.Update, ok bool, err error) {
	next, err := st.Members()
	if err != nil {
		return u, false, err
	}
	var items []mapItem
	page := a.summaryPage(branch)
	for _, member := range sortedKeys(next) {
		var known journal.Version
		if j != nil {
			known, _ = j.Store().Entry(addressIn(name, page), membersField, member)
		}
		// An entry that left its list is only no longer named by it.
		if !bytes.Equal(known.Value, next[member]) {
			items = append(items, mapItem{ID: member, Version: known.Version, Value: next[member]})
		}
	}
	value, err := json.Marshal(items)
	return journal.Update{ID: "memkernel-summary", Key: page, Type: summaryType, Field: membersField, Op: journal.OpMerge,
		Value: value, Scope: memkernel.ScopeSession, EvidenceRef: evidenceOf(name)}, len(items) > 0, err
}

// mapItem is a member in the value of a merge.
type mapItem struct {
	ID      string          `json:"id"`
	Version int             `json:"version"`
	Value   json.RawMessage `json:"value"`
}

// listUpdate appends one entry to a list of the page of the session whose folder has a
// name.
func listUpdate(name, field, id string, entry any) (journal.Update, error) {
	value, err := json.Marshal([]struct {
		ID    string `json:"id"`
		Value any    `json:"value"`
	}{{id, entry}})
	return journal.Update{ID: "memkernel-" + field, Key: sessionKey, Type: sessionType, Field: field, Op: journal.OpAppend, Value: value,
		Scope: memkernel.ScopeSession, EvidenceRef: evidenceOf(name)}, err
}

// settle commits, as one transaction, an entry of the session's page, the summary
// of a branch and what the host writes beside them.
func (s *session) settle(tx journal.Transaction, entry journal.Update, branch string, st summary.State, host []journal.Update) (journal.Receipt, error) {
	tx.By.Session = s.name
	if entry.ID != "" {
		tx.Updates = append(tx.Updates, entry)
	}
	u, ok, err := s.account.summaryUpdate(s.journal, s.name, branch, st)
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
