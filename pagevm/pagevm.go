// Package pagevm is the virtual memory of a prompt. It holds the parts of a prompt and the one
// rule by which it changes.
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
// The rules that Next holds, whatever is wished:
//
//  1. Off a cut the projection only grows at its end.
//
//  2. A level, once sent, is frozen until a cut. A request that the provider refused was not sent
//     ([Projection.TakeBack]).
//
//  3. No page goes below its type's floor, and none whose content is not durable
//     is degraded or leaves.
//
//  4. Atoms (an assistant turn with all its results) leave whole. In an open tool loop only
//     closed atoms may degrade or leave, and only when the cut is forced, or asked for by the
//     host while the cache is cold; the message that opened the loop never leaves. An open atom
//     never leaves, and is shown shorter only if the cut is forced.
//
//  5. One cold event makes at most one cut, and none when nothing would change.
//
//  6. A page occurs once: at its source position, in the carry block, or as a kernel block after
//     the message that was newest ([Wishes.Ahead]: or before new ones that end the request).
//
//  7. Retrieval is granted once per user turn.
//
//  8. A message with content of an unknown type stays in full at its place, and so does
//     its atom. A developer message of that kind lets the rest of its atom leave.
//
//  9. A cut leaves the thinking of finished steps out, unless the provider binds thinking to its
//     prefix and drops it itself.
//
// [Select] wishes for a cut by what each page is now ([State]). Content leaves in this order, and
// within a line by its worth, which is how often such content was needed in recorded sessions:
//
//	text that is gone or shown again   shown at its lowest level, even among the newest
//	finished task                      file neither touched nor named since a commit or a done task
//	by worth                           anything else
//	file in work                       a file that was read or edited since, an open error, the last check
//	newest                             the last 25,000 tokens, at most half of what is kept: as they are
//
// Beside this order, instructions stay at least as outlines, as far as they take a tenth of the window.
//
// Its subpackages: [github.com/memkernel/memkernel/pagevm/represent] makes representations,
// [github.com/memkernel/memkernel/pagevm/journal] commits pages and updates of them,
// [github.com/memkernel/memkernel/pagevm/mask] takes secrets out of stored texts, and
// [github.com/memkernel/memkernel/pagevm/toolcall] determines what a call does.
//
// Pagevm never counts tokens, reads a clock, or calls a model: token counts, times and the state
// of the cache come in as numbers from the caller. Sizes are bytes, costs are tokens.
package pagevm
