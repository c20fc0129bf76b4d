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
// A Result always reports how it was found. The reason is about memory: a result with any reason
// may also have hits of the session. If one of the two searches fails, for example because the
// embedder is down or the vectors are from another model, the result has the hits of the other
// search. Mode and detail report the failure.
//
// # Passages
//
// A Query may request passages instead of chunks. Passages are what a person would quote: turns,
// items, paragraphs, blocks of code, rows of tables, lines of logs, and headings with their text.
// A paragraph that is larger than a snippet is divided between sentences, also within a line.
// Passages are found in the candidate chunks. In a small workspace these are all chunks, up to 64;
// in a larger workspace they are Pool chunks, and some that hold every word of the question or whose
// file has every word in its names. A passage's score is BM25 of its own words and of the
// headings above it, plus shares from its surroundings: for each word the best share of a
// neighbour, BM25 of the whole session, and the chunk's own score. The sum is multiplied by
// factors for the speaker and for the time that the question names (Signals, when, intent). Then
// the words that the best three passages share with other passages are searched for too, with
// little weight (feedback). The number of passages that hold a word is counted among the
// candidates and scaled up to the index. The analysis of a chunk is kept by the chunk's hash.
//
//	chunks ── cut ► passages ── own ► + neighbours × speaker + session × time + feedback ── best
//
// The score decides among passages that are equal in two ways that come before it: how much of the
// question they contain verbatim, where the head of a note that is called like the question is first
// (asTyped, names.go), and, outside of conversations, whether they alone hold every word of the
// question.
//
// # Living text
//
// A passage that a newer one overrules comes after the newer one and names it; the newer one takes
// its place in the order. claim has the rules. Files in folders for archived text, and files whose
// front matter says that they are done or replaced, get a smaller score, which decides among about
// equal matches. If the question is about the past, nothing moves, and only the marks are made.
//
// # Places
//
// Unless the Query wants lines, a hit is a place. A place is the passages of one section of a
// file, or the passages within 50 lines of one session, or the pieces of one page. The best
// passage ranks the place, and the hit's members describe that passage. More holds other passages
// of the place. It holds passages with at least .6 of the best score, as many as fit into 700
// characters, and every passage that is among the first Limit passages. So a search for places
// returns every passage that a search for Limit passages would return. If a passage ends with a
// colon, or was found only by its heading, the text after it follows the passage.
//
// Pack takes lines. It puts passages of one session into one note, with … where sentences are
// left out. It leaves out a passage that nearly repeats another passage.
//
// Both show a passage with its lead: the sentence that announces a list or a block of code, the
// item above an item, the head of a table. A sentence is shown whole. Only if it alone is longer
// than the room, or if a chunk ends within it, a part of it is shown, with … at the cut.
//
// # Spans
//
// A set of spans is searched by BM25 of all its texts, without an index. A text is analysed when its
// set is first searched, and once. On recorded sessions of 450 to 750 kB the first search takes 50
// to 110 ms and each later one less than 1 ms. All texts in ASCII are analysed in one language,
// which is detected from samples of them. Any other text is analysed in its own language.
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
// Pack counts the tokens of each note once and of the block once. It cuts down only the first hit
// that does not fit.
//
// A note can't leave its fence. In any text that could be read as one of these tags, as the tag
// of a role or as a control token of a chat template, the angle bracket is replaced by ‹. This
// also works for names with look-alike letters or invisible characters. Characters that change
// the direction of writing, and invisible characters, are dropped. Nothing else is changed.
//
// The package reads no file, writes nothing, and calls no model except the given Embedder.
// Between calls it keeps only analysers and the analyses of texts, which save work. Scores lie in
// 0 to 1; snippets are measured in characters (runes), budgets in tokens by the caller's counter,
// lines from 1.
package retrieval
