// Package paging runs the evaluation of the ClawVM paper (EuroMLSys 2026). It has the paper's
// policies, the workloads, a runner, and tables that show our figures next to the paper's.
//
// A policy assembles every prompt as the kernel does: pagevm.Select chooses, and pagevm.Next makes
// the projection. The policy only says which pages must stay, how much each page is worth, and
// which changes are written back when.
//
// # A turn
//
//  1. The prompt is assembled: the minimum set, then upgrades (Listing 1). With prefetch the
//     turn's demand is known by then.
//  2. The observer looks at the assembled prompt: pinned pages, bootstrap pages after a
//     compaction, equal tool calls, demanded pages.
//  3. Results arrive: new pages, and pages that had to be fetched again.
//  4. Pages become dirty.
//  5. Events strike in their order (flush, compaction, reset, session_end), then recalls are
//     judged.
//
// Every page has a floor, the minimum level of its type (Table 1). The floor of bootstrap,
// constraint and active plan pages is structured, and the floor of all others is the pointer.
// Hard-pinned pages come first, then demanded pages, then the rest by score. If the floors of
// pinned pages do not fit, the decision names the pages that were left out and the number of
// missing tokens. The resulting misses are marked budget_insufficient: no policy could prevent them.
//
// A bootstrap or constraint page that nobody pins is loaded when its session starts, and the
// first compaction removes it. From then on the page must win its place as an upgrade. Automatic
// pinning prevents this.
//
// Upgrades are chosen by pagevm.Select, with the score B of a page as its worth:
//
//	B = pin + boot + plan + recency·R + scope·S + recompute·C (+ future·N)
//
// Each level has a share of the page's worth, the same share that this level of a tool result has in
// the kernel. Select ranks upgrades by worth per token. The weights of pin, recency and recompute cost,
// the weights of the recency strategy and the oracle's weight are from the paper. The shapes of R,
// S and C and the other three weights are our choice.
//
// With the resolver, a pointer meets a demand. Without the resolver, a demand needs the structured
// level. Evidence or conversation whose level was lowered then has lost its content, and can't rise
// again until it is fetched again.
//
// Pages that a turn changed are dirty until a commit point. A policy commits at the boundaries that
// its knobs name. Dirty pages at a boundary without a commit are lost, and each loss is counted
// once (flush_miss). If two sessions change one shared page, the later commit is rejected
// (DESTRUCTIVE_OP), and its change is kept.
//
// # The figures
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
// All other figures depend on our page sizes: tokens, hits, thrash, and every fault for lack of
// space (upgrades without resolver or pins, the practitioner's setup under pressure). The tables
// print these figures next to the paper's for comparison, and the two need not be equal. The
// policies do not know any of these figures. An equals sign in the tables marks a structural cell.
//
// The recorded sessions of the trace-derived runs are not the paper's. [fromTranscript] describes
// how a session becomes a workload.
//
// The policy memkernel (kernelPolicy) is the kernel itself, opened on a workspace of its own and
// driven through its public API by a simulated host and model. The words of its prompts show at
// which level each page is. The observer judges these levels as it judges those of any policy.
//
// Budgets and page sizes are tokens. In trace-derived workloads, and whenever the policy is the
// kernel, one unit is 50 tokens, so that the paper's budget of 300 means 15,000 tokens. The
// package never calls a model.
package paging
