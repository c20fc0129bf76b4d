package replay

import (
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/replay/recall"
)

// Call is the prompt and the cost of one call of a replay, in tokens and US dollars. Net figures
// leave out the tokens of the fixed part and their cost in this call.
type Call struct {
	// Index counts the session's calls from 0, including unplanned ones.
	Index int       `json:"index"`
	Key   string    `json:"key"`
	Time  time.Time `json:"time,omitzero"`
	Input int       `json:"input_tokens"`
	Read  int       `json:"cache_read_tokens"`
	// Write counts the tokens written with both lifetimes.
	Write    int `json:"cache_write_tokens"`
	Write5m  int `json:"cache_write_5m_tokens"`
	Write1h  int `json:"cache_write_1h_tokens"`
	Uncached int `json:"uncached_tokens"`
	// NetInput is Input without the fixed part.
	NetInput int `json:"net_input_tokens"`
	// NetWrite counts the tokens written or uncached, without the fixed part.
	NetWrite   int      `json:"net_write_tokens"`
	CostUSD    *float64 `json:"cost_usd"`
	NetCostUSD *float64 `json:"net_cost_usd"`
	// Output is the number of tokens of the recorded answer. It is the same under every policy. Its
	// price is that of the tier to which this prompt's size leads.
	Output        int      `json:"output_tokens"`
	OutputCostUSD *float64 `json:"output_cost_usd"`
	// Cold reports whether the cache held none of the last prompt's messages.
	Cold bool `json:"cold"`
	// Cut is the reason why a part of the prompt left it.
	Cut string `json:"cut,omitempty"`
	// Overflow reports whether the prompt is over window minus reserve.
	Overflow bool `json:"overflow,omitempty"`
	// Violations are broken rules of the provider.
	Violations int `json:"violations,omitempty"`
	// Faults counts the plan's own faults, and Codes counts them by name.
	Faults int            `json:"faults,omitempty"`
	Codes  map[string]int `json:"fault_codes,omitempty"`
	Recall recall.Score   `json:"recall"`
	// Actions counts the answer's tool calls with input that was seen before.
	Actions int `json:"actions,omitempty"`
	// ActionsReady counts the Actions whose earlier seen input was all in the prompt.
	ActionsReady int `json:"actions_ready,omitempty"`
	// Edits counts the answer's edits of a line that was seen before.
	Edits int `json:"edits,omitempty"`
	// BlindEdits counts the Edits whose line was not shown.
	BlindEdits int  `json:"blind_edits,omitempty"`
	Held       held `json:"-"`

	bound bound
}

// code counts a fault by its name.
func (c *Call) code(name string) {
	if c.Codes == nil {
		c.Codes = map[string]int{}
	}
	c.Codes[name]++
}

// controllable are the faults that a better choice of the shown items would have prevented. The
// others come from the host or the machine.
var controllable = map[string]bool{string(fault.Refetch): true, string(fault.DuplicateTool): true}

// price fills in the cost by the bill. The fixed part is at the front of the prompt, so its
// tokens are taken first from the tokens that are read, then from those written for an hour, then
// from those written for five minutes.
func (c *Call) price(b cachelayout.Bill, m cachelayout.Model, fixed int, extra *float64) {
	c.OutputCostUSD = priced(c.Output, m.TierFor(b.Total()).Output)
	messages := sections{b.ReadTokens, b.Write1hTokens, b.Write5mTokens, b.UncachedTokens}
	c.Input, c.Read, c.Uncached = b.Total(), b.ReadTokens, b.UncachedTokens
	c.Write5m, c.Write1h, c.Write = b.Write5mTokens, b.Write1hTokens, b.Write5mTokens+b.Write1hTokens
	if c.Input == 0 { // nothing could be sent
		c.CostUSD, c.NetCostUSD = new(float64), new(float64)
		return
	}
	messages.drop(fixed)
	tier := m.TierFor(c.Input)
	c.NetInput, c.NetWrite = messages.tokens(), messages.written()
	c.CostUSD, c.NetCostUSD = add(b.CostUSD, extra), add(messages.cost(tier), extra)
}

// sections are the tokens of a prompt by how they are billed, in the order of the prompt.
type sections struct{ read, write1h, write5m, uncached int }

// drop takes n tokens off the front.
func (s *sections) drop(n int) {
	for _, p := range []*int{&s.read, &s.write1h, &s.write5m, &s.uncached} {
		taken := min(*p, n)
		*p, n = *p-taken, n-taken
	}
}

func (s *sections) tokens() int { return s.read + s.written() }

func (s *sections) written() int { return s.write1h + s.write5m + s.uncached }

// cost prices the tokens by a given tier. The result is nil if a needed price is unknown.
func (s *sections) cost(t cachelayout.Tier) *float64 {
	t.AboveTokens = 0
	return cachelayout.Model{Tiers: []cachelayout.Tier{t}}.Cost(s.read, s.write5m, s.write1h, s.uncached, 0)
}

// act counts how the prompt served the answer's tool calls.
func (c *Call) act(all []recall.Action) {
	for i := range all {
		a := &all[i]
		c.Actions += count(a.Tokens > 0)
		c.ActionsReady += count(a.Tokens > 0 && a.Ready())
		c.Edits += a.Edits
		c.BlindEdits += a.Blind
		c.Held.Fresh.Add(a.Fresh)
		c.Held.Changed.Add(a.Changed)
	}
}
