package journal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
)

// State is the committed state of a journal: every page that was written, by scope and key, with
// every version that its entries ever had. The journal changes it with every commit. Callers must
// not change the JSON values that it returns.
type State struct {
	seq   int
	pages map[Address]*StoredPage
	txs   map[string]*transaction
	// refs maps the updateRef of a committed update to the page that it changed.
	refs map[string]Address
	// open is the transaction whose commit has not been read yet.
	open *openUnit
	// salvage: of a transaction that builds on a lost transaction, the updates that still fit are applied.
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

	at map[string]int // index in Entries by id
}

// StoredPage is a committed page with its fields by name. Version is the number of updates that
// changed the page.
type StoredPage struct {
	Address
	Type    pagevm.Type   `json:"type"`
	Version int           `json:"version"`
	Fields  []StoredField `json:"fields"`
}

// Field finds a field by its name.
func (p StoredPage) Field(name string) (StoredField, bool) {
	if f := p.field(name); f != nil {
		return *f, true
	}
	return StoredField{}, false
}

// field returns the field of a name, nil if the page has none.
func (p *StoredPage) field(name string) *StoredField {
	if i, ok := p.place(name); ok {
		return &p.Fields[i]
	}
	return nil
}

func (p *StoredPage) place(name string) (int, bool) {
	return slices.BinarySearchFunc(p.Fields, name, func(f StoredField, name string) int { return cmp.Compare(f.Name, name) })
}

// Copy returns a page that later commits do not change. It shares the versions, since new versions
// are only ever appended.
func (p *StoredPage) Copy() StoredPage {
	out := *p
	out.Fields = slices.Clone(p.Fields)
	for i := range out.Fields {
		out.Fields[i].Entries = slices.Clone(out.Fields[i].Entries)
	}
	return out
}

// transaction is the recorded outcome of a committed transaction.
type transaction struct {
	Seq      int         `json:"seq"`
	Key      string      `json:"key"`
	Hash     string      `json:"hash"`
	Point    CommitPoint `json:"point"`
	Accepted []string    `json:"accepted"`
	Rejected []Rejection `json:"rejected,omitempty"`
}

// receipt returns the answer to a delivery of a committed transaction.
func (tx *transaction) receipt(o Outcome) Receipt {
	return Receipt{Outcome: o, Seq: tx.Seq, Point: tx.Point, Accepted: slices.Clone(tx.Accepted), Rejected: slices.Clone(tx.Rejected)}
}

func newStore() *State {
	return &State{pages: make(map[Address]*StoredPage), txs: make(map[string]*transaction), refs: make(map[string]Address)}
}

// Store returns the committed state of the journal's writebacks.
func (j *Journal) Store() *State { return j.store }

// Seq returns the number of committed writebacks.
func (s *State) Seq() int { return s.seq }

// Page returns a copy of the page at an address. A private page is found with its session only.
func (s *State) Page(a Address) (StoredPage, bool) {
	p := s.pages[a]
	if p == nil {
		return StoredPage{}, false
	}
	return p.Copy(), true
}

// Entries returns the entries of a field from index from on. Later commits change them.
func (s *State) Entries(a Address, field string, from int) []Entry {
	f := s.field(a, field)
	if f == nil || from >= len(f.Entries) {
		return nil
	}
	return f.Entries[from:]
}

// Entry returns the current version of a field's entry.
func (s *State) Entry(a Address, field, id string) (Version, bool) {
	if f := s.field(a, field); f != nil {
		if i, ok := f.at[id]; ok {
			return f.Entries[i].Current(), true
		}
	}
	return Version{}, false
}

// Pages returns the pages that a session may see, by scope and key: the project's pages and its
// own. Session "" sees only the project's pages. Later commits change these pages: a caller that
// keeps a page must copy it.
func (s *State) Pages(session string) []*StoredPage {
	return s.list(func(a Address) bool { return a.Scope == memkernel.ScopeProject || a.Session == session })
}

func (s *State) list(keep func(Address) bool) []*StoredPage {
	var out []*StoredPage
	for a, p := range s.pages {
		if keep(a) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(p, q *StoredPage) int {
		return cmp.Or(cmp.Compare(p.Scope, q.Scope), cmp.Compare(p.Session, q.Session), cmp.Compare(p.Key, q.Key))
	})
	return out
}

func (s *State) field(a Address, name string) *StoredField {
	if p := s.pages[a]; p != nil {
		return p.field(name)
	}
	return nil
}

func (a Address) String() string {
	if a.Session != "" {
		return fmt.Sprintf("%s/%s/%s", a.Scope, a.Session, a.Key)
	}
	return fmt.Sprintf("%s/%s", a.Scope, a.Key)
}
