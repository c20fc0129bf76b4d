// Package bench measures the cost of memkernel to its host: planning a prompt, counting tokens,
// reading transcripts. It holds only benchmarks. The other packages of the module judge
// memkernel, make files and check releases. The command cmd/mkbench runs most of the judgements. Its
// JSON documents are not in doc/schema.json.
//
//	go test -C bench -run '^$' -bench .
//
// A time alone means little on another machine. So each benchmark also measures a reference in the
// same run, and reports its own figure relative to the reference:
//
//	BenchmarkPlan    a plan, as a share of the processor time that the reference
//	                 tokenizer (tiktoken-go) takes to tokenise the same texts once
//	BenchmarkCount   the o200k counter against the reference tokenizer
//	BenchmarkRead    transcripts of every dialect against bare encoding/json
//	BenchmarkIndex…  the index against a bare FTS5 table, and against find
//	BenchmarkRetrieval  a search by words, vectors and context against a bare FTS5
//	                 table, and the memory of a process with a kernel open
//	BenchmarkWorkspaces  many small workspaces in one process against as many bare
//	                 FTS5 tables
//	BenchmarkVectors a search among vectors against a plain loop over them
//	BenchmarkRecall  the time that memory adds to a plan
//	BenchmarkColdSearch  a search as a process of its own against one that does
//	                 nothing
//	BenchmarkObserve  a committed turn of a long session against one of a short
//	BenchmarkProxy   an answer's first byte through the proxy against directly
//	BenchmarkProxyBill  the bill of a session with pauses through the proxy against
//	                 directly, with plans that come too late and on a busy machine
//
// Metrics, in addition to those of package testing:
//
//	%-of-tiktoken    processor time of the plan, in percent of the reference's for
//	                 all texts of the conversation; clock-% is the same by the clock,
//	                 without syncs
//	peak-MB          growth of the heap while a first plan is made
//	sync-ms/op       time inside fsync and syncfs, milliseconds per plan; the
//	                 file system's name is in the benchmark's name
//	bill-%           the proxy's addition to the bill of all input, in percent;
//	                 direct-usd and proxy-usd are the bills, unplanned counts the
//	                 requests without a plan in time, cuts the requests with a cut
//	added-ms         the proxy's delay of the first byte, medians, milliseconds
//	cpu-us/turn      processor time per turn, microseconds; x-smallest is the same
//	                 relative to the shortest session of the same benchmark
//	x-reference      how many times faster than the reference tokenizer
//	x-json-any       throughput against encoding/json decoding the same lines
//	x-json-struct    into any, and into a struct that leaves all content raw
//
// The benchmarks use no network. The conversation is the bundled sample, about 200,000 tokens in
// 495 messages. The indexed notes are made from real text next to the repository. If that text is
// missing, the benchmarks that need it are skipped. BenchmarkRecall, BenchmarkRetrieval and
// BenchmarkColdSearch use invented words instead.
package bench
