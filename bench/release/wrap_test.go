package main

import (
	"encoding/json"
	"math"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/fakemodel"
)

// client is an agent that knows nothing of memkernel: it asks the API that its environment
// names, twelve turns of a call with 20,000 bytes each.
const client = `
const messages = [];
for (let n = 0; n < 12; n++) {
  messages.push({ role: "user", content: "Read file " + n + " of the harbour, and say what it has." });
  for (;;) {
    const body = { model: "claude-sonnet-4-6", max_tokens: 500, system: "You are a tester.", messages,
      metadata: { user_id: "user_x_account_y_session_0b54a4fe-0000-4000-8000-000000000001" },
      tools: [{ name: "Read", description: "reads", input_schema: { type: "object" } }] };
    const res = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    if (!res.ok) throw new Error(res.status + " " + await res.text());
    const answer = await res.json();
    messages.push({ role: "assistant", content: answer.content });
    const call = answer.content.find(b => b.type === "tool_use");
    if (!call) break;
    let text = "";
    for (let i = 0; text.length < 20000; i++) text += "line " + i + " of file " + n + ": berth " + (i + 3) * (n + 7) * 7919 + " is taken\n";
    messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: text }] });
  }
}
`

var saidBilled = regexp.MustCompile(`memkernel: (\d+) calls, billed \$([0-9.]+) .*; [1-9]\d* cuts?`)

// wraps runs a client behind what was installed, on a model whose cache grows cold in the
// middle, and holds what is said in the end to what the model billed.
func wraps(t testing.TB, project string, env []string) {
	t.Helper()
	needs(t, "node")
	var late atomic.Int64
	script := func(turn fakemodel.Turn) fakemodel.Reply {
		if turn.N == 15 {
			late.Store(int64(time.Hour))
		}
		if len(turn.Results) > 0 {
			return fakemodel.Reply{Text: "It has berths."}
		}
		return fakemodel.Reply{Calls: []fakemodel.Call{{Name: "Read", Input: json.RawMessage(`{"path":"harbour.txt"}`)}}}
	}
	model := fakemodel.New(fakemodel.Options{Window: 60_000, Script: script, Now: func() time.Time { return time.Now().Add(time.Duration(late.Load())) }})
	up := httptest.NewServer(model)
	defer up.Close()
	write(t, project, "client.mjs", client)
	cmd := exec.Command("npx", "--yes", "memkernel", "wrap", "--context-window", "60k", "--", "node", "client.mjs")
	cmd.Dir, cmd.Env = project, append(cmd.Environ(), append(env, "ANTHROPIC_BASE_URL="+up.URL)...)
	out, err := cmd.CombinedOutput()
	said := saidBilled.FindSubmatch(out)
	if err != nil || said == nil {
		t.Fatalf("%v: it says %s", err, out)
	}
	price, _ := cachelayout.DefaultBook().Lookup("claude-sonnet-4-6", time.Now())
	calls, usd := 0, 0.0
	for _, r := range model.Requests() {
		if r.Refused {
			continue
		}
		calls++
		usd += *price.Cost(r.Usage.Read, r.Usage.Written, 0, r.Usage.Uncached, r.Usage.Output)
	}
	got, err := strconv.ParseFloat(string(said[2]), 64)
	if err != nil || string(said[1]) != strconv.Itoa(calls) || math.Abs(got-usd) > 0.05*usd {
		t.Errorf("it says %s, the model billed %d calls and $%.4f", said[0], calls, usd)
	}
	t.Logf("%s", out)
}
