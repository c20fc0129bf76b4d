package checkpoint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Line is one statement of a working state in a Markdown file that people read too, such as "-
// [decision] keep the port". Records other than checkpoints are made of lines, and can be read
// back.
type Line struct {
	Tag, Text string
}

// The tags. A record has at most one line of each tag up to TagStatus.
const (
	TagGoal       = "goal"
	TagTask       = "task" // the user's last request
	tagStep       = "step"
	TagNext       = "next"
	TagStatus     = "status"
	TagConstraint = "constraint"
	TagDecision   = "decision"
	TagOpen       = "open"
	TagLesson     = "lesson"
	TagModified   = "modified"
	TagRead       = "read"
	TagUser       = "user"
	TagAgent      = "agent"
	TagSession    = "session" // another session, in a line
	tagMore       = "more"
)

// String returns the line as it is written.
func (l Line) String() string { return "- [" + l.Tag + "] " + l.Text }

var lineForm = regexp.MustCompile(`^- \[([a-z]+)\] (.+)$`)

// ParseLine reads the result of [Line.String]. ok is false for any other text.
func ParseLine(s string) (l Line, ok bool) {
	m := lineForm.FindStringSubmatch(strings.TrimRight(s, "\r\n\t "))
	if m == nil {
		return Line{}, false
	}
	return Line{m[1], m[2]}, true
}

// The length of the longest line, in runes, and the most files that a record names.
const (
	maxLineRunes = decisionRunes + 40 // with its time
	maxLineFiles = 12
)

// Lines returns the contents of a checkpoint in at most maxBytes, the most important first and
// lists oldest first. A last line counts the list entries that are left out. Goal, task, step and
// status are always included.
func Lines(c *Checkpoint, maxBytes int) []Line {
	var head []Line
	w := c.Working
	for _, l := range []Line{{TagGoal, string(w.Goal)}, {TagTask, string(w.Topic)}, {tagStep, string(w.Step)}, {TagNext, string(w.NextAction)}, {TagStatus, string(w.Status)}} {
		head = appendLine(head, l.Tag, l.Text)
	}
	return bounded(head, lists(c), maxBytes)
}

// lists returns the lists of a checkpoint as lines, each list oldest first. Of the open items,
// the least pressing is last.
func lists(c *Checkpoint) [][]Line {
	var constraints, decisions, open, lessons, modified, read []Line
	for _, t := range c.Constraints {
		constraints = appendLine(constraints, TagConstraint, string(t))
	}
	for _, d := range c.Decisions {
		decisions = appendLine(decisions, TagDecision, string(d.What)+timed(d.When))
	}
	for _, t := range slices.Backward(c.OpenItems) {
		open = appendLine(open, TagOpen, string(t))
	}
	for _, t := range c.Learnings {
		lessons = appendLine(lessons, TagLesson, string(t))
	}
	for _, n := range capped(slices.Clone(c.Resources.FilesModified), maxLineFiles) {
		modified = appendLine(modified, TagModified, string(n))
	}
	for _, n := range capped(slices.Clone(c.Resources.FilesRead), maxLineFiles) {
		read = appendLine(read, TagRead, string(n))
	}
	return [][]Line{constraints, decisions, open, lessons, modified, read}
}

func appendLine(out []Line, tag, text string) []Line {
	if text = line(text, maxLineRunes); text != "" {
		out = append(out, Line{tag, text})
	}
	return out
}

// timed returns the time of a decision, as written after its text.
func timed(t Time) string {
	if t.IsZero() {
		return ""
	}
	return " (" + t.UTC().Format(time.RFC3339) + ")"
}

// bounded appends lists to the head, and drops the first entry of the longest list until all of
// it fits.
func bounded(head []Line, lists [][]Line, maxBytes int) []Line {
	size := func() (n int) {
		for _, l := range head {
			n += len(l.String()) + 1
		}
		for _, list := range lists {
			for _, l := range list {
				n += len(l.String()) + 1
			}
		}
		return n
	}
	left := map[string]int{}
	for size() > maxBytes {
		longest := slices.MaxFunc(lists, func(a, b []Line) int { return len(a) - len(b) })
		if len(longest) == 0 {
			break
		}
		left[longest[0].Tag]++
		for i := range lists {
			if len(lists[i]) > 0 && lists[i][0] == longest[0] {
				lists[i] = lists[i][1:]
				break
			}
		}
	}
	out := head
	for _, list := range lists {
		if len(list) > 0 && list[0].Tag == TagOpen {
			slices.Reverse(list)
		}
		out = append(out, list...)
	}
	return append(out, leftOut(left)...)
}

