package kernel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// local is a model of a person's own machine, which no price book lists.
const local = "qwen3-coder:30b"

// smallWindows are the windows that local servers often run with.
var smallWindows = []int{8_000, 16_000, 32_000}

// TestAnyWindowPlansASession: in the small windows of local models, and in one of which the system
// prompt takes more than half, every call of a session is planned. The prompt leaves the reserve
// free, and shows the newest words of the user whole, or with a notice of the part that is missing.
func TestAnyWindowPlansASession(t *testing.T) {
	s, err := transcript.LoadFile("../testdata/session.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	msgs, _ := transcript.Repair(s.View(transcript.Full), false)
	calls := slices.DeleteFunc(transcript.Calls(msgs), func(c transcript.Call) bool {
		return c.Index == 0 || msgs[c.Index-1].Role == memkernel.RoleAssistant
	})
	for _, name := range []string{local, model} {
		for i, window := range smallWindows {
			if name == model && i != 1 && !suite.Long() {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", name, window), func(t *testing.T) {
				k := memoryKernel(t)
				defer k.Close()
				last := ""
				for n, c := range suite.Some(calls, 4) {
					p := mustPlan(t, k, api.PlanRequest{SessionKey: "s", Model: name, ContextWindow: window, FixedTokens: 4_000, Messages: msgs[:c.Index:c.Index], Now: c.Start})
					checkSmall(t, p, msgs[:c.Index])
					if p.Layout.Made == nil && !strings.HasPrefix(stream(p), last) {
						t.Fatalf("call %d: no cut, and not an extension of the request before", n+1)
					}
					last = stream(p)
				}
			})
		}
	}
}

// checkSmall checks a plan that a small window forced to leave much out.
func checkSmall(t *testing.T, p *api.ContextPlan, msgs []memkernel.Message) {
	t.Helper()
	checkPlan(t, p, msgs)
	if b := p.Budgets; b.ReserveTokens < b.ContextWindow/8 || 4*b.ReserveTokens > b.ContextWindow {
		t.Fatalf("a reserve of %d in a window of %d", b.ReserveTokens, b.ContextWindow)
	}
	said := ""
	for i := len(msgs) - 1; i >= 0 && said == ""; i-- {
		if msgs[i].Origin == memkernel.OriginHost && transcript.PlainUser(msgs[i]) {
			said = strings.TrimSpace(transcript.Words(msgs[i]))
		}
	}
	sent := stream(p)
	begin := strings.Fields(said)
	if !strings.Contains(sent, said) && (!strings.Contains(sent, begin[0]) || !saysMissing(sent)) {
		t.Fatalf("the newest words of the user are neither shown nor said to be missing: %.200q", said)
	}
}

// saysMissing reports whether a prompt says that a part of a message is missing.
func saysMissing(sent string) bool {
	return strings.Contains(sent, "[this message is shown shortened: ") || strings.Contains(sent, "left out by memkernel")
}

// TestAnyWindowShowsTheFirstWords: however little room the newest words of the user have, the
// prompt shows their beginning, and in the same message a notice if a part is missing.
func TestAnyWindowShowsTheFirstWords(t *testing.T) {
	for _, window := range []int{4_000, 5_000, 7_000} {
		for _, fixed := range suite.Some([]int{50, 60, 70}, 2) {
			for _, size := range []int{150, 400, 2_500} {
				k := memoryKernel(t)
				c := newConversation(7)
				said := "Rename the queue's worker. "
				for i := 0; len(said) < size; i++ {
					said += fmt.Sprintf("Number%d makes the retry of its queue wait longer. ", 31*i)
				}
				said = strings.TrimSpace(said)
				c.loop(1, 3_000)
				c.say()
				c.add(memkernel.RoleUser, words(said), memkernel.Part{Kind: memkernel.PartText, Text: "<system-reminder>\n" + strings.Repeat("The file a.go was changed.\n", 60) + "</system-reminder>"})
				key := c.msgs[len(c.msgs)-1].Key
				for range 3 {
					req := request(c)
					req.Model, req.ContextWindow, req.FixedTokens, req.System, req.Tools, req.Resolver = local, window, window*fixed/100, nil, nil, ""
					shown := ""
					for _, m := range mustPlan(t, k, req).Messages {
						if m.Key == key {
							shown = m.Parts[0].Text
						}
					}
					if !strings.HasPrefix(shown, "Rename the queue's worker.") || !strings.Contains(shown, said) && !saysMissing(shown) {
						t.Errorf("a window of %d, %d%% of it fixed, %d bytes of words: %.200q", window, fixed, len(said), shown)
					}
					c.loop(2, 9_000)
				}
				k.Close()
			}
		}
	}
}

// TestAnyWindowShortensTheNewestPair: a paste, an input of a call and a result that are each larger
// than the window are shown shortened, with a notice. The next prompts keep their bytes until a
// cut.
func TestAnyWindowShortensTheNewestPair(t *testing.T) {
	for _, window := range suite.Some(smallWindows, 2) {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			k := memoryKernel(t)
			defer k.Close()
			c := newConversation(7)
			last := ""
			plan := func() {
				t.Helper()
				req := request(c)
				req.Model, req.ContextWindow, req.FixedTokens, req.System, req.Tools, req.Resolver = local, window, window/2, nil, nil, ""
				p := mustPlan(t, k, req)
				checkSmall(t, p, c.msgs)
				if p.Layout.Made == nil && !strings.HasPrefix(stream(p), last) {
					t.Fatal("no cut, and not an extension of the request before")
				}
				last = stream(p)
			}
			c.add(memkernel.RoleUser, words("Why does this fail?\n"+c.code(8*window)+"\nAnswer in one line."))
			plan()
			if !saysMissing(last) {
				t.Fatal("nothing says that a part of the paste is missing")
			}
			for range 2 {
				c.call(1)
				call := c.msgs[len(c.msgs)-1].Parts[2].Call
				call.Name, call.Input = "Write", fmt.Sprintf(`{"file_path":"a.go","content":%q,"mode":420}`, c.code(8*window))
				c.results(1, 8*window)
				plan()
				if !strings.Contains(last, `{"file_path":"a.go","content":"`) || !strings.Contains(last, "left out by memkernel …]") {
					t.Fatal("the newest call is not shown, or nothing says what is missing")
				}
			}
			c.say()
			c.user()
			plan()
		})
	}
}
