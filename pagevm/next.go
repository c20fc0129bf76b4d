package pagevm

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/memkernel/memkernel"
)

// The rules by which a wish can be refused, as named in [Refusal.Rule].
const (
	ruleEventUsed      = "cold_event_used"
	ruleNotCold        = "cache_is_warm"
	ruleNotForced      = "not_forced"
	RuleOpenLoop       = "open_tool_loop"
	ruleNothingPending = "nothing_pending"
	ruleFloor          = "below_floor"
	ruleNotDurable     = "not_durable"
	ruleNoLevel        = "no_such_level"
	ruleAtomOpen       = "atom_not_closed"
	ruleOpener         = "opens_the_loop"
	ruleNewest         = "newest_message"
	ruleHeld           = "unknown_content"
	ruleRecalled       = "recalled_this_turn"
)

// Delta is the host's input: the whole conversation, the place of each message, and the alignment
// of the conversation with the projection.
type Delta struct {
	Host   []HostMessage
	Places []Place
	Align  Alignment
}

// Next makes the next projection. It is pure: it changes none of its arguments,
// and equal arguments give equal results. See the package comment for the rules.
func Next(p *Projection, d Delta, w Wishes, c Cache) (*Projection, Decision) {
	q := *p
	dec := Decision{Rewrite: d.Align.Rewrite}
	q.Seen = slices.Concat(d.Align.Seen, SeenOf(d.Host[d.Align.At:]))
	q.Items = p.Items[:d.Align.Items:d.Align.Items]
	if dec.Rewrite == RewriteBehind || dec.Rewrite == RewriteRewind {
		q.Generation++
	}
	carried := d.Align.Stale || w.CarryNow && (len(p.Seen) == 0 || dec.Rewrite == RewriteBehind)
	if carried {
		q.Carry = carryItems(w.Carry)
	}
	q.Items = appendHost(q.Items, d.Host[d.Align.At:], unbound(p, d.Align, c))
	if c.StripThinking {
		leaveUnboundOut(p, &q, d.Host)
	}
	if w.Cut != nil {
		cut(p, &q, d, w, c, &dec)
	}
	if carried && len(p.Seen) > 0 {
		q.Items = dropCarried(q.Items, q.Carry)
	}
	q.Recall = p.Recalled(d.Align)
	appendBlocks(&q, recall(&q, w, &dec), d.Host, min(max(w.Ahead, 0), len(d.Host)-d.Align.At))
	dec.Kept = commonItems(p, &q)
	return &q, dec
}

// SeenOf returns messages in the form in which a projection remembers messages that it has just
// shown.
func SeenOf(hosts []HostMessage) []Seen {
	out := make([]Seen, len(hosts))
	for i := range hosts {
		out[i] = Seen{Key: hosts[i].Key, Hash: hosts[i].Hash}
	}
	return out
}

// unbound lists the messages that the last cut covered and that come back after a rewrite by the
// host. Their thinking belongs to a prefix that is gone. It returns nil if there are no such
// messages.
func unbound(p *Projection, a Alignment, c Cache) map[string]string {
	if !c.StripThinking || len(p.Cuts) == 0 || a.At >= len(p.Seen) {
		return nil
	}
	hashes := map[string]string{}
	for _, s := range p.Seen[a.At:max(a.At, min(p.Cuts[len(p.Cuts)-1].Covers, len(p.Seen)))] {
		hashes[s.Key] = s.Hash
	}
	return hashes
}

// leaveUnboundOut takes out the thinking that the model produced after another prefix than q has.
// The prefix differs if the carry block is new or changed. In a conversation that was not planned
// before, the model saw every message as the host wrote it. There the prefix also differs from
// the first message on that q shows shorter.
func leaveUnboundOut(p, q *Projection, host []HostMessage) {
	broken, first := !equalItems(p.Carry, q.Carry), len(p.Seen) == 0
	if !broken && !first {
		return
	}
	for it, s := range q.Spots(host) {
		if broken && it.Kind == ItemHost && s.Segment != nil && s.Bare.Hash != "" && it.Level == Full {
			*it = s.bare(&host[s.Message])
		}
		broken = broken || first && it.Level != Full
	}
}

