package paging

import (
	"fmt"
	"math"
	"slices"
)

// Upgrade names how a policy spends the tokens that the minimum set leaves.
type Upgrade string

// The upgrade strategies of Table 2, and LRU.
const (
	// UpgradeNone raises nothing.
	UpgradeNone Upgrade = "none"
	// UpgradeRecency ranks per token by recency and a little recompute cost.
	UpgradeRecency Upgrade = "recency"
	// UpgradeLRU raises the most recently used page as far as possible, then the next.
	UpgradeLRU Upgrade = "lru"
	// UpgradeUtility ranks per token by the utility of Appendix A.
	UpgradeUtility Upgrade = "utility"
	// UpgradeOracle adds future demands to the utility.
	UpgradeOracle Upgrade = "oracle"
	// upgradeKernel is the kernel's own: it assembles its prompts itself.
	upgradeKernel Upgrade = "kernel"
)

// Forever is the horizon of an oracle that sees the whole rest of a run.
const Forever = -1

// Knobs are the switches of Table 2.
type Knobs struct {
	// Pin hard-pins bootstrap and constraint pages, regardless of their origin.
	Pin bool `json:"pin"`
	// Prefetch gives the selector the turn's demand before it assembles.
	Prefetch bool `json:"prefetch"`
	// WritebackCompaction commits dirty pages at compactions, at flushes and when a dirty page is
	// lowered.
	WritebackCompaction bool `json:"writeback_compaction"`
	// WritebackReset commits dirty pages at resets, session ends and flushes, and when a dirty
	// page is lowered.
	WritebackReset bool `json:"writeback_reset"`
	// Upgrade is the strategy of the second phase.
	Upgrade Upgrade `json:"upgrade"`
	// Resolve follows pointers to their content.
	Resolve bool `json:"resolve"`
	// Horizon is the number of turns of future demand that an oracle sees, or Forever.
	Horizon int `json:"horizon,omitempty"`
}

// Weights are the factors of the utility function.
type Weights struct {
	PinHard   float64 `json:"pin_hard"`
	PinSoft   float64 `json:"pin_soft"`
	Bootstrap float64 `json:"bootstrap"`
	Plan      float64 `json:"plan"`
	Recency   float64 `json:"recency"`
	Scope     float64 `json:"scope"`
	Recompute float64 `json:"recompute"`
	// Future is the weight of one future demand. Only the oracle uses it.
	Future float64 `json:"future"`
}

// defaultWeights returns the weights of the utility. The weights of pin (2.0 hard, 0.6 soft),
// recency (0.6), recompute cost (0.4) and the oracle (2.2) are from the paper. The weights of
// bootstrap, plan and scope are our choice. An active plan is worth as much as a fresh page, and
// the rules are worth a little more. Scope only breaks near-ties in favour of the session's own
// pages.
func defaultWeights() Weights {
	return Weights{PinHard: 2.0, PinSoft: 0.6, Bootstrap: 0.8, Plan: 0.6, Recency: 0.6, Scope: 0.1, Recompute: 0.4, Future: 2.2}
}

// recencyWeights returns the weights of the recency strategy, which are from the paper.
func recencyWeights() Weights { return Weights{Recency: 0.9, Recompute: 0.1} }

// Policy is a named set of knobs with its weights.
type Policy struct {
	Name string `json:"name"`
	Knobs
	Weights Weights `json:"weights"`
}

// kernelPolicy is the kernel of this module. It is opened on an empty workspace and driven through
// its public API, as a host would drive it.
const kernelPolicy = "memkernel"

// paperPolicies are the policies of Table 2 and LRU, with the bare baseline first.
var paperPolicies = []string{"retrieval", "retrieval+cache", "comp-hybrid", "lru", "clawvm", "oracle"}

// Policies lists the names of all policies: the paper's and the kernel.
func Policies() []string { return append(slices.Clone(paperPolicies), kernelPolicy) }

// OracleHorizon is the lookahead of the policy "oracle", in turns. The value is from the paper.
const OracleHorizon = 3

// PolicyByName returns a policy of Table 2, LRU (section 5.2), or memkernel, which pins nothing
// that its host does not pin and is given no demand. The oracle looks OracleHorizon turns ahead.
func PolicyByName(name string) (Policy, error) {
	whole := Knobs{Pin: true, Prefetch: true, WritebackCompaction: true, WritebackReset: true, Resolve: true}
	p := Policy{Name: name}
	switch name {
	case "retrieval":
		p.Upgrade = UpgradeNone
	case "retrieval+cache":
		p.Knobs = Knobs{Resolve: true, Upgrade: UpgradeNone}
	case "comp-hybrid":
		p.Knobs = Knobs{Prefetch: true, WritebackCompaction: true, Resolve: true, Upgrade: UpgradeRecency}
	case "lru":
		p.Knobs, p.Upgrade = whole, UpgradeLRU
	case "clawvm":
		p.Knobs, p.Upgrade = whole, UpgradeUtility
	case "oracle":
		p.Knobs, p.Upgrade, p.Horizon = whole, UpgradeOracle, OracleHorizon
	case kernelPolicy:
		p.Knobs = Knobs{WritebackCompaction: true, WritebackReset: true, Resolve: true, Upgrade: upgradeKernel}
	default:
		return Policy{}, fmt.Errorf("unknown paging policy %q, use one of %v", name, Policies())
	}
	p.Weights = p.Upgrade.Weights()
	return p, nil
}

// Weights returns the default weights of a strategy.
func (u Upgrade) Weights() Weights {
	switch u {
	case UpgradeRecency:
		return recencyWeights()
	case UpgradeUtility, UpgradeOracle:
		return defaultWeights()
	}
	return Weights{}
}

// The shapes of the utility's terms. They are ours.
const (
	// recencyHalfLife is the age, in turns since the last access, at which recency
	// is worth half.
	recencyHalfLife = 8
	// sharedScope is the value of S for a project-shared page. The value for a session's own page
	// is 1.
	sharedScope = 0.5
)

// The worth of a page under LRU falls by 2^lruDecay with every turn since its last access, up to
// lruAges turns, so that all upgrades of a page precede those of pages that were used earlier.
const (
	lruDecay = 16
	lruAges  = 60
)

// recencyAt is the value of R by age. For greater ages R is 0.
var recencyAt = func() (t [128]float64) {
	for i := range t {
		t[i] = math.Exp2(-float64(i) / recencyHalfLife)
	}
	return t
}()

// recomputeTerm returns the value of C for a cost. C stays below 1, so that one very expensive
// page does not outweigh all others.
func recomputeTerm(cost float64) float64 { return cost / (1 + cost) }
