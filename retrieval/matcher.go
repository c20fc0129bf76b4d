package retrieval

import (
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/index/analysis"
)

// matcher finds the terms of a question that a word has, by the key of the word. Most keys are
// too unlike any term and are skipped. Any other key is turned into its word again, and the word
// is analysed once.
type matcher struct {
	a     *analysis.Analyzer
	lang  string
	terms []string
	// bit holds the bit of each term, by hash. known holds the terms of the words that were
	// analysed, as bits.
	bit   map[uint32]uint64
	known known
	// slots marks the combinations of the first three symbols with which a matching word may
	// begin.
	slots [keySlots / 64]uint64
	buf   []byte
	hash  []uint32
}

const (
	slotShift = (keySymbols - 3) * symbolBits
	keySlots  = 1 << (3 * symbolBits)
	fullKey   = key(symbolMask) // of the last symbol
	// leastStem is the least length of a stem that counts as the stem of every long word that
	// begins with it.
	leastStem = 6
)

// newMatcher makes the matcher of the first maxTerms terms for texts in a
// language.
func newMatcher(a *analysis.Analyzer, terms []string, lang string) *matcher {
	m := &matcher{a: a, lang: lang, terms: terms[:min(len(terms), maxTerms)], bit: map[uint32]uint64{}, known: newKnown()}
	for i, h := range hashTerms(terms) {
		m.bit[h] |= 1 << i
		m.add(m.terms[i], 1<<i)
	}
	return m
}

// add adds a term. The words of the term begin with it, except for its last letter, which
// stemming may have changed. The key alone tells whether a word holds digits or is an emoji.
func (m *matcher) add(term string, bit uint64) {
	k, letters := keyOf(term)
	if k == 0 {
		return
	}
	if !letters {
		m.known.put(k, m.known.slot(k).held|bit)
	}
	slot := k >> slotShift % keySlots
	m.slots[slot/64] |= 1 << (slot % 64)
	if len(term) == 2 || len(term) == 3 {
		for slot &^= symbolMask; ; slot++ {
			m.slots[slot/64] |= 1 << (slot % 64)
			if slot&symbolMask == symbolMask {
				break
			}
		}
	}
}

// keyOf returns the key of a term, or 0 if the term has no key. letters reports whether the term
// has only letters.
func keyOf(term string) (k key, letters bool) {
	if r, n := utf8.DecodeRuneInString(term); n == len(term) && emoji(r) {
		return emojiKey(r), false
	}
	var b beginning
	letters = true
	for i := range len(term) {
		kind := kinds[term[i]]
		if kind&alnum == 0 {
			return 0, false
		}
		letters = letters && kind&number == 0
		b.add(term[i])
	}
	return b.key(), letters
}

// count adds to counts the number of occurrences of each term in keys, times weight. A count
// never exceeds 255, where more occurrences no longer change BM25.
func (m *matcher) count(keys []key, counts []uint8, weight uint8) {
	for _, k := range keys {
		if slot := k >> slotShift % keySlots; m.slots[slot/64]&(1<<(slot%64)) == 0 {
			continue
		}
		for set := m.held(k); set != 0; set &= set - 1 {
			c := &counts[bits.TrailingZeros64(set)]
			*c = uint8(min(int(*c)+int(weight), 255))
		}
	}
}

// held returns the terms that the word of a key has.
func (m *matcher) held(k key) uint64 {
	s := m.known.slot(k)
	if s.key == 0 {
		m.known.put(k, m.analyse(k))
		s = m.known.slot(k)
	}
	return s.held
}

func (m *matcher) analyse(k key) (set uint64) {
	word, ok := k.word()
	if !ok {
		return 0
	}
	if k&fullKey != 0 { // the word may be longer than its key
		for i, t := range m.terms {
			if len(t) >= leastStem && strings.HasPrefix(word, t[:min(len(t), len(word))]) {
				set |= 1 << i
			}
		}
	}
	m.buf = m.a.AppendIndexAs(m.buf[:0], word, m.lang)
	m.hash = appendHashes(m.hash[:0], m.buf)
	for _, h := range m.hash {
		set |= m.bit[h]
	}
	return set
}

// word spells a key of letters alone.
func (k key) word() (string, bool) {
	if k>>numberShift != 0 {
		return "", false
	}
	var b [keySymbols]byte
	n := 0
	for shift := (keySymbols - 1) * symbolBits; shift >= 0; shift -= symbolBits {
		c := byte(k >> shift & symbolMask)
		if c == 0 {
			break
		}
		b[n] = 'a' + c - 1
		n++
	}
	return string(b[:n]), n > 0
}

// known maps keys to the terms of their words, as bits. It is looked up for most words of an
// archive, so it is not a map, which would be several times slower.
type known struct {
	slots []knownSlot // a power of two of them, at most half of them used
	used  int
}

type knownSlot struct {
	key  key // 0: empty; no word has that key
	held uint64
}

func newKnown() known { return known{slots: make([]knownSlot, 512)} }

// slot returns the slot of a key, or the free slot where the key belongs.
func (t *known) slot(k key) *knownSlot {
	mask := len(t.slots) - 1
	i := int(uint64(k) * 0x9E3779B97F4A7C15 >> (64 - bits.Len(uint(mask))))
	for t.slots[i].key != k && t.slots[i].key != 0 {
		i = (i + 1) & mask
	}
	return &t.slots[i]
}

// put sets the value of a key.
func (t *known) put(k key, held uint64) {
	if 2*t.used >= len(t.slots) {
		old := t.slots
		t.slots = make([]knownSlot, 2*len(old))
		for _, s := range old {
			if s.key != 0 {
				*t.slot(s.key) = s
			}
		}
	}
	s := t.slot(k)
	if s.key == 0 {
		t.used++
	}
	*s = knownSlot{k, held}
}
