package cachelayout

import (
	"encoding/binary"
	"slices"
	"time"
)

// ledgerVersion is the format of a persisted ledger.
//
//	1: first format
const ledgerVersion = 1

// Ledger remembers the last request that was sent and which of its prefixes
// the provider still holds. A value is never changed once made: [Ledger.Advance]
// returns a new one. The zero Ledger means that nothing was sent.
//
//	Chain │ block 0 │ block 1 │ … │ block n │    content hashes, running sums
//	Marks │            ▲5m           ▲5m    │    entries in the cache
//
// As JSON it is small enough to be written for every call, since it lacks the chain.
// [Ledger.Restore] computes the chain from the sent blocks, which the caller must keep.
type Ledger struct {
	Version  int      `json:"version"`
	Identity Identity `json:"identity"`
	// Marks are the entries that may still live, by rising Index.
	Marks []cacheMark `json:"marks"`
	// LastStart is the start of the last request, by our own clock.
	LastStart time.Time `json:"last_start,omitzero"`
	// Hit reports whether usage showed that the newest billed call read the cache.
	Hit bool `json:"hit,omitempty"`
	// Blocks is the length of the chain. Tip is the hash of the whole chain, by which Restore
	// checks that given blocks are those of the chain.
	Blocks int          `json:"blocks"`
	Tip    uint64       `json:"tip,string"`
	Chain  []chainEntry `json:"-"`
}

// chainEntry is one block of the last request.
type chainEntry struct {
	Hash string
	// Chain names the prefix that ends here: a running hash over the blocks' hashes. It serves
	// records and explanations. Equality of prefixes is decided by the block hashes.
	Chain      uint64
	ID, Region string
	// Tokens is the sum up to and including the block.
	Tokens int
}

// cacheMark is an entry in the provider's cache: the prefix up to and including
// block Index.
type cacheMark struct {
	Index int           `json:"index"`
	TTL   time.Duration `json:"ttl"`
	// Start is the start of the last request that wrote or read the entry.
	Start time.Time `json:"start"`
	// Identity is the identity under which the entry was written.
	Identity Identity `json:"identity"`
}

// live reports whether the entry has not expired. Lifetimes count from the start of a request. If
// the clock went back, the entry counts as live.
func (m *cacheMark) live(now time.Time) bool {
	return now.Sub(m.Start) < m.TTL
}

// readable reports whether a request under id can read the entry, given the
// level that the entry ends in.
func (m *cacheMark) readable(id Identity, ends cacheLevel) bool {
	_, _, _, broken := m.Identity.Broken(id)
	return ends < broken
}

// Seed makes the ledger of a session whose last request is known only from its transcript. It
// assumes the usual markers of hosts: one marker after tools and system and one marker at the
// end, both with the given lifetime.
func Seed(id Identity, blocks []Block, ttl time.Duration, lastStart time.Time) Ledger {
	if ttl <= 0 {
		ttl = AssumedTTL
	}
	p := placer{blocks: blocks, at: sums(blocks), m: Model{MaxBreakpoints: 2}}
	p.add(len(blocks)-1, 0, WhyEnd)
	p.add(p.fixed(), 0, WhyFixed)
	for i := range p.out {
		p.out[i].TTL = ttl
	}
	var l Ledger
	return l.Advance(id, blocks, p.out, lastStart)
}

// common counts the leading blocks that are unchanged since the last request.
func (l *Ledger) common(blocks []Block) int {
	n := 0
	for n < len(l.Chain) && n < len(blocks) && l.Chain[n].Hash == blocks[n].Hash {
		n++
	}
	return n
}

// Advance returns the ledger after a request was sent at now with these markers. It refreshes the
// entries that the request read or wrote. It drops expired entries and all entries after the
// first changed block. It copies the unchanged part of the chain and does not hash it again.
func (l *Ledger) Advance(id Identity, blocks []Block, bps []Breakpoint, now time.Time) Ledger {
	n := l.common(blocks)
	next := Ledger{Version: ledgerVersion, Identity: id, Marks: l.marks(n, id, len(blocks), bps, now), LastStart: now, Hit: l.Hit}
	next.setChain(l.Chain[:n], blocks)
	return next
}

