// package transcript reads the session records of agent hosts, turns them into the canonical
// messages of package memkernel, and turns canonical messages back into the request bodies that
// providers accept.
//
// Dialects are detected from the first bytes. Each is a row of the table in table.go, with the files
// that begin with its name; CONTRIBUTING.md describes how to add one. What dialects share is in
// scan.go and object.go (JSON read and written in place), part.go, log.go (a session as records
// build it up) and renderer.go (the writer of requests).
//
//	claude-code  JSONL, one record per content block, grouped by message id
//	pi           JSONL of Pi and OpenClaw, version 1 (linear) and 3 (tree)
//	codex        JSONL rollout of Responses items and events
//	copilot      JSONL of Copilot CLI, an event a line (events.jsonl)
//	gemini-cli   JSONL of Gemini CLI, or the one document of its older versions
//	opencode     one JSON document, which OpenCode's command export writes of a session
//	anthropic    one JSON document: a Messages request or its messages
//	openai       one JSON document: a chat completions request or its messages
//
// [Stream] yields one [Record] per line, or per message of a document. It holds the longest line, or
// the whole document. The records tile the file: written one after the other they are
// the bytes that were read:
//
//	+------+-----+------+------+-----+------+
//	| Lead | Raw | Tail | Lead | Raw | Tail | ...
//	+------+-----+------+------+-----+------+
//	 BOM or  the   line  separators between the
//	 nothing line  end   values of a document
//
// [Load] assembles a [Session], which offers two views: the conversation that the host would send
// now, and all messages of the session. [Atoms], [Repair] and [Validate] apply the providers'
// rules for messages that belong together. [Render] and [AppendPart] make request bytes. A [Body]
// is a client's request, whose conversation can be replaced while all else keeps its bytes.
//
// Calls and results need not be of a known kind: items and blocks that name each other by one id
// are a pair. They keep their bytes for as long as they are shown unchanged.
//
// A user message is seldom the user's alone: hosts put files, notices, results and other agents'
// words into it. Each dialect marks the texts that a person typed, and a text without the mark
// counts as nobody's. [Typed] removes from marked texts the blocks of the hosts and the person's
// quotations. No other function decides this.
//
// The package never calls a model, counts no tokens, writes no file and never drops input
// silently: Session.Skipped has the records that could not be read, and a [Note] reports each
// repair and removal. Sizes are bytes, times are the host's.
package transcript
