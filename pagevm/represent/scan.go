package represent

import (
	"cmp"
	"math"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/memkernel/memkernel/pagevm/internal/lex"
)

// A unit is a piece of a text that is kept or left out whole: a line, or a part of
// a line that is too long to be kept whole.
type unit struct {
	start, end int   // bytes, without the line break
	tok        int32 // index in scan.toks of the first token; the last one is before the next unit's tok
	line       int32 // number of the unit's line, from 1
	// base is the unit's worth for its place and shape, without the worth of its tokens.
	base float32
	// err marks a unit that speaks of an error or warning.
	err bool
}

// scan holds the units of a text and the tokens in them. Each distinct token has a number. A token
// is worth more the likelier a later turn is to name it. This depends on its class, such as path,
// identifier, number or hash.
type scan struct {
	text string
	kind kind
	// numbered: the lines carry the numbers of a file read.
	numbered bool
	edge     int  // bytes at either end of a huge text that are kept whole
	breaks   bool // the text has breaks between parts, which stay
	units    []unit
	toks     []int32
	known    []token          // by token number
	numbers  map[uint64]int32 // token numbers by hash
	lines    int              // lines seen that are not blank
	line     int32            // number of the current line
	gapped   bool             // the line before was blank
	topic    bool             // the line before was a heading
	fence    fence            // of the current block of code
	errs     int              // units that speak of errors
	paths    int              // distinct paths
	shapes   map[uint64]int   // units met by reward, by templateHash
	picked   picker
}

// scans are used scans, whose memory later scans reuse.
var scans = sync.Pool{New: func() any { return &scan{numbers: map[uint64]int32{}, shapes: map[uint64]int{}} }}

// newScan returns a scan without units.
func newScan(text string) *scan {
	s := scans.Get().(*scan)
	s.text = text
	return s
}

// free gives the memory of s to later scans. Afterwards callers may use only texts that they took
// from s. free keeps no large map, since clearing one takes as long as filling it.
func (s *scan) free() {
	if len(s.known) > largeScan {
		return
	}
	clear(s.numbers)
	clear(s.shapes)
	*s = scan{units: s.units[:0], toks: s.toks[:0], known: s.known[:0], numbers: s.numbers, shapes: s.shapes, picked: s.picked}
	scans.Put(s)
}

// token is a distinct token, which first occurs at text[a:b]. Offsets beyond 2 GiB are stored as 2
// GiB.
type token struct {
	hash  uint64
	a, b  int32
	worth float32
}

const (
	maxUnit    = 480     // bytes of a line that is kept whole
	wholeScan  = 2 << 20 // bytes up to which every line becomes a unit
	edgeScan   = 1 << 19 // bytes at either end that do so in a longer text
	maxErrUnit = 20000   // units after which no error line between the ends is kept
	largeScan  = 1 << 13 // tokens above which the memory of a scan is not reused
	logTail    = 5       // last lines of a log that are favoured
)

// The worth of a token by class. Only the proportions matter. They were chosen so that a line
// with two new identifiers is worth more than a line of prose of equal length.
const (
	worthPath   = 4
	worthFile   = 3
	worthIdent  = 3
	worthHex    = 1.5
	worthNumber = 2.5
	worthWord   = 0.25
)

// scanText splits text, of a kind, into units and numbers their tokens.
func scanText(text string, k kind, numbered bool) *scan {
	return scanEdges(text, k, numbered, edgeScan)
}

// scanEdges is scanText for a huge text. Within edge bytes of either end every line becomes a
// unit.
func scanEdges(text string, k kind, numbered bool, edge int) *scan {
	s := newScan(text)
	s.kind, s.numbered, s.edge = k, numbered, edge
	pos := 0
	for line := range strings.SplitSeq(text, "\n") {
		s.line++
		s.addLine(pos, pos+len(line))
		pos += len(line) + 1
	}
	s.reward()
	return s
}

// addLine turns the line text[a:b] into units. In the middle of a huge text it keeps only units
// that name errors.
func (s *scan) addLine(a, b int) {
	line := s.text[a:b]
	if blank(line) {
		s.gapped = true
		return
	}
	s.lines++
	base := s.lineWorth(line)
	s.gapped = false
	whole, least, most := s.kind.unitSizes()
	if b-a <= whole {
		s.unit(a, b, base)
		return
	}
	for a < b {
		cut := splitPoint(s.text, a, b, least, most)
		s.unit(a, cut, base)
		base = 0
		a = cut
	}
}

