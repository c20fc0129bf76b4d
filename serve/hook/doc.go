// Package hook answers the commands that hosts run at moments of a session: Claude
// Code, Codex and Gemini CLI hand one JSON document over on standard input and take
// one answer from standard output.
//
//	host ── event ──► Run ──► workspace found ──► Setup opened ──► handled ──► answer ──► host
//	                   │                                             │
//	                   └── an error, a panic, the deadline ──────────┴──► hook.log, and an empty answer
//
//	event                        what is done                             what is answered
//	SessionStart                 the session becomes the host's newest    compact, resume, clear: the text to go on from
//	                                                                      startup, clear, compact: what memory there is
//	                                                                      (Gemini CLI: with the next BeforeAgent)
//	UserPromptSubmit,            memory is searched for the words         what was recalled, fenced as data with its
//	  BeforeAgent                                                         origin; the gauge where a threshold was crossed,
//	                                                                      at 80 % what to write down by memory_append
//	PostToolUse                  a large result is stored                 its shaped text, in the tool's own structure
//	PreCompact, PreCompress      what is new is committed, flushed, a     Claude: what the summary has to keep, and what
//	                             checkpoint written                       to write down beside it
//	PostCompact                  what was written down goes to the log    nothing
//	Stop, AfterAgent             what is new is committed                 nothing
//	SessionEnd                   the same, and the session's end          nothing
//	any other                    nothing                                  nothing
//
// A hook must never fail its host. After any failure the answer is valid and empty and the
// process exits with 0. A line in hook.log of the state directory records the failure. That
// includes panics, since the code that Go ends with then is the one by which hosts are told to
// block.
//
// # What is new
//
// The host's transcript is the truth; an event only signals that a look is worth the while. A
// session's record (hook/KEY.json in the state directory) has the offset in the transcript at
// which the last committed turn begins, and the hash of the bytes before it. The next event reads
// from there, so that its cost is that of two turns; where the bytes are other ones, all is read.
// The turn at the seam is delivered twice, which the kernel answers with duplicate. A record that
// is lost costs time and nothing else. An event that comes more than once, as PreCompact does,
// finds its work done.
//
// To commit takes as long as the session is large, since its journal is read first. No answer
// hangs on a turn's end, so that Stop may be handed to a process of its own ([Options.Behind]);
// the session's lock keeps it apart from the next event. If that process is killed, the next
// event commits the turn.
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
