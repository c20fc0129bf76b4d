package paging

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
)

// Config is what an engine is made with.
type Config struct {
	Policy Policy `json:"policy"`
	// Budget is the most that a prompt may hold, in tokens; Fixed is the part of
	// it that is not paged (Listing 1's fixed region).
	Budget int `json:"budget"`
	Fixed  int `json:"fixed,omitempty"`
}

// Engine runs one policy over the sessions of one workspace. Make it with New.
type Engine struct {
	cfg      Config
	seq      uint64 // the last decision
	turn     int
	rows     []row
	ids      map[string]int32
	sessions []*session
	names    map[string]int32
	groups   map[string]int32
	stale    map[string]string // superseded id to its successor
	totals   Totals

	// Buffers that live as long as the engine, so that a turn in steady state
	// allocates nothing.
	out     Outcome
	heap    []pagevm.Step
	climber climber
	order   []int32
	granted []grant // by group
}

// row is a page with all that the selector needs to know of it, worked out when
// it is added.
type row struct {
	page *Page
	tok  [pagevm.Full + 1]int32
	// up is the next better level that the page has, Gone for none, and ratio what
	// it brings: Δv/Δtokens.
	up    [pagevm.Full + 1]pagevm.Level
	ratio [pagevm.Full + 1]float64
	// base is the part of B that does not change.
	base          float64
	floor, lowest pagevm.Level
	need          pagevm.Level // what a demand asks for
	hard          bool         // pinned hard, by its owner or by the policy
	rule          bool         // bootstrap or constraint
	fleeting      bool         // can't rise again without the resolver
	stale         bool
	gone          bool
	group         int32
	committed     int     // version of the last commit
	slots         []int32 // place in each session's entries, -1 for none
}

// session is one prompt.
type session struct {
	id   int32
	name string
	// entries are in the order of page ids up to sorted, so that a tie goes to the
	// smaller index and no id is compared while a prompt is assembled.
	entries []entry
	sorted  int
	dirty   []dirt
	calls   map[string]string // canonical signature to the page of its result
	// compacted: the next assembly is the first after a compaction.
	compacted bool
}

// entry is the residency of one page in one session.
type entry struct {
	row  int32
	last int32 // turn of the last access
	// level stands in the prompt, next is being decided, limit is the highest that
	// can still be shown, hold is kept while work is in flight.
	level, next, limit, hold pagevm.Level
	loaded                   bool // a rule that the host loaded and no compaction took
	starved                  bool // its floor did not fit
	lost                     Cause
	drop                     uint64 // the decision that lowered it last
	fault                    uint64 // the decision at which it last faulted
	score                    float64
	future                   int32
}

// dirt is an uncommitted change.
type dirt struct {
	row  int32
	base int // committed version that the change was made on
}

// New makes an empty engine.
func New(cfg Config) (*Engine, error) {
	if err := cfg.Policy.check(); err != nil {
		return nil, fmt.Errorf("paging: %w", err)
	}
	if cfg.Budget <= 0 || cfg.Fixed < 0 || cfg.Fixed > cfg.Budget {
		return nil, fmt.Errorf("paging: budget %d with a fixed region of %d tokens: give a budget over 0 that holds the fixed region", cfg.Budget, cfg.Fixed)
	}
	return &Engine{cfg: cfg, ids: map[string]int32{}, names: map[string]int32{}, groups: map[string]int32{},
		stale: map[string]string{}, granted: make([]grant, 1)}, nil
}

// Config is what the engine was made with.
func (e *Engine) Config() Config { return e.cfg }

// Totals are the counts since New or Restore.
func (e *Engine) Totals() Totals { return e.totals }

// Add puts a page into the table. It stands from the next decision on; rules count
// as loaded by the host. The error wraps ErrPageExists if the id is taken.
func (e *Engine) Add(p Page) error {
	if err := e.admit(&p, nil); err != nil {
		return fmt.Errorf("paging: add: %w", err)
	}
	e.insert(p, pagevm.Gone)
	return nil
}

// admit tells why a page may not come into the table, with others beside it.
func (e *Engine) admit(p *Page, beside []Page) error {
	if err := p.Check(); err != nil {
		return err
	}
	if _, ok := e.ids[p.ID]; ok {
		return fmt.Errorf("page %q: %w; change it with a newer version", p.ID, ErrPageExists)
	}
	return e.checkCircle(p, beside)
}

