package retrieval

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
)

// leastChunks is the least number of chunks that are fetched. In a small workspace all of them
// are divided into passages, so that the answers don't depend on the borders of chunks. In a
// larger workspace mostChunks chunks are divided, or the number that Pool sets.
const (
	leastChunks = 64
	mostChunks  = 20
)

// place is a passage in its file.
type place struct {
	*passage
	chunk *candidate
	// from and to are the passage's first and last line in the file.
	from, to int
	session  *session
	// tf holds how often each term occurs in the passage. Words of headings count with a weight.
	// part holds the score of each term.
	tf, part []float64
	// own is the score of the passage's own words. score also includes the passage's
	// surroundings.
	own, score float64
	// by names the passage that supersedes this passage, or is "".
	by string
	// held are the terms that the passage's own lines hold. words is the number of the question's
	// words among them. exact is how much of the question they contain verbatim.
	held         uint64
	words, exact int
	// called is the name of the file with the most words of the question, for the head of the file.
	called string
	// complete reports whether the passage alone holds every word of the question that any passage
	// holds. There must be several such words, and at least half of the question's. It is false for
	// turns of conversations, because a turn with all words mostly asks the question.
	complete bool
	// every reports whether the passage alone holds every word of the question, even if there is
	// only one.
	every bool
	// named reports whether the question names the speaker. dated reports whether the passage
	// mentions the time that the question names.
	named, dated bool
	// repeats reports whether the passage asks the question in the same words.
	repeats bool
}

// session is the text under the first two headings of a file. It includes only chunks that are
// candidates.
type session struct {
	places []*place
	tf     []float64
	size   float64
	score  float64
	// taken counts the session's places that were chosen.
	taken int
	// talk reports whether the session's passages are turns of a conversation.
	talk bool
	// lends is the factor for the shares that the session's passages get from their surroundings.
	lends float64
}

// refiner finds the passages of candidate chunks and scores them.
type refiner struct {
	*question
	*gathered
	sig Signals
	// exact holds the verbatim parts of the question without marks that are usual words here.
	exact    asTyped
	places   []*place
	sessions []*session
	// asked is the number of words of the question. groups is the number of these words that at
	// least one passage holds.
	asked, groups int
	// items reports whether the passages are short on average.
	items bool
	// idf is each term's inverse document frequency.
	idf []float64
	// names marks the terms that occur in labels.
	names []bool
	// day is the weight of a mention of the time that the question names.
	day float64
	// numbers is the memory for the slices of the places.
	numbers []float64
}

// refine returns the passages of all chunks that hold any of the words, as candidates. A chunk that
// was found only by its vector remains whole. exact has the verbatim parts of the question that
// count.
func (q *question) refine(g *gathered) (cs []*candidate, exact asTyped) {
	if len(g.terms) == 0 || len(g.hits.Keyword) == 0 {
		return g.chunks, q.exact
	}
	r := &refiner{question: q, gathered: g, sig: q.opts.Signals, exact: q.exact}
	r.layOut()
	r.weigh()
	r.rateOwn()
	r.rateSessions()
	r.date()
	r.combine()
	r.holders()
	r.bury()
	r.order()
	return r.candidates(), r.exact
}

// layOut sets the passages of all chunks, each once, in the order of their files.
func (r *refiner) layOut() {
	r.names = make([]bool, len(r.terms))
	fileOf := map[string]int{}
	var files [][]*place
	var there []int
	outlines := r.outlines.of(r.a, r.chunks)
	for i, c := range r.chunks {
		o := outlines[i]
		f, ok := fileOf[c.hit.Path]
		if !ok {
			f = len(files)
			fileOf[c.hit.Path], files = f, append(files, nil)
		}
		there = there[:0]
		for j, t := range r.terms {
			if o.mask.has(t) {
				there = append(there, j)
			}
		}
		c.hit.piece, c.outline = &o.read, o
		found := make([]place, len(o.passages))
		about := headings{over: o.over}
		for i := range o.passages {
			p := &found[i]
			p.passage, p.chunk = o.passages[i], c
			p.from, p.to = c.hit.StartLine+p.passage.from, c.hit.StartLine+p.passage.to-1
			r.count(p, there, about.of(p.about, r.terms))
			files[f] = append(files[f], p)
		}
	}
	for _, ps := range files {
		first := len(r.places)
		r.file(ps)
		if first < len(r.places) {
			r.call(r.places[first:])
		}
	}
	for _, s := range r.sessions {
		s.talk = s.talks()
	}
}

// talkShare is the share of passages with a speaker from which on a session counts as a
// conversation.
const talkShare = .8

