package kernel

import (
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/summary"
)

// line is the state of one conversation: a (branch, model) of a session. A line
// is never changed once made; a plan makes the next one, which shares what
// stayed. That is what lets Peek plan and forget.
type line struct {
	branch, model string
	proj          *pagevm.Projection
	ledger        cachelayout.Ledger
	// raw is the host's conversation as it came, msgs the same made valid, hosts
	// and places what the projection sees of msgs. They are empty on a line read
	// from disk until the first request.
	raw, msgs []memkernel.Message
	hosts     []pagevm.HostMessage
	places    []pagevm.Place
	// adopted gives the host's key of a message that was planned as a prompt first
	// and is known by the prompt's.
	adopted map[string]string
	// removed is what making them valid took out.
	removed []Excluded
	// calls finds a tool call by its id.
	calls map[string]*memkernel.ToolCall
	// summary is what the mechanical summary knows; spans what has left.
	summary summary.State
	spans   []Span
	// anchor is the last request that the provider measured for us.
	anchor anchor
	// ttl is the cache lifetime that the host was seen to use; 0 if unknown.
	ttl time.Duration
	// pace is how the calls follow each other.
	pace cachelayout.Pace
	// planID is the newest plan; planned its input in uncalibrated tokens.
	planID  string
	planned int
	// full is that plan's whole input, calibrated, 0 if a record of it does not say.
	full int
	// window is that of the newest plan, 0 if a record of it does not say.
	window int
	// expected is what that plan says of its bill, nil if it was read from a record
	// that does not say; billed is the newest plan whose bill was taken.
	expected *Expected
	billed   string
	// restored is the newest record of a line that is being read from disk.
	restored *planBody
	// ran are the calls that ran, to know them again.
	ran ran
	// level is the gauge's, so that a threshold is told once.
	level int
	// flushAsked is the size at which a flush turn was asked for last, flushSeen how
	// many messages had been flushed for their bytes.
	flushAsked, flushSeen int
	// call is the last one beside its messages, overflow what refusals have taught,
	// breaker what cuts came to, compacted the newest boundary whose cut was made.
	call      call
	overflow  overflowState
	breaker   breaker
	compacted int
	// notesShown is the version of a model's notes that the carry block shows.
	notesShown int
	// unsent: the newest plan was a compaction's, which is no request.
	unsent bool
	// fitted are the pages that stand with a text of their own size, because they are
	// larger than the room there was.
	fitted map[string]bool
	// settled is the generation of the projection that the messages' levels were
	// compared with.
	settled int
	// private: the line has been shown what only private sessions see.
	private bool
}

// anchor ties a real prompt size to a state of the projection.
type anchor struct {
	// Total is the measured input, Items and Carry how much of the projection it
	// covers, Generation which projection, Fixed the fixed part it was made with.
	Total      int `json:"total"`
	Carry      int `json:"carry"`
	Items      int `json:"items"`
	Generation int `json:"generation"`
	Fixed      int `json:"fixed"`
}

// Span is a run of messages that left the prompt at a cut.
type Span struct {
	// ID is the span's page; Get restores the messages.
	ID string `json:"id"`
	// Keys are the host messages, Pages their pages, in order.
	Keys  []string `json:"keys"`
	Pages []string `json:"pages"`
	// From and To are the host's times of the first and the last message.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// Tokens is what the messages cost in full.
	Tokens int `json:"tokens"`
	// Level is how the span is shown, Text what is shown.
	Level pagevm.Level `json:"level"`
	Text  string       `json:"text"`
}

// whole is the size of the newest plan's input, as well as it is known.
func (l *line) whole() int {
	if l.full > 0 {
		return l.full
	}
	return l.planned + l.ledgerFixed()
}

func newLine(session, branch, model string) *line {
	return &line{
		branch: branch, model: model,
		proj:  &pagevm.Projection{Version: pagevm.ProjectionVersion, Session: session, Branch: branch, Model: model},
		calls: map[string]*memkernel.ToolCall{},
	}
}
