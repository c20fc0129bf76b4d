// Package pagevm is the virtual memory of a prompt. It holds what a prompt is
// made of and the one rule by which it changes.
//
//   - A [Page] is a typed unit of state: a tool call with its result, a message,
//     a rule. Its type fixes the lowest fidelity at which it may ever be shown
//     ([Floor]) and the levels in between ([Path]).
//   - A [Rep] is a page at one level. Representations are made when a page is
//     ingested, never under pressure, and carry the hash of their bytes. They are
//     extracts, made without a model; a host may have its own [Compressor]. What a
//     structured one says stands beside it as typed [Fields].
//   - A [Projection] is the only record of what is in the prompt: ordered items,
//     each naming a host message, a page, a level and the hash of the bytes shown.
//   - [Next] is the only function that makes a projection. Everybody else (the
//     cut planner, the selector, the summary, retrieval) submits [Wishes]; Next
//     grants what the rules allow and says what it refused and why.
//   - A [Journal] is the commit: a line in it either stands whole or never was.
//   - A [Store] is what the journal's writebacks made: pages by scope and key, with
//     every version that their entries ever had.
//
// The rules that Next holds, whatever is wished:
//
//  1. Off a cut the projection only grows at its end.
//  2. A level, once sent, is frozen until a cut. What a provider refused was not sent
//     ([Projection.TakeBack]).
//  3. No page goes below its type's floor, and none whose content is not durable
//     is degraded or leaves.
//  4. Atoms (an assistant turn with all its results) leave whole. In an open tool
//     loop only closed atoms may degrade or leave, and only when the cut is
//     forced, or asked for by the host while the cache is cold; the message that
//     opened the loop never leaves.
//     What is open never leaves; it is shown shorter only where the cut is forced.
//  5. One cold event makes at most one cut, and none when nothing would change.
//  6. A page stands once: at its source position, in the carry block, or as a
//     block of the kernel's behind the message that was newest ([Wishes.Ahead]: or
//     before new ones that end the request).
//  7. Retrieval is granted once per user turn.
//
// The journal's contract, whoever writes ([Journal.Writeback]):
//
//  1. State changes only by typed updates (append, merge, set_with_version) that
//     name their field, scope, principal and evidence, staged together at a
//     [CommitPoint].
//  2. Each is checked by [Rules] in a fixed order: schema, provenance, scope,
//     non-destruction, policy. What fails stays in the journal with its code; the
//     rest of the transaction stands, unless it is all or nothing.
//  3. Nothing that was committed is lost or changed by a later commit: entries of
//     a list stay, a member or scalar is superseded only by who knew its last
//     version, and keeps its old ones.
//  4. A transaction is one write and one fsync: after a crash it is there whole or
//     not at all. An acknowledged one is there, and a second delivery of it is a
//     duplicate.
//  5. Replaying the journal gives the state that stood, byte for byte, whatever the
//     rules say by then; so does replaying it after [Journal.Compact].
//
// The contract does not judge whether an update is true.
//
// Pagevm never counts tokens, reads a clock, or calls a model: token counts,
// times and the state of the cache are handed in as numbers. Sizes are bytes,
// costs are tokens.
package pagevm
