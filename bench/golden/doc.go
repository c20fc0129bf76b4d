// Command golden puts questions of many genres to search, and prints one table: what is
// found, what a bare FTS5 table of the same lines finds, and the difference with the
// interval of 95 % of the paired bootstrap.
//
//	golden [-sealed] [-set DIR,DIR...]
//
// The genres are made by the program, always the same ones: lists of things to do,
// source files as notes, reports in six languages, logs, tables, and days written by a
// template. Their texts are the project's own (CC0). Half of each one's questions is
// sealed: -sealed asks that half and no other, at the end, when nothing is chosen by it
// any more. -set adds folders with qa.jsonl. Run it in the folder of the root module, whose
// files one genre is made of. It writes nothing but temporary folders.
package main
