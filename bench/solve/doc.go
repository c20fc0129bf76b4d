// Package solve holds tasks with a mechanical check of their success, and the loop in which an
// agent works on them under a context policy. The agent learns a fact, makes dozens of calls with
// tool results, and only then needs the fact.
//
//	edit    change a file as told some 40 calls ago
//	answer  answer from a tool result of long ago
//	rule    follow a rule that was given at the start
//	plan    finish a numbered plan across cuts and a restart of the process
//	fix     fix the failures of a test run, with several files between
//	newest  tell a value that changed, and not an older one
//
// Tasks are made by rules from a seed. They have texts of users in four languages, and tool
// results like logs, listings, code, JSON, tables and prose. Some results are near misses.
//
// The agent is a reader. It is not a model, and knows only the request that is sent. It finds
// sentences by their wording. It follows a pointer if the prompt names the tool for pointers, and
// reads a file again if the prompt has the file's path. Otherwise it says that it doesn't know.
// The package never calls a model.
package solve
