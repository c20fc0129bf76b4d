package paging

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// engine runs one policy over the sessions of a workload. See the package comment for the order of
// a turn. It is a function of its input: no clock, no randomness, no map order.
type engine struct {
	w      *workload
	policy policy
	budget int
	turn   int
	seq    uint64 // the last decision or boundary
	pages  map[string]*tablePage
	// later holds the pages that a tool call makes, by id, until the call runs.
	later    map[string]*page
	sessions map[string]*session
	totals   totals
	out      *outcome // of the current turn
}

// tablePage is a page with the facts that do not depend on a session.
type tablePage struct {
	*page
	version, committed int
	// shown is the content of each level on the page's degradation path.
	shown [pagevm.Full + 1]pagevm.Shown
	// base is the part of the score B that does not change.
	base          float64
	floor, lowest pagevm.Level
	need          pagevm.Level // the level that a demand asks for
	hard          bool         // pinned hard, by its owner or by the policy
	rule          bool         // bootstrap or constraint
	fleeting      bool         // can't rise again without the resolver
}

// session is one prompt, with the residency of its pages in the order of their ids.
type session struct {
	name    string
	entries []*entry
	of      map[string]*entry
	dirty   []dirt
	calls   map[string]string // canonical signature to the page of its result
	// compacted: the next assembly is the first after a compaction.
	compacted bool
}

// entry is the residency of one page in one session.
type entry struct {
	*tablePage
	last int // turn of the last access
	// level is the level in the prompt. next is the level that is being decided. limit is the
	// highest level that can still be shown.
	level, next, limit pagevm.Level
	loaded             bool // a rule that the host loaded and no compaction removed
	starved            bool // the page's floor did not fit
	lost               paging.Cause
	drop               uint64 // the last decision that lowered the page
	fault              uint64 // the decision at which the page last faulted
	score              float64
	future             int // future demands, as far as an oracle sees them
}

// dirt is an uncommitted change.
type dirt struct {
	page *tablePage
	base int // the committed version on which the change was made
}

// newEngine makes the engine with the pages that exist from the start.
func newEngine(w *workload, p policy, budget int) *engine {
	e := &engine{w: w, policy: p, budget: budget, pages: map[string]*tablePage{}, later: map[string]*page{}, sessions: map[string]*session{},
		totals: totals{Counts: paging.Counts{Faults: map[paging.Code]int{}}}}
	for _, name := range w.Sessions {
		e.sessions[name] = &session{name: name, of: map[string]*entry{}, calls: map[string]string{}}
	}
	for i := range w.Turns {
		for _, c := range w.Turns[i].Calls {
			e.later[c.Page] = nil
		}
	}
	for i := range w.Pages {
		if _, ok := e.later[w.Pages[i].ID]; ok {
			e.later[w.Pages[i].ID] = &w.Pages[i]
		} else {
			e.add(&w.Pages[i])
		}
	}
	return e
}

// add adds a page to the table. A shared page is in every session.
func (e *engine) add(p *page) {
	k, w := &e.policy.knobs, &e.policy.weights
	t := &tablePage{page: p, floor: p.floor(), lowest: p.has(pagevm.Pointer),
		rule:     p.Type == pagevm.Bootstrap || p.Type == pagevm.Constraint,
		fleeting: p.Type == pagevm.Evidence || p.Type == pagevm.Conversation}
	t.hard = p.Pin == paging.PinHard || k.pin && t.rule
	if t.need = t.floor; !k.resolve {
		t.need = p.has(pagevm.Structured)
	}
	for _, l := range degraded(p.Type) {
		if n := p.Tokens.At(l); n > 0 {
			t.shown[l] = pagevm.Shown{Hash: l.String(), Tokens: n}
		}
	}
	t.base = w.recompute * recomputeTerm(p.RecomputeCost)
	switch {
	case t.hard:
		t.base += w.pinHard
	case p.Pin == paging.PinSoft:
		t.base += w.pinSoft
	}
	if p.Type == pagevm.Bootstrap {
		t.base += w.bootstrap
	}
	if p.Scope == memkernel.ScopeProject {
		t.base += w.scope * sharedScope
	} else {
		t.base += w.scope
	}
	e.pages[p.ID] = t
	for _, s := range e.sessions {
		if p.Scope == memkernel.ScopeProject || p.Session == s.name {
			en := &entry{tablePage: t, last: e.turn, limit: pagevm.Full, loaded: true}
			at, _ := slices.BinarySearchFunc(s.entries, en, byID)
			s.entries, s.of[p.ID] = slices.Insert(s.entries, at, en), en
		}
	}
}

func byID(a, b *entry) int { return strings.Compare(a.ID, b.ID) }

// step runs turn i of the workload under the engine's policy.
func (e *engine) step(i int) *outcome {
	s, t := e.open(i)
	if e.policy.prefetch {
		for _, id := range t.Demand {
			if en := s.of[id]; en != nil {
				en.last = e.turn
			}
		}
	}
	if e.policy.horizon > 0 {
		e.foresee(s, e.w.Turns[i+1:])
	}
	e.assemble(s, t.Demand)
	return e.close(s, t, nil)
}