// insert makes the row and its entries, shown at level.
func (e *Engine) insert(p Page, level pagevm.Level) {
	r := e.insertRow(p)
	if p.Scope == memkernel.ScopeSession {
		e.place(e.session(p.Session), r, level)
		return
	}
	for _, s := range e.sessions {
		e.place(s, r, level)
	}
}

// insertRow puts a page into the table alone.
func (e *Engine) insertRow(p Page) int32 {
	r := int32(len(e.rows))
	e.ids[p.ID] = r
	e.rows = append(e.rows, row{page: &p, committed: p.Version})
	e.derive(&e.rows[r])
	return r
}

// place gives a row an entry in a session.
func (e *Engine) place(s *session, r int32, level pagevm.Level) {
	row := &e.rows[r]
	for len(row.slots) <= int(s.id) {
		row.slots = append(row.slots, -1)
	}
	row.slots[s.id] = int32(len(s.entries))
	s.entries = append(s.entries, entry{row: r, last: int32(e.turn), level: level, limit: pagevm.Full, loaded: true})
}

// session finds or opens a session; a new one holds all shared pages.
func (e *Engine) session(name string) *session {
	if i, ok := e.names[name]; ok {
		return e.sessions[i]
	}
	s := &session{id: int32(len(e.sessions)), name: name, calls: map[string]string{}}
	e.names[name] = s.id
	e.sessions = append(e.sessions, s)
	for i := range e.rows {
		if !e.rows[i].gone && e.rows[i].page.Scope == memkernel.ScopeProject {
			e.place(s, int32(i), pagevm.Gone)
		}
	}
	return s
}

// derive works out what the selector needs from the page and the policy.
func (e *Engine) derive(r *row) {
	p, k, w := r.page, &e.cfg.Policy.Knobs, &e.cfg.Policy.Weights
	r.rule = p.Type == pagevm.Bootstrap || p.Type == pagevm.Constraint
	r.fleeting = p.Type == pagevm.Evidence || p.Type == pagevm.Conversation
	r.hard = p.Pin == PinHard || k.Pin && r.rule
	r.floor, r.lowest = p.Floor(), p.lowest()
	r.need = r.floor
	if !k.Resolve {
		r.need = p.has(pagevm.Structured)
	}
	r.chain()
	r.base = w.Recompute * recomputeTerm(p.RecomputeCost)
	switch {
	case r.hard:
		r.base += w.PinHard
	case p.Pin == PinSoft:
		r.base += w.PinSoft
	}
	if p.Type == pagevm.Bootstrap {
		r.base += w.Bootstrap
	}
	if p.Scope == memkernel.ScopeProject {
		r.base += w.Scope * sharedScope
	} else {
		r.base += w.Scope
	}
	r.group = e.group(p.Group)
	r.stale = e.stale[p.ID] != ""
	e.supersede(p)
}

// chain links the levels that the page has, from Gone upwards.
func (r *row) chain() {
	r.up, r.ratio, r.tok = [pagevm.Full + 1]pagevm.Level{}, [pagevm.Full + 1]float64{}, [pagevm.Full + 1]int32{}
	below := pagevm.Gone
	for l := pagevm.Pointer; l <= pagevm.Full; l++ {
		n := r.page.Tokens.At(l)
		if n == 0 || !slices.Contains(pagevm.Path(r.page.Type), l) {
			continue
		}
		r.tok[l] = int32(n)
		r.up[below] = l
		r.ratio[below] = (levelShare[l] - levelShare[below]) / float64(max(r.tok[l]-r.tok[below], 1))
		below = l
	}
}

func (e *Engine) group(name string) int32 {
	if name == "" {
		return 0
	}
	g, ok := e.groups[name]
	if !ok {
		g = int32(len(e.granted))
		e.groups[name] = g
		e.granted = append(e.granted, grant{})
	}
	return g
}

// supersede marks the page that p makes stale, now or when it is added.
func (e *Engine) supersede(p *Page) {
	if p.Supersedes == "" {
		return
	}
	e.stale[p.Supersedes] = p.ID
	if i, ok := e.ids[p.Supersedes]; ok {
		e.rows[i].stale = true
	}
}

