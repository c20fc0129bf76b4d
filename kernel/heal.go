package kernel

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/transcript"
)

// promptPrefix marks the key of a prompt that was planned before the host wrote
// it into its conversation.
const promptPrefix = "prompt:"

// heal makes the request's messages valid: calls are answered, results have
// their calls, keys are there and unique. What had to be changed is a fault.
func (w *work) heal() error {
	if w.heard != nil {
		raw, msgs := w.healHeard()
		return w.ready(func() { w.keyHeard(raw, msgs) })
	}
	raw := slices.Clone(w.req.Messages) // hosts truncate and append in place
	if w.req.Branch != "" {
		for i := range raw {
			raw[i] = transcript.Untyped(raw[i]) // an agent speaks to its subagent
		}
	}
	if w.req.Prompt != "" {
		raw = append(raw[:len(raw):len(raw)], promptMessage(w.req))
	}
	w.next.Raw = raw
	if n := samePrefix(w.prev.Raw, raw); n > 0 && n == len(w.prev.Raw) && independent(raw[n:], w.prev.Calls) {
		w.removed = w.prev.Removed[:len(w.prev.Removed):len(w.prev.Removed)]
		tail, notes := transcript.Heal(raw[n:], false)
		w.note(notes)
		w.kept = len(w.prev.Msgs)
		w.msgs = slices.Concat(w.prev.Msgs, tail)
	} else {
		msgs, notes := transcript.Heal(raw, false)
		w.note(notes)
		w.msgs = msgs
	}
	w.next.Removed = w.removed
	return w.ready(w.key)
}

// ready does what is left when the messages are valid: key gives them their keys.
func (w *work) ready(key func()) error {
	if len(w.msgs) == 0 {
		return ErrNoMessages
	}
	w.lead()
	w.adoptPrompts()
	key()
	w.liftBase64()
	w.dropForgotten()
	w.dropOddTimes()
	if last := w.msgs[len(w.msgs)-1]; last.Role == memkernel.RoleAssistant {
		return ErrAnswered
	}
	return nil
}

// note reports what healing did. What it took out becomes a page, so that it is
// listed and can be read.
func (w *work) note(notes []transcript.Note) {
	for _, n := range notes {
		f := Fault{Code: n.Rule, Key: n.Key, Detail: n.Text}
		for i := range n.Removed {
			p := &n.Removed[i]
			id := ids.Page("rm", ids.Branched(w.req.Branch, n.Key), hashResult(p))
			w.taken = append(w.taken, taken{page: id, key: n.Key, part: p})
			w.removed = append(w.removed, branch.Excluded{Kind: string(p.Kind), ID: id, Tokens: w.count.Part(p), Reason: n.Rule})
			f.Page = id
		}
		w.faults = append(w.faults, f)
	}
}

// taken is a part that healing took out of a message.
type taken struct {
	page, key string
	part      *memkernel.Part
}

// opening stands in front of a conversation that begins with the assistant, where
// the provider wants the user to speak first.
const opening = "[The conversation begins with the assistant's message below.]"

// FaultLeadingAssistant is the fault of a conversation that begins with the
// assistant and got an opening.
const FaultLeadingAssistant = "leading-assistant"

// lead puts an opening in front where it is needed.
func (w *work) lead() {
	first := 0
	for first < len(w.msgs)-1 && systemRole(w.msgs[first].Role) {
		first++
	}
	m := &w.msgs[first]
	if m.Role != memkernel.RoleAssistant || w.format() != transcript.FormatAnthropic {
		return
	}
	w.faults = append(w.faults, Fault{Code: FaultLeadingAssistant, Key: m.Key, Detail: "the conversation begins with an assistant message, an opening was put in front"})
	o := memkernel.Message{Key: branch.KeyPrefix + "opening", Role: memkernel.RoleUser, Parts: []memkernel.Part{textPart(opening)},
		Time: m.Time, Branch: m.Branch, Origin: memkernel.OriginSynthetic}
	w.msgs, w.kept, w.led = slices.Insert(slices.Clone(w.msgs), first, o), 0, first+1
}

// samePrefix counts the leading messages that are the same.
func samePrefix(a, b []memkernel.Message) int {
	n := 0
	for n < len(a) && n < len(b) && sameMessage(&a[n], &b[n]) {
		n++
	}
	return n
}

// independent tells whether a tail can be healed without what came before it: it
// holds no result of an earlier call and uses no call id again.
func independent(tail []memkernel.Message, before map[string]*memkernel.ToolCall) bool {
	calls := map[string]bool{}
	for i := range tail {
		for j := range tail[i].Parts {
			switch p := &tail[i].Parts[j]; {
			case p.Call != nil && before[p.Call.ID] != nil:
				return false
			case p.Call != nil:
				calls[p.Call.ID] = true
			case p.Result != nil && !calls[p.Result.CallID]:
				return false
			}
		}
	}
	return true
}

func promptMessage(req PlanRequest) memkernel.Message {
	id := req.Turn
	if id == "" {
		id = ids.Hash(req.Prompt + "\x00" + strconv.Itoa(len(req.Messages)))[:16]
	}
	return memkernel.Message{Key: promptPrefix + id, Role: memkernel.RoleUser, Turn: req.Turn, Time: req.Now,
		Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: req.Prompt, Typed: req.Branch == ""}}}
}

