package plan

// RuleNoProgress is the rule by which a cut is refused that would be one more for nothing.
const RuleNoProgress = "no_progress"
