// Package paging decides, turn by turn, which pages of an agent's state are in the prompt and at
// which fidelity, and reports the cause when a needed page was missing. It is the policy engine
// of the ClawVM paper (EuroMLSys 2026): page table, selector, fault observer, decision trace.
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
// then what is demanded, then the rest by score. When the floors of pinned pages and of work in
// flight do not fit, the decision names those that fell out and the number of missing tokens, and
// the misses that follow are marked budget_insufficient: no policy could help.
//
// A bootstrap or constraint page that nobody pins is loaded when its session starts and goes with
// the first compaction; from then on it must win its place as an upgrade. Automatic pinning
// prevents this.
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
// and the rank of an upgrade is B · Δv/Δtokens. A page climbs one level after the
// other, so a step is never ranked above the one before it. Ties go to the smaller
// page id, then to the lower level. Weights of pin, recency and recompute cost,
// those of the recency strategy and the oracle's are the paper's; v, the shapes of
// R, S and C and the other three weights are ours ([DefaultWeights]).
//
// Two rules of conflict: a page that another supersedes is never raised above its
// floor, and of the pages of one group only one is.
//
// # What can come back
//
// With the resolver a handle is as good as its page: a demand is met by a pointer.
// Without it a demand needs the structured level, and evidence or conversation
// that a prompt once left out, or showed lower, can't rise again until it is
// fetched anew: its content is no longer at hand.
//
// # Writeback
//
// Pages that a turn changed are dirty until a commit point. A policy commits at the boundaries
// that its knobs name; dirty pages at a boundary without commit are lost, once each (flush_miss).
// A commit names the version that it was based on: of two sessions that change one shared page
// the later is rejected (DESTRUCTIVE_OP) and kept, not lost. The validated journal is elsewhere;
// this engine only reports when a commit is due and the loss without it.
//
// The engine is a function of its input: no clock, no randomness, no map order. It
// does no I/O; a trace goes to the writer that it is handed. It is not safe for
// concurrent use. Sizes are tokens, ages are turns.
package paging