func (s *scan) unit(a, b int, base float32) {
	if blank(s.text[a:b]) {
		return
	}
	u := unit{start: a, end: b, tok: int32(len(s.toks)), base: base, line: s.line}
	said := a
	if s.numbered {
		said = b - len(lex.Unnumbered(s.text[a:b]))
	}
	strong, weak := s.tokens(said, b)
	if s.kind == kindMarkdown {
		strong, weak = false, false
	}
	u.err = strong
	if strong || weak {
		u.base += s.kind.errorWorth(strong)
	}
	inside := len(s.text) > wholeScan && a > s.edge && b < len(s.text)-s.edge
	if inside && (!strong || len(s.units) > maxErrUnit) {
		s.toks = s.toks[:u.tok]
		return
	}
	if strong {
		s.errs++
	}
	s.units = append(s.units, u)
}

// unitSizes returns how many bytes of a line are kept whole, and the bounds of the parts of a
// longer line. They are smaller for JSON, of which a single line may be a whole document.
func (k kind) unitSizes() (whole, least, most int) {
	if k == kindJSON {
		return 160, 40, 160
	}
	return maxUnit, 220, 380
}

// splitPoint finds the place to part a long line: after an escaped line break, a comma, a brace
// or a space, else anywhere between two runes.
func splitPoint(t string, a, b, least, most int) int {
	if b-a <= most {
		return b
	}
	space, comma := 0, 0
	for i := a + most - 1; i >= a+least; i-- {
		switch t[i] {
		case 'n':
			if t[i-1] == '\\' {
				return i + 1
			}
		case ',', '}', ']', ';', '>':
			comma = max(comma, i+1)
		case ' ', '\t':
			space = max(space, i+1)
		}
	}
	best := cmp.Or(comma, space, a+most)
	for !utf8.RuneStart(t[best]) {
		best--
	}
	return best
}

// tokens numbers the tokens of text[a:b] and reports whether it speaks of an
// error: strongly ("error", "FAIL", "TypeError") or weakly ("denied").
func (s *scan) tokens(a, b int) (strong, weak bool) {
	const prime = 1099511628211
	t := s.text
	for i := a; i < b; {
		if byteClass[t[i]]&(cWord|cJoin) == 0 {
			i++
			continue
		}
		// One run of words and joiners: a path, a file name, or plain words.
		run, slash, dot, chars := i, false, 0, uint8(0)
		runHash := uint64(14695981039346656037)
		for i < b {
			c := byteClass[t[i]]
			if c&cJoin != 0 {
				slash = slash || t[i] == '/'
				if t[i] == '.' {
					dot = i
				}
				runHash = (runHash ^ uint64(t[i])) * prime
				i++
				continue
			}
			if c&cWord == 0 {
				break
			}
			word, h := i, uint64(14695981039346656037)
			// seen has the classes of any byte of the word, and every those that all bytes have.
			// hump is not 0 if a capital followed a small letter.
			seen, every, hump, prev := uint8(0), uint8(0xff), uint8(0), uint8(0)
			for i < b {
				c := byteClass[t[i]]
				if c&cWord == 0 {
					break
				}
				seen |= c
				every &= c
				hump |= prev >> 1 & c
				prev = c & cLower
				h = (h ^ uint64(t[i])) * prime
				i++
			}
			runHash = (runHash ^ h) * prime
			chars |= seen
			w := t[word:i]
			if worth := wordWorth(w, seen, hump&cUpper != 0, every&cHex != 0); worth > 0 {
				s.token(h, worth, word, i)
			}
			if !strong && len(w) >= 4 {
				st, wk := errorWord(w)
				strong, weak = strong || st, weak || wk
			}
		}
		switch {
		case slash && i-run >= 5:
			if n := len(s.known); s.token(runHash, worthPath, run, i) == n {
				s.paths++
			}
		case dot > run && isExt(t[dot+1:i]):
			s.token(runHash, worthFile, run, i)
		case dot > run && chars == cWord|cDigit|cHex && i-run >= 3:
			s.token(runHash, worthNumber, run, i) // a decimal or a version
		}
	}
	return strong, weak
}

