package replay

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/replay/recall"
	"github.com/memkernel/memkernel/transcript"
)

// The policies, by name.
const (
	Memkernel      = "memkernel"
	AppendLate     = "append-late"
	AsRecorded     = "recorded"
	ClaudeCode     = "claude-code"
	ContextEditing = "context-editing"
	ClearTools     = "clear-tool-uses"
	CacheTTL       = "cache-ttl"
	MaskingBatch   = "masking-batch"
	Masking        = "masking"
	Batch          = "batch"
	Turns          = "turns"
	Sliding        = "sliding"
	Fullest        = "fullest"
	Oracle         = "oracle"
)

// Policy is a context policy by name, with what it does in a line or two.
type Policy struct{ Name, About string }

// policies are all policies: the kernel, what hosts and providers do, simple rules, and
// the two ends of what can be done.
var policies = []Policy{
	{Memkernel, "this program: append; cut in batches or with a cold cache"},
	{AppendLate, "append until full, then a summary and the newest messages"},
	{AsRecorded, "what the host really sent, with its own summaries"},
	{ClaudeCode, "append until 33k are left, then a summary of 4.5k and the five files read last"},
	{ContextEditing, "Anthropic's server-side clearing from 100k on and compaction from 150k on"},
	{ClearTools, "append-late, and all but 3 tool results cleared from 100k on, if that is worth it"},
	{CacheTTL, "append-late; old tool results shortened by a cold cache"},
	{MaskingBatch, "append-late; results but the newest 10 masked, 30 at a time or by a cold cache"},
	{Masking, "append-late; results but the newest 10 masked, by every call"},
	{Batch, "append until 80k of messages, then the newest 30k"},
	{Turns, "the newest 10 user turns"},
	{Sliding, "the newest 64k tokens of messages"},
	{Fullest, "everything ever said, however large"},
	{Oracle, "the cheapest cuts that show as many references as memkernel, found with the whole session known"},
}

// About lists all policies with what they do.
func About() []Policy { return slices.Clone(policies) }

// Policies lists the names of all policies.
func Policies() (names []string) {
	for _, p := range policies {
		names = append(names, p.Name)
	}
	return names
}

// numbers is how many figures may follow a policy's name, if not one.
var numbers = map[string]int{AsRecorded: 0, ClaudeCode: 0, ContextEditing: 0, Fullest: 0, Batch: 2}

// ParsePolicy takes a policy's name apart: the policy itself, and the figures that a
// name may end with, such as 32000 in sliding-32k; none is the policy's default.
//
//	memkernel-N        N tokens of conversation stay at a cut
//	memkernel-E        E is an economy, save, balanced, keep or such as 0.7, in place of
//	                   Options.Economy
//	append-late-N      N tokens of messages stay at a compaction
//	clear-tool-uses-N  N tool results stay
//	cache-ttl-N        results are cleared from N per cent of the window on
//	masking-batch-N    results are masked N at a time
//	masking-N          N tool results stay
//	batch-HIGH-LOW     over HIGH tokens of messages LOW stay
//	turns-N            N user turns are shown
//	sliding-N          N tokens of messages are shown
//	oracle-N           N per cent of the references are to be shown
func ParsePolicy(name string) (policy string, figures []int, err error) {
	if _, own := ownEconomy(name); own {
		return Memkernel, nil, nil
	}
	for _, p := range Policies() {
		rest, ok := strings.CutPrefix(name, p)
		if ok && (rest == "" || rest[0] == '-') && len(p) > len(policy) {
			policy = p
		}
	}
	want, known := numbers[policy]
	if !known {
		want = 1
	}
	ok := policy != ""
	if rest := strings.TrimPrefix(name, policy); ok && rest != "" {
		for s := range strings.SplitSeq(rest[1:], "-") {
			digits, k := strings.CutSuffix(s, "k")
			n, err := strconv.Atoi(digits)
			if k {
				n *= 1000
			}
			ok = ok && err == nil && n > 0 && n <= 10_000_000 && digits[0] != '+'
			figures = append(figures, n)
		}
		ok = ok && len(figures) == want && (want < 2 || figures[1] < figures[0])
	}
	if !ok {
		return "", nil, fmt.Errorf("%q is none of %s, with a figure behind it as in sliding-32k, two as in batch-80k-30k, or without",
			name, strings.Join(Policies(), ", "))
	}
	return policy, figures, nil
}

// EconomyPolicies are the names of memkernel under each economy, from the cheapest.
func EconomyPolicies() (names []string) {
	for _, e := range cachelayout.Economies() {
		names = append(names, Memkernel+"-"+string(e))
	}
	return names
}

// ownEconomy is the economy that a name ends with.
func ownEconomy(name string) (cachelayout.Economy, bool) {
	word, ours := strings.CutPrefix(name, Memkernel+"-")
	e := cachelayout.Economy(word)
	own := ours && (slices.Contains(cachelayout.Economies(), e) || strings.Contains(word, ".") && e.Check() == nil)
	return e, own
}

// policy plans the calls of a recording in turn.
type policy interface {
	plan(ctx context.Context, n int) (*prompt, error)
	close() error
}

// prompt is what a policy shows for one call.
type prompt struct {
	texts  []string
	behind func(recall.Place) bool
	bill   cachelayout.Bill
	// messages and markers are the request itself, plan the kernel's name for it.
	messages []memkernel.Message
	markers  []transcript.Marker
	plan     string
	// extra is the price of what else the policy called a model for, nil if it is
	// unknown.
	extra *float64
	call  Call
}

// newPolicy makes a policy; goal is what the oracle has to show.
func newPolicy(ctx context.Context, name string, rec *recording, goal int) (policy, error) {
	base, figures, err := ParsePolicy(name)
	if err != nil {
		return nil, err
	}
	n, low := 0, 0
	switch len(figures) {
	case 2:
		n, low = figures[0], figures[1]
	case 1:
		n = figures[0]
	}
	var by chooser
	switch base {
	case Memkernel:
		p := &kernelPolicy{rec: rec, lowWater: n, economy: rec.opt.Economy}
		if own, ok := ownEconomy(name); ok {
			p.economy = own
		}
		return p, p.open(ctx)
	case AppendLate:
		by = newAppendLate(rec, n)
	case AsRecorded:
		by = &recorded{history: newHistory(rec)}
	case ClaudeCode:
		by = newClaudeCode(rec)
	case ContextEditing:
		by = &contextEditing{history: newHistory(rec)}
	case Masking:
		by = newMasking(rec, n)
	case MaskingBatch:
		by = newMaskingBatch(rec, n)
	case Batch:
		by = newBatch(rec, n, low)
	case Turns:
		by = newTurns(rec, n)
	case Sliding:
		by = newSliding(rec, n)
	case CacheTTL:
		by = newCacheTTL(rec, n)
	case ClearTools:
		by = newClearTools(rec, n)
	case Fullest:
		by = &fullest{newHistory(rec)}
	case Oracle:
		by = newOracle(rec, goal)
	}
	return &hostPolicy{rec: rec, by: by}, nil
}
