// Package verbs has the verbs of memkernel and their table, which memkernel-server shares. Each
// verb is in a file of its name, or with its family: hands.go has remember, list, edit and undo,
// life.go what a session's end and reset do, curate.go also prune, nightly.go also guard, forget.go
// also retain, history.go also why, stats.go also gain, salvage.go also check. A verb only reads its
// flags, calls the library and prints the answer. Its text is drawn in the same file; plan_*.go
// draw the explanation of a plan. flags.go has the flags that several verbs share.
package verbs

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

var verb = cli.NewVerb

// with returns the function by which a verb without arguments runs, with its flags.
func with[F any](a *cli.App, flags F, run func(context.Context, *cli.App, F) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), a, flags) }
}

// withArgs is like with, for a verb with arguments.
func withArgs[F any](a *cli.App, flags F, run func(context.Context, *cli.App, F, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), a, flags, args) }
}

// ask opens the workspace's kernel, makes one request, and closes the kernel. If the request is
// slow, it shows progress under the name what; with the name "" it shows none.
func ask[R, T any](ctx context.Context, a *cli.App, n cli.Needs, what string, do func(*kernel.Kernel, context.Context, R) (T, error), req R) (out T, err error) {
	k, err := a.Kernel(ctx, n)
	if err != nil {
		return out, err
	}
	defer k.Close()
	defer a.ProgressDone()
	if what != "" {
		ctx = a.Counted(ctx, what)
	}
	return do(k, ctx, req)
}

// openMemory opens the workspace's kernel for verbs about memory's files. It returns an error if
// memory is off.
func openMemory(ctx context.Context, a *cli.App, n cli.Needs) (*kernel.Kernel, error) {
	if err := a.MemoryOn(); err != nil {
		return nil, err
	}
	return a.Kernel(ctx, n)
}

// askMemory is like ask, for verbs about memory's files. It returns an error if memory is off.
func askMemory[R, T any](ctx context.Context, a *cli.App, what string, do func(*kernel.Kernel, context.Context, R) (T, error), req R) (out T, err error) {
	if err := a.MemoryOn(); err != nil {
		return out, err
	}
	return ask(ctx, a, cli.Needs{}, what, do, req)
}

// askKeeper is like askMemory, for upkeep.
func askKeeper[R, T any](ctx context.Context, a *cli.App, what string, do func(api.Keeper, context.Context, R) (T, error), req R) (T, error) {
	return askMemory(ctx, a, what, func(k *kernel.Kernel, ctx context.Context, req R) (T, error) { return do(k.Maintenance(), ctx, req) }, req)
}

// askEditor is like askMemory, for changes by hand.
func askEditor[R, T any](ctx context.Context, a *cli.App, do func(kernel.MemoryEditor, context.Context, R) (T, error), req R) (T, error) {
	return askMemory(ctx, a, "", func(k *kernel.Kernel, ctx context.Context, req R) (T, error) { return do(k.Editor(), ctx, req) }, req)
}

// answer prints the answer to a request: with --json as a document, otherwise as the text that draw
// makes. The parameter err is the error of the request. If it is not nil, answer prints nothing and
// returns it. done is true after a document and after an error, because hints follow only a text.
func answer[T any](a *cli.App, out T, err error, draw func(*display.Sheet, T)) (done bool, _ error) {
	if err == nil {
		err = cli.Answer(a, document.Of(out), out, draw)
	}
	return err != nil || a.JSON, err
}

