package checkpoint

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/summary"
	"github.com/memkernel/memkernel/transcript"
)

// The speakers in an exchange.
const (
	roleUser  = "user"
	roleAgent = "agent"
	// roleTask is another agent or a program that gives the agent its task.
	roleTask = "task"
)

// longReply is the length of an agent's text, in columns, above which the user's
// next message is likely to decide something.
const longReply = 500

// speak takes the words of the user or the agent from the message.
func (u *updater) speak() {
	if own, _ := transcript.Typed(*u.m); own != "" {
		u.keepUserText(own)
	} else if t := &u.s.Thread; t.First.Seq == 0 && u.m.Role == memkernel.RoleUser && u.m.Origin == memkernel.OriginHost {
		if text := strings.TrimSpace(mark.ReplaceAllString(texts(u.m), "")); text != "" && !strings.HasPrefix(text, "/") {
			t.First = exchangeCapture{Role: roleTask, Gist: u.gist(text, gistRunes), Seq: t.Captured}
		}
	}
	if u.m.Role == memkernel.RoleAssistant && u.m.Origin == memkernel.OriginHost {
		u.keepAgentText(texts(u.m))
	}
}

// mark matches the marks by which hosts tell who wrote a text.
var mark = textutil.LazyRegexp(`</?[a-z-]+[^<>]*>`)

func texts(m *memkernel.Message) string {
	var b strings.Builder
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == memkernel.PartText {
			b.WriteString(p.Text)
			b.WriteByte('\n')
		}
	}
	return strings.TrimSpace(b.String())
}

func (u *updater) keepUserText(text string) {
	t := &u.s.Thread
	e := exchangeCapture{Role: roleUser, Gist: u.gist(text, gistRunes), Seq: t.Captured}
	if t.Topic = u.gist(text, topicRunes); t.First.Seq == 0 || t.First.Role == roleTask {
		t.First = e
	}
	if t.Reply > longReply {
		t.Pivots = capped(append(t.Pivots, e), maxExchanges)
	}
	t.Pending = orNil(slices.DeleteFunc(t.Pending, func(a attempt) bool { return u.reading(a.ID).Lost })) // it runs no more
	t.Reply = 0
	t.Tail = append(t.Tail, e)
	users := 0 // the last two messages and their answers stay
	for i := len(t.Tail) - 1; i >= 0 && users < 2; i-- {
		if t.Tail[i].Role == roleUser {
			users++
		}
		if users == 2 {
			t.Tail = slices.Delete(t.Tail, 0, i)
		}
	}
}

// keepAgentText keeps the agent's last text since the user spoke.
func (u *updater) keepAgentText(text string) {
	if text == "" {
		return
	}
	t := &u.s.Thread
	t.Reply, t.Report = textutil.Columns(text), u.gist(text, reportRunes)
	e := exchangeCapture{Role: roleAgent, Gist: summary.Excerpt(t.Report, gistRunes), Seq: t.Captured}
	if n := len(t.Tail); n > 0 && t.Tail[n-1].Role == roleAgent {
		t.Tail[n-1] = e
		return
	}
	t.Tail = append(t.Tail, e)
}

// exchanges returns at most maxExchanges key exchanges in their order. They are the first
// message, the newest pivots and the last two exchanges.
func (t *threadState) exchanges() []exchangeCapture {
	var out []exchangeCapture
	add := func(e exchangeCapture) {
		if e.Seq > 0 && len(out) < maxExchanges && !slices.ContainsFunc(out, func(o exchangeCapture) bool { return o.Seq == e.Seq && o.Role == e.Role }) {
			out = append(out, e)
		}
	}
	add(t.First)
	for _, e := range t.Tail {
		add(e)
	}
	for _, e := range slices.Backward(t.Pivots) {
		add(e)
	}
	slices.SortStableFunc(out, func(a, b exchangeCapture) int { return a.Seq - b.Seq })
	return out
}

func (t *threadState) thread() thread {
	var out thread
	for _, e := range t.exchanges() {
		out.KeyExchanges = append(out.KeyExchanges, exchange{Role: nameText(e.Role), Gist: freeText(e.Gist)})
	}
	out.Summary = freeText(summary.Excerpt(t.First.Gist, topicRunes))
	if t.Topic != "" && t.Topic != string(out.Summary) {
		out.Summary += freeText(" ... " + t.Topic)
	}
	return out
}
