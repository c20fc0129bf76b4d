package budget

import (
	"slices"
	"sync"
)

// merger merges the byte pairs of a piece that is not a token. Neighbours that spell a token are
// merged until no neighbours spell one. The lowest token id is merged first, and the leftmost
// among equal ids. Parts of the piece are named by the offset of their first byte.
type merger struct {
	parts []part
	// queue is a heap of merges, with the first merge on top. A merge is the token's id << 32 | the
	// offset of the left part. It is out of date if the token is no longer the part's pair.
	queue []uint64
}

// part is a token of the piece, and the token that it spells with the next part, or noID.
type part struct {
	id, pair   uint32
	next, prev int32
}

// mergers holds idle mergers for reuse. A merger of a piece over keptPiece bytes is not kept.
var mergers = sync.Pool{New: func() any { return new(merger) }}

const keptPiece = 64 << 10 // 64 KiB

// merge returns the number of tokens of a piece of valid UTF-8, and the first token with its length
// in bytes.
func (v *vocabulary) merge(piece string) (n int, first uint32, size int) {
	if piece == "" {
		return 0, noID, 0
	}
	m := mergers.Get().(*merger)
	n = m.merge(v, piece)
	first, size = m.parts[0].id, int(m.parts[0].next)
	if len(piece) <= keptPiece {
		mergers.Put(m)
	}
	return n, first, size
}

func (m *merger) merge(v *vocabulary, piece string) (n int) {
	end := len(piece)
	m.parts = slices.Grow(m.parts[:0], end)[:end]
	m.queue = m.queue[:0]
	for i, before := 0, -1; i < end; n++ {
		id, size := v.part(piece, i)
		m.parts[i] = part{id, noID, int32(i + size), int32(before)}
		if before >= 0 {
			m.match(v, before, i)
		}
		before = i
		i += size
	}
	for len(m.queue) > 0 {
		best := m.pop()
		i, id := int(uint32(best)), uint32(best>>32)
		p := &m.parts[i]
		if p.pair != id {
			continue
		}
		gone := &m.parts[p.next]
		p.id, p.next, p.pair, gone.pair = id, gone.next, noID, noID
		n--
		if next := int(p.next); next < end {
			m.parts[next].prev = int32(i)
			m.match(v, i, next)
		}
		if p.prev >= 0 {
			m.match(v, int(p.prev), i)
		}
	}
	return n
}

// match queues the merge of two neighbours if they spell a token.
func (m *merger) match(v *vocabulary, left, right int) {
	id := v.pair(m.parts[left].id, m.parts[right].id)
	if m.parts[left].pair = id; id == noID {
		return
	}
	at := len(m.queue)
	m.queue = append(m.queue, 0)
	merge := uint64(id)<<32 | uint64(left)
	for ; at > 0 && m.queue[(at-1)/2] > merge; at = (at - 1) / 2 {
		m.queue[at] = m.queue[(at-1)/2]
	}
	m.queue[at] = merge
}

// pop takes the first merge off the queue.
func (m *merger) pop() uint64 {
	top, n := m.queue[0], len(m.queue)-1
	last := m.queue[n]
	m.queue = m.queue[:n]
	for at := 0; n > 0; {
		down := 2*at + 1
		if down+1 < n && m.queue[down+1] < m.queue[down] {
			down++
		}
		if down >= n || last < m.queue[down] {
			m.queue[at] = last
			break
		}
		m.queue[at], at = m.queue[down], down
	}
	return top
}
