package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/summary"
)

// noSession is a session of which nothing was kept.
type noSession struct{}

func (noSession) Notes() (summary.Notes, error) { return summary.Notes{}, nil }

func (noSession) Neighbour() *Neighbour { return nil }
func (noSession) WorkState() (*WorkState, error) {
	return &WorkState{
		Input: func(t checkpoint.Trigger, r checkpoint.Reading) checkpoint.Input {
			return checkpoint.Input{Trigger: t, Reading: r}
		},
		Source: func(*checkpoint.Checkpoint) string { return "" }}, nil
}

func (noSession) Earlier() []cachelayout.Pace { return nil }

func (noSession) Searchable([]string, func(string) (*pagevm.Page, string, bool)) (*retrieval.Spans, []fault.Fault) {
	return nil, nil
}

type noGraves struct{}

func (noGraves) Any() bool                       { return false }
func (noGraves) Forgotten(string) (string, bool) { return "", false }
func (noGraves) ForgottenContent(string) bool    { return false }
func (noGraves) Retired(string) bool             { return false }

const testModel = "claude-opus-4-6"

// desk is what a caller of Make keeps between calls.
type desk struct {
	before *branch.State
	known  map[string]*pagevm.Page
	texts  map[string]string
	now    time.Time
	// pinned are the session's pins. pending counts the boundaries that requested a cut.
	pinned  []journal.StoredPage
	pending int
}

func newDesk() *desk {
	return &desk{before: branch.New("s", "", testModel), known: map[string]*pagevm.Page{}, texts: map[string]string{}, now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
}

func (d *desk) plan(t *testing.T, msgs []memkernel.Message, window int, wish *Demand) (*Result, error) {
	t.Helper()
	price, _ := cachelayout.DefaultBook().Lookup(testModel, d.now)
	count, err := budget.NewModel(price.Tokenizer, testModel, nil)
	if err != nil {
		t.Fatal(err)
	}
	masker, err := mask.NewMasker(mask.Options{})
	if err != nil {
		t.Fatal(err)
	}
	prior := &Prior{Key: "s", Name: "s", Before: d.before, Texts: d.texts, Pinned: d.pinned, Pending: d.pending, Memory: Memory{CarryTokens: 4000},
		Maker: ingest.Maker{Out: &ingest.Pages{}, Known: d.known, Graves: noGraves{}, Mask: masker, Count: count, Resolver: "memory_get", Durable: true},
		Life:  Life{Off: true, FlushOff: true}}
	req := &Request{PlanRequest: api.PlanRequest{SessionKey: "s", Model: testModel, ContextWindow: window, Reserve: window / 8, Messages: msgs, Now: d.now,
		Resolver: "memory_get"}, Price: price, Demand: wish}
	return Make(t.Context(), prior, req, noSession{}, nil)
}

// keep records a result as a caller does.
func (d *desk) keep(r *Result) {
	for _, p := range r.Maker.Out.New {
		d.known[p.ID] = p
		for _, rep := range p.Reps {
			d.texts[rep.Hash] = rep.Text
		}
	}
	for h, text := range r.Chosen.Texts {
		d.texts[h] = text
	}
	d.before, d.now = r.Next, d.now.Add(20*time.Second)
	d.before.Plan = fmt.Sprint("pl-", d.now.Unix())
}

// said is all of a state that a plan could change by mistake.
func said(t *testing.T, s *branch.State, p *pagevm.Projection) string {
	t.Helper()
	raw, err := json.Marshal([]any{s, p, s.Ledger})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func talk(turns, words int) (out []memkernel.Message) {
	text := func(role memkernel.Role, key, s string) memkernel.Message {
		return memkernel.Message{Role: role, Key: key, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: s}}}
	}
	for i := range turns {
		if i > 0 {
			id := fmt.Sprint("call-", i)
			out = append(out, memkernel.Message{Role: memkernel.RoleAssistant, Key: fmt.Sprint("c", i), Parts: []memkernel.Part{
				{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: id, Name: "Read", Input: fmt.Sprintf(`{"file_path":"file%d.go"}`, i%5)}}}},
				memkernel.Message{Role: memkernel.RoleUser, Key: fmt.Sprint("r", i), Parts: []memkernel.Part{
					{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: id, Content: []memkernel.Part{{Kind: memkernel.PartText, Text: strings.Repeat(fmt.Sprintf("line of file %d\n", i), words)}}}}}},
				text(memkernel.RoleAssistant, fmt.Sprint("a", i), fmt.Sprintf("Answer %d. %s", i, strings.Repeat("It is so. ", words/4))))
		}
		out = append(out, text(memkernel.RoleUser, fmt.Sprint("u", i), fmt.Sprintf("Question %d: how does file%d.go work?", i, i)))
	}
	return out
}