func leftOut(left map[string]int) []Line {
	var names []string
	for _, tag := range []string{TagConstraint, TagDecision, TagOpen, TagLesson, TagModified, TagRead} {
		if left[tag] > 0 {
			names = append(names, fmt.Sprintf("%d %s", left[tag], tag))
		}
	}
	if names == nil {
		return nil
	}
	return []Line{{tagMore, "left out: " + strings.Join(names, ", ")}}
}

var timeBehind = regexp.MustCompile(`^(.+) \((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\)$`)

// FromLines returns the checkpoint that lines hold. It ignores unknown tags. The checkpoint has
// no id.
func FromLines(lines []Line) *Checkpoint {
	c := &Checkpoint{Schema: Schema, SchemaVersion: schemaVersion}
	c.Working.Status = StatusIdle
	for _, l := range lines {
		c.take(l)
	}
	return c
}

func (c *Checkpoint) take(l Line) {
	text := Text(line(l.Text, maxLineRunes))
	switch l.Tag {
	case TagGoal:
		c.Working.Goal = text
	case TagTask:
		c.Working.Topic = text
	case tagStep:
		c.Working.Step = text
	case TagNext:
		c.Working.NextAction = text
	case TagStatus:
		if s := Status(text); s == StatusInProgress || s == StatusWaiting {
			c.Working.Status = s
		}
	case TagConstraint:
		c.Constraints = capped(append(c.Constraints, text), maxConstraints)
	case TagDecision:
		c.takeDecision(string(text))
	case TagOpen:
		c.OpenItems = append(c.OpenItems, text)
	case TagLesson:
		c.Learnings = capped(append(c.Learnings, text), MaxLearnings)
	case TagModified:
		c.Resources.FilesModified = capped(append(c.Resources.FilesModified, Name(text)), MaxFiles)
	case TagRead:
		c.Resources.FilesRead = capped(append(c.Resources.FilesRead, Name(text)), MaxFiles)
	case TagUser, TagAgent:
		c.Thread.KeyExchanges = capped(append(c.Thread.KeyExchanges, Exchange{Name(l.Tag), text}), MaxExchanges)
	}
}

func (c *Checkpoint) takeDecision(text string) {
	d := Decision{ID: Name(fmt.Sprintf("d%d", len(c.Decisions)+1)), What: Text(text)}
	if m := timeBehind.FindStringSubmatch(text); m != nil {
		if at, err := time.Parse(time.RFC3339, m[2]); err == nil {
			d.What, d.When = Text(m[1]), stamp(at)
		}
	}
	c.Decisions = newestDecisions(append(c.Decisions, d))
}

// Merge returns the union of two records of one session. The newer record must be the second
// argument. Single values and open items come from the newer record. All other lists are joined.
func Merge(old, newer *Checkpoint) *Checkpoint {
	c := *newer
	for _, f := range []struct{ to, from *Text }{{&c.Working.Goal, &old.Working.Goal}, {&c.Working.Topic, &old.Working.Topic}} {
		if *f.to == "" {
			*f.to = *f.from
		}
	}
	c.Constraints = capped(joined(old.Constraints, newer.Constraints), maxConstraints)
	c.Learnings = capped(joined(old.Learnings, newer.Learnings), MaxLearnings)
	c.Decisions = slices.Clone(old.Decisions)
	for _, d := range newer.Decisions {
		if !slices.ContainsFunc(c.Decisions, func(o Decision) bool { return o.What == d.What && o.When.Equal(d.When.Time) }) {
			d.ID = Name(fmt.Sprintf("d%d", len(c.Decisions)+1))
			c.Decisions = append(c.Decisions, d)
		}
	}
	c.Decisions = newestDecisions(c.Decisions)
	c.Resources.FilesModified = capped(joined(old.Resources.FilesModified, newer.Resources.FilesModified), MaxFiles)
	c.Resources.FilesRead = capped(joined(old.Resources.FilesRead, newer.Resources.FilesRead), MaxFiles)
	c.Thread.KeyExchanges = capped(append(slices.Clone(old.Thread.KeyExchanges), newer.Thread.KeyExchanges...), MaxExchanges)
	c.Meta.Captured = max(old.Meta.Captured, newer.Meta.Captured)
	return &c
}

// joined returns the entries of both lists, each entry once, at its last place.
func joined[T comparable](old, newer []T) []T {
	out := slices.DeleteFunc(slices.Clone(old), func(o T) bool { return slices.Contains(newer, o) })
	return append(out, newer...)
}
