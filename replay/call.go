package replay

import (
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/replay/recall"
)

// Call is what one call of a replay would have held and cost, in tokens and US
// dollars. Net figures leave out the fixed part: its tokens, and what they cost in
// this very call.
type Call struct {
	// Index counts the session's calls from 0, with those that were not planned.
	Index      int       `json:"index"`
	Key        string    `json:"key"`
	Time       time.Time `json:"time,omitzero"`
	Input      int       `json:"input_tokens"`
	Read       int       `json:"cache_read_tokens"`
	Write      int       `json:"cache_write_tokens"`
	Write5m    int       `json:"cache_write_5m_tokens"`
	Write1h    int       `json:"cache_write_1h_tokens"`
	Uncached   int       `json:"uncached_tokens"`
	NetInput   int       `json:"net_input_tokens"`
	NetWrite   int       `json:"net_write_tokens"`
	CostUSD    *float64  `json:"cost_usd"`
	NetCostUSD *float64  `json:"net_cost_usd"`
	// Cold: the cache held nothing of the last prompt's messages. Gap: as long went
	// by since the last call as its entries lived.
	Cold       bool   `json:"cold"`
	Gap        bool   `json:"gap,omitempty"`
	Cut        string `json:"cut,omitempty"`
	Overflow   bool   `json:"overflow,omitempty"`
	Violations int    `json:"violations,omitempty"`
	// Faults are the plan's own, Codes the same by name.
	Faults int            `json:"faults,omitempty"`
	Codes  map[string]int `json:"fault_codes,omitempty"`
	// Resolutions are the pages behind a pointer that this call would have had to
	// fetch, Lost those that it would have had to get again without one; both are
	// priced by restore.
	Resolutions    int      `json:"pointer_resolutions,omitempty"`
	Lost           int      `json:"lost_pages,omitempty"`
	ResolutionsUSD *float64 `json:"pointer_cost_usd"`
	LostUSD        *float64 `json:"lost_cost_usd"`
	// Reads are the recorded reads of files, CausedReads and CausedEdits those that
	// this prompt would have caused.
	Reads       int `json:"recorded_reads,omitempty"`
	CausedReads int `json:"caused_reads,omitempty"`
	CausedEdits int `json:"caused_edits,omitempty"`

	Recall recall.Score `json:"recall"`

	bound Bound
}

// code counts a fault by its name.
func (c *Call) code(name string) {
	if c.Codes == nil {
		c.Codes = map[string]int{}
	}
	c.Codes[name]++
}

// controllable are the faults that another choice of what is shown would have
// prevented. The others come from the host or the machine.
var controllable = map[string]bool{string(fault.Refetch): true, string(fault.DuplicateTool): true}

// price fills in what the bill holds. The fixed part is in front, so its tokens
// are the first that are read, then written for long, then for short.
func (c *Call) price(b cachelayout.Bill, m cachelayout.Model, fixed int, extra *float64) {
	c.Input, c.Read, c.Uncached = b.Total(), b.ReadTokens, b.UncachedTokens
	c.Write5m, c.Write1h, c.Write = b.Write5mTokens, b.Write1hTokens, b.Write5mTokens+b.Write1hTokens
	if c.Input == 0 { // nothing could be sent
		c.CostUSD, c.NetCostUSD = new(float64), new(float64)
		return
	}
	f := fixed
	take := func(n int) int { n = min(n, f); f -= n; return n }
	read, long, short, plain := take(c.Read), take(c.Write1h), take(c.Write5m), take(c.Uncached)
	c.NetInput, c.NetWrite = c.Input-read-long-short-plain, c.Write+c.Uncached-long-short-plain
	c.CostUSD = b.CostUSD
	c.NetCostUSD = costAt(m.TierFor(c.Input), c.Read-read, c.Write5m-short, c.Write1h-long, c.Uncached-plain)
	if extra != nil {
		c.CostUSD, c.NetCostUSD = add(c.CostUSD, extra), add(c.NetCostUSD, extra)
	}
}

// costAt prices tokens by a given tier; nil if a price that it needs is unknown.
func costAt(t cachelayout.Tier, read, write5m, write1h, uncached int) *float64 {
	t.AboveTokens = 0
	return cachelayout.Model{Tiers: []cachelayout.Tier{t}}.Cost(read, write5m, write1h, uncached, 0)
}
