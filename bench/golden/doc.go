// Command golden puts questions about notes of many genres to search, and prints one table. The table
// has the recall and the nDCG of search, the same figures of an FTS5 table of the same files, and
// the differences with the 95 % interval of the paired bootstrap.
//
//	golden [-sealed] [-set DIR,DIR...]
//
// The program makes the genres, always the same ones: lists of things to do, source files as
// notes, reports in six languages, logs, tables, and days written by a template. Their texts are
// the project's own (CC0). Half of the questions of each genre are sealed, and -sealed asks only
// that half. Use -sealed once, at the end, and never tune anything by its figures. -set adds folders with qa.jsonl. The command must run in the folder of the root module,
// because one genre is made of the module's files. It writes only temporary folders.
package main
