package represent

import (
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/internal/lex"
)

// Utterance is one message of a dialogue.
type Utterance struct {
	Role memkernel.Role
	// Text is the message's text, masked.
	Text string
	// Time is the host's time, zero if unknown.
	Time time.Time
	// Key is the host's message key.
	Key string
	// Tools are the names of the tools that the message calls.
	Tools []string
}

// SpanInput is a span of dialogue, in order.
type SpanInput struct {
	// PageID, Blob, Masked and Resolver are as in EvidenceInput. The page id is the span id.
	PageID, Blob string
	Masked       int
	Resolver     string
	Utterances   []Utterance
}

// Conversation makes the representations of a span of dialogue:
// compressed keeps the telling lines of each message in order; structured has the
// [ConversationFields]: span id, time range, counts, gist, the most telling lines
// and names that these do not show; the pointer has span id, time range and
// counts. Sizes are against the texts of the span, roles included.
func Conversation(in SpanInput) []pagevm.Rep {
	in.Utterances = validUtterances(in.Utterances)
	said := said(in.Utterances)
	full := spanText(said)
	reps := repChain{left: len(full)}
	f := spanFields(&in, len(full))
	ptr := spanPointer(&in, f)
	if len(ptr) >= len(full) {
		return nil
	}
	s := scanText(full, kindProse, false)
	defer s.free()
	label := s.favourRoles(said)
	tail := ""
	if in.Resolver != "" && in.PageID != "" {
		tail = "\n[whole: " + in.Resolver + " " + in.PageID + "]"
	}
	p := s.pick(roomFor(len(full), len(tail)))
	if len(full) >= minBytes {
		b := s.excerpt(nil, withLabels(p.chosen, label))
		reps.add(pagevm.Compressed, string(append(b, tail...)))
	}
	keep := withLabels(p.head(quoteLines, min(quoteBytes, len(full)/6+120)), label)
	f.Entities = s.names(keep, worthIdent, 8, 240)
	placeSaid(f, s, keep, label)
	reps.addFields(&pagevm.Fields{Conversation: f})
	reps.add(pagevm.Pointer, ptr)
	return reps.reps
}

// said returns the messages with a text. Messages that only call tools are counted but not
// quoted. If no message has a text, said holds all of them.
func said(us []Utterance) (out []Utterance) {
	for _, u := range us {
		if strings.TrimSpace(u.Text) != "" {
			out = append(out, u)
		}
	}
	if len(out) == 0 {
		return us
	}
	return out
}

func validUtterances(us []Utterance) []Utterance {
	out := make([]Utterance, len(us))
	for i, u := range us {
		u.Text = strings.ToValidUTF8(u.Text, "\uFFFD")
		out[i] = u
	}
	return out
}

// spanFields returns the fields of a span except the quotations.
func spanFields(in *SpanInput, n int) *pagevm.ConversationFields {
	f := &pagevm.ConversationFields{Span: in.PageID, Messages: len(in.Utterances), Bytes: n, Gist: in.gist()}
	if in.PageID != "" {
		f.Resolver = in.Resolver
	}
	for _, u := range in.Utterances {
		f.Calls += len(u.Tools)
		during(f, u.Time.UTC())
	}
	return f
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
			f.Said = append(f.Said, pagevm.Said{Who: strings.TrimSuffix(s.text[s.units[i].start:s.units[i].end], ":"), Lines: []pagevm.Quote{}})
		default:
			said := &f.Said[len(f.Said)-1]
			said.Lines = append(said.Lines, s.quote(i))
		}
	}
}

// spanText returns the full text of a span: each message after a line with its role and tools.
func spanText(us []Utterance) string {
	n := 0
	for i := range us {
		n += len(us[i].Text) + 40
	}
	var b strings.Builder
	b.Grow(n)
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
	}
	return b.String()
}

// favourRoles raises the user's messages, since the model's words follow from it, and returns for
// each unit the unit that holds its message's role.
func (s *scan) favourRoles(us []Utterance) (label []int) {
	label = make([]int, len(s.units))
	end, i := 0, 0
	for k, u := range us {
		// A message's text ends its stretch; before it come a line break,
		// unless it is the first, and the label's line.
		start := end
		if k > 0 {
			start++
		}
		body := start + strings.IndexByte(s.text[start:], '\n') + 1
		end = body + len(u.Text)
		for first := i; i < len(s.units) && s.units[i].start < max(end, body); i++ {
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
func (in *SpanInput) gist() string {
	for _, u := range in.Utterances {
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

func spanPointer(in *SpanInput, f *pagevm.ConversationFields) string {
	p := f.Head()
	if in.Blob != "" {
		p += ", sha256 " + in.Blob[:min(len(in.Blob), pointerHash)]
	}
	if in.Masked > 0 {
		p += ", " + lex.Plural(in.Masked, "masked secret")
	}
	return p + "; " + howToRead(in.Resolver, in.PageID) + "]"
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