// segment returns the segment of m that belongs to page, nil if there is none.
func (m *HostMessage) segment(page string) *Segment {
	for i := range m.Segments {
		if m.Segments[i].Page == page {
			return &m.Segments[i]
		}
	}
	return nil
}

// appendHost appends fresh messages. It shows a message without its thinking if bare maps the key
// of the message to its hash.
func appendHost(old []Item, fresh []HostMessage, bare map[string]string) []Item {
	n := len(old)
	for i := range fresh {
		n += len(fresh[i].Segments)
	}
	items := make([]Item, len(old), n)
	copy(items, old)
	for i := range fresh {
		m := &fresh[i]
		strip := bare[m.Key] == m.Hash && bare != nil
		for j := range m.Segments {
			if s := &m.Segments[j]; strip && s.Bare.Hash != "" {
				items = append(items, s.bare(m))
			} else {
				items = append(items, s.item(m, s.First))
			}
		}
	}
	return items
}

// appendBlocks puts kernel blocks in front of the last ahead host messages, which are new. It
// shows each page once.
func appendBlocks(q *Projection, blocks []Block, host []HostMessage, ahead int) {
	newest := len(host) - 1 - ahead
	if len(blocks) == 0 || newest < 0 {
		return
	}
	at := len(q.Items)
	for at > 0 && slices.ContainsFunc(host[newest+1:], func(m HostMessage) bool { return m.Key == q.Items[at-1].Key }) {
		at--
	}
	behind := q.Items[at:]
	q.Items = q.Items[:at:at]
	standing := itemsByPage(q.Items)
	maps.Copy(standing, itemsByPage(q.Carry))
	for _, b := range blocks {
		if standing[b.Page] == nil {
			it := b.item()
			it.Key = host[newest].Key
			q.Items = append(q.Items, it)
		}
	}
	q.Items = append(q.Items, behind...)
}

// recall records the result of retrieval in q and returns the blocks to append. It grants one
// retrieval per user turn.
func recall(q *Projection, w Wishes, dec *Decision) []Block {
	switch {
	case w.Recall == nil:
		return w.Append
	case w.Recall.Turn != q.Recall.Turn:
		q.Recall = *w.Recall
		return w.Append
	}
	dec.Refused = append(dec.Refused, Refusal{Page: w.Recall.Page, Atom: -1, Rule: ruleRecalled})
	return slices.DeleteFunc(slices.Clone(w.Append), func(b Block) bool { return b.Kind == ItemRetrieval })
}

// dropCarried leaves out the kernel blocks whose page the carry block shows now.
func dropCarried(items, carry []Item) []Item {
	shown := make(map[string]bool, len(carry))
	for i := range carry {
		shown[carry[i].Page] = true
	}
	for i := range items {
		if items[i].Key != "" && shown[items[i].Page] {
			return slices.DeleteFunc(slices.Clone(items), func(it Item) bool { return shown[it.Page] })
		}
	}
	return items
}

func carryItems(blocks []Block) []Item {
	items := make([]Item, 0, len(blocks))
	for _, b := range blocks {
		items = append(items, b.item())
	}
	return items
}

func (b Block) item() Item {
	it := Item{Kind: b.Kind, Parts: 1, Page: b.Page, Level: b.Level, Hash: b.Hash, Tokens: b.Tokens,
		Positions: 1, Markable: true, Role: memkernel.RoleUser}
	if b.Kind == ItemCompaction {
		it.Markable, it.Role = false, memkernel.RoleAssistant
	}
	return it
}

