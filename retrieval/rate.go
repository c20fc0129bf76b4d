package retrieval

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/ledger"
)

// weigh computes the weight of each term. The number of passages that hold a term is counted
// among the candidates. For all other passages it is estimated from the number of chunks that
// hold the term. The stems of a word in several languages have one weight: a stem that few passages
// hold, because few are in its language, would make a usual word a rare one.
func (r *refiner) weigh() {
	total := r.total()
	r.idf = make([]float64, len(r.terms))
	holders, holdersOf := make([]float64, len(r.terms)), map[int]float64{}
	for j := range r.terms {
		n, in := 0.0, 0
		var last *candidate
		for _, p := range r.places {
			if p.tf[j] == 0 {
				continue
			}
			if n++; p.chunk != last {
				last = p.chunk
				in++
			}
		}
		if n == 0 {
			continue
		}
		if j < len(r.hits.Holders) {
			n *= max(float64(r.hits.Holders[j])/float64(in), 1)
		}
		if holders[j] = n; !r.added(j) {
			holdersOf[r.wordOf[j]] += n
		}
	}
	for j, n := range holders {
		if n > 0 {
			r.idf[j] = idf(total, max(n, holdersOf[r.wordOf[j]]))
		}
	}
	r.lower()
}

// meant is the weight of a word that the user did not type but may have meant by a typed word.
const meant = .6

// lower reduces the weight of words that the user did not type. Each then counts less than any
// typed word for which it was searched.
func (r *refiner) lower() {
	for _, also := range r.hits.Also {
		least := math.Inf(1)
		for _, j := range also.Of {
			if j < len(r.idf) && r.idf[j] > 0 {
				least = min(least, r.idf[j])
			}
		}
		for _, j := range also.Terms {
			if j < len(r.idf) {
				r.idf[j] = meant * min(r.idf[j], least)
			}
		}
	}
}

// total returns the approximate number of passages in the index.
func (r *refiner) total() float64 {
	return float64(len(r.places)) * max(float64(r.hits.Chunks)/float64(len(r.chunks)), 1)
}

// idf returns the weight of a word that n of total passages hold. The weight is never below 0.
func idf(total, n float64) float64 { return math.Log(1 + (max(total-n, 0)+.5)/(n+.5)) }

// rateOwn scores the passages by their own words.
func (r *refiner) rateOwn() {
	sum := 0.0
	for _, p := range r.places {
		sum += float64(p.body.size)
	}
	mean := max(sum/float64(max(len(r.places), 1)), 1)
	r.items = mean < shortPassage
	for _, p := range r.places {
		norm := r.norm(float64(p.body.size)/mean, p.session.talk)
		for j, f := range p.tf {
			if f == 0 {
				continue
			}
			w := r.idf[j]
			if r.names[j] {
				w *= 1 - r.sig.Name
			}
			p.part[j] = w * f * (r.sig.K1 + 1) / (f + norm)
			p.own += p.part[j]
		}
	}
}

// norm returns the term that BM25 adds to a count in the denominator, for a length in mean
// lengths. Length does not count in a conversation and counts little among the items of a list.
// Elsewhere it counts, because a long passage mostly has more subjects than a short passage.
func (r *refiner) norm(length float64, talk bool) float64 {
	switch {
	case talk:
		return r.sig.K1 * (1 - r.sig.B + r.sig.B*length)
	case r.items:
		return k1 * (1 - itemLength + itemLength*length)
	}
	return k1 * (1 - textLength + textLength*length)
}

// textLength is the weight of a passage's length outside of conversations. itemLength is this
// weight if the mean number of words of the candidates is below shortPassage. Such candidates are
// items of lists, which are long or short by chance.
const (
	textLength   = .6
	itemLength   = .4
	shortPassage = 60
)

func (r *refiner) rateSessions() {
	sum := 0.0
	for _, s := range r.sessions {
		sum += s.size
	}
	mean := max(sum/float64(max(len(r.sessions), 1)), 1)
	for _, s := range r.sessions {
		norm := r.norm(s.size/mean, s.talk)
		for j, f := range s.tf {
			if f > 0 {
				s.score += r.idf[j] * f * (r.sig.K1 + 1) / (f + norm)
			}
		}
	}
}

