package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"pgregory.net/rapid"
)

// What a turn costs does not grow with the turns before it, whether the host vouches
// for what it repeats or not: messages that are read, bytes that are written, memory
// that is taken.
func TestTurnCostsWhatIsNew(t *testing.T) {
	const few = 10
	for name, vouch := range map[string]bool{"vouched": true, "compared": false} {
		t.Run(name, func(t *testing.T) {
			if !vouch && !suite.Long() {
				t.Skip("the long suite compares, too")
			}
			// The working buffer is read where it is appended to, which its own size bounds.
			k, err := kernel.Open(context.Background(), t.TempDir(), &kernel.Options{Life: kernel.LifeOptions{NoBuffer: true}})
			if err != nil {
				t.Fatal(err)
			}
			defer k.Close()
			c := newConversation(21)
			type cost struct{ examined, journal, state, alloc int64 }
			spend := func(n int) (sum cost) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for range n {
					known := len(c.msgs)
					c.user()
					c.loop(1, 300)
					c.loop(1, 300)
					c.loop(1, 300)
					c.say()
					turn := api.Turn{Messages: c.msgs, Private: true}
					if vouch {
						turn.Unchanged = known
					}
					o := observe(t, k, turn)
					if o.Outcome != api.Committed || o.Stats.Examined < 4 {
						t.Fatalf("%+v", o)
					}
					sum.examined += int64(o.Stats.Examined)
					sum.journal += o.Stats.JournalBytes
					sum.state += o.Stats.StateBytes
				}
				runtime.ReadMemStats(&after)
				sum.alloc = int64(after.TotalAlloc - before.TotalAlloc)
				return sum
			}
			spend(130) // the state's list of known keys is full from 1,024 messages on
			a := spend(few)
			spend(suite.Pick(10, 400))
			b := spend(few)
			if a.examined != b.examined {
				t.Errorf("%d turns examined %d messages, later ones %d", few, a.examined, b.examined)
			}
			grown := func(what string, a, b int64, most float64) {
				if float64(b) > most*float64(a) {
					t.Errorf("%s: %d turns took %d, later ones %d", what, few, a, b)
				}
			}
			grown("bytes of the journal", a.journal, b.journal, 1.05)
			grown("bytes of the state", a.state, b.state, 1.05)
			grown("bytes allocated", a.alloc, b.alloc, 1.5)
		})
	}
}

// delivery is what a host hands in once.
type delivery struct {
	msgs      []memkernel.Message
	unchanged int
	result    bool // in the middle of a turn
}

// drawDeliveries is a host that grows its conversation and does to it what hosts do:
// turns that are open, results that come late, ids that come again, messages that are
// written piece by piece, taken back, changed in the middle, or moved to the front.
func drawDeliveries(t *rapid.T) (out []delivery) {
	keyed := rapid.Bool().Draw(t, "keyed")
	tools := rapid.Bool().Draw(t, "tool messages")
	var msgs []memkernel.Message
	n := 0
	add := func(role memkernel.Role, parts ...memkernel.Part) {
		n++
		m := memkernel.Message{Role: role, Parts: parts}
		if keyed && rapid.IntRange(0, 19).Draw(t, "same key") > 0 {
			m.Key = fmt.Sprintf("m%d", n)
		} else if keyed {
			m.Key = "again"
		}
		msgs = append(msgs, m)
	}
	id := func() string { return rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "id") }
	for range rapid.IntRange(3, suite.Pick(14, 25)).Draw(t, "deliveries") {
		before := slices.Clone(msgs)
		for range rapid.IntRange(1, 6).Draw(t, "messages") {
			switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
			case kind < 3:
				add(memkernel.RoleUser, words(fmt.Sprintf("Please look at %d: never rename it.", n)))
			case kind < 6:
				add(memkernel.RoleAssistant, words(fmt.Sprintf("I went with %d.", n)))
			case kind < 8:
				add(memkernel.RoleAssistant, memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: id(), Name: "Bash", Input: `{"command":"go test ./..."}`}})
			default:
				role := memkernel.RoleUser
				if tools {
					role = memkernel.RoleTool
				}
				add(role, memkernel.Part{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: id(), Content: []memkernel.Part{words(fmt.Sprintf("ok %d", n))}}})
			}
		}
		switch rapid.IntRange(0, 12).Draw(t, "host") {
		case 0: // takes back
			msgs = msgs[:rapid.IntRange(1, len(msgs)).Draw(t, "left")]
		case 1: // changes one
			i := rapid.IntRange(0, len(msgs)-1).Draw(t, "changed")
			msgs = slices.Clone(msgs)
			msgs[i].Parts = append(slices.Clone(msgs[i].Parts), words(fmt.Sprintf("and %d", n)))
		case 2: // leaves out what is old
			msgs = slices.Clone(msgs[rapid.IntRange(0, len(msgs)-1).Draw(t, "left out"):])
		}
		d := delivery{msgs: slices.Clone(msgs), result: rapid.IntRange(0, 3).Draw(t, "result") == 0}
		for d.unchanged < min(len(before), len(msgs)) && &before[d.unchanged].Parts[0] == &msgs[d.unchanged].Parts[0] &&
			len(before[d.unchanged].Parts) == len(msgs[d.unchanged].Parts) && before[d.unchanged].Key == msgs[d.unchanged].Key {
			d.unchanged++
		}
		out = append(out, d)
	}
	return out
}

// A session that goes on from what it heard writes what one writes that has it all
// read anew each time, byte by byte, and gives the same answers.
func TestHeardIsAsReadAnew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		deliveries := drawDeliveries(t)
		type answers struct {
			seen    []string
			journal string
		}
		run := func(vouch, anew bool) (out answers) {
			dir := tempDir(t)
			noon := time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
			k, err := kernel.Open(context.Background(), dir, &kernel.Options{Now: func() time.Time { return noon }})
			if err != nil {
				t.Fatal(err)
			}
			defer k.Close()
			for i, d := range deliveries {
				turn := api.Turn{SessionKey: "s", Model: model, Messages: d.msgs, Now: time.Date(2026, 11, 3, 9, i, 0, 0, time.UTC), Private: true}
				if vouch {
					turn.Unchanged = d.unchanged
				}
				if anew {
					k.Release("s")
				}
				commit := k.ObserveTurn
				if d.result {
					commit = k.ObserveToolResult
				}
				o, err := commit(context.Background(), turn)
				if err != nil {
					out.seen = append(out.seen, err.Error())
					continue
				}
				out.seen = append(out.seen, fmt.Sprint(o.Outcome, o.AdvancementKey, o.Ingested, o.Turns, o.Faults))
			}
			raw, err := os.ReadFile(filepath.Join(dir, ".memkernel", "sessions", "s", "journal.jsonl"))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			out.journal = string(raw)
			return out
		}
		want := run(false, true)
		for name, got := range map[string]answers{"vouched": run(true, false), "compared": run(false, false)} {
			if !slices.Equal(got.seen, want.seen) {
				t.Fatalf("%s:\n%q\nanew:\n%q", name, got.seen, want.seen)
			}
			if got.journal != want.journal {
				t.Fatalf("%s: another journal:\n%s\nanew:\n%s", name, got.journal, want.journal)
			}
		}
	})
}
