package markdownstore

import "strings"

// chunker packs the units of one document into chunks.
//
// A section that is small enough becomes one chunk. A larger section is divided into its subsections,
// and small neighbouring subsections are joined again. A section without subsections is cut between
// units, else between lines, else between sentences. So an edit changes only the chunks of its own
// section, and perhaps of small sections after it under the same parent.
type chunker struct {
	Chunking
	doc   Document
	text  string
	units []Unit
	// sums[i] is the number of tokens of the units before unit i.
	sums  []int
	yield func(chunk) bool
	done  bool

	cur piece // the piece being filled by leaf

	// passed is the first unit whose heading is not yet in open. trail is the last trail. seen counts
	// the chunks with the same id.
	passed int
	open   []Unit // the headings that are in force
	trail  []string
	seen   map[string]int

	// lineNo is the number of the line at offset lineAt.
	lineAt, lineNo int
}

// piece is the text of a future chunk, by offsets. The text between from and own repeats the end of the
// previous chunk. The text between own and to is new.
type piece struct {
	from, own, to int
	tokens        int
	// bare reports whether the piece has only headings so far.
	bare bool
}

func (k *chunker) run() {
	k.sums = make([]int, len(k.units)+1)
	for i, u := range k.units {
		k.sums[i+1] = k.sums[i] + countTokens(k.text[u.Start:u.End])
	}
	k.pack(0, 0, len(k.units))
}

func (k *chunker) size(a, b int) int { return k.sums[b] - k.sums[a] }

// at returns the offset at which unit i begins and the unit before it ends.
func (k *chunker) at(i int) int {
	if i == len(k.units) {
		return k.units[i-1].End // white space may follow
	}
	return k.units[i].Start
}

// line returns the number of the line at an offset. It counts lines from the offset of the last call.
func (k *chunker) line(off int) int {
	if off < k.lineAt {
		k.lineNo -= strings.Count(k.text[off:k.lineAt], "\n")
	} else {
		k.lineNo += strings.Count(k.text[k.lineAt:off], "\n")
	}
	k.lineAt = off
	return k.lineNo
}

// pack makes chunks of the units from a to b. The units from a to lead are too short for a chunk of
// their own.
func (k *chunker) pack(a, lead, b int) {
	if a == b || k.done {
		return
	}
	limit := k.Tokens
	if lead > a {
		limit += k.Tokens / 8 // rather than cut a section for its lead
	}
	if k.size(a, b) <= limit {
		k.emit(piece{from: k.at(a), own: k.at(a), to: k.at(b)})
		return
	}
	body := k.head(lead, b)
	level := k.minLevel(body, b)
	if level == 0 {
		k.leaf(a, body, b)
		return
	}
	k.divide(a, lead, b, body, level)
}

// head returns the index after the headings at i, each of which has a lower rank than the previous one.
func (k *chunker) head(i, b int) int {
	for level := 0; i < b && k.units[i].Kind == UnitHeading && k.units[i].Level > level; i++ {
		level = k.units[i].Level
	}
	return i
}

// minLevel returns the smallest level of the headings among the units, or 0 if there are none.
func (k *chunker) minLevel(a, b int) int {
	level := 0
	for _, u := range k.units[a:b] {
		if u.Kind == UnitHeading && (level == 0 || u.Level < level) {
			level = u.Level
		}
	}
	return level
}

// divide packs the units from a to b section by section. Headings of level begin the sections after
// body. Neighbouring sections that fit into one chunk are packed together.
func (k *chunker) divide(a, lead, b, body, level int) {
	from, glue := a, lead // the group that is open, and its own lead
	x := a                // the beginning of the current section
	for i := body; i <= b; i++ {
		if i < b && (k.units[i].Kind != UnitHeading || k.units[i].Level != level) {
			continue
		}
		if k.size(from, i) > k.Tokens {
			if from < x && k.size(from, x) >= k.Tokens/8 {
				k.pack(from, glue, x)
				from, glue = x, x
			} else {
				glue = max(glue, x)
			}
			if k.size(from, i) > k.Tokens {
				k.pack(from, glue, i)
				from, glue = i, i
			}
		}
		x = i
	}
	k.pack(from, glue, b)
}

