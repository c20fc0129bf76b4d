package journal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm"
)

// Policy is a rule of the host. Refuse returns why it refuses an update, "" if it allows the
// update. The rejection contains Name. Refuse must be deterministic and do no I/O.
type Policy struct {
	Name   string
	Refuse func(Proposal) string
}

// Proposal is an update that passed the other checks.
type Proposal struct {
	Update Update
	At     Address
	// Type is the page's type, even if the update names no type.
	Type pagevm.Type
	By   Principal
	// Pinned reports whether the page is hard-pinned.
	Pinned bool
	// Values are the new values by entry id. A scalar's id is "".
	Values map[string]json.RawMessage

	state *State
}

// Current returns the value that an entry of the page has before the update.
func (p Proposal) Current(field, id string) (json.RawMessage, bool) {
	v, ok := p.state.Entry(p.At, field, id)
	return v.Value, ok
}

// Rules validate updates by these checks, in this order. The first check that an update fails
// decides its code:
//
//  1. schema: the page's type has the field, the operation is the one for the field's kind, and
//     every value has the field's type and is within its limits;
//  2. provenance: the evidence resolves;
//  3. scope: the scope allows the page's type. Only a session itself writes its private state.
//     Only principals with Project set write the project's state;
//  4. non-destructive: append and merge keep every committed entry. Updates by set_with_version
//     and of map members name the last committed version;
//  5. policy: on a hard-pinned page guarded fields are not replaced, and no value is replaced by
//     one of a lower rank. Then the host's policies are asked, in their order.
//
// Nothing here reads a clock or a file: equal state, rules and updates give equal
// verdicts.
type Rules struct {
	Schema Schema
	// Resolves reports whether a reference names evidence. It answers from data that the caller
	// already holds. With nil only committed updates are evidence.
	Resolves func(ref string) bool
	Policies []Policy
}

// validate returns the ids of the updates that pass, and refuses the others. It leaves the state as
// it was.
func (r *Rules) validate(s *State, tx string, staged *stagedBody) (accepted []string, rejected []Rejection) {
	c := &checker{r, s, staged, tx}
	var made []*change
	for i := range staged.Updates {
		u := &staged.Updates[i]
		change, err := c.check(u)
		if err == nil {
			s.apply(change)
			made, accepted = append(made, change), append(accepted, u.ID)
			continue
		}
		body, _ := textutil.JSON(u)
		rejected = append(rejected, Rejection{ID: u.ID, Code: err.Code, Detail: err.Detail, Body: body})
	}
	s.undo(made)
	return accepted, rejected
}

// checker validates the updates of one transaction. Its state has the accepted updates.
type checker struct {
	*Rules
	state  *State
	staged *stagedBody
	tx     string
}

func refuse(code, format string, args ...any) *RejectionError {
	return &RejectionError{Code: code, Detail: fmt.Sprintf(format, args...)}
}

func (c *checker) check(u *Update) (*change, *RejectionError) {
	by := c.staged.By
	a := c.state.changeOf(c.tx, u, by)
	spec, items, err := c.checkSchema(u, a)
	if err != nil {
		return nil, err
	}
	if why := c.unresolved(u.EvidenceRef); why != "" {
		return nil, refuse(CodeProvenance, "%s", why)
	}
	if why := denied(c.Schema[a.typ], u, by); why != "" {
		return nil, refuse(CodeScope, "%s", why)
	}
	if why := c.state.fill(a, u.Op, items, Version{Update: u.ID}); why != "" {
		return nil, refuse(CodeDestructive, "%s", why)
	}
	if why := c.against(u, a, spec); why != "" {
		return nil, refuse(CodePolicy, "%s", why)
	}
	return a, nil
}

