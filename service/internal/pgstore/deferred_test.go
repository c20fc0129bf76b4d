package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/service/internal/pgstore"
)

// pair is two machines on a model of the server, one workspace between them and a
// conversation that goes to either.
type pair struct {
	m     *pgstore.Model
	s     [2]*pgstore.Store
	k     [2]*kernel.Kernel
	dir   string
	hook  func(name string) error // asked before the first machine's statements
	msgs  []memkernel.Message
	clock time.Time
}

func newPair(t *testing.T) *pair {
	p := &pair{m: pgstore.NewModel(), dir: t.TempDir(), clock: time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)}
	for i := range p.k {
		var wire pgstore.Wire
		if i == 0 {
			wire = func(s pgstore.Statement) error {
				if p.hook != nil {
					if err := p.hook(s.Name); err != nil {
						return err
					}
				}
				return s.Do()
			}
		}
		s := pgstore.OnModel(p.m, wire, 1, fmt.Sprint("machine ", i), time.Hour)
		k, err := kernel.Open(t.Context(), p.dir, &kernel.Options{Store: someState{s}, StateDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { k.Close(); s.Close() })
		p.s[i], p.k[i] = s, k
	}
	return p
}

func (p *pair) say(role memkernel.Role, text string) {
	p.clock = p.clock.Add(20 * time.Second)
	p.msgs = append(p.msgs, memkernel.Message{Key: fmt.Sprint("m", len(p.msgs)), Role: role, Time: p.clock, Model: "claude-opus-4-5",
		Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: text, Typed: role == memkernel.RoleUser}}})
}

func (p *pair) plan(k *kernel.Kernel) (*api.ContextPlan, error) {
	return k.PlanContext(context.Background(), api.PlanRequest{SessionKey: "s", Model: "claude-opus-4-5", Messages: p.msgs, Private: true, Now: p.clock})
}

func (p *pair) observe(k *kernel.Kernel, plan string) (*api.Observation, error) {
	return k.ObserveTurn(context.Background(), api.Turn{SessionKey: "s", Model: "claude-opus-4-5", Messages: p.msgs, Private: true, PlanID: plan, Now: p.clock})
}

// turn is a turn on one machine.
func (p *pair) turn(t *testing.T, k *kernel.Kernel, ask, answer string) {
	t.Helper()
	p.say(memkernel.RoleUser, ask)
	pl, err := p.plan(k)
	if err != nil {
		t.Fatal(err)
	}
	p.say(memkernel.RoleAssistant, answer)
	if o, err := p.observe(k, pl.ID); err != nil || o.Outcome != api.Committed {
		t.Fatal(o, err)
	}
}

func (p *pair) turns(t *testing.T, want int) {
	t.Helper()
	for i, k := range p.k {
		if found, err := k.Check(t.Context()); err != nil || len(found) > 0 {
			t.Errorf("machine %d: %+v, %v", i, found, err)
		}
		if o, err := p.observe(k, ""); err != nil || o.Outcome != api.Duplicate || o.Turns != want {
			t.Errorf("machine %d has %+v, %v, want %d turns", i, o, err, want)
		}
	}
}

