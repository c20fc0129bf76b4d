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

// change holds the versions that an update adds to the entries of a field.
type change struct {
	at    Address
	typ   pagevm.Type
	field string
	kind  FieldKind
	ref   string
	added []added
}

type added struct {
	id string
	Version
}

// changeOf returns the change of an update before its values are read, whether or not the update is
// allowed.
func (s *State) changeOf(tx string, u *Update, by Principal) *change {
	c := &change{at: Address{Scope: u.Scope, Key: u.Key}, typ: u.Type, field: u.Field, ref: updateRef(tx, u.ID)}
	if u.Scope != memkernel.ScopeProject {
		c.at.Session = cmp.Or(u.Session, by.Session)
	}
	if p := s.pages[c.at]; p != nil {
		c.typ = p.Type
	}
	if f := s.field(c.at, c.field); f != nil {
		c.kind = f.Kind
	}
	return c
}

// apply applies a change to the state. A change without versions has no effect.
func (s *State) apply(c *change) {
	if len(c.added) == 0 {
		return
	}
	p := s.pages[c.at]
	if p == nil {
		p = &StoredPage{Address: c.at, Type: c.typ}
		s.pages[c.at] = p
	}
	i, ok := p.place(c.field)
	if !ok {
		p.Fields = slices.Insert(p.Fields, i, StoredField{Name: c.field, Kind: c.kind, at: make(map[string]int)})
	}
	f := &p.Fields[i]
	for _, v := range c.added {
		at, ok := f.at[v.id]
		if !ok {
			at = len(f.Entries)
			f.at[v.id], f.Entries = at, append(f.Entries, Entry{ID: v.id})
		}
		f.Entries[at].Versions = append(f.Entries[at].Versions, v.Version)
	}
	p.Version++
	f.Version++
	s.refs[c.ref] = c.at
}

// undo takes back the newest changes, which are given in the order in which they were made.
func (s *State) undo(made []*change) {
	for _, c := range slices.Backward(made) {
		if len(c.added) == 0 {
			continue
		}
		p := s.pages[c.at]
		i, _ := p.place(c.field)
		f := &p.Fields[i]
		for _, v := range slices.Backward(c.added) {
			e := &f.Entries[f.at[v.id]]
			if e.Versions = e.Versions[:len(e.Versions)-1]; len(e.Versions) == 0 {
				delete(f.at, v.id)
				f.Entries = f.Entries[:len(f.Entries)-1]
			}
		}
		if f.Version--; f.Version == 0 {
			p.Fields = slices.Delete(p.Fields, i, i+1)
		}
		if p.Version--; p.Version == 0 {
			delete(s.pages, c.at)
		}
		delete(s.refs, c.ref)
	}
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

// fill adds to a change the versions that an update's items make. It returns the reason why they
// would destroy committed content, "" if they would not. Validation and replay both use this merge
// rule.
func (s *State) fill(c *change, op UpdateOp, items []item, origin Version) string {
	for _, it := range items {
		cur, ok := s.Entry(c.at, c.field, it.ID)
		same := ok && bytes.Equal(cur.Value, it.Value)
		switch {
		case op != OpSetWithVersion && same:
			continue
		case op == OpAppend && ok:
			return fmt.Sprintf("%s of %s: entry %q was committed with another value", c.field, c.at, it.ID)
		case it.Version != cur.Version && !s.salvage:
			return fmt.Sprintf("%s of %s: entry %q was made from version %d, the last committed is %d", c.field, c.at, it.ID, it.Version, cur.Version)
		}
		v := origin
		v.Version, v.Value = cur.Version+1, slices.Clone(it.Value)
		c.added = append(c.added, added{it.ID, v})
	}
	return ""
}
