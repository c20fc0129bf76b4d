package journal

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm"
)

// Resolver looks up the source that evidence refers to. A Resolver answers from data that the
// caller already holds, and must give the same answer throughout the validation of a transaction.
type Resolver interface {
	// Provenance returns the references that ref itself rests on. A tool call or a span of the
	// transcript rests on no other reference. ok is false if ref names nothing.
	Provenance(ref string) (from []string, ok bool)
	// Gone reports whether the page existed and was removed, so that nothing may be written to
	// it. A page that never existed is not gone.
	Gone(page Address) bool
}

// Policy is a rule of the host's. Refuse returns why an update is refused, "" if it is not, and a
// refusal cites Name. Refuse must be deterministic and do no I/O.
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

	draft *draft
}

// Current returns the value that an entry of the page has before the update.
func (p Proposal) Current(field, id string) (json.RawMessage, bool) {
	v, ok := p.draft.current(slot{p.At, field, id})
	return v.Value, ok
}

// Rules validate updates by these checks, in this order. The first check that an update fails
// decides its code:
//
//  1. schema: the field exists in the page's type, the operation is its kind's,
//     every value is of its type and within its limits;
//  2. provenance: the evidence resolves, and so do all its sources, without a cycle; the page is
//     not gone;
//  3. scope: the page's type is allowed there, only its own session writes private state, and
//     only principals with the right write the project's;
//  4. non-destructive: append and merge keep every committed entry, set_with_version
//     and a merged member were made from the last committed version;
//  5. policy: on a hard-pinned page guarded fields are not replaced and no rank
//     sinks; then the host's policies, in their order.
//
// Nothing here reads a clock or a file: equal state, rules and updates give equal
// verdicts.
type Rules struct {
	schema   Schema
	resolver Resolver
	policies []Policy
}

// NewRules makes rules. Without a resolver only committed updates are evidence.
func NewRules(schema Schema, resolver Resolver, policies ...Policy) *Rules {
	return &Rules{schema, resolver, policies}
}

// verdict is the result of validation.
type verdict struct {
	accepted     []string
	rejected     []Rejection
	allOrNothing bool
}

// commits reports whether there is anything to commit.
func (v *verdict) commits() bool {
	return len(v.accepted) > 0 && (len(v.rejected) == 0 || !v.allOrNothing)
}

// brief returns the rejections without the updates.
func (v *verdict) brief() []Rejection {
	out := slices.Clone(v.rejected)
	for i := range out {
		out[i].Body = nil
	}
	return out
}

func (r *Rules) validate(d *draft, s *stagedBody) *verdict {
	v := &verdict{allOrNothing: s.AllOrNothing}
	c := &checker{Rules: r, draft: d, staged: s, sound: make(map[string]bool)}
	for i := range s.Updates {
		u := &s.Updates[i]
		a, err := c.check(u)
		if err == nil {
			d.accept(a)
			v.accepted = append(v.accepted, u.ID)
			continue
		}
		body, _ := textutil.JSON(u)
		v.rejected = append(v.rejected, Rejection{ID: u.ID, Code: err.Code, Detail: err.Detail, Body: body})
	}
	return v
}

// records lays out the unit.
func (v *verdict) records(t *Transaction, staged json.RawMessage, hash string, seq int) ([]store.Record, error) {
	recs := []store.Record{{Op: OpStaged, ID: t.Key, Time: t.Time, Body: staged}}
	var errs []error
	add := func(op string, body any) {
		b, err := textutil.JSON(body)
		errs = append(errs, err)
		recs = append(recs, store.Record{Op: op, ID: t.Key, Time: t.Time, Body: b})
	}
	for _, r := range v.rejected {
		add(OpRejected, r)
	}
	if v.commits() {
		add(opValidated, validatedBody{hash, v.accepted})
		add(OpCommitted, committedBody{Hash: hash, Point: t.Point, Seq: seq})
	}
	return recs, errors.Join(errs...)
}

// checker validates the updates of one transaction.
type checker struct {
	*Rules
	draft  *draft
	staged *stagedBody
	// sound holds the references of which all sources were found.
	sound map[string]bool
}

func refuse(code, format string, args ...any) *RejectionError {
	return &RejectionError{Code: code, Detail: fmt.Sprintf(format, args...)}
}

func (c *checker) check(u *Update) (a acceptedUpdate, err *RejectionError) {
	by := c.staged.By
	a = acceptedUpdate{at: u.address(by), field: u.Field, ref: updateRef(c.draft.tx, u.ID)}
	spec, items, err := c.checkSchema(u, &a)
	if err != nil {
		return a, err
	}
	if why := c.unresolved(u, a.at); why != "" {
		return a, refuse(CodeProvenance, "%s", why)
	}
	if why := denied(c.schema[a.typ], u, by); why != "" {
		return a, refuse(CodeScope, "%s", why)
	}
	changes, why := c.draft.changes(u, a.at, items, Version{Update: u.ID})
	if why != "" {
		return a, refuse(CodeDestructive, "%s of %s: %s", u.Field, a.at, why)
	}
	a.changes = changes
	if why := c.against(u, &a, spec); why != "" {
		return a, refuse(CodePolicy, "%s", why)
	}
	return a, nil
}

