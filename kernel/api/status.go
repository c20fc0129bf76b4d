package api

import (
	"fmt"
	"time"

	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/summary"
)

// Status describes the content of a state directory.
type Status struct {
	StateDir string          `json:"state_dir"`
	Sessions []SessionStatus `json:"sessions"`
	// Others are the sessions that were not read, the newest first. Masked, Forgotten and Retired
	// leave out the content of these sessions.
	Others []OtherSession `json:"others"`
	// Unreadable are the sessions that can't be read, with the reason.
	Unreadable []health.Finding `json:"unreadable"`
	// Blobs counts the blobs in the store.
	Blobs int `json:"blobs"`
	// BlobBytes is the size of these blobs.
	BlobBytes int64 `json:"blob_bytes"`
	// Masked counts the secrets that were masked in stored pages, by rule. Pages of versions that
	// did not record the rule are counted as "unknown".
	Masked []MaskCount `json:"masked"`
	// Forgotten counts the forgotten pages.
	Forgotten int `json:"forgotten"`
	// Retired counts the pages whose content retention removed.
	Retired int `json:"retired"`
	// Memory describes the memory in the workspace's Markdown.
	Memory MemoryStatus `json:"memory"`
	// Nets describes the copies of the sessions' working state in the workspace's Markdown.
	Nets NetsStatus `json:"nets"`
	// SummaryModels are the models that were asked for notes, with their cool-downs.
	SummaryModels []Cooldown `json:"summary_models"`
}

// MaskCount is the number of secrets that a rule found.
type MaskCount struct {
	// Rule is "unknown" for pages of versions that did not record the rule.
	Rule  string `json:"rule"`
	Count int    `json:"count"`
}

// SessionStatus describes the stored state of one session.
type SessionStatus struct {
	// Key is the session's key, as the host spells it. It is the folder's name if the folder does
	// not record the key.
	Key string `json:"key"`
	// Folder is the name of the session's folder.
	Folder string `json:"folder"`
	Pages  int    `json:"pages"`
	Turns  int    `json:"turns"`
	// Spans are runs of messages that left a prompt.
	Spans int `json:"spans"`
	// Lines are branches, each planned for a model.
	Lines []LineStatus `json:"lines"`
	// ModelSummaries are the branches that a model made notes on.
	ModelSummaries []ModelSummary `json:"model_summaries"`
	// Life counts the compactions, resets and flushes and their outcomes.
	Life LifeStatus `json:"life"`
	// Paging sums up the paging of the plans of all the session's conversations.
	Paging paging.Report `json:"paging"`
	// JournalBytes is the size of the journal.
	JournalBytes int64 `json:"journal_bytes"`
	// ProjectionBytes is the size of the projections' files.
	ProjectionBytes int64 `json:"projection_bytes"`
}

// LineStatus is one conversation: a branch planned for a model.
type LineStatus struct {
	Branch     string `json:"branch"`
	Model      string `json:"model"`
	Generation int    `json:"generation"`
	Messages   int    `json:"messages"`
	Items      int    `json:"items"`
	Cuts       int    `json:"cuts"`
	Tokens     int    `json:"tokens"`
	// FixedTokens is the size of system prompt and tools in the last call, in addition to Tokens.
	FixedTokens int       `json:"fixed_tokens"`
	LastPlan    string    `json:"last_plan"`
	LastStart   time.Time `json:"last_start,omitzero"`
	// LastCut is the newest cut, nil if the line had no cut.
	LastCut *LineCut `json:"last_cut"`
	// FutileCuts counts the newest cuts in a row that reclaimed next to nothing.
	FutileCuts int `json:"futile_cuts"`
	// BreakerOpen: further cuts are refused until the prompt grows.
	BreakerOpen bool `json:"breaker_open"`
	// Refusals counts the provider's refusals in a row that were answered by smaller plans.
	Refusals int `json:"refusals"`
	// LearnedWindow is the window that the provider named, 0 if it never named one.
	LearnedWindow int `json:"learned_window"`
}

// LifeStatus describes the boundaries of a session and their outcomes.
type LifeStatus struct {
	// Epoch counts the resets.
	Epoch int `json:"epoch"`
	// Compactions counts the host's compactions since the last reset.
	Compactions int `json:"compactions"`
	// LastCompaction is the time of the newest compaction.
	LastCompaction time.Time `json:"last_compaction,omitzero"`
	// Checkpoints are the checkpoints on disk, newest first.
	Checkpoints []string `json:"checkpoints"`
	// Flushed counts the entries that flushes wrote to the day's logs.
	Flushed int `json:"flushed"`
	// LastFlush is the time of the newest flush.
	LastFlush time.Time `json:"last_flush,omitzero"`
	// FlushedByModel counts the flushed entries that the session's model wrote.
	FlushedByModel int `json:"flushed_by_model"`
	// LastFlushItems is the number of items of the newest flush.
	LastFlushItems int `json:"last_flush_items,omitempty"`
	// LastFlushPath is the file of the newest flush.
	LastFlushPath string `json:"last_flush_path,omitempty"`
	// CutWaiting reports that a compaction was requested and that the next plan will make it.
	CutWaiting bool `json:"cut_waiting"`
	// Warning is a text for a session that was compacted too often, "" for any other.
	Warning string `json:"warning,omitempty"`
}

// LineCut is a cut of a line. Its token counts are uncalibrated and leave out tools and system
// prompt.
type LineCut struct {
	Time time.Time `json:"time,omitzero"`
	// Reason is high_water, cold, forced, payback or demand.
	Reason string `json:"reason"`
	Before int    `json:"tokens_before"`
	After  int    `json:"tokens_after"`
}

