// Package hook answers the commands that coding agents run at certain points of a session. Claude Code, Codex
// and Gemini CLI write one JSON document to the hook's standard input and read one answer from
// its standard output.
//
//	host ── event ──► Run ──► workspace found ──► Setup opened ──► handled ──► answer ──► host
//	                   │                                             │
//	                   └── an error, a panic, the deadline ──────────┴──► hook.log; after a panic or the deadline an empty answer
//
//	event                        work                                     answer
//	SessionStart                 the session becomes the host's newest    compact, resume, clear: the text to go on from
//	                                                                      startup, clear, compact: a summary of memory
//	                                                                      (Gemini CLI: with the next BeforeAgent)
//	UserPromptSubmit,            memory is searched for the words, unless recalled notes, fenced as data with their
//	  BeforeAgent                the proxy plans the session; at 80 % a   origin, or the state of the work that a first
//	                             checkpoint is written                    prompt asks to go on with; the gauge where a
//	                                                                      threshold was crossed, at 80 % a request to use
//	                                                                      memory_append
//	PostToolUse                  a large result is stored                 its shaped text, in the tool's own structure
//	PreCompact, PreCompress      new messages are committed, flushed, a   Claude: which facts the summary must keep, and
//	                             checkpoint written                       which memories to add to it
//	PostCompact                  the memories go to the log               nothing
//	Stop, AfterAgent             new messages are committed               nothing
//	SessionEnd                   the same, and the session's end          nothing
//	any other                    nothing                                  nothing
//
// A hook must never fail its host. After an error the answer has the part that succeeded. After a
// panic or the deadline the answer is empty. The process exits with 0. A line in hook.log of the
// state directory records the failure. Panics are caught too, because the exit code of a Go panic
// tells hosts to block.
//
// # New messages
//
// The host's transcript is the source. An event only signals that the transcript may have grown.
// A session's record (hook/KEY.json in the state directory) has the offset in the transcript at
// which the last committed turn begins, and the hash of the bytes before that offset. The next
// event reads from the offset, so that it costs as much as two turns. If the hash differs, the
// whole transcript is read. The turn at the offset is delivered twice, and the kernel answers the
// second delivery with duplicate. A lost record only costs time. The repetition of an event such
// as PreCompact has no effect.
//
// A commit takes longer the larger the session is, because the commit reads the session's journal
// first. No answer depends on a turn's end, so a process of its own may handle Stop
// ([Options.Behind]). The session's lock keeps that process apart from the next event. If the
// process is killed, the next event commits the turn.
//
// Gemini CLI rewrites its whole list of messages, often under new ids. Its dialect in package
// transcript keeps the first version of each message. If the session file doesn't show an answer of
// the hook, the host did not use it, and the next answer has the beginning again.
//
// # Whose memory it is
//
// A hook runs as the user, on the user's machine and in the user's project. Its text goes to the
// user's own session. So the session is private. Keys of sessions are HOST:SESSION-ID.
//
// The workspace is the folder of the event, or the nearest folder above it that has a state
// directory. The home directory and the root of the file system are a workspace only if they have
// a state directory.
//
// The package plans no prompts and asks no model. The search for a prompt brings the index up to
// date, for two seconds at most. Tokens are counted in the kernel's units, offsets in bytes.
package hook
