package workstate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
)

// stateFile is SESSION-STATE.md, divided into the kernel's section and the text around it.
type stateFile struct {
	Text          string   // the whole text
	Section       *section // nil if the file has no section
	before, after string
}

// section is the kernel's part of the file. It shows the session that spoke last in full, and one
// line for each session that spoke before.
//
//	<!-- memkernel:state session=NAME epoch=0 captured=12 at=2026-… sum=… -->
//	the body, which ends in a line feed
//	<!-- /memkernel:state -->
type section struct {
	// Owner is the folder of the session that the section shows in full.
	Owner string
	// Epoch is the number of Owner's resets. Captured is the number of its messages.
	Epoch, Captured int
	// At is the time of Owner's last turn.
	At   time.Time
	Body string
	// Edited reports that somebody changed the body after the kernel wrote it.
	Edited bool
}

// brief is a session's line in another session's section.
type brief struct {
	Key  string
	At   time.Time
	Task string
}

// maxBriefs is the largest number of sessions that a section has a line for.
const maxBriefs = 5

// sessionTag is the tag of a brief.
const sessionTag = "session"

// stateEnd is the mark after a section.
const stateEnd = "<!-- /memkernel:state -->"

// stateBegin also matches the marks of earlier versions, which have two more members.
var (
	stateBegin = textutil.LazyRegexp(`^<!-- memkernel:state session=([A-Za-z0-9._-]+) epoch=(\d{1,9}) captured=(\d{1,9}) (?:through=[0-9a-f]* )?at=(\S+) (?:before=[a-z0-9-]* )?sum=([0-9a-f]+) -->$`)
	ownerForm  = textutil.LazyRegexp(`^## Session state of ("(?:[^"\\]|\\.)*"), `)
	briefForm  = textutil.LazyRegexp(`^- \[session\] ("(?:[^"\\]|\\.)*"), (\S+): (.*)$`)
)

// ParseStateFile finds the first section that has both its marks. It accepts Unix and Windows
// line ends.
func ParseStateFile(text string) stateFile {
	f := stateFile{Text: text, before: text}
	lines := strings.SplitAfter(text, "\n")
	begin := -1
	var at []string
	for i, l := range lines {
		l = strings.TrimSpace(l)
		if m := stateBegin.FindStringSubmatch(l); m != nil {
			begin, at = i, m
		}
		if begin >= 0 && l == stateEnd {
			f.Section = sectionOf(at, strings.Join(lines[begin+1:i], ""))
			f.before, f.after = strings.Join(lines[:begin], ""), strings.Join(lines[i+1:], "")
			return f
		}
	}
	return f
}

func sectionOf(m []string, body string) *section {
	sec := &section{Owner: m[1], Body: strings.ReplaceAll(body, "\r\n", "\n")}
	sec.Epoch, _ = strconv.Atoi(m[2]) // at most nine digits, by the form
	sec.Captured, _ = strconv.Atoi(m[3])
	at, err := time.Parse(time.RFC3339, m[4])
	sec.At = at
	sec.Edited = err != nil || m[5] != sec.sum()
	return sec
}

func (c *section) sum() string { return ingest.Hash(c.Body)[:32] }

// lines returns the statements about the session that the section shows in full.
func (c *section) lines() checkpoint.Record {
	var out checkpoint.Record
	for l := range strings.SplitSeq(c.Body, "\n") {
		if line, ok := checkpoint.ParseLine(l); ok && line.Tag != sessionTag {
			out = append(out, line)
		}
	}
	return out
}

// Key returns the key of the session that the section shows in full. Earlier versions wrote no
// key. For their sections Key returns the folder's name.
func (c *section) Key() string {
	if m := ownerForm.FindStringSubmatch(c.Body); m != nil {
		if key, err := strconv.Unquote(m[1]); err == nil {
			return key
		}
	}
	return c.Owner
}

// briefs returns the lines of the other sessions, the newest first.
func (c *section) briefs() []brief {
	var out []brief
	for l := range strings.SplitSeq(c.Body, "\n") {
		m := briefForm.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		key, err := strconv.Unquote(m[1])
		at, bad := time.Parse(time.RFC3339, m[2])
		if err == nil && bad == nil {
			out = append(out, brief{key, at, m[3]})
		}
	}
	return out
}

// setBody writes the statements about a session and the lines of the other sessions.
func (c *section) setBody(key string, lines checkpoint.Record, others []brief) {
	var b strings.Builder
	fmt.Fprintf(&b, "## Session state of %s, %s\n\n", strconv.Quote(key), c.At.UTC().Format("2006-01-02 15:04 UTC"))
	for _, l := range lines {
		b.WriteString(l.String() + "\n")
	}
	slices.SortStableFunc(others, func(x, y brief) int { return cmp.Or(y.At.Compare(x.At), cmp.Compare(x.Key, y.Key)) })
	if len(others) > 0 {
		b.WriteString("\nOther sessions, each with its own state (`memkernel restore --session KEY`):\n\n")
	}
	for _, o := range others[:min(len(others), maxBriefs)] {
		b.WriteString(checkpoint.Line{Tag: sessionTag, Text: fmt.Sprintf("%s, %s: %s", strconv.Quote(o.Key), o.At.UTC().Format(time.RFC3339), o.Task)}.String() + "\n")
	}
	c.Body = b.String()
}

func (c *section) String() string {
	return fmt.Sprintf("<!-- memkernel:state session=%s epoch=%d captured=%d at=%s sum=%s -->\n%s%s\n",
		c.Owner, c.Epoch, c.Captured, c.At.UTC().Format(time.RFC3339), c.sum(), c.Body, stateEnd)
}

// with returns the file with sec in place of its section. If the file has no section, sec is added
// at its end.
func (f stateFile) with(sec section) string {
	if f.Section != nil || f.before == "" {
		return f.before + sec.String() + f.after
	}
	return strings.TrimRight(f.before, "\r\n") + "\n\n" + sec.String()
}

// disowned returns the file without the marks of its section.
func (f stateFile) disowned() stateFile {
	return stateFile{Text: f.Text, before: f.before + f.Section.Body + f.after}
}

// without returns the file without its section.
func (f stateFile) without() string { return f.before + f.after }

// Others returns the text of the file without the kernel's section.
func (f stateFile) Others() string {
	if f.Section == nil {
		return f.Text
	}
	return strings.TrimSpace(strings.TrimRight(f.before, "\r\n") + "\n\n" + strings.TrimLeft(f.after, "\r\n"))
}
