package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
)

// draft is a store with the accepted updates of one transaction on top, which the
// store takes over when the unit is in the journal.
type draft struct {
	store    *State
	tx       string
	accepted []acceptedUpdate
	puts     map[slot]Version
	fields   map[slot]draftField // by slot without id
	types    map[Address]pagevm.Type
	refs     map[string]Address
}

// slot is the place of one value.
type slot struct {
	Address
	field, id string
}

type draftField struct {
	kind  FieldKind
	added int
}

// acceptedUpdate is the change that an update makes.
type acceptedUpdate struct {
	at      Address
	typ     pagevm.Type
	field   string
	kind    FieldKind
	ref     string
	changes []change
}

type change struct {
	ID      string
	version Version
}

func (s *State) draft(tx string) *draft {
	return &draft{store: s, tx: tx, puts: make(map[slot]Version), fields: make(map[slot]draftField),
		types: make(map[Address]pagevm.Type), refs: make(map[string]Address)}
}

// address returns the place where an update writes, whether or not the update is allowed there.
func (u *Update) address(by Principal) Address {
	a := Address{Scope: u.Scope, Key: u.Key}
	if u.Scope != memkernel.ScopeProject {
		a.Session = cmp.Or(u.Session, by.Session)
	}
	return a
}

func (d *draft) current(at slot) (Version, bool) {
	if v, ok := d.puts[at]; ok {
		return v, true
	}
	return d.store.current(at)
}

// typeOf returns the type of the page at a, "" if no page is there.
func (d *draft) typeOf(a Address) pagevm.Type {
	if t, ok := d.types[a]; ok {
		return t
	}
	if p := d.store.pages[a]; p != nil {
		return p.Type
	}
	return ""
}

// size returns the number of entries of a field and the field's kind. The kind is "" if the field
// does not exist.
func (d *draft) size(a Address, field string) (int, FieldKind) {
	here := d.fields[slot{Address: a, field: field}]
	if f := d.store.field(a, field); f != nil {
		return len(f.Entries) + here.added, f.Kind
	}
	return here.added, here.kind
}

// resolves reports whether ref names an update that the session may see and that was committed,
// or accepted earlier in this transaction.
func (d *draft) resolves(ref, session string) bool {
	a, ok := d.refs[ref]
	if !ok {
		a, ok = d.store.refs[ref]
	}
	return ok && (a.Scope == memkernel.ScopeProject || a.Session == session)
}

// accept adds an update to the draft. An update that changes nothing leaves no trace.
func (d *draft) accept(a acceptedUpdate) {
	if len(a.changes) == 0 {
		return
	}
	at := slot{Address: a.at, field: a.field}
	f := d.fields[at]
	f.kind = a.kind
	for _, c := range a.changes {
		if c.version.Version == 1 {
			f.added++
		}
		d.puts[slot{a.at, a.field, c.ID}] = c.version
	}
	d.fields[at] = f
	d.types[a.at] = a.typ
	d.refs[a.ref] = a.at
	d.accepted = append(d.accepted, a)
}

// item is one value that an update writes.
type item struct {
	ID      string          `json:"id"`
	Version int             `json:"version"`
	Value   json.RawMessage `json:"value"`
}

// items returns the values that an update writes, in its order.
func (u *Update) items() ([]item, error) {
	switch u.Op {
	case OpSetWithVersion:
		if u.Version < 0 || valueType(u.Value) == "" {
			return nil, errors.New("set_with_version needs a value and a version from 0 on")
		}
		return []item{{Version: u.Version, Value: u.Value}}, nil
	case OpAppend, OpMerge:
		return u.listItems()
	}
	return nil, fmt.Errorf("unknown operation %q", u.Op)
}

func (u *Update) listItems() ([]item, error) {
	var items []item
	d := json.NewDecoder(bytes.NewReader(u.Value))
	d.DisallowUnknownFields()
	if err := d.Decode(&items); err != nil {
		return nil, fmt.Errorf("%s needs a list of entries with id and value: %w", u.Op, err)
	}
	seen := make(map[string]bool, len(items))
	for _, it := range items {
		switch {
		case it.ID == "" || len(it.ID) > maxNameBytes:
			return nil, fmt.Errorf("an entry's id has 1 to %d bytes, %.20q has not", maxNameBytes, it.ID)
		case seen[it.ID]:
			return nil, fmt.Errorf("two entries with the id %q", it.ID)
		case valueType(it.Value) == "":
			return nil, fmt.Errorf("entry %q has no value", it.ID)
		case it.Version < 0 || it.Version > 0 && u.Op == OpAppend:
			return nil, fmt.Errorf("entry %q: version %d means nothing here", it.ID, it.Version)
		}
		seen[it.ID] = true
	}
	if len(items) == 0 || u.Version != 0 {
		return nil, fmt.Errorf("%s needs at least one entry, and no version of the field", u.Op)
	}
	return items, nil
}

// changes returns the versions that an update's items make, or the reason why they would destroy
// committed content. Validation and replay both use this merge rule.
func (d *draft) changes(u *Update, a Address, items []item, origin Version) ([]change, string) {
	var out []change
	for _, it := range items {
		cur, ok := d.current(slot{a, u.Field, it.ID})
		same := ok && bytes.Equal(cur.Value, it.Value)
		switch {
		case u.Op != OpSetWithVersion && same:
			continue
		case u.Op == OpAppend && ok:
			return nil, fmt.Sprintf("entry %q was committed with another value", it.ID)
		case it.Version != cur.Version && !d.store.salvage:
			return nil, fmt.Sprintf("entry %q was made from version %d, the last committed is %d", it.ID, it.Version, cur.Version)
		}
		v := origin
		v.Version, v.Value = cur.Version+1, slices.Clone(it.Value)
		out = append(out, change{it.ID, v})
	}
	return out, ""
}
