package ingest

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/transcript"
)

// promptPrefix marks the key of a prompt that was planned before the host wrote
// it into its conversation.
const promptPrefix = "prompt:"

// Request is a conversation as a host hands it in.
type Request struct {
	// Messages is the whole conversation, oldest first.
	Messages []memkernel.Message
	// Prompt is a user prompt that is not in Messages yet. Turn is the id of the prompt.
	Prompt, Turn string
	// Now is the time of the prompt.
	Now time.Time
	// Lead reports that the provider wants the user to speak first.
	Lead bool
	// Unchanged is the number of leading messages that the host guarantees to be unchanged.
	Unchanged int
}

// Batch is a conversation that was made valid, and the pages of its messages.
type Batch struct {
	Maker
	// Raw is the conversation as the host sent it. Msgs is the conversation after it was made
	// valid.
	Raw, Msgs []memkernel.Message
	// Hosts is the projection's view of Msgs.
	Hosts []pagevm.HostMessage
	// Absorbed counts the leading Hosts that are the same as before.
	Absorbed int
	// Adopted maps the key of a prompt to the host's key of the message that the prompt became.
	Adopted map[string]string
	// Removed are the parts that were removed to make the conversation valid.
	Removed []api.Excluded
	// Faults are the changes that were needed.
	Faults []fault.Fault
	// LiftedBytes is the size of the base64 in results that prompts do not show.
	LiftedBytes int64
	// Examined is the number of messages of a heard conversation that were read.
	Examined int

	req    Request
	before *branch.State
	heard  *Heard
	// kept counts the leading Msgs that are the same as before. led is the index after an opening
	// that was inserted, 0 without an opening.
	kept, led int
	// was holds the previous messages after the first kept ones.
	was   []memkernel.Message
	taken []taken
}

// Repair makes a conversation valid. Afterwards every call has a result, every result has a call,
// and every message has a unique key. Every change is a fault. The parameter before is the
// conversation's state so far, which Repair does not change. If h is set, the conversation is
// observed, h takes the place of before, and Repair does not read the messages that h knows again.
// Callers must not use h until the pages of the batch are made. Callers may use the batch even if
// the error is ErrAnswered. [Batch.Absorb] makes the pages of the batch.
func Repair(m Maker, before *branch.State, h *Heard, r Request) (*Batch, error) {
	if h != nil {
		before = h.State
	}
	b := &Batch{Maker: m, req: r, before: before, heard: h, Adopted: before.Adopted}
	b.Calls = before.Calls
	var raw, msgs int
	if h != nil {
		raw, msgs = b.repairHeard()
	} else {
		b.repairPlanned()
	}
	if len(b.Msgs) == 0 {
		return b, api.ErrNoMessages
	}
	b.lead()
	b.adoptPrompts()
	if h != nil {
		b.keyHeard(raw, msgs)
	} else {
		b.key()
	}
	return b, b.clean()
}

// repairPlanned makes the messages of a planned conversation valid. If the host only appended, it
// reads the new messages alone.
func (b *Batch) repairPlanned() {
	before := b.before
	raw := slices.Clone(b.req.Messages) // hosts truncate and append in place
	if b.Branch != "" {
		for i := range raw {
			raw[i] = transcript.Untyped(raw[i]) // the speaker in a sidechain is an agent, not a person
		}
	}
	if b.req.Prompt != "" {
		raw = append(raw[:len(raw):len(raw)], promptMessage(b.Branch, &b.req))
	}
	b.Raw = raw
	n := samePrefix(before.Raw, raw)
	if n == 0 || n < len(before.Raw) || !independent(raw[n:], before.Calls) {
		n = 0
	} else {
		b.Removed = before.Removed[:len(before.Removed):len(before.Removed)]
		b.kept = len(before.Msgs)
	}
	msgs, notes := transcript.Repair(raw[n:], false)
	b.note(notes)
	b.Msgs = slices.Concat(before.Msgs[:b.kept], msgs)
}

// clean replaces content that prompts do not show, after the messages got their keys. It returns
// ErrAnswered if the last message is the assistant's.
func (b *Batch) clean() error {
	if b.Durable {
		b.eachResult(b.liftResult)
	}
	if b.Whole != nil {
		b.eachResult(b.showWholeResult)
	}
	b.dropForgotten()
	b.dropOddTimes()
	if last := b.Msgs[len(b.Msgs)-1]; last.Role == memkernel.RoleAssistant {
		return api.ErrAnswered
	}
	return nil
}

