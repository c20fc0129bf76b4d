package policies

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/replay"
)

// TestUnplannedCalls: no policy plans a call with nothing before it, or with an answer before
// it; the oracle does not plan for a call that its rival could not plan.
func TestUnplannedCalls(t *testing.T) {
	open := newScript().user(30, "look").tool("Read", `{"file_path":"a"}`, 0, "package a")
	open.msgs = slices.Insert(open.msgs, 2, memkernel.Message{Key: "between", Role: memkernel.RoleAssistant, Time: open.now, Parts: []memkernel.Part{textPart("still reading")}})
	open.tokens = append(open.tokens, 0)
	for _, c := range []struct {
		s       *script
		calls   int
		reasons []string
	}{
		{newScript().answer(10, "hello").user(20, "hi").answer(10, "yes"), 1, []string{"no_messages"}},
		{newScript().answer(10, "hello").answer(10, "again"), 0, []string{"no_messages", "answered"}},
		{open.answer(10, "done"), 2, []string{"answered"}},
	} {
		for _, policy := range replay.Policies() {
			r := replayed(t, c.s.record(t, replay.Options{}), policy, map[bool]*replay.Result{true: {}}[policy == replay.Oracle])
			var reasons []string
			for _, u := range r.Unplanned {
				reasons = append(reasons, u.Reason)
			}
			if len(r.Calls) != c.calls || !slices.Equal(reasons, c.reasons) || c.calls == 2 && r.Totals.Violations+r.Totals.Faults > 0 {
				t.Errorf("%s: %d calls, %v, %+v", policy, len(r.Calls), reasons, r.Totals)
			}
		}
	}
	// The figures are those of the same session in which the calls were none.
	session := func() *script {
		return newScript().answer(10, "hello").user(2000, "look at parse_header").tool("Read", `{"file_path":"a"}`, 900, "func FirstStep() {}\n"+text(800)).
			answer(30, "one moment").answer(40, "it is FirstStep").user(30, "and then?").tool("Grep", `{"pattern":"SecondStep"}`, 700, "func SecondStep() {}\n"+text(600)).
			answer(20, "SecondStep").answer(10, "so much for that")
	}
	with, without := session(), session()
	for _, i := range []int{0, 5, len(without.msgs) - 1} { // the hello, and an answer that follows another
		without.msgs[i].Origin = memkernel.OriginSynthetic
	}
	for _, policy := range append(replay.Policies(), "turns-1") {
		rival := map[bool]*replay.Result{true: {}}[policy == replay.Oracle]
		opt := replay.Options{ContextWindow: 4000, FixedTokens: 500}
		got, want := replayed(t, with.record(t, opt), policy, rival), replayed(t, without.record(t, opt), policy, rival)
		if diff := cmp.Diff(map[string]int{"answered": 2, "no_messages": 1}, got.Totals.Unplanned); diff != "" {
			t.Errorf("%s: %s", policy, diff)
		}
		got.Totals.Unplanned = want.Totals.Unplanned
		if diff := cmp.Diff(want.Totals, got.Totals); diff != "" || want.Totals.Calls != 4 || len(want.Unplanned) != 0 {
			t.Errorf("%s: figures differ from those without (-want +got):\n%s", policy, diff)
		}
		if diff := cmp.Diff(want.Bound, got.Bound); diff != "" {
			t.Errorf("%s: bound: %s", policy, diff)
		}
	}
	s := newScript().user(300, "go on").answer(10, "yes")
	s.wait(time.Minute).say(memkernel.RoleUser, 9000, textPart("parse_header"),
		memkernel.Part{Kind: memkernel.PartDocument, Text: text(20_000), Media: &memkernel.Media{Type: "text/plain"}})
	s.answer(10, "parse_header").user(30, "thanks").answer(10, "parse_header")
	opt := replay.Options{ContextWindow: 4000, Reserve: 500}
	ours := replayed(t, s.record(t, opt), replay.Memkernel, nil)
	if best := replayed(t, s.record(t, opt), replay.Oracle, ours); len(ours.Calls) != 2 || len(best.Calls) != 2 || len(best.Unplanned) != 1 || best.Unplanned[0].Reason != "does_not_fit" {
		t.Errorf("%+v", best.Unplanned)
	}
}
