// Package pagevm is the virtual memory of a prompt. It defines the parts of a prompt, and
// the only function that changes a prompt.
//
//   - A [Page] is a typed unit of state: a tool result, a run of a message,
//     a rule. Its type fixes the lowest fidelity at which it may ever be shown
//     ([Floor]).
//   - A [Rep] is a page at one level. Representations are made when a page is ingested, never
//     under pressure, and carry the hash of their bytes. They are extracts, made without a model.
//   - A [Projection] is the only record of the prompt's content: ordered items, each naming a
//     host message, a page, a level and the hash of the bytes shown.
//   - [Next] is the only function that makes a projection. All other components (the cut planner,
//     the selector, the summary, retrieval) must submit [Wishes]. Next grants those that the
//     rules allow and returns the refused ones with the reasons.
//
// Next enforces these rules for every wish:
//
//  1. Without a cut the projection only grows at its end.
//
//  2. A level, once sent, is frozen until a cut. A request that the provider refused was not sent
//     ([Projection.TakeBack]).
//
//  3. No page is shown below its type's floor. A page whose content is not durable neither
//     leaves nor gets a lower level.
//
//  4. An atom (an assistant message with all its results) leaves as a whole. While a tool loop is
//     open, a cut must be forced, or requested by the host in a cold cache. The message that
//     opened the loop never leaves. An open atom never leaves either, and only a forced cut
//     shows it shorter.
//
//  5. A cold event allows at most one cut. A cut that would change nothing is refused.
//
//  6. A page occurs once: at its source position, in the carry block, or as a kernel block. A
//     kernel block follows the newest message of its request, or precedes the last new messages
//     ([Wishes.Ahead]).
//
//  7. Retrieval is granted once per user turn.
//
//  8. A message with content of an unknown type stays in full at its place, and keeps its atom in
//     the prompt. If it is a developer message, the rest of its atom may leave.
//
//  9. A cut removes the thinking of finished steps, unless the provider binds thinking to its
//     prefix and drops invalid thinking itself.
//
// [Select] makes the wish for a cut by the present [State] of each page. Content leaves in the
// order of this list. Within a line, content of the least worth leaves first. Worth is how often
// recorded sessions needed such content:
//
//	text that is gone or shown again   shown at its lowest level, even among the newest
//	finished task                      file neither touched nor named since a commit or a done task
//	by worth                           anything else
//	file in work                       a file that was read or edited since, an open error, the last check
//	newest                             the last 25,000 tokens, at most half of what is kept: as they are
//
// Apart from this order, instructions stay at least as outlines, up to a tenth of the window.
//
// Its subpackages: [github.com/memkernel/memkernel/pagevm/represent] makes representations,
// [github.com/memkernel/memkernel/pagevm/journal] commits pages and updates of them,
// [github.com/memkernel/memkernel/pagevm/mask] takes secrets out of stored texts, and
// [github.com/memkernel/memkernel/pagevm/toolcall] determines what a call does.
//
// Package pagevm never counts tokens, reads a clock, or calls a model: the caller passes token
// counts, times and the state of the cache. Sizes are bytes, costs are tokens.
package pagevm
