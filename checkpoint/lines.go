package checkpoint

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/summary"
)

// Line is one statement of a working state in a Markdown file that people read too, such as "-
// [decision] keep the port". Records other than checkpoints are made of lines, and can be read
// back.
type Line struct {
	Tag, Text string
}

// The tags. A record has at most one line of each tag up to tagStatus.
const (
	tagGoal       = "goal"
	tagTask       = "task" // the user's last request
	tagStep       = "step"
	tagNext       = "next"
	tagStatus     = "status"
	tagConstraint = "constraint"
	tagDecision   = "decision"
	tagOpen       = "open"
	tagLesson     = "lesson"
	tagModified   = "modified"
	tagRead       = "read"
	tagReport     = "report" // the agent's last words
	tagPlace      = "place"
	tagCommit     = "commit"
	tagUser       = "user"
	tagAgent      = "agent"
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

// list is a list of a checkpoint, each of whose entries is a line.
type list struct {
	tag   string
	texts []string // oldest first
	// add puts an entry at the end of the list, and drops the oldest entries above a limit.
	add func(text string)
}

func listOf[T ~string](tag string, max int, at *[]T) list {
	l := list{tag: tag, add: func(text string) { *at = added(*at, T(text), max) }}
	for _, t := range *at {
		l.texts = append(l.texts, string(t))
	}
	return l
}

// added puts an entry at the end of a list that holds it once, and drops the oldest above max.
func added[T comparable](list []T, e T, max int) []T {
	return capped(append(slices.DeleteFunc(list, func(o T) bool { return o == e }), e), max)
}

// value is a single statement of a checkpoint.
type value struct {
	tag string
	at  *freeText
}

func (c *Checkpoint) values() []value {
	w := &c.Working
	return []value{{tagGoal, &w.Goal}, {tagTask, &w.Topic}, {tagReport, &w.Report}, {tagStep, &w.Step}, {tagNext, &w.NextAction}, {tagPlace, &w.Place}}
}

// lists returns the lists of a checkpoint by their tags.
func (c *Checkpoint) lists() []list {
	decisions := list{tag: tagDecision, add: c.takeDecision}
	for _, d := range c.Decisions {
		text := string(d.What)
		if !d.When.IsZero() {
			text += " (" + d.When.UTC().Format(time.RFC3339) + ")"
		}
		decisions.texts = append(decisions.texts, text)
	}
	return []list{listOf(tagConstraint, maxConstraints, &c.Constraints), decisions, listOf(tagOpen, maxOpenItems, &c.OpenItems),
		listOf(tagLesson, maxLearnings, &c.Learnings), listOf(tagCommit, maxCommits, &c.Resources.Commits),
		listOf(tagModified, maxFiles, &c.Resources.FilesModified), listOf(tagRead, maxFiles, &c.Resources.FilesRead)}
}

// Record is a working state as lines.
type Record []Line

// RecordOf returns the contents of a checkpoint in at most maxBytes, the most important first and
// lists oldest first. A last line counts the list entries that are left out. Goal, task, step and
// status are always included.
func RecordOf(c *Checkpoint, maxBytes int) Record {
	var head []Line
	for _, v := range c.values() {
		text := *v.at
		if v.tag == tagTask {
			text = c.Working.asked()
		}
		head = appendLine(head, v.tag, string(text))
	}
	head = appendLine(head, tagStatus, string(c.Working.Status))
	var lists [][]Line
	for _, l := range c.lists() {
		var lines []Line
		if l.tag == tagModified || l.tag == tagRead {
			l.texts = capped(l.texts, maxLineFiles)
		}
		if l.tag == tagOpen {
			slices.Reverse(l.texts) // the least pressing is dropped first
		}
		for _, t := range l.texts {
			lines = appendLine(lines, l.tag, t)
		}
		lists = append(lists, lines)
	}
	return bounded(head, lists, maxBytes)
}

// Said returns the record with lines for the words of a person and of an agent. Empty words get no line.
func (r Record) Said(user, agent string) Record {
	return appendLine(appendLine(r, tagUser, user), tagAgent, agent)
}

// Asked returns the record with a line for the user's last request.
func (r Record) Asked(task string) Record { return appendLine(r, tagTask, task) }

func appendLine(out []Line, tag, text string) []Line {
	if text = line(text, maxLineRunes); text != "" {
		out = append(out, Line{tag, text})
	}
	return out
}

// bounded appends lists to the head, and drops the first entry of the longest list until all of
// it fits.
func bounded(head []Line, lists [][]Line, maxBytes int) []Line {
	size := func() (n int) {
		for _, l := range slices.Concat(append(lists, head)...) {
			n += len(l.String()) + 1
		}
		return n
	}
	left := map[string]int{}
	for size() > maxBytes {
		most := 0
		for i := range lists {
			if len(lists[i]) > len(lists[most]) {
				most = i
			}
		}
		if len(lists[most]) == 0 {
			break
		}
		left[lists[most][0].Tag]++
		lists[most] = lists[most][1:]
	}
	for _, list := range lists {
		if len(list) > 0 && list[0].Tag == tagOpen {
			slices.Reverse(list)
		}
		head = append(head, list...)
	}
	var names []string
	for _, l := range (&Checkpoint{}).lists() {
		if left[l.tag] > 0 {
			names = append(names, fmt.Sprintf("%d %s", left[l.tag], l.tag))
		}
	}
	if names != nil {
		head = append(head, Line{tagMore, "left out: " + strings.Join(names, ", ")})
	}
	return head
}

var timeBehind = regexp.MustCompile(`^(.+) \((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\)$`)

// Checkpoint returns the checkpoint that a record of a session holds, with the number of the last
// message in it and the time of the record. It ignores unknown tags. The checkpoint has no id.
func (r Record) Checkpoint(key string, captured int, at time.Time) *Checkpoint {
	c := &Checkpoint{Schema: schema, SchemaVersion: schemaVersion, Meta: metadata{SessionKey: nameText(key), Captured: captured, CreatedAt: utcTime{at.UTC()}}}
	c.Working.Status = statusIdle
	for _, l := range r {
		text := line(l.Text, maxLineRunes)
		switch s := status(text); {
		case l.Tag == tagUser || l.Tag == tagAgent:
			c.Thread.KeyExchanges = capped(append(c.Thread.KeyExchanges, exchange{nameText(l.Tag), freeText(text)}), maxExchanges)
		case l.Tag == tagStatus && (s == statusInProgress || s == statusWaiting):
			c.Working.Status = s
		}
		for _, v := range c.values() {
			if v.tag == l.Tag {
				*v.at = freeText(text)
			}
		}
		for _, list := range c.lists() {
			if list.tag == l.Tag {
				list.add(text)
			}
		}
	}
	return c
}

// same reports whether two decisions are one.
func (d decision) same(o decision) bool { return o.What == d.What && o.When.Equal(d.When.Time) }

func (c *Checkpoint) takeDecision(text string) {
	d := decision{ID: nameText(fmt.Sprintf("d%d", len(c.Decisions)+1)), What: freeText(text)}
	if m := timeBehind.FindStringSubmatch(text); m != nil {
		if at, err := time.Parse(time.RFC3339, m[2]); err == nil {
			d.What, d.When = freeText(m[1]), stamp(at)
		}
	}
	if !slices.ContainsFunc(c.Decisions, d.same) {
		c.Decisions = capped(append(c.Decisions, d), maxDecisions)
	}
}

// Then returns a record and a newer one of the same session as one record. Single values and open
// items of the old record give way, since they describe a moment. The goal and the task stay.
func (r Record) Then(newer Record) Record {
	return append(slices.DeleteFunc(slices.Clone(r), func(l Line) bool {
		return slices.Contains([]string{tagReport, tagStep, tagNext, tagStatus, tagPlace, tagOpen}, l.Tag)
	}), newer...)
}

// Matter returns the lines that decide whether a record differs from the last one. It leaves out
// open files and the next step because they change on every call.
func (r Record) Matter() (out []string) {
	for _, l := range r {
		if !slices.Contains([]string{tagNext, tagStatus, tagRead, tagModified}, l.Tag) {
			out = append(out, l.String())
		}
	}
	return out
}

// Task returns the task, or else the goal, "" if the record has neither.
func (r Record) Task() string {
	for _, tag := range [...]string{tagTask, tagGoal} {
		if i := slices.IndexFunc(r, func(l Line) bool { return l.Tag == tag }); i >= 0 {
			return r[i].Text
		}
	}
	return ""
}

// Settled reports whether a line is an entry of a list that only grows.
func (l Line) Settled() bool {
	return l.Tag == tagConstraint || l.Tag == tagDecision || l.Tag == tagLesson
}

// FromSummary returns the working state that a summary holds, nil if the summary is empty.
func FromSummary(key string, st summary.State) *Checkpoint {
	if st.Turn == 0 {
		return nil
	}
	r := Record{{tagGoal, st.Goal.Text}, {tagTask, st.Request.Text}}
	for _, list := range [...]struct {
		tag     string
		entries []summary.Entry
	}{{tagConstraint, st.Constraints}, {tagDecision, st.Decisions}, {tagOpen, st.OpenThreads()}, {tagModified, st.Artifacts}} {
		for _, e := range list.entries {
			r = append(r, Line{list.tag, e.Text})
		}
	}
	return slices.DeleteFunc(r, func(l Line) bool { return l.Text == "" }).Checkpoint(key, 0, st.Request.Time)
}

// Pin adds a rule, and replaces the goal and the step, by a host's own words. "" changes nothing.
func (c *Checkpoint) Pin(rule, goal, step string) {
	if rule != "" && !slices.Contains(c.Constraints, freeText(rule)) {
		c.Constraints = append(c.Constraints, freeText(rule))
	}
	c.Working.Goal, c.Working.Step = cmp.Or(freeText(goal), c.Working.Goal), cmp.Or(freeText(step), c.Working.Step)
}
