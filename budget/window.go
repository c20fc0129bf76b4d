package budget

// This file merges byte pairs, for pieces that are not a token. Neighbours that spell a token are
// merged until no neighbours spell one. The lowest token id is merged first, and the leftmost
// among equal ids.
//
// Long pieces are merged in windows, since merging is quadratic, and a run of one letter, a line of
// dashes or a paragraph of Chinese is a single piece.
//
// Windows overlap, and are glued where both have the same token s at the same place. Let the
// merge of text P·s·Q' end with a token at s, and that of R'·s·R too. Then P·s·R has the tokens
// of P, s and R. Proof: as long as no merge crosses an edge of s, the merges on P·s go in the
// same order as they go for P·s alone, since the order depends on nothing but the ids and
// positions of neighbours; likewise on s·R. The first merge to cross the left edge of s would
// therefore cross it in P·s alone as well. The first merge to cross the right edge would cross it
// in s·R alone. Neither merge exists.

const (
	// windowSize is the number of bytes that are merged at once. It is several times maxToken, so
	// that neighbouring windows nearly always share a token.
	windowSize = 512
	// windowTail is the number of bytes by which neighbouring windows overlap.
	windowTail = 160
	laneBits   = 4
	lane       = 1 << laneBits
)

// window holds the parts of one stretch of a piece while it is merged. Parts
// are named by the offset of their first byte.
type window struct {
	id   []uint32
	key  []uint64 // id of the merge with the next part << 32 | offset, or ^0
	low  []uint64 // the smallest key of each lane of keys
	next []int32
	prev []int32
}

// fixedWindow is the storage of a window of the usual size, kept on the stack.
type fixedWindow struct {
	id         [windowSize]uint32
	key        [windowSize]uint64
	low        [windowSize / lane]uint64
	next, prev [windowSize]int32
}

func (f *fixedWindow) window() window {
	return window{id: f.id[:], key: f.key[:], low: f.low[:], next: f.next[:], prev: f.prev[:]}
}

// makeWindow allocates a window of n bytes, a multiple of windowSize.
func makeWindow(n int) window {
	return window{
		id: make([]uint32, n), key: make([]uint64, n), low: make([]uint64, n/lane),
		next: make([]int32, n), prev: make([]int32, n),
	}
}

// merge merges text, which must fit. After it, the parts are 0, next[0], … up
// to len(text).
func (w *window) merge(v *vocabulary, text string) {
	n := len(text)
	lanes := (n + lane - 1) / lane
	for i := range lanes * lane {
		w.key[i] = ^uint64(0)
	}
	for i, before := 0, -1; i < n; {
		id, size := v.part(text, i)
		w.id[i], w.next[i], w.prev[i] = id, int32(i+size), int32(before)
		if before >= 0 {
			w.key[before] = windowKey(v.pair(w.id[before], id), before)
		}
		before = i
		i += size
	}
	for l := range lanes {
		w.lower(l)
	}
	for {
		best := ^uint64(0)
		for _, k := range w.low[:lanes] {
			best = min(best, k)
		}
		if best == ^uint64(0) {
			return
		}
		w.join(v, int(best&(1<<32-1)), uint32(best>>32), n)
	}
}

// join merges part i with the next one into the token id.
func (w *window) join(v *vocabulary, i int, id uint32, n int) {
	gone := int(w.next[i])
	after := int(w.next[gone])
	w.id[i], w.next[i] = id, int32(after)
	w.key[gone], w.key[i] = ^uint64(0), ^uint64(0)
	if after < n {
		w.prev[after] = int32(i)
		w.key[i] = windowKey(v.pair(id, w.id[after]), i)
	}
	w.lower(i >> laneBits)
	if gone>>laneBits != i>>laneBits {
		w.lower(gone >> laneBits)
	}
	if p := int(w.prev[i]); p >= 0 {
		w.key[p] = windowKey(v.pair(w.id[p], id), p)
		w.lower(p >> laneBits)
	}
}

