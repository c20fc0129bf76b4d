package api

import (
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/summary"
)

// FlushTurn is a silent turn that asks the host's model to write down facts that should outlive a
// compaction. It needs one completion without tools, of System and Prompt alone. The host must
// pass the answer to Kernel.ObserveFlush and show it to nobody else.
type FlushTurn struct {
	System string `json:"system"`
	// Prompt is the user message of the turn. It is "" if the named session has nothing new, or
	// if this process was not shown its conversation. If flushes are switched off, Prompt and
	// Section are "".
	Prompt string `json:"prompt"`
	// Section is the same request as Prompt, for use inside another prompt whose answer is a text
	// anyway, such as the host's own summary; see [FlushReply.Section].
	Section string `json:"section"`
	// Path is the file that the answer will be appended to.
	Path string `json:"path"`
	// MaxTokens is the limit of the answer, in tokens.
	MaxTokens int `json:"max_tokens"`
}

// NoReply is the answer of a model that has nothing to write down.
const NoReply = "NO_REPLY"

// FlushRequest is a request for a flush turn.
type FlushRequest struct {
	// SessionKey names the session whose messages Prompt will show, secrets masked. Prompt shows
	// the messages since the last flush turn, up to about the newest 20,000 tokens. With "" the
	// prompt is for a model that already has the conversation.
	SessionKey string
	// Messages is the host's whole conversation now. Without it, the messages of this process's
	// last plan are used.
	Messages []memkernel.Message
	// Model is the model that the messages are planned for.
	Model string
	// System and Prompt are the host's own texts. The safety hints are appended to them.
	System, Prompt string
	// Now is the time of the flush. Its day in the user's time zone names the file.
	Now time.Time
}

// FlushReply is a model's answer to the prompts of a [FlushTurn].
type FlushReply struct {
	SessionKey string
	Text       string
	// Section reports that Text is a longer answer, in which the memories are between a line
	// <memory> and a line </memory>. Without these lines nothing is written.
	Section bool
	Now     time.Time
}

// Flushed is the outcome of a flush turn.
type Flushed struct {
	// Reason is OK or NO_REPLY, or why nothing was written: EMPTY, TOO_LARGE.
	Reason string `json:"reason"`
	// Items counts the new memories.
	Items int    `json:"items"`
	Path  string `json:"path,omitempty"`
	// Unwritten is why the file does not have the new memories yet, "" if the file has them; see
	// [Remembered].
	Unwritten string `json:"unwritten,omitempty"`
	// Line describes the outcome to people, in one line such as "flush: 4 entries to
	// memory/2026-11-23.md".
	Line string `json:"line"`
}

// SummaryOptions set whether a model makes notes of sessions, and when.
type SummaryOptions struct {
	// Model makes the notes. With nil, the default, no model is asked.
	Model summary.Model
	// Tokens is the size from which a delta is sent to the model. Default: 4,000.
	Tokens int
	// After is the age of a delta's oldest message from which a smaller delta is sent. Default:
	// 15 minutes.
	After time.Duration
	// DeltaTokens is the approximate size of the part of a delta that one request sends. The rest
	// goes into the next request. Default: 24,000.
	DeltaTokens int
	// Timeout limits one request. Default: a minute.
	Timeout time.Duration
	// CloseWait is how long Close waits for a request before it is cancelled.
	// Default: 2 seconds; negative does not wait.
	CloseWait time.Duration
}
