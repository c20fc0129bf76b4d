package kernel

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/internal/ids"
)

// stateFile is SESSION-STATE.md, cut round the kernel's section.
type stateFile struct {
	text          string // all of it
	lines         int
	before, after string
	section       *stateSection // nil if there is none
}

// stateSection is the kernel's part:
//
//	<!-- memkernel:state session=NAME epoch=0 captured=12 through=9f… at=2026-… before=ss-… sum=… -->
//	the body, which ends in a line feed
//	<!-- /memkernel:state -->
type stateSection struct {
	// owner is the folder of the session, epoch counts its resets, captured its
	// messages, through is the mark of the last of them.
	owner           string
	epoch, captured int
	through         string
	at              time.Time
	// before is the page of what stood in the file before the session, "" if none.
	before string
	body   string
	// edited: the body is not what was written.
	edited bool
}

const stateEnd = "<!-- /memkernel:state -->"

var stateBegin = regexp.MustCompile(`^<!-- memkernel:state session=([A-Za-z0-9._-]+) epoch=(\d{1,9}) captured=(\d{1,9}) through=([0-9a-f]*) at=(\S+) before=([a-z0-9-]*) sum=([0-9a-f]+) -->$`)

// parseStateFile finds the first section that has both its marks. Line ends of either
// kind are read.
func parseStateFile(text string) stateFile {
	f := stateFile{text: text, before: text}
	lines := strings.SplitAfter(text, "\n")
	f.lines = len(lines)
	begin := -1
	var at []string
	for i, l := range lines {
		l = strings.TrimSpace(l)
		if m := stateBegin.FindStringSubmatch(l); m != nil {
			begin, at = i, m
		}
		if begin >= 0 && l == stateEnd {
			f.section = sectionOf(at, strings.Join(lines[begin+1:i], ""))
			f.before, f.after = strings.Join(lines[:begin], ""), strings.Join(lines[i+1:], "")
			return f
		}
	}
	return f
}

func sectionOf(m []string, body string) *stateSection {
	sec := &stateSection{owner: m[1], through: m[4], before: m[6], body: strings.ReplaceAll(body, "\r\n", "\n")}
	sec.epoch, _ = strconv.Atoi(m[2]) // at most nine digits, as the form says
	sec.captured, _ = strconv.Atoi(m[3])
	at, err := time.Parse(time.RFC3339, m[5])
	sec.at = at
	sec.edited = err != nil || m[7] != sec.sum()
	return sec
}

func (c *stateSection) sum() string { return ids.Hash(c.body)[:32] }

// lines are what the section says.
func (c *stateSection) lines() []checkpoint.Line {
	var out []checkpoint.Line
	for l := range strings.SplitSeq(c.body, "\n") {
		if line, ok := checkpoint.ParseLine(l); ok {
			out = append(out, line)
		}
	}
	return out
}

func (c *stateSection) String() string {
	return fmt.Sprintf("<!-- memkernel:state session=%s epoch=%d captured=%d through=%s at=%s before=%s sum=%s -->\n%s%s\n",
		c.owner, c.epoch, c.captured, c.through, c.at.UTC().Format(time.RFC3339), c.before, c.sum(), c.body, stateEnd)
}

// with is the file with a section in the place of the one that it has, or at its end.
func (f stateFile) with(sec stateSection) string {
	if f.section != nil || f.before == "" {
		return f.before + sec.String() + f.after
	}
	return strings.TrimRight(f.before, "\r\n") + "\n\n" + sec.String()
}

// disowned is the file with its section's marks taken away.
func (f stateFile) disowned() stateFile {
	return stateFile{text: f.text, lines: f.lines, before: f.before + f.section.body + f.after}
}

// without is the file without its section.
func (f stateFile) without() string { return f.before + f.after }

// others is what in the file is not the kernel's.
func (f stateFile) others() string {
	if f.section == nil {
		return f.text
	}
	return strings.TrimSpace(strings.TrimRight(f.before, "\r\n") + "\n\n" + strings.TrimLeft(f.after, "\r\n"))
}
