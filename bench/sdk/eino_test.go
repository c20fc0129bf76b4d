package sdk_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	einomodel "github.com/cloudwego/eino/components/model"
	einotool "github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// planning is a middleware for one run of an eino agent. The agent keeps what a middleware
// leaves in its state, so that planning keeps the whole conversation and plans that.
type planning struct {
	kernel  *kernel.Kernel
	request api.PlanRequest
	shown   int // messages that the last plan left in the state
}

func (p *planning) middleware() adk.AgentMiddleware {
	return adk.AgentMiddleware{BeforeChatModel: func(ctx context.Context, s *adk.ChatModelAgentState) error {
		for _, m := range s.Messages[p.shown:] {
			p.request.Messages = append(p.request.Messages, toKernel(m))
		}
		plan, err := p.kernel.PlanContext(ctx, p.request)
		if err != nil {
			return err
		}
		s.Messages = nil
		for _, m := range plan.Messages {
			s.Messages = append(s.Messages, fromKernel(m)...)
		}
		p.shown = len(s.Messages)
		return nil
	}}
}

func toKernel(m *schema.Message) memkernel.Message {
	text := []memkernel.Part{{Kind: memkernel.PartText, Text: m.Content}}
	out := memkernel.Message{Role: memkernel.Role(m.Role)}
	if m.Role == schema.Tool {
		out.Parts = []memkernel.Part{{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: m.ToolCallID, Name: m.ToolName, Content: text, Text: true}}}
		return out
	}
	if m.Content != "" {
		out.Parts = text
	}
	for _, c := range m.ToolCalls {
		out.Parts = append(out.Parts, memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: c.ID, Name: c.Function.Name, Input: c.Function.Arguments}})
	}
	return out
}

func fromKernel(m memkernel.Message) (out []*schema.Message) {
	said := &schema.Message{Role: schema.RoleType(m.Role)}
	for _, p := range m.Parts {
		switch {
		case p.Result != nil:
			text := transcript.Text(memkernel.Message{Parts: p.Result.Content})
			out = append(out, schema.ToolMessage(text, p.Result.CallID, schema.WithToolName(p.Result.Name)))
		case p.Kind == memkernel.PartText:
			said.Content += p.Text
		case p.Call != nil:
			said.ToolCalls = append(said.ToolCalls, schema.ToolCall{ID: p.Call.ID, Type: "function", Function: schema.FunctionCall{Name: p.Call.Name, Arguments: p.Call.Input}})
		}
	}
	if said.Content != "" || len(said.ToolCalls) > 0 {
		out = append(out, said)
	}
	return out
}

// clerk is a model that reads the ledgers of many days and then answers.
type clerk struct {
	days int
	got  [][]*schema.Message
}

func (c *clerk) WithTools([]*schema.ToolInfo) (einomodel.ToolCallingChatModel, error) { return c, nil }

func (c *clerk) Generate(_ context.Context, in []*schema.Message, _ ...einomodel.Option) (*schema.Message, error) {
	c.got = append(c.got, in)
	if len(c.got) > c.days {
		return schema.AssistantMessage("the ledgers are in order", nil), nil
	}
	return schema.AssistantMessage("", []schema.ToolCall{{ID: fmt.Sprintf("call_%d", len(c.got)), Type: "function",
		Function: schema.FunctionCall{Name: dayTool, Arguments: fmt.Sprintf(`{"day":%d}`, len(c.got)+1)}}}), nil
}

func (c *clerk) Stream(ctx context.Context, in []*schema.Message, _ ...einomodel.Option) (*schema.StreamReader[*schema.Message], error) {
	m, err := c.Generate(ctx, in)
	return schema.StreamReaderFromArray([]*schema.Message{m}), err
}

const dayTool = "read_day"

// TestEino runs an eino agent whose every model call is planned by a middleware.
func TestEino(t *testing.T) {
	ctx := t.Context()
	k, err := kernel.Open(ctx, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	plan := &planning{kernel: k, request: api.PlanRequest{SessionKey: "harbour", Model: "gpt-5", ContextWindow: window, Private: true}}
	type input struct {
		Day int `json:"day"`
	}
	read, err := utils.InferTool(dayTool, "a day's ledger", func(_ context.Context, in *input) (string, error) { return ledger(in.Day), nil })
	if err != nil {
		t.Fatal(err)
	}
	chat := &clerk{days: 12}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{Name: "clerk", Description: "reads ledgers", Instruction: system, Model: chat,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []einotool.BaseTool{read}}},
		Middlewares: []adk.AgentMiddleware{plan.middleware()}})
	if err != nil {
		t.Fatal(err)
	}
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "are the ledgers of two weeks in order?")
	answer := ""
	for e, ok := events.Next(); ok; e, ok = events.Next() {
		if e.Err != nil {
			t.Fatal(e.Err)
		}
		if m := e.Output.MessageOutput; m != nil && m.Message != nil {
			answer = m.Message.Content
		}
	}
	if answer != "the ledgers are in order" || len(chat.got) != 13 {
		t.Fatalf("%q after %d calls", answer, len(chat.got))
	}
	size, asked, open := 0, false, map[string]bool{}
	for _, m := range chat.got[12] {
		size += len(m.Content)
		asked = asked || strings.Contains(m.Content, "ledgers of two weeks")
		for _, c := range m.ToolCalls {
			open[c.ID] = true
		}
		if m.Role == schema.Tool && !open[m.ToolCallID] {
			t.Errorf("a result of %s without its call", m.ToolCallID)
		}
	}
	if !asked || size > 12*9_000*2/3 {
		t.Errorf("the last prompt has %d bytes, with the question: %v", size, asked)
	}
	t.Logf("the last prompt has %d bytes of %d", size, 12*9_000)
}
