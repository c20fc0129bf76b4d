package paging

import (
	"fmt"
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// workload is a list of pages, and of turns that need, make and change these pages. It is made by
// rules or from a recorded session.
type workload struct {
	Name     string
	Sessions []string
	Pages    []page
	Turns    []turn
}

// page is a page of a workload. A page that a tool call names exists from the first such call on.
// Any other page exists from the start.
type page struct {
	ID            string
	Session       string // "" for a page that all sessions share
	Type          pagevm.Type
	Pin           paging.Pin
	Scope         memkernel.Scope
	Tokens        paging.Tokens
	RecomputeCost float64
}

// floor returns the lowest level at which the page may be in a prompt (Table 1): structured for
// bootstrap, constraint and plan, and pointer for all others. If the page lacks that level, floor
// returns the page's next better level.
func (p *page) floor() pagevm.Level {
	if p.Type == pagevm.Plan {
		return p.has(pagevm.Structured)
	}
	return p.has(pagevm.Floor(p.Type, true))
}

// has returns the page's lowest level on its degradation path that is not below l.
func (p *page) has(l pagevm.Level) pagevm.Level {
	low := pagevm.Full
	for _, at := range degraded(p.Type) {
		if at >= l && p.Tokens.At(at) > 0 {
			low = at
		}
	}
	return low
}

// turn is one model call. Turns are in the order of their numbers.
type turn struct {
	Turn    int
	Session string
	// Demand names pages that the call needs. Dirty names pages that the call changes.
	Demand, Dirty []string
	// Calls are the tool calls that the turn runs. Equal calls have equal signatures.
	Calls []call
	// Events happen after the call, in order.
	Events []event
	// Recall has the outcomes of the turn's lookups in memory.
	Recall []string
}

// names returns all pages that a turn names.
func (t *turn) names() []string {
	names := slices.Concat(t.Demand, t.Dirty)
	for _, c := range t.Calls {
		names = append(names, c.Page)
	}
	return names
}

// event is something that happens to a session's context.
type event string

// The events. A compaction or reset destroys the content of the context; a flush only commits.
const (
	eventFlush      event = "flush"
	eventCompaction event = "compaction"
	eventReset      event = "reset"
	eventSessionEnd event = "session_end"
)

// call is a tool call. Signature is its canonical form, and Page the page of its result.
type call struct{ Signature, Page string }

// Outcomes of a lookup in memory, as its backend reports them.
const (
	recallNoMatch = "no_match"
	recallDenied  = "denied"
	recallError   = "error"
)

// builder makes workloads by rules.
type builder struct{ w workload }

func build(name string, sessions ...string) *builder {
	return &builder{workload{Name: name, Sessions: sessions}}
}

// page adds a page: private if it has a session, and shared otherwise. tokens are its sizes in
// full, compressed, structured and as a pointer.
func (b *builder) page(session, id string, typ pagevm.Type, pin paging.Pin, cost float64, tokens ...int) string {
	scope := memkernel.ScopeSession
	if session == "" {
		scope = memkernel.ScopeProject
	}
	t := paging.Tokens{Full: tokens[0], Compressed: tokens[1], Structured: tokens[2], Pointer: tokens[3]}
	b.w.Pages = append(b.w.Pages, page{ID: id, Session: session, Type: typ, Pin: pin, Scope: scope, Tokens: t, RecomputeCost: cost})
	return id
}

// frame adds the pages that every session has: rules that nobody pinned, a pinned constraint, a
// plan and a preference.
func (b *builder) frame(session string, rules ...int) (plan, constraint string) {
	p := session + "/"
	b.page(session, p+"bootstrap", pagevm.Bootstrap, paging.PinNone, 1, rules[0], 0, rules[1], 0)
	constraint = b.page(session, p+"constraint", pagevm.Constraint, paging.PinHard, 1, 16, 0, 8, 0)
	plan = b.page(session, p+"plan", pagevm.Plan, paging.PinNone, 2, 20, 0, 10, 2)
	b.page(session, p+"preference", pagevm.Preference, paging.PinSoft, 1, 14, 9, 5, 2)
	return plan, constraint
}

// evidence adds n pages of tool results. Their recompute costs differ, so that the pages differ
// in utility.
func (b *builder) evidence(session string, n int, tokens ...int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = b.page(session, fmt.Sprintf("%s/evidence-%02d", session, i), pagevm.Evidence, paging.PinNone, float64(1+i%4), tokens...)
	}
	return ids
}

// turn opens the next turn.
func (b *builder) turn(session string) *turn {
	b.w.Turns = append(b.w.Turns, turn{Turn: len(b.w.Turns) + 1, Session: session})
	return &b.w.Turns[len(b.w.Turns)-1]
}