// note reports the changes of healing. A removed part becomes a page, so that the part is listed
// and can be read.
func (b *Batch) note(notes []transcript.Note) {
	for i := range notes {
		n := &notes[i]
		f := fault.Fault{Code: fault.Code(strings.ReplaceAll(n.Rule, "-", "_")), Key: n.Key, Detail: n.Text}
		for i := range n.Removed {
			p := &n.Removed[i]
			id := PageID("rm", branched(b.Branch, n.Key), hashResult(p))
			b.taken = append(b.taken, taken{page: id, key: n.Key, part: p})
			b.Removed = append(b.Removed, api.Excluded{Kind: string(p.Kind), ID: id, Tokens: b.Count.Part(p), Reason: string(f.Code)})
			f.Page = id
		}
		b.Faults = append(b.Faults, f)
	}
}

// taken is a part that repair took out of a message.
type taken struct {
	page, key string
	part      *memkernel.Part
}

// opening is the text that is put before a conversation that begins with the assistant, if the
// provider wants the user to speak first.
const opening = "[The conversation begins with the assistant's message below.]"

// lead puts an opening before the conversation if one is needed.
func (b *Batch) lead() {
	first := 0
	for first < len(b.Msgs)-1 && SystemRole(b.Msgs[first].Role) {
		first++
	}
	m := &b.Msgs[first]
	if m.Role != memkernel.RoleAssistant || !b.req.Lead || transcript.Compacted(m) {
		return
	}
	b.Faults = append(b.Faults, fault.Fault{Code: "leading_assistant", Key: m.Key, Detail: "the conversation begins with an assistant message, an opening was put in front"})
	o := memkernel.Message{Key: branch.OpeningKey, Role: memkernel.RoleUser, Parts: []memkernel.Part{textPart(opening)},
		Time: m.Time, Branch: m.Branch, Origin: memkernel.OriginSynthetic}
	b.Msgs, b.kept, b.led = slices.Insert(slices.Clone(b.Msgs), first, o), 0, first+1
}

// samePrefix counts the leading messages that are the same.
func samePrefix(a, b []memkernel.Message) int {
	n := 0
	for n < len(a) && n < len(b) && sameMessage(&a[n], &b[n]) {
		n++
	}
	return n
}

// independent reports whether a tail can be healed without the messages before it. Such a tail
// holds no result of an earlier call and uses no call id again.
func independent(tail []memkernel.Message, before map[string]*toolcall.Call) bool {
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

func promptMessage(branch string, req *Request) memkernel.Message {
	id := req.Turn
	if id == "" {
		id = Hash(req.Prompt + "\x00" + strconv.Itoa(len(req.Messages)))[:16]
	}
	return memkernel.Message{Key: promptPrefix + id, Role: memkernel.RoleUser, Turn: req.Turn, Time: req.Now,
		Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: req.Prompt, Typed: branch == ""}}}
}

// adoptPrompts finds the host's message for a prompt that was planned before the host wrote it,
// even if the host decorated the text. The conversation keeps the bytes that were sent, and the
// prompt never appears twice.
func (b *Batch) adoptPrompts() {
	seen, from := b.before.Proj.Seen, 0
	if b.heard != nil {
		from = b.kept // settled messages were searched before
	}
	for i := from; i < min(len(seen), len(b.Msgs)); i++ {
		id, ok := strings.CutPrefix(seen[i].Key, promptPrefix)
		m := &b.Msgs[i]
		if !ok || m.Key == seen[i].Key || !transcript.PlainUser(*m) {
			continue
		}
		same := *m
		same.Key = seen[i].Key
		sent := b.promptText(seen[i].Key)
		if HashMessage(&same) == seen[i].Hash {
			sent = transcript.Text(same)
		}
		if sent != "" && (m.Turn == id || standsIn(sent, transcript.Text(*m))) {
			b.ownMsgs()
			b.kept = min(b.kept, i)
			b.adopt(seen[i].Key, m.Key)
			b.Msgs[i] = memkernel.Message{Key: seen[i].Key, Role: memkernel.RoleUser, Turn: m.Turn, Time: m.Time,
				Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: sent, Typed: transcript.MarkedTyped(*m)}}}
		}
	}
}

// adopt remembers which message of the host is a prompt that the kernel knows.
func (b *Batch) adopt(prompt, key string) {
	if key == "" || b.Adopted[prompt] == key {
		return
	}
	adopted := maps.Clone(b.Adopted)
	if adopted == nil {
		adopted = map[string]string{}
	}
	adopted[prompt] = key
	b.Adopted = adopted
}

