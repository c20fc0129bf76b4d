// Package sample is the invented sample that the program carries: a session of a coding agent,
// and the folder of notes that the agent has that morning.
package sample

import "embed"

// Files holds the session and the notes.
//
//go:embed session.jsonl workspace
var Files embed.FS

// Session and Notes are the names of the session's file and of the notes' folder.
const (
	Session = "session.jsonl"
	Notes   = "workspace"
)
