package solve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/memkernel/memkernel"
	_ "github.com/memkernel/memkernel/bench/policies" // the policies under which tasks are run
	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/serve/tools"
	"github.com/memkernel/memkernel/summary"
	"github.com/memkernel/memkernel/transcript"
)

// Options are the options of a run of a task.
type Options struct {
	// PriceModel is the model whose prices and cache rules apply to the bill.
	PriceModel string
	// Scratch is a folder for the kernel's state. "" makes a temporary one and removes it
	// afterwards.
	Scratch string
}

// Outcome is the result of a task under a policy.
type Outcome struct {
	*Task
	Policy string `json:"policy"`
	Solved bool   `json:"solved"`
	// Why is the reason of a failure. It is "" if the task was solved.
	Why string `json:"why,omitempty"`
	// Calls counts the model's calls. Expansions counts the calls that followed a pointer.
	Calls      int `json:"calls"`
	Expansions int `json:"expansions"`
	Cuts       int `json:"cuts"`
	Overflows  int `json:"overflows"`
	// CostUSD is the whole bill by the price book, including the answers.
	CostUSD float64 `json:"cost_usd"`
}

const (
	// maxCalls bounds the calls of a turn. An agent that goes in circles has failed.
	maxCalls = 60
	// answerBytes is the number of bytes in a token of output.
	answerBytes = 4
	system      = "You are an agent that does what the user asks with the tools that you have."
	// fixedTokens is a usual size of a host's system prompt and tools.
	fixedTokens = 8_000
)

// Run runs a task under a policy.
func Run(ctx context.Context, t *Task, policy string, o Options) (out Outcome, err error) {
	out = Outcome{Task: t, Policy: policy}
	if o.Scratch == "" {
		if o.Scratch, err = os.MkdirTemp("", "memkernel-solve-"); err != nil {
			return out, fmt.Errorf("solve: %w", err)
		}
		defer os.RemoveAll(o.Scratch)
	}
	live, err := replay.NewLive(ctx, policy, replay.Options{Model: o.PriceModel, ContextWindow: t.Window, FixedTokens: fixedTokens, TTL: 5 * time.Minute,
		Resolver: tools.MemoryGet, Scratch: o.Scratch, Summary: summarise})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, live.Close()) }()
	l := loop{Outcome: &out, opt: o, live: live, world: t.fresh(), now: time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)}
	for _, turn := range t.turns {
		l.now = l.now.Add(turn.gap)
		if turn.restart {
			if err := live.Restart(ctx); err != nil {
				return out, err
			}
		}
		l.add(memkernel.RoleUser, memkernel.Part{Kind: memkernel.PartText, Text: turn.text, Typed: true})
		if err := l.turn(ctx); err != nil {
			var gone *stuck
			if errors.As(err, &gone) {
				out.Why = gone.Error()
				return out, nil
			}
			return out, err
		}
	}
	if wrong := t.solved(l.world, l.said); wrong != nil {
		out.Why = wrong.Error()
	}
	out.Solved = out.Why == ""
	return out, nil
}

// stuck is the error that ends a task which can't continue under its policy.
type stuck struct{ why string }

func (e *stuck) Error() string { return e.why }

// summarise returns the summary for a policy that compacts. It is the same as memkernel's own
// summary, with the user's newest words, which every host keeps.
func summarise(msgs []memkernel.Message, tokens int) string {
	text := summary.RenderNoted(summary.UpdateMasked(summary.State{}, msgs, func(s string) string { return s }), summary.Notes{}, summary.Beside{}, tokens,
		func(s string) int { return len(s) / answerBytes }, func(string, int) string { return "" })
	for i := len(msgs) - 1; i >= 0; i-- {
		if transcript.PlainUser(msgs[i]) {
			return text + "\n" + msgs[i].Parts[0].Text
		}
	}
	return text
}

// loop is the state of a running task.
type loop struct {
	*Outcome
	opt   Options
	live  *replay.Live
	world *world
	msgs  []memkernel.Message
	now   time.Time
	// said is the model's last answer without a call.
	said string
}

