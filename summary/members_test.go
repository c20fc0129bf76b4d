package summary

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestMembersRestore keeps only what changed from update to update, and expects the
// state that stood.
func TestMembersRestore(t *testing.T) {
	gen := randomMessages()
	rapid.Check(t, func(t *rapid.T) {
		msgs := gen.Draw(t, "messages")
		kept := map[string]json.RawMessage{}
		var s State
		for len(msgs) > 0 {
			n := rapid.IntRange(1, len(msgs)).Draw(t, "n")
			s, msgs = update(s, msgs[:n]), msgs[n:]
			now, err := s.Members()
			if err != nil {
				t.Fatal(err)
			}
			maps.Copy(kept, now)
			got, err := Assemble(of(kept))
			if err != nil {
				t.Fatal(err)
			}
			diffStates(t, "assembled", s, got)
		}
	})
}

func TestMembersOfAnotherPast(t *testing.T) {
	a := update(State{}, keyed(user("must never fail\n- always do x\nfix the parser please"), says("Which?\n1. a\n2. b"), user("2")))
	b := update(State{}, keyed(user("write the docs please")))
	kept := map[string]json.RawMessage{}
	for _, s := range []State{a, b, a} {
		now, err := s.Members()
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(kept, now)
		got, err := Assemble(of(kept))
		if err != nil {
			t.Fatal(err)
		}
		diffStates(t, "assembled", s, got)
	}
}

func of(members map[string]json.RawMessage) func(string) json.RawMessage {
	return func(name string) json.RawMessage { return members[name] }
}

func TestAssembleBadMembers(t *testing.T) {
	good, err := update(State{}, keyed(user("must never fail\n- always do x"))).Members()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Assemble(of(nil)); err == nil {
		t.Error("no members: no error")
	}
	for name := range good {
		if name == listMember+kindReports { // states of older versions lack it
			continue
		}
		bad := maps.Clone(good)
		delete(bad, name)
		if strings.HasPrefix(name, entryMember) && !strings.Contains(string(good[listMember+kindConstraints]), strings.TrimPrefix(name, entryMember)) {
			continue
		}
		if _, err := Assemble(of(bad)); err == nil || !strings.Contains(err.Error(), "missing") {
			t.Errorf("without %s: %v", name, err)
		}
		bad[name] = json.RawMessage(`"x`)
		if _, err := Assemble(of(bad)); err == nil {
			t.Errorf("with a damaged %s: no error", name)
		}
	}
}
