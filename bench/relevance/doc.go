// Package relevance judges retrieval on questions with known places of their answers.
//
// A set is a folder: Markdown files as a workspace has them, and qa.jsonl with a
// question and its evidence lines in each row. A hit covers an evidence line if
// it is of that file and its line range contains the line, so any way of cutting
// files into chunks can be judged. Questions without evidence are skipped.
//
//	recall_at_k           the share of a question's evidence lines that its
//	                      first k hits cover
//	recall_within_tokens  the same of as many first hits as fit with their whole
//	                      texts; the first that does not fit ends it
//	recall_packed         the same of the notes that retrieval.Pack makes of the
//	                      hits, in a block of so many tokens
//	mrr                   1 over the rank of the first hit that covers any
//	                      evidence, 0 if none does
//	ndcg_at_10            every evidence line counts 1/log2(1+rank) by the first
//	                      of ten hits that covers it, over what the lines would
//	                      count at ranks 1, 2, 3 …; at most 1, since one hit may
//	                      cover several
//
// Each is the mean over the questions, between 0 and 1. Tokens are those of
// o200k. Nothing is written but an index in a temporary folder.
package relevance
