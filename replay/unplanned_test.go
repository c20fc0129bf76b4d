package replay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/kernel/api"
)

const (
	codeA = "package a\n\nfunc FirstStep() error { return nil }\nfunc SecondStep() error { return nil }"
	codeB = "func SecondStep() error { return errors.New(\"not yet\") }"
)

func reasons(r *Result) string {
	var out []string
	for _, u := range r.Unplanned {
		out = append(out, fmt.Sprintf("%d %s %s", u.Index, u.Key, u.Reason))
	}
	return strings.Join(out, ", ")
}

// A call that nobody can plan is left out for every policy, with its reason. The figures
// of all others are those of the same session in which it was no call.
func TestUnplannedCallsCountForNobody(t *testing.T) {
	session := func() *script {
		return newScript().answer(10, "hello").user(2000, "look at parse_header").tool("Read", `{"file_path":"a"}`, 900, codeA).
			answer(30, "one moment").answer(40, "it is FirstStep").user(30, "and then?").tool("Grep", `{"pattern":"SecondStep"}`, 700, codeB).
			answer(20, "SecondStep").answer(10, "so much for that")
	}
	for _, policy := range append(Policies(), "memkernel-5k") {
		with, without := session(), session()
		for _, i := range []int{0, 5, len(without.msgs) - 1} { // the hello, and what follows another answer
			without.msgs[i].Origin = memkernel.OriginSynthetic
		}
		opt := Options{ContextWindow: 4000, FixedTokens: 500}
		rec, other := with.record(t, opt), without.record(t, opt)
		got, want := replayed(t, rec, policy), replayed(t, other, policy)
		if s := reasons(got); s != "0 k0 no_messages, 3 k5 answered, 6 k10 answered" {
			t.Errorf("%s: %s", policy, s)
		}
		if len(want.Unplanned) != 0 || len(want.Totals.Unplanned) != 0 {
			t.Errorf("%s: %s in the session without", policy, reasons(want))
		}
		if diff := cmp.Diff(map[string]int{answered: 2, noMessages: 1}, got.Totals.Unplanned); diff != "" {
			t.Errorf("%s: %s", policy, diff)
		}
		got.Totals.Unplanned = want.Totals.Unplanned
		if diff := cmp.Diff(want.Totals, got.Totals); diff != "" || want.Totals.Calls != 4 {
			t.Errorf("%s: figures differ from those without (-want +got):\n%s", policy, diff)
		}
		if diff := cmp.Diff(want.Bound, got.Bound); diff != "" {
			t.Errorf("%s: bound: %s", policy, diff)
		}
	}
}

// Nobody asks the model while a call of its own is open.
func TestOpenCallsAreUnplanned(t *testing.T) {
	s := newScript().user(30, "look").tool("Read", `{"file_path":"a"}`, 0, codeA)
	s.msgs = slices.Insert(s.msgs, 2, memkernel.Message{Key: "between", Role: memkernel.RoleAssistant, Time: s.now, Parts: []memkernel.Part{textPart("still reading")}})
	s.tokens = append(s.tokens, 0)
	for _, policy := range Policies() {
		r := replayed(t, s.answer(10, "done").record(t, Options{}), policy)
		if reasons(r) != "1 between answered" || r.Totals.Violations+r.Totals.Faults > 0 {
			t.Errorf("%s: %s, %+v", policy, reasons(r), r.Totals)
		}
		s.msgs, s.tokens = s.msgs[:len(s.msgs)-1], s.tokens[:len(s.tokens)-1]
	}
}

// A session of nothing but such calls has figures of nothing.
func TestNothingToPlan(t *testing.T) {
	for _, policy := range Policies() {
		r := replayed(t, newScript().answer(10, "hello").answer(10, "again").record(t, Options{}), policy)
		if o := r.Totals; o.Calls != 0 || o.InputTokens != 0 || *o.CostUSD != 0 || reasons(r) != "0 k0 no_messages, 1 k1 answered" {
			t.Errorf("%s: %+v, %s", policy, o, reasons(r))
		}
	}
}

// What one policy can't plan counts for none of those that it is compared with, nor for
// the bound; a policy that has a rival doesn't plan for it.
func TestAlign(t *testing.T) {
	opt := Options{ContextWindow: 4000, Reserve: 500}
	s := newScript().user(300, "go on").answer(10, "yes")
	s.wait(time.Minute).say(memkernel.RoleUser, 9000, textPart("parse_header"),
		memkernel.Part{Kind: memkernel.PartDocument, Text: text(20_000), Media: &memkernel.Media{Type: "text/plain"}})
	s.answer(10, "parse_header").user(30, "thanks").answer(10, "parse_header")
	rec := func() *Recording { return s.record(t, opt) }
	ours := replayed(t, rec(), Memkernel)
	if s := reasons(ours); s != "1 k3 does_not_fit" || ours.Unplanned[0].Detail == "" || ours.Totals.Overflows > 0 {
		t.Fatalf("%s: %+v", s, ours.Unplanned)
	}
	late, all := replayed(t, rec(), AppendLate), replayed(t, rec(), Fullest)
	if len(late.Calls) != 3 || len(late.Unplanned) != 0 || all.Totals.Overflows != 2 {
		t.Fatalf("late: %d calls, %s; fullest: %d overflows", len(late.Calls), reasons(late), all.Totals.Overflows)
	}
	told, err := rec().Run(t.Context(), Fullest, ours)
	if err != nil {
		t.Fatal(err)
	}
	before := *late.Totals.CostUSD
	dear := *late.Calls[1].CostUSD
	Align([]*Result{ours, late, all, told})
	for _, r := range []*Result{ours, late, all, told} {
		var indexes []int
		cost := 0.0
		for _, c := range r.Calls {
			indexes, cost = append(indexes, c.Index), cost+*c.CostUSD
		}
		if !slices.Equal(indexes, []int{0, 2}) || reasons(r) != "1 k3 does_not_fit" || r.Totals.Calls != 2 || cost != *r.Totals.CostUSD || r.Totals.Unplanned[doesNotFit] != 1 {
			t.Errorf("%s: calls %v, left out %s, %+v", r.Policy, indexes, reasons(r), r.Totals)
		}
		if r.Bound.WriteTokens != late.Bound.WriteTokens {
			t.Errorf("%s has another bound: %+v", r.Policy, r.Bound)
		}
	}
	if after := *late.Totals.CostUSD; before-after-dear > 1e-12 || dear-(before-after) > 1e-12 || dear == 0 {
		t.Errorf("append-late: %v before, %v of it for the call, %v after", before, dear, after)
	}
}

// Only what concerns one call is counted; what would come again with every call stops a
// replay.
func TestRefusal(t *testing.T) {
	for _, tc := range []struct {
		err    error
		reason string
		one    bool
	}{
		{&budget.TooSmallError{}, doesNotFit, true},
		{fmt.Errorf("plan s: %w", api.ErrAnswered), answered, true},
		{api.ErrNoMessages, noMessages, true},
		{errors.New("no sense in it"), refused, true},
		{context.Canceled, "", false},
		{fmt.Errorf("record: %w", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}), "", false},
		{syscall.EIO, "", false},
	} {
		if reason, one := refusal(tc.err); reason != tc.reason || one != tc.one {
			t.Errorf("%v: %q, %v", tc.err, reason, one)
		}
	}
}
