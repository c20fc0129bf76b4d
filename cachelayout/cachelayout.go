// Package cachelayout models the effect of a provider's prompt cache on a prompt and its cost. It
// names the places where cache markers go and remembers the sent requests. It predicts the tokens
// that the next request reads, writes and pays, and computes when the cache is cold and when a
// cut is worth the broken cache.
//
// It is pure: it takes values and returns values. It reads no clock, no file and no network,
// never sees the text of a prompt (only hashes and counts), and never guesses a price. The price
// of a model that is not in the book is nil and not zero.
//
// A prompt is a list of [Block] in the order in which providers hash it:
//
//	┌───────┬────────┬───────┬─────────────┬───────────┬────────┐
//	│ tools │ system │ carry │ working_set │ retrieval │ newest │
//	└───────┴────────┴───────┴─────────────┴───────────┴────────┘
//	         fixed ▲    carry ▲    previous tail ▲           end ▲
//
// The four arrows are the [Breakpoint] places. With the prompt billed the way
// Anthropic documents it:
//
//	A = tokens up to the highest live entry that a breakpoint can see
//	B = tokens up to the highest long-lived breakpoint after A, or A
//	C = tokens up to the last breakpoint
//	read A │ write long B−A │ write short C−B │ uncached rest
//
// Units: tokens are provider tokens, prices are US dollars per million tokens, and only the input
// side is billed unless a name states otherwise. "Short" and "long" are a provider's two cache
// lifetimes: 5 minutes and 1 hour at Anthropic, 30 minutes and 12 hours at OpenAI; the fields for
// these lifetimes are named 5m and 1h, as Anthropic's are.
//
// Start reading at [Ledger].
package cachelayout
