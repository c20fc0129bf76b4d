// Package solve holds tasks whose success is checked mechanically, and the loop in which
// an agent works on them under a context policy: what the agent is told is followed by
// dozens of calls with tool results, and only then is it needed.
//
//	edit    change a file as told some 40 calls ago
//	answer  answer from a tool result of long ago
//	rule    follow a rule that was given at the start
//	plan    finish a numbered plan across cuts and a restart of the process
//	fix     fix what a test run showed, with several files between
//	newest  tell a value that changed, and not an older one
//
// Tasks are made by rules from a seed: texts of users in four languages, tool results as
// logs, listings, code, JSON, tables and prose, with near misses among them.
//
// The agent is a reader, which is no model and knows nothing but the request as it is sent.
// It finds sentences by their wording, follows a pointer where the prompt names the tool for
// it, reads a file again if the prompt has its path, and says that it doesn't know otherwise.
// The package never calls a model.
package solve
