package store_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/store/storetest"
)

// Processes die at any step of what they write, by a kill or with the power, one after
// the other. Each finds a journal that opens; what was synced is there, in its order; of
// the rest, a beginning.
func TestJournalCrash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := storetest.New()
		var want []string   // what was appended, of which the first firm records are synced
		firm, least := 0, 0 // least is how many of them have to be read
		var may [][]string  // what may be there instead, for what was under way
		for life := range rapid.IntRange(1, 4).Draw(t, "lives") {
			j, err := openIn(s, "s/journal.jsonl", nil)
			if err != nil {
				t.Fatalf("life %d: %v", life, err)
			}
			got := idsOf(t, j)
			if i := slices.IndexFunc(append(may, want), func(m []string) bool {
				return len(got) >= min(least, len(m)) && len(got) <= len(m) && slices.Equal(m[:len(got)], got)
			}); i < 0 {
				t.Fatalf("life %d reads %q; of %q at least %d are there, or %q", life, got, want, least, may)
			}
			want, firm, may = got, min(firm, len(got)), nil
			at, part := rapid.IntRange(1, 25).Draw(t, "dies at"), rapid.IntRange(0, 400).Draw(t, "part")
			step := 0
			s.SetFault(func(op storetest.Op, _ string) error {
				if step++; step < at {
					return nil
				}
				if op == storetest.Write || op == storetest.Patch {
					return &atomicfile.PartialWrite{N: part, Err: storetest.ErrCrash}
				}
				return storetest.ErrCrash
			})
			for op := 0; op < 8 && step < at; op++ {
				want, firm, may = act(t, j, fmt.Sprint(life, op), want, firm)
			}
			var power func(int) int
			if rapid.Bool().Draw(t, "power") {
				power, least = func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "outcome") }, firm
			} else {
				least = len(want) // which a kill takes nothing of
			}
			if s = s.Restart(power); power != nil {
				firm = len(want) // of what is read
			}
		}
	})
}

// act writes to a journal, and returns what it then holds, how much of it is synced, and
// what else may be kept if the process died meanwhile.
func act(t *rapid.T, j *testLog, id string, want []string, firm int) ([]string, int, [][]string) {
	sync := rapid.Bool().Draw(t, "sync")
	switch rapid.SampledFrom([]string{"append", "append", "sync", "rewrite"}).Draw(t, "op") {
	case "append":
		var recs []store.Record
		more := slices.Clone(want)
		for n := range rapid.IntRange(1, 3).Draw(t, "records") {
			recs = append(recs, store.Record{Op: "turn", ID: fmt.Sprint(id, "-", n)})
			more = append(more, recs[n].ID)
		}
		if _, err := j.Append(sync, recs...); err != nil {
			return want, firm, [][]string{more}
		}
		if sync {
			firm = len(more)
		}
		return more, firm, nil
	case "sync":
		if err := j.Sync(j.Len()); err == nil && j.Size() > 0 {
			firm = len(want)
		}
		return want, firm, nil
	default:
		drop := rapid.IntRange(0, len(want)).Draw(t, "dropped")
		n := 0
		err := j.Rewrite(func(*store.Record) (bool, error) { n++; return n > drop, nil })
		if err != nil {
			return want, firm, [][]string{want[drop:]}
		}
		return want[drop:], len(want) - drop, nil
	}
}

func idsOf(t *rapid.T, j *testLog) []string {
	var out []string
	for r, err := range j.Records() {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r.ID)
	}
	return out
}
