package proxy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/serve/proxy"
)

const bindingBeta = "thinking-binding-controls-2026-08-01"

// thinker is a client that keeps its own history, answers' reasoning included, as the APIs ask
// for it.
type thinker struct {
	*stage
	api    clientAPI
	named  string // its model
	extra  string // members of the request
	header []string
	msgs   []string
	n      int
}

// ask makes one call with a message more, and keeps the answer.
func (c *thinker) ask(messages ...string) reply {
	c.t.Helper()
	c.msgs = append(c.msgs, messages...)
	body := strings.Replace(c.api.body(c.msgs, false), "{", fmt.Sprintf(`{"model":%q,%s`, c.named, c.extra), 1)
	r := c.post(c.api.path, body, c.header...)
	var m struct {
		Content []json.RawMessage `json:"content"`
		Output  []json.RawMessage `json:"output"`
	}
	if err := json.Unmarshal([]byte(r.body), &m); err != nil || r.status != http.StatusOK {
		return r
	}
	if len(m.Content) > 0 {
		content, _ := json.Marshal(m.Content)
		c.msgs = append(c.msgs, fmt.Sprintf(`{"role":"assistant","content":%s}`, content))
	}
	for _, item := range m.Output {
		c.msgs = append(c.msgs, string(item))
	}
	return r
}

// turn is a user's turn of two tool calls.
func (c *thinker) turn(tokens int) {
	c.t.Helper()
	c.n++
	c.ask(c.api.user(fmt.Sprintf("please do step %d of the plan", c.n))).planned(c.t)
	for range 2 {
		c.ask(c.api.result(fmt.Sprintf("call_%d", len(c.stage.model.Requests())-1), prose(len(c.msgs), tokens))).planned(c.t)
	}
}

// prose is a tool's output of about n tokens in words.
func prose(seed, n int) string {
	words := strings.Fields("the worker takes a job from its queue and tries it again until the ledger says that nobody waits for it any more")
	var b strings.Builder
	for i := 0; b.Len() < 4*n; i++ {
		b.WriteString(words[(i*i+seed*7)%len(words)] + " ")
	}
	return fmt.Sprintf("part %d: %s", seed, b.String())
}

// bare is an api without a model of its own.
func bare(a clientAPI) clientAPI {
	at, end := strings.Index(a.head, `"model":"`), strings.Index(a.head, `", `)
	a.head = a.head[:at] + strings.TrimLeft(a.head[end+2:], " ")
	return a
}

// two has the model call a tool twice in a turn.
func two(turn fakemodel.Turn) fakemodel.Reply {
	if strings.HasPrefix(turn.User, "please") || turn.N%3 == 1 {
		return fakemodel.Reply{Calls: []fakemodel.Call{{ID: fmt.Sprintf("call_%d", turn.Request.N), Name: "Bash", Input: json.RawMessage(fmt.Sprintf(`{"command":"cat part%d"}`, turn.Request.N))}}}
	}
	return fakemodel.Reply{Text: "that step is done"}
}

