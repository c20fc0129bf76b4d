package plan

import (
	"slices"
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
func nextPace(c *call, cached *cachelayout.Ledger, pace cachelayout.Pace) cachelayout.Pace {
	if pace.Calls == 0 && len(c.Prev.Proj.Seen) == 0 {
		pace = paceOf(c.Msgs)
	}
	gap := time.Duration(0)
	if sent(cached) {
		gap = c.Request.Now.Sub(cached.LastStart)
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
// lifetime, its messages get that lifetime. If the host names no lifetime but was seen to use one,
// it is expected to use that lifetime for all parts. All other lifetimes are chosen by price and
// pace. They stay the same until the cache entry has expired.
func chooseLifetimes(c *call, l *limits, d *decision) lifetimes {
	r := c.Request
	if r.TTL == 0 && d.ttl != 0 {
		t := r.Price.TTL(d.ttl)
		return lifetimes{cachelayout.LayoutOptions{Fixed: t, Messages: t}, whySeen, whySeen}
	}
	fixed, messages := d.cached.Lifetimes(r.Now)
	out := lifetimes{FixedWhy: whyStands, MessagesWhy: whyStands}
	if r.TTL > 0 {
		messages, out.MessagesWhy = r.Price.TTL(r.TTL), whyAsked
	} else if messages == 0 {
		cycle := cachelayout.Cycle{Growth: float64(cachelayout.MeanGrowth(growth(c, l))), Fixed: float64(l.Fixed), Room: float64(l.Hard - l.Fixed), Economy: c.economy()}
		messages, out.MessagesWhy = cachelayout.ChooseTTL(d.Pace, r.Price, cycle, cycle.Kept())
	}
	switch {
	case r.FixedTTL > 0:
		fixed, out.FixedWhy = r.Price.TTL(r.FixedTTL), whyMarked
	case fixed == 0:
		fixed, out.FixedWhy = cachelayout.ChooseFixedTTL(d.Pace, earlier(c, l), r.Price, l.Fixed, expectedCalls(c))
	}
	if fixed < messages {
		fixed, out.FixedWhy = messages, whyOrder
	}
	out.LayoutOptions = cachelayout.LayoutOptions{Fixed: fixed, Messages: messages}
	return out
}

// The reasons of a lifetime that was not chosen by price.
const (
	whySeen   = "the host was seen to use it"
	whyAsked  = "the host asked for it"
	whyMarked = "the host marked tools or system so"
	whyStands = "it was asked for when the entry was written"
	whyOrder  = "no part may live shorter than one behind it"
)

// earlier returns the paces of earlier sessions. It returns nil for a sidechain, since no earlier
// pace is comparable. It also returns nil without a fixed part, since its lifetime then costs
// nothing.
func earlier(c *call, l *limits) []cachelayout.Pace {
	if c.Request.Branch != "" || l.Fixed == 0 {
		return nil
	}
	return c.session.Earlier()
}

// expectedCalls returns the expected number of calls that will use the fixed part. A sidechain
// has only one task and is expected to be short.
func expectedCalls(c *call) float64 {
	n := cachelayout.ExpectedTurns(c.callsSoFar())
	if c.Request.Branch == "" {
		n = max(n, cachelayout.SessionCalls)
	}
	return n
}

// seed gives a session's first plan the clock and the ledger of the transcript's last recorded
// call, so that a kernel which takes over a session knows whether the cache is warm. Without a
// recorded call the cache is cold, and no message is pending.
func seed(c *call, l *limits, cached cachelayout.Ledger, grown *pagevm.Projection) (cachelayout.Ledger, time.Duration) {
	ttl := c.prior.Before.TTL
	if sent(&cached) || len(c.Prev.Proj.Seen) > 0 {
		return cached, ttl
	}
	i := newest(c.Msgs, billed)
	if i < 0 {
		return cached, ttl
	}
	u := c.Msgs[i].Usage
	ttl = usageTTL(u)
	start := callStart(c.Msgs, i)
	if start.IsZero() {
		return cached, ttl
	}
	blocks := blocksBefore(l, grown, c.Msgs[i].Key)
	ours := 0
	for j := range blocks {
		ours += blocks[j].Tokens
	}
	if float64(u.InputTotal()) < seedShare*float64(ours) {
		return cached, ttl
	}
	id := c.identity(grown)
	id.Images = cachelayout.HasImage(blocks)
	return cachelayout.Seed(id, blocks, ttl, start), ttl
}

// seedShare is the least size of the recorded prompt, as a share of the kernel's prompt, from
// which the provider's cache is assumed to hold the kernel's prompt. A host that had compacted
// sent a smaller prompt.
const seedShare = 0.6

// billed reports whether a model call is known to have produced a message.
func billed(m *memkernel.Message) bool {
	return m.Role == memkernel.RoleAssistant && m.Usage != nil && m.Usage.InputTotal() > 0
}

// callStart returns the time at which the call that produced msgs[i] began: the time of the
// message that it answered.
func callStart(msgs []memkernel.Message, i int) time.Time {
	if j := newest(msgs[:i], func(m *memkernel.Message) bool { return !m.Time.IsZero() }); j >= 0 {
		i = j
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
func blocksBefore(l *limits, p *pagevm.Projection, key string) []cachelayout.Block {
	blocks := l.blockList(p)
	at := len(blocks) - len(p.Items)
	if i := slices.IndexFunc(p.Items, func(it pagevm.Item) bool { return it.Key == key }); i >= 0 {
		return blocks[:at+i]
	}
	return blocks
}