// promptText returns the text of a prompt that was planned before the host wrote it, "" if it is
// no longer in use or not known.
func (b *Batch) promptText(key string) string {
	for i := len(b.before.Msgs) - 1; i >= 0; i-- {
		if b.before.Msgs[i].Key == key {
			return transcript.Text(b.before.Msgs[i])
		}
	}
	items := b.before.Proj.Items
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].Key != key || b.Known[items[i].Page] == nil {
			continue
		}
		for _, r := range b.Known[items[i].Page].Reps {
			if r.Level == pagevm.Full {
				return r.Text
			}
		}
	}
	return ""
}

// standsIn reports whether a prompt occurs in a text as whole lines. A few words in the middle of
// other words do not count.
func standsIn(prompt, text string) bool {
	lines := func(s string) string { return "\n" + strings.ReplaceAll(s, "\r", "\n") + "\n" }
	return strings.Contains(lines(text), lines(prompt))
}

// ownMsgs makes the part of b.Msgs after the kept ones safe to change.
func (b *Batch) ownMsgs() {
	if b.heard == nil {
		b.Msgs = append([]memkernel.Message(nil), b.Msgs...)
	}
}

// dropOddTimes removes times that can't be written.
func (b *Batch) dropOddTimes() {
	odd := func(m memkernel.Message) bool { return oddTime(m.Time) }
	if slices.ContainsFunc(b.Msgs[b.kept:], odd) {
		b.ownMsgs()
	}
	for i := b.kept; i < len(b.Msgs); i++ {
		if odd(b.Msgs[i]) {
			b.Msgs[i].Time = time.Time{}
		}
	}
}

// fewFresh is the number of new messages up to which their keys are compared with all other keys
// one by one. For so few messages this is faster than a map of the keys.
const fewFresh = 8

// key gives every message a unique key. The key is the host's id, made unique, or a hash chained
// to the previous key. The first kept messages already have keys.
func (b *Batch) key() {
	if b.kept == 0 || len(b.Msgs)-b.kept > fewFresh {
		b.keyAll()
		return
	}
	for i := b.kept; i < len(b.Msgs); i++ {
		key := keyOf(&b.Msgs[i], b.Msgs[i-1].Key)
		for j := range i {
			if b.Msgs[j].Key == key {
				b.keyAll()
				return
			}
		}
		b.Msgs[i].Key = key
	}
}

// keyOf returns the key of a message that follows the message with key prev. The returned key is
// not made unique yet.
func keyOf(m *memkernel.Message, prev string) string {
	switch {
	case m.Key == "":
		return "chain:" + Hash(prev + HashMessage(m))[:24]
	case !utf8.ValidString(m.Key):
		return strings.ToValidUTF8(m.Key, "\uFFFD")
	}
	return m.Key
}

func (b *Batch) keyAll() { b.keyRun(0, len(b.Msgs), keyUse{now: make(map[string]int, len(b.Msgs))}) }

// keyRun gives keys to a run of messages. The messages before the run must have keys already.
func (b *Batch) keyRun(from, to int, used keyUse) {
	owned := false
	prev := ""
	if from > 0 {
		prev = b.Msgs[from-1].Key
	}
	for i := from; i < to; i++ {
		key := keyOf(&b.Msgs[i], prev)
		if used.take(key) > 1 {
			b.Faults = append(b.Faults, fault.Fault{Code: "duplicate_key", Key: key, Detail: "another message has the same id"})
			same := key
			for used.of(key) > 0 {
				key = same + "#" + strconv.Itoa(used.of(same))
				used.take(same)
			}
			used.take(key)
		}
		if key != b.Msgs[i].Key {
			if !owned {
				b.ownMsgs()
				owned = true
			}
			b.Msgs[i].Key = key
		}
		prev = key
	}
}

// eachResult calls f with every result of the new messages that the kernel can read.
func (b *Batch) eachResult(f func(i, j int, r *memkernel.ToolResult)) {
	for i := b.kept; i < len(b.Msgs); i++ {
		for j := range b.Msgs[i].Parts {
			if r := b.Msgs[i].Parts[j].Result; r != nil && !r.Opaque {
				f(i, j, r)
			}
		}
	}
}

