package paging

import "math"

// upgrade names how a policy spends the tokens that the minimum set leaves.
type upgrade int

// The upgrade strategies of Table 2, and LRU.
const (
	// upgradeNone raises nothing.
	upgradeNone upgrade = iota
	// upgradeRecency ranks upgrades by recency and a little recompute cost, per token.
	upgradeRecency
	// upgradeLRU raises the most recently used page as far as possible, then the next.
	upgradeLRU
	// upgradeUtility ranks upgrades by the utility of Appendix A, per token. A policy with a horizon
	// adds future demands.
	upgradeUtility
	// upgradeKernel means that the kernel assembles the prompts itself.
	upgradeKernel
)

// weightsOf has the default weights of each strategy. The weights of pin (2.0 hard, 0.6 soft),
// recency (0.6), recompute cost (0.4) and the oracle (2.2), and all weights of the recency
// strategy, are from the paper. The weights of bootstrap, plan and scope are our choice. An active
// plan is worth as much as a fresh page, and the rules are worth a little more. Scope only breaks
// near-ties in favour of the session's own pages.
var weightsOf = [upgradeKernel + 1]weights{
	upgradeRecency: {recency: 0.9, recompute: 0.1},
	upgradeUtility: {pinHard: 2.0, pinSoft: 0.6, bootstrap: 0.8, plan: 0.6, recency: 0.6, scope: 0.1, recompute: 0.4, future: 2.2},
}

// weights are the factors of the utility function. future is the weight of one future demand.
type weights struct{ pinHard, pinSoft, bootstrap, plan, recency, scope, recompute, future float64 }

// knobs are the switches of Table 2.
type knobs struct {
	// pin hard-pins bootstrap and constraint pages, regardless of their origin.
	pin bool
	// prefetch gives the selector the turn's demand before it assembles.
	prefetch bool
	// writebackCompaction commits dirty pages at compactions, at flushes and when a dirty page is
	// lowered.
	writebackCompaction bool
	// writebackReset commits dirty pages at resets, session ends and flushes, and when a dirty
	// page is lowered.
	writebackReset bool
	// resolve follows pointers to their content.
	resolve bool
	// upgrade is the strategy of the second phase.
	upgrade upgrade
	// horizon is the number of turns of future demand that an oracle sees.
	horizon int
}

// policy is a set of knobs with its weights.
type policy struct {
	knobs
	weights weights
}

// by returns the policy with an upgrade strategy and its default weights.
func by(u upgrade, k knobs) policy {
	k.upgrade = u
	return policy{k, weightsOf[u]}
}

// kernelPolicy is the kernel of this module. It is opened on an empty workspace and driven through
// its public API, as a host would drive it. The kernel pins only the pages that its host pins, and
// does not know a turn's demand before it plans.
const kernelPolicy = "memkernel"

// whole has every switch of Table 2.
var whole = knobs{pin: true, prefetch: true, writebackCompaction: true, writebackReset: true, resolve: true}

// policies are the policies of Table 2, LRU (section 5.2) and the kernel. The bare baseline is
// retrieval. The oracle's lookahead of three turns is from the paper.
var policies = map[string]policy{
	"retrieval":       by(upgradeNone, knobs{}),
	"retrieval+cache": by(upgradeNone, knobs{resolve: true}),
	"comp-hybrid":     by(upgradeRecency, knobs{prefetch: true, writebackCompaction: true, resolve: true}),
	"lru":             by(upgradeLRU, whole),
	"clawvm":          by(upgradeUtility, whole),
	"oracle":          by(upgradeUtility, knobs{pin: true, prefetch: true, writebackCompaction: true, writebackReset: true, resolve: true, horizon: 3}),
	kernelPolicy:      by(upgradeKernel, knobs{writebackCompaction: true, writebackReset: true, resolve: true}),
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
