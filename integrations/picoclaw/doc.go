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
// A Manager keeps no file. The conversation is in the host's own session record, from which it is
// read when it is first used, and in the kernel's journal. In between it is in memory, as Ingest
// delivers it.
//
// The host asks for its history before it hands over the user's new words, and not again inside a
// loop of tool calls. So a plan is one of the last call that was made, followed by the answer to
// it: each call begins with the content of the call before, until a cut. Features that depend on
// the new words, such as recall, can't work here; the model reads memory through tools.
// KernelOptions has the settings that follow from this.
//
// A message that a plan shows in full is the host's own value. One that it shows shorter, or that
// is the kernel's, is made from JSON: PicoClaw's messages are those of chat completions with
// further members, and these stay. Sizes are tokens.
package picoclaw
