// Package journal commits state durably, in a log of records ([store.Log]).
//
//   - A [Journal] is a log with the commits among its records. [Recover] reads the sound part of
//     a damaged one.
//   - A [State] is the result of the journal's writebacks: pages by scope and key, with every
//     version that their entries ever had.
//
// The contract, for every writer ([Journal.Writeback]):
//
//  1. State changes only by typed updates (append, merge, set_with_version) that
//     name their field, scope, principal and evidence, staged together at a
//     [CommitPoint].
//  2. Each is checked by [Rules] in a fixed order: schema, provenance, scope, non-destruction,
//     policy. A failed update stays in the journal with its code. The rest of the transaction is
//     committed, unless it is all or nothing.
//  3. A later commit neither removes nor changes committed values: entries of a list stay. Only a
//     writer that knew the last version of a map member or scalar can supersede it. The old
//     versions are kept.
//  4. A transaction is one append: after a crash the journal holds all of it or
//     nothing. A transaction is durable once [Journal.Writeback] has returned, and a second
//     delivery of it is a duplicate.
//  5. Replaying the journal gives the same state, byte for byte, under any rules. Replaying it
//     after [Journal.Compact] gives the same state, too.
//
// The contract does not judge whether an update is true.
//
// Package journal never makes a representation, and never decides the content of a prompt.
package journal
