package main

import (
	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/cmd/memkernel/internal/cli"
	"github.com/memkernel/memkernel/cmd/memkernel/internal/verbs/about"
	"github.com/memkernel/memkernel/cmd/memkernel/internal/verbs/hosts"
	"github.com/memkernel/memkernel/cmd/memkernel/internal/verbs/measure"
	"github.com/memkernel/memkernel/cmd/memkernel/internal/verbs/memory"
	"github.com/memkernel/memkernel/cmd/memkernel/internal/verbs/plan"
	"github.com/memkernel/memkernel/cmd/memkernel/internal/verbs/session"
	"github.com/memkernel/memkernel/cmd/memkernel/internal/verbs/state"
	"github.com/memkernel/memkernel/cmd/memkernel/internal/verbs/upkeep"
)

// row is a verb in the table: how the verb is called, what it does in a line, and what
// makes its flags, its help and its run.
type row struct {
	use, summary string
	command      func(*cli.App) *cobra.Command
}

// verbs are all there are, by family. Help, completion and man pages are made from them.
var verbs = []row{
	// To have it, and to be without it again.
	{"init", "give the coding agents on this machine the memory of this folder", hosts.Init},
	{"uninstall", "take memkernel out of this folder's settings again", hosts.Uninstall},

	// What a model call gets to see.
	{"plan --transcript FILE", "plan one model call of a session, and explain it", plan.Plan},

	// Sessions: what is taken in of them, their boundaries, what is forgotten.
	{"observe --transcript FILE", "commit a whole transcript to a session's memory", session.Observe},
	{"flush", "write what a session came to into the day's log", session.Flush},
	{"compact", "make room in a session now, or before its host does", session.Compact},
	{"reset", "commit what is known of a session and begin it anew", session.Reset},
	{"checkpoint", "write a session's working state as a checkpoint", session.Checkpoint},
	{"restore", "print the text from which a session goes on", session.Restore},
	{"forget ID... | --all", "remove pages, blobs or a session from all that is kept", session.Forget},
	{"retain", "remove what is older than the configuration keeps it", session.Retain},

	// Memory: the index of the workspace, and what it answers.
	{"reindex", "bring the index up to date with the workspace's Markdown", memory.Reindex},
	{"search QUERY…", "search memory, and cite what is found", memory.Search},
	{"get PATH[:FROM[:LINES]] | PAGE-ID", "print lines of a memory file, or what a pointer stands for", memory.Get},
	{"migrate --to BACKEND", "move the index to another backend, vectors included", memory.Migrate},

	// Upkeep of memory's files.
	{"audit", "find what is wrong with memory: stale, too large, doubled, contradictory", upkeep.Audit},
	{"curate", "bring what a day came to into MEMORY.md", upkeep.Curate},
	{"prune", "take out of memory what no longer holds, and what there is no room for", upkeep.Prune},
	{"nightly", "audit, curate and prune, in this order", upkeep.Nightly},
	{"guard", "refuse a MEMORY.md that lost too much of itself", upkeep.Guard},

	// The state folder: what is there, and whether it is whole.
	{"status", "say what is stored where, and how big it is", state.Status},
	{"stats", "say what was billed over time, and what was planned", state.Stats},
	{"doctor", "say what is wrong, and how to mend it", state.Doctor},
	{"check", "verify everything that the state folder holds", state.Check},
	{"salvage --session KEY | --project", "take what is sound of a damaged session, and say what is lost", state.Salvage},

	// Judging: what policies and search are worth.
	{"replay --transcript FILE", "replay a session call by call under context policies, and compare", measure.Replay},
	{"bench", "run a benchmark and stand its figures beside published ones", measure.Bench},
	{"eval --set DIR...", "judge search on questions whose answers' places are known", measure.Eval},

	// Doors for hosts.
	{"serve", "serve hosts of any language by JSON-RPC, on a socket or on standard streams", hosts.Serve},
	{"mcp", "offer memory to a client of the Model Context Protocol", hosts.MCP},
	{"hook --host NAME", "answer a hook of Claude Code, Codex or Gemini CLI", hosts.Hook},
	{"proxy --upstream URL", "stand between a client and a model's API, and plan each request", hosts.Proxy},

	// The program itself.
	{"prices [MODEL...]", "list the price book, or convert a public catalogue", about.Prices},
	{"config", "print every setting and where its value came from", about.Config},
	{"version", "print the version", about.Version},
	{"man [FOLDER]", "write the man pages", about.Man},
}
