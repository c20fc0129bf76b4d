package journal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
)

// State is the committed state of a journal: every page that was written, by scope and key, with
// every version that its entries ever had. It follows its journal and is safe for concurrent use.
// Callers must not change the JSON values that it returns.
type State struct {
	mu    sync.RWMutex
	seq   int
	pages map[Address]*pageState
	txs   map[string]*txState
	// refs maps the updateRef of a committed update to the page that it changed.
	refs map[string]Address
	// open is the unit whose commit has not been read yet.
	open *openUnit
	// salvage makes units that build on lost ones apply those of their updates that still fit.
	salvage bool
	// lost names the updates that do not fit.
	lost []string
}

// Address identifies a page. The same key in another scope, or private to another session, is
// another page.
type Address struct {
	Scope   memkernel.Scope `json:"scope"`
	Session string          `json:"session,omitempty"`
	Key     string          `json:"key"`
}

// Version is one committed value. It never changes.
type Version struct {
	// Version counts from 1.
	Version int             `json:"version"`
	Value   json.RawMessage `json:"value"`
	// Seq is the number of the commit that made the version.
	Seq int `json:"seq"`
	// Tx is the key of the commit's transaction.
	Tx string `json:"tx"`
	// Update is the id of the update in the transaction.
	Update string `json:"update"`
	// Time is the time of the transaction.
	Time time.Time `json:"time,omitzero"`
	// By is the principal's name.
	By string `json:"by,omitempty"`
	// Session is the principal's session.
	Session string `json:"session,omitempty"`
	// EvidenceRef is the provenance.
	EvidenceRef string `json:"evidence_ref"`
}

// Entry is a list's entry, a map's member or, with ID "", a scalar. It holds all versions of the
// value, oldest first. The last version is the current one.
type Entry struct {
	ID       string    `json:"id,omitempty"`
	Versions []Version `json:"versions"`
}

// Current returns the last committed version.
func (e Entry) Current() Version { return e.Versions[len(e.Versions)-1] }

// StoredField is a field of a page, with its entries in the order in which they were first
// committed. Version is the number of updates that changed the field.
type StoredField struct {
	Name    string    `json:"name"`
	Kind    FieldKind `json:"kind"`
	Version int       `json:"version"`
	Entries []Entry   `json:"entries"`
}

// StoredPage is a committed page. Version is the number of updates that changed the page.
type StoredPage struct {
	Address
	Type    pagevm.Type   `json:"type"`
	Version int           `json:"version"`
	Fields  []StoredField `json:"fields"`
}

// Field finds a field by its name.
func (p StoredPage) Field(name string) (StoredField, bool) {
	i := slices.IndexFunc(p.Fields, func(f StoredField) bool { return f.Name == name })
	if i < 0 {
		return StoredField{}, false
	}
	return p.Fields[i], true
}

// pageState and fieldState are a page as the store keeps it.
type pageState struct {
	typ     pagevm.Type
	version int
	fields  map[string]*fieldState
}

type fieldState struct {
	kind    FieldKind
	version int
	entries []Entry
	at      map[string]int // id to place in entries
}

// txState is the recorded outcome of a committed transaction.
type txState struct {
	seq      int
	hash     string
	point    CommitPoint
	accepted []string
	rejected []Rejection
}

func newStore() *State {
	return &State{pages: make(map[Address]*pageState), txs: make(map[string]*txState), refs: make(map[string]Address)}
}

// Store returns the committed state of the journal's writebacks.
func (j *Journal) Store() *State { return j.store }

// Seq returns the number of committed writebacks.
func (s *State) Seq() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.seq
}

// Page returns the page at an address. A private page is found with its session
// only.
func (s *State) Page(a Address) (StoredPage, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	p := s.pages[a]
	if p == nil {
		return StoredPage{}, false
	}
	return p.view(a), true
}

// Entries returns the entries of a field from index from on.
func (s *State) Entries(a Address, field string, from int) []Entry {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f := s.field(a, field)
	if f == nil || from >= len(f.entries) {
		return nil
	}
	out := slices.Clone(f.entries[from:])
	for i := range out {
		out[i].Versions = slices.Clip(out[i].Versions)
	}
	return out
}