// lent returns the factor for the shares that passages outside of conversations get from their
// surroundings. It falls to [Signals.Apart] as the best passage holds more of the question's words.
// A word counts once, even if it has terms in several languages.
func (r *refiner) lent() float64 {
	words := r.wordOf
	weight := make([]float64, 1+slices.Max(words))
	for j, w := range words {
		weight[w] = max(weight[w], r.idf[j])
	}
	all, most := 0.0, 0.0
	for _, w := range weight {
		all += w
	}
	held := make([]float64, len(weight))
	for _, p := range r.places {
		clear(held)
		n := 0.0
		for j, f := range p.tf {
			if w := words[j]; f > 0 && r.idf[j] > held[w] {
				n += r.idf[j] - held[w]
				held[w] = r.idf[j]
			}
		}
		most = max(most, n)
	}
	if all == 0 {
		return r.sig.Apart
	}
	return max(r.sig.Apart, 1-most/all)
}

// textChunk is the share of a chunk's own score that counts for its passages outside of
// conversations. There a section has one subject, and all its words together find it. Of 215
// questions about seven folders of notes, .1 answers 106 with the first hit, .3 113, .5 116 and .8
// 113. Recall on paragraphs and abstracts stays or rises (`mkbench eval`, 2026-11-30;
// bench/testdata/asked has four of the folders).
const textChunk = .5

// noteChunk replaces textChunk for a note of one chunk. firstChunk replaces it for the first chunk
// of any other file. A short note has one subject, and the words of a question about it are spread
// over its paragraphs. The beginning of a long note says what it is about. Of 250 questions about
// the folders of bench/testdata/asked, 144 have the right file first with .5 for all, 151 with
// noteChunk alone, and 159 with both (`mkbench eval`, 2026-11-30). Cranfield and XQuAD change by at
// most .8 points.
const (
	noteChunk  = .9
	firstChunk = .7
)

// chunkShare returns the share of a chunk's own score that counts for a passage.
func (r *refiner) chunkShare(p *place) float64 {
	if p.session.talk || p.bound || r.sig.Chunk == 0 {
		return r.sig.Chunk
	}
	switch {
	case p.chunk.found.Whole:
		return noteChunk
	case p.chunk.hit.Seq == 0:
		return firstChunk
	}
	return textChunk
}

// combine scores the passages.
func (r *refiner) combine() {
	lent := r.lent()
	for _, s := range r.sessions {
		if s.lends = 1; !s.talk {
			s.lends = lent
		}
		for i := range s.places {
			s.places[i].score = r.scoreOf(s, i, lent)
		}
	}
	if r.sig.Feedback > 0 {
		r.feedback()
	}
	r.superseded()
	if r.intent.when && r.sig.Told != 0 {
		r.raiseTimes()
	}
	r.originals()
}

// scoreOf returns the score of passage i of a session. It begins with the BM25 score of the
// passage's own words. Neighbours, speaker, session, chunk and time raise it; questions and
// repetitions lower it.
func (r *refiner) scoreOf(s *session, i int, lent float64) float64 {
	p, sig, whole := s.places[i], &r.sig, s.lends
	if s.places[0].voice != unsaid { // a session with an agent has one task after the other
		whole = lent
	}
	score := p.own + s.lends*r.around(s.places, i)
	if p.named && sig.Speaker != 0 {
		score *= sig.Speaker
	}
	if p.dated {
		score += r.day
	}
	score += whole*sig.Session*s.score + r.chunkShare(p)*p.chunk.raw()
	if sig.Time != 0 && r.when.named() && r.when.near(s.places[0].chunk.hit.Date) {
		score *= sig.Time
	}
	if p.points {
		score *= pointerLeft
	}
	if p.tagged && sig.Tagged != 0 {
		score *= sig.Tagged
	}
	if score *= 1 - sig.Question*p.asks; p.onlyAsks() {
		score *= onlyQuestion
	}
	if p.repeats = p.asks > 0 && p.body.within(digestOf(r.a, r.Text, p.body.lang)); p.repeats {
		score *= repeatLeft
	}
	return score
}

// onlyQuestion is the factor for a turn between a person and an agent that only asks. Such a turn
// has the words of a similar question but no answer. Our choice.
const onlyQuestion = .1

// pointerLeft is the factor for a line of a list of contents. The note that the line names is the
// better answer, and its title has the same words. Our choice.
const pointerLeft = .5

// repeatLeft is the factor for a passage that repeats the question. Such a passage holds all
// words of the question, but no answer.
const repeatLeft = .2

// raw returns the score by words before it is scaled to 0 to 1.
func (c *candidate) raw() float64 {
	k, half := c.hit.Parts.Keyword, float64(halfScore)
	if c.hit.place != nil {
		half = halfPassage
	}
	return half * k / max(1-k, 1e-9)
}