// The same call over the same state gives the same plan however often it is asked, with
// cuts and without: nothing that a plan is given is changed by it.
func TestPlanIsAFunction(t *testing.T) {
	d, cuts, demanded := newDesk(), 0, 0
	for i := 1; i <= 24; i++ {
		msgs := talk(i, 220)
		before := said(t, d.before, d.before.Proj)
		known, texts := len(d.known), len(d.texts)
		if wished, err := d.plan(t, msgs, 12_000, &Demand{CompactWish: api.CompactWish{Share: 0.2}}); err != nil {
			t.Fatal(err)
		} else if wished.CutMade {
			demanded++
		}
		first, err := d.plan(t, msgs, 12_000, nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := d.plan(t, msgs, 12_000, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(said(t, first.Next, first.Proj), said(t, again.Next, again.Proj)); diff != "" {
			t.Fatalf("call %d planned twice differs:\n%.2000s", i, diff)
		}
		if len(first.Trail) != len(again.Trail) || cmp.Diff(first.Faults, again.Faults) != "" || cmp.Diff(first.Maker.Out.New, again.Maker.Out.New) != "" {
			t.Fatalf("call %d: trail, faults or pages differ", i)
		}
		if diff := cmp.Diff(before, said(t, d.before, d.before.Proj)); diff != "" {
			t.Fatalf("call %d changed what stood before:\n%.2000s", i, diff)
		}
		if len(d.known) != known || len(d.texts) != texts {
			t.Fatalf("call %d kept something by itself", i)
		}
		if first.Made.Cut != nil {
			cuts++
		}
		d.keep(first)
	}
	if cuts == 0 || demanded == 0 {
		t.Errorf("%d cuts by the planner and %d on demand: the test wants some of each", cuts, demanded)
	}
}

// The reasons for which a cut was refused are in the plan, also if it notes something after the
// newest message.
func TestRefusedCutIsTold(t *testing.T) {
	d := newDesk()
	first, err := d.plan(t, talk(1, 40), 100_000, nil)
	if err != nil {
		t.Fatal(err)
	}
	d.keep(first)
	d.pending = 1 // the host wants a cut, and there is nothing to cut
	plain, err := d.plan(t, talk(1, 40), 100_000, nil)
	if err != nil {
		t.Fatal(err)
	}
	d.pinned = []journal.StoredPage{{Address: journal.Address{Key: "rule", Scope: memkernel.ScopeSession}, Type: pagevm.Constraint, Version: 1,
		Fields: []journal.StoredField{{Name: "text", Kind: journal.KindScalar, Entries: []journal.Entry{{Versions: []journal.Version{{Value: json.RawMessage(`"Never push."`)}}}}}}}}
	noted, err := d.plan(t, talk(1, 40), 100_000, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(plain.Made.Refused) == 0 || len(noted.Proj.Items) <= len(plain.Proj.Items) {
		t.Fatalf("refused: %v; %d items, and %d with a note: the test wants a refused cut and a note", plain.Made.Refused, len(plain.Proj.Items), len(noted.Proj.Items))
	}
	if diff := cmp.Diff(plain.Made.Refused, noted.Made.Refused); diff != "" {
		t.Errorf("a note hides why the cut was refused:\n%s", diff)
	}
}

// A call that can't be planned says so before anything is made of it.
func TestPlanRefuses(t *testing.T) {
	d := newDesk()
	small := (*budget.TooSmallError)(nil)
	said := []memkernel.Part{{Kind: memkernel.PartText, Text: strings.Repeat("rule ", 9000)}}
	picture := memkernel.Part{Kind: memkernel.PartImage, Media: &memkernel.Media{Type: "image/png", Data: "cG5n", Width: 1000, Height: 1000}}
	for name, c := range map[string]struct {
		msgs []memkernel.Message
		want func(error) bool
	}{
		"nothing":   {nil, func(err error) bool { return errors.Is(err, api.ErrNoMessages) }},
		"answered":  {append(talk(1, 1), memkernel.Message{Role: memkernel.RoleAssistant, Parts: said}), func(err error) bool { return errors.Is(err, api.ErrAnswered) }},
		"too large": {[]memkernel.Message{{Role: memkernel.RoleUser, Parts: slices.Repeat([]memkernel.Part{picture}, 9)}}, func(err error) bool { return errors.As(err, &small) }},
	} {
		if r, err := d.plan(t, c.msgs, 4000, nil); r != nil || !c.want(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	d.before.Private = true
	if _, err := d.plan(t, talk(1, 1), 4000, nil); err == nil || !strings.Contains(err.Error(), api.ErrPrivate.Error()) {
		t.Errorf("a shared plan of a private conversation: %v", err)
	}
}