// Entry returns the current version of a field's entry.
func (s *State) Entry(a Address, field, id string) (Version, bool) {
	return s.current(slot{a, field, id})
}

// Heads returns the same pages as [State.Pages], without their fields.
func (s *State) Heads(session string) []StoredPage {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []StoredPage
	for a, p := range s.pages {
		if a.Scope == memkernel.ScopeProject || a.Session == session {
			out = append(out, StoredPage{Address: a, Type: p.typ, Version: p.version})
		}
	}
	slices.SortFunc(out, func(p, q StoredPage) int { return p.compare(q.Address) })
	return out
}

// Pages returns the pages that a session may see, by scope and key: the project's pages and its
// own. Session "" sees only the project's pages.
func (s *State) Pages(session string) []StoredPage {
	return s.list(func(a Address) bool { return a.Scope == memkernel.ScopeProject || a.Session == session })
}

func (s *State) list(keep func(Address) bool) []StoredPage {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []StoredPage
	for a, p := range s.pages {
		if keep(a) {
			out = append(out, p.view(a))
		}
	}
	slices.SortFunc(out, func(p, q StoredPage) int { return p.compare(q.Address) })
	return out
}

func (a Address) compare(b Address) int {
	return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Key, b.Key))
}

// view copies a page. The copy shares the versions, since new versions are only ever appended.
func (p *pageState) view(a Address) StoredPage {
	out := StoredPage{Address: a, Type: p.typ, Version: p.version}
	for _, name := range slices.Sorted(maps.Keys(p.fields)) {
		f := p.fields[name]
		v := StoredField{Name: name, Kind: f.kind, Version: f.version, Entries: slices.Clone(f.entries)}
		for i := range v.Entries {
			v.Entries[i].Versions = slices.Clip(v.Entries[i].Versions)
		}
		out.Fields = append(out.Fields, v)
	}
	return out
}

// receipt returns the answer to a delivery of a committed transaction.
func (tx *txState) receipt(o Outcome) Receipt {
	return Receipt{Outcome: o, Seq: tx.seq, Point: tx.point, Accepted: slices.Clone(tx.accepted), Rejected: slices.Clone(tx.rejected)}
}

// current returns the last committed version of an entry.
func (s *State) current(at slot) (Version, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if f := s.field(at.Address, at.field); f != nil {
		if i, ok := f.at[at.id]; ok {
			return f.entries[i].Current(), true
		}
	}
	return Version{}, false
}

// field finds a field. The caller must hold the lock.
func (s *State) field(a Address, name string) *fieldState {
	if p := s.pages[a]; p != nil {
		return p.fields[name]
	}
	return nil
}

// put adds a version to an entry. The caller must hold the lock for writing.
func (f *fieldState) put(id string, v Version) {
	i, ok := f.at[id]
	if !ok {
		i = len(f.entries)
		f.at[id], f.entries = i, append(f.entries, Entry{ID: id})
	}
	f.entries[i].Versions = append(f.entries[i].Versions, v)
}

// merge applies the changes of a draft as one commit.
func (s *State) merge(d *draft, tx *txState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range d.accepted {
		p := s.pages[c.at]
		if p == nil {
			p = &pageState{typ: c.typ, fields: make(map[string]*fieldState)}
			s.pages[c.at] = p
		}
		f := p.fields[c.field]
		if f == nil {
			f = &fieldState{kind: c.kind, at: make(map[string]int)}
			p.fields[c.field] = f
		}
		for _, ch := range c.changes {
			f.put(ch.ID, ch.version)
		}
		p.version++
		f.version++
		s.refs[c.ref] = c.at
	}
	s.seq = tx.seq
	s.txs[d.tx] = tx
}

func (a Address) String() string {
	if a.Session != "" {
		return fmt.Sprintf("%s/%s/%s", a.Scope, a.Session, a.Key)
	}
	return fmt.Sprintf("%s/%s", a.Scope, a.Key)
}