// A turn whose machine can't write it is refused, and no file of the workspace says what
// follows from it; delivered again it is there once.
func TestNothingFollowsWhatIsNotWritten(t *testing.T) {
	p := newPair(t)
	p.turn(t, p.k[0], "Please make the retry test of the queue pass.", "It passes.")
	state := func() string {
		data, err := os.ReadFile(filepath.Join(p.dir, "SESSION-STATE.md"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	before := state()
	p.say(memkernel.RoleUser, "Now rename the heron service to zebra-28, please.")
	pl, err := p.plan(p.k[0])
	if err != nil {
		t.Fatal(err)
	}
	p.say(memkernel.RoleAssistant, "It is renamed.")
	p.hook = func(name string) error {
		if name == "flush" {
			return errFull
		}
		return nil
	}
	if o, err := p.observe(p.k[0], pl.ID); !errors.Is(err, pgstore.ErrFull) {
		t.Errorf("a turn that could not be written: %+v, %v", o, err)
	}
	if now := state(); now != before {
		t.Errorf("SESSION-STATE.md follows a turn that is not there:\n%s", now)
	}
	// A model call does not fail for that, and says so.
	if pl, err := p.plan(p.k[0]); err == nil {
		t.Errorf("a plan behind an answer: %+v", pl)
	}
	p.hook = nil
	if o, err := p.observe(p.k[0], pl.ID); err != nil || o.Outcome != api.Committed {
		t.Errorf("delivered again: %+v, %v", o, err)
	}
	if !strings.Contains(state(), "zebra-28") {
		t.Errorf("SESSION-STATE.md does not know the turn:\n%s", state())
	}
	p.turns(t, 2)

	p.say(memkernel.RoleUser, "And the docs?")
	p.hook = func(name string) error {
		if name == "flush" {
			return errFull
		}
		return nil
	}
	pl, err = p.plan(p.k[0])
	if err != nil || len(pl.Faults) != 1 || pl.Faults[0].Code != "not_recorded" {
		t.Errorf("a plan that can't be recorded: %v, %v", pl, err)
	}
}

// A machine that another overtook in mid-call takes the call up anew, on what the other
// wrote: its caller sees nothing of it.
func TestOvertakenInMidCall(t *testing.T) {
	t.Run("locked", func(t *testing.T) { overtakenInMidCall(t, newPair(t)) })
	t.Run("resumed", func(t *testing.T) {
		p := newPair(t)
		p.s[0].ResumeAfter(2)
		overtakenInMidCall(t, p)
	})
}

func overtakenInMidCall(t *testing.T, p *pair) {
	for range 3 {
		p.turn(t, p.k[0], "Please make the retry test of the queue pass.", "It passes.")
	}
	overtake := func(do func()) {
		p.hook = func(name string) error {
			if name != "flush" {
				return nil
			}
			p.hook = nil // once
			if err := p.s[1].Exec(t.Context(), pgstore.EndLeases); err != nil {
				return err
			}
			do()
			return nil
		}
	}
	p.say(memkernel.RoleUser, "Which queue was it?")
	var other *api.ContextPlan
	var err error
	overtake(func() { other, err = p.plan(p.k[1]) })
	mine, merr := p.plan(p.k[0])
	if err != nil || merr != nil {
		t.Fatal(err, merr)
	}
	if fmt.Sprint(mine.Messages) != fmt.Sprint(other.Messages) || len(mine.Faults) > 0 {
		t.Errorf("planned anew it is another plan, or has faults: %+v", mine.Faults)
	}
	p.say(memkernel.RoleAssistant, "That of worker 3.")
	var o *api.Observation
	overtake(func() { o, err = p.observe(p.k[1], mine.ID) })
	again, aerr := p.observe(p.k[0], mine.ID)
	if err != nil || aerr != nil || o.Outcome != api.Committed || again.Outcome != api.Duplicate {
		t.Errorf("observed on both: %+v, %v; %+v, %v", o, err, again, aerr)
	}
	p.turns(t, 4)
}

// A machine whose session stays resumes the session's lock, for one statement a call. What another
// machine did meanwhile is in its plans all the same: what it wrote for all sessions, and what
// a plan without anything new to write is made of.
func TestResumed(t *testing.T) {
	p := newPair(t)
	p.s[0].ResumeAfter(2)
	var asked []string
	p.hook = func(name string) error { asked = append(asked, name); return nil }
	stay := func() {
		for range 4 {
			p.turn(t, p.k[0], "Please make the retry test of the queue pass.", "It passes.")
		}
		p.say(memkernel.RoleUser, "Which queue was it?")
		asked = nil
		if _, err := p.plan(p.k[0]); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(asked, "take") || asked[len(asked)-1] != "flush" {
			t.Fatalf("a session that stays is planned by %q", asked)
		}
	}
	plans := func(what string) *api.ContextPlan {
		asked = nil
		mine, err := p.plan(p.k[0])
		other, oerr := p.plan(p.k[1])
		if err != nil || oerr != nil {
			t.Fatal(err, oerr)
		}
		if fmt.Sprint(mine.Messages) != fmt.Sprint(other.Messages) || len(mine.Faults) > 0 {
			t.Errorf("%s: the other machine plans otherwise, or there are faults: %+v", what, mine.Faults)
		}
		if !slices.Contains(asked, "take") {
			t.Errorf("%s: nobody noticed: %q", what, asked)
		}
		return mine
	}
	stay()
	rule := journal.Update{Key: "tone", Type: pagevm.Preference, Field: "text", Op: journal.OpSetWithVersion, Scope: memkernel.ScopeProject,
		Value: []byte(`"Answer in one line about heron-7."`), EvidenceRef: "session:another"}
	hard := rule
	hard.Field, hard.Value = journal.PinField, []byte(`"hard"`)
	if r, err := p.k[1].Write(t.Context(), api.WriteRequest{SessionKey: "another", Project: true, Updates: []journal.Update{rule, hard}}); err != nil || len(r.Accepted) != 2 {
		t.Fatalf("write: %+v, %v", r, err)
	}
	if pl := plans("a rule for all sessions"); !strings.Contains(fmt.Sprint(pl.Messages), "heron-7") {
		t.Error("the plan does not show the rule that another machine wrote")
	}

	p.say(memkernel.RoleAssistant, "That of worker 3.")
	stay()
	if c, err := p.k[1].Compact(t.Context(), api.Boundary{SessionKey: "s", Model: "claude-opus-4-5", Messages: p.msgs, Private: true, Now: p.clock}); err != nil {
		t.Fatalf("compact: %+v, %v", c, err)
	}
	plans("a compaction")
}
