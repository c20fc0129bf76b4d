// Package verbs has the table of the verbs that memkernel and memkernel-server share. What is
// needed first or most often comes first.
package verbs

import (
	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/program"
	"github.com/memkernel/memkernel/internal/verbs/about"
	"github.com/memkernel/memkernel/internal/verbs/hosts"
	"github.com/memkernel/memkernel/internal/verbs/measure"
	"github.com/memkernel/memkernel/internal/verbs/memory"
	"github.com/memkernel/memkernel/internal/verbs/plan"
	"github.com/memkernel/memkernel/internal/verbs/session"
	"github.com/memkernel/memkernel/internal/verbs/state"
	"github.com/memkernel/memkernel/internal/verbs/upkeep"
	"github.com/memkernel/memkernel/internal/verbs/window"
)

var row = program.NewVerb

// Groups returns the table; serve and proxy make the verbs of these names.
func Groups(serve, proxy func(*cli.App) *cobra.Command) []program.Group {
	return []program.Group{
		{ID: "start", Title: "Start here", Verbs: []program.Verb{
			row("init", "give the coding agents on this machine a memory of this folder", hosts.Init, "install setup enable"),
			row("uninstall", "take memkernel out of this folder's settings again", hosts.Uninstall, "deinit disable"),
			row("status", "print what is stored, where, and how big it is", state.Status, "info ls list sessions state"),
			row("ui", "open a window on sessions, prompts, memory and costs", window.UI, "web dashboard browser gui window"),
			row("doctor", "find what is wrong, and print how to mend it", state.Doctor, "diagnose health fix repair"),
			row("config [KEY...]", "print every setting and where its value came from", about.Config, "settings set options env"),
		}},
		{ID: "memory", Title: "Memory (what the workspace's Markdown says)", Verbs: []program.Verb{
			row("search QUERY…", "search memory, and cite what is found", memory.Search, "find query grep ask recall lookup"),
			row("get PATH[:FROM[:LINES]] | PAGE-ID", "print lines of a memory file, or what a pointer is for", memory.Get, "show cat read open view print"),
			row("reindex", "bring the index up to date with the Markdown files", memory.Reindex, "index update refresh sync ingest"),
		}},
		{ID: "session", Title: "Sessions (what was said, and going on from it)", Verbs: []program.Verb{
			row("observe --transcript FILE", "store every finished turn of a transcript", session.Observe, "add commit record load remember"),
			row("import PATH…", "bring in sessions and memory of other programs", session.Import, "chatgpt mem0 archive bring"),
			row("checkpoint", "write where a session's work is, and print it", session.Checkpoint, "save snapshot"),
			row("restore", "print the text that lets a model go on with a session", session.Restore, "resume continue"),
			row("flush", "append what a session came to to the log of today", session.Flush, "log write append"),
			row("reset", "write down what a session came to, and begin it anew", session.Reset, "new restart clear"),
			row("forget ID... | --all", "remove pages, blobs or a session for good", session.Forget, "delete remove rm erase drop purge"),
		}},
		{ID: "context", Title: "Context (what a model call contains, and costs)", Verbs: []program.Verb{
			row("plan --transcript FILE", "plan one model call of a session, and explain it", plan.Plan, "explain prompt context build assemble"),
			row("compact", "make room in a session now, or before its host does", session.Compact, "compress shrink summarize summarise trim cut truncate"),
			row("stats", "print what was billed, what was planned, and what cuts saved", state.Stats, "usage cost costs bill billing metrics"),
			row("report --html FILE", "write a session into one page, secrets masked", window.Report, "html bug attach"),
			row("prices [MODEL...]", "list the price book, or convert a public catalogue", about.Prices, "models pricing price"),
		}},
		{ID: "upkeep", Title: "Upkeep (memory and its files in order)", Verbs: []program.Verb{
			row("audit", "find stale, oversized, doubled or contradictory memory", upkeep.Audit, "lint inspect review"),
			row("curate", "bring what a day came to into MEMORY.md", upkeep.Curate, "consolidate promote distill merge"),
			row("why ENTRY…", "print what speaks for an entry of memory", upkeep.Why, "evidence provenance blame reason source"),
			row("history PATH[:LINE]", "print what an entry or a file of memory was before", upkeep.History, "versions changes past diff"),
			row("prune", "take out of memory what is done, doubled or too much", upkeep.Prune, "tidy undo revert"),
			row("nightly", "audit, curate and prune, in this order", upkeep.Nightly, "cron daily maintain"),
			row("guard", "refuse a MEMORY.md that lost too much of itself", upkeep.Guard, "protect"),
			row("check", "verify every file of the state folder", state.Check, "verify validate fsck test"),
			row("salvage --session KEY | --project", "keep what is sound of a damaged session, and list what is lost", state.Salvage, "recover rescue"),
			row("retain", "remove what is older than the configuration keeps it", session.Retain, "gc clean cleanup expire vacuum"),
		}},
		{ID: "hosts", Title: "Hosts (agents and clients)", Verbs: []program.Verb{
			row("hook --host NAME", "answer a hook of Claude Code, Codex or Gemini CLI", hosts.Hook, "hooks"),
			row("mcp", "serve memory to a client of the Model Context Protocol", hosts.MCP, "tools"),
			row("serve", "serve hosts of any language by JSON-RPC", serve, "daemon server start run listen rpc"),
			row("wrap -- COMMAND…", "run an agent with the proxy in front, and say what that saved", hosts.Wrap, "with around"),
			row("gain", "print what the proxy's calls were billed, and about what without", hosts.Gain, "saved savings saving"),
			row("proxy --upstream URL", "plan each request on its way to a model's API", proxy, "gateway forward"),
		}},
		{ID: "developers", Title: "Developers (measuring, scripts)", Verbs: []program.Verb{
			row("replay --transcript FILE", "compare context policies over a recorded session", measure.Replay, "simulate compare"),
			row("version", "print the version", about.Version, "about"),
			row("man [FOLDER]", "write the man pages", about.Man, "manual docs"),
		}},
	}
}

// Add adds verbs to a group.
func Add(groups []program.Group, id string, more ...program.Verb) {
	for i := range groups {
		if groups[i].ID == id {
			groups[i].Verbs = append(groups[i].Verbs, more...)
		}
	}
}

// Opening is the beginning of memkernel's help: its purpose, and the first commands.
func Opening(root *cobra.Command) string {
	return `memkernel keeps what an agent's sessions and Markdown notes hold, and decides which
of it each model call gets: within a token budget, with a warm cache, and explained.

To begin, in the folder of your project:
` + program.Step(root, "", "init", "set up memory for your agents") +
		program.Step(root, "init", "reindex", "read the Markdown that is there") +
		program.Step(root, "", "search QUESTION", "ask it") +
		program.Step(root, "", "plan -t SESSION.jsonl --explain", "see what a call would contain")
}
