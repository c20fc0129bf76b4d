// Package checkpoint keeps the current work of a session, so that a compaction, a restart or a
// kill does not lose it. It reports how full the context is, captures the working state message
// by message, writes it as immutable numbered YAML files, and renders one of them as a text of
// some hundred tokens from which a model can go on.
//
//	figures ──► Thresholds.Cross ──► levels crossed: show, checkpoint, compact
//	                                        │ checkpoint or compact
//	messages ─► Update ──► State ───────────┤
//	             pure        │              ▼
//	                 Store.SaveState   Store.Checkpoint ──► checkpoints/cp_007.yaml
//	                         │              │  Build: pure       _latest.json
//	                         ▼              ▼
//	            state/{decisions,…}.json   State begins its next cycle
//
//	after a compaction, or in a new session of the same key:
//	Store.Resume ──► State and the newest checkpoint ──► Restore ──► text
//
// All functions except the methods of [Store] are pure: no file, no clock, no model, and the same
// bytes for the same arguments. A Store reads and writes only in the methods that are documented
// so, under the session lock that its caller holds.
//
// It captures by the structure of a conversation (who spoke, how long, which call failed and
// which worked next), never by words, so that it works in any language. Package summary reads
// much of it, and its State is kept as a reading position. Excerpts are masked for secrets before
// they are cut. They are one line each and bounded, and every list has a cap.
//
// # What a kill can cost
//
// Every file is written whole or not at all. thread.json holds the reading position and is
// written last: after a kill between two files the same messages are captured again, onto entries
// that know where they came from, and nothing is doubled. The state files are not synced, since
// they are written with every tool result. A power cut may lose everything captured since the
// newest checkpoint. Checkpoints are synced, and so are the pages of the messages, which are in
// the session's journal. A torn state file is replaced by an empty one and reported. A checkpoint
// exists once its own file exists. The next checkpoint repairs the pointer, the emptied state and
// the removal of old files. Every entry carries the number of the message it came from, and every
// checkpoint carries the number of the last message in it. These numbers tell a checkpoint's
// contents without a clock.
//
// The package never deletes any of the last five checkpoints, never changes one that was written,
// and never repairs a damaged one. Instead it uses the previous one, and reports the damage.
//
// Tokens are counted by the caller's counter. Sizes of text are in runes. A wide character counts
// twice where a long reply is distinguished from a short one.
package checkpoint
