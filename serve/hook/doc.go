// Package hook answers the commands that hosts run at moments of a session: Claude
// Code, Codex and Gemini CLI hand one JSON document over on standard input and take
// one answer from standard output.
//
//	host ── event ──► Run ──► workspace found ──► Setup opened ──► handled ──► answer ──► host
//	                   │                                             │
//	                   └── an error, a panic, the deadline ──────────┴──► hook.log; after a panic or the deadline an empty answer
//
//	event                        work                                     answer
//	SessionStart                 the session becomes the host's newest    compact, resume, clear: the text to go on from
//	                                                                      startup, clear, compact: a summary of memory
//	                                                                      (Gemini CLI: with the next BeforeAgent)
//	UserPromptSubmit,            memory is searched for the words         recalled notes, fenced as data with their
//	  BeforeAgent                                                         origin; the gauge where a threshold was crossed,
//	                                                                      at 80 % a request to use memory_append
//	PostToolUse                  a large result is stored                 its shaped text, in the tool's own structure
//	PreCompact, PreCompress      new messages are committed, flushed, a   Claude: which facts the summary must keep, and
//	                             checkpoint written                       which memories to add to it
//	PostCompact                  the memories go to the log               nothing
//	Stop, AfterAgent             new messages are committed               nothing
//	SessionEnd                   the same, and the session's end          nothing
//	any other                    nothing                                  nothing
//
// A hook must never fail its host. After any failure the answer is valid and empty and the
// process exits with 0. A line in hook.log of the state directory records the failure. That
// includes panics, since the code that Go ends with then is the one by which hosts are told to
// block.
//
// # New messages
//
// The host's transcript is the source; an event only signals that it may have grown. A session's
// record (hook/KEY.json in the state directory) has the offset in the transcript at which the
// last committed turn begins, and the hash of the bytes before it. The next event reads from
// there, so that it costs as much as two turns. If the hash differs, the whole transcript is
// read. The turn at the seam is delivered twice, and the kernel answers the second delivery with
// duplicate. A lost record only costs time. An event that comes more than once, as PreCompact
// does, has nothing left to do.
//
// A commit takes longer the larger the session is, because its journal is read first. No answer
// depends on a turn's end, so Stop may be handed to a process of its own ([Options.Behind]); the
// session's lock keeps it apart from the next event. If that process is killed, the next event
// commits the turn.
//
// Gemini CLI writes its list of messages again as a whole, often under new ids; its dialect in
// package transcript keeps the first version of each message. If the session file doesn't show an
// answer of the hook, the host never took it, and the next answer brings the beginning again.
//
// # Whose memory it is
//
// A hook runs as the user, on the user's machine, in the user's project, and its text
// goes to the user's own session: it is private. Keys of sessions are HOST:SESSION-ID.
//
// The workspace is the folder of the event, or the nearest one above it that has a
// state directory. The home directory and the root of the file system are nobody's
// project, unless they have one.
//
// The package plans no prompts and asks no model. The search for a prompt brings the index up to date,
// for two seconds at most. Tokens are counted in the kernel's
// units, offsets in bytes.
package hook