func (t *turn) demand(pages ...string) { t.Demand = append(t.Demand, pages...) }

// call runs the tool that returns the page.
func (t *turn) call(page string) {
	t.Calls = append(t.Calls, call{Signature: "tool(" + page + ")", Page: page})
}

func (t *turn) event(e event) { t.Events = append(t.Events, e) }

// budgets returns the paper's six token budgets.
func budgets() []int { return []int{120, 180, 240, 300, 360, 500} }

// tightBudget is the paper's tightest budget that is not trivial. starvedBudget is the budget of the
// workload starvation.
const (
	tightBudget   = 180
	starvedBudget = 40
)

// families returns the four synthetic families.
func families() []*workload {
	return []*workload{evidenceHeavy(), interruptionHeavy(), lifecycleTorture(), multiSession()}
}

// Repeated counts, per family: calls of known signatures (D) and demands of known
// evidence in turns that do not call for it (R).
//
//	                       turns  compactions  resets    D    R
//	evidence-heavy            40            4       0   42   30
//	interruption-heavy        36            3       3   27   27
//	lifecycle-torture         31           10       0   23   22
//	multi-session             48            3       0   36   21
//	sum                                    20       3  128  100

// evidenceHeavy rotates twelve tool signatures, two in each turn once all are known. Each turn
// looks back at the result from five turns before. Every eight turns there is a compaction.
func evidenceHeavy() *workload {
	b := build("evidence-heavy", "main")
	plan, rule := b.frame("main", 70, 30)
	ev := b.evidence("main", 12, 18, 11, 6, 2)
	for n := 1; n <= 40; n++ {
		t := b.turn("main")
		t.call(ev[(n-1)%12])
		if n >= 14 && n%2 == 0 {
			t.call(ev[(n+3)%12])
		}
		if n >= 11 {
			t.demand(ev[(n-6)%12])
		}
		t.think(n, plan, rule)
		if n%8 == 0 && n < 40 {
			t.event(eventCompaction)
		}
	}
	return &b.w
}

// think makes turn n change the plan. In every third turn it also demands the plan, and in every
// sixth turn the rule too.
func (t *turn) think(n int, plan, rule string) {
	t.Dirty = append(t.Dirty, plan)
	if n%3 == 1 {
		t.demand(plan)
	}
	if n%6 == 4 {
		t.demand(rule)
	}
}

// interruptionHeavy switches between three tasks every three turns. Each task returns to its
// earlier evidence. Compactions and resets fall in between.
func interruptionHeavy() *workload {
	b := build("interruption-heavy", "main")
	plan, rule := b.frame("main", 60, 24)
	ev := b.evidence("main", 9, 18, 11, 6, 2)
	for n := 1; n <= 36; n++ {
		t := b.turn("main")
		task, at := (n-1)/3%3, (n-1)%3
		t.call(ev[3*task+at])
		if n >= 10 {
			t.demand(ev[3*task+(at+1)%3])
		}
		t.think(n, plan, rule)
		switch n {
		case 9, 18, 27:
			t.event(eventCompaction)
		case 13, 22, 31:
			t.event(eventReset)
		}
	}
	return &b.w
}

// lifecycleTorture compacts every three turns, always with a dirty page.
func lifecycleTorture() *workload {
	b := build("lifecycle-torture", "main")
	plan, rule := b.frame("main", 50, 20)
	ev := b.evidence("main", 8, 12, 8, 5, 2)
	for n := 1; n <= 31; n++ {
		t := b.turn("main")
		t.call(ev[(n-1)%8])
		if n >= 10 {
			t.demand(ev[(n+3)%8])
		}
		t.think(n, plan, rule)
		if n%3 == 0 {
			t.event(eventCompaction)
		}
	}
	return &b.w
}

// multiSession interleaves two sessions, which share a preference and are compacted
// at different times.
func multiSession() *workload {
	b := build("multi-session", "a", "b")
	names := []string{"a", "b"}
	var plan, rule [2]string
	var ev [2][]string
	for i, s := range names {
		plan[i], rule[i] = b.frame(s, 50, 20)
		ev[i] = b.evidence(s, 6, 16, 10, 6, 2)
	}
	b.page("", "shared/preference", pagevm.Preference, paging.PinNone, 1, 14, 9, 5, 2)
	for n := 1; n <= 48; n++ {
		i, at := (n-1)%2, (n+1)/2
		t := b.turn(names[i])
		t.call(ev[i][(at-1)%6])
		if at >= 14+i {
			t.demand(ev[i][(at+2)%6])
		}
		t.think(at, plan[i], rule[i])
		if i == 0 && (at == 8 || at == 16) || i == 1 && at == 12 {
			t.event(eventCompaction)
		}
	}
	return &b.w
}