// leaf makes chunks of the units from body to b, which have no headings. The units from a to body are
// the headings above them.
func (k *chunker) leaf(a, body, b int) {
	k.cur = piece{from: k.at(a), own: k.at(a), to: k.at(a), bare: true}
	if k.size(a, body) > k.Tokens/2 {
		body = a // headings of that size are text
	}
	if body > a {
		k.add(k.at(body), k.size(a, body))
		k.cur.bare = true
	}
	floor := k.cur.to // overlaps do not reach into the head
	for i := body; i < b; i++ {
		n := k.size(i, i+1)
		code := k.units[i].Kind == UnitCode
		switch {
		case k.cur.tokens+n <= k.Tokens,
			k.cur.bare && code && n <= 2*k.Tokens:
			k.add(k.at(i+1), n)
		case !k.cur.bare && (n <= k.Tokens || code && n <= 2*k.Tokens):
			k.flush(floor, k.Tokens-n)
			k.add(k.at(i+1), n)
		default:
			k.lines(i, floor)
		}
	}
	if k.cur.to > k.cur.own {
		k.emit(k.cur)
	}
}

func (k *chunker) add(to, tokens int) {
	k.cur.to, k.cur.tokens, k.cur.bare = to, k.cur.tokens+tokens, false
}

// flush emits the current piece and begins the next one, which repeats at most room tokens.
func (k *chunker) flush(floor, room int) {
	prev := k.cur
	k.emit(prev)
	from, tokens := prev.to, 0
	if room = min(room, k.Overlap); room > 0 {
		from, tokens = k.overlap(prev, max(floor, prev.from), room)
	}
	k.cur = piece{from: from, own: prev.to, to: prev.to, tokens: tokens}
}

// lines adds a unit that is too large for a chunk line by line. It adds a line that is too large in
// parts.
func (k *chunker) lines(i, floor int) {
	at := k.at(i)
	for line := range strings.Lines(k.text[at:k.at(i+1)]) {
		room := k.Tokens
		if k.cur.bare {
			room -= k.cur.tokens
		}
		if n := countTokens(line); n <= room {
			k.addOrFlush(at+len(line), n, floor)
		} else {
			done := 0
			splitLine(line, max(k.Tokens/4, 1), func(end int) {
				k.addOrFlush(at+end, countTokens(line[done:end]), floor)
				done = end
			})
		}
		at += len(line)
	}
}

func (k *chunker) addOrFlush(to, tokens, floor int) {
	if k.cur.tokens+tokens > k.Tokens && !k.cur.bare && k.cur.to > k.cur.own {
		k.flush(floor, k.Tokens-tokens)
	}
	k.add(to, tokens)
}

// overlap returns the offset at which the next piece begins, and the number of repeated tokens. The
// next piece repeats whole lines of p after floor with at most room tokens. It does not repeat a part
// of a code unit that is whole in p. If the last line was cut and is too long, it repeats the line's
// last words.
func (k *chunker) overlap(p piece, floor, room int) (from, tokens int) {
	from = p.to
	for from > floor {
		prev := floor + strings.LastIndexByte(k.text[floor:from-1], '\n') + 1
		n := countTokens(k.text[prev:from])
		if tokens+n > room {
			if tokens == 0 && k.text[p.to-1] != '\n' {
				return k.tail(prev, p.to, room)
			}
			break
		}
		from, tokens = prev, tokens+n
	}
	if u := k.units[k.unitAt(from)]; u.Kind == UnitCode && from > u.Start && from < u.End && u.End <= p.to {
		return u.End, countTokens(k.text[u.End:p.to])
	}
	return from, tokens
}

// tail returns the offset of the end of a long line with at most room tokens, if possible after a
// space, and its number of tokens.
func (k *chunker) tail(from, to, room int) (at, tokens int) {
	s := k.text[from:to]
	n := max(0, len(s)-4*room)
	for n < len(s) && countTokens(s[n:]) > room {
		n += max(1, (len(s)-n)/8)
	}
	if i := strings.IndexByte(s[n:], ' '); i >= 0 && n+i+1 < len(s) && i < (len(s)-n)/2 {
		n += i + 1
	} else if n < len(s) {
		n = max(0, runeStart(s, n))
	}
	return from + n, countTokens(s[n:])
}
