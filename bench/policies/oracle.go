package policies

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/replay/recall"
	"github.com/memkernel/memkernel/transcript"
)

// oracle follows the plan of a [planner], which knows the later references of every call. Its
// plan can be carried out, so its cost is an upper bound of the best cost. The field Bound of
// [replay.Result] is a lower bound. The comment of planner lists what the plan ignores.
type oracle struct {
	rec  *replay.Recording
	by   *planner
	plan []stretch
}

// stretch is a run of calls that begins with a cut, at call from, and has no other cut.
type stretch struct {
	from int
	keep []kept
}

// kept is an older atom that a stretch shows. full lists the results that are shown in full. The
// other results are left out.
type kept struct {
	atom int
	full []int // indices into the unit's results
}

// omitted replaces a result that the oracle leaves out.
const omitted = "[Tool result left out]"

// newOracle returns an oracle that shows as many references as the run rival did. If rival is nil,
// the oracle shows a percentage of all references, and figures holds the percentage.
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

// base returns the message from which on everything is shown after a cut at call n. It takes the
// first message that no call has shown, or the first message that the measure of recall presumes to
// be shown, whichever is earlier, and returns the beginning of its atom.
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

// unit is an atom in the planner's form.
type unit struct {
	start, end int
	// tokens is the size of the atom without those results whose omission saves tokens.
	tokens  int
	results []unitResult
}

// unitResult is a tool result of an atom. saves is how many tokens its omission saves.
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

// references returns the references of each counted call's answer. recent holds the first message of
// each call's last 8,000 tokens.
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

// percentOf returns a percentage of the number of all references, rounded up.
func percentOf(r *replay.Recording, percent int) int {
	n := 0
	refs, _ := references(r)
	for _, places := range refs {
		n += len(places)
	}
	return (n*percent + 99) / 100
}

// planner finds the cheapest cuts and choices that show a number of references, by
// dynamic programming over the calls at which a cut could be made.
//
// A plan is a sequence of stretches. A stretch begins with a cut and then only appends. The cut shows
// some older atoms, with each of their results in full or left out. It also shows everything that
// is new since the previous call or among the last 8,000 tokens, which the measure of recall
// presumes to be shown. Given a price λ for a reference that is not shown, the stretches do not
// depend on each other:
//
//	best(j) = min over i < j of best(i) + cost(i, j) − λ·shown(i, j)
//
// Within a stretch an atom or a result is kept exactly if it earns more than it costs. A search
// over λ then finds the cheapest plan that shows enough references.
//
// The plan can be followed, but is not proved to be the best, because planner simplifies:
//
//   - Every cut is charged the write of all that it keeps, although the leading part of the
//     prompt may stay cached. The replay of the plan gets the discount.
//   - Of several older places of a reference, only the newest counts.
//   - Excerpts of results, pointers and summaries are not used, which could show a line for less.
//   - Dearer price tiers are ignored.
//   - Plans between two values of λ are not found.
type planner struct {
	rec   *replay.Recording
	units []unit
	refs  [][][]recall.Place
	// write holds the price of a new token at each call. on holds the price of a token that is
	// already in the prompt. Both are in dollars per million.
	write, on []float64
	grown     []int // new tokens per call
	room      int
	// recent is the first message of each call's last 8,000 tokens.
	recent []int
}

func newPlanner(rec *replay.Recording) *planner {
	refs, recent := references(rec)
	p := &planner{rec: rec, refs: refs, recent: recent, room: math.MaxInt}
	for a := range rec.Atoms {
		p.units = append(p.units, unitOf(rec, a))
	}
	for n, c := range rec.Calls {
		m := rec.Model(c.Start)
		ratios := m.Ratios(0, rec.Opt.TTL)
		base := 1.0
		if m.Priced() {
			base = *m.Tiers[0].Input
		}
		write, on := ratios.Write*base, ratios.Read*base
		if n > 0 && c.Start.Sub(rec.Calls[n-1].Start) >= m.TTL(rec.Opt.TTL) {
			on = write
		}
		p.write, p.on = append(p.write, write), append(p.on, on)
		p.grown = append(p.grown, rec.Sum(rec.Seen(n), rec.End(n)))
		p.room = min(p.room, p.roomAt(m))
	}
	return p
}

