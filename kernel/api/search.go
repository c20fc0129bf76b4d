package api

import (
	"time"
)

// SearchRequest is a question to memory.
type SearchRequest struct {
	// Query is the question in the user's words; nothing in it is syntax.
	Query string
	// Prompt: Query is a whole prompt, which may be longer than [MaxQuestion].
	Prompt bool
	// SessionKey names the session whose past is searched together with the files; "" for files
	// only.
	SessionKey string
	// Private: MEMORY.md, USER.md and past sessions are searched too. A door that
	// doesn't say is shared.
	Private bool
	// Agent is the agent whose past sessions are searched. "" is the one that SessionKey names,
	// or the kernel's. A host must set it, never a model.
	Agent string
	// Source selects the source: SourceMemory, SourceSessions, or "" for all.
	Source string
	// Collection is the name of a folder of kernel.MemoryOptions.Folders, or "workspace" for
	// the workspace's own files: only these are searched. "" is for all.
	Collection string
	// Loaded are the names of files that the host itself shows its model, such as CLAUDE.md. They
	// are left out, in any folder of the workspace.
	Loaded []string
	// MaxResults limits the hits, default [retrieval.DefaultLimit]. MinScore is the least score
	// of a hit. MinBest is the least score of the best hit for there to be any.
	MaxResults        int
	MinScore, MinBest float64
	// Lines requests a hit for each passage; otherwise a hit is a place, see
	// [retrieval.Query].
	Lines bool
	// Wait is how long the search waits for the index to be made, or brought up to date;
	// 0 is kernel.SyncOptions.Wait, negative as long as ctx lasts. Progress, if not nil, is
	// called with how far that is.
	Wait     time.Duration
	Progress func(ReindexProgress)
	// Now is the moment that ages are counted to; zero takes the kernel's clock.
	Now time.Time
}

// MaxQuestion limits the question of a search in bytes: 1 MiB.
const MaxQuestion = 1 << 20

// ReadRequest asks for lines of a memory file.
type ReadRequest struct {
	// Path is relative to the workspace.
	Path string
	// From is the first line; 0 is 1. Lines is the number of lines; 0 is all.
	From, Lines int
	// Private: MEMORY.md, USER.md and documents of past sessions may be read. A door
	// that doesn't say is shared.
	Private bool
	// Agent and SessionKey: see [SearchRequest].
	Agent, SessionKey string
}

// The sources of memory.
const (
	// SourceMemory are the workspace's files.
	SourceMemory = "memory"
	// SourceSessions is the source for messages: those of this session that are no longer shown,
	// and those of other sessions.
	SourceSessions = "sessions"
)
