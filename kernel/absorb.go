package kernel

import (
	"maps"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
)

// parallelFrom is the number of new messages from which they are shared out among
// the processors. A plan in the middle of a session has one or two.
const parallelFrom = 16

// absorb gives the projection's view of the messages, reusing that of the line before
// as far as they are the same.
func (g *ingester) absorb(w *work) []pagevm.HostMessage {
	prev, msgs := w.prev, w.msgs
	n := min(w.kept, len(prev.Hosts))
	tail := w.was
	if w.heard == nil {
		tail = prev.Msgs[min(n, len(prev.Msgs)):]
	}
	for i := 0; n < len(prev.Hosts) && n < len(msgs) && sameMessage(&tail[i], &msgs[n]); i++ {
		n++
	}
	g.kept = n
	var hosts []pagevm.HostMessage
	fresh := msgs[n:]
	if w.heard != nil {
		hosts = prev.Hosts[:n]
		g.unindex(tail[min(n-w.kept, len(tail)):])
	} else {
		if n < len(prev.Hosts) {
			g.calls = map[string]*memkernel.ToolCall{}
			g.index(msgs[:n])
		}
		hosts = append(make([]pagevm.HostMessage, 0, len(msgs)), prev.Hosts[:n]...)
		if len(fresh) > 0 {
			g.calls = maps.Clone(g.calls) // a line is never changed once made
		}
	}
	if len(fresh) >= parallelFrom && runtime.GOMAXPROCS(0) > 1 && g.indexAhead(fresh) {
		return g.share(hosts, fresh)
	}
	for i := 0; i < len(fresh) && !g.stopped(); i++ {
		g.index(fresh[i : i+1])
		hosts = append(hosts, g.message(&fresh[i]))
	}
	return hosts
}

// index remembers the calls of msgs by id.
func (g *ingester) index(msgs []memkernel.Message) {
	for i := range msgs {
		for j := range msgs[i].Parts {
			if c := msgs[i].Parts[j].Call; c != nil {
				g.calls[c.ID] = c
			}
		}
	}
}

// unindex forgets the calls of msgs. No id stands twice in valid messages.
func (g *ingester) unindex(msgs []memkernel.Message) {
	for i := range msgs {
		for j := range msgs[i].Parts {
			if c := msgs[i].Parts[j].Call; c != nil {
				delete(g.calls, c.ID)
			}
		}
	}
}

// indexAhead remembers the calls of all msgs at once, if that finds the same call
// for every result as one message after the other would: no id is used twice, and
// none before its call. Otherwise nothing is remembered that the other way would
// not put right.
func (g *ingester) indexAhead(msgs []memkernel.Message) bool {
	for i := range msgs {
		for j := range msgs[i].Parts {
			switch p := &msgs[i].Parts[j]; {
			case p.Call != nil && g.calls[p.Call.ID] == nil:
				g.calls[p.Call.ID] = p.Call
			case p.Call != nil && g.calls[p.Call.ID] != p.Call:
				return false
			case p.Result != nil && g.calls[p.Result.CallID] == nil:
				return false
			}
		}
	}
	return true
}

// share makes the pages of msgs on all processors and files them in the order of
// the messages, so that the outcome is that of one after the other.
func (g *ingester) share(hosts []pagevm.HostMessage, msgs []memkernel.Message) []pagevm.HostMessage {
	type made struct {
		host pagevm.HostMessage
		out  capture
	}
	all := make([]made, len(msgs))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(msgs)) {
		wg.Go(func() {
			own := *g
			for i := int(next.Add(1)) - 1; i < len(msgs) && !g.stopped(); i = int(next.Add(1)) - 1 {
				own.out = &all[i].out
				all[i].host = own.message(&msgs[i])
			}
		})
	}
	wg.Wait()
	for i := range all {
		hosts = append(hosts, all[i].host)
		g.out.merge(&all[i].out)
	}
	return hosts
}

// merge files what o found behind what c found.
func (c *capture) merge(o *capture) {
	c.pages = append(c.pages, o.pages...)
	c.contents = append(c.contents, o.contents...)
	c.blobs = append(c.blobs, o.blobs...)
}
