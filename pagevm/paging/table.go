package paging

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
)

// Table is the page table: every page with its description (its owner's [Page]) and, per session,
// its level in the prompt. Either a policy of its own engine decides the levels, or a caller
// assembles the prompt and lets [Engine.Observe] judge it.
type Table struct {
	policy   Policy // the worth and needs of rows
	turn     int
	rows     []row
	ids      map[string]int32
	sessions []*session
	names    map[string]int32
	groups   map[string]int32
	stale    map[string]string // superseded id to its successor
	granted  []grant           // by group
}

func newTable(p Policy) Table {
	return Table{policy: p, ids: map[string]int32{}, names: map[string]int32{}, groups: map[string]int32{},
		stale: map[string]string{}, granted: make([]grant, 1)}
}

// row is a page with the data that the selector needs, which is computed when the page is added.
type row struct {
	page *Page
	tok  [pagevm.Full + 1]int32
	// up is, for each level, the page's next better level, Gone if there is no better one. ratio
	// is the gain of this step, Δv/Δtokens.
	up    [pagevm.Full + 1]pagevm.Level
	ratio [pagevm.Full + 1]float64
	// base is the part of the score B that does not change.
	base          float64
	floor, lowest pagevm.Level
	need          pagevm.Level // the level that a demand asks for
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
	// level is the level in the prompt. next is the level that is being decided. limit is the
	// highest level that can still be shown. hold is the level that is kept while work is in
	// flight.
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

// Add adds a page to the table. The next decision is the first that considers the page. Rules
// count as loaded by the host. The error wraps ErrPageExists if the id is already used.
func (tb *Table) Add(p Page) error {
	if err := tb.admit(&p, nil); err != nil {
		return fmt.Errorf("paging: add: %w", err)
	}
	tb.insert(p, pagevm.Gone)
	return nil
}

// admit returns an error if a page may not be added to the table together with the pages in
// beside.
func (tb *Table) admit(p *Page, beside []Page) error {
	if err := p.Check(); err != nil {
		return err
	}
	if _, ok := tb.ids[p.ID]; ok {
		return fmt.Errorf("page %q: %w; change it with a newer version", p.ID, errPageExists)
	}
	return tb.checkCircle(p, beside)
}

// insert makes the row of a page and its entries in sessions, which show it at level.
func (tb *Table) insert(p Page, level pagevm.Level) {
	r := tb.insertRow(p)
	if p.Scope == memkernel.ScopeSession {
		tb.place(tb.session(p.Session), r, level)
		return
	}
	for _, s := range tb.sessions {
		tb.place(s, r, level)
	}
}

// insertRow adds a page to the table without entries in sessions.
func (tb *Table) insertRow(p Page) int32 {
	r := int32(len(tb.rows))
	tb.ids[p.ID] = r
	tb.rows = append(tb.rows, row{page: &p, committed: p.Version})
	tb.derive(&tb.rows[r])
	return r
}

// place gives a row an entry in a session.
func (tb *Table) place(s *session, r int32, level pagevm.Level) {
	row := &tb.rows[r]
	for len(row.slots) <= int(s.id) {
		row.slots = append(row.slots, -1)
	}
	row.slots[s.id] = int32(len(s.entries))
	s.entries = append(s.entries, entry{row: r, last: int32(tb.turn), level: level, limit: pagevm.Full, loaded: true})
}

// session finds or opens a session. A new session holds all shared pages.
func (tb *Table) session(name string) *session {
	if i, ok := tb.names[name]; ok {
		return tb.sessions[i]
	}
	s := &session{id: int32(len(tb.sessions)), name: name, calls: map[string]string{}}
	tb.names[name] = s.id
	tb.sessions = append(tb.sessions, s)
	for i := range tb.rows {
		if !tb.rows[i].gone && tb.rows[i].page.Scope == memkernel.ScopeProject {
			tb.place(s, int32(i), pagevm.Gone)
		}
	}
	return s
}

// derive computes the selector's input from the page and the policy.
func (tb *Table) derive(r *row) {
	p, k, w := r.page, &tb.policy.Knobs, &tb.policy.Weights
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
	r.group = tb.group(p.Group)
	r.stale = tb.stale[p.ID] != ""
	tb.supersede(p)
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

func (tb *Table) group(name string) int32 {
	if name == "" {
		return 0
	}
	g, ok := tb.groups[name]
	if !ok {
		g = int32(len(tb.granted))
		tb.groups[name] = g
		tb.granted = append(tb.granted, grant{})
	}
	return g
}

// supersede marks the page that p makes stale, even if that page is added later.
func (tb *Table) supersede(p *Page) {
	if p.Supersedes == "" {
		return
	}
	tb.stale[p.Supersedes] = p.ID
	if i, ok := tb.ids[p.Supersedes]; ok {
		tb.rows[i].stale = true
	}
}

// Update gives a page new content: its token costs, recompute cost and version. Type, scope and
// owner of the page stay. The error wraps ErrUnknownPage if the table does not hold the page, and
// ErrOrder if the version is not newer.
func (tb *Table) Update(p Page) error {
	i, ok := tb.ids[p.ID]
	if !ok {
		return fmt.Errorf("paging: update: page %q: %w; it was never added, or removed", p.ID, errUnknownPage)
	}
	old := tb.rows[i].page
	switch err := p.Check(); {
	case err != nil:
		return fmt.Errorf("paging: update: %w", err)
	case p.Version <= old.Version:
		return fmt.Errorf("paging: update: page %q: version %d after %d: %w; read the page again and update from there", p.ID, p.Version, old.Version, errOrder)
	case p.Type != old.Type || p.Scope != old.Scope || p.Session != old.Session:
		return fmt.Errorf("paging: update: page %q changes its type, scope or session: remove it and add another", p.ID)
	case p.Supersedes != old.Supersedes:
		return fmt.Errorf("paging: update: page %q changes what it supersedes: add another page", p.ID)
	}
	if err := tb.checkCircle(&p, nil); err != nil {
		return fmt.Errorf("paging: update: %w", err)
	}
	tb.rows[i].page = &p
	tb.derive(&tb.rows[i])
	tb.refit(i)
	return nil
}

// refit changes the level of a page's entries if the page no longer has that level.
func (tb *Table) refit(i int32) {
	r := &tb.rows[i]
	for sid, slot := range r.slots {
		if slot < 0 {
			continue
		}
		en := &tb.sessions[sid].entries[slot]
		en.limit = pagevm.Full
		if en.level != pagevm.Gone && r.tok[en.level] == 0 {
			en.level = r.page.has(en.level)
		}
		if en.hold != pagevm.Gone && r.tok[en.hold] == 0 {
			en.hold = r.page.has(en.hold)
		}
	}
}

// Remove takes a page out of the table, with its uncommitted changes. The error wraps
// ErrUnknownPage if the table does not hold the page.
func (tb *Table) Remove(id string) error {
	i, ok := tb.ids[id]
	if !ok {
		return fmt.Errorf("paging: remove: page %q: %w", id, errUnknownPage)
	}
	r := &tb.rows[i]
	for sid, slot := range r.slots {
		if slot < 0 {
			continue
		}
		s := tb.sessions[sid]
		s.entries = slices.Delete(s.entries, int(slot), int(slot)+1)
		if int(slot) < s.sorted {
			s.sorted--
		}
		tb.seat(s, int(slot))
		s.dirty = slices.DeleteFunc(s.dirty, func(d dirt) bool { return d.row == i })
	}
	old := r.page.Supersedes
	delete(tb.ids, id)
	*r = row{gone: true}
	tb.renew(old)
	return nil
}

// renew determines again whether a page is superseded.
func (tb *Table) renew(id string) {
	if id == "" {
		return
	}
	delete(tb.stale, id)
	for i := range tb.rows {
		if !tb.rows[i].gone && tb.rows[i].page.Supersedes == id {
			tb.stale[id] = tb.rows[i].page.ID
		}
	}
	if j, ok := tb.ids[id]; ok {
		tb.rows[j].stale = tb.stale[id] != ""
	}
}

// entry finds the residency of a page in a session.
func (tb *Table) entry(s *session, id string) *entry {
	i, ok := tb.ids[id]
	if !ok {
		return nil
	}
	if sl := tb.rows[i].slots; int(s.id) < len(sl) && sl[s.id] >= 0 {
		return &s.entries[sl[s.id]]
	}
	return nil
}

// sort moves the newest entries to their places in the order.
func (tb *Table) sort(s *session) {
	if s.sorted == len(s.entries) {
		return
	}
	byID := func(a, b entry) int { return strings.Compare(tb.rows[a.row].page.ID, tb.rows[b.row].page.ID) }
	if fresh := len(s.entries) - s.sorted; fresh > sortAnew {
		slices.SortFunc(s.entries, byID)
		s.sorted = len(s.entries)
		tb.seat(s, 0)
		return
	}
	for ; s.sorted < len(s.entries); s.sorted++ {
		en := s.entries[s.sorted]
		at, _ := slices.BinarySearchFunc(s.entries[:s.sorted], en, byID)
		copy(s.entries[at+1:s.sorted+1], s.entries[at:s.sorted])
		s.entries[at] = en
		tb.seat(s, at)
	}
}

// sortAnew is the largest number of new entries that are moved to their places one by one. If
// there are more, all entries are sorted.
const sortAnew = 4

// seat updates the places of entries in their rows, for all entries from index from on.
func (tb *Table) seat(s *session, from int) {
	for i := from; i < len(s.entries); i++ {
		tb.rows[s.entries[i].row].slots[s.id] = int32(i)
	}
}

func (tb *Table) touch(s *session, ids []string) {
	for _, id := range ids {
		if en := tb.entry(s, id); en != nil {
			en.last = int32(tb.turn)
		}
	}
}

// known reports whether a session may name a page.
func (tb *Table) known(t *Turn, id string) error {
	if i, ok := tb.ids[id]; ok {
		if p := tb.rows[i].page; !p.visible(t.Session) {
			return fmt.Errorf("page %q of session %q: %w", id, p.Session, errScope)
		}
		return nil
	}
	for i := range t.Arrive {
		if t.Arrive[i].ID == id {
			return nil
		}
	}
	return fmt.Errorf("page %q: %w; add it, or let it arrive", id, errUnknownPage)
}

// links returns the pages that a page comes from or makes stale.
func (p *Page) links() []string {
	if p.Supersedes == "" {
		return p.Provenance.From
	}
	return append(slices.Clip(p.Provenance.From), p.Supersedes)
}

// checkCircle refuses a page that would depend on itself through other pages. It includes the
// pages that arrive together with p. A page may name pages that do not exist yet.
func (tb *Table) checkCircle(p *Page, beside []Page) error {
	if len(p.links()) == 0 {
		return nil
	}
	seen := map[string]bool{}
	var follow func(q *Page, path []string) []string
	follow = func(q *Page, path []string) []string {
		for _, id := range q.links() {
			next := append(slices.Clip(path), id)
			if id == p.ID {
				return next
			}
			if r := tb.named(id, beside); r != nil && !seen[id] {
				seen[id] = true
				if c := follow(r, next); c != nil {
					return c
				}
			}
		}
		return nil
	}
	if c := follow(p, []string{p.ID}); c != nil {
		return fmt.Errorf("page %q: cyclic provenance, %s: take one of these links out", p.ID, strings.Join(c, " comes from "))
	}
	return nil
}

// named finds a page in the table or among the arriving pages. It returns nil if the page is in
// neither.
func (tb *Table) named(id string, beside []Page) *Page {
	if i, ok := tb.ids[id]; ok {
		return tb.rows[i].page
	}
	if i := slices.IndexFunc(beside, func(p Page) bool { return p.ID == id }); i >= 0 {
		return &beside[i]
	}
	return nil
}
