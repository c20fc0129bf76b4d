package replay

import (
	"slices"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/replay/recall"
)

func TestRestoreIsPriced(t *testing.T) {
	rec := newScript().user(0, text(300)).answer(0, text(600)).record(t, Options{})
	size, other := rec.size(recall.Place{Message: 0}), rec.size(recall.Place{Message: 1})
	if size != 104 || other != 204 { // three bytes a token, four for the message
		t.Fatalf("sizes %d and %d", size, other)
	}
	r := newRestorer(rec)
	m := rec.Model(time.Time{})
	pointer, lost := recall.Need{Place: recall.Place{Message: 0}, Behind: true}, recall.Need{Place: recall.Place{Message: 1}}
	for i, c := range []struct {
		call              Call
		needs             []recall.Need
		resolutions, gone int
		pointer, lost     float64
	}{
		{Call{Input: 5000}, nil, 0, 0, 0, 0},
		{Call{Input: 5000}, []recall.Need{pointer}, 1, 0, 104*12.5 + 5000, 0},                // written, and a round more
		{Call{Input: 6000}, []recall.Need{pointer}, 0, 0, 104, 0},                            // it is there: read
		{Call{Input: 6000, Cold: true}, nil, 0, 0, 104 * 12.5, 0},                            // written anew
		{Call{Input: 7000}, []recall.Need{lost}, 0, 1, 104, 204*12.5 + 7000},                 // without a pointer
		{Call{Input: 7000, Cut: "full"}, nil, 0, 0, 0, 0},                                    // the cut takes both
		{Call{Input: 8000}, []recall.Need{pointer, lost}, 1, 1, 104*12.5 + 8000, 204 * 12.5}, // one round for both
	} {
		r.call(&c.call, c.needs, m)
		if c.call.Resolutions != c.resolutions || c.call.Lost != c.gone || millionths(c.call.ResolutionsUSD) != c.pointer || millionths(c.call.LostUSD) != c.lost {
			t.Errorf("step %d: %d for %v, %d for %v; want %d for %v, %d for %v", i+1, c.call.Resolutions, millionths(c.call.ResolutionsUSD),
				c.call.Lost, millionths(c.call.LostUSD), c.resolutions, c.pointer, c.gone, c.lost)
		}
	}
}

// What is there is summed in no order of its own, so the price can't depend on
// one.
func TestRestorePriceIsOneNumber(t *testing.T) {
	rec := newScript().user(0, text(300)).record(t, Options{})
	m, price := rec.Model(time.Time{}), 0.1
	m.Tiers = []cachelayout.Tier{{Input: &price, Read: &price, Write5m: &price, Write1h: &price}}
	seen := map[float64]bool{}
	for range 20 {
		r := newRestorer(rec)
		for i := range 60 {
			at := recall.Place{Message: i}
			rec.sizes[at] = 1 + 7*i*i
			r.fetched[at] = false
		}
		c := Call{Input: 5000}
		r.call(&c, nil, m)
		seen[*c.LostUSD] = true
	}
	if len(seen) != 1 {
		t.Errorf("%d prices of the same places", len(seen))
	}
}

func TestSinceCompaction(t *testing.T) {
	s := newScript()
	for range 4 {
		s.user(0, "go").answer(0, "yes")
	}
	for _, c := range []struct {
		at   []int
		want []int
	}{
		{nil, []int{0, 0, 0, 0}},
		{[]int{2}, []int{0, 1, 2, 3}}, // before the second question
		{[]int{3}, []int{0, 1, 2, 3}}, // before its answer
		{[]int{2, 6}, []int{0, 1, 2, 1}},
		{[]int{8}, []int{0, 0, 0, 0}}, // behind the last
	} {
		if got := sinceCompaction(s.msgs, c.at, 4); !slices.Equal(got, c.want) {
			t.Errorf("compactions at %v: %v, want %v", c.at, got, c.want)
		}
	}
}

// TestNeedsArePlaces: what is missing is named by the place where it was.
func TestNeedsArePlaces(t *testing.T) {
	tr := recall.New()
	add := func(role memkernel.Role, s string) {
		tr.Append(memkernel.Message{Key: s[:1], Role: role, Parts: []memkernel.Part{textPart(s)}})
	}
	add(memkernel.RoleUser, "a look at parse_header and at parse_footer")
	add(memkernel.RoleUser, "b parse_header again")
	add(memkernel.RoleUser, "c "+text(30_000))
	m := memkernel.Message{Role: memkernel.RoleAssistant, Parts: []memkernel.Part{textPart("parse_header calls parse_footer")}}
	if got, want := len(tr.Places(m)), 2; got != want {
		t.Fatalf("%d references, want %d", got, want)
	}
	var none recall.Prompt
	score, needs := tr.Judge(&none, m, func(at recall.Place) bool { return at.Message == 0 })
	if score.Pointer != 2 || len(needs) != 1 || needs[0].Place.Message != 0 || !needs[0].Behind {
		t.Errorf("with a pointer: %+v, %+v", score, needs)
	}
	score, needs = tr.Judge(&none, m, nil)
	if score.Missing != 2 || len(needs) != 2 || needs[0].Place.Message != 0 || needs[1].Place.Message != 1 || needs[0].Behind || needs[1].Behind {
		t.Errorf("without: %+v, %+v", score, needs)
	}
}

// TestHeldText: of what died or was finished, only what the prompt shows in full counts as shown.
func TestHeldText(t *testing.T) {
	const input = `{"file_path":"/p/a.go"}`
	rec := newScript().user(10, "go").tool("Read", input, 500, "old text").tool("Read", input, 500, "new text").
		tool("Bash", `{"command":"git commit -qm x"}`, 10, "").answer(10, "so").record(t, Options{})
	j := &judge{rec: rec, tracker: recall.New()}
	for _, m := range rec.Messages {
		j.tracker.Append(m)
	}
	end := len(rec.Messages)
	size := func(i int, id string) int { return rec.size(recall.Place{Message: i, CallID: id}) }
	var all, none Held
	all.hold(j, rec.Messages, end)
	none.hold(j, rec.Messages[end-3:], end)
	dead, both := size(2, "call1"), size(2, "call1")+size(4, "call2")
	if want := (Held{Dead: Share{dead, dead}, Finished: Share{both, both}}); all != want {
		t.Errorf("all is shown: %+v, want %+v", all, want)
	}
	if want := (Held{Dead: Share{dead, 0}, Finished: Share{both, 0}}); none != want {
		t.Errorf("nothing is shown: %+v, want %+v", none, want)
	}
}