// Groups returns the table. The verbs that users need first or most often come first. The
// parameters serve and proxy make the verbs of the same names.
func Groups(serve, proxy func(*cli.App) *cobra.Command) []cli.Group {
	return []cli.Group{
		{ID: "start", Title: "Start here", Verbs: []cli.Verb{
			verb("demo", "show in half a minute what memkernel does, on a sample", demoVerb, "tour example try sample intro tutorial"),
			verb("init", "give the coding agents on this machine a memory of this folder", initVerb, "install setup start begin bootstrap onboard connect activate enable quickstart hello login plugin plugins extension skill"),
			verb("uninstall", "take memkernel out of this folder's settings again", uninstallVerb, "deinit disable deactivate disconnect eject teardown off uninit stop kill unhook logout"),
			verb("status", "print what is stored, where, and how big it is", statusVerb, "info sessions state overview summary where chat chats conversation conversations transcripts whoami top describe"),
			verb("ui", "open a window on sessions, prompts, memory and costs", uiVerb, "web dashboard browser gui window webui panel report html share"),
			verb("doctor", "find what is wrong, and print how to mend it", doctorVerb, "diagnose diagnostics health healthcheck fix repair troubleshoot mend problems debug agents agent hosts clients"),
			verb("config [KEY...]", "print every setting and where its value came from", configVerb, "settings setting set option options env configure configuration preferences prefs unset"),
		}},
		{ID: "memory", Title: "Memory (what the workspace's Markdown says)", Verbs: []cli.Verb{
			verb("search QUERY…", "search memory, and cite what is found", searchVerb, "find query grep ask recall lookup retrieve locate question answer match rg tasks tag tags backlinks contains"),
			verb("remember TEXT… | -", "write a text to today's log, or to another file of memory", rememberVerb, "note notes save store add-note new-note memo memorize memorise write append jot keep put insert learn capture create fact todo remind reminder daily new"),
			verb("list [PATH]", "print the entries of memory, newest day first", listVerb, "ls entries memories items ll browse facts memory log logs recent latest last today week ps"),
			verb("edit PATH:LINE TEXT…", "replace an entry of memory", editVerb, "change update modify replace correct amend rewrite alter revise rename"),
			verb("forget PATH:LINE | ID...", "take an entry out of memory, or erase pages or a session", forgetVerb, "delete del remove rm erase drop purge wipe discard destroy nuke"),
			verb("undo [ID]", "take back the last change of memory", undoVerb, "revert rollback back unedit unforget rewind oops restore-file checkout unstage"),
			verb("get PATH[:FROM[:LINES]] | PAGE-ID", "print lines of a memory file, or the content of a pointer", getVerb, "show cat read open view print head less more display fetch"),
			verb("add FOLDER", "make another folder part of this memory", addVerb, "include link mount add-folder register folder-add vault attach"),
			verb("folders", "print the folders of this memory, or remove one", foldersVerb, "folder dirs directories collections sources roots mounts unlink detach unmount vaults"),
			verb("reindex", "bring the index up to date with the Markdown files", reindexVerb, "index refresh sync ingest rebuild rescan scan reload embed vectorize"),
		}},
		{ID: "session", Title: "Sessions (what was said, and going on from it)", Verbs: []cli.Verb{
			verb("observe --transcript FILE", "store every finished turn of a transcript", observeVerb, "commit record load track transcript watch"),
			verb("import [PATH…]", "bring in sessions and memory of other programs", importVerb, "chatgpt mem0 archive bring migrate convert pull clone"),
			verb("checkpoint", "write a checkpoint of a session's work, and print it", checkpointVerb, "snapshot savepoint handoff handover stash"),
			verb("restore", "print the text that lets a model go on with a session", restoreVerb, "resume continue unfreeze"),
			verb("flush", "append a session's decisions and open items to today's log", flushVerb, "persist dump harvest"),
			verb("reset", "write down a session's results, and begin it anew", resetVerb, "new restart clear fresh"),
		}},
		{ID: "context", Title: "Context (what a model call contains, and costs)", Verbs: []cli.Verb{
			verb("plan --transcript FILE", "plan one model call of a session, and explain it", planVerb, "explain prompt context build assemble preview simulate-call trace"),
			verb("compact", "make room in a session now, or before its host does", compactVerb, "compress shrink summarize summarise trim cut truncate"),
			verb("stats", "print what was billed, what was planned, and what cuts saved", statsVerb, "usage cost costs bill billing metrics spend tokens statistics analytics invoice"),
			verb("prices [MODEL...]", "list the price book, or convert a public catalogue", pricesVerb, "models pricing price"),
		}},
		{ID: "upkeep", Title: "Upkeep (memory and its files in order)", Verbs: []cli.Verb{
			verb("audit", "find stale, oversized, doubled or contradictory memory", auditVerb, "lint inspect review analyze analyse stale contradictions conflicts duplicates outdated unlinked dups"),
			verb("curate", "bring a day's decisions and lessons into MEMORY.md", curateVerb, "consolidate promote distill merge dream"),
			verb("why ENTRY…", "print where an entry of memory comes from, and why it is kept", whyVerb, "evidence provenance blame reason source origin"),
			verb("history PATH[:LINE]", "print earlier versions of an entry or a file of memory", historyVerb, "versions version-history changes past diff revisions timeline log restore-file checkout"),
			verb("prune", "take finished, duplicate and excess entries out of memory", pruneVerb, "tidy dedupe clean cleanup"),
			verb("nightly", "audit, curate and prune, in this order", nightlyVerb, "cron daily maintain maintenance schedule"),
			verb("guard", "refuse a MEMORY.md that lost too much of itself", guardVerb, "protect"),
			verb("check", "verify every file of the state folder", checkVerb, "verify validate fsck test integrity"),
			verb("salvage --session KEY | --project", "keep what is sound of a damaged session, and list what is lost", salvageVerb, "recover rescue"),
			verb("retain", "remove what is older than the configuration keeps it", retainVerb, "gc clean cleanup expire vacuum retention"),
		}},
		{ID: "hosts", Title: "Hosts (agents and clients)", Verbs: []cli.Verb{
			verb("hook --host NAME | --preview PROMPT", "answer a hook of Claude Code, Codex or Gemini CLI", hookVerb, "hooks webhook"),
			verb("mcp", "serve memory to a client of the Model Context Protocol", mcpVerb, "tools"),
			verb("serve", "serve hosts of any language by JSON-RPC", serve, "daemon server run listen rpc socket"),
			verb("wrap -- COMMAND…", "run an agent with the proxy in front, and say what that saved", wrapVerb, "with around exec"),
			verb("gain", "print the proxy's bills, and an estimate of them without it", gainVerb, "saved savings saving"),
			verb("proxy --upstream URL", "plan each request on its way to a model's API", proxy, "gateway forward router"),
		}},
		{ID: "developers", Title: "Developers (measuring, scripts)", Verbs: []cli.Verb{
			verb("replay --transcript FILE", "compare context policies over a recorded session", Replay, "simulate compare"),
			verb("version", "print the version", cli.VersionVerb, "about"),
		}},
	}
}

// Add adds verbs to the group with the given id.
func Add(groups []cli.Group, id string, more ...cli.Verb) {
	for i := range groups {
		if groups[i].ID == id {
			groups[i].Verbs = append(groups[i].Verbs, more...)
		}
	}
}

// Opening returns the beginning of memkernel's help: its purpose, and the first commands.
func Opening(root *cobra.Command) string {
	return `memkernel gives LLM agents a memory in Markdown, and decides what of a long session each
model call contains: within a token budget, with a warm cache, and explained.

To begin, in the folder of your project:
` + cli.Step(root, "", "demo", "see in half a minute what it does") +
		cli.Step(root, "", "init", "set up memory for your agents") +
		cli.Step(root, "init", "reindex", "read the Markdown that is there") +
		cli.Step(root, "", "search QUESTION", "ask it")
}
