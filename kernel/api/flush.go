package api

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/billing"
	"time"
)

// FlushTurn is a silent turn for the host's model, to write down what should outlive
// a compaction. It needs one completion without tools, of System and Prompt alone, whose
// answer nobody but Kernel.ObserveFlush gets to see.
type FlushTurn struct {
	System string `json:"system"`
	// Prompt is what a user would say. It is "" where a session was named in which nothing
	// is new, or whose conversation this process was not shown: there is nothing to ask. Where
	// flushes are switched off, Section is "" as well.
	Prompt string `json:"prompt"`
	// Section asks for the same in something that a model writes anyway, such as the host's
	// own summary; see [FlushReply.Section].
	Section string `json:"section"`
	// Path is the file that the answer will be appended to.
	Path string `json:"path"`
	// MaxTokens is what the answer may take, in tokens.
	MaxTokens int `json:"max_tokens"`
}

// NoReply is what a model answers that has nothing to write down.
const NoReply = "NO_REPLY"

// FlushRequest asks for a flush turn.
type FlushRequest struct {
	// SessionKey names the session whose words Prompt is to show, secrets masked, from
	// where the last flush turn stopped; the newest 20,000 tokens or so. With "" the prompt
	// is for a model that has the conversation before it.
	SessionKey string
	// Messages is the host's whole conversation now. Without it, what the last plan of this
	// process was made of counts. Model is the one that they are planned for.
	Messages []memkernel.Message
	Model    string
	// System and Prompt are the host's own; the safety hints are appended to them.
	System, Prompt string
	// Now is the time whose day, in the user's time zone, names the file.
	Now time.Time
}

// FlushReply is what a model answered to a [FlushTurn].
type FlushReply struct {
	SessionKey string
	Text       string
	// Section: Text is something longer, in which the memories stand between a line
	// <memory> and a line </memory>. Without them nothing is written.
	Section bool
	// Usage is what the provider billed the answer, nil if that is not known; Model answered.
	Model string
	Usage *memkernel.Usage
	Now   time.Time
}

// Flushed is what was made of it.
type Flushed struct {
	// Reason is OK, NO_REPLY, or why nothing was written: EMPTY, TOO_LARGE.
	Reason string `json:"reason"`
	// Items counts the memories that were new.
	Items int    `json:"items"`
	Path  string `json:"path,omitempty"`
	// Unwritten says why the file does not have them yet, "" if it has; see [Remembered].
	Unwritten string `json:"unwritten,omitempty"`
	// Line tells it to people, in one line: flush: 4 entries to memory/2026-11-23.md.
	Line string `json:"line"`
	// Bill is the row of the answer's bill, nil if there was none.
	Bill *billing.Call `json:"-"`
}
