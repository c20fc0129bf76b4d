package dialect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
)

// Kind is the role of a record in the session.
type Kind string

const (
	// KindMessage carries a message or a part of one.
	KindMessage Kind = "message"
	// KindCompaction marks where the host replaced the past by a summary.
	KindCompaction Kind = "compaction"
	// KindMicrocompaction marks where the host cleared old tool results.
	KindMicrocompaction Kind = "microcompaction"
	// kindUsage carries the bill of a call, apart from its message (Codex).
	kindUsage Kind = "usage"
	// kindMeta describes the session: a header, a model change, a context.
	kindMeta Kind = "meta"
	// KindField is a member of a document other than its messages.
	KindField Kind = "field"
	// kindSummary is a title that the host gave to a session.
	kindSummary Kind = "summary"
	// kindIgnored is known and never reaches the model.
	kindIgnored Kind = "ignored"
	// KindUnknown has a type that this package does not know.
	KindUnknown Kind = "unknown"
	// KindBlank is an empty line, or the white space after the last value of a document.
	KindBlank Kind = "blank"
	// KindBroken could not be read. Err is the reason.
	KindBroken Kind = "broken"
	// KindTorn is an incomplete last line, which its writer may still complete. Err is where it
	// ends. It is no error, however broken records are treated.
	KindTorn Kind = "torn"
)

// Entry is a record of a transcript, or a value of a document: its text, and the facts that its
// dialect reads in it.
type Entry struct {
	// Line is the 1-based line on which Raw begins.
	Line int
	Raw  string
	// The reader of a document sets Kind to KindField, and Type to the member's name. Parse sets
	// both otherwise.
	Kind Kind
	Type string
	// ID and Parent are the host's ids, "" if it has none.
	ID, Parent string
	// Message is the record's part of the conversation, nil if it has none.
	Message *memkernel.Message
	Flags   flags
	About   about
	// Ends reports whether the host ends the turn with this record.
	Ends bool
	// Unread is the reason why usage that the host wrote could not be read.
	Unread error
	// Own is for the dialect's assembler alone.
	Own any
}

// about describes the session of a transcript.
type about struct {
	ID, Cwd, Model string
	System         []memkernel.Part
	Tools          []memkernel.Tool
}

// flags mark which views leave a message out.
type flags struct {
	Unsent   bool // was never part of a prompt
	HostSkip bool // the host leaves it out of later prompts
}

// Note reports something that was repaired, removed or left out. It has all that was removed, so
// that nothing is lost.
type Note struct {
	// Rule names the event, such as "duplicate-record" or "orphan-result".
	Rule string
	// Line is the record's line if it came from a file, else 0.
	Line int
	// Message is the index of the message concerned in the input, -1 if the note concerns no
	// message.
	Message int
	// Key is the key of that message.
	Key string
	// Text explains it to a person.
	Text string
	// Removed holds the parts that were removed.
	Removed []memkernel.Part
}

// Log is a session as its entries build it up.
type Log struct {
	about
	Messages []memkernel.Message
	Notes    []Note
	Flags    []flags          // parallel to Messages
	Lines    map[string]*Line // by branch id, "" is the main line
	Names    []string         // branch ids but "" in order of appearance
}

// NewLog returns a log without entries.
func NewLog() *Log { return &Log{Lines: map[string]*Line{"": {}}} }

// Line is one way through the session: the main line, a sidechain, or the abandoned arm of a fork
// with the part that it shares with the main line.
type Line struct {
	Order  []int // indices into the messages
	Bounds []Bound
	Micros []Micro
}

// Bound is a compaction. Of the messages before Order[Pos] only those in Keep are still sent.
// Lead, the new history if the host wrote one, precedes them.
type Bound struct {
	Pos  int
	Keep []int
	Lead []memkernel.Message
}

// Micro is a micro-compaction: results of these calls before Order[Pos] are sent as Stub.
type Micro struct {
	Pos  int
	IDs  []string
	Stub string
}

// split cuts the line off at pos and returns a copy of the whole line.
func (l *Line) split(pos int) *Line {
	arm := &Line{Order: slices.Clone(l.Order), Bounds: slices.Clone(l.Bounds), Micros: slices.Clone(l.Micros)}
	l.Order = l.Order[:pos:pos]
	l.Bounds = slices.DeleteFunc(l.Bounds, func(b Bound) bool { return b.Pos > pos })
	l.Micros = slices.DeleteFunc(l.Micros, func(m Micro) bool { return m.Pos > pos })
	return arm
}

// Note reports an event at an entry.
func (l *Log) Note(rule string, e *Entry, format string, args ...any) {
	l.Notes = append(l.Notes, Note{Rule: rule, Line: e.Line, Message: -1, Key: e.ID, Text: fmt.Sprintf(format, args...)})
}

