// Package scriptedhost drives a kernel as an agent harness does, turn by turn
// through its public calls only, and compares the result with a ledger
// of its own. It is for tests only.
//
//	Material ──► Script ──► Host.Do ──► kernel
//	 real work    steps        │
//	                           ▼
//	                        Ledger ──► Host.Check: prompt, restore text, pointers,
//	                                   Markdown, status, the files themselves
//
// A [Script] is made from a seed: the work in it (calls and results) is a recorded
// session's, used again and again under new ids; what the user and the agent say
// round it is made up, so that it is known what has to be kept: the plan's goal and
// step, rules that the host pins, rules told in conversation, decisions, questions
// left open, plan items, memories asked for in several languages. Its events are a
// planned compaction, with the host's history kept or replaced by a summary; a
// surprise overflow (a result of [Setup.Surprise] bytes in a window that is well
// filled); a reset, one of them in the middle of a turn; a restart; a user's words
// taken back and said in another way.
//
// # What is held
//
// After an event, and after every kill, [Host.Check] plans the next call and finds:
//
//	pinned rule     verbatim, exactly once in the prompt
//	goal, step      the plan page's newest version in the prompt, none newer behind it
//	told rule       this epoch's: in the prompt, or in a list that the prompt or the
//	                restore text points to ("get ID"); an earlier epoch's: in Markdown
//	decision        this epoch's: the same, the last 50 with those of
//	                the turn under way; and once a boundary was passed exactly once in
//	                Markdown
//	open item       in the prompt, the restore text or what they point to
//	memory          exactly once in Markdown, from the acknowledgement on
//	state on disk   a checkpoint made without any message of the host's has the decisions
//	                and open items of all committed turns of the epoch
//	turn            counted once; the last one delivered again is a duplicate
//	faults          none of flush_miss, post_compaction_bootstrap, pinned_invariant_miss,
//	                checkpoint_damaged, flush_skipped, silent_recall, not_recorded,
//	                projection_lost, by any call
//	disk            Kernel.Check finds nothing; every reduced page that is sampled restores
//
// What a step that was killed would have added may be there or not, once; everything
// acknowledged before it is there.
//
// [Kills] runs a script in child processes that are killed with SIGKILL, either
// before a write operation or from outside at whatever they were doing, and goes on
// with the step that was not acknowledged, as a host does that delivers it again.
package scriptedhost

import (
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// Session and Model are what every script runs as.
const (
	session = "scripted"
	model   = "claude-opus-4-5"
)

// Setup describes what a script is made of.
type Setup struct {
	Seed  uint64
	Turns int
	// Work is cycled through; see [Material].
	Work []Work
	// Window is the model's, in tokens; 0 is 64,000.
	Window int
	// Surprise is the size of the result that overflows the window, in bytes; 0 is
	// 240,000, about 60,000 tokens.
	Surprise int
}

func (s *Setup) setDefaults() {
	if s.Window == 0 {
		s.Window = 64_000
	}
	if s.Surprise == 0 {
		s.Surprise = 240_000
	}
}

// Kind is what a step asks of the kernel.
type Kind string

// The kinds. The last five are the events.
const (
	Plan     Kind = "plan"
	Result   Kind = "result" // ObserveToolResult
	Turn     Kind = "turn"   // ObserveTurn
	Write    Kind = "write"
	Remember Kind = "remember"
	Answer   Kind = "answer" // ObserveFlush, of what a model wrote down
	Flush    Kind = "flush"

	Compact Kind = "compact"
	Shrink  Kind = "shrink" // Compact, and the host replaces its history
	Reset   Kind = "reset"
	Restart Kind = "restart"
	Look    Kind = "look" // nothing but the check: behind an overflow
)

// Event reports whether the state is to be checked after the step.
func (k Kind) Event() bool {
	switch k {
	case Compact, Shrink, Reset, Restart, Look:
		return true
	}
	return false
}

// Step is one call of the kernel, with what is said before it and what has to
// be there once it is acknowledged.
type Step struct {
	Kind Kind
	// Turn counts the script's turns from 1.
	Turn int
	// Drop is how many of the newest messages the host takes back; Add are those that
	// were said since the step before.
	Drop int
	Add  []memkernel.Message
	Now  time.Time
	// Key makes the delivery idempotent; Updates and Text are what is written.
	Key     string
	Updates []journal.Update
	Text    string
	// Overflow marks the plan that has to find room for the surprise.
	Overflow bool
	Gain     Gain
}

// Gain is what a step adds to the ledger.
type Gain struct {
	Goal, Step string
	Pinned     string
	Told       string
	Decision   string
	// Question is what the agent's last word leaves open; Answered closes it.
	Question string
	Answered bool
	// Items are the open items of the agent's plan from here on, nil if unchanged.
	Items  []string
	Memory string
}
