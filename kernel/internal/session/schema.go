package session

import (
	"encoding/json"
	"fmt"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/summary"
)

// The kernel keeps its own state as pages of the session's journal, next to the pages of hosts:
// the remembered entries, the observed turns, the passed boundaries, and a summary per branch
// with the notes of a model.
const (
	sessionType pagevm.Type = "session"
	sessionKey  string      = "session"
	// turnsField has an entry per committed turn. boundariesField has an entry per boundary.
	turnsField      = "turns"
	boundariesField = "boundaries"

	summaryType  pagevm.Type = "summary"
	membersField string      = "members"

	upkeepType pagevm.Type = "upkeep"
	upkeepKey  string      = "upkeep"
	runsField  string      = "runs"
)

// bookkeeping reports whether only the kernel writes pages of a type.
func bookkeeping(t pagevm.Type) bool {
	return t == sessionType || t == summaryType || t == memoryType || t == upkeepType || t == summary.NotesType
}

// NewContract returns the contract with the host's rules, and with the page types of pagevm and of
// the kernel itself.
func NewContract(policies []journal.Policy) (Contract, error) {
	all := journal.DefaultSchema()
	private := []memkernel.Scope{memkernel.ScopeSession}
	object := journal.FieldSpec{Kind: journal.KindList, Value: "object", MaxBytes: maxMemoryBytes, MaxEntries: maxMemoryEntries}
	all[memoryType] = journal.TypeSpec{Scopes: private, Fields: map[string]journal.FieldSpec{memoryField: object}}
	all[upkeepType] = journal.TypeSpec{Scopes: private, Fields: map[string]journal.FieldSpec{runsField: object}}
	all[sessionType] = journal.TypeSpec{Scopes: private, Fields: map[string]journal.FieldSpec{turnsField: object, boundariesField: object}}
	all[summaryType] = journal.TypeSpec{Scopes: private, Fields: map[string]journal.FieldSpec{
		membersField: {Kind: journal.KindMap, Value: "any", MaxBytes: maxMemoryBytes, MaxEntries: maxMemoryEntries}}}
	all[summary.NotesType] = summary.NotesSpec()
	c := Contract{schema: all}
	for i, p := range policies {
		if p.Name == "" {
			return c, fmt.Errorf("policy %d has no name", i+1)
		}
		c.policies = append(c.policies, journal.Policy{Name: p.Name, Refuse: func(q journal.Proposal) string { return refuse(p, q) }})
	}
	return c, nil
}

// Contract holds the rules for every writeback of a kernel.
type Contract struct {
	schema   journal.Schema
	policies []journal.Policy
}

// refuse applies one of the host's rules to an update, and returns why the rule refuses it. It
// exempts the kernel's account of turns, which would be lost. Entries to remember and a model's
// notes are not exempt.
func refuse(p journal.Policy, q journal.Proposal) string {
	noted := q.Type == summary.NotesType && q.Update.ID != summary.MarkID
	if bookkeeping(q.Type) && q.Type != memoryType && !noted {
		return ""
	}
	return p.Refuse(q)
}

// Writeback commits a transaction to the session's journal under the contract and the caller's
// own policies. The transaction may cite only one session: the session itself, its pages and its
// committed turns.
func (s *Session) Writeback(tx journal.Transaction, cited *Session, own ...journal.Policy) (journal.Receipt, error) {
	c := &s.o.Contract
	if err := s.openJournal(); err != nil {
		return journal.Receipt{}, err
	}
	resolves := func(ref string) bool {
		_, turn := cited.Account.Chains[ref]
		return ref == cited.Evidence() || cited.Pages[ref] != nil || turn
	}
	r, err := s.Journal.Writeback(tx, &journal.Rules{Schema: c.schema, Resolves: resolves, Policies: append(own, c.policies...)})
	if err == nil && r.Outcome == journal.Duplicate {
		err = s.Stands()
	}
	return r, err
}

// addressIn returns the address of a private page of the session in the folder name.
func addressIn(name, key string) journal.Address {
	return journal.Address{Scope: memkernel.ScopeSession, Session: name, Key: key}
}

// Evidence returns the citation that names the session as a source.
func (s *Session) Evidence() string { return "session:" + s.Name }

// Masked assigns each update an id and masks its secrets. It first checks that all updates have
// one scope and that no update has one of the kernel's own types.
func Masked(m *mask.Masker, in []journal.Update) ([]journal.Update, memkernel.Scope, error) {
	var scope memkernel.Scope
	out := make([]journal.Update, len(in))
	for i, u := range in {
		if u.ID == "" {
			u.ID = fmt.Sprint("u", i+1)
		}
		if bookkeeping(u.Type) {
			return nil, scope, fmt.Errorf("update %q: pages of type %q are the kernel's own", u.ID, u.Type)
		}
		if i > 0 && u.Scope != scope {
			return nil, scope, fmt.Errorf("update %q is of scope %q and those before it of %q: write them one after the other", u.ID, u.Scope, scope)
		}
		scope = u.Scope
		u.Value = maskJSON(m, u.Value)
		out[i] = u
	}
	return out, scope, nil
}

// maskJSON masks the secrets in a JSON value. It begins with the secrets that the value's names
// reveal. Invalid JSON is masked as text, and the journal refuses it.
func maskJSON(m *mask.Masker, raw json.RawMessage) json.RawMessage {
	masked, n := m.Mask(string(raw))
	if n == 0 {
		return raw
	}
	if !json.Valid([]byte(masked)) && json.Valid(raw) {
		out, changed := editJSON(raw, func(map[string]any) bool { return false }, func(_, t string) string { return m.Text(t) })
		if changed {
			return out
		}
	}
	return json.RawMessage(masked)
}
