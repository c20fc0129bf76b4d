package kernel_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/transcript"
)

// embedded is the example of doc/agents.md, in its words, with what stands between.
func embedded(ctx context.Context, workspaceDir string, messages []memkernel.Message, response []byte) (*billing.Report, error) {
	k, err := kernel.Open(ctx, workspaceDir, nil)
	if err != nil {
		return nil, err
	}
	defer k.Close()
	chat := k.Session("chat-7", kernel.SessionOptions{Model: "claude-opus-5-5", Private: true}) // one person's own
	// before a model call
	plan, err := chat.Plan(ctx, messages, &api.PlanRequest{
		System:   memkernel.Text("Be brief."),
		Resolver: "memory_get", // the tool by which the model can follow a pointer
	})
	if err != nil {
		return nil, err
	}
	body, _, err := transcript.Render(plan.Format, &transcript.Request{
		Model: plan.Model, System: plan.System, Messages: plan.Messages, Markers: plan.Markers, MaxTokens: 4096,
	})
	if err != nil || !strings.Contains(string(body), `"system":`) {
		return nil, err
	}
	// after a tool call; then plan again
	call := memkernel.ToolCall{ID: "call-1", Name: "read_file", Input: `{"path":"DEPLOY.md"}`}
	messages = append(messages, memkernel.Assistant("Let me look.", call), memkernel.Result(call.ID, "On Tuesdays."))
	plan, err = chat.Plan(ctx, messages, &api.PlanRequest{Resolver: "memory_get"})
	if err != nil {
		return nil, err
	}
	// after the turn: one atomic commit, idempotent per turn
	var bill memkernel.StreamUsage
	bill.Add(response) // any provider's answer, or every event of a stream
	usage, err := bill.Usage()
	if err != nil {
		return nil, err
	}
	messages = append(messages, memkernel.Assistant("We deploy on Tuesdays."))
	_, err = chat.ObserveTurn(ctx, messages, &api.Turn{PlanID: plan.ID, Usage: usage})
	if err != nil {
		return nil, err
	}
	_, err = chat.End(ctx)
	if err != nil {
		return nil, err
	}
	return k.Usage(ctx, billing.Options{})
}

// TestPageExample runs it on the answers of all providers.
func TestPageExample(t *testing.T) {
	for _, usage := range []string{
		`{"input_tokens":300,"cache_creation_input_tokens":0,"cache_read_input_tokens":700,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":9,"service_tier":"standard"}`,
		`{"prompt_tokens":1000,"completion_tokens":9,"total_tokens":1009,"prompt_tokens_details":{"cached_tokens":700},"completion_tokens_details":{"reasoning_tokens":0}}`,
		`{"input_tokens":1000,"input_tokens_details":{"cached_tokens":700},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":1009}`,
		`{"promptTokenCount":1000,"cachedContentTokenCount":700,"candidatesTokenCount":9,"totalTokenCount":1009}`,
		`{"prompt_tokens":1000,"completion_tokens":9,"prompt_cache_hit_tokens":700,"prompt_cache_miss_tokens":300}`,
	} {
		st, err := embedded(context.Background(), t.TempDir(), []memkernel.Message{memkernel.User("When do we deploy?")}, []byte(`{"content":[],"usage":`+usage+`}`))
		if err != nil || st.Total.Billed != (billing.Tokens{UncachedTokens: 300, CacheReadTokens: 700, InputTokens: 1000}) {
			t.Errorf("%s: %+v, %v", usage, st, err)
		}
	}
	page, err := os.ReadFile("../doc/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	ours, err := os.ReadFile("pages_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```go\n")
	block, _, _ = strings.Cut(block, "```")
	rest := string(ours)
	for _, line := range strings.Split(block, "\n") {
		line = strings.TrimSpace(line)
		_, after, ok := strings.Cut(rest, "\t"+line+"\n")
		if line != "" && !ok {
			t.Errorf("what runs here lacks the page's line, or has it elsewhere: %s", line)
		} else if ok {
			rest = after
		}
	}
	var turn api.Turn
	if err := json.Unmarshal([]byte(`{"SessionKey":"s","Messages":[{"Role":"assistant","Usage":{"prompt_tokens":5,"cost":1}}],"Usage":{"promptTokenCount":9}}`), &turn); err != nil ||
		turn.Usage.InputTokens != 9 || turn.Messages[0].Usage.InputTokens != 5 {
		t.Errorf("a request in JSON: %+v, %v", turn, err)
	}
}