// foresee counts the demands of a session's next turns, as far as an oracle sees them.
func (e *engine) foresee(s *session, turns []turn) {
	for _, en := range s.entries {
		en.future = 0
	}
	seen := 0
	for i := 0; i < len(turns) && seen < e.policy.horizon; i++ {
		if turns[i].Session != s.name {
			continue
		}
		seen++
		for _, id := range turns[i].Demand {
			if en := s.of[id]; en != nil {
				en.future++
			}
		}
	}
}

// judge runs turn i of the workload with a prompt that the kernel assembled.
func (e *engine) judge(i int, p *prompt) *outcome {
	s, t := e.open(i)
	e.adopt(s, p)
	return e.close(s, t, p)
}

func (e *engine) open(i int) (*session, *turn) {
	t := &e.w.Turns[i]
	e.turn, e.out = t.Turn, &outcome{}
	return e.sessions[t.Session], t
}

// close judges the current prompt and applies the rest of the turn. The prompt is nil if the
// engine assembled it.
func (e *engine) close(s *session, t *turn, p *prompt) *outcome {
	e.observe(s, t)
	e.arrive(s, t)
	for _, id := range t.Dirty {
		e.markDirty(s, e.pages[id])
	}
	if p != nil {
		e.settle(s, p)
	}
	for _, ev := range t.Events {
		e.strike(s, ev, p)
	}
	for _, r := range t.Recall {
		e.recall(s, r)
	}
	e.totals.Turns++
	e.totals.Tokens += int64(e.out.Tokens)
	return e.out
}

// arrive adds the turn's results: new pages, pages whose call ran again and pages that had to be
// fetched. All of these pages follow the prompt in full.
func (e *engine) arrive(s *session, t *turn) {
	for _, id := range t.names() {
		if p := e.later[id]; p != nil {
			delete(e.later, id)
			e.add(p)
			e.show(s.of[id])
		}
	}
	for _, c := range t.Calls {
		s.calls[c.Signature] = c.Page
		e.show(s.of[c.Page])
	}
	for _, id := range t.Demand {
		if en := s.of[id]; en.fault == e.seq {
			e.show(en)
		} else {
			en.last = e.turn
		}
	}
}

// show adds a page to the prompt in full.
func (e *engine) show(en *entry) {
	en.level, en.limit, en.last, en.loaded = pagevm.Full, pagevm.Full, e.turn, true
}

// assemble decides a session's next prompt: the minimum set, the demand if it is known, then
// upgrades. The minimum set and the demand must stay. pagevm.Select chooses the other pages and
// their levels, and pagevm.Next makes the projection.
func (e *engine) assemble(s *session, demand []string) {
	e.seq++
	used, required := 0, 0
	for _, en := range s.entries {
		en.starved, en.score = false, e.score(en)
		en.next = e.minimum(en)
		n := en.shown[en.next].Tokens
		used += n
		if en.hard {
			required += n
		}
	}
	e.out.Decision, e.out.Minimum, e.out.Required, e.out.Over = e.seq, used, required, max(required-e.budget, 0)
	if used > e.budget {
		used = e.squeeze(s)
	}
	e.prefetch(s, demand, used)
	host, places, worth := e.offers(s)
	wish := pagevm.Select(pagevm.SelectInput{Host: host, Places: places, Seen: make([]pagevm.Seen, len(host)), Worth: worth, Target: e.budget, Resolver: true})
	wish.Reason = pagevm.CutForced
	before := &pagevm.Projection{}
	delta := pagevm.Delta{Host: host, Places: places, Align: pagevm.Align(before, host)}
	after, _ := pagevm.Next(before, delta, pagevm.Wishes{Cut: wish}, pagevm.Cache{Forced: true, Resolver: true})
	for _, en := range s.entries {
		en.next = pagevm.Gone
	}
	for i := range after.Items {
		if en := s.of[after.Items[i].Page]; en != nil {
			en.next = after.Items[i].Level
		}
	}
	e.out.Tokens = after.Tokens()
	e.install(s)
}

// minimum returns the lowest level at which a page may be shown now. It returns Gone for a lost
// rule that is not pinned.
func (e *engine) minimum(en *entry) pagevm.Level {
	low := en.lowest
	switch {
	case en.hard:
		return en.floor
	case en.rule && en.loaded, en.Type == pagevm.Plan:
		low = en.floor
	case en.rule:
		low = pagevm.Gone
	}
	if !e.policy.resolve {
		low = min(low, en.limit)
	}
	return low
}

// score returns B, the present worth of a page.
func (e *engine) score(en *entry) float64 {
	w := &e.policy.weights
	age := max(e.turn-en.last, 0)
	if e.policy.upgrade == upgradeLRU {
		return float64(en.Tokens.Full) * math.Exp2(-lruDecay*float64(min(age, lruAges)))
	}
	b := en.base + w.future*float64(en.future)
	if age < len(recencyAt) {
		b += w.recency * recencyAt[age]
	}
	if en.Type == pagevm.Plan {
		b += w.plan
	}
	return b
}

