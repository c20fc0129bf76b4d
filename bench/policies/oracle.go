package policies

import (
	"slices"
	"strconv"

	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/replay/recall"
	"github.com/memkernel/memkernel/transcript"
)

// oracle follows the plan of a [planner]: it knows what every later call will refer
// to. Its plan is one that could be followed, so it is an upper bound of the best
// that can be done; [Bound] is the lower one. What the planner ignores is listed
// there.
type oracle struct {
	rec  *replay.Recording
	by   *planner
	plan []stretch
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

// newOracle returns the oracle that shows as many references as rival did, or that many per
// cent of all.
func newOracle(rec *replay.Recording, figures []int, rival *replay.Result) replay.Chooser {
	goal := 0
	if rival != nil {
		goal = rival.Shown
	} else {
		goal = percentOf(rec, min(replay.Figure(figures), 100))
	}
	p := newPlanner(rec)
	return &oracle{rec: rec, by: p, plan: p.reach(goal)}
}

func (o *oracle) Choose(req replay.Request) (c replay.Choice) {
	at, ok := slices.BinarySearchFunc(o.plan, req.N, func(s stretch, n int) int { return s.from - n })
	if !ok {
		at--
	}
	if ok && req.N > 0 {
		c.Cut = replay.Oracle
	}
	s := o.plan[at]
	for _, k := range s.keep {
		c.Items = append(c.Items, o.atom(k)...)
	}
	for i := o.by.base(s.from); i < req.End; i++ {
		c.Items = append(c.Items, o.rec.Items[i])
	}
	if len(c.Items) > 0 && req.N > 0 && s.from > 0 && !transcript.PlainUser(c.Items[0].Msg) {
		c.Items = slices.Insert(c.Items, 0, o.rec.Note("left out", leftOut))
	}
	return c
}

// atom lists the items of a kept atom.
func (o *oracle) atom(k kept) []replay.Item {
	u := unitOf(o.rec, k.atom)
	var out []replay.Item
	for i := u.start; i < u.end; i++ {
		m, hash, changed := o.rec.Messages[i], "m"+strconv.Itoa(i), false
		parts := slices.Clone(m.Parts)
		for r, at := range u.results {
			if at.message != i || at.saves <= 0 || slices.Contains(k.full, r) {
				continue
			}
			parts[at.part], changed = withText(parts[at.part], omitted), true
			hash += "/" + strconv.Itoa(at.part)
		}
		if !changed {
			out = append(out, o.rec.Items[i])
			continue
		}
		m.Raw, m.Parts = "", parts
		out = append(out, o.rec.Item(hash, m))
	}
	return out
}

// base returns where the messages begin that are in full from a cut at call n on:
// with the atom of the first message that no call has shown, or of the first that
// the measure of recall presumes to be shown.
func (p *planner) base(n int) int {
	return p.rec.Atoms[atomOf(p.rec, min(p.rec.Seen(n), p.recent[n]))].Start
}

// atomOf returns the atom that a message belongs to.
func atomOf(r *replay.Recording, message int) int {
	at, ok := slices.BinarySearchFunc(r.Atoms, message, func(a transcript.Atom, m int) int { return a.Start - m })
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

func unitOf(r *replay.Recording, atom int) unit {
	a := r.Atoms[atom]
	u := unit{start: a.Start, end: a.End, tokens: r.Sum(a.Start, a.End)}
	for i := a.Start; i < a.End; i++ {
		for j, p := range r.Messages[i].Parts {
			if p.Result == nil {
				continue
			}
			stub := r.Messages[i]
			stub.Parts = slices.Clone(stub.Parts)
			stub.Parts[j] = withText(p, omitted)
			saves := max(0, r.Items[i].Tokens-r.Counter.Message(&stub))
			u.results = append(u.results, unitResult{result{i, j}, p.Result.CallID, saves})
			u.tokens -= saves
		}
	}
	return u
}

// references lists, per call that counts, what the answer refers to, and where the last
// 8,000 tokens begin.
func references(r *replay.Recording) (refs [][][]recall.Place, recent []int) {
	tracker := recall.New()
	told := 0
	refs, recent = make([][][]recall.Place, len(r.Calls)), make([]int, len(r.Calls))
	for n, c := range r.Calls {
		for ; told < c.Index; told++ {
			tracker.Append(r.Messages[told])
		}
		recent[n] = tracker.Recent()
		if _, not := r.Uncounted(n); !not {
			refs[n] = tracker.Places(r.Messages[c.Index])
		}
	}
	return refs, recent
}

// percentOf is that many per cent of all references, rounded up.
func percentOf(r *replay.Recording, percent int) int {
	n := 0
	refs, _ := references(r)
	for _, places := range refs {
		n += len(places)
	}
	return (n*percent + 99) / 100
}
