package represent

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
)

// Utterance is one message of a dialogue.
type Utterance struct {
	Role memkernel.Role
	// Text is the message's text, masked.
	Text string
	// Time is the host's time, zero if unknown.
	Time time.Time
	// Tools are the names of the tools that the message calls.
	Tools []string
}

// Span shows the structure of a span of dialogue: its id, time range and counts, the first line that
// the user wrote, names, and the most telling lines of each message. It returns "" if an excerpt
// of the span would not be larger.
func Span(id string, us []Utterance) string {
	said := said(us)
	full, ends := spanText(said)
	head := spanHead(id, us, len(full))
	s := scanText(full, kindProse, false)
	defer s.free()
	label := s.favourRoles(said, ends)
	p := s.pick(roomFor(len(full), 0))
	most := len(full)
	if most >= minBytes {
		most = min(most, len(s.excerpt(withLabels(p.chosen, label))))
	}
	keep := withLabels(p.head(quoteLines, min(quoteBytes, len(full)/6+120)), label)
	b := []byte(head + "]\n")
	if first := gist(said); first != "" {
		b = append(append(append(b, "gist: "...), first...), '\n')
	}
	if names := s.names(keep, worthIdent, 8, 240); len(names) > 0 {
		b = append(append(append(b, "also names: "...), strings.Join(names, ", ")...), '\n')
	}
	for i := 0; i < len(keep); {
		if !keep[i] {
			i++
			continue
		}
		from := i // the unit with the role
		for i++; i < len(keep) && label[i] == from; i++ {
		}
		b = appendQuotes(append(append(b, s.quote(from).text...), '\n'), s.quotes(keep, from+1, i), false)
	}
	if len(b) >= most {
		return ""
	}
	return string(b)
}

// spanHead returns the id, the time range and the counts of a span. Host clocks may go back, so the
// range covers the times and not the order of the messages.
func spanHead(id string, us []Utterance, bytes int) string {
	var from, to time.Time
	calls := 0
	for _, u := range us {
		calls += len(u.Tools)
		if t := u.Time.UTC(); !t.IsZero() {
			if from.IsZero() || t.Before(from) {
				from = t
			}
			if t.After(to) {
				to = t
			}
		}
	}
	h := "[span " + cmp.Or(id, "unknown") + ", " + timeRange(from, to) + ", " + plural(len(us), "message")
	if calls > 0 {
		h += ", " + plural(calls, "tool call")
	}
	return h + ", " + strconv.Itoa(bytes) + " bytes"
}

func timeRange(from, to time.Time) string {
	if from.IsZero() {
		return "times unknown"
	}
	const layout = "2006-01-02T15:04:05Z"
	a, b := from.Format(layout), to.Format(layout)
	if a == b {
		return a
	}
	return a + " to " + b
}

// said returns the messages with a text. Messages that only call tools are counted but not
// quoted. If no message has a text, said returns all of them.
func said(us []Utterance) (out []Utterance) {
	for _, u := range us {
		if strings.TrimSpace(u.Text) != "" {
			u.Text = strings.ToValidUTF8(u.Text, "\uFFFD")
			out = append(out, u)
		}
	}
	if len(out) == 0 {
		return us
	}
	return out
}

// spanText returns the full text of a span: each message after a line with its role and tools. It
// also returns where each message ends.
func spanText(us []Utterance) (text string, ends []int) {
	var b strings.Builder
	for i, u := range us {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(string(u.Role))
		if len(u.Tools) > 0 {
			b.WriteString(" (" + countNames(u.Tools) + ")")
		}
		b.WriteString(":\n")
		b.WriteString(u.Text)
		ends = append(ends, b.Len())
	}
	return b.String(), ends
}

// favourRoles raises the worth of the user's messages, since the model's words follow from them. It
// returns, for each unit, the index of the unit that holds the role of its message.
func (s *scan) favourRoles(us []Utterance, ends []int) (label []int) {
	label = make([]int, len(s.units))
	i := 0
	for k, u := range us {
		for first := i; i < len(s.units) && s.units[i].start < ends[k]; i++ {
			label[i] = first
			if u.Role != memkernel.RoleUser || i == first {
				continue
			}
			s.units[i].base += 3
			if i == first+1 {
				s.units[i].base += 6
			}
		}
	}
	return label
}

// withLabels keeps the role of each message of which a part is kept, and of no other message. label
// has, for each unit, the index of the unit with its role.
func withLabels(keep []bool, label []int) []bool {
	for i := range keep {
		keep[i] = keep[i] && label[i] != i
	}
	for i, k := range keep {
		if k {
			keep[label[i]] = true
		}
	}
	return keep
}

// gist returns the first line that the user wrote.
func gist(us []Utterance) string {
	for _, u := range us {
		if u.Role != memkernel.RoleUser {
			continue
		}
		for line := range strings.Lines(u.Text) {
			if t := strings.TrimSpace(line); t != "" {
				return clip(t, 240)
			}
		}
	}
	return ""
}

// countNames lists names in order of appearance, repeats counted: "Read x3,
// Bash".
func countNames(names []string) string {
	var order []string
	n := make(map[string]int)
	for _, name := range names {
		if n[name]++; n[name] == 1 {
			order = append(order, name)
		}
	}
	for i, name := range order {
		if n[name] > 1 {
			order[i] = name + " x" + strconv.Itoa(n[name])
		}
	}
	return strings.Join(order, ", ")
}
