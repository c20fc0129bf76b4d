package predict

import (
	"hash/fnv"
	"strconv"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
)

// Run predicts every call of a session. A session without billed calls gives an
// empty report.
func Run(segments []Segment, opt *Options) *Report {
	p := predictor{}
	if opt != nil {
		p.opt = *opt
	}
	if p.opt.Book == nil {
		p.opt.Book = cachelayout.DefaultBook()
	}
	p.report = &Report{Calls: []Call{}, FixedTokens: p.opt.Fixed, FixedFrom: FixedGiven}
	p.first(segments)
	p.counts = map[uint64]int{}
	for i := range segments {
		p.segment(&segments[i], i > 0)
	}
	p.report.Summary = summarize(p.report.Calls)
	return p.report
}

// predictor walks through a session.
type predictor struct {
	opt    Options
	report *Report

	counter budget.Counter
	counted string         // the tokenizer that counter is for
	counts  map[uint64]int // by content hash
	fit     fit
	ttl     time.Duration

	ledger     cachelayout.Ledger
	n          int // calls so far
	unanchored bool
	// previous are the whole prompts of the call before.
	previous struct{ predicted, recorded int }
}

// first settles what is known before the first prediction: the lifetime that
// the recorded writes name.
func (p *predictor) first(segments []Segment) {
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
				model = p.model(m.Model, c.Start)
			}
		}
	}
	p.ttl = p.opt.TTL
	if p.ttl == 0 {
		p.ttl, _ = cachelayout.RecordedTTL(model, w5, w1)
	}
	if p.ttl == 0 {
		p.ttl = model.TTL(0)
	}
	p.report.TTLSeconds = int(p.ttl / time.Second)
	p.unanchored = p.opt.Fixed <= 0
	if p.unanchored {
		p.report.FixedFrom = FixedFirstCall
	}
}

// model is how a model caches, by the book or by its family.
func (p *predictor) model(id string, at time.Time) cachelayout.Model {
	if id == "" {
		id = p.opt.Model
	}
	if m, ok := p.opt.Book.Lookup(id, at); ok {
		return m
	}
	return cachelayout.Assume(id)
}

// segment predicts the calls of one stretch.
func (p *predictor) segment(s *Segment, compacted bool) {
	blocks := make([]cachelayout.Block, 0, len(s.Messages)+1)
	blocks = append(blocks, cachelayout.Block{ID: "fixed", Region: cachelayout.RegionSystem, Hash: "fixed",
		Positions: 1, Markable: true, Message: cachelayout.MessageSystem})
	for n, c := range s.Calls {
		answer := &s.Messages[c.Index]
		model := p.model(answer.Model, c.Start)
		p.useCounter(model)
		for i := len(blocks) - 1; i < c.Index; i++ {
			blocks = append(blocks, p.block(&s.Messages[i], i))
		}
		p.call(blocks[:c.Index+1], callOf{model: model, answer: answer, start: c.Start, inSegment: n, compacted: compacted && n == 0})
	}
}

// callOf is what is known of one call.
type callOf struct {
	model     cachelayout.Model
	answer    *memkernel.Message
	start     time.Time
	inSegment int
	compacted bool
}

// call predicts, compares and learns. counted holds uncorrected token counts.
func (p *predictor) call(counted []cachelayout.Block, c callOf) {
	billed := c.answer.Usage
	if billed != nil && billed.InputTotal() == 0 {
		billed = nil
	}
	raw := 0
	for i := 1; i < len(counted); i++ {
		raw += counted[i].Tokens
	}
	judged := true
	if p.unanchored && billed != nil {
		p.report.FixedTokens = max(0, billed.InputTotal()-raw)
		p.unanchored, judged = false, false
	}
	blocks := p.scaled(counted, c.inSegment)
	id := cachelayout.Identity{Model: c.model.ID, Images: cachelayout.HasImage(blocks)}
	bps := cachelayout.Breakpoints(blocks, c.model, p.ledger.Tail(blocks), cachelayout.LayoutOptions{Fixed: p.ttl, Carry: p.ttl, Messages: p.ttl})
	bill := p.ledger.Bill(c.model, id, blocks, bps, c.start)
	p.ledger = p.ledger.Advance(id, blocks, bps, c.start)
	got := Tokens{Read: bill.ReadTokens, Write: bill.Write5mTokens + bill.Write1hTokens, Total: bill.Total()}
	if billed != nil {
		p.compare(got, *billed, c, judged)
		p.fit.add(raw, c.inSegment+1, billed.InputTotal()-p.report.FixedTokens)
		p.previous.recorded = billed.InputTotal()
	}
	p.previous.predicted = got.Total
	p.n++
}

