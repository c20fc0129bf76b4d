package kernel_test

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// system is a message by which a host instructs the model in the middle of things.
func (c *conversation) system(role memkernel.Role) {
	c.add(role, words(fmt.Sprintf("<env>%d files are open</env>", c.n)))
}

// TestSystemMessagesInTheConversation: where a host puts system messages behind the
// user's words or behind results, at the end of a request or in the middle, the words
// stay the turn's, every such message stays where it is with its bytes, what was sent
// stands until a cut, and no provider has anything against it.
func TestSystemMessagesInTheConversation(t *testing.T) {
	for seed := range int64(suite.Pick(1, 60)) {
		rng := rand.New(rand.NewSource(seed))
		format, provider, role := transcript.FormatAnthropic, transcript.FormatAnthropic, memkernel.RoleSystem
		if seed%3 == 2 {
			format, provider, role = transcript.FormatOpenAI, transcript.FormatOpenAI, memkernel.RoleDeveloper
		}
		k, _ := workspaceKernel(t, nil)
		c := newConversation(seed)
		var last *api.ContextPlan
		cuts, ends, recalled := 0, 0, 0
		for range 40 {
			if last == nil || rng.Intn(3) == 0 {
				if last != nil {
					c.say()
				}
				c.user()
			} else {
				c.loop(1+rng.Intn(2), 200+rng.Intn(6000))
			}
			for range rng.Intn(3) {
				c.system(role)
				ends++
			}
			req := private(c)
			req.ContextWindow, req.Format = 40_000, format
			p := mustPlan(t, k, req)
			where := fmt.Sprintf("seed %d, %d messages", seed, len(c.msgs))
			for _, v := range transcript.Validate(provider, &transcript.Request{Model: req.Model, Messages: p.Messages, Source: "anthropic"}) {
				t.Fatalf("%s: %+v", where, v)
			}
			if p.Layout.Made != nil {
				cuts++
			} else if last != nil && !strings.HasPrefix(stream(p), stream(last)) {
				t.Fatalf("%s: what was sent does not stand", where)
			}
			newest := c.msgs[len(c.msgs)-1]
			if end := p.Messages[len(p.Messages)-1]; systemLike(newest.Role) && end.Key != newest.Key {
				t.Fatalf("%s: %s stands behind the system message that ended the request", where, end.Key)
			}
			inOrder(t, where, c.msgs, p.Messages)
			if strings.Contains(shown(p, "memkernel:rt"), "retries a job five times") {
				recalled++
			}
			again := mustPlan(t, k, req) // the host tries the same call once more
			if again.Layout.Made == nil && stream(again) != stream(p) {
				t.Fatalf("%s: the same request is planned otherwise", where)
			}
			last = again
		}
		if cuts == 0 || ends == 0 || recalled == 0 {
			t.Errorf("seed %d: %d cuts, %d system messages, %d plans that show what memory knows: nothing was shown", seed, cuts, ends, recalled)
		}
	}
}

func systemLike(r memkernel.Role) bool {
	return r == memkernel.RoleSystem || r == memkernel.RoleDeveloper
}

// inOrder wants the host's messages that stand in the host's order, and the user's
// newest words among them.
func inOrder(t *testing.T, where string, host, sent []memkernel.Message) {
	t.Helper()
	at, spoken := 0, ""
	for i := range host {
		if transcript.PlainUser(host[i]) {
			spoken = host[i].Key
		}
	}
	for i := range sent {
		if strings.HasPrefix(sent[i].Key, "memkernel:") {
			continue
		}
		for at < len(host) && host[at].Key != sent[i].Key {
			at++
		}
		if at == len(host) {
			t.Fatalf("%s: %s is out of its order", where, sent[i].Key)
		}
		if systemLike(host[at].Role) && transcript.Text(sent[i]) != transcript.Text(host[at]) {
			t.Fatalf("%s: %s says something else", where, sent[i].Key)
		}
		if sent[i].Key == spoken {
			spoken = ""
		}
	}
	if spoken != "" {
		t.Fatalf("%s: the user's words %s do not stand", where, spoken)
	}
}
