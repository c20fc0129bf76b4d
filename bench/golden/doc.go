// Command golden asks search questions on notes of many genres, and prints one table: its
// recall and nDCG, those of a bare FTS5 table of the same lines, and the difference with the
// 95 % interval of the paired bootstrap.
//
//	golden [-sealed] [-set DIR,DIR...]
//
// The genres are made by the program, always the same ones: lists of things to do,
// source files as notes, reports in six languages, logs, tables, and days written by a
// template. Their texts are the project's own (CC0). Half of the questions of each genre
// are sealed, and -sealed asks only that half. Use -sealed once, at the end: nothing must be
// chosen by its figures. -set adds folders with qa.jsonl. The command must run in the folder
// of the root module, whose files one genre is made of. It writes only temporary folders.
package main