// compare puts the prediction beside the bill.
func (p *predictor) compare(got Tokens, u memkernel.Usage, c callOf, judged bool) {
	want := Tokens{Read: u.CacheReadTokens, Write: u.CacheWrite5mTokens + u.CacheWrite1hTokens, Total: u.InputTotal()}
	known := p.fit.line()
	p.report.Calls = append(p.report.Calls, Call{
		Index: p.n, Key: c.answer.Key, Start: c.start, Model: c.answer.Model,
		Predicted: got, Recorded: want,
		PredictedCold: cold(got.Read, p.previous.predicted), RecordedCold: cold(want.Read, p.previous.recorded),
		Compacted: c.compacted, Judged: judged && p.n > 0,
		ReadError: relative(got.Read, want.Read), WriteError: relative(got.Write, want.Write),
		Ratio: known.ratio, Overhead: known.overhead,
	})
}

// cold tells whether too little of the context before was read.
func cold(read, before int) bool {
	return before > 0 && float64(read) < coldShare*float64(before)
}

// scaled gives the blocks their expected size: messages by the line learned so
// far, with the overhead at the answers, one per call. What the host adds in
// lumps is taken to stand in front, since by now it is part of what is cached.
func (p *predictor) scaled(counted []cachelayout.Block, calls int) []cachelayout.Block {
	l := p.fit.line()
	out := make([]cachelayout.Block, len(counted))
	copy(out, counted)
	out[0].Tokens = max(0, p.report.FixedTokens+int(l.drift*float64(calls)))
	carry := 0.0
	for i := 1; i < len(out); i++ {
		exact := carry + l.ratio*float64(counted[i].Tokens)
		if out[i].ID == answerBlock || i == len(out)-1 {
			exact += l.overhead
		}
		out[i].Tokens = max(0, int(exact))
		carry = exact - float64(out[i].Tokens)
	}
	return out
}

// Names of blocks: the answers of calls carry the overhead per call.
const (
	answerBlock = "answer"
	otherBlock  = "message"
)

// block makes the block of a message.
func (p *predictor) block(m *memkernel.Message, at int) cachelayout.Block {
	hash := contentHash(m)
	tokens, ok := p.counts[hash]
	if !ok {
		tokens = p.count(m)
		p.counts[hash] = tokens
	}
	b := cachelayout.Block{ID: otherBlock, Region: cachelayout.RegionWorkingSet, Hash: strconv.FormatUint(hash, 36), Tokens: tokens,
		Positions: positions(m), Markable: markable(m), Image: hasImage(m.Parts), Message: at}
	if m.Role == memkernel.RoleAssistant && m.Origin == memkernel.OriginHost {
		b.ID = answerBlock
	}
	return b
}

// useCounter changes the counter when the model's tokenizer does.
func (p *predictor) useCounter(m cachelayout.Model) {
	if p.opt.Counter != nil {
		p.counter = p.opt.Counter
		return
	}
	name := m.Tokenizer
	if name == "" {
		name = budget.Bytes
	}
	if p.counted == name {
		return
	}
	c, err := budget.For(name)
	if err != nil {
		c, _ = budget.For(budget.Bytes)
	}
	p.counter, p.counted = c, name
	clear(p.counts)
}

// contentHash names a message's content; markers and ids of the host are not
// part of it.
func contentHash(m *memkernel.Message) uint64 {
	h := fnv.New64a()
	write := func(s string) {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	write(string(m.Role))
	var parts func([]memkernel.Part)
	parts = func(list []memkernel.Part) {
		for i := range list {
			q := &list[i]
			write(string(q.Kind))
			write(q.Text)
			switch {
			case q.Call != nil:
				write(q.Call.ID)
				write(q.Call.Name)
				write(q.Call.Input)
			case q.Result != nil:
				write(q.Result.CallID)
				parts(q.Result.Content)
			case q.Media != nil:
				write(q.Media.Type)
				write(q.Media.Data)
				write(q.Media.URL)
			case q.Kind == memkernel.PartOther:
				write(q.Raw)
			}
		}
	}
	parts(m.Parts)
	return h.Sum64()
}
