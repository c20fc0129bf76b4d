package workstate

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/lazyregexp"
	"github.com/memkernel/memkernel/kernel/internal/ids"
)

// StateFile is SESSION-STATE.md, cut round the kernel's section.
type StateFile struct {
	Text          string   // all of it
	Section       *Section // nil if there is none
	lines         int
	before, after string
}

// Section is the kernel's part:
//
//	<!-- memkernel:state session=NAME epoch=0 captured=12 through=9f… at=2026-… before=ss-… sum=… -->
//	the body, which ends in a line feed
//	<!-- /memkernel:state -->
type Section struct {
	// Owner is the folder of the session, Epoch counts its resets, Captured its
	// messages, At is when it was written, through the mark of the last message.
	Owner           string
	Epoch, Captured int
	At              time.Time
	through         string
	// before is the page of what stood in the file before the session, "" if none.
	before string
	Body   string
	// Edited: the body is not what was written.
	Edited bool
}

// StateEnd is the mark behind a section.
const StateEnd = "<!-- /memkernel:state -->"

var stateBegin = lazyregexp.New(`^<!-- memkernel:state session=([A-Za-z0-9._-]+) epoch=(\d{1,9}) captured=(\d{1,9}) through=([0-9a-f]*) at=(\S+) before=([a-z0-9-]*) sum=([0-9a-f]+) -->$`)

// ParseStateFile finds the first section that has both its marks. Line ends of either
// kind are read.
func ParseStateFile(text string) StateFile {
	f := StateFile{Text: text, before: text}
	lines := strings.SplitAfter(text, "\n")
	f.lines = len(lines)
	begin := -1
	var at []string
	for i, l := range lines {
		l = strings.TrimSpace(l)
		if m := stateBegin.FindStringSubmatch(l); m != nil {
			begin, at = i, m
		}
		if begin >= 0 && l == StateEnd {
			f.Section = sectionOf(at, strings.Join(lines[begin+1:i], ""))
			f.before, f.after = strings.Join(lines[:begin], ""), strings.Join(lines[i+1:], "")
			return f
		}
	}
	return f
}

func sectionOf(m []string, body string) *Section {
	sec := &Section{Owner: m[1], through: m[4], before: m[6], Body: strings.ReplaceAll(body, "\r\n", "\n")}
	sec.Epoch, _ = strconv.Atoi(m[2]) // at most nine digits, as the form says
	sec.Captured, _ = strconv.Atoi(m[3])
	at, err := time.Parse(time.RFC3339, m[5])
	sec.At = at
	sec.Edited = err != nil || m[7] != sec.sum()
	return sec
}

func (c *Section) sum() string { return ids.Hash(c.Body)[:32] }

// lines are what the section says.
func (c *Section) lines() []checkpoint.Line {
	var out []checkpoint.Line
	for l := range strings.SplitSeq(c.Body, "\n") {
		if line, ok := checkpoint.ParseLine(l); ok {
			out = append(out, line)
		}
	}
	return out
}

func (c *Section) String() string {
	return fmt.Sprintf("<!-- memkernel:state session=%s epoch=%d captured=%d through=%s at=%s before=%s sum=%s -->\n%s%s\n",
		c.Owner, c.Epoch, c.Captured, c.through, c.At.UTC().Format(time.RFC3339), c.before, c.sum(), c.Body, StateEnd)
}

// with is the file with a section in the place of the one that it has, or at its end.
func (f StateFile) with(sec Section) string {
	if f.Section != nil || f.before == "" {
		return f.before + sec.String() + f.after
	}
	return strings.TrimRight(f.before, "\r\n") + "\n\n" + sec.String()
}

// disowned is the file with its section's marks taken away.
func (f StateFile) disowned() StateFile {
	return StateFile{Text: f.Text, lines: f.lines, before: f.before + f.Section.Body + f.after}
}

// without is the file without its section.
func (f StateFile) without() string { return f.before + f.after }

// Others is what in the file is not the kernel's.
func (f StateFile) Others() string {
	if f.Section == nil {
		return f.Text
	}
	return strings.TrimSpace(strings.TrimRight(f.before, "\r\n") + "\n\n" + strings.TrimLeft(f.after, "\r\n"))
}
