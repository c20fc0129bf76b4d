package cachelayout

import (
	"fmt"
	"time"
)

// changeKind names the difference between a request and the previous one.
type changeKind string

const (
	// ChangeFirst: there is no previous request.
	ChangeFirst changeKind = "first"
	// ChangeNone: the request is the same.
	ChangeNone changeKind = "none"
	// ChangeAppend: the request extends the previous one.
	ChangeAppend changeKind = "append"
	// ChangeIdentity: a setting outside the blocks changed.
	ChangeIdentity changeKind = "identity"
	// ChangeTools, ChangeSystem, ChangeMessages: a block of that level changed.
	ChangeTools    changeKind = "tools"
	ChangeSystem   changeKind = "system"
	ChangeMessages changeKind = "messages"
)

// Change describes the first change in a request that broke a level of the cache.
type Change struct {
	Kind changeKind `json:"kind"`
	// Broken is the first level that the change breaks. All later levels break with it. It is
	// "none" if the whole last request can still be read.
	Broken cacheLevel `json:"breaks"`
	// Field is the identity field that changed, "" otherwise.
	Field string `json:"field,omitempty"`
	// Block is the index of the first changed block, -1 if none changed.
	Block int `json:"block"`
	// Old is the former block id, or the field's former value. It is "" if the block or value did
	// not exist.
	Old string `json:"old,omitempty"`
	// New is the present block id, or the field's present value. It is "" if the block or value
	// no longer exists.
	New string `json:"new,omitempty"`
	// KeptTokens is the number of tokens of the last request that can still be read by their
	// content and identity. It ignores lifetimes.
	KeptTokens int `json:"kept_tokens"`
	// BrokenTokens is the number of tokens of the last request that can no longer be read.
	BrokenTokens int `json:"broken_tokens"`
	// Host is the part of a warm cache that the host broke. It is nil if the host broke nothing.
	Host *Broke `json:"host"`
}

// Broke is a change by which a host made a provider's cache useless.
type Broke struct {
	// What names the part that changed: tools, system, messages, or a setting.
	What string `json:"what"`
	// Place is the place of the change, as exactly as is known, such as "tools[3].description".
	Place string `json:"place"`
	// Tokens is the number of tokens that could have been read and are written again.
	Tokens int `json:"tokens"`
	// USD is the extra cost of writing them.
	USD *float64 `json:"usd"`
}

// Blame returns the cost of a change that breaks the cache. It counts the tokens of the last
// request that the provider still held and that the new request, whose bill is given, does not
// read. It returns nil if there are no such tokens.
func (l *Ledger) Blame(c Change, m Model, bill Bill, now time.Time) *Broke {
	b := &Broke{What: string(c.Kind), Place: string(c.Kind), Tokens: l.held(m, now) - bill.ReadTokens}
	if c.Field != "" {
		b.What, b.Place = c.Field, c.Field
	}
	if !c.Breaks() || b.Tokens <= 0 {
		return nil
	}
	t := m.TierFor(bill.Total())
	write := t.Write5m
	switch {
	case !m.Cache.marked():
		write = t.Input
	case bill.Write1hTokens > bill.Write5mTokens:
		write = t.Write1h
	}
	if write != nil && t.Read != nil {
		b.USD = new(float64(b.Tokens) * (*write - *t.Read) / 1e6)
	}
	return b
}

// held returns the number of tokens of the last request that the provider still holds.
func (l *Ledger) held(m Model, now time.Time) (n int) {
	switch cache := l.Expect(m).Cache; {
	case cache.marked():
		for _, mark := range l.Marks {
			if mark.live(now) && mark.Index < len(l.Chain) {
				n = l.Chain[mark.Index].Tokens
			}
		}
	case cache.automatic() && now.Sub(l.LastStart) < m.TTL(0):
		n = l.Tokens()
	}
	if n < m.MinCacheTokens {
		return 0
	}
	return n
}

// Breaks reports whether anything that was sent can no longer be read.
func (c Change) Breaks() bool { return c.Broken != levelNone }

func (c Change) String() string {
	switch c.Kind {
	case ChangeFirst, ChangeNone, ChangeAppend:
		return string(c.Kind)
	case ChangeIdentity:
		return fmt.Sprintf("%s changed from %q to %q: breaks %s", c.Field, c.Old, c.New, c.Broken)
	}
	switch {
	case c.New == "":
		return fmt.Sprintf("%s end at block %d, before %q", c.Kind, c.Block, c.Old)
	case c.Old == c.New:
		return fmt.Sprintf("%s changed at block %d: %q has other bytes", c.Kind, c.Block, c.New)
	}
	return fmt.Sprintf("%s changed at block %d: %q stands where %q was", c.Kind, c.Block, c.New, c.Old)
}

// Compare finds the changed setting or block that breaks the earliest level of the prefix. If a
// setting and a block break the same level, Compare returns the setting, since it breaks the
// whole level.
func (l *Ledger) Compare(id Identity, blocks []Block) Change {
	if len(l.Chain) == 0 {
		return Change{Kind: ChangeFirst, Broken: levelNone, Block: -1}
	}
	n := l.common(blocks)
	c := l.compareBlocks(n, blocks)
	if field, was, is, level := l.Identity.Broken(id); level != levelNone && level <= c.Broken {
		c = Change{Kind: ChangeIdentity, Field: field, Broken: level, Block: -1, Old: was, New: is}
		n = min(n, l.above(level))
	}
	if n > 0 {
		c.KeptTokens = l.Chain[n-1].Tokens
	}
	c.BrokenTokens = l.Tokens() - c.KeptTokens
	return c
}

func (l *Ledger) compareBlocks(n int, blocks []Block) Change {
	c := Change{Broken: levelNone, Block: -1}
	switch {
	case n == len(l.Chain) && n == len(blocks):
		c.Kind = ChangeNone
		return c
	case n == len(l.Chain):
		c.Kind, c.Block, c.New = ChangeAppend, n, blocks[n].ID
		// A block that was added to tools or system gets here only if no message followed them.
		return c
	}
	c.Block, c.Old = n, l.Chain[n].ID
	c.Broken = levelOf(l.Chain[n].Region)
	if n < len(blocks) {
		c.New = blocks[n].ID
		c.Broken = min(c.Broken, levelOf(blocks[n].Region))
	}
	c.Kind = changeKind(c.Broken.String())
	return c
}

// above counts the blocks of the last request that are above a level.
func (l *Ledger) above(level cacheLevel) int {
	for i := range l.Chain {
		if levelOf(l.Chain[i].Region) >= level {
			return i
		}
	}
	return len(l.Chain)
}
