package transcript

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/memkernel/memkernel"
)

// Intake makes canonical messages of the values that a host hands over one by one, as they are in
// its message list: messages of the Messages API (Anthropic) or of chat completions (OpenAI), items
// of the Responses API (Codex), messages of Pi and OpenClaw (Pi). It keeps the values, so that
// [Intake.Items] can express a plan by them. If the host would leave a value out of later requests,
// the value makes no message. An Intake is not safe for concurrent use.
type Intake struct {
	row      *dialectRow
	values   []string
	keys     []string
	messages []item // the values from which each message was made
	log      *Session
	add      func(*Record)
}

// NewIntake makes an intake without messages. It returns an error for a dialect that only files
// use, such as Claude Code's.
func NewIntake(d Dialect) (*Intake, error) {
	r := rowOf(d)
	if r == nil || r.Items == nil {
		return nil, fmt.Errorf("dialect %q: %w: want %s", d, ErrUnknownDialect, oneOf(Intakes()))
	}
	in := &Intake{row: r}
	in.reset()
	return in, nil
}

func (in *Intake) reset() {
	in.log, in.messages, in.values, in.keys = newSession(in.row.Name), nil, nil, nil
	in.add, _ = in.row.Items.Assemble(in.log)
}

// Dialect returns the dialect of the values.
func (in *Intake) Dialect() Dialect { return in.row.Name }

// Len returns how many values were taken in.
func (in *Intake) Len() int { return len(in.values) }

// Values returns the values that were appended. The caller must not change them.
func (in *Intake) Values() []string { return in.values }

// Messages returns the canonical messages. Append leaves earlier messages unchanged, with two
// exceptions: a Responses message may grow, and an item of an unknown kind in it becomes a call
// when it is answered.
func (in *Intake) Messages() []memkernel.Message {
	return in.log.Messages[:len(in.log.Messages):len(in.log.Messages)]
}

// System returns the system prompt that opens a chat completions conversation.
func (in *Intake) System() []memkernel.Part { return in.log.System }

// Append adds values. keys holds the host's ids of the messages. It may be shorter than values,
// and "" means that the message has no id. After an error no value was added.
func (in *Intake) Append(values, keys []string) error {
	n := len(in.values)
	for i, v := range values {
		key := ""
		if i < len(keys) {
			key = keys[i]
		}
		if err := in.take(v, key); err != nil {
			in.Truncate(n)
			return fmt.Errorf("message %d: %w", n+i, err)
		}
	}
	return nil
}

// Truncate forgets all values after the first n.
func (in *Intake) Truncate(n int) {
	if n == len(in.values) {
		return
	}
	values, keys := in.values[:n:n], in.keys[:n:n]
	in.reset()
	_ = in.Append(values, keys) // they were taken before
}

func (in *Intake) take(value, key string) error {
	m, err := in.row.Items.Read(value)
	if err != nil {
		return err
	}
	at := len(in.values)
	in.values, in.keys = append(in.values, value), append(in.keys, key)
	if m == nil {
		return nil
	}
	m.Key = cmp.Or(key, m.Key)
	before := len(in.log.Messages)
	in.add(&Record{Kind: kindMessage, Message: m})
	switch after := len(in.log.Messages); {
	case after > before:
		in.messages = append(in.messages, item{From: at, To: at + 1})
	case after > 0: // an item that joined the answer before it
		in.messages[after-1].To = at + 1
	}
	return nil
}

// item is a run of a plan's messages in the form in which the host must send them.
type item struct {
	// From and To are the bounds of a range of appended values. If JSON is empty, the host must
	// send these values unchanged. Otherwise it must send JSON in their place, or as a new
	// message if the range is empty.
	From, To int
	// JSON is a message in the dialect of the intake.
	JSON string
}

// Len returns the number of host messages in an item.
func (it item) Len() int {
	if it.JSON != "" {
		return 1
	}
	return it.To - it.From
}