// isExt reports whether s can be a file's extension.
func isExt(s string) bool {
	if len(s) == 0 || len(s) > 8 || byteClass[s[0]]&(cUpper|cLower) == 0 {
		return false
	}
	for i := range len(s) {
		if byteClass[s[i]]&(cUpper|cLower|cDigit) == 0 {
			return false
		}
	}
	return true
}

func wordWorth(w string, seen uint8, hump, allHex bool) float32 {
	n := len(w)
	switch {
	case seen&cHigh != 0:
		return min(2, 0.08*float32(n))
	case n < 3:
		return 0
	case seen&(cUpper|cLower) == 0:
		return worthNumber
	case allHex && seen&cDigit != 0 && n >= 7 && n <= 64:
		return worthHex
	case n < 4:
		return 0
	case byteClass[w[0]]&cDigit != 0:
		return worthWord
	case n >= 5 && (hump || seen&cDigit != 0 || strings.IndexByte(w[1:n-1], '_') >= 0):
		return worthIdent
	}
	return worthWord
}

// token adds the token text[a:b], whose hash is h, to the current unit. It returns the number of
// the token. Two tokens that collide in 64 bits count as one.
func (s *scan) token(h uint64, worth float32, a, b int) int {
	n, ok := s.numbers[h]
	if !ok {
		n = int32(len(s.known))
		s.numbers[h] = n
		s.known = append(s.known, token{h, int32(min(a, math.MaxInt32)), int32(min(b, math.MaxInt32)), worth})
	}
	s.toks = append(s.toks, n)
	return int(n)
}

// reward raises the worth of the first and the last unit. It divides the base of a unit by one plus
// the number of earlier units that differ from it in digits and spaces only, since an excerpt needs
// one or two of a thousand equal warnings.
func (s *scan) reward() {
	n := len(s.units)
	if n == 0 {
		return
	}
	for i := range s.units {
		u := &s.units[i]
		if u.base == 0 || s.kind == kindMarkdown {
			continue
		}
		h := templateHash(s.text[u.start:u.end])
		if k := s.shapes[h]; k > 0 {
			u.base /= float32(k + 1)
		}
		s.shapes[h]++
	}
	s.units[0].base += worthEdge
	s.units[n-1].base += worthEdge
	if s.kind != kindLog && s.kind != kindTest {
		return
	}
	for i := 2; i <= logTail && i < n; i++ { // how a run came out is at its end
		s.units[n-i].base += worthEdge / float32(i)
	}
}

// templateHash hashes a line without its digits and spaces.
func templateHash(line string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(line) {
		if c := line[i]; c > ' ' && byteClass[c]&cDigit == 0 {
			h = (h ^ uint64(c)) * 1099511628211
		}
	}
	return h
}

func blank(s string) bool {
	for i := range len(s) {
		if s[i] > ' ' {
			return false
		}
	}
	return true
}

// errorWord reports whether a word names an error, as a strong or a weak sign.
func errorWord(w string) (strong, weak bool) {
	for _, e := range errorWords[w[0]&31] {
		if len(e.word) == len(w) && strings.EqualFold(e.word, w) {
			return e.strong, !e.strong
		}
	}
	return len(w) > 5 && strings.HasSuffix(w, "Error") || len(w) > 9 && strings.HasSuffix(w, "Exception"), false
}

type errWord struct {
	word   string
	strong bool
}

// errorWords is indexed by the low five bits of the first letter.
var errorWords = func() (t [32][]errWord) {
	add := func(strong bool, words string) {
		for _, w := range strings.Fields(words) {
			t[w[0]&31] = append(t[w[0]&31], errWord{w, strong})
		}
	}
	add(true, "error errors fatal fail failed fails failure failures failing panic panicked exception exceptions traceback warn warning warnings critical")
	add(false, "cannot denied undefined unexpected refused invalid killed abort aborted conflict conflicts unresolved missing assert assertion rejected violation timeout unable unknown mismatch")
	return t
}()
