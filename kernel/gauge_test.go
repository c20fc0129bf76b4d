package kernel_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

var gaugeLine = regexp.MustCompile(`\[Context: [^\]]*\][^"]*`)

// told is a line of the gauge: at which call of which generation, in a run of tool calls
// or not.
type told struct {
	call, generation int
	loop             bool
	text             string
}

// gaugeOf plans a session call by call as a host without any settings would, and returns
// what the model was told. Between two cuts every prompt extends the one before.
func gaugeOf(t *testing.T, path string, msgs []memkernel.Message, model string, window int, tools []memkernel.Tool) (out []told, cuts int) {
	t.Helper()
	k := memoryKernel(t)
	defer k.Close()
	last, generation := "", 0
	for n, c := range transcript.Calls(msgs) {
		if c.Index == 0 {
			continue
		}
		p := mustPlan(t, k, api.PlanRequest{SessionKey: "s", Model: model, ContextWindow: window, FixedTokens: 25_000,
			Messages: slices.Clone(msgs[:c.Index]), Now: c.Start, Tools: tools})
		sent := stream(p)
		fresh := sent
		if p.Layout.Made != nil {
			cuts++
		} else if p.Generation == generation {
			if !strings.HasPrefix(sent, last) {
				t.Fatalf("%s: call %d: no cut, and not an extension of the request before", path, n+1)
			}
			fresh = sent[len(last):]
		}
		for _, line := range gaugeLine.FindAllString(fresh, -1) {
			if p.Layout.Made == nil { // what stood before a cut may stand behind it
				out = append(out, told{n + 1, p.Generation, msgs[c.Index-1].Parts[0].Result != nil, line})
			}
		}
		last, generation = sent, p.Generation
	}
	return out, cuts
}

// At default settings the model is told in time that older parts leave, in chats as in
// runs of tool calls, with what it can do about it; and each threshold once between two
// cuts, however often the marks move.
func TestGaugeOfSessions(t *testing.T) {
	sample, err := transcript.LoadFile("../testdata/session.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	var talk []memkernel.Message
	c := newConversation(61)
	for range suite.Pick(13, 50) {
		c.user()
		c.msgs[len(c.msgs)-1].Parts[0].Text += "\n" + c.code(suite.Pick(10_000, 5000))
		c.say()
	}
	talk = c.msgs
	for _, s := range []struct {
		name, path  string
		msgs        []memkernel.Message
		tools       []memkernel.Tool
		chat, loop  bool
		window      int
		says, never string
	}{
		{name: "sample", msgs: sample.View(transcript.Full), loop: true, says: "call memory_append, if you have it."},
		{name: "chat without tools", msgs: talk, tools: []memkernel.Tool{{Name: "Read", Raw: "{}"}}, chat: true, window: suite.Pick(100_000, 200_000), never: "memory"},
		{name: "chat with memory", msgs: talk, tools: []memkernel.Tool{{Name: "mcp__notes__memory_append", Raw: "{}"}}, chat: true, window: suite.Pick(100_000, 200_000), says: "call mcp__notes__memory_append.", never: "if you have it"},
		{name: "recorded, Pi", path: recordedSession, chat: true, loop: true, says: "call memory_append, if you have it."},
		{name: "recorded, Claude Code", path: "../../shared/data/transcripts/claude-code/cli__72-0c20f08988-0.jsonl", loop: true, says: "call memory_append, if you have it."},
	} {
		t.Run(s.name, func(t *testing.T) {
			if s.path != "" {
				if _, err := os.Stat(s.path); err != nil || !suite.Long() {
					t.Skip("it takes ../shared/data/transcripts beside the repository, and the long suite")
				}
				read, err := transcript.LoadFile(s.path, nil)
				if err != nil {
					t.Fatal(err)
				}
				s.msgs = read.View(transcript.Full)
			}
			msgs, _ := transcript.Repair(s.msgs, false)
			lines, cuts := gaugeOf(t, s.name, msgs, "claude-opus-4-5", cmp.Or(s.window, 200_000), s.tools)
			t.Logf("%d lines, %d cuts", len(lines), cuts)
			chat, loop, advised := false, false, false
			perCut, said := map[int]int{}, map[string]bool{}
			for _, l := range lines {
				chat, loop = chat || !l.loop, loop || l.loop
				advised = advised || strings.Contains(l.text, "repeat briefly") && strings.Contains(l.text, s.says)
				if perCut[l.generation]++; perCut[l.generation] > 3 {
					t.Errorf("call %d: told more often than there are thresholds: %s", l.call, l.text)
				}
				_, advice, _ := strings.Cut(l.text, `]\n`)
				if key := fmt.Sprint(l.generation, advice); advice != "" && said[key] {
					t.Errorf("call %d: told again: %s", l.call, l.text)
				} else {
					said[key] = true
				}
				if !strings.Contains(l.text, "older parts leave ") || s.never != "" && strings.Contains(l.text, s.never) || !l.loop && strings.Contains(l.text, "run of tool calls") {
					t.Errorf("call %d, in a run of tool calls %t: %s", l.call, l.loop, l.text)
				}
			}
			if s.chat && !chat || s.loop && !loop || !advised || cuts == 0 {
				t.Errorf("told in chat %t, in runs of tool calls %t, what to do %t; %d cuts", chat, loop, advised, cuts)
			}
		})
	}
}

// A host that sends its request a second time gets the same bytes, even if the memory that
// the first plan recalled has filled the prompt beyond a threshold.
func TestGaugeOfARepeatedRequest(t *testing.T) {
	more := map[string]string{}
	for i := range 6 {
		more[fmt.Sprintf("memory/worker-%d.md", i)] = "# Worker\n\n" + strings.Repeat(fmt.Sprintf("The retry test of queue worker %d fails when the clock jumps back an hour. ", i), 8) + "\n"
	}
	k, _ := workspaceKernel(t, more)
	c := newConversation(63)
	told := 0
	for i := range 45 {
		c.add(memkernel.RoleUser, words(fmt.Sprintf("Attempt %d: why does the retry test of queue worker %d fail when the clock jumps?", i, i%6)))
		c.loop(1, 900)
		req := private(c)
		req.ContextWindow = 32_000
		first := mustPlan(t, k, req)
		told += strings.Count(shown(first, "memkernel:nt"), "[Context: ")
		for range 2 {
			if again := stream(mustPlan(t, k, req)); again != stream(first) {
				t.Fatalf("attempt %d: the same request was planned with other bytes:\n%s", i, strings.TrimPrefix(again, stream(first)))
			}
		}
		c.say()
	}
	if told == 0 {
		t.Error("the gauge was never shown")
	}
}

// A host whose prompts have no gauge has none for the next cut either.
func TestGaugeThatIsNeverShown(t *testing.T) {
	k, err := kernel.Open(context.Background(), t.TempDir(), &kernel.Options{Life: kernel.LifeOptions{Show: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	c := newConversation(62)
	c.user()
	for range 40 {
		c.loop(1, 6000)
		req := request(c)
		req.ContextWindow = 200_000
		if p := mustPlan(t, k, req); strings.Contains(stream(p), "[Context: ") && p.Budgets.Utilization < 0.8 {
			t.Fatalf("at %.2f it is told", p.Budgets.Utilization)
		}
	}
}
