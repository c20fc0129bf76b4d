// Package paging runs the ClawVM paper's evaluation on the engine of pagevm/paging. It has the
// workloads, a runner, and tables that show our figures next to the paper's.
//
// The paper's workload files are not public. Ours are made by rules, and the rules fix some
// counts for all sizes of pages and all orders of upgrades. The rules were chosen so that these
// counts equal the paper's. These counts are called structural, and a test checks them:
//
//	families at any budget, bare baseline: 20 compactions followed by a prompt
//	  (20 post_compaction_bootstrap), one dirty page at each of them and at each of
//	  3 resets (20 and 3 flush_miss), 228 repeated calls and demands of evidence
//	  that has been seen (duplicate_tool and refetch)
//	hence 271 for retrieval, 43 with a resolver, 251 pinned, 251 with writeback at
//	  compaction, 268 with writeback at reset, and 20 or 3 for ClawVM without one
//	  of the two
//	starvation: three pinned pages of 20 tokens in a budget of 40: 10 pinned misses
//	  in 10 turns, each marked budget_insufficient
//	churn: 9 compactions, 280 demands for earlier evidence: 298, and 9 for a
//	  practitioner's setup
//	cascade: 4 compactions, 6 + 7 losses of dirty pages, 60 demands: 77, and 7
//	tasks: one compaction each in 7 of 8 debugging tasks, none elsewhere
//
// All other figures are ours: page sizes, and so tokens and every fault that depends on the space
// left (upgrades without resolver or pins, the practitioner's setup under pressure), hits and
// thrash. The tables print these figures next to the paper's for comparison, and the two need not
// be equal. The engine does not know any of these figures. An equals sign in the tables marks a
// structural cell.
//
// The recorded sessions of the trace-derived runs are not the paper's. trace.go says how they are
// cut.
//
// The policy memkernel (kernelPolicy) is the kernel itself, opened on a workspace of its own and
// driven through its public API by a simulated host and model. The observer of pagevm/paging
// judges its prompts by their words, as it judges the prompts of any other policy. live_faults
// are the faults that the kernel named in its plans. They are stricter: they also count pointers
// that were followed, and calls that ran again because their result had been shortened.
//
// Budgets and page sizes are tokens. In trace-derived workloads, and whenever the policy is the
// kernel, one unit is 50 tokens, so that the paper's budget of 300 means 15,000 tokens. The
// package never calls a model.
package paging
