package ingest

import (
	"maps"
	"sync/atomic"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// parallelFrom is the number of new messages from which several processors share the work. A plan
// in the middle of a session has only one or two new messages.
const parallelFrom = 16

// Absorb makes pages of the new messages, and the projection's view of all messages. It reuses
// the earlier view as far as the messages are the same. It returns false if it was stopped.
func (b *Batch) Absorb() bool {
	b.keepTaken()
	before, msgs := b.before, b.Msgs
	kept := min(b.kept, len(before.Hosts))
	n, tail := kept, b.was
	if b.heard == nil {
		tail = before.Msgs[min(n, len(before.Msgs)):]
	}
	for i := 0; n < len(before.Hosts) && n < len(msgs) && sameMessage(&tail[i], &msgs[n]); i++ {
		n++
	}
	b.Absorbed = n
	fresh := msgs[n:]
	if b.heard != nil {
		b.Hosts = before.Hosts[:n]
	} else {
		b.Hosts = append(make([]pagevm.HostMessage, 0, len(msgs)), before.Hosts[:n]...)
		b.Calls = maps.Clone(b.Calls) // a state's maps are never changed
	}
	b.unindex(tail[min(n-kept, len(tail)):])
	if len(fresh) >= parallelFrom && b.indexAhead(fresh) {
		b.Hosts = b.share(b.Hosts, fresh)
	} else {
		for i := 0; i < len(fresh) && !b.stopped(); i++ {
			b.index(fresh[i : i+1])
			b.Hosts = append(b.Hosts, b.message(&fresh[i]))
		}
	}
	if b.heard != nil {
		b.heard.keep(b)
	}
	return !b.stopped()
}

// keepTaken files the parts that repair took out of the conversation. Prompts show none of them.
func (b *Batch) keepTaken() {
	for _, t := range b.taken {
		if t.part.Result != nil {
			m := memkernel.Message{Key: t.key, Role: memkernel.RoleUser}
			b.keepResult(&m, t.part, &toolcall.Call{Name: t.part.Result.Name}, t.page)
			continue
		}
		m := memkernel.Message{Key: t.key, Role: memkernel.RoleUser, Parts: []memkernel.Part{*t.part}}
		b.keepRun(&m, 0, 1, t.page)
	}
}

// index remembers the calls of msgs by id.
func (g *Maker) index(msgs []memkernel.Message) {
	eachCall(msgs, func(c *memkernel.ToolCall) { g.Calls[c.ID] = toolcall.Read(c.Name, c.Input) })
}

// unindex forgets the calls of msgs. In valid messages no id occurs twice.
func (g *Maker) unindex(msgs []memkernel.Message) {
	eachCall(msgs, func(c *memkernel.ToolCall) { delete(g.Calls, c.ID) })
}

func eachCall(msgs []memkernel.Message, f func(*memkernel.ToolCall)) {
	for i := range msgs {
		for j := range msgs[i].Parts {
			if c := msgs[i].Parts[j].Call; c != nil {
				f(c)
			}
		}
	}
}

// indexAhead remembers the calls of all msgs at once. It returns true if every result then finds
// the same call as when messages are taken one by one. This is the case if no id is used twice
// and no result comes before its call. If it returns false, taking the messages one by one
// corrects the remembered calls.
func (g *Maker) indexAhead(msgs []memkernel.Message) bool {
	for i := range msgs {
		for j := range msgs[i].Parts {
			switch p := &msgs[i].Parts[j]; {
			case p.Call != nil && g.Calls[p.Call.ID] != nil:
				return false
			case p.Call != nil:
				g.Calls[p.Call.ID] = toolcall.Read(p.Call.Name, p.Call.Input)
			case p.Result != nil && g.Calls[p.Result.CallID] == nil:
				return false
			}
		}
	}
	return true
}

// share makes the pages of msgs with helpers and files them in the order of the messages, so that
// the outcome is the same as without helpers.
func (g *Maker) share(hosts []pagevm.HostMessage, msgs []memkernel.Message) []pagevm.HostMessage {
	type made struct {
		host pagevm.HostMessage
		out  Pages
	}
	all := make([]made, len(msgs))
	var next atomic.Int64
	longwork.Run(len(msgs), func() {
		own := *g
		for i := int(next.Add(1)) - 1; i < len(msgs) && !g.stopped(); i = int(next.Add(1)) - 1 {
			own.Out = &all[i].out
			all[i].host = own.message(&msgs[i])
		}
	})
	for i := range all {
		hosts = append(hosts, all[i].host)
		g.Out.merge(&all[i].out)
	}
	return hosts
}
