package predict

import (
	"strconv"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/transcript"
)

// run predicts every call of a session. A session without billed calls gives an
// empty report.
func run(segments []segment, opt *options) *report {
	p := predictor{}
	if opt != nil {
		p.opt = *opt
	}
	if p.opt.Book == nil {
		p.opt.Book = cachelayout.DefaultBook()
	}
	p.report = &report{Calls: []call{}, NotCompared: map[string]int{}, FixedTokens: p.opt.Fixed}
	p.first(segments)
	for i := range segments {
		p.segment(&segments[i], i > 0)
	}
	p.report.Summary = summarize(p.report.Calls)
	return p.report
}

// predictor walks through a session.
type predictor struct {
	opt    options
	report *report
	ttl    time.Duration

	model  budget.Model
	id     string             // of the model that is counted for
	counts map[uint64]measure // by content
	fit    fit
	habits habits
	ledger cachelayout.Ledger

	n          int // calls so far
	unanchored bool
	last       lastCall
}

// lastCall is the previous call, in whatever segment it was.
type lastCall struct {
	start, end          time.Time
	predicted, recorded int // the whole prompts; recorded 0 if not billed
	uncached            int
}

// first sets the lifetime that the recorded writes name, or the model's own lifetime.
func (p *predictor) first(segments []segment) {
	var w5, w1 int
	var model cachelayout.Model
	for i := range segments {
		s := &segments[i]
		for _, c := range s.Calls {
			m := &s.Messages[c.Index]
			if u := m.Usage; u != nil {
				w5, w1 = w5+u.CacheWrite5mTokens, w1+u.CacheWrite1hTokens
			}
			if model.ID == "" {
				model = p.priced(m.Model, c.Start)
			}
		}
	}
	p.ttl, p.report.TTLFrom = recordedTTL(model, w5, w1), ttlRecorded
	if p.ttl == 0 {
		p.ttl, p.report.TTLFrom = model.TTL(0), ttlBook
	}
	p.report.TTLSeconds = int(p.ttl / time.Second)
	p.unanchored = p.opt.Fixed <= 0
}

// recordedTTL returns the lifetime that a host requests, judged by the cache writes in its
// transcript, 0 if it wrote nothing.
func recordedTTL(m cachelayout.Model, write5m, write1h int) time.Duration {
	switch {
	case write5m <= 0 && write1h <= 0:
		return 0
	case write1h > write5m && len(m.TTLs) > 1:
		return m.TTLs[1]
	}
	return m.TTL(0)
}

// priced returns how a model caches, by the book or by its family.
func (p *predictor) priced(id string, at time.Time) cachelayout.Model {
	if m, ok := p.opt.Book.Lookup(id, at); ok {
		return m
	}
	return cachelayout.Assume(id)
}

// segment predicts the calls of one stretch.
func (p *predictor) segment(s *segment, compacted bool) {
	st := stretch{messages: s.Messages}
	for n, c := range s.Calls {
		answer := &s.Messages[c.Index]
		model := p.priced(answer.Model, c.Start)
		p.use(model)
		st.keeps = p.model.KeepsThinking()
		for len(st.sizes) < c.Index {
			st.take(p.measure(&s.Messages[len(st.sizes)]))
		}
		p.call(&st, c, model, answer, compacted && n == 0)
	}
}

// use sets the counter of a model, unless it is set already.
func (p *predictor) use(m cachelayout.Model) {
	if p.counts != nil && p.id == m.ID {
		return
	}
	p.id, p.counts = m.ID, map[uint64]measure{}
	var err error
	if p.model, err = budget.NewModel(m.Tokenizer, m.ID, nil); err != nil {
		p.model, _ = budget.NewModel("", m.ID, nil)
	}
	if p.opt.Counter != nil {
		p.model.Counter = p.opt.Counter
	}
}

// measure returns the size of a message. It counts equal messages only once.
func (p *predictor) measure(m *memkernel.Message) sized {
	hash := contentHash(m)
	size, ok := p.counts[hash]
	if !ok {
		size = measureOf(&p.model, m)
		p.counts[hash] = size
	}
	out := sized{measure: size, hash: strconv.FormatUint(hash, 36)}
	if !p.opt.Plain {
		out.output = recordedOutput(m, size.tokens)
	}
	return out
}

// call predicts one call, compares the prediction with the bill and learns from the bill.
func (p *predictor) call(st *stretch, c transcript.Call, model cachelayout.Model, answer *memkernel.Message, compacted bool) {
	billed := answer.Usage
	if billed != nil && billed.InputTotal() == 0 {
		billed = nil
	}
	judged := p.n > 0
	if p.unanchored && billed != nil {
		p.report.FixedTokens = max(0, billed.InputTotal()-int(st.prompt(line{ratio: 1}, st.now())))
		p.unanchored, judged = false, false
	}
	switch {
	case billed == nil:
		p.report.NotCompared[notBilled]++
	case !judged:
		p.report.NotCompared[givesFixed]++
	}
	o := outcome{model: model, start: c.Start, compacted: compacted, judged: judged}
	p.predict(st, &o)
	if billed != nil {
		o.recorded = tokens{Read: billed.CacheReadTokens, Write: billed.CacheWrite5mTokens + billed.CacheWrite1hTokens,
			Uncached: billed.InputTokens, Total: billed.InputTotal()}
		p.compare(st, &o)
		p.learn(st, &o)
		st.anchor = anchor{at: st.now(), recorded: o.recorded.Total}
	}
	p.last = lastCall{start: c.Start, end: c.End, predicted: o.got.Total, recorded: o.recorded.Total, uncached: o.recorded.Uncached}
	p.n++
}

