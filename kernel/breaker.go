package kernel

import "github.com/memkernel/memkernel/kernel/internal/plan"

// RuleNoProgress is the rule by which a cut is refused that would be one more for
// nothing, after two that reclaimed next to nothing.
const RuleNoProgress = plan.RuleNoProgress