// liftResult takes binary content that a command printed out of the text of a result. No model
// reads such content, and it costs a token for every three bytes. The content is stored once as a
// blob. A note in its place names the blob. Images that a tool returned as images stay unchanged.
func (b *Batch) liftResult(i, j int, result *memkernel.ToolResult) {
	if result.Synthetic {
		return
	}
	var found []mask.Payload
	content := result.Content
	for n := range content {
		if content[n].Kind != memkernel.PartText {
			continue
		}
		text, ps := b.Mask.LiftBase64(content[n].Text)
		if ps == nil {
			continue
		}
		b.LiftedBytes += int64(len(content[n].Text) - len(text))
		if found == nil {
			content = slices.Clone(content)
		}
		content[n] = memkernel.Part{Kind: memkernel.PartText, Text: text}
		found = append(found, ps...)
	}
	if found == nil {
		return
	}
	r := *result
	r.Content = content
	b.setResult(i, j, &r)
	if b.Lifted == nil {
		b.Lifted = map[string][]mask.Payload{}
	}
	b.Lifted[evidenceID(b.Branch, r.CallID)] = found
}

const (
	// ForgottenText is the text that is shown instead of forgotten text.
	ForgottenText = "forgotten on request"
	// ForgottenPart is the part of a prompt that shows ForgottenText.
	ForgottenPart = "[" + ForgottenText + "]"
)

// dropForgotten removes forgotten content from the host's messages, so that it is neither shown
// nor kept again. Calls and their results stay in their places.
func (b *Batch) dropForgotten() {
	if !b.Graves.Any() {
		return
	}
	g := &b.Maker
	for i := b.kept; i < len(b.Msgs); i++ {
		if parts, changed := g.withoutForgotten(&b.Msgs[i]); changed {
			b.ownMsgs()
			b.Msgs[i].Parts, b.Msgs[i].Raw = parts, ""
		}
	}
}

// withoutForgotten returns the parts of a message, with a note in place of the parts whose page
// was forgotten.
func (g *Maker) withoutForgotten(m *memkernel.Message) (out []memkernel.Part, changed bool) {
	for i := 0; i < len(m.Parts); {
		end := i + 1
		part := &m.Parts[i]
		if part.Kind == memkernel.PartToolResult {
			id := evidenceID(g.Branch, part.Result.CallID)
			_, gone := g.Graves.Forgotten(id)
			if text, _ := g.Mask.Mask(ResultContent(part)); g.buried(id, text) || gone && shapes(part.Result, id) {
				changed = true
				stub := *part.Result
				stub.Content, stub.Text, stub.Opaque = []memkernel.Part{textPart(ForgottenPart)}, true, false
				out = append(out, memkernel.Part{Kind: memkernel.PartToolResult, Result: &stub})
			} else {
				out = append(out, *part)
			}
			i = end
			continue
		}
		// Older versions made one page of all parts up to a result.
		end = untilResult(m.Parts, i)
		gone := g.buriedRun(m, i, end)
		if !gone {
			end = runEnd(m, i)
			gone = g.buriedRun(m, i, end)
		}
		if gone {
			changed = true
			out = append(out, stubs(m.Parts[i:end])...)
		} else {
			out = append(out, m.Parts[i:end]...)
		}
		i = end
	}
	return out, changed
}

func (g *Maker) buriedRun(m *memkernel.Message, from, to int) bool {
	return g.buried(conversationID(g.Branch, m.Key, from), g.runContent(m, from, to).text)
}

// buried reports whether content was forgotten, either as the content of page id or anywhere else.
func (g *Maker) buried(id, content string) bool {
	hash := Hash(content)
	return g.Graves.ForgottenContent(hash) || g.isForgotten(id, hash) || g.isForgotten(PageID(id[:2], id, hash), hash)
}

func (g *Maker) isForgotten(id, hash string) bool {
	gone, ok := g.Graves.Forgotten(id)
	return ok && gone == hash
}

// stubs returns the parts that must replace forgotten parts. They are a note, and the calls
// without their input, because the results of calls stay.
func stubs(parts []memkernel.Part) []memkernel.Part {
	out := []memkernel.Part{textPart(ForgottenPart)}
	for i := range parts {
		if c := parts[i].Call; c != nil {
			stub := *c
			stub.Input = "{}"
			out = append(out, memkernel.Part{Kind: parts[i].Kind, Call: &stub})
		}
	}
	return out
}

// StandsForgotten reports whether the content of any message was forgotten and replaced by a note.
func StandsForgotten(msgs []memkernel.Message) bool {
	for i := range msgs {
		for j := range msgs[i].Parts {
			p := &msgs[i].Parts[j]
			if p.Text == ForgottenPart || p.Result != nil && ResultText(p.Result) == ForgottenPart {
				return true
			}
		}
	}
	return false
}

// SystemRole reports whether r is a role of instructions.
func SystemRole(r memkernel.Role) bool {
	return r == memkernel.RoleSystem || r == memkernel.RoleDeveloper
}