// Update gives a page new content: its token costs, recompute cost and version.
// What it is (type, scope, owner) stays. The error wraps ErrUnknownPage for a page
// that is gone, and ErrOrder for a version that is not newer.
func (e *Engine) Update(p Page) error {
	i, ok := e.ids[p.ID]
	if !ok {
		return fmt.Errorf("paging: update: page %q: %w; it was never added, or removed", p.ID, ErrUnknownPage)
	}
	old := e.rows[i].page
	switch err := p.Check(); {
	case err != nil:
		return fmt.Errorf("paging: update: %w", err)
	case p.Version <= old.Version:
		return fmt.Errorf("paging: update: page %q: version %d after %d: %w; read the page again and update from there", p.ID, p.Version, old.Version, ErrOrder)
	case p.Type != old.Type || p.Scope != old.Scope || p.Session != old.Session:
		return fmt.Errorf("paging: update: page %q changes its type, scope or session: remove it and add another", p.ID)
	case p.Supersedes != old.Supersedes:
		return fmt.Errorf("paging: update: page %q changes what it supersedes: add another page", p.ID)
	}
	if err := e.checkCircle(&p, nil); err != nil {
		return fmt.Errorf("paging: update: %w", err)
	}
	e.rows[i].page = &p
	e.derive(&e.rows[i])
	e.refit(i)
	return nil
}

// refit takes a page out of the level that it no longer has.
func (e *Engine) refit(i int32) {
	r := &e.rows[i]
	for sid, slot := range r.slots {
		if slot < 0 {
			continue
		}
		en := &e.sessions[sid].entries[slot]
		en.limit = pagevm.Full
		if en.level != pagevm.Gone && r.tok[en.level] == 0 {
			en.level = r.page.has(en.level)
		}
		if en.hold != pagevm.Gone && r.tok[en.hold] == 0 {
			en.hold = r.page.has(en.hold)
		}
	}
}

// Remove takes a page out of the table, with what was uncommitted of it. The error
// wraps ErrUnknownPage.
func (e *Engine) Remove(id string) error {
	i, ok := e.ids[id]
	if !ok {
		return fmt.Errorf("paging: remove: page %q: %w", id, ErrUnknownPage)
	}
	r := &e.rows[i]
	for sid, slot := range r.slots {
		if slot < 0 {
			continue
		}
		s := e.sessions[sid]
		s.entries = slices.Delete(s.entries, int(slot), int(slot)+1)
		if int(slot) < s.sorted {
			s.sorted--
		}
		e.seat(s, int(slot))
		s.dirty = slices.DeleteFunc(s.dirty, func(d dirt) bool { return d.row == i })
	}
	old := r.page.Supersedes
	delete(e.ids, id)
	*r = row{gone: true}
	e.renew(old)
	return nil
}

// renew finds out anew whether a page is superseded.
func (e *Engine) renew(id string) {
	if id == "" {
		return
	}
	delete(e.stale, id)
	for i := range e.rows {
		if !e.rows[i].gone && e.rows[i].page.Supersedes == id {
			e.stale[id] = e.rows[i].page.ID
		}
	}
	if j, ok := e.ids[id]; ok {
		e.rows[j].stale = e.stale[id] != ""
	}
}

// entry finds the residency of a page in a session.
func (e *Engine) entry(s *session, id string) *entry {
	i, ok := e.ids[id]
	if !ok {
		return nil
	}
	if sl := e.rows[i].slots; int(s.id) < len(sl) && sl[s.id] >= 0 {
		return &s.entries[sl[s.id]]
	}
	return nil
}

// sort puts the entries that came last into their places.
func (e *Engine) sort(s *session) {
	if s.sorted == len(s.entries) {
		return
	}
	byID := func(a, b entry) int { return strings.Compare(e.rows[a.row].page.ID, e.rows[b.row].page.ID) }
	if fresh := len(s.entries) - s.sorted; fresh > sortAnew {
		slices.SortFunc(s.entries, byID)
		s.sorted = len(s.entries)
		e.seat(s, 0)
		return
	}
	for ; s.sorted < len(s.entries); s.sorted++ {
		en := s.entries[s.sorted]
		at, _ := slices.BinarySearchFunc(s.entries[:s.sorted], en, byID)
		copy(s.entries[at+1:s.sorted+1], s.entries[at:s.sorted])
		s.entries[at] = en
		e.seat(s, at)
	}
}

// sortAnew is how many new entries are put in their places one by one; with more,
// all are sorted.
const sortAnew = 4

// seat tells the rows where their entries are, from one on.
func (e *Engine) seat(s *session, from int) {
	for i := from; i < len(s.entries); i++ {
		e.rows[s.entries[i].row].slots[s.id] = int32(i)
	}
}