// talks reports whether a session is a conversation.
func (s *session) talks() bool {
	n := 0
	for _, p := range s.places {
		if p.label != nil && !p.task {
			n++
		}
	}
	return float64(n) >= talkShare*float64(len(s.places))
}

// headings finds the terms in the headings above passages. It keeps the result, because many
// passages have the same headings.
type headings struct {
	over, last *digest
	held       uint64
}

func (h *headings) of(about *digest, terms []uint32) uint64 {
	if about != h.last || h.last == nil {
		h.last, h.held = about, about.mark(terms)|h.over.mark(terms)
	}
	return h.held
}

// count counts the terms in a passage. there are the terms in the passage's chunk. about marks the
// terms in the headings above the passage.
func (r *refiner) count(p *place, there []int, about uint64) {
	n := len(r.terms)
	if len(r.numbers) < 2*n {
		r.numbers = make([]float64, 512*n)
	}
	p.tf, p.part, r.numbers = r.numbers[:n:n], r.numbers[n:2*n:2*n], r.numbers[2*n:]
	for _, j := range there {
		t := r.terms[j]
		own := p.body.count(t)
		p.tf[j] = float64(own)
		if p.label != nil && p.label.count(t) > 0 {
			p.named, r.names[j] = true, true
			p.held |= 1 << j
		}
		if own > 0 || p.title != nil && p.title.count(t) > 0 {
			p.held |= 1 << j
		}
	}
	for ; about != 0; about &= about - 1 {
		p.tf[bits.TrailingZeros64(about)] += r.sig.Heading
	}
}

// file adds the passages of one file. Chunks overlap, so some passages are in two chunks.
func (r *refiner) file(ps []*place) {
	slices.SortStableFunc(ps, func(a, b *place) int {
		if a.from != b.from {
			return cmp.Compare(a.from, b.from)
		}
		return cmp.Compare(b.to, a.to)
	})
	var s *session
	end := 0
	for _, p := range ps {
		if s != nil && p.to <= end {
			continue
		}
		end = p.to
		if s == nil || !slices.Equal(head(s.places[0].trail), head(p.trail)) {
			s = &session{tf: make([]float64, len(r.terms))}
			r.sessions = append(r.sessions, s)
		}
		p.session = s
		s.places = append(s.places, p)
		s.size += float64(p.body.size)
		for j, n := range p.tf {
			s.tf[j] += n
		}
		r.places = append(r.places, p)
	}
}

// head returns the two outermost headings, which identify a session.
func head(trail []string) []string { return trail[:min(2, len(trail))] }

// candidates returns the best passages.
func (r *refiner) candidates() []*candidate {
	most := 4 * r.pool()
	if !r.Lines {
		most = max(most, placeDepth*r.Limit)
	}
	top := r.best(most)
	if r.overrule(top[:min(len(top), claimsAmong)]) {
		top = r.best(most)
	}
	if !r.past() && r.newestWord(top[:min(len(top), claimsAmong)]) {
		top = r.best(most)
	}
	if r.intent.several && r.sig.Spread > 0 {
		r.spread(top)
	}
	held := map[*candidate]bool{}
	out := make([]*candidate, 0, len(top))
	made := make([]candidate, len(top))
	for i, p := range top {
		held[p.chunk] = true
		if p.by == "" && OutOfDate(p.text(), r.Now) != "" {
			p.by = cite(p.chunk.hit.Path, p.from, p.to)
		}
		c := &made[i]
		p.candidate(c, r.weights)
		switch {
		case p.words == r.groups:
			c.holds = all
		case p.words == 0 && !p.dated:
			c.holds = none
		}
		out = append(out, c)
	}
	for _, c := range r.chunks {
		if c.hit.Parts.VectorRank > 0 && !held[c] {
			out = append(out, c)
		}
	}
	return out
}

// halfPassage is the score of a passage that is scaled to .5.
const halfPassage = 60

// candidate fills in c with the passage.
func (p *place) candidate(c *candidate, w weights) {
	c.hit, c.from, c.found, c.digest = p.chunk.hit, p.chunk.from, p.chunk.found, &p.body
	h := &c.hit
	h.place, h.piece = p, &p.passage.read
	h.StartLine, h.EndLine, h.Trail = p.from, p.to, p.trail
	h.ID += ":" + strconv.Itoa(1+p.passage.from)
	h.Text = p.text()
	h.Citation, h.SupersededBy = cite(h.Path, h.StartLine, h.EndLine), p.by
	c.exact, c.held = p.exact, p.held
	for j, n := range p.tf {
		if n > 0 {
			c.held |= 1 << j
		}
	}
	h.Parts.Keyword = p.score / (p.score + halfPassage)
	h.Parts.Merged = w.of(&h.Parts)
}
