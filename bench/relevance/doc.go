// Package relevance judges retrieval on questions whose answers are at known places.
//
// A set is a folder with Markdown files like a workspace's, and with qa.jsonl. Each row of
// qa.jsonl has a question and its evidence lines. A hit covers an evidence line if the hit is in
// the line's file and its range contains the line. So any way of cutting files into chunks can be
// judged. Questions without evidence are skipped.
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
//	                      of ten hits that covers it, over the sum that the lines would
//	                      count at ranks 1, 2, 3 …; at most 1, since one hit may
//	                      cover several
//
// Each figure is the mean over the questions, between 0 and 1. Tokens are counted by o200k. The
// package writes only an index in a temporary folder.
package relevance