// Push appends a message, also to the line of its branch.
func (l *Log) Push(m memkernel.Message, f flags) int {
	i := l.Add(m, f)
	line := l.Branch(m.Branch)
	line.Order = append(line.Order, i)
	return i
}

// Add appends a message that is on no line yet.
func (l *Log) Add(m memkernel.Message, f flags) int {
	adopt(l.Messages, &m)
	l.Messages = append(l.Messages, m)
	l.Flags = append(l.Flags, f)
	return len(l.Messages) - 1
}

// Branch returns the line of a branch. It makes an unknown branch.
func (l *Log) Branch(name string) *Line {
	line := l.Lines[name]
	if line == nil {
		line = &Line{}
		l.Arm(name, line)
	}
	return line
}

// Arm adds a line under a name.
func (l *Log) Arm(name string, line *Line) {
	l.Lines[name] = line
	l.Names = append(l.Names, name)
}

// Fork moves the messages of a line from a position on to a new branch.
func (l *Log) Fork(line *Line, pos int, branch string) {
	for _, i := range line.Order[pos:] {
		l.Messages[i].Branch = branch
	}
	l.Arm(branch, line.split(pos))
}

// Adopt takes over the facts about the session from an entry.
func (l *Log) Adopt(a *about) {
	if a.ID != "" && a.ID != l.ID {
		l.ID = strings.Clone(a.ID)
	}
	if a.Cwd != "" && a.Cwd != l.Cwd {
		l.Cwd = strings.Clone(a.Cwd)
	}
	if a.Model != "" && a.Model != l.Model {
		l.Model = strings.Clone(a.Model)
	}
	if len(a.System) > 0 {
		l.System = a.System
	}
	if len(a.Tools) > 0 {
		l.Tools = a.Tools
	}
}

// joinRecord adds a further record of a message to it.
func joinRecord(into, m *memkernel.Message) {
	into.Parts = append(into.Parts, m.Parts...)
	into.Raw = ""
	if m.Usage != nil {
		into.Usage, into.Reported = m.Usage, m.Reported
	}
	if m.Time.After(into.Time) {
		into.Time = m.Time
	}
}

// repeatRecord merges a repetition of a message into it: hosts that stream write a message several
// times as it grows. The longer form of each part stays, and further parts are appended. again is
// false if m is no repetition. grew reports whether m added anything.
func repeatRecord(into, m *memkernel.Message) (grew, again bool) {
	at, n := 0, 0 // the part at which most parts of m are repeated, and how many are
	for i := range into.Parts {
		have := into.Parts[i:]
		most, k := min(len(have), len(m.Parts)), 0
		for k < most && (isGrown(&have[k], &m.Parts[k]) || isGrown(&m.Parts[k], &have[k])) {
			k++
		}
		if k == most && k >= n {
			at, n = i, k
		}
	}
	if n == 0 || into.Role != m.Role {
		return false, false
	}
	parts := slices.Clone(into.Parts)
	for i := range m.Parts {
		switch {
		case i >= n:
			parts, grew = append(parts, m.Parts[i]), true
		case !isGrown(&m.Parts[i], &parts[at+i]):
			parts[at+i], grew = m.Parts[i], true
		}
	}
	if grew {
		into.Parts, into.Raw = parts, ""
	}
	if m.Usage != nil && (into.Usage == nil || m.Usage.OutputTokens >= into.Usage.OutputTokens) {
		into.Usage, into.Reported = m.Usage, m.Reported
	}
	if m.Time.After(into.Time) {
		into.Time = m.Time
	}
	return grew, true
}

// isGrown reports whether q is p again, unchanged or longer.
func isGrown(p, q *memkernel.Part) bool {
	switch {
	case p.Kind != q.Kind:
		return false
	case p.Call != nil && q.Call != nil:
		return sameCall(p.Call, q.Call)
	case p.Result != nil && q.Result != nil:
		return p.Result.CallID == q.Result.CallID && strings.HasPrefix(Text(memkernel.Message{Parts: q.Result.Content}), Text(memkernel.Message{Parts: p.Result.Content}))
	case p.Kind == memkernel.PartText || IsThinking(p):
		return strings.HasPrefix(q.Text, p.Text) && (p.Signature == "" || p.Signature == q.Signature)
	}
	return p.Raw != "" && p.Raw == q.Raw
}

// sameCall reports whether d is the call c again, unchanged or with more of its input.
func sameCall(c, d *memkernel.ToolCall) bool {
	return c.ID == d.ID && c.Name == d.Name && strings.HasPrefix(d.Input, strings.TrimRight(c.Input, "}]\" \t\r\n"))
}

// assemblePlain assembles messages that are complete by themselves.
func assemblePlain(l *Log) (add func(*Entry), finish func()) {
	return func(e *Entry) {
		if l.Adopt(&e.About); e.Kind == KindMessage {
			l.Push(*e.Message, e.Flags)
		}
	}, nil
}

// parseTime reads a time of the host's. It returns the zero time for any other text.
func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t
}
