package plan

import (
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/transcript"
)

// lifetimes holds the requested cache lifetime of each part of the prompt, and the reason.
type lifetimes struct {
	cachelayout.LayoutOptions
	FixedWhy, MessagesWhy string
}

// nextPace returns the pace including this call. Before the first call it begins with the pace of
// the calls in the transcript.
func nextPace(d *deciding) cachelayout.Pace {
	last, pace := d.ledger.LastStart, d.Pace
	if pace.Calls == 0 && len(d.Prev.Proj.Seen) == 0 {
		pace = paceOf(d.Msgs)
	}
	gap := time.Duration(0)
	if !last.IsZero() {
		gap = d.req.Now.Sub(last)
	}
	return pace.Add(gap)
}

// paceOf returns the pace of the calls that made the assistant's messages.
func paceOf(msgs []memkernel.Message) cachelayout.Pace {
	var p cachelayout.Pace
	var last time.Time
	for _, c := range transcript.Calls(msgs) {
		gap := time.Duration(0)
		if !last.IsZero() && !c.Start.IsZero() {
			gap = c.Start.Sub(last)
		}
		p, last = p.Add(gap), c.Start
	}
	return p
}

// chooseLifetimes chooses the cache lifetimes to request from the provider. If the host names a
// lifetime, its messages get that lifetime. If the host names no lifetime but was seen to use
// one, it is expected to use that lifetime for all parts. All other lifetimes are chosen by price
// and pace, and stay until the cache entry has expired.
func chooseLifetimes(d *deciding) lifetimes {
	if seen := d.ttl; d.req.TTL == 0 && seen != 0 {
		t := d.req.Price.TTL(seen)
		return lifetimes{cachelayout.LayoutOptions{Fixed: t, Carry: t, Messages: t}, whySeen, whySeen}
	}
	fixed, messages := d.ledger.Lifetimes(d.req.Now)
	l := lifetimes{FixedWhy: whyStands, MessagesWhy: whyStands}
	if d.req.TTL > 0 {
		messages, l.MessagesWhy = d.req.Price.TTL(d.req.TTL), whyAsked
	} else if messages == 0 {
		messages, l.MessagesWhy = chooseMessages(d)
	}
	switch {
	case d.req.FixedTTL > 0:
		fixed, l.FixedWhy = d.req.Price.TTL(d.req.FixedTTL), whyMarked
	case fixed == 0:
		fixed, l.FixedWhy = cachelayout.ChooseFixedTTL(d.Pace, d.earlier(), d.req.Price, d.Fixed, d.expectedCalls())
	}
	if fixed < messages {
		fixed, l.FixedWhy = messages, whyOrder
	}
	l.LayoutOptions = cachelayout.LayoutOptions{Fixed: fixed, Carry: messages, Messages: messages}
	return l
}

// The reasons of a lifetime that was not chosen by price.
const (
	whySeen   = "the host was seen to use it"
	whyAsked  = "the host asked for it"
	whyMarked = "the host marked tools or system so"
	whyStands = "it was asked for when the entry was written"
	whyOrder  = "no part may live shorter than one behind it"
)

// chooseMessages picks the messages' lifetime by the cost of an average call.
func chooseMessages(d *deciding) (time.Duration, string) {
	c := cachelayout.Cycle{Growth: float64(cachelayout.MeanGrowth(d.growth())), Fixed: float64(d.Fixed), Room: float64(d.Hard - d.Fixed), Economy: d.economy()}
	return cachelayout.ChooseTTL(d.Pace, d.req.Price, c, c.Kept())
}

// earlier returns the paces of earlier sessions. For a sidechain it returns nil, since no earlier
// pace is comparable, and for a prompt without a fixed part, which costs nothing for any lifetime.
func (d *deciding) earlier() []cachelayout.Pace {
	if d.req.Branch != "" || d.Fixed == 0 {
		return nil
	}
	return d.session.Earlier()
}

// expectedCalls returns the expected number of calls that will use the fixed part. A sidechain
// has only one task and is expected to be short.
func (m *measured) expectedCalls() float64 {
	n := cachelayout.ExpectedTurns(m.callsSoFar())
	if m.req.Branch == "" {
		n = max(n, cachelayout.SessionCalls)
	}
	return n
}

// seed gives a session's first plan the clock and the ledger of the transcript's
// last recorded call, so that a kernel which takes over a session knows whether
// the cache is warm. Without a recorded call the cache is cold with nothing
// pending.
func seed(d *deciding) (ledger cachelayout.Ledger, ttl time.Duration) {
	if d.sent() || len(d.Prev.Proj.Seen) > 0 {
		return d.ledger, d.ttl
	}
	i := lastCall(d.Msgs)
	if i < 0 {
		return d.ledger, d.ttl
	}
	u := d.Msgs[i].Usage
	ttl = usageTTL(u)
	start := callStart(d.Msgs, i)
	if start.IsZero() {
		return d.ledger, ttl
	}
	blocks := blocksBefore(d, d.Grown, d.Msgs[i].Key)
	ours := 0
	for j := range blocks {
		ours += blocks[j].Tokens
	}
	if float64(u.InputTotal()) < seedShare*float64(ours) {
		return d.ledger, ttl
	}
	id := d.identity(d.Grown)
	id.Images = cachelayout.HasImage(blocks)
	return cachelayout.Seed(id, blocks, ttl, start), ttl
}

// seedShare is the least size of the recorded prompt, as a share of the kernel's prompt, from
// which the provider's cache is assumed to hold the kernel's prompt. A host that had compacted
// sent a smaller prompt.
const seedShare = 0.6

// lastCall returns the index of the last message that a model call is known to have produced, -1
// if there is no such message.
func lastCall(msgs []memkernel.Message) int {
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role == memkernel.RoleAssistant && msgs[i].Usage != nil && msgs[i].Usage.InputTotal() > 0 {
			return i
		}
	}
	return -1
}

// callStart returns the time at which the call that produced msgs[i] began: the time of the
// message that it answered.
func callStart(msgs []memkernel.Message, i int) time.Time {
	for j := i - 1; j >= 0; j-- {
		if !msgs[j].Time.IsZero() {
			return msgs[j].Time
		}
	}
	return msgs[i].Time
}

// usageTTL returns the lifetime with which a recorded call wrote its cache.
func usageTTL(u *memkernel.Usage) time.Duration {
	switch {
	case u.CacheWrite1hTokens > 0:
		return time.Hour
	case u.CacheWrite5mTokens > 0:
		return 5 * time.Minute
	}
	return 0
}

// blocksBefore returns the blocks of p in front of the message with key.
func blocksBefore(d *deciding, p *pagevm.Projection, key string) []cachelayout.Block {
	blocks := d.blockList(p)
	at := len(blocks) - len(p.Items)
	for i := range p.Items {
		if p.Items[i].Key == key {
			return blocks[:at+i]
		}
	}
	return blocks
}
