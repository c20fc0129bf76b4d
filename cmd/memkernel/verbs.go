package main

import "github.com/spf13/cobra"

// row is a verb in the table: how the verb is called, what it does in a line, and what
// makes its flags, its help and its run.
type row struct {
	use, summary string
	command      func(*app) *cobra.Command
}

// verbs are all there are, by family. Help, completion and man pages are made from them.
var verbs = []row{
	// What a model call gets to see.
	{"plan --transcript FILE", "plan one model call of a session, and explain it", newPlan},

	// Sessions: what is taken in of them, their boundaries, what is forgotten.
	{"observe --transcript FILE", "commit a whole transcript to a session's memory", newObserve},
	{"flush", "write what a session came to into the day's log", newFlush},
	{"compact", "make room in a session now, or before its host does", newCompact},
	{"reset", "commit what is known of a session and begin it anew", newReset},
	{"checkpoint", "write a session's working state as a checkpoint", newCheckpoint},
	{"restore", "print the text from which a session goes on", newRestore},
	{"forget ID... | --all", "remove pages, blobs or a session from all that is kept", newForget},
	{"retain", "remove what is older than the configuration keeps it", newRetain},

	// Memory: the index of the workspace, and what it answers.
	{"reindex", "bring the index up to date with the workspace's Markdown", newReindex},
	{"search QUERY…", "search memory, and cite what is found", newSearch},
	{"get PATH[:FROM[:LINES]] | PAGE-ID", "print lines of a memory file, or what a pointer stands for", newGet},
	{"migrate --to BACKEND", "move the index to another backend, vectors included", newMigrate},

	// Upkeep of memory's files.
	{"audit", "find what is wrong with memory: stale, too large, doubled, contradictory", newAudit},
	{"curate", "bring what a day came to into MEMORY.md", newCurate},
	{"prune", "take out of memory what no longer holds, and what there is no room for", newPrune},
	{"nightly", "audit, curate and prune, in this order", newNightly},
	{"guard", "refuse a MEMORY.md that lost too much of itself", newGuard},

	// The state folder: what is there, and whether it is whole.
	{"status", "say what is stored where, and how big it is", newStatus},
	{"stats", "say what was billed over time, and what was planned", newStats},
	{"doctor", "say what is wrong, and how to mend it", newDoctor},
	{"check", "verify everything that the state folder holds", newCheck},
	{"salvage --session KEY | --project", "take what is sound of a damaged session, and say what is lost", newSalvage},

	// Judging: what policies and search are worth.
	{"replay --transcript FILE", "replay a session call by call under context policies, and compare", newReplay},
	{"bench", "run a benchmark and stand its figures beside published ones", newBench},
	{"eval --set DIR...", "judge search on questions whose answers' places are known", newEval},

	// Doors for hosts.
	{"serve", "serve hosts of any language by JSON-RPC, on a socket or on standard streams", newServe},
	{"mcp", "offer memory to a client of the Model Context Protocol", newMCP},
	{"hook --host NAME", "answer a hook of Claude Code, Codex or Gemini CLI", newHook},
	{"proxy --upstream URL", "stand between a client and a model's API, and plan each request", newProxy},

	// The program itself.
	{"prices [MODEL...]", "list the price book, or convert a public catalogue", newPrices},
	{"config", "print every setting and where its value came from", newConfig},
	{"version", "print the version", newVersion},
	{"man [FOLDER]", "write the man pages", newMan},
}