// Items writes a plan's messages in the dialect of the intake. Unchanged messages are ranges of
// the host's values, so that the host sends its own bytes. In changed messages all members but
// the content stay. at gives the position of each planned message's last value in the list of
// items, -1 for a message without value.
func (in *Intake) Items(planned []memkernel.Message) (items []item, at []int) {
	next, n := 0, 0
	var calls map[string]bool
	if in.row.Items.Reworded != nil {
		calls = in.row.Items.Reworded(planned, in.log.Messages)
	}
	if len(in.messages) > 0 && in.messages[0].From > 0 && in.log.System != nil {
		items, n = append(items, item{To: in.messages[0].From}), in.messages[0].From
	}
	for i := range planned {
		m := &planned[i]
		from, same := item{}, false
		if h := in.find(m, next); h >= 0 {
			host := &in.log.Messages[h]
			from, next = in.messages[h], h+1
			same = !holdsCall(m, calls) && (untouched(m, host) || sameWords(m, host))
		}
		made := []item{from}
		if !same {
			made = in.written(m, from, calls)
		}
		for _, it := range made {
			n += it.Len()
			items = join(items, it)
		}
		at = append(at, n-1)
	}
	return items, at
}

// join appends an item. If the last item and the new one are adjacent ranges, join merges them.
func join(items []item, it item) []item {
	if n := len(items); n > 0 && it.JSON == "" && items[n-1].JSON == "" && items[n-1].To == it.From {
		items[n-1].To = it.To
		return items
	}
	return append(items, it)
}

// find returns the index of the host's message that a planned message shows, -1 for a message of
// the kernel. Plans keep the host's order.
func (in *Intake) find(m *memkernel.Message, next int) int {
	if len(m.Parts) == 0 || strings.HasPrefix(m.Key, "memkernel:") {
		return -1
	}
	for h := next; h < len(in.log.Messages); h++ {
		if host := &in.log.Messages[h]; untouched(m, host) || host.Role == m.Role && sharesPart(m, host) {
			return h
		}
	}
	return -1
}

func untouched(m, host *memkernel.Message) bool {
	if m.Raw != "" || host.Raw != "" {
		return m.Raw == host.Raw
	}
	return len(m.Parts) == len(host.Parts) && len(m.Parts) > 0 && &m.Parts[0] == &host.Parts[0]
}

// sameWords reports whether both messages consist of the same texts. They do if a prompt was
// planned before the host recorded it.
func sameWords(m, host *memkernel.Message) bool {
	same := m.Raw == "" && m.Role == host.Role && len(m.Parts) == len(host.Parts)
	for i := range m.Parts {
		same = same && m.Parts[i].Kind == memkernel.PartText && host.Parts[i].Kind == memkernel.PartText && m.Parts[i].Text == host.Parts[i].Text
	}
	return same
}

// sharesPart reports whether both messages hold the same block or answer the same call.
func sharesPart(m, host *memkernel.Message) bool {
	for i := range m.Parts {
		p := &m.Parts[i]
		for j := range host.Parts {
			q := &host.Parts[j]
			switch {
			case p.Kind != q.Kind:
			case p.Result != nil && q.Result != nil:
				if p.Result.CallID == q.Result.CallID && !p.Result.Synthetic {
					return true
				}
			case p.Call != nil && q.Call != nil:
				if p.Call.ID == q.Call.ID {
					return true
				}
			case p.Raw != "" && p.Raw == q.Raw, p.Raw == "" && p.Text != "" && p.Text == q.Text:
				return true
			}
		}
	}
	return false
}

// written writes a message that differs from the host's values.
func (in *Intake) written(m *memkernel.Message, from item, calls map[string]bool) (items []item) {
	raw := ""
	if from.Len() == 1 {
		raw = in.values[from.From]
	}
	for _, v := range in.row.Items.Write(*m, raw, calls) {
		items = append(items, item{From: from.From, To: from.To, JSON: v})
		from.From = from.To
	}
	return items
}