// around returns what the neighbours of passage i add to its score. For each term, this is the
// largest share of any neighbour, less Signals.Repeat of the passage's own part, and at least 0.
func (r *refiner) around(ps []*place, i int) float64 {
	type neighbour struct {
		*place
		share float64
	}
	var near [4]neighbour
	n := 0
	take := func(at int, share float64) {
		if at >= 0 && at < len(ps) && share > 0 && ps[at].own > 0 {
			near[n] = neighbour{ps[at], share}
			n++
		}
	}
	if i > 0 {
		take(i-1, r.sig.Before*(1+r.sig.Answer*ps[i-1].asks))
	}
	for _, o := range [...]struct {
		at    int
		share float64
	}{{i + 1, r.sig.Behind}, {i - 2, r.sig.Away}, {i + 2, r.sig.Away}} {
		if o.at < 0 || o.at >= len(ps) || !ps[o.at].onlyAsks() {
			take(o.at, o.share)
		}
	}
	sum := 0.0
	for j, own := range ps[i].part {
		best := r.sig.Repeat * own
		floor := best
		for k := range n {
			best = max(best, near[k].share*near[k].part[j])
		}
		sum += best - floor
	}
	return sum
}

// toldAmong is the number of best passages that are searched for words of time.
const toldAmong = 64

// toldInNotes takes the place of Signals.Told for a passage of a note that mentions a time.
// Passages of more than mostTold bytes are not raised. Both values are our choice.
const (
	toldInNotes = 1.25
	mostTold    = 200
)

// raiseTimes raises the scores of the best passages that mention a time. It raises turns of
// conversations, and short notes unless the question is about a past event. Such a question is
// answered by the days of logs, and the time of a log entry is no answer.
func (r *refiner) raiseTimes() {
	words := timeWords()
	notes := !asksDone.MatchString(r.Text)
	for _, p := range r.best(toldAmong) {
		if p.session.talk && slices.ContainsFunc(p.body.set, func(t uint32) bool { return words[t] }) {
			p.score *= r.sig.Told
		} else if notes && !p.session.talk && p.end-p.begin <= mostTold && ledger.SaysTime(p.text()[len(claimLead.FindString(p.text())):]) && p.by == "" && OutOfDate(p.text(), r.Now) == "" {
			p.score *= toldInNotes
		}
	}
}

// ownText returns the passage's lines without headings.
func (p *place) ownText() string { return p.chunk.hit.Text[p.ownBegin:p.end] }

// text returns the passage's lines.
func (p *place) text() string { return p.chunk.hit.Text[p.begin:p.end] }

// best returns the n best passages, the best first.
func (r *refiner) best(n int) []*place {
	top := slices.DeleteFunc(slices.Clone(r.places), func(p *place) bool { return p.score <= 0 })
	byPlace := func(a, b *place) int {
		if c := cmp.Or(cmp.Compare(b.exact, a.exact), compareBool(b.complete, a.complete), cmp.Compare(b.score, a.score)); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(a.chunk.hit.Path, b.chunk.hit.Path), cmp.Compare(a.from, b.from))
	}
	slices.SortFunc(top, byPlace)
	return top[:min(n, len(top))]
}

// spreadAmong is the number of passages that are chosen one by one.
const spreadAmong = 40

// spread reorders the best passages so that passages of different sessions alternate. Each chosen
// passage lowers the scores of its session's other passages a little.
func (r *refiner) spread(top []*place) {
	worth := func(p *place) float64 { return p.score * math.Pow(1-r.sig.Spread, float64(p.session.taken)) }
	for n := range min(spreadAmong, len(top)) {
		best := n
		for i := n + 1; i < len(top); i++ {
			if worth(top[i]) > worth(top[best]) {
				best = i
			}
		}
		p := top[best]
		copy(top[n+1:best+1], top[n:best])
		top[n] = p
		p.score = worth(p)
		p.session.taken++
	}
	for _, p := range top[min(spreadAmong, len(top)):] {
		p.score = min(worth(p), top[spreadAmong-1].score)
	}
}

// lineSpan returns the offsets at which the lines from to to-1 of a text begin and end. Lines are
// counted from 0.
func lineSpan(text string, from, to int) (start, end int) {
	for ; from > 0; from-- {
		start += strings.IndexByte(text[start:], '\n') + 1
		to--
	}
	end = start
	for ; to > 0; to-- {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			return start, len(text)
		}
		end += i + 1
	}
	if end > start {
		end-- // the line feed
	}
	return start, end
}
