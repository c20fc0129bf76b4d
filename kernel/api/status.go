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
	// Others are sessions that were not read, the newest first. Masked, Forgotten and Retired do
	// not count their content.
	Others []OtherSession `json:"others"`
	// Unreadable are sessions that can't be read, and why.
	Unreadable []health.Finding `json:"unreadable"`
	// Blobs and BlobBytes count the content-addressed store.
	Blobs     int   `json:"blobs"`
	BlobBytes int64 `json:"blob_bytes"`
	// Masked counts the secrets that were masked in stored pages, by rule. Pages of versions that
	// did not record the rule are counted as "unknown".
	Masked []MaskCount `json:"masked"`
	// Forgotten are forgotten pages. Retired are pages whose content retention removed.
	Forgotten int `json:"forgotten"`
	Retired   int `json:"retired"`
	// Memory describes the memory in the workspace's Markdown.
	Memory MemoryStatus `json:"memory"`
	// Nets describes the copies of the sessions' working state in that Markdown.
	Nets NetsStatus `json:"nets"`
	// SummaryModels are the models that were asked for notes, with their cool-downs.
	SummaryModels []Cooldown `json:"summary_models"`
}

// MaskCount is how many secrets a rule found.
type MaskCount struct {
	// Rule is unknown for pages of versions that did not say.
	Rule  string `json:"rule"`
	Count int    `json:"count"`
}

// SessionStatus describes the stored state of one session.
type SessionStatus struct {
	// Key is the session's, as the host spells it. A folder from before December 2026 may not
	// record its key: then Key is the folder's name. Folder is the name of the session's folder.
	Key    string `json:"key"`
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
	// Paging sums up the paging of the plans of all its conversations.
	Paging paging.Report `json:"paging"`
	// JournalBytes and ProjectionBytes are file sizes.
	JournalBytes    int64 `json:"journal_bytes"`
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
	// LastCut is the newest cut, nil if there was none. FutileCuts counts the newest cuts that
	// reclaimed next to nothing. BreakerOpen: further cuts are refused until the prompt grows.
	LastCut     *LineCut `json:"last_cut"`
	FutileCuts  int      `json:"futile_cuts"`
	BreakerOpen bool     `json:"breaker_open"`
	// Refusals counts the provider's refusals in a row that were answered by smaller plans.
	// LearnedWindow is the window that the provider named, 0 if it never did.
	Refusals      int `json:"refusals"`
	LearnedWindow int `json:"learned_window"`
}

// LifeStatus describes the boundaries of a session and their outcomes.
type LifeStatus struct {
	// Epoch counts the resets. Compactions counts the host's compactions since the last reset.
	// LastCompaction is the time of the newest.
	Epoch          int       `json:"epoch"`
	Compactions    int       `json:"compactions"`
	LastCompaction time.Time `json:"last_compaction,omitzero"`
	// Checkpoints are on disk, newest first.
	Checkpoints []string `json:"checkpoints"`
	// Flushed counts the entries of the day's logs that flushes wrote. LastFlush is the time of
	// the newest.
	Flushed   int       `json:"flushed"`
	LastFlush time.Time `json:"last_flush,omitzero"`
	// FlushedByModel counts those of them that the session's model wrote down. LastFlushItems and
	// LastFlushPath are the number of items of the newest flush and its file.
	FlushedByModel int    `json:"flushed_by_model"`
	LastFlushItems int    `json:"last_flush_items,omitempty"`
	LastFlushPath  string `json:"last_flush_path,omitempty"`
	// CutWaiting: a compaction was requested that the next plan will make.
	CutWaiting bool `json:"cut_waiting"`
	// Warning names a session that was compacted again and again of late.
	Warning string `json:"warning,omitempty"`
}

// LineCut is a cut of a line, its tokens without tools and system, as counted.
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
	// Folder is the name of its folder below sessions.
	Folder string `json:"folder"`
	// Bytes is the size of its journal and projections. Last is the time of the last write to
	// them.
	Bytes int64     `json:"bytes"`
	Last  time.Time `json:"last,omitzero"`
}

// StatusOptions select the sessions to read.
type StatusOptions struct {
	// Session selects one session. "" selects the newest ones, All every one.
	Session string
	All     bool
}

// NetsStatus describes the copies of the sessions' working state in the workspace's Markdown.
type NetsStatus struct {
	SessionState StateFileStatus `json:"session_state"`
	Buffer       BufferStatus    `json:"working_buffer"`
}

// StateFileStatus describes SESSION-STATE.md.
type StateFileStatus struct {
	Path string `json:"path"`
	// Enabled reports whether the kernel writes its section.
	Enabled bool `json:"enabled"`
	// Bytes is the file's size, 0 if there is none. OtherBytes is the part of it that is not the
	// kernel's.
	Bytes      int `json:"size_bytes"`
	OtherBytes int `json:"other_bytes"`
	// Session is the folder of the session whose section the file has, "" if there is none.
	// Epoch, Messages and Time are the state at which the section was written.
	Session  string    `json:"session"`
	Epoch    int       `json:"epoch"`
	Messages int       `json:"messages"`
	Time     time.Time `json:"time,omitzero"`
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
	// Entries counts the kernel's entries. Newest is the time of the last one. LastDump is the
	// last time that all of the state was written.
	Entries  int       `json:"entries"`
	Newest   time.Time `json:"newest,omitzero"`
	LastDump time.Time `json:"last_dump,omitzero"`
	// Detail is why the file can't be read.
	Detail string `json:"detail,omitempty"`
}

// MostSessions is how many sessions a status reads: those that were last written to.
const MostSessions = 20

// ModelSummary is the state of a model's notes on a branch of a session.
type ModelSummary struct {
	Branch string `json:"branch"`
	// Model is the model that was asked last, at Time, about so many Messages. It proposed so
	// many Operations. Reason is OK, or why there are no notes on them.
	Model      string         `json:"model"`
	Time       time.Time      `json:"time"`
	Messages   int            `json:"messages"`
	Operations int            `json:"operations"`
	Reason     summary.Reason `json:"reason"`
	// Deltas counts how often a model answered.
	Deltas int `json:"deltas"`
	// Notes counts all of them, open or closed. Closed counts the closed ones.
	Notes  int `json:"notes"`
	Closed int `json:"closed"`
}

// Cooldown is the pause before a model that makes notes is asked again. All sessions of a state
// directory share it, since they have one account at one server.
type Cooldown struct {
	Model string `json:"model"`
	// Failures counts the failures since the last usable answer. Until is when the model is asked
	// again.
	Failures int       `json:"failures"`
	Until    time.Time `json:"until,omitzero"`
	// Reason and Detail describe the last failure. Failed is its time.
	Reason summary.Reason `json:"reason"`
	Detail string         `json:"detail,omitempty"`
	Failed time.Time      `json:"failed,omitzero"`
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
