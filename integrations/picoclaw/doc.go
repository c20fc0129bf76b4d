// Package picoclaw puts a kernel in the place of PicoClaw's context manager, in
// the same process. PicoClaw is not imported: its four calls are declared here by
// their shape, over whatever type the host's messages have.
//
//	        PicoClaw                      this package                 kernel
//	Assemble(session, window) ──► conversation, less its last answer ─► PlanContext
//	        History           ◄── the host's own values, carry block ◄─ plan
//	Ingest(message)           ──► one message more ──────► ObserveToolResult, and
//	                              an answer without calls ────────► ObserveTurn
//	Compact(reason)           ──► ────────────────────────────────────► Compact
//	Clear()                   ──► ──────────────────────────────────────► Reset
//
// A Manager keeps no file. What was said is in the host's own session record,
// from which a conversation is read when it is first touched, and in the kernel's
// journal; in between it is in memory, as Ingest delivers it.
//
// The host asks for its history before it hands over what the user's new words are, and
// not again inside a loop of tool calls. So a plan is one of the last call that was
// made, with the answer to it behind: what a call shows begins with what the one
// before showed, until a cut. What depends on the new words, such as recall, is not
// for this seam; memory is there through tools. KernelOptions has what follows from
// this.
//
// A message that a plan shows in full is the host's own value. One that it shows
// shorter, or that is the kernel's, is made from JSON: PicoClaw's messages are those
// of chat completions with members beside, and these stay. Sizes are tokens.
package picoclaw