// outcome is one call on its way through prediction and comparison.
type outcome struct {
	model             cachelayout.Model
	start             time.Time
	compacted, judged bool
	line              line
	got, recorded     tokens
	// expired: the prediction found the cache cold.
	expired, cold bool
}

// predict computes the call's bill from the ledger, with the sizes that are
// known by now.
func (p *predictor) predict(st *stretch, o *outcome) {
	o.line = line{ratio: 1}
	if !p.opt.Plain {
		o.line = p.fit.line()
	}
	fixed := p.report.FixedTokens
	if o.compacted && !p.opt.Plain {
		fixed += p.habits.attached
	}
	blocks := st.blocks(fixed, o.line, !p.opt.Plain)
	// Images are left out of the identity. The provider documents that the first image breaks the
	// messages' cache, but it did not in both recorded sessions with an image.
	id := cachelayout.Identity{Model: o.model.ID}
	if n := st.answered(); n > 0 && !p.opt.Plain && p.habits.follows() {
		p.ledger = p.ledger.Advance(id, blocks[:n+1], p.markers(blocks[:n+1], o.model), p.last.end)
	}
	bps := p.markers(blocks, o.model)
	bill := p.ledger.Bill(o.model, id, blocks, bps, o.start)
	p.ledger = p.ledger.Advance(id, blocks, bps, o.start)
	o.got = tokens{Read: bill.ReadTokens, Write: bill.Write5mTokens + bill.Write1hTokens, Uncached: bill.UncachedTokens, Total: bill.Total()}
	o.expired = p.cold(o.got.Read, p.last.predicted)
	if !p.opt.Plain {
		p.adjust(o)
	}
}

func (p *predictor) markers(blocks []cachelayout.Block, m cachelayout.Model) []cachelayout.Breakpoint {
	bps, _ := cachelayout.Layout(blocks, m, p.ledger.Tail(blocks), cachelayout.LayoutOptions{Fixed: p.ttl, Messages: p.ttl})
	return bps
}

// adjust applies the habits: the tokens that are read although the cache is cold, and the tokens
// after the last marker.
func (p *predictor) adjust(o *outcome) {
	h := &p.habits
	switch {
	case !h.known:
	case o.compacted && o.start.Sub(p.last.start) < p.ttl:
		if h.front > 0 { // else the whole fixed part is taken to be read
			o.got.Read = min(h.front, o.got.Total)
		}
	case o.compacted, o.expired:
		o.got.Read = min(h.shared, o.got.Total)
	}
	if o.got.Write == 0 { // an automatic cache, or a prompt that is too small
		o.got.Uncached = o.got.Total - o.got.Read
		return
	}
	if !o.compacted && !o.expired {
		o.got.Read = max(0, o.got.Read-p.last.uncached)
	}
	o.got.Uncached = min(h.tail(), o.got.Total-o.got.Read)
	o.got.Write = o.got.Total - o.got.Read - o.got.Uncached
}

// cold reports whether too little of the previous context was read.
func (p *predictor) cold(read, before int) bool {
	return before > 0 && float64(read) < coldShare*float64(before)
}

// compare compares the prediction with the bill.
func (p *predictor) compare(st *stretch, o *outcome) {
	o.cold = p.cold(o.recorded.Read, p.last.recorded)
	call := call{
		Index: p.n, Start: o.start,
		Predicted: o.got, Recorded: o.recorded, PredictedCold: o.expired,
		Compacted: o.compacted, Judged: o.judged,
		ReadError: relative(o.got.Read, o.recorded.Read), WriteError: relative(o.got.Write, o.recorded.Write),
		Growth: p.growth(st, o),
	}
	if !p.last.start.IsZero() {
		call.GapSeconds = o.start.Sub(p.last.start).Seconds()
	}
	call.PastTTL = call.GapSeconds >= p.ttl.Seconds()
	call.Verdict = p.verdict(o, call.PastTTL)
	p.report.Calls = append(p.report.Calls, call)
}

func (p *predictor) verdict(o *outcome, past bool) verdict {
	switch {
	case !o.judged:
		return first
	case o.compacted:
		return compacted
	case o.expired && o.cold:
		return expired
	case o.expired:
		return spared
	case o.cold && past:
		return missed
	case o.cold:
		return unexplained
	}
	return warm
}

// growth returns the predicted and the billed tokens that the call added. It returns nil if the
// billed ones are unknown.
func (p *predictor) growth(st *stretch, o *outcome) *growth {
	added := st.added()
	if st.anchor.recorded == 0 || o.recorded.Total <= st.anchor.recorded {
		return nil
	}
	billed := o.recorded.Total - st.anchor.recorded
	before := st.anchor.recorded
	if p.opt.Plain {
		before = p.last.predicted
	}
	return &growth{Billed: billed, Predicted: o.got.Total - before, Counted: added.tokens, Quarter: added.bytes / 4}
}

// minDropped is the number of lost thinking tokens from which on the loss can't be a miscount.
const minDropped = 50

// learn adds a call's billed tokens to the fit and the habits.
func (p *predictor) learn(st *stretch, o *outcome) {
	if st.anchor.recorded > 0 {
		counted, exact := st.newTokens()
		p.fit.add(counted, float64(o.recorded.Total-st.anchor.recorded)-exact+st.dropped(o.line))
	}
	if o.compacted {
		p.habits.attached = max(0, p.habits.attached+o.recorded.Total-o.got.Total)
	}
	if o.cold || o.compacted || p.n == 0 {
		p.habits.broke(o.recorded.Read, o.expired && !o.compacted)
	} else if st.answered() > 0 {
		// Dropped thinking would have made the cache cold unless another call came in between.
		p.habits.turned(o.recorded.Read > p.last.recorded || st.dropped(o.line) > minDropped)
	}
	p.habits.sent(o.recorded.Uncached)
}
