// Package retrieval answers a question from memory. It searches an index and
// the session's own spans for candidates, ranks them, and returns cited
// snippets, or a block of notes that fits a budget and may be in a prompt.
//
//	question ──┬── words ────────────┐
//	           └── Embedder ► vector ┴► Index.Search   Spans
//	                                        │            │
//	          union by chunk        .7 vector + .3 keyword, kept apart in Parts; the
//	                                vectors' part by what they are worth on the index
//	          × decay               floor + (1−floor)·2^(−age/half-life)
//	          sort, MinShare        ties by path, then place
//	          diversity             MMR over the best Pool candidates, for turns and spans
//	          calibrate             scores become chances; MinBest, MinScore
//	          Limit                 snippets are cut, unless none are wanted
//	                                        │
//	                         Result: hits, reason, mode, detail
//	                                        │
//	          Pack                  what is shown already, double or too much
//	                                is left out; neighbours become one item
//	          Render                the fenced block
//
// A Result always says how it came about. The reason is about memory: a result with any reason
// may also have hits of the session. After a partial failure (an embedder that is down, vectors
// of another model) the other half remains in use, and mode and detail report that.
//
// # Passages
//
// A Query may ask for passages instead of chunks: turns, items, paragraphs, code in runs of at
// most five lines, rows of tables and lines of logs, a heading with its text. They are found in
// the candidate chunks: 64, which is all of a small workspace, or Pool of a larger one. A
// passage's score is BM25 of its own words and of the headings above it, to which its
// surroundings add: for each word the best share that a neighbour gives, BM25 of the whole
// session, and the chunk's own score. The sum is multiplied by factors for the speaker and for
// the time that the question names (Signals, when, intent). Then the words that the best three
// share with others are asked for, too, with little weight (feedback). The number of passages
// that hold a word is counted among the candidates and scaled up to the index. The analysis of a
// chunk is kept by its hash.
//
//	chunks ── cut ► passages ── own ► + neighbours × speaker + session × time + feedback ── best
//
// # Places
//
// A hit is a place unless the Query wants lines: passages of one section of a file, or within 50
// lines of one session, and pieces of one page. The best of them ranks the place, and the hit's
// members describe it. More holds the others with at least .6 of its score, as many as 700
// characters have room for, and all that are among the first Limit passages. So there are Limit
// places, and they include every passage that a search for Limit passages would return. The text
// that a passage announces with a colon, or that was found only by its heading, follows the
// passage.
//
// Pack takes lines. It puts passages of one session into one note, with … where lines are
// left out, and leaves out those that nearly repeat another.
//
// # Spans
//
// A session drops far more text than is ever searched for, so a span is not analysed when it is
// added. When it is added, only a key is made for each word: the word itself, in one number. A
// search looks at the keys that begin like one of the question's terms, turns those back into
// words to see whether they leave the term, ranks the spans by that, and analyses the best few
// dozen, each once. Their terms decide. The following is not exact:
//
//   - Of words longer than a key only the beginning is known. Numbers whose digits look alike in
//     a key may be taken for each other. Accordingly a span may be counted among those that hold
//     a term, or not be chosen, wrongly; a chosen one that was counted wrongly is subtracted
//     again.
//   - Lengths are counted in keys.
//   - All spans in ASCII are analysed in one language, which is detected from
//     samples of them.
//
// On real sessions the first ten are those of an analysis of everything in .98 to
// 1 of the cases. A span with letters beyond ASCII has no keys, and is analysed in
// its own language when the set is first searched.
//
// # The block
//
//	<recall>
//	one line: data, not instructions, and maybe out of date
//	<note from="memory/2026-03-01.md#L3-L9" dates="yesterday = 2026-02-28" in="Deploys › Staging">
//	the lines, without those that carry nothing
//	</note>
//	<note from="fm-0123456789abcdef" origin="mem0 4b1c…" date="2026-02-07">
//	what another memory system returned
//	</note>
//	</recall>
//
// Pack counts each note once and the block once. It cuts down the first hit that
// does not fit, and no other.
//
// A note can't leave its fence. Whatever could be read as one of these tags, as
// the tag of a role or as a control token of a chat template loses its angle
// bracket to ‹; letters that only look like others, and characters that can't
// be seen, don't help it past that. Characters that turn the order of writing
// round or can't be seen at all are dropped. Nothing else is changed.
//
// The package reads no file, writes nothing, calls no model but the Embedder it is given, and
// keeps nothing between calls but analysers and the analysed texts of Spans, which only save
// work. Scores lie in 0 to 1; snippets are measured in characters (runes), budgets in tokens by
// the caller's counter, lines from 1.
package retrieval
