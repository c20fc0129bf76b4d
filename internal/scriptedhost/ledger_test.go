package scriptedhost

import (
	"slices"
)

// Ledger is what a host knows that its kernel has to keep.
type Ledger struct {
	// Goal and Step are those of the plan page now, Pinned the rules that are in
	// every prompt.
	Goal, Step string
	Pinned     []string
	// Told and Decisions are those of this epoch, Logged what a boundary has brought
	// to the day's log: decisions at any, rules told in conversation and open items at a reset.
	Told, Decisions []string
	Logged          []string
	// Question is what the agent's last word asks, Items what is open of its plan.
	Question string
	Items    []string
	// Left is what the epoch before left open; it is looked for until the new one
	// has ended a turn.
	Left     []string
	Memories []string
	// Turns counts the committed turns, Epoch the resets.
	Turns, Epoch int
	// Observed is what the last committed turn of this epoch left: what the disk knows
	// without the host's messages.
	Observed Observed
}

// Observed is a part of the ledger as it was at the end of a turn.
type Observed struct {
	Decisions, Open []string
}

// after returns the ledger once a step was acknowledged.
func (l Ledger) after(st *Step) Ledger {
	g := &st.Gain
	l.Goal, l.Step = either(g.Goal, l.Goal), either(g.Step, l.Step)
	l.Pinned = with(l.Pinned, g.Pinned)
	l.Told = with(l.Told, g.Told)
	l.Memories = with(l.Memories, g.Memory)
	l.Decisions = with(l.Decisions, g.Decision)
	if g.Answered {
		l.Question = ""
	}
	l.Question = either(g.Question, l.Question)
	if g.Items != nil {
		l.Items = g.Items
	}
	switch st.Kind {
	case Turn:
		l.Turns++
		l.Left = nil
		l.Observed = Observed{l.recent(), l.Items}
	case Compact, Shrink, Flush:
		l.Logged = with(l.Logged, l.recent()...)
	case Reset:
		l = l.reset()
	}
	return l
}

// reset begins an epoch: what was said is the log's now.
func (l Ledger) reset() Ledger {
	l.Left = with(slices.Clone(l.Items), l.Question)
	l.Logged = with(with(with(l.Logged, l.recent()...), l.Left...), l.Told...)
	l.Told, l.Decisions, l.Items, l.Question, l.Observed = nil, nil, nil, "", Observed{}
	l.Epoch++
	return l
}

// inTurn is how many decisions a turn takes at most: so many may have been captured
// of one that is not acknowledged yet.
const inTurn = 2

// mostDecisions is how many decisions a checkpoint holds.
const mostDecisions = 50

// recent returns the decisions that a checkpoint has room for.
func (l Ledger) recent() []string {
	return l.Decisions[max(0, len(l.Decisions)-mostDecisions+inTurn):]
}

// open returns what the agent has still to do or to hear.
func (l Ledger) open() []string { return with(slices.Clone(l.Items), l.Question) }

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// with appends what is not there yet, to a list of its own.
func with(list []string, more ...string) []string {
	list = slices.Clip(list)
	for _, s := range more {
		if s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
