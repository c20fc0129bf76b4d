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

const (
	codeA = "package a\n\nfunc FirstStep() error { return nil }\nfunc SecondStep() error { return nil }"
	codeB = "func SecondStep() error { return errors.New(\"not yet\") }"
)

func TestCausedRereads(t *testing.T) {
	read := func(s *script, result string) *script { return s.tool("Read", `{"file_path":"/w/a.go"}`, 0, result) }
	for _, c := range []struct {
		name          string
		again         func(s *script) *script
		cut           bool // the prompt of the second read shows nothing of the first
		compacted     int  // calls since the host compacted
		reads, caused int
	}{
		{"again, and it stood", func(s *script) *script { return read(s, codeA) }, false, 0, 2, 0},
		{"again, and it did not stand", func(s *script) *script { return read(s, codeA) }, true, 0, 2, 1},
		{"a part of it", func(s *script) *script { return read(s, "func FirstStep() error { return nil }\n") }, true, 0, 2, 1},
		{"the file has changed", func(s *script) *script { return read(s, codeA+"\n"+codeB) }, true, 0, 2, 0},
		{"another file with the same text", func(s *script) *script { return s.tool("Read", `{"file_path":"/w/b.go"}`, 0, codeA) }, true, 0, 2, 0},
		{"nothing to read", func(s *script) *script { return read(s, "\n") }, true, 0, 2, 0},
		{"another tool", func(s *script) *script { return s.tool("Fetch", `{"url":"https://example.org"}`, 0, codeA) }, true, 0, 1, 0},
		{"soon after the host's compaction", func(s *script) *script { return read(s, codeA) }, true, 30, 2, 0},
		{"long after it", func(s *script) *script { return read(s, codeA) }, true, 31, 2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := read(newScript().user(0, "look at it"), codeA)
			rec := c.again(s).answer(0, "done").record(t, Options{})
			r := newRereads(rec)
			rec.after[1] = c.compacted
			reads, caused := 0, 0
			for n := range rec.Calls {
				var shown recall.Prompt
				for i := range rec.End(n) {
					if !c.cut || i == 0 {
						shown.Append(rec.Items[i].Text)
					}
				}
				var call Call
				r.call(&call, n, &shown)
				reads, caused = reads+call.Reads, caused+call.CausedReads
			}
			if reads != c.reads || caused != c.caused {
				t.Errorf("%d reads, %d caused; want %d, %d", reads, caused, c.reads, c.caused)
			}
		})
	}
}

func TestFailedReadIsNoReread(t *testing.T) {
	s := newScript().user(0, "look").tool("Read", `{"file_path":"a"}`, 0, "no such file").tool("Read", `{"file_path":"a"}`, 0, "no such file").answer(0, "gone")
	for _, i := range []int{2, 4} {
		s.msgs[i].Parts[0].Result.IsError = true
	}
	rec := s.record(t, Options{})
	r := newRereads(rec)
	for n := range rec.Calls {
		var call Call
		if r.call(&call, n, &recall.Prompt{}); call.CausedReads > 0 {
			t.Errorf("call %d: a read that failed was counted", n+1)
		}
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
