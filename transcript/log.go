package transcript

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
)

// kind is the role of a record in the session.
type kind string

const (
	// kindMessage carries a message or a part of one.
	kindMessage kind = "message"
	// kindCompaction marks where the host replaced the past by a summary.
	kindCompaction kind = "compaction"
	// kindMicrocompaction marks where the host cleared old tool results.
	kindMicrocompaction kind = "microcompaction"
	// kindUsage carries the bill of a call in a record without the message (Codex).
	kindUsage kind = "usage"
	// kindMeta describes the session: a header, a model change, a context.
	kindMeta kind = "meta"
	// kindField is a member of a document other than its messages.
	kindField kind = "field"
	// kindSummary is a title that the host gave to a session.
	kindSummary kind = "summary"
	// kindIgnored is known and never reaches the model.
	kindIgnored kind = "ignored"
	// kindUnknown has a type that this package does not know.
	kindUnknown kind = "unknown"
	// kindBlank is an empty line, or the white space after the last value of a document.
	kindBlank kind = "blank"
	// kindBroken could not be read. Err is the reason.
	kindBroken kind = "broken"
	// kindTorn is an incomplete last line, which its writer may still complete. Err is where it
	// ends. It is no error, however broken records are treated.
	kindTorn kind = "torn"
)

// about describes the session of a transcript.
type about struct {
	// ID is the host's session id. Cwd is the working directory. Model is the model of the last
	// answer. Each is "" if the file does not name it.
	ID, Cwd, Model string
	// Tools and System are the fixed part of the prompt, if the file holds it. Requests hold
	// both. Of the session logs only Codex's hold a part of it, the instructions.
	Tools  []memkernel.Tool
	System []memkernel.Part
}

// flags mark which views leave a message out.
type flags struct {
	Unsent   bool // was never part of a prompt
	HostSkip bool // the host leaves it out of later prompts
}

// Note reports something that was repaired, removed or left out. It holds all removed parts, so
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

// newSession returns a session without records.
func newSession(d Dialect) *Session {
	return &Session{Dialect: d, lines: map[string]*sessionLine{"": {}}}
}

// sessionLine is one way through the session: the main line, a sidechain, or the abandoned arm of a fork
// with the part that it shares with the main line.
type sessionLine struct {
	Order  []int // indices into the messages
	Bounds []boundary
	Micros []micro
}

// boundary is a compaction. Of the messages before Order[Pos] only those in Keep are still sent.
// Lead, the new history if the host wrote one, precedes them.
type boundary struct {
	Pos  int
	Keep []int
	Lead []memkernel.Message
}

// micro is a micro-compaction: results of these calls before Order[Pos] are sent as Stub.
type micro struct {
	Pos  int
	IDs  []string
	Stub string
}

// note reports an event at an entry.
func (l *Session) note(rule string, e *Record, format string, args ...any) {
	l.Notes = append(l.Notes, Note{Rule: rule, Line: e.Line, Message: -1, Key: e.ID, Text: fmt.Sprintf(format, args...)})
}

// push appends a message, also to the line of its branch.
func (l *Session) push(m memkernel.Message, f flags) int {
	i := l.add(m, f)
	line := l.branch(m.Branch)
	line.Order = append(line.Order, i)
	return i
}

// add appends a message that is on no line yet.
func (l *Session) add(m memkernel.Message, f flags) int {
	adopt(l.Messages, &m)
	l.Messages = append(l.Messages, m)
	l.flags = append(l.flags, f)
	return len(l.Messages) - 1
}

// branch returns the line of a branch. It makes an unknown branch.
func (l *Session) branch(name string) *sessionLine {
	line := l.lines[name]
	if line == nil {
		line = &sessionLine{}
		l.arm(name, line)
	}
	return line
}

// arm adds a line under a name.
func (l *Session) arm(name string, line *sessionLine) {
	l.lines[name] = line
	l.names = append(l.names, name)
}

// fork moves all messages of a line from position pos on to a new branch.
func (l *Session) fork(line *sessionLine, pos int, branch string) {
	for _, i := range line.Order[pos:] {
		l.Messages[i].Branch = branch
	}
	l.arm(branch, &sessionLine{Order: slices.Clone(line.Order), Bounds: slices.Clone(line.Bounds), Micros: slices.Clone(line.Micros)})
	line.Order = line.Order[:pos:pos]
	line.Bounds = slices.DeleteFunc(line.Bounds, func(b boundary) bool { return b.Pos > pos })
	line.Micros = slices.DeleteFunc(line.Micros, func(m micro) bool { return m.Pos > pos })
}

// adopt copies the facts about the session that a record names.
func (l *Session) adopt(a *about) {
	for _, f := range [...]struct {
		to *string
		of string
	}{{&l.ID, a.ID}, {&l.Cwd, a.Cwd}, {&l.Model, a.Model}} {
		if f.of != "" && f.of != *f.to {
			*f.to = strings.Clone(f.of)
		}
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
	billRecord(into, m, m.Usage != nil)
}

// billRecord gives a message the usage of a further record of it, if bills is set, and its time.
func billRecord(into, m *memkernel.Message, bills bool) {
	if bills {
		into.Usage, into.Reported = m.Usage, m.Reported
	}
	if m.Time.After(into.Time) {
		into.Time = m.Time
	}
}

// repeatRecord merges m into the message that it repeats: hosts that stream write a message several
// times while it grows. The longer form of each part stays, and further parts are appended. again
// is false if m is no repetition. grew reports whether m added anything.
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
	billRecord(into, m, m.Usage != nil && (into.Usage == nil || m.Usage.OutputTokens >= into.Usage.OutputTokens))
	return grew, true
}

// again merges a record whose id occurred before into the message at index at, which is -1 if there
// is no such message. It reports whether that message grew, which means that it had been written
// before it was complete. If it did not grow, again adds a note about the repetition.
func (l *Session) again(e *Record, at int, what string) (grew bool) {
	if at >= 0 && e.Message != nil {
		grew, _ = repeatRecord(&l.Messages[at], e.Message)
	}
	if !grew {
		l.note("duplicate-record", e, what+" %s is in the file twice, the first one counts", e.ID)
	}
	return grew
}

// isGrown reports whether q repeats p, unchanged or longer.
func isGrown(p, q *memkernel.Part) bool {
	switch {
	case p.Kind != q.Kind:
		return false
	case p.Call != nil && q.Call != nil:
		return sameCall(p.Call, q.Call)
	case p.Result != nil && q.Result != nil:
		return p.Result.CallID == q.Result.CallID && strings.HasPrefix(Text(memkernel.Message{Parts: q.Result.Content}), Text(memkernel.Message{Parts: p.Result.Content}))
	case p.Kind == memkernel.PartText || isThinking(p):
		return strings.HasPrefix(q.Text, p.Text) && (p.Signature == "" || p.Signature == q.Signature)
	}
	return p.Raw != "" && p.Raw == q.Raw
}

// sameCall reports whether d repeats the call c, unchanged or with more of its input.
func sameCall(c, d *memkernel.ToolCall) bool {
	return c.ID == d.ID && c.Name == d.Name && strings.HasPrefix(d.Input, strings.TrimRight(c.Input, "}]\" \t\r\n"))
}

// assemblePlain assembles messages that are complete by themselves.
func assemblePlain(l *Session) (add func(*Record), finish func()) {
	return func(e *Record) {
		if l.adopt(&e.about); e.Kind == kindMessage {
			l.push(*e.Message, e.flags)
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
