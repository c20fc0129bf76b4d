package api

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/billing"
	"time"
)

// FlushTurn is a silent turn that asks the host's model to write down facts that should outlive a
// compaction. It needs one completion without tools, of System and Prompt alone. The host must
// pass the answer to Kernel.ObserveFlush and show it to nobody else.
type FlushTurn struct {
	System string `json:"system"`
	// Prompt is the user message of the turn. It is "" if the named session has nothing new, or
	// if this process was not shown its conversation: there is nothing to ask. Where flushes are
	// switched off, Section is "" as well.
	Prompt string `json:"prompt"`
	// Section asks for the same in a text that a model writes anyway, such as the host's own
	// summary; see [FlushReply.Section].
	Section string `json:"section"`
	// Path is the file that the answer will be appended to.
	Path string `json:"path"`
	// MaxTokens is the limit of the answer, in tokens.
	MaxTokens int `json:"max_tokens"`
}

// NoReply is the answer of a model that has nothing to write down.
const NoReply = "NO_REPLY"

// FlushRequest asks for a flush turn.
type FlushRequest struct {
	// SessionKey names the session whose messages Prompt will show, secrets masked. It shows
	// those since the last flush turn, about the newest 20,000 tokens. With "" the prompt is for
	// a model that already has the conversation.
	SessionKey string
	// Messages is the host's whole conversation now. Without it, the messages of this process's
	// last plan are used. Model is the one that they are planned for.
	Messages []memkernel.Message
	Model    string
	// System and Prompt are the host's own; the safety hints are appended to them.
	System, Prompt string
	// Now is the time whose day, in the user's time zone, names the file.
	Now time.Time
}

// FlushReply is a model's answer to a [FlushTurn].
type FlushReply struct {
	SessionKey string
	Text       string
	// Section: Text is a longer answer, with the memories between a line <memory> and a line
	// </memory>. Without these lines nothing is written.
	Section bool
	// Usage is the provider's bill for the answer, nil if that is not known. Model is the model
	// that answered.
	Model string
	Usage *memkernel.Usage
	Now   time.Time
}

// Flushed is the outcome of a flush turn.
type Flushed struct {
	// Reason is OK, NO_REPLY, or why nothing was written: EMPTY, TOO_LARGE.
	Reason string `json:"reason"`
	// Items counts the memories that were new.
	Items int    `json:"items"`
	Path  string `json:"path,omitempty"`
	// Unwritten is why the file does not have them yet, "" if it has; see [Remembered].
	Unwritten string `json:"unwritten,omitempty"`
	// Line describes the outcome to people, in one line: flush: 4 entries to
	// memory/2026-11-23.md.
	Line string `json:"line"`
	// Bill is the row of the answer's bill, nil if there was none.
	Bill *billing.Call `json:"-"`
}