// checkSchema checks whether the update is well formed, and fills in the kind of field that it
// writes.
func (c *checker) checkSchema(u *Update, a *change) (spec FieldSpec, items []item, err *RejectionError) {
	for _, m := range c.staged.Malformed {
		if m.ID == u.ID {
			return spec, nil, refuse(CodeSchema, "value is not JSON: %.200q", m.Text)
		}
	}
	if u.Key == "" || len(u.Key) > maxNameBytes {
		return spec, nil, refuse(CodeSchema, "a key has 1 to %d bytes", maxNameBytes)
	}
	if u.Type != "" && u.Type != a.typ {
		return spec, nil, refuse(CodeSchema, "%s is a %s page and can't be a %s", a.at, a.typ, u.Type)
	}
	spec, ok := c.Schema[a.typ].Fields[u.Field]
	if !ok {
		return spec, nil, refuse(CodeSchema, "type %q has no field %q", a.typ, u.Field)
	}
	if u.Op != writes[spec.Kind] || a.kind != "" && a.kind != spec.Kind {
		return spec, nil, refuse(CodeSchema, "%s is not how field %q, a %s, is written", u.Op, u.Field, spec.Kind)
	}
	a.kind = spec.Kind
	items, bad := u.items()
	if bad != nil {
		return spec, nil, refuse(CodeSchema, "field %q: %v", u.Field, bad)
	}
	size := 0
	if f := c.state.field(a.at, u.Field); f != nil {
		size = len(f.Entries)
	}
	for _, it := range items {
		if why := spec.refuse(it.Value); why != "" {
			return spec, nil, refuse(CodeSchema, "field %q: %s", u.Field, strings.TrimSpace(it.ID+" "+why))
		}
		if _, ok := c.state.Entry(a.at, u.Field, it.ID); !ok {
			size++
		}
	}
	if limit := cmp.Or(spec.MaxEntries, defaultMaxEntries); size > limit && a.kind != KindScalar {
		return spec, nil, refuse(CodeSchema, "field %q would have %d entries, at most %d are allowed", u.Field, size, limit)
	}
	return spec, items, nil
}

// unresolved returns why a reference is no evidence, "" if it is.
func (c *checker) unresolved(ref string) string {
	switch {
	case ref == "":
		return "no evidence is named"
	case strings.HasPrefix(ref, updateRefMark):
		if a, ok := c.state.refs[ref]; !ok || a.Scope != memkernel.ScopeProject && a.Session != c.staged.By.Session {
			return fmt.Sprintf("no update %q was committed before", ref)
		}
	case c.Resolves == nil || !c.Resolves(ref):
		return fmt.Sprintf("the evidence %q names nothing", ref)
	}
	return ""
}

// denied returns why a principal may not write the page that an update names, "" if the principal
// may write it.
func denied(spec TypeSpec, u *Update, by Principal) string {
	switch {
	case !slices.Contains(spec.Scopes, u.Scope):
		return fmt.Sprintf("a page of its type may not stand in scope %q", u.Scope)
	case u.Scope == memkernel.ScopeProject && !by.Project:
		return "the principal may not write what the project shares"
	case u.Scope == memkernel.ScopeSession && by.Session == "":
		return "the principal has no session"
	case u.Scope == memkernel.ScopeSession && u.Session != "" && u.Session != by.Session:
		return fmt.Sprintf("session %q is not the principal's", u.Session)
	}
	return ""
}

// against returns which policy refuses an update, "" if no policy refuses it.
func (c *checker) against(u *Update, a *change, spec FieldSpec) string {
	p := Proposal{Update: *u, At: a.at, Type: a.typ, By: c.staged.By, Pinned: c.pinned(a),
		Values: make(map[string]json.RawMessage, len(a.added)), state: c.state}
	for _, v := range a.added {
		p.Values[v.id] = v.Value
		before, ok := p.Current(u.Field, v.id)
		if p.Pinned && ok && weaker(u.Field, spec, before, v.Value) {
			return fmt.Sprintf("%s is hard-pinned: its %s can't be taken back", a.at, u.Field)
		}
	}
	for _, policy := range c.Policies {
		if why := policy.Refuse(p); why != "" {
			return fmt.Sprintf("policy %q: %s", policy.Name, why)
		}
	}
	return ""
}

// pinned reports whether the page that an update writes is hard-pinned already.
func (c *checker) pinned(a *change) bool {
	if c.Schema[a.typ].HardPin {
		return true
	}
	v, ok := c.state.Entry(a.at, PinField, "")
	return ok && string(v.Value) == `"`+PinHard+`"`
}

// weaker reports whether a value on a hard-pinned page would be weaker than the one
// that it replaces.
func weaker(field string, spec FieldSpec, before, after json.RawMessage) bool {
	switch {
	case string(before) == string(after):
		return false
	case spec.Guarded, field == PinField && string(before) == `"`+PinHard+`"`:
		return true
	}
	return spec.Ranks != nil && spec.rank(after) < spec.rank(before)
}
