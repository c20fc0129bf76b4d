// Package solve holds tasks with a mechanical check of their success, and the loop in which
// an agent works on them under a context policy. The agent is told a fact, makes dozens of
// calls with tool results, and only then needs the fact.
//
//	edit    change a file as told some 40 calls ago
//	answer  answer from a tool result of long ago
//	rule    follow a rule that was given at the start
//	plan    finish a numbered plan across cuts and a restart of the process
//	fix     fix the failures of a test run, with several files between
//	newest  tell a value that changed, and not an older one
//
// Tasks are made by rules from a seed: texts of users in four languages, tool results as
// logs, listings, code, JSON, tables and prose, with near misses among them.
//
// The agent is a reader, which is no model and knows only the request as it is sent. It finds
// sentences by their wording. If the prompt names the tool for it, it follows a pointer, and
// if the prompt has the path of a file, it reads the file again. Otherwise it says that it
// doesn't know. The package never calls a model.
package solve