// A long session of a model whose reasoning is bound to its prefix goes through all its cuts
// without a request that the provider refuses. What the provider removes is what the plans said,
// and all of it is in the report.
func TestBoundReasoningThroughCuts(t *testing.T) {
	const turns = 12
	const adaptive = `"thinking":{"type":"adaptive"},`
	const drop = `"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}},`
	for name, tt := range map[string]struct {
		api    clientAPI
		model  string
		extra  string
		header []string
		drops  bool
	}{
		"claude, refused":       {anthropic, "claude-opus-5-5", adaptive, nil, false},
		"claude, reported":      {anthropic, "claude-opus-5-5", adaptive, []string{"anthropic-beta", bindingBeta}, false},
		"claude, asked to drop": {anthropic, "claude-opus-5-5", drop, []string{"anthropic-beta", bindingBeta}, true},
		"gpt, dropped":          {responses, "gpt-6.2-sol", `"include":["reasoning.encrypted_content"],`, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := &thinker{stage: newStage(t, fakemodel.Options{Script: two, Thinks: true}, proxy.Options{Reserve: 8_000}, nil), api: bare(tt.api), named: tt.model, extra: tt.extra, header: tt.header}
			for range turns {
				c.turn(2800)
			}
			c.settle()
			for _, v := range c.stage.model.Violations() {
				t.Errorf("broken: %s", v.Rule)
			}
			refused, removed := c.stage.model.Reasoning()
			if refused > 0 {
				t.Errorf("%d requests were refused", refused)
			}
			st, err := c.k.Usage(t.Context(), billing.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range st.Calls {
				if want := r.Planned.Reasoning; r.Reported.Of("") != want.StaleItems+want.DroppedItems {
					t.Errorf("%d items were removed of a call whose plan expects %+v", r.Reported.Of(""), want)
				}
			}
			got := st.Total.Reasoning
			t.Logf("%d cuts: %d items left out, %d dropped by our count, %v removed", st.Total.Cuts, got.LeftOutItems, got.DroppedItems, got.Removed)
			if st.Total.Cuts < 3 || st.Total.Calls < 3*turns-1 { // a small first prompt has no plausible bill
				t.Fatalf("%d cuts in %d calls", st.Total.Cuts, st.Total.Calls)
			}
			reported := 0
			for _, r := range got.Removed {
				if r.Reason != memkernel.RemovedPrefix {
					t.Errorf("%d items were removed for %s", r.Items, r.Reason)
				}
				reported += r.Items
			}
			if !tt.drops {
				if reported+removed+got.DroppedItems != 0 || got.LeftOutItems == 0 {
					t.Errorf("%d left out, %d to be dropped, %d reported, %d removed at once", got.LeftOutItems, got.DroppedItems, reported, removed)
				}
				return
			}
			if got.LeftOutItems != 0 || reported != got.DroppedItems || removed == 0 {
				t.Errorf("%d left out, %d to be dropped, %d reported, %d removed at once", got.LeftOutItems, got.DroppedItems, reported, removed)
			}
			if got.LostUSD == nil || *got.LostUSD <= 0 {
				t.Errorf("it costs %v", got.LostUSD)
			}
		})
	}
}

// straight makes turns without the proxy.
func (c *thinker) straight(turns int) {
	through := c.front.URL
	defer func() { c.front.URL = through }()
	c.front.URL = c.up.URL
	for range turns {
		c.n++
		c.ask(c.api.user(fmt.Sprintf("please do step %d of the plan", c.n)))
		for range 2 {
			c.ask(c.api.result(fmt.Sprintf("call_%d", len(c.stage.model.Requests())-1), prose(len(c.msgs), 1500)))
		}
	}
}

func newThinker(t *testing.T) *thinker {
	return &thinker{stage: newStage(t, fakemodel.Options{Script: two, Thinks: true}, proxy.Options{}, nil), api: bare(anthropic), named: "claude-opus-5-5", extra: `"thinking":{"type":"adaptive"},`}
}

// Thinking of a conversation that went on without the proxy is left out where its first plan
// puts something of the workspace in front or shows a result shorter: the model saw neither.
func TestBoundReasoningOfBeforeTheProxy(t *testing.T) {
	for name, memory := range map[string]string{"with memory": "# Rules\n\n- Never touch the vendor folder.\n", "without": ""} {
		t.Run(name, func(t *testing.T) {
			c := newThinker(t)
			if memory != "" {
				if err := os.WriteFile(filepath.Join(c.dir, "MEMORY.md"), []byte(memory), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c.straight(3)
			for range 5 {
				c.turn(1500)
			}
			c.settle()
			if n, _ := c.stage.model.Reasoning(); n > 0 {
				t.Errorf("%d requests were refused", n)
			}
		})
	}
}

// Where a host itself changed what was before the thinking, its provider refuses the request.
// It is sent once more without that thinking, the client gets the answer, and nothing is refused
// again.
func TestRefusedThinkingIsSentAgainWithout(t *testing.T) {
	c := newThinker(t)
	c.straight(3)
	c.api.head = strings.Replace(c.api.head, "You are a tester.", "You are a tester. It is Tuesday.", 1)
	for range 2 {
		c.turn(1500)
	}
	c.settle()
	if n, _ := c.stage.model.Reasoning(); n != 1 {
		t.Errorf("%d requests were refused, want the first one", n)
	}
	st, err := c.k.Usage(t.Context(), billing.Options{})
	if err != nil || st.Total.Reasoning.LeftOutItems != 9 || st.Total.Cuts != 1 {
		t.Errorf("%v %+v", err, st.Total)
	}
	if log := c.log.String(); strings.Count(log, `msg="refused for its thinking"`) != 1 || !strings.Contains(log, "thinking_refused") {
		t.Errorf("the log says nothing of it: %s", log)
	}
}