func (p *planner) roomAt(m cachelayout.Model) int {
	window := cmp.Or(p.rec.Opt.ContextWindow, m.ContextWindow)
	if window == 0 {
		return math.MaxInt
	}
	return p.rec.Room(window)
}

// searchSteps is how often the range of λ is halved.
const searchSteps = 16

// reach returns the cheapest plan that it finds among those with at least goal references. If no
// plan shows so many, it returns a plan that shows as many as possible.
func (p *planner) reach(goal int) []stretch {
	high := 1.0
	for _, g := range p.grown {
		high += float64(g) * slices.Max(p.write) * float64(len(p.grown))
	}
	plan := p.best(high)
	if p.shown(plan) < goal {
		return plan
	}
	if free := p.best(0); p.shown(free) >= goal {
		return free
	}
	// The range reaches down to the cost of one token at a read price, so the search halves its
	// logarithm.
	low, top := math.Log(1e-3), math.Log(high)
	for range searchSteps {
		mid := (low + top) / 2
		if next := p.best(math.Exp(mid)); p.shown(next) >= goal {
			plan, top = next, mid
		} else {
			low = mid
		}
	}
	return plan
}

// best returns the plan with the lowest sum of costs minus lambda for each shown reference.
func (p *planner) best(lambda float64) []stretch {
	n := len(p.write)
	least, from := make([]float64, n+1), make([]int, n+1)
	for j := 1; j <= n; j++ {
		least[j] = math.Inf(1)
	}
	for i := range n {
		s := p.begin(i, lambda)
		for j := i + 1; j <= n; j++ {
			s.add(j - 1)
			if s.tokens > p.room && j > i+1 {
				break
			}
			if v := least[i] + s.value(); v < least[j] {
				least[j], from[j] = v, i
			}
		}
	}
	var plan []stretch
	for j := n; j > 0; j = from[j] {
		s := p.begin(from[j], lambda)
		for t := from[j]; t < j; t++ {
			s.add(t)
		}
		_, keep := s.pick(true)
		plan = append(plan, stretch{from[j], keep})
	}
	slices.Reverse(plan)
	return plan
}

// shown counts the references that a plan shows, in all places.
func (p *planner) shown(plan []stretch) (n int) {
	for k, s := range plan {
		end := len(p.refs)
		if k+1 < len(plan) {
			end = plan[k+1].from
		}
		base := p.base(s.from)
		for t := s.from; t < end; t++ {
			for _, places := range p.refs[t] {
				if slices.ContainsFunc(places, func(at recall.Place) bool { return at.Message >= base || p.holds(s.keep, at) }) {
					n++
				}
			}
		}
	}
	return n
}

// holds reports whether a kept atom shows a place.
func (p *planner) holds(keep []kept, at recall.Place) bool {
	atom, r := p.find(at)
	i := slices.IndexFunc(keep, func(k kept) bool { return k.atom == atom })
	return i >= 0 && (r < 0 || p.units[atom].results[r].saves <= 0 || slices.Contains(keep[i].full, r))
}

// find returns the atom of a place and the number of the result at that place. The number is -1
// if the place is not in a result.
func (p *planner) find(at recall.Place) (atom, r int) {
	atom = atomOf(p.rec, at.Message)
	return atom, slices.IndexFunc(p.units[atom].results, func(u unitResult) bool {
		return u.message == at.Message && u.id == at.CallID
	})
}

