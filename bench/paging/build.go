package paging

import (
	"fmt"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// builder makes workloads by rules.
type builder struct{ w Workload }

func build(name string, sessions ...string) *builder {
	return &builder{Workload{Name: name, Sessions: sessions, Pages: []Page{}, Turns: []Turn{}}}
}

// page adds a private page. tokens are its sizes in full, compressed, structured and as a
// pointer.
func (b *builder) page(session, id string, typ pagevm.Type, pin paging.Pin, cost float64, tokens ...int) string {
	t := paging.Tokens{Full: tokens[0], Compressed: tokens[1], Structured: tokens[2], Pointer: tokens[3]}
	b.w.Pages = append(b.w.Pages, Page{ID: id, Session: session, Type: typ, Pin: pin, Scope: memkernel.ScopeSession, Tokens: t, RecomputeCost: cost})
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
func (b *builder) turn(session string) *Turn {
	b.w.Turns = append(b.w.Turns, Turn{Turn: len(b.w.Turns) + 1, Session: session})
	return &b.w.Turns[len(b.w.Turns)-1]
}

func (t *Turn) demand(pages ...string) { t.Demand = append(t.Demand, pages...) }

// call runs the tool that returns the page.
func (t *Turn) call(page string) {
	t.Calls = append(t.Calls, Call{Signature: "tool(" + page + ")", Page: page})
}

func (t *Turn) event(e Event) { t.Events = append(t.Events, e) }