// OtherSession is a session that was not read.
type OtherSession struct {
	Key string `json:"key"`
	// Folder is the name of the session's folder below sessions.
	Folder string `json:"folder"`
	// Bytes is the size of the session's journal and projections.
	Bytes int64 `json:"bytes"`
	// Last is the time of the last write to these files.
	Last time.Time `json:"last,omitzero"`
}

// StatusOptions select the sessions to read.
type StatusOptions struct {
	// Session selects one session; "" selects the newest sessions.
	Session string
	// All selects every session.
	All bool
}

// NetsStatus describes the copies of the sessions' working state in the workspace's Markdown.
type NetsStatus struct {
	SessionState StateFileStatus `json:"session_state"`
	Buffer       BufferStatus    `json:"working_buffer"`
}

// StateFileStatus describes SESSION-STATE.md.
type StateFileStatus struct {
	Path string `json:"path"`
	// Enabled reports whether the kernel writes its section of the file.
	Enabled bool `json:"enabled"`
	// Bytes is the file's size, 0 if there is no file.
	Bytes int `json:"size_bytes"`
	// OtherBytes is the size of the text in the file that the kernel did not write.
	OtherBytes int `json:"other_bytes"`
	// Session is the folder of the session whose section the file has, "" if the file has no
	// section.
	Session string `json:"session"`
	// Epoch is the session's epoch when the section was written.
	Epoch int `json:"epoch"`
	// Messages is the number of the session's messages when the section was written.
	Messages int `json:"messages"`
	// Time is the time at which the section was written.
	Time time.Time `json:"time,omitzero"`
	// Edited: somebody changed the section.
	Edited bool `json:"edited"`
	// Detail is why the file can't be read.
	Detail string `json:"detail,omitempty"`
}

// BufferStatus describes the working buffer.
type BufferStatus struct {
	Path    string `json:"path"`
	Enabled bool   `json:"enabled"`
	Bytes   int    `json:"size_bytes"`
	// Entries counts the kernel's entries.
	Entries int `json:"entries"`
	// Newest is the time of the last entry.
	Newest time.Time `json:"newest,omitzero"`
	// LastDump is the last time at which the whole state was written.
	LastDump time.Time `json:"last_dump,omitzero"`
	// Detail is why the file can't be read.
	Detail string `json:"detail,omitempty"`
}

// MostSessions is the number of sessions that a status reads. It reads the sessions with the
// newest writes.
const MostSessions = 20

// ModelSummary is the state of a model's notes on a branch of a session.
type ModelSummary struct {
	Branch string `json:"branch"`
	// Model is the model that was last asked for notes.
	Model string `json:"model"`
	// Time is the time of that request.
	Time time.Time `json:"time"`
	// Messages is the number of messages that the request was about.
	Messages int `json:"messages"`
	// Operations is the number of operations that the model proposed.
	Operations int `json:"operations"`
	// Reason is OK, or why there are no notes on these messages.
	Reason summary.Reason `json:"reason"`
	// Deltas counts the answers of models.
	Deltas int `json:"deltas"`
	// Notes counts all notes, open or closed.
	Notes int `json:"notes"`
	// Closed counts the closed notes.
	Closed int `json:"closed"`
}

// Cooldown is the pause before a model that makes notes is asked again. All sessions of a state
// directory share the pause, since they share one account at one server.
type Cooldown struct {
	Model string `json:"model"`
	// Failures counts the failures since the last usable answer.
	Failures int `json:"failures"`
	// Until is the time from which the model is asked again.
	Until time.Time `json:"until,omitzero"`
	// Reason is the reason of the last failure.
	Reason summary.Reason `json:"reason"`
	// Detail describes the last failure.
	Detail string `json:"detail,omitempty"`
	// Failed is the time of the last failure.
	Failed time.Time `json:"failed,omitzero"`
	// Answered is the time of the last usable answer.
	Answered time.Time `json:"answered,omitzero"`
}

// FlushLine describes the outcome of a flush, in one line.
func FlushLine(items int, path string) string {
	if items == 1 {
		return "flush: 1 entry to " + path
	}
	return fmt.Sprintf("flush: %d entries to %s", items, path)
}

// TraceReport is the outcome of replaying a trace.
type TraceReport struct {
	// Program wrote the trace.
	Program string
	// Plans counts the plans whose outcome is the same. Decisions counts the calls of deciders in
	// these plans.
	Plans, Decisions int
	// Difference is the first decision that differs from the recorded one, nil if all are equal.
	// Nothing after it was examined.
	Difference *TraceDifference
	// Other counts the decisions of other versions that differ now. Such a difference is not a
	// fault of the trace. Skipped counts the plans that could not be replayed because of such
	// differences.
	Other, Skipped int
	// FirstOther is the first decision that Other counts.
	FirstOther *TraceDifference
}

// TraceDifference is a field of a trace whose replayed value differs.
type TraceDifference struct {
	// Line is the line of the trace, counted from 1.
	Line int `json:"line"`
	// Plan is the plan that the line is about.
	Plan string `json:"plan"`
	// Decider is align, plan_cut, select or next. Field is its path in the line: align.at,
	// steps[3].out.kept, projection, ….
	Decider string `json:"decider"`
	Field   string `json:"field"`
	// Recorded is the recorded value as JSON. Now is the value that the same input gives, as
	// JSON. "" is a missing value.
	Recorded string `json:"recorded"`
	Now      string `json:"replayed"`
}
