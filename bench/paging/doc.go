// Package paging is the ClawVM paper's evaluation, run on the engine of
// pagevm/paging: workloads, a runner, and the tables next to the paper's figures.
//
// The paper's workload files are not public. Ours are made by rules, and the rules
// fix some counts for all sizes of pages and all orders of upgrades. The rules were chosen
// so that those counts equal the paper's. We call them structural, and a test checks them:
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
// All other figures are ours: page sizes, and so tokens and every fault that depends on
// the space left (upgrades without resolver or pins, the practitioner's setup under
// pressure), hits and thrash. They are printed next to the paper's for comparison and need
// not be equal. The engine knows neither. An equals sign in the tables marks a structural
// cell.
//
// The real sessions of the trace-derived runs are not the paper's; trace.go says how they
// are cut.
//
// The policy memkernel (kernelPolicy) is the kernel itself, opened on a workspace of its
// own and driven through its public API by a simulated host and model. The observer of
// pagevm/paging judges its prompts by their words, as it judges those of any other policy.
// live_faults are the faults that the kernel named in its plans. They are stricter: they
// count pointers that were followed, and calls that ran again for a result that was only
// shortened.
//
// Budgets and page sizes are tokens; in trace-derived workloads, and whenever
// the kernel plays, one unit is 50 tokens, so that the paper's budget of 300
// means 15,000. The package never calls a model.
package paging
