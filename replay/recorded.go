package replay

import (
	"hash/fnv"
	"reflect"
	"strconv"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/replay/recall"
	"github.com/memkernel/memkernel/transcript"
)

// rewrite is a change of the recorded session's past by the host.
type rewrite struct {
	// call is the number of the first call after the rewrite. Calls that can't be planned are
	// counted.
	call int
	// from is the first message that follows head.
	from int
	head []memkernel.Message
}

// follow notes where the host changed its past. view must be the view that the recording was made
// of. The view has the same calls as the recording, though repairing may have moved messages
// between the calls.
func (r *Recording) follow(view []memkernel.Message, s *transcript.Session) {
	calls, own := transcript.Calls(view), transcript.Calls(r.Messages)
	for _, w := range s.Rewrites() {
		out := rewrite{from: len(r.Messages)}
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

// recorded shows the items that the host showed. These are the host's replacement of everything
// before its last compaction, then everything since, with results as the host cleared them.
type recorded struct {
	History
	next int // rewrite
}

func (p *recorded) Choose(req Request) (c Choice) {
	for ; p.next < len(p.Rec.rewrites) && p.Rec.rewrites[p.next].call <= p.Rec.numbers[req.N]; p.next++ {
		p.rewrite(&p.Rec.rewrites[p.next], req, &c)
	}
	c.Items = p.Items(req.End)
	return c
}

// rewrite puts the host's new past in place. Each new summary in it was written by a separate
// call.
func (p *recorded) rewrite(w *rewrite, req Request, c *Choice) {
	c.Cut = "host"
	known := map[string]bool{}
	for i := range p.Lead {
		known[p.Lead[i].hash] = true
	}
	var lead []Item
	summary := 0
	for i := range w.head {
		it := p.sent(&w.head[i])
		if it.Msg.Origin == memkernel.OriginSummary && !known[it.hash] {
			summary += it.Tokens
		}
		lead = append(lead, it)
	}
	if from := min(w.from, req.End); summary > 0 {
		c.Summarise(p.Tokens(from), p.Rec.Sum(min(p.Rec.Seen(req.N), from), from), summary)
	}
	p.Lead, p.From = lead, w.from
}

// sent returns a message as the host sent it. For an unchanged message that is the recording's
// own item.
func (p *recorded) sent(m *memkernel.Message) Item {
	own := *m
	own.Usage = nil
	for i := range p.Rec.Messages {
		if p.Rec.Messages[i].Key == m.Key && p.Rec.Messages[i].Role == m.Role && reflect.DeepEqual(p.Rec.Messages[i].Parts, m.Parts) {
			return p.Rec.Items[i]
		}
	}
	sum := fnv.New64a()
	sum.Write([]byte(recall.TextOf(own)))
	return p.Rec.Item("host/"+m.Key+"/"+strconv.FormatUint(sum.Sum64(), 16), own)
}