// adoptPrompts recognises, at the place of a prompt that we planned, the message
// that the host made of it since, also when the host decorated it: the bytes that
// were sent stand, and the prompt never stands twice.
func (w *work) adoptPrompts() {
	seen, from := w.prev.Proj.Seen, 0
	if w.heard != nil {
		from = w.kept // settled messages were looked at
	}
	for i := from; i < min(len(seen), len(w.msgs)); i++ {
		id, ok := strings.CutPrefix(seen[i].Key, promptPrefix)
		m := &w.msgs[i]
		if !ok || m.Key == seen[i].Key || !transcript.PlainUser(*m) {
			continue
		}
		same := *m
		same.Key = seen[i].Key
		sent := w.promptText(seen[i].Key)
		if hashMessage(&same) == seen[i].Hash {
			sent = transcript.Text(same)
		}
		if sent != "" && (m.Turn == id || standsIn(sent, transcript.Text(*m))) {
			w.ownMsgs()
			w.kept = min(w.kept, i)
			w.adopt(seen[i].Key, m.Key)
			w.msgs[i] = memkernel.Message{Key: seen[i].Key, Role: memkernel.RoleUser, Turn: m.Turn, Time: m.Time,
				Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: sent, Typed: transcript.MarkedTyped(*m)}}}
		}
	}
}

// adopt remembers how the host calls a message that we know as a prompt.
func (w *work) adopt(prompt, key string) {
	if key == "" || w.next.Adopted[prompt] == key {
		return
	}
	adopted := maps.Clone(w.next.Adopted)
	if adopted == nil {
		adopted = map[string]string{}
	}
	adopted[prompt] = key
	w.next.Adopted = adopted
}

// hostKey is the key that the host knows a message by.
func (w *work) hostKey(key string) string {
	if k, ok := w.next.Adopted[key]; ok {
		return k
	}
	return key
}

// promptText is the text of a prompt that was planned before the host wrote it,
// "" if it no longer stands or is not known.
func (w *work) promptText(key string) string {
	for i := len(w.prev.Msgs) - 1; i >= 0; i-- {
		if w.prev.Msgs[i].Key == key {
			return transcript.Text(w.prev.Msgs[i])
		}
	}
	items := w.prev.Proj.Items
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].Key != key || w.s.pages[items[i].Page] == nil {
			continue
		}
		for _, r := range w.s.pages[items[i].Page].Reps {
			if r.Level == pagevm.Full {
				return r.Text
			}
		}
	}
	return ""
}

// standsIn tells whether a prompt stands in a text as lines of its own. A few words
// in the middle of others are not the prompt.
func standsIn(prompt, text string) bool {
	before, after, ok := strings.Cut(text, prompt)
	for ok {
		if (before == "" || strings.HasSuffix(before, "\n")) && (after == "" || after[0] == '\n' || after[0] == '\r') {
			return true
		}
		more := ""
		more, after, ok = strings.Cut(after, prompt)
		before += prompt + more
	}
	return false
}

// ownMsgs makes w.msgs safe to change, behind those that are kept.
func (w *work) ownMsgs() {
	if w.heard == nil {
		w.msgs = append([]memkernel.Message(nil), w.msgs...)
	}
}

// dropOddTimes takes off times that can't be written down.
func (w *work) dropOddTimes() {
	for i := w.kept; i < len(w.msgs); i++ {
		if oddTime(w.msgs[i].Time) {
			w.ownMsgs()
			for ; i < len(w.msgs); i++ {
				if oddTime(w.msgs[i].Time) {
					w.msgs[i].Time = time.Time{}
				}
			}
		}
	}
}

// fewFresh is the number of new messages up to which their keys are looked for
// among all others one by one, which beats making a map of them.
const fewFresh = 8

// key gives every message a key of its own: the host's id, made unique, or a hash
// chained to the key before it. The first kept messages have theirs already.
func (w *work) key() {
	if w.kept == 0 || len(w.msgs)-w.kept > fewFresh {
		w.keyAll()
		return
	}
	for i := w.kept; i < len(w.msgs); i++ {
		key := keyOf(&w.msgs[i], w.msgs[i-1].Key)
		if hasKey(w.msgs[:i], key) {
			w.keyAll()
			return
		}
		w.msgs[i].Key = key
	}
}

func hasKey(msgs []memkernel.Message, key string) bool {
	for i := range msgs {
		if msgs[i].Key == key {
			return true
		}
	}
	return false
}

// keyOf is the key of a message behind that with key prev, before it is made
// unique.
func keyOf(m *memkernel.Message, prev string) string {
	switch {
	case m.Key == "":
		return "chain:" + ids.Hash(prev + hashMessage(m))[:24]
	case !utf8.ValidString(m.Key):
		return strings.ToValidUTF8(m.Key, "\uFFFD")
	}
	return m.Key
}

func (w *work) keyAll() { w.keyRun(0, len(w.msgs), keyUse{now: make(map[string]int, len(w.msgs))}) }

// keyRun gives keys to a run of messages; those before it have theirs.
func (w *work) keyRun(from, to int, used keyUse) {
	owned := false
	prev := ""
	if from > 0 {
		prev = w.msgs[from-1].Key
	}
	for i := from; i < to; i++ {
		key := keyOf(&w.msgs[i], prev)
		if used.take(key) > 1 {
			w.faults = append(w.faults, Fault{Code: "duplicate_key", Key: key, Detail: "another message has the same id"})
			same := key
			for used.of(key) > 0 {
				key = same + "#" + strconv.Itoa(used.of(same))
				used.take(same)
			}
			used.take(key)
		}
		if key != w.msgs[i].Key {
			if !owned {
				w.ownMsgs()
				owned = true
			}
			w.msgs[i].Key = key
		}
		prev = key
	}
}