// Restore returns the ledger with its chain, made from the blocks of the last request, which may
// be followed by newer ones. It returns false, and the zero Ledger, if the blocks are not the sent
// ones or the ledger was written in another format. Callers must then assume that nothing is
// cached.
func (l Ledger) Restore(blocks []Block) (Ledger, bool) {
	if l.Version != ledgerVersion || l.Blocks <= 0 || l.Blocks > len(blocks) ||
		slices.ContainsFunc(l.Marks, func(m cacheMark) bool { return m.Index < 0 || m.Index >= l.Blocks }) {
		return Ledger{}, false
	}
	tip := l.Tip
	if l.setChain(nil, blocks[:l.Blocks]); l.Tip != tip {
		return Ledger{}, false
	}
	return l, true
}

// Expect returns m as forecasts may use it. Gemini's implicit cache promises no hit: in public
// measurements it hit one of 138 growing conversations. Expect treats it as no cache until usage
// shows a hit, and again after the next call that missed.
func (l *Ledger) Expect(m Model) Model {
	if m.Cache == cacheGemini && !l.Hit {
		m.Cache = CacheNone
	}
	return m
}

// setChain makes the chain of blocks, of which the first are in the kept part of a chain.
func (l *Ledger) setChain(kept []chainEntry, blocks []Block) {
	l.Chain = append(make([]chainEntry, 0, len(blocks)), kept...)
	var last chainEntry
	if len(kept) > 0 {
		last = kept[len(kept)-1]
	}
	for _, b := range blocks[len(kept):] {
		last = chainEntry{Hash: b.Hash, Chain: chainHash(last.Chain, b.Hash), ID: b.ID, Region: b.Region, Tokens: last.Tokens + max(b.Tokens, 0)}
		l.Chain = append(l.Chain, last)
	}
	l.Blocks, l.Tip = len(l.Chain), last.Chain
}

// chainHash returns the chain hash before, extended by a block's hash. It takes FNV-1a's steps over
// words of eight bytes, with a final mix so that high bytes change all bits.
func chainHash(before uint64, hash string) uint64 {
	const prime = 1099511628211
	h := before ^ 14695981039346656037
	for ; len(hash) >= 8; hash = hash[8:] {
		h = (h ^ binary.LittleEndian.Uint64([]byte(hash[:8]))) * prime
		h ^= h >> 32
	}
	for i := range len(hash) {
		h = (h ^ uint64(hash[i])) * prime
	}
	h ^= h >> 29
	return h * prime
}

// marks keeps the live entries and adds the entries of the request. An entry that the request
// marks again keeps its lifetime, because a provider that reads an entry refreshes it and does
// not write it again.
func (l *Ledger) marks(kept int, id Identity, blocks int, bps []Breakpoint, now time.Time) []cacheMark {
	out := make([]cacheMark, 0, len(l.Marks)+len(bps))
	for _, m := range l.Marks {
		if m.Index < kept && m.live(now) {
			out = append(out, m)
		}
	}
	for _, bp := range bps {
		if bp.Block < 0 || bp.Block >= blocks {
			continue
		}
		level := levelMessages
		if bp.Block < kept {
			level = levelOf(l.Chain[bp.Block].Region)
		}
		i := slices.IndexFunc(out, func(m cacheMark) bool { return m.Index == bp.Block && m.readable(id, level) })
		if i < 0 {
			out = append(out, cacheMark{Index: bp.Block, TTL: bp.TTL, Start: now, Identity: id})
			continue
		}
		out[i].Start = now
	}
	slices.SortStableFunc(out, func(a, b cacheMark) int { return a.Index - b.Index })
	if len(out) > maxMarks {
		const head = 4 // the first entries are after the fixed part and the carry block
		out = append(out[:head:head], out[len(out)-(maxMarks-head):]...)
	}
	return out
}

// maxMarks bounds the entries remembered. Old tails are useful only after a rewind, and for that
// the newest entries suffice.
const maxMarks = 64

// Tail returns the index in blocks where [Layout] should put the previous-tail marker. It is the
// last block of the last request if the whole request is unchanged. Otherwise it is the furthest
// entry that survived a rewind, or -1 if no entry survived.
func (l *Ledger) Tail(blocks []Block) int {
	n := l.common(blocks)
	if n > 0 && n == len(l.Chain) {
		return n - 1
	}
	for _, m := range slices.Backward(l.Marks) {
		if m.Index < n && l.level(m.Index) == levelMessages {
			return m.Index
		}
	}
	return -1
}

// Tokens returns the size of the last request.
func (l *Ledger) Tokens() int {
	if len(l.Chain) == 0 {
		return 0
	}
	return l.Chain[len(l.Chain)-1].Tokens
}
