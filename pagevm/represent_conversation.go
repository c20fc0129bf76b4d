package pagevm

import (
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
)

// Utterance is one message of a dialogue.
type Utterance struct {
	Role memkernel.Role
	// Text is what was said, masked.
	Text string
	// Time is the host's time, zero if unknown. Key is the host's message key.
	Time time.Time
	Key  string
	// Tools are the names of the tools that the message calls.
	Tools []string
}

// SpanInput is a span of dialogue, in order.
type SpanInput struct {
	// PageID, Blob, Masked and Resolver are as in EvidenceInput; the page id
	// is the span id.
	PageID, Blob string
	Masked       int
	Resolver     string
	Utterances   []Utterance
}

// RepresentConversation makes the representations of a span of dialogue:
// compressed keeps the telling lines of each message in order; structured has
// span id, time range, counts, gist (the first line that the user wrote), the
// most telling lines and names that these do not show; the pointer has span id, time range and counts. Sizes
// are against the texts of the span, roles included.
func RepresentConversation(in SpanInput, opt *RepOptions) []Rep {
	o := opt.withDefaults()
	full := spanText(in.Utterances)
	reps := repChain{left: len(full)}
	ptr := spanPointer(&in, len(full))
	if len(ptr) >= len(full) {
		return nil
	}
	s := scanText(full, kindProse)
	label := s.favourRoles(in.Utterances)
	tail := ""
	if in.Resolver != "" && in.PageID != "" {
		tail = "\n[whole: " + in.Resolver + " " + in.PageID + "]"
	}
	p := s.pick(max(min(int(o.Ratio*float64(len(full))), o.MaxBytes), o.QuoteBytes/4), 18)
	if len(full) >= o.MinBytes {
		b := s.excerpt(nil, withLabels(p.chosen, label), false)
		reps.add(Compressed, string(append(b, tail...)))
	}
	head := spanHead(&in, len(full)) + "]\n"
	if gist := in.gist(); gist != "" {
		head += "gist: " + gist + "\n"
	}
	keep := withLabels(p.head(o.Lines, min(o.QuoteBytes, len(full)/6+120)), label)
	if names := s.names(keep, worthIdent, 8, 240); names != "" {
		head += "also names: " + names + "\n"
	}
	b := s.excerpt([]byte(head), keep, true)
	reps.add(Structured, string(append(b, tail...)))
	reps.add(Pointer, ptr)
	return reps.reps
}

// spanText is the full text of a span: each message behind a line with its
// role and tools.
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

// favourRoles lifts what the user said, since the model's words follow from
// it, and returns for each unit the unit that holds its message's role.
func (s *scan) favourRoles(us []Utterance) (label []int) {
	label = make([]int, len(s.units))
	end, i := 0, 0
	for k, u := range us {
		// A message's text ends its stretch; before it stand a line break,
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

// withLabels adds to the kept units the role of each message that shows.
func withLabels(keep []bool, label []int) []bool {
	for i, k := range keep {
		if k {
			keep[label[i]] = true
		}
	}
	return keep
}

// gist is the first line that the user wrote.
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

func spanPointer(in *SpanInput, n int) string {
	p := spanHead(in, n)
	if in.Blob != "" {
		p += ", sha256 " + in.Blob[:min(len(in.Blob), pointerHash)]
	}
	if in.Masked > 0 {
		p += ", " + plural(in.Masked, "masked secret")
	}
	return p + "; " + howToRead(in.Resolver, in.PageID) + "]"
}

// spanHead opens with what the floor of a conversation page demands: span id
// and time range.
func spanHead(in *SpanInput, n int) string {
	h := "[span " + orUnknown(in.PageID) + ", " + timeRange(in.Utterances)
	calls := 0
	for _, u := range in.Utterances {
		calls += len(u.Tools)
	}
	h += ", " + plural(len(in.Utterances), "message")
	if calls > 0 {
		h += ", " + plural(calls, "tool call")
	}
	return h + ", " + strconv.Itoa(n) + " bytes"
}

// timeRange writes the first and the last known time, in UTC. Host clocks may
// go back: the range is of the times, not of the messages.
func timeRange(us []Utterance) string {
	var first, last time.Time
	for _, u := range us {
		if u.Time.IsZero() {
			continue
		}
		if first.IsZero() || u.Time.Before(first) {
			first = u.Time
		}
		if last.IsZero() || u.Time.After(last) {
			last = u.Time
		}
	}
	if first.IsZero() {
		return "times unknown"
	}
	const layout = "2006-01-02T15:04:05Z"
	a, b := first.UTC().Format(layout), last.UTC().Format(layout)
	if a == b {
		return a
	}
	return a + " to " + b
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
