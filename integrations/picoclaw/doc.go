// Package picoclaw puts a kernel in the place of PicoClaw's context manager, in the same process.
// The package does not import PicoClaw. It declares PicoClaw's four calls by their shape, for any
// type of message.
//
//	        PicoClaw                      this package                 kernel
//	Assemble(session, window) ──► conversation, less its last answer ─► PlanContext
//	        History           ◄── the host's own values, carry block ◄─ plan
//	Ingest(message)           ──► one message more ──────► ObserveToolResult, and
//	                              an answer without calls ────────► ObserveTurn
//	Compact(reason)           ──► ────────────────────────────────────► Compact
//	Clear()                   ──► ──────────────────────────────────────► Reset
//
// A Manager keeps no file. The conversation is in the host's own session record and in the
// kernel's journal. The Manager reads the conversation from the host's record when the session is
// first used. After that it keeps the conversation in memory, as Ingest delivers it.
//
// The host requests its history before it hands over the user's new words, and not again inside a
// loop of tool calls. So a plan is a plan of the last call that was made, followed by the answer
// to that call. Until a cut, each call begins with the content of the call before. Features that
// depend on the new words, such as recall, can't work here. The model reads memory through tools.
// KernelOptions has the matching settings.
//
// A message that a plan shows in full is the host's own value. A message that the plan shows
// shortened, or that the kernel wrote, is made from JSON. PicoClaw's messages are chat
// completions messages with further members, which stay. Sizes are tokens.
package picoclaw
