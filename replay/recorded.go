package replay

import (
	"hash/fnv"
	"reflect"
	"strconv"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/replay/recall"
	"github.com/memkernel/memkernel/transcript"
)

// rewrite is where the host changed the past of the recorded session.
type rewrite struct {
	// call is the first call that was made after it, counted with those that can't
	// be planned.
	call int
	// from is the first message that follows head.
	from int
	head []memkernel.Message
}

// follow notes where the host changed its past; view is what the recording was made of,
// and has the same calls, though repairing may have moved what is between them.
func (r *recording) follow(view []memkernel.Message, rewrites []transcript.Rewrite) {
	calls, own := transcript.Calls(view), transcript.Calls(r.msgs)
	for _, w := range rewrites {
		out := rewrite{from: len(r.msgs)}
		out.head, _ = transcript.Repair(w.Messages, false)
		for out.call < len(calls) && calls[out.call].Index < w.At {
			out.call++
		}
		if n := out.call; n < min(len(calls), len(own)) {
			out.from = max(0, own[n].Index-(calls[n].Index-w.At))
		}
		r.rewrites = append(r.rewrites, out)
	}
}

// recorded shows what the host showed: everything since its last compaction, behind
// what it put in the place of all before, results that it cleared as it left them.
type recorded struct {
	history
	next int // rewrite
}

func (p *recorded) choose(req request) (c choice) {
	for ; p.next < len(p.rec.rewrites) && p.rec.rewrites[p.next].call <= p.rec.numbers[req.n]; p.next++ {
		p.rewrite(&p.rec.rewrites[p.next], req, &c)
	}
	c.items = p.items(req.end)
	return c
}

// rewrite puts the host's new past in place. A summary that is new in it was written by
// a call of its own.
func (p *recorded) rewrite(w *rewrite, req request, c *choice) {
	c.cut = "host"
	known := map[string]bool{}
	for i := range p.lead {
		known[p.lead[i].hash] = true
	}
	var lead []item
	summary := 0
	for i := range w.head {
		it := p.sent(&w.head[i])
		if it.msg.Origin == memkernel.OriginSummary && !known[it.hash] {
			summary += it.tokens
		}
		lead = append(lead, it)
	}
	if from := min(w.from, req.end); summary > 0 {
		c.summarise(p.tokens(from), p.rec.sum(min(p.rec.seen(req.n), from), from), summary)
	}
	p.lead, p.from = lead, w.from
}

// sent is a message as the host sent it: the recording's own if it is unchanged.
func (p *recorded) sent(m *memkernel.Message) item {
	own := *m
	own.Usage = nil
	for i := range p.rec.msgs {
		if p.rec.msgs[i].Key == m.Key && p.rec.msgs[i].Role == m.Role && reflect.DeepEqual(p.rec.msgs[i].Parts, m.Parts) {
			return p.rec.items[i]
		}
	}
	sum := fnv.New64a()
	sum.Write([]byte(recall.TextOf(own)))
	return p.rec.item("host/"+m.Key+"/"+strconv.FormatUint(sum.Sum64(), 16), own)
}