// checkSchema checks whether the update is well formed, and fills in the type of the page and the
// kind of field that it writes.
func (c *checker) checkSchema(u *Update, a *acceptedUpdate) (spec FieldSpec, items []item, err *RejectionError) {
	for _, m := range c.staged.Malformed {
		if m.ID == u.ID {
			return spec, nil, refuse(CodeSchema, "value is not JSON: %.200q", m.Text)
		}
	}
	if u.Key == "" || len(u.Key) > maxNameBytes {
		return spec, nil, refuse(CodeSchema, "a key has 1 to %d bytes", maxNameBytes)
	}
	if a.typ = c.draft.typeOf(a.at); a.typ == "" {
		a.typ = u.Type
	}
	if u.Type != "" && u.Type != a.typ {
		return spec, nil, refuse(CodeSchema, "%s is a %s page and can't be a %s", a.at, a.typ, u.Type)
	}
	spec, ok := c.schema[a.typ].Fields[u.Field]
	if !ok {
		return spec, nil, refuse(CodeSchema, "type %q has no field %q", a.typ, u.Field)
	}
	size, kind := c.draft.size(a.at, u.Field)
	if a.kind = spec.Kind; u.Op != writes[a.kind] || kind != "" && kind != a.kind {
		return spec, nil, refuse(CodeSchema, "%s is not how field %q, a %s, is written", u.Op, u.Field, spec.Kind)
	}
	items, bad := u.items()
	if bad != nil {
		return spec, nil, refuse(CodeSchema, "field %q: %v", u.Field, bad)
	}
	return spec, items, c.checkValues(u, a, spec, items, size)
}

func (c *checker) checkValues(u *Update, a *acceptedUpdate, spec FieldSpec, items []item, size int) *RejectionError {
	for _, it := range items {
		if why := spec.refuse(it.Value); why != "" {
			return refuse(CodeSchema, "field %q: %s", u.Field, strings.TrimSpace(it.ID+" "+why))
		}
		if _, ok := c.draft.current(slot{a.at, u.Field, it.ID}); !ok {
			size++
		}
	}
	if limit := cmp.Or(spec.MaxEntries, defaultMaxEntries); size > limit && a.kind != KindScalar {
		return refuse(CodeSchema, "field %q would have %d entries, at most %d are allowed", u.Field, size, limit)
	}
	return nil
}

// maxProvenance bounds how many references one update's evidence may rest on.
const maxProvenance = 10_000

// unresolved returns why an update's evidence is not valid, "" if it is valid.
func (c *checker) unresolved(u *Update, at Address) string {
	switch {
	case c.resolver != nil && c.resolver.Gone(at):
		return fmt.Sprintf("the page %s is gone", at)
	case u.EvidenceRef == "":
		return "no evidence is named"
	}
	left := maxProvenance
	return c.follow(u.EvidenceRef, make(map[string]bool), &left)
}

// follow checks that ref and all its sources resolve. A cycle among the updates of a transaction
// needs no search: an update may only cite those before it.
func (c *checker) follow(ref string, open map[string]bool, left *int) string {
	if c.sound[ref] {
		return ""
	}
	if open[ref] {
		return fmt.Sprintf("the evidence %q rests on itself", ref)
	}
	if *left--; *left < 0 {
		return fmt.Sprintf("the evidence rests on more than %d others", maxProvenance)
	}
	if strings.HasPrefix(ref, updateRefMark) {
		if !c.draft.resolves(ref, c.staged.By.Session) {
			return fmt.Sprintf("no update %q was committed before", ref)
		}
		return ""
	}
	var from []string
	ok := false
	if c.resolver != nil {
		from, ok = c.resolver.Provenance(ref)
	}
	if !ok {
		return fmt.Sprintf("the evidence %q names nothing", ref)
	}
	open[ref] = true
	for _, f := range from {
		if why := c.follow(f, open, left); why != "" {
			return why
		}
	}
	c.sound[ref] = true
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
func (c *checker) against(u *Update, a *acceptedUpdate, spec FieldSpec) string {
	p := Proposal{Update: *u, At: a.at, Type: a.typ, By: c.staged.By, Pinned: c.pinned(a),
		Values: make(map[string]json.RawMessage, len(a.changes)), draft: c.draft}
	for _, ch := range a.changes {
		p.Values[ch.ID] = ch.version.Value
		before, ok := p.Current(u.Field, ch.ID)
		if p.Pinned && ok && weaker(u.Field, spec, before, ch.version.Value) {
			return fmt.Sprintf("%s is hard-pinned: its %s can't be taken back", a.at, u.Field)
		}
	}
	for _, policy := range c.policies {
		if why := policy.Refuse(p); why != "" {
			return fmt.Sprintf("policy %q: %s", policy.Name, why)
		}
	}
	return ""
}

// pinned reports whether the page that an update writes is hard-pinned already.
func (c *checker) pinned(a *acceptedUpdate) bool {
	if c.schema[a.typ].HardPin {
		return true
	}
	v, ok := c.draft.current(slot{a.at, PinField, ""})
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
