// Command peers puts the same questions, on the same files, to memkernel and to
// other programs that search Markdown, and prints one table.
//
//	peers -dir FOLDER -set DIR,DIR... [-questions 20] [-chunks 10000] [-only NAME,NAME]
//
// The folder holds the program and, in folders of their own, what npm installed as
// node, qmd and openclaw: make bench-peers makes it. A peer that can't be had, or
// fails, has a row with the reason. The peers:
//
//	memkernel      by words alone, in this process
//	memkernel-cli  the same, a process for each question
//	fts5           a bare FTS5 table of the lines, porter and unicode61, any word,
//	               ORDER BY bm25
//	bleve          an index of the lines in memory, standard analyser, BM25, any word
//	qmd            qmd search, words alone, a process for each question
//	openclaw       memory-core without an embedding provider, a process for each
//
// What is measured:
//
//	R@10      share of a question's evidence lines that the first ten hits cover
//	R 1k      the same of as many first hits as fit into 1,000 tokens with their
//	          whole lines: hits of several lines cover more, and cost more
//	empty     share of questions without any hit
//	lines     mean length of a hit
//	index     seconds to index one set, mean
//	p50       ms for a question; on the sets, and on files of so many chunks made
//	          of all sets' lines in a fixed shuffle
package main