// squeeze fills the budget with floors when not all floors fit: first pinned pages, then the pages
// used in this turn, then the other pages by score. A page that does not fit is left out, and the
// next one is tried. It returns the tokens used.
func (e *engine) squeeze(s *session) (used int) {
	for _, en := range slices.SortedFunc(slices.Values(s.entries), e.claim) {
		n := en.shown[en.next].Tokens
		if used+n <= e.budget {
			used += n
			continue
		}
		if en.hard {
			e.out.Short = append(e.out.Short, short{Page: en.ID, Tokens: n})
		}
		en.next, en.starved = pagevm.Gone, true
	}
	return used
}

// claim compares two entries. The entry with the better right to a place in the minimum set comes
// first.
func (e *engine) claim(a, b *entry) int {
	rank := func(en *entry) int {
		switch {
		case en.hard:
			return 0
		case e.policy.prefetch && en.last == e.turn:
			return 1
		}
		return 2
	}
	ka, kb := rank(a), rank(b)
	if ka == kb && ka > 0 {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(ka, kb), byID(a, b))
}

// prefetch raises the pages that the turn demands to the level that a demand needs.
func (e *engine) prefetch(s *session, demand []string, used int) {
	if !e.policy.prefetch {
		return
	}
	for _, id := range demand {
		en := s.of[id]
		if en == nil || en.next >= en.need || en.need > e.ceiling(en) {
			continue
		}
		if cost := en.shown[en.need].Tokens - en.shown[en.next].Tokens; used+cost <= e.budget {
			en.next, en.starved, used = en.need, false, used+cost
		}
	}
}

// ceiling returns the highest level that can be shown now.
func (e *engine) ceiling(en *entry) pagevm.Level {
	if !e.policy.resolve && en.fleeting {
		return en.limit
	}
	return pagevm.Full
}

// offers returns the pages of a session as the selector sees them. A page of the minimum set must
// stay, and its present level is the lowest. A page that must not rise has no higher level. The
// last message is the request itself, which is not paged.
func (e *engine) offers(s *session) (host []pagevm.HostMessage, places []pagevm.Place, worth [][]float64) {
	n := len(s.entries) + 1
	host, places, worth = make([]pagevm.HostMessage, 0, n), make([]pagevm.Place, 0, n), make([][]float64, 0, n)
	for _, en := range s.entries {
		low, top := max(en.next, en.lowest), e.ceiling(en)
		if e.policy.upgrade == upgradeNone {
			top = pagevm.Gone
		}
		seg := pagevm.Segment{Kind: pagevm.ItemHost, Parts: 1, Page: en.ID, Type: en.Type, Committed: true}
		for l := low; l <= max(top, en.next); l++ {
			if en.shown[l].Hash != "" {
				seg.At[l], seg.First = en.shown[l], l
			}
		}
		if seg.First == pagevm.Gone {
			continue
		}
		host = append(host, pagevm.HostMessage{Key: en.ID, Role: memkernel.RoleUser, Segments: []pagevm.Segment{seg}, Held: en.next != pagevm.Gone})
		places = append(places, pagevm.Place{Atom: len(places), Closed: true})
		worth = append(worth, []float64{en.score})
	}
	host = append(host, pagevm.HostMessage{Role: memkernel.RoleUser})
	places = append(places, pagevm.Place{Atom: len(places)})
	return host, places, append(worth, nil)
}

// prompt is a prompt that the kernel assembled.
type prompt struct {
	// levels is the level of each page. A page without an entry is not in the prompt.
	levels map[string]pagevm.Level
	tokens int
	// lost are the pages whose changes were not durable when an event of the turn destroyed the
	// context. rejected are the pages whose changes were refused. All other changes of the turn
	// are durable at its end.
	lost, rejected []string
}

// adopt makes the levels of the kernel's prompt the levels of the session's pages.
func (e *engine) adopt(s *session, p *prompt) {
	e.seq++
	e.out.Decision, e.out.Tokens = e.seq, p.tokens
	for _, en := range s.entries {
		en.next = p.levels[en.ID]
		n := en.shown[e.minimum(en)].Tokens
		e.out.Minimum += n
		if en.hard {
			e.out.Required += n
		}
	}
	e.out.Over = max(e.out.Required-e.budget, 0)
	for _, en := range s.entries {
		// A page is starved only if some floors do not fit.
		en.starved = en.next == pagevm.Gone && (e.out.Over > 0 || !en.hard && e.out.Minimum > e.budget)
		if en.hard && en.next < en.floor {
			e.out.Short = append(e.out.Short, short{Page: en.ID, Tokens: en.shown[en.floor].Tokens})
		}
	}
	e.install(s)
}

// install applies the decision to the entries and records the changes.
func (e *engine) install(s *session) {
	for _, en := range s.entries {
		if !e.policy.resolve && en.fleeting {
			en.limit = min(en.limit, en.next)
		}
		if en.next == en.level {
			continue
		}
		if en.next < en.level {
			en.drop, en.lost = e.seq, paging.CauseSelection
			if e.policy.writebackCompaction || e.policy.writebackReset {
				e.commitPage(s, en.tablePage)
			}
		}
		en.level = en.next
	}
}