func (l *loop) add(role memkernel.Role, parts ...memkernel.Part) {
	l.msgs = append(l.msgs, memkernel.Message{Key: fmt.Sprintf("m%05d", len(l.msgs)+1), Role: role, Parts: parts, Time: l.now})
}

// turn calls the model until it calls no tool.
func (l *loop) turn(ctx context.Context) error {
	for range maxCalls {
		answer, err := l.call(ctx)
		if err != nil {
			return err
		}
		l.now = l.now.Add(6 * time.Second)
		var parts []memkernel.Part
		if answer.Text != "" || len(answer.Calls) == 0 {
			parts = append(parts, memkernel.Part{Kind: memkernel.PartText, Text: answer.Text})
		}
		for _, c := range answer.Calls {
			parts = append(parts, memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: c.ID, Name: c.Name, Input: string(c.Input)}})
		}
		l.add(memkernel.RoleAssistant, parts...)
		if err := l.live.Observe(ctx, l.msgs, nil, l.now); err != nil {
			return err
		}
		if len(answer.Calls) == 0 {
			l.said = answer.Text
			return nil
		}
		l.now = l.now.Add(4 * time.Second)
		parts = nil
		for _, c := range answer.Calls {
			text, failed, err := l.tool(ctx, c)
			if err != nil {
				return err
			}
			parts = append(parts, memkernel.Part{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: c.ID, Text: true, IsError: failed,
				Content: memkernel.Text(text)}})
		}
		l.add(memkernel.RoleUser, parts...)
	}
	return &stuck{fmt.Sprintf("it went on calling tools %d times", maxCalls)}
}

// call sends the policy's request to the model, and returns the answer.
func (l *loop) call(ctx context.Context) (*Answer, error) {
	sent, err := l.live.Plan(ctx, l.msgs, l.now)
	if err != nil {
		return nil, err
	}
	if l.Calls++; sent.Call.Overflow {
		l.Overflows++
	}
	if sent.Call.Cut != "" {
		l.Cuts++
	}
	body, _, err := transcript.Render(transcript.FormatAnthropic, &transcript.Request{Model: l.opt.PriceModel, Tools: l.tools(), Messages: sent.Messages, Markers: sent.Markers,
		System: memkernel.Text(system), MaxTokens: 4096})
	if err != nil {
		return nil, fmt.Errorf("solve: %w", err)
	}
	answer, err := read(body)
	if err != nil {
		return nil, err
	}
	size := len(answer.Text)
	for i := range answer.Calls {
		c := &answer.Calls[i]
		c.ID = fmt.Sprintf("toolu_%05d_%d", l.Calls, i)
		size += len(c.Name) + len(c.Input)
	}
	if usd := sent.CostUSD(size/answerBytes + 1); usd != nil {
		l.CostUSD += *usd
	}
	return answer, nil
}

// tools returns the task's tools. Under the kernel it adds the tool that follows a pointer.
func (l *loop) tools() (out []memkernel.Tool) {
	for _, t := range own {
		out = append(out, memkernel.Tool{Name: t.name, Raw: definition(t.name, t.about, t.schema())})
	}
	if set := l.set(); set != nil {
		for _, d := range set.Definitions(true) {
			if d.Name == tools.MemoryGet {
				out = append(out, memkernel.Tool{Name: d.Name, Raw: definition(d.Name, d.Description, d.Schema)})
			}
		}
	}
	return out
}

func (l *loop) set() *tools.Set {
	k := l.live.Kernel()
	if k == nil {
		return nil
	}
	set, err := tools.New(k, tools.Options{SessionKey: replay.Session, Private: true, ReadOnly: true})
	if err != nil {
		return nil
	}
	return set
}

func (l *loop) tool(ctx context.Context, c Call) (text string, failed bool, err error) {
	if c.Name != tools.MemoryGet {
		text, failed = l.world.call(c.Name, string(c.Input))
		return text, failed, nil
	}
	l.Expansions++
	set := l.set()
	if set == nil {
		return "no such tool: " + c.Name, true, nil
	}
	raw, err := set.Call(ctx, c.Name, c.Input)
	var wrong *tools.ArgumentError
	if errors.As(err, &wrong) {
		return wrong.Error(), true, nil
	}
	return string(raw), false, err
}
