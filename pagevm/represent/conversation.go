package represent

import (
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
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

// Conversation makes the representations of a span of dialogue. The compressed one keeps the
// telling lines of each message in order. The structured one has the span's id, time range and
// counts, the gist, the most telling lines, and names that these lines do not show. The pointer
// has the id, time range and counts. Sizes are against the texts of the span, roles included.
func Conversation(id, resolver string, us []Utterance) []pagevm.Rep {
	said := said(us)
	full, ends := spanText(said)
	f := &pagevm.ConversationFields{Span: id, Resolver: resolver, Messages: len(us), Bytes: len(full), Gist: gist(said)}
	for _, u := range us {
		f.Calls += len(u.Tools)
		during(f, u.Time.UTC())
	}
	pointer := f.Head() + "; " + howToRead(resolver, id) + "]"
	if len(pointer) >= len(full) {
		return nil
	}
	s := scanText(full, kindProse, false)
	defer s.free()
	label := s.favourRoles(said, ends)
	tail := ""
	if resolver != "" {
		tail = "\n[whole: " + resolver + " " + id + "]"
	}
	reps := repChain{left: len(full)}
	p := s.pick(roomFor(len(full), len(tail)))
	if len(full) >= minBytes {
		reps.add(pagevm.Compressed, s.excerpt(withLabels(p.chosen, label))+tail)
	}
	keep := withLabels(p.head(quoteLines, min(quoteBytes, len(full)/6+120)), label)
	f.Entities = s.names(keep, worthIdent, 8, 240)
	placeSaid(f, s, keep, label)
	reps.addFields(&pagevm.Fields{Conversation: f})
	reps.add(pagevm.Pointer, pointer)
	return reps.reps
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

// during widens the range of times. Host clocks may go back, so the range covers the times and
// not the order of the messages.
func during(f *pagevm.ConversationFields, t time.Time) {
	if t.IsZero() {
		return
	}
	if f.From.IsZero() || t.Before(f.From) {
		f.From = t
	}
	if t.After(f.To) {
		f.To = t
	}
}

// placeSaid sorts the kept units under the messages that they are from.
func placeSaid(f *pagevm.ConversationFields, s *scan, keep []bool, label []int) {
	for i, k := range keep {
		switch {
		case !k:
		case label[i] == i:
			f.Said = append(f.Said, pagevm.Said{Who: strings.TrimSuffix(s.text[s.units[i].start:s.units[i].end], ":")})
		default:
			said := &f.Said[len(f.Said)-1]
			said.Lines = append(said.Lines, s.quote(i))
		}
	}
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

// favourRoles raises the user's messages, since the model's words follow from it, and returns for
// each unit the unit that holds its message's role.
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

// withLabels keeps the role of each message of which a part is kept, and of no other message.
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
