package api

import (
	"time"
)

// SearchRequest is a question to memory.
type SearchRequest struct {
	// Query is the question in the user's words. It has no syntax.
	Query string
	// Prompt: Query is a whole prompt, which may be longer than [MaxQuestion], and nobody asked for
	// the hits, see [retrieval.Query]. What a person stated in the session is then left out, as long
	// as the host's prompts hold all of the session.
	Prompt bool
	// SessionKey names the session whose past is searched together with the files; "" for files
	// only.
	SessionKey string
	// Private: MEMORY.md, USER.md and past sessions are searched too.
	Private bool
	// Agent is the agent whose past sessions are searched. "" is the agent that SessionKey names,
	// or else the kernel's agent. Only a host may set Agent, never a model.
	Agent string
	// Source selects the source: SourceMemory, SourceSessions, or "" for all.
	Source string
	// Collection is the name of a folder of kernel.MemoryOptions.Folders, or "workspace" for the
	// workspace's own files. Only the files of this collection are searched. "" searches all
	// collections.
	Collection string
	// Scope selects files. A name matches the files of a folder with this name, the files with this
	// tag, and the files whose front matter has the name under scope or project. Only files that
	// match one of the names are searched. A name that begins with "-" leaves out the files that
	// match it. If all names begin so, all other files are searched.
	Scope []string
	// Folder, if not "", is the folder that the session works in. Files whose front matter names
	// projects are left out unless one of the projects has the name of this folder, of a parent, or
	// of the folder's git repository. For the root of the workspace this applies only if a file
	// names the workspace's own project.
	Folder string
	// Loaded are the names of files that the host itself shows its model, such as CLAUDE.md.
	// Files of these names are left out, in whichever folder of the workspace they are.
	Loaded []string
	// MaxResults limits the number of hits; the default is [retrieval.DefaultLimit].
	MaxResults int
	// MinScore is the least score of a hit. MinBest is the least score of the best hit: if the
	// best hit scores less, the search returns no hits. Every search also leaves out hits that score
	// less than [retrieval.DefaultMinShare] of the best.
	MinScore, MinBest float64
	// Lines requests one hit for each passage. Otherwise a hit is a place; see [retrieval.Query].
	Lines bool
	// Wait is the time that the search waits for the index to be made or updated. 0 takes
	// kernel.SyncOptions.Wait. With a negative Wait the search waits until the context ends.
	Wait time.Duration
	// Peek writes nothing. An existing index is searched as it is. Without an index the files are
	// searched.
	Peek bool
	// Progress, if not nil, is called with the progress of the index's update.
	Progress func(ReindexProgress)
	// Now is the moment that ages are counted to; zero takes the kernel's clock.
	Now time.Time
}

// MaxQuestion limits the question of a search in bytes: 1 MiB.
const MaxQuestion = 1 << 20

// ReadRequest is a request for lines of a memory file.
type ReadRequest struct {
	// Path is relative to the workspace.
	Path string
	// From is the first line to read; 0 reads from line 1. Lines is the number of lines to read;
	// 0 reads all.
	From, Lines int
	// Private: MEMORY.md, USER.md and documents of past sessions may be read.
	Private bool
	// Agent and SessionKey: see [SearchRequest].
	Agent, SessionKey string
}

// The sources of memory.
const (
	// SourceMemory is the source for the workspace's files.
	SourceMemory = "memory"
	// SourceSessions is the source for messages of other sessions, and for messages of this
	// session that the prompt no longer shows.
	SourceSessions = "sessions"
)
