// Package paging decides, turn by turn, which pages of an agent's state are in the prompt and at
// which fidelity, and reports the cause when a needed page was missing. It implements the policy
// engine of the ClawVM paper (EuroMLSys 2026), with page table, selector, fault observer and
// decision trace.
//
//	Page  ──Add──►  Table, in an Engine
//	                  │ Step(Turn): the policy assembles the prompt
//	                  │ Observe(Turn, Prompt): somebody else did
//	                  ▼
//	               Outcome: levels that changed, what did not fit and by how much,
//	                        faults, alerts, hits, commits  ──►  Tracer, Replay
//
// A [Turn] is one model call. Step takes it in this order:
//
//  1. The prompt is assembled: the fixed region, then the minimum set, then
//     upgrades (Listing 1). With prefetch the turn's demand is known by then.
//  2. The fault observer looks at the assembled prompt: pinned pages, bootstrap
//     pages after a compaction, equal tool calls, demanded pages.
//  3. Results arrive: new pages, and pages that had to be fetched again.
//  4. Pages become dirty; work begins and ends.
//  5. Events strike in their order (flush, compaction, reset, session_end), then
//     recalls are judged.
//
// # Minimum set
//
// Every page has a floor, its type's minimum fidelity (Table 1): bootstrap, constraint and active
// plan pages structured, all others the handle. Hard-pinned pages and work in flight come first,
// then demanded pages, then the rest by score. When the floors of pinned pages and of work in
// flight do not fit, the decision names those that fell out and the number of missing tokens, and
// the misses that follow are marked budget_insufficient: no policy could help.
//
// A bootstrap or constraint page that nobody pins is loaded when its session starts, and the
// first compaction removes it. From then on the page must win its place as an upgrade. Automatic
// pinning prevents this.
//
// # Upgrades
//
// Appendix A ranks upgrades by Δutility/Δtokens but lets only the recompute term
// depend on the representation. Here the whole score B of a page is scaled by
// v(level), the share of its worth that a level carries, so that
//
//	U(page, level) = v(level) · B(page)      v: 0, .02, .45, .85, 1
//	B = pin + boot + plan + recency·R + scope·S + recompute·C (+ future·N)
//
// and the rank of an upgrade is B · Δv/Δtokens. A page climbs one level after the other, so a
// step never ranks above the page's previous step. Ties go to the smaller page id, then to the
// lower level. The weights of pin, recency and recompute cost, the weights of the recency
// strategy and the oracle's weight are from the paper. The function v, the shapes of R, S and C
// and the other three weights are our choice.
//
// Two rules resolve conflicts. A page that another page supersedes is never raised above its
// floor. Of the pages of one group only one is raised above its floor.
//
// # What can come back
//
// With the resolver a pointer meets a demand. Without the resolver a demand needs the structured
// level. Evidence or conversation that a prompt once left out, or showed at a lower level, then
// can't rise again until it is fetched again, because its content is no longer available.
//
// # Writeback
//
// Pages that a turn changed are dirty until a commit point. A policy commits at the boundaries that
// its knobs name. Dirty pages at a boundary without a commit are lost, and each loss is counted
// once (flush_miss). A commit names the version that it was based on. If two sessions change one
// shared page, the later commit is rejected (DESTRUCTIVE_OP), and its change is kept. The validated
// journal is in package journal. This engine only reports when a commit is due, and the loss
// without one.
//
// The engine is a function of its input: no clock, no randomness, no map order. It does no I/O,
// except that a [Tracer] writes to the writer that it was given. An engine is not safe for
// concurrent use. Sizes are tokens, ages are turns.
package paging
