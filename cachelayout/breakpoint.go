package cachelayout

import (
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"slices"
	"time"
)

// Reasons for the place of a breakpoint.
const (
	WhyFixed        = "fixed"         // end of tools and system
	WhyCarry        = "carry"         // end of the carry block
	WhyPreviousTail = "previous_tail" // end of the previous request
	WhyGuard        = "guard"         // keeps the look-back unbroken
	WhyEnd          = "end"           // end of the request
)

// Breakpoint is a block whose last content block carries a cache marker.
type Breakpoint struct {
	// Block is an index into the blocks of the request.
	Block int `json:"block"`
	// TTL is the requested lifetime.
	TTL    time.Duration `json:"ttl"`
	Region string        `json:"region"`
	// Why is one of the Why constants.
	Why string `json:"why"`
	// CumulativeTokens is the size of the prompt up to and including the block.
	CumulativeTokens int `json:"cumulative_tokens"`
}

// LayoutOptions are preferences. The zero value means the provider's default
// lifetime everywhere.
type LayoutOptions struct {
	// Fixed is the wanted lifetime of tools and system, Messages that of the rest. 0 means the
	// provider's default. Fixed is raised to Messages, since providers refuse the opposite order.
	Fixed, Messages time.Duration
}

// Layout places the markers of a request, in the order of its blocks, and returns notes on the
// markers that the model's cache will not honour.
//
// prevTail is the index of the last block of the previous request. It is -1 if there was no
// previous request or a cut removed the block. In order of importance the markers are at the end
// of the request, the previous tail (where the entry of the last request was written, so the hit
// does not depend on the look-back), the end of tools and system, and the end of the carry block.
// If a block cannot carry a marker, the marker moves to the block before it. Places whose prefix
// is below the model's minimum are left out, since a marker there would use up a slot and cache
// nothing. A remaining slot guards a tail that is longer than the look-back.
func Layout(blocks []Block, m Model, prevTail int, opt LayoutOptions) (bps []Breakpoint, notes []string) {
	if len(blocks) == 0 {
		return nil, nil
	}
	at := sums(blocks)
	if total := at[len(blocks)].tokens; m.Cache != CacheNone && m.Cache != "" && total < m.MinCacheTokens {
		return nil, []string{fmt.Sprintf("prompt of %d tokens is below the model's minimum of %d: nothing is cached", total, m.MinCacheTokens)}
	}
	if !m.Cache.marked() {
		return nil, unmarkedNotes(m)
	}
	p := placer{blocks: blocks, at: at, m: m}
	end := p.add(len(blocks)-1, 0, WhyEnd)
	tail := -1
	if prevTail >= 0 {
		tail = p.add(min(prevTail, len(blocks)-1), p.fixed()+1, WhyPreviousTail)
	}
	p.add(p.fixed(), 0, WhyFixed)
	carry := p.fixed()
	for carry+1 < len(blocks) && blocks[carry+1].Region == RegionCarry {
		carry++
	}
	p.add(carry, p.fixed()+1, WhyCarry)
	p.guard(tail, end)
	slices.SortFunc(p.out, func(a, b Breakpoint) int { return a.Block - b.Block })
	p.lifetimes(opt)
	if end < 0 {
		notes = append(notes, "no block of the prompt can carry a marker: nothing is cached")
	}
	return p.out, notes
}

// unmarkedNotes returns notes on caches that accept no markers.
func unmarkedNotes(m Model) []string {
	switch m.Cache {
	case CacheOpenAIAuto:
		return []string{fmt.Sprintf("cached automatically in steps of %d tokens; send a prompt_cache_key per session", m.StepTokens)}
	case cacheGemini:
		return []string{"cached implicitly, without guarantee, if requests follow closely"}
	case cacheDeepSeek:
		return []string{"cached automatically by whole prefix units"}
	}
	return nil
}

// placer collects breakpoints in order of importance.
type placer struct {
	blocks []Block
	at     []sum
	m      Model
	out    []Breakpoint
}

// add marks the last markable block in [lo, i], unless a marker is there, the prefix is too short
// or no slot is left. It returns the index of the block that holds the marker, -1 if no block
// does.
func (p *placer) add(i, lo int, why string) int {
	for i >= lo && i >= 0 && !p.blocks[i].Markable {
		i--
	}
	if i < 0 || i < lo || p.at[i+1].tokens < p.m.MinCacheTokens {
		return -1
	}
	for _, b := range p.out {
		if b.Block == i {
			return i
		}
	}
	if len(p.out) >= p.m.MaxBreakpoints {
		return -1
	}
	p.out = append(p.out, Breakpoint{Block: i, Region: p.blocks[i].Region, Why: why, CumulativeTokens: p.at[i+1].tokens})
	return i
}

// fixed returns the last block of tools and system, -1 if there is no such block.
func (p *placer) fixed() int {
	i := 0
	for i < len(p.blocks) && levelOf(p.blocks[i].Region) < levelMessages {
		i++
	}
	return i - 1
}

// guard fills free slots so that a request which ends between tail and end
// (a retry, a rewind) still sees an entry within its look-back.
func (p *placer) guard(tail, end int) {
	if p.m.LookbackPositions <= 0 || end < 0 {
		return
	}
	if tail < 0 {
		tail = p.fixed()
	}
	for at := end; len(p.out) < p.m.MaxBreakpoints; {
		if p.at[at+1].positions-p.at[tail+1].positions < p.m.LookbackPositions {
			return
		}
		j := at
		for j > tail+1 && p.at[at+1].positions-p.at[j].positions < p.m.LookbackPositions {
			j--
		}
		for j < at && !p.blocks[j].Markable {
			j++
		}
		if j <= tail || j >= at || p.add(j, j, WhyGuard) != j {
			return
		}
		at = j
	}
}

// lifetimes gives each marker its TTL. A marker never gets a longer TTL than an earlier marker.
func (p *placer) lifetimes(opt LayoutOptions) {
	var behind time.Duration
	for i := len(p.out) - 1; i >= 0; i-- {
		b := &p.out[i]
		wish := opt.Messages
		if levelOf(b.Region) != levelMessages {
			wish = opt.Fixed
		}
		b.TTL = max(p.m.TTL(wish), behind)
		behind = b.TTL
	}
}

// CacheKey returns a routing key for providers that accept one (prompt_cache_key). It is equal
// for all requests of a session that share tools and system, so that these requests reach the
// machine that holds their prefix.
func CacheKey(session string, blocks []Block) string {
	h := fnv.New128a()
	h.Write([]byte(session))
	for i := range blocks {
		if levelOf(blocks[i].Region) == levelMessages {
			break
		}
		h.Write([]byte{0})
		h.Write([]byte(blocks[i].Hash))
	}
	return "mk-" + hex.EncodeToString(h.Sum(nil))[:24]
}
