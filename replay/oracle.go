package replay

import (
	"slices"
	"strconv"

	"github.com/memkernel/memkernel/replay/recall"
	"github.com/memkernel/memkernel/transcript"
)

// oracle follows the plan of a [planner]: it knows what every later call will refer
// to. Its plan is one that could be followed, so it is an upper bound of the best
// that can be done; [Bound] is the lower one. What the planner ignores is listed
// there.
type oracle struct {
	rec   *recording
	plan  []stretch
	stubs *history // results that are left out
}

// stretch is a run of calls without a cut: call from is the cut.
type stretch struct {
	from int
	keep []kept
}

// kept is an older atom that is in a stretch; full are its results that are in
// full, the others are left out.
type kept struct {
	atom int
	full []int // indices into the unit's results
}

// omitted is in place of a result that the oracle leaves out.
const omitted = "[Tool result left out]"

func newOracle(rec *recording, goal int) *oracle {
	h := newHistory(rec)
	return &oracle{rec: rec, plan: newPlanner(rec).reach(goal), stubs: &h}
}

func (o *oracle) choose(req request) (c choice) {
	at, ok := slices.BinarySearchFunc(o.plan, req.n, func(s stretch, n int) int { return s.from - n })
	if !ok {
		at--
	}
	if ok && req.n > 0 {
		c.cut = Oracle
	}
	s := o.plan[at]
	for _, k := range s.keep {
		c.items = append(c.items, o.atom(k)...)
	}
	for i := o.rec.base(s.from); i < req.end; i++ {
		c.items = append(c.items, o.rec.items[i])
	}
	if len(c.items) > 0 && req.n > 0 && s.from > 0 && !transcript.PlainUser(c.items[0].msg) {
		c.items = slices.Insert(c.items, 0, o.rec.note("left out", leftOut))
	}
	return c
}

// atom lists the items of a kept atom.
func (o *oracle) atom(k kept) []item {
	u := o.rec.unit(k.atom)
	var out []item
	for i := u.start; i < u.end; i++ {
		m, hash, changed := o.rec.msgs[i], "m"+strconv.Itoa(i), false
		parts := slices.Clone(m.Parts)
		for r, at := range u.results {
			if at.message != i || at.saves <= 0 || slices.Contains(k.full, r) {
				continue
			}
			parts[at.part], changed = withText(parts[at.part], omitted), true
			hash += "/" + strconv.Itoa(at.part)
		}
		if !changed {
			out = append(out, o.rec.items[i])
			continue
		}
		m.Raw, m.Parts = "", parts
		out = append(out, o.rec.item(hash, m))
	}
	return out
}

// base returns where the messages begin that are in full from a cut at call n on:
// with the atom of the first message that no call has shown, or of the first that
// the measure of recall presumes to be shown.
func (r *recording) base(n int) int {
	return r.atoms[r.atomOf(min(r.seen(n), r.recent[n]))].Start
}

// atomOf returns the atom that a message belongs to.
func (r *recording) atomOf(message int) int {
	at, ok := slices.BinarySearchFunc(r.atoms, message, func(a transcript.Atom, m int) int { return a.Start - m })
	if !ok {
		at--
	}
	return at
}

// unit is an atom as the planner sees it.
type unit struct {
	start, end int
	// tokens is its size with every result left out that is worth it.
	tokens  int
	results []unitResult
}

// unitResult is a tool result of an atom; saves is what leaving it out saves.
type unitResult struct {
	result
	id    string
	saves int
}

func (r *recording) unit(atom int) unit {
	a := r.atoms[atom]
	u := unit{start: a.Start, end: a.End, tokens: r.sum(a.Start, a.End)}
	for i := a.Start; i < a.End; i++ {
		for j, p := range r.msgs[i].Parts {
			if p.Result == nil {
				continue
			}
			stub := r.msgs[i]
			stub.Parts = slices.Clone(stub.Parts)
			stub.Parts[j] = withText(p, omitted)
			saves := max(0, r.items[i].tokens-r.counter.Message(&stub))
			u.results = append(u.results, unitResult{result{i, j}, p.Result.CallID, saves})
			u.tokens -= saves
		}
	}
	return u
}

// references lists, per call that counts, what the answer refers to, and notes where the last
// 8,000 tokens begin.
func (r *recording) references() [][][]recall.Place {
	tracker := recall.New()
	told := 0
	out := make([][][]recall.Place, len(r.calls))
	r.recent = make([]int, len(r.calls))
	for n, c := range r.calls {
		for ; told < c.Index; told++ {
			tracker.Append(r.msgs[told])
		}
		r.recent[n] = tracker.Recent()
		if _, not := r.uncounted(n); !not {
			out[n] = tracker.Places(r.msgs[c.Index])
		}
	}
	return out
}

// share is that many per cent of all references, rounded up.
func (r *recording) share(percent int) int {
	n := 0
	for _, refs := range r.references() {
		n += len(refs)
	}
	return (n*percent + 99) / 100
}
