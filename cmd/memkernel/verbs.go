package main

import (
	"strings"

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
	"github.com/memkernel/memkernel/cmd/memkernel/internal/verbs/window"
)

// row is a verb in the table: how the verb is called, what it does in a line, what
// makes its flags, its help and its run, and the words that others use for it.
type row struct {
	use, summary string
	command      func(*cli.App) *cobra.Command
	alike        []string
}

// group is a part of the help: verbs that one looks for together.
type group struct {
	id, title string
	verbs     []row
}

// groups are all verbs there are, in the order in which help lists them: what is needed
// first or most often comes first. Help, completion and man pages are made from them.
var groups = []group{
	{"start", "Start here", []row{
		{"init", "give the coding agents on this machine a memory of this folder", hosts.Init, words("install setup enable")},
		{"uninstall", "take memkernel out of this folder's settings again", hosts.Uninstall, words("deinit disable")},
		{"status", "print what is stored, where, and how big it is", state.Status, words("info ls list sessions state")},
		{"ui", "open a window on sessions, prompts, memory and costs", window.UI, words("web dashboard browser gui window")},
		{"doctor", "find what is wrong, and print how to mend it", state.Doctor, words("diagnose health fix repair")},
		{"config [KEY...]", "print every setting and where its value came from", about.Config, words("settings set options env")},
	}},
	{"memory", "Memory (what the workspace's Markdown says)", []row{
		{"search QUERY…", "search memory, and cite what is found", memory.Search, words("find query grep ask recall lookup")},
		{"get PATH[:FROM[:LINES]] | PAGE-ID", "print lines of a memory file, or what a pointer is for", memory.Get, words("show cat read open view print")},
		{"reindex", "bring the index up to date with the Markdown files", memory.Reindex, words("index update refresh sync ingest")},
		{"migrate --state --to STORE", "move sessions or memory into a database, or back into files", memory.Migrate, words("move copy convert export")},
	}},
	{"session", "Sessions (what was said, and going on from it)", []row{
		{"observe --transcript FILE", "store every finished turn of a transcript", session.Observe, words("add commit record load remember")},
		{"import PATH…", "bring in sessions and memory of other programs", session.Import, words("chatgpt mem0 archive bring")},
		{"checkpoint", "write where a session's work is, and print it", session.Checkpoint, words("save snapshot")},
		{"restore", "print the text that lets a model go on with a session", session.Restore, words("resume continue")},
		{"flush", "append what a session came to to the log of today", session.Flush, words("log write append")},
		{"reset", "write down what a session came to, and begin it anew", session.Reset, words("new restart clear")},
		{"forget ID... | --all", "remove pages, blobs or a session for good", session.Forget, words("delete remove rm erase drop purge")},
	}},
	{"context", "Context (what a model call contains, and costs)", []row{
		{"plan --transcript FILE", "plan one model call of a session, and explain it", plan.Plan, words("explain prompt context build assemble")},
		{"compact", "make room in a session now, or before its host does", session.Compact, words("compress shrink summarize summarise trim cut truncate")},
		{"stats", "print what was billed, what was planned, and what cuts saved", state.Stats, words("usage cost costs bill billing metrics")},
		{"report --html FILE", "write a session into one page, secrets masked", window.Report, words("html bug attach")},
		{"prices [MODEL...]", "list the price book, or convert a public catalogue", about.Prices, words("models pricing price")},
	}},
	{"upkeep", "Upkeep (memory and its files in order)", []row{
		{"audit", "find stale, oversized, doubled or contradictory memory", upkeep.Audit, words("lint inspect review")},
		{"curate", "bring what a day came to into MEMORY.md", upkeep.Curate, words("consolidate promote distill merge")},
		{"why ENTRY…", "print what speaks for an entry of memory", upkeep.Why, words("evidence provenance blame reason source")},
		{"history PATH[:LINE]", "print what an entry or a file of memory was before", upkeep.History, words("versions changes past diff")},
		{"prune", "take out of memory what is done, doubled or too much", upkeep.Prune, words("tidy undo revert")},
		{"nightly", "audit, curate and prune, in this order", upkeep.Nightly, words("cron daily maintain")},
		{"guard", "refuse a MEMORY.md that lost too much of itself", upkeep.Guard, words("protect")},
		{"check", "verify every file of the state folder", state.Check, words("verify validate fsck test")},
		{"salvage --session KEY | --project", "keep what is sound of a damaged session, and list what is lost", state.Salvage, words("recover rescue")},
		{"retain", "remove what is older than the configuration keeps it", session.Retain, words("gc clean cleanup expire vacuum")},
	}},
	{"hosts", "Hosts (agents and clients)", []row{
		{"hook --host NAME", "answer a hook of Claude Code, Codex or Gemini CLI", hosts.Hook, words("hooks")},
		{"mcp", "serve memory to a client of the Model Context Protocol", hosts.MCP, words("tools")},
		{"serve", "serve hosts of any language by JSON-RPC", hosts.Serve, words("daemon server start run listen rpc")},
		{"token", "make, list and revoke the tokens of serve --listen", hosts.Token, words("auth key keys login secret permission")},
		{"wrap -- COMMAND…", "run an agent with the proxy in front, and say what that saved", hosts.Wrap, words("with around")},
		{"gain", "print what the proxy's calls were billed, and about what without", hosts.Gain, words("saved savings saving")},
		{"proxy --upstream URL", "plan each request on its way to a model's API", hosts.Proxy, words("gateway forward")},
	}},
	{"developers", "Developers (measuring, scripts)", []row{
		{"replay --transcript FILE", "compare context policies over a recorded session", measure.Replay, words("simulate compare")},
		{"eval --set DIR...", "measure search on questions with known answers", measure.Eval, words("evaluate score")},
		{"bench", "run a benchmark, and print published figures beside it", measure.Bench, words("benchmark measure profile")},
		{"version", "print the version", about.Version, words("about")},
		{"man [FOLDER]", "write the man pages", about.Man, words("manual docs")},
	}},
}

// words are split at spaces.
func words(s string) []string { return strings.Fields(s) }

func init() { cobra.EnableCommandSorting = false }