// span is an unfinished stretch, with its cost and the references of its calls so far.
type span struct {
	p      *planner
	lambda float64
	first  int
	base   int
	cost   float64 // the cost of all new tokens
	tokens int     // new tokens in the stretch
	hold   float64 // the cost of one older token
	free   int     // references to the new tokens
	// wanted counts the references to the text of each older atom, and to each of its results.
	wanted map[int]*wants
	order  []int
}

type wants struct {
	own     int
	results map[int]int
}

func (p *planner) begin(i int, lambda float64) *span {
	s := &span{p: p, lambda: lambda, first: i, base: p.base(i), wanted: map[int]*wants{}}
	s.tokens = p.rec.Sum(s.base, p.rec.Seen(i))
	s.cost = float64(s.tokens) * p.write[i]
	return s
}

// add extends the stretch by call t.
func (s *span) add(t int) {
	price := s.p.on[t]
	if t == s.first {
		price = s.p.write[t]
	} else {
		s.cost += float64(s.tokens) * price
	}
	s.hold += price
	s.cost += float64(s.p.grown[t]) * s.p.write[t]
	s.tokens += s.p.grown[t]
	for _, places := range s.p.refs[t] {
		if places[0].Message >= s.base {
			s.free++
			continue
		}
		s.want(s.p.find(places[0]))
	}
}

func (s *span) want(atom, r int) {
	w := s.wanted[atom]
	if w == nil {
		w = &wants{results: map[int]int{}}
		s.wanted[atom] = w
		at, _ := slices.BinarySearch(s.order, atom)
		s.order = slices.Insert(s.order, at, atom)
	}
	if r < 0 || s.p.units[atom].results[r].saves <= 0 {
		w.own++
	} else {
		w.results[r]++
	}
}

// value returns the cost of the stretch minus the worth of its references.
func (s *span) value() float64 {
	earned, _ := s.pick(false)
	return s.cost - s.lambda*float64(s.free) - earned
}

// option is an atom that earns more than it costs.
type option struct {
	kept
	earns  float64
	tokens int
}

// pick keeps the older atoms that earn more than they cost. If they do not all fit, it prefers
// the atoms that earn most per token.
func (s *span) pick(list bool) (earned float64, keep []kept) {
	room := s.p.room - s.tokens
	var all []option
	used := 0
	for _, atom := range s.order {
		o, ok := s.option(atom, list)
		if !ok {
			continue
		}
		all, used, earned = append(all, o), used+o.tokens, earned+o.earns
	}
	if used > room {
		slices.SortStableFunc(all, func(a, b option) int {
			return cmp.Compare(b.earns/float64(b.tokens+1), a.earns/float64(a.tokens+1))
		})
		all, earned = fit(all, room)
	}
	for _, o := range all {
		keep = append(keep, o.kept)
	}
	slices.SortFunc(keep, func(a, b kept) int { return a.atom - b.atom })
	return earned, keep
}

// fit takes options in order as long as they fit.
func fit(all []option, room int) (out []option, earned float64) {
	for _, o := range all {
		if o.tokens <= room {
			out, room, earned = append(out, o), room-o.tokens, earned+o.earns
		}
	}
	return out, earned
}

// option returns the cost and the worth of showing an atom, and reports whether showing the atom
// is worth more than it costs. If any part of the atom is shown, the cost includes the atom's own
// text.
func (s *span) option(atom int, list bool) (option, bool) {
	u, w := &s.p.units[atom], s.wanted[atom]
	o := option{kept: kept{atom: atom}, tokens: u.tokens, earns: s.lambda*float64(w.own) - float64(u.tokens)*s.hold}
	for r := range u.results {
		n, saves := w.results[r], u.results[r].saves
		if more := s.lambda*float64(n) - float64(saves)*s.hold; n > 0 && more > 0 {
			o.earns, o.tokens = o.earns+more, o.tokens+saves
			if list {
				o.full = append(o.full, r)
			}
		}
	}
	return o, o.earns > 0
}