// cut applies w.Cut to q, or refuses it.
func cut(p, q *Projection, d Delta, w Wishes, c Cache, dec *Decision) {
	if rule := permit(p, d, w.Cut, c); rule != "" {
		dec.Refused = append(dec.Refused, Refusal{Atom: -1, Rule: rule})
		return
	}
	n := builder{p: p, d: d, wish: w.Cut, drop: w.Drop, cache: c, was: itemsByPage(q.Items)}
	r := *q
	r.Seen = n.leave(q.Seen)
	r.Items = n.items(r.Seen, q.Items)
	r.Carry = carryItems(w.Carry)
	r.Items = dropCarried(r.Items, r.Carry)
	dec.Refused = append(dec.Refused, n.refused...)
	renewed := (w.Cut.CarryOnly || c.Forced && r.Tokens() < q.Tokens()) && !equalItems(r.Carry, q.Carry)
	if !renewed && equalItems(r.Items, q.Items) && slices.Equal(r.Seen, q.Seen) {
		dec.Refused = append(dec.Refused, Refusal{Atom: -1, Rule: ruleNothingPending})
		return
	}
	r.Generation++
	point := CutPoint{Generation: r.Generation, Reason: string(w.Cut.Reason), Covers: len(r.Seen), Chain: Chain(r.Seen),
		Time: c.Now, Before: q.Tokens(), After: r.Tokens()}
	if c.Cold {
		point.Event = c.Event
	}
	r.Cuts = append(q.Cuts[:len(q.Cuts):len(q.Cuts)], point)
	dec.Cut = &point
	*q = r
}

// permit returns the rule that forbids the cut as a whole, "" if no rule forbids it. In a cold
// cache an open loop blocks the kernel's own cuts. An open loop does not block a cut that the host
// requests. It does not block a new carry block either, which drops nothing.
func permit(p *Projection, d Delta, w *CutWish, c Cache) string {
	switch w.Reason {
	case CutCold:
		if !c.Cold {
			return ruleNotCold
		}
		if c.Event != "" && c.Event == p.LastEvent() && !c.Forced {
			return ruleEventUsed
		}
	case CutForced:
		if !c.Forced {
			return ruleNotForced
		}
	}
	if inLoop(d.Places) && !c.Forced && !(c.Cold && (w.Reason == CutDemand || w.CarryOnly)) {
		return RuleOpenLoop
	}
	return ""
}

func inLoop(places []Place) bool {
	n := len(places)
	return n > 0 && places[n-1].InLoop
}

func itemsByPage(items []Item) map[string]*Item {
	m := make(map[string]*Item, len(items))
	for i := range items {
		m[items[i].Page] = &items[i]
	}
	return m
}

// builder makes the items of a prompt after a cut.
type builder struct {
	p       *Projection
	d       Delta
	wish    *CutWish
	drop    map[string]bool
	cache   Cache
	was     map[string]*Item // the item of each page before the cut
	refused []Refusal
}

// leave returns seen with the messages of the leaving atoms marked as gone.
func (b *builder) leave(seen []Seen) []Seen {
	if len(b.wish.Leave) == 0 {
		return seen
	}
	refused := b.refusedAtoms()
	out := slices.Clone(seen)
	for i := range out {
		atom := b.d.Places[i].Atom
		if b.wish.Leave[atom] && refused[atom] == "" && (!b.d.Host[i].Held || b.wish.Compacted && !b.d.Host[i].apart()) {
			out[i].Gone = true
		}
	}
	return out
}

// refusedAtoms returns the rule that keeps each atom that the wish names in Leave and that must
// stay.
func (b *builder) refusedAtoms() map[int]string {
	refused := map[int]string{}
	for i, pl := range b.d.Places {
		if !b.wish.Leave[pl.Atom] || refused[pl.Atom] != "" {
			continue
		}
		if rule := b.mayLeave(i); rule != "" {
			refused[pl.Atom] = rule
			b.refused = append(b.refused, Refusal{Atom: pl.Atom, Rule: rule})
		}
	}
	return refused
}