// starvation pins three pages of 20 tokens for a budget of 40.
func starvation() *workload {
	b := build("starvation", "main")
	for i := range 3 {
		b.page("main", fmt.Sprintf("main/pinned-%d", i), pagevm.Constraint, paging.PinHard, 1, 30, 0, 20, 0)
	}
	for range 10 {
		b.turn("main")
	}
	return &b.w
}

// churn makes fifty pages of evidence in fifty turns. From the eleventh turn on, each turn looks
// back at seven of these pages. Every five turns there is a compaction. The rules are too long to
// fit next to five results in full.
func churn() *workload {
	b := build("churn", "main")
	b.page("main", "main/bootstrap", pagevm.Bootstrap, paging.PinNone, 1, 120, 0, 72, 0)
	plan := b.page("main", "main/plan", pagevm.Plan, paging.PinNone, 2, 20, 0, 10, 2)
	ev := b.evidence("main", 50, 18, 11, 6, 1)
	for n := 1; n <= 50; n++ {
		t := b.turn("main")
		t.call(ev[n-1])
		for back := 4; n >= 11 && back <= 10; back++ {
			t.demand(ev[n-1-back])
		}
		t.Dirty = append(t.Dirty, plan)
		if n%5 == 0 && n < 50 {
			t.event(eventCompaction)
		}
	}
	return &b.w
}

// cascade resets nine times in thirty turns and compacts four times. Two of the compactions find
// a second dirty page, and two resets find no dirty page. That makes 6 + 7 losses.
func cascade() *workload {
	b := build("cascade", "main")
	plan, _ := b.frame("main", 40, 16)
	notes := b.page("main", "main/notes", pagevm.Conversation, paging.PinNone, 1, 14, 9, 5, 2)
	ev := b.evidence("main", 5, 9, 7, 4, 2)
	compactions, resets, clean := []int{5, 12, 19, 26}, []int{3, 6, 9, 11, 15, 17, 20, 23, 28}, []int{6, 20}
	for n := 1; n <= 30; n++ {
		t := b.turn("main")
		if n <= 5 {
			t.call(ev[n-1])
		}
		if n > 6 && n%2 == 0 {
			for i := range 5 {
				t.demand(ev[i])
			}
		}
		if !slices.Contains(clean, n) {
			t.Dirty = append(t.Dirty, plan)
		}
		if n == 12 || n == 26 {
			t.Dirty = append(t.Dirty, notes)
		}
		if slices.Contains(compactions, n) {
			t.event(eventCompaction)
		}
		if slices.Contains(resets, n) {
			t.event(eventReset)
		}
	}
	return &b.w
}

// kinds lists the kinds of tasks, how many tasks each kind has and how their turns run.
var kinds = []struct {
	name     string
	n        int
	evidence int // pages of evidence
	compacts int // how many of the n tasks have a compaction
}{
	{"coding", 9, 4, 0}, {"debugging", 8, 9, 7}, {"writing", 2, 3, 0}, {"ops", 11, 5, 0},
}

// tasks returns thirty short tasks of 5 to 14 turns. Debugging tasks gather more evidence than
// the other tasks, and all debugging tasks except one have a compaction.
func tasks() []*workload {
	var out []*workload
	for _, k := range kinds {
		for i := range k.n {
			out = append(out, task(k.name, i, k.evidence, i < k.compacts))
		}
	}
	return out
}

// task makes a task that looks at its evidence, and then repeats its calls and demands the same
// evidence.
func task(kind string, i, evidence int, compacts bool) *workload {
	b := build(fmt.Sprintf("%s-%02d", kind, i+1), "main")
	plan, rule := b.frame("main", 60, 24)
	ev := b.evidence("main", evidence, 18, 11, 6, 2)
	turns := evidence + 2 + i%3
	if compacts {
		turns = evidence + 3 + i%3
	}
	for n := 1; n <= turns; n++ {
		t := b.turn("main")
		t.call(ev[(n-1)%evidence])
		if n > 2 {
			t.demand(ev[(n-2)%evidence])
		}
		t.think(n, plan, rule)
		if compacts && n == evidence+1 {
			t.event(eventCompaction)
		}
	}
	return &b.w
}

// degraded returns the levels that a page of type t may take, best first.
func degraded(t pagevm.Type) []pagevm.Level {
	switch t {
	case pagevm.Bootstrap, pagevm.Constraint:
		return []pagevm.Level{pagevm.Full, pagevm.Structured}
	case pagevm.Plan:
		return []pagevm.Level{pagevm.Full, pagevm.Structured, pagevm.Pointer}
	default:
		return []pagevm.Level{pagevm.Full, pagevm.Compressed, pagevm.Structured, pagevm.Pointer}
	}
}