// lower sets the smallest key of a lane.
func (w *window) lower(l int) {
	best := ^uint64(0)
	for _, k := range w.key[l<<laneBits:][:lane] {
		best = min(best, k)
	}
	w.low[l] = best
}

func windowKey(id uint32, i int) uint64 {
	if id == noID {
		return ^uint64(0)
	}
	return uint64(id)<<32 | uint64(i)
}

// shortPiece is the number of bytes up to which a piece is merged without a window. Most pieces are
// so short.
const shortPiece = 32

// mergeShort counts the tokens of a piece of at most shortPiece bytes.
func (v *vocabulary) mergeShort(piece string) int {
	var id, pair [shortPiece]uint32 // pair is the merge with the next part
	n := 0
	for i := 0; i < len(piece); n++ {
		part, size := v.part(piece, i)
		id[n] = part
		i += size
	}
	for i := range n - 1 {
		pair[i] = v.pair(id[i], id[i+1])
	}
	for {
		best, at := uint32(noID), 0
		for i, p := range pair[:n-1] {
			if p < best {
				best, at = p, i
			}
		}
		if best == noID {
			return n
		}
		n--
		copy(id[at+1:n], id[at+2:])
		copy(pair[at:n-1], pair[at+1:])
		id[at] = best
		if at > 0 {
			pair[at-1] = v.pair(id[at-1], best)
		}
		if at+1 < n {
			pair[at] = v.pair(best, id[at+1])
		}
	}
}

// merge counts the tokens of a piece of valid UTF-8, which is not empty.
func (v *vocabulary) merge(piece string) int {
	if len(piece) <= shortPiece {
		return v.mergeShort(piece)
	}
	if len(piece) <= windowSize {
		var f fixedWindow
		w := f.window()
		w.merge(v, piece)
		return w.count(0, len(piece))
	}
	var fa, fb fixedWindow
	n, ok := v.mergeWindows(piece, fa.window(), fb.window())
	for size := 2 * windowSize; !ok; size *= 2 {
		n, ok = v.mergeWindows(piece, makeWindow(size), makeWindow(size))
	}
	return n
}

// mergeWindows counts piece through windows of a's and b's size. It fails if two neighbouring
// windows share no token. The caller then tries wider windows. A window that holds the whole
// piece can't fail.
func (v *vocabulary) mergeWindows(piece string, a, b window) (count int, ok bool) {
	size := len(a.id)
	tail := size * windowTail / windowSize
	// a is the window [at, at+n) of piece. Its tokens before offset from are counted.
	at, n, from := 0, min(len(piece), size), 0
	a.merge(v, piece[:n])
	for at+n < len(piece) {
		start := from
		for int(a.next[start]) <= n-tail {
			start = int(a.next[start])
			count++
		}
		at += start
		m := min(len(piece)-at, size)
		b.merge(v, piece[at:at+m])
		passed, shared, ok := glue(a, b, start, n, m)
		if !ok || start == 0 {
			return 0, false
		}
		count += passed
		a, b, n, from = b, a, m, shared
	}
	return count + a.count(from, n), true
}

// glue finds the first token that a and b have at the same place. a has n bytes. b has m bytes
// and begins at offset start of a. glue returns the number of a's tokens from start to the shared
// token, and the shared token's offset in b.
func glue(a, b window, start, n, m int) (passed, shared int, ok bool) {
	i, j := start, 0
	for i < n && j < m {
		if i-start == j && int(a.next[i])-start == int(b.next[j]) {
			return passed, j, true
		}
		if i-start <= j {
			i = int(a.next[i])
			passed++
		} else {
			j = int(b.next[j])
		}
	}
	return 0, 0, false
}

// count returns the number of parts from offset i to n.
func (w *window) count(i, n int) int {
	parts := 0
	for ; i < n; i = int(w.next[i]) {
		parts++
	}
	return parts
}