func (b *builder) mayLeave(i int) string {
	pl := b.d.Places[i]
	switch {
	case pl.Atom == b.d.Places[len(b.d.Places)-1].Atom:
		return ruleNewest
	case pl.Opener:
		return ruleOpener
	case !pl.Closed:
		return ruleAtomOpen
	case b.d.Host[i].Held && !b.d.Host[i].apart() && !b.wish.Compacted:
		return ruleHeld
	}
	if slices.ContainsFunc(b.d.Host[i].Segments, func(s Segment) bool { return !s.Committed }) {
		return ruleNotDurable
	}
	return ""
}

// items renders all remaining messages. It keeps the kernel blocks of the open loop at their
// places, except that only the newest recalled block stays. All other kernel blocks have served
// their purpose and are dropped.
func (b *builder) items(seen []Seen, old []Item) []Item {
	extra := kernelBlocks(old, b.p.Recall.Page, b.drop)
	items := make([]Item, 0, len(old))
	for i := range b.d.Host {
		if seen[i].Gone {
			continue
		}
		m, pl := &b.d.Host[i], b.d.Places[i]
		for j := range m.Segments {
			items = append(items, b.item(m, &m.Segments[j], pl))
		}
		if pl.InLoop || pl.Opener {
			items = append(items, extra[m.Key]...)
		}
	}
	return items
}

// item renders one segment. Thinking that was taken out never comes back: its
// signature belongs to a prefix that is gone.
func (b *builder) item(m *HostMessage, s *Segment, pl Place) Item {
	if was := b.was[s.Page]; s.Bare.Hash != "" && (b.cache.StripThinking || was != nil && was.Bare || b.cache.LeaveThinking && pl.Settled() && !m.Held) {
		return s.bare(m)
	}
	return s.item(m, b.level(s, pl))
}

func kernelBlocks(items []Item, recalled string, drop map[string]bool) map[string][]Item {
	m := map[string][]Item{}
	for _, it := range items {
		if !drop[it.Page] && (it.Kind == ItemNote || it.Kind == ItemRetrieval && it.Page == recalled) {
			m[it.Key] = append(m[it.Key], it)
		}
	}
	return m
}

// level grants the wished level of a segment, or keeps its present level.
func (b *builder) level(s *Segment, pl Place) Level {
	now := s.First
	if was := b.was[s.Page]; was != nil {
		now = was.Level
	}
	want, wished := b.wish.Levels[s.Page]
	if !wished || want == now {
		return now
	}
	if rule := b.mayShow(s, pl, want, now); rule != "" {
		b.refused = append(b.refused, Refusal{Page: s.Page, Atom: pl.Atom, Rule: rule})
		return now
	}
	return want
}

func (b *builder) mayShow(s *Segment, pl Place, want, now Level) string {
	if _, ok := s.at(want); !ok {
		return ruleNoLevel
	}
	if want < now {
		switch {
		case want < Floor(s.Type, b.cache.Resolver):
			return ruleFloor
		case !s.Committed:
			return ruleNotDurable
		case !pl.Closed && !b.cache.Forced:
			return ruleAtomOpen
		}
	}
	return ""
}

func equalItems(a, b []Item) bool {
	return slices.EqualFunc(a, b, func(x, y Item) bool { return x.Hash == y.Hash && x.Key == y.Key && x.Part == y.Part })
}

// commonItems counts the leading items of q whose bytes are in p at the same
// place.
func commonItems(p, q *Projection) int {
	for n := 0; ; n++ {
		a, b := p.At(n), q.At(n)
		if a == nil || b == nil || a.Hash != b.Hash || a.Key != b.Key {
			return n
		}
	}
}

// Chain returns a hash over the keys and contents of host messages in order. Cut points and turns
// use it to show which messages they cover.
func Chain(seen []Seen) string {
	h := sha256.New()
	w := bufio.NewWriterSize(h, 1<<10)
	for _, s := range seen {
		w.WriteString(s.Key)
		w.WriteByte(0)
		w.WriteString(s.Hash)
		w.WriteByte('\n')
	}
	w.Flush()
	return hex.EncodeToString(h.Sum(nil))
}
