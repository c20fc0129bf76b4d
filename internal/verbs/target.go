package verbs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/retrieval/foreign"
	"github.com/memkernel/memkernel/transcript"
)

// target is the call that is planned.
type target struct {
	messages []memkernel.Message
	// call is the number of the call within the view, from 1, or 0 for a call that was not made
	// yet.
	call int
	// time is the time of the call, zero if unknown.
	time time.Time
}

// fillRequest makes the plan request from flags and transcript.
func fillRequest(a *cli.App, out *planned, p *planFlags, book *cachelayout.Book) error {
	s := out.session
	var msgs []memkernel.Message
	if s.Dialect != "" { // else there is no transcript
		msgs = s.View(out.View)
	}
	calls := transcript.Calls(msgs)
	t, err := chooseTarget(s, msgs, calls, p)
	if err != nil {
		return err
	}
	req := api.PlanRequest{SessionKey: cmp.Or(p.session, s.ID, api.DefaultSession), Model: cmp.Or(p.model, s.Model),
		ContextWindow: int(p.window), Reserve: int(p.reserve), FixedTokens: int(p.fixed.Tokens), System: s.System, Tools: s.Tools,
		Messages: t.messages, Prompt: p.prompt, Now: p.now, Resolver: p.resolver, Table: p.explain || a.JSON, Private: a.Private(), Overflow: p.overflow, Source: p.source.Of("", nil)}
	if req.Model == "" {
		return cli.Hint(fmt.Errorf("plan: the transcript names no model"), "name it with --model, such as --model claude-sonnet-4-6")
	}
	if req.Now.IsZero() {
		req.Now = t.time
	}
	if p.system != "" {
		if req.System, err = readSystem(a, p.system); err != nil {
			return err
		}
	}
	if p.tools != "" {
		if req.Tools, err = readTools(a, p.tools); err != nil {
			return err
		}
	}
	if req.Memories, err = readMemories(a, p.memories); err != nil {
		return err
	}
	fixed, err := p.fixed.Implied(s, msgs, req.System, req.Tools, book)
	if err != nil {
		return err
	}
	if out.Implied = fixed > 0; out.Implied {
		req.FixedTokens = fixed
	}
	out.HostMessages = len(req.Messages)
	if req.Prompt != "" {
		out.HostMessages++
	}
	out.Dialect, out.Call, out.Calls, out.Now, out.FixedTokens = s.Dialect, t.call, len(calls), req.Now, req.FixedTokens
	out.request = req
	return nil
}

// chooseTarget returns the messages before the planned call.
func chooseTarget(s *transcript.Session, msgs []memkernel.Message, calls []transcript.Call, p *planFlags) (target, error) {
	switch {
	case p.prompt != "":
		return target{messages: msgs, time: lastTime(msgs)}, nil
	case p.at != 0:
		n := p.at
		if n < 0 {
			n += len(calls) + 1
		}
		if n < 1 || n > len(calls) {
			return target{}, cli.Usagef("--at %d: the %s view holds %d model calls", p.at, p.view.Value, len(calls))
		}
		return before(msgs, calls, n)
	case len(calls) == 0 || s.Dialect.Document() && open(msgs):
		if !open(msgs) {
			return target{}, api.ErrNoMessages
		}
		return target{messages: msgs, time: lastTime(msgs)}, nil
	}
	return before(msgs, calls, len(calls))
}

// before returns the messages before call n, without the model's messages directly in front of
// it.
func before(msgs []memkernel.Message, calls []transcript.Call, n int) (target, error) {
	c := calls[n-1]
	end := c.Index
	for end > 0 && msgs[end-1].Role == memkernel.RoleAssistant {
		end--
	}
	if end == 0 {
		return target{}, cli.Hint(fmt.Errorf("plan call %d: nothing comes before it", n), "choose a later call with --at, or plan the next with --prompt")
	}
	return target{messages: msgs[:end:end], call: n, time: c.Start}, nil
}

// open reports whether the model must answer next.
func open(msgs []memkernel.Message) bool {
	return len(msgs) > 0 && msgs[len(msgs)-1].Role != memkernel.RoleAssistant
}

func lastTime(msgs []memkernel.Message) time.Time {
	for _, m := range slices.Backward(msgs) {
		if !m.Time.IsZero() {
			return m.Time
		}
	}
	return time.Time{}
}

// readSystem reads a system prompt: text, or JSON as the Messages API takes it.
func readSystem(a *cli.App, path string) ([]memkernel.Part, error) {
	data, err := a.ReadAll(path)
	if err != nil {
		return nil, fmt.Errorf("read system prompt: %w", err)
	}
	trimmed := bytes.TrimSpace(data)
	var blocks []json.RawMessage
	if len(trimmed) == 0 || trimmed[0] != '[' || json.Unmarshal(trimmed, &blocks) != nil {
		return memkernel.Text(string(data)), nil
	}
	parts, err := document.SystemParts(blocks)
	if err != nil {
		return nil, cli.Hint(fmt.Errorf("read system prompt %s: %w", path, err), `a block is {"type":"text","text":"…"}`)
	}
	return parts, nil
}

// readTools reads tool definitions in any provider's form: a JSON list, or an object with a list
// under "tools".
func readTools(a *cli.App, path string) ([]memkernel.Tool, error) {
	data, err := a.ReadAll(path)
	if err != nil {
		return nil, fmt.Errorf("read tools: %w", err)
	}
	var wrapped struct{ Tools []json.RawMessage }
	var raws []json.RawMessage
	if err := json.Unmarshal(data, &raws); err != nil {
		if json.Unmarshal(data, &wrapped) != nil || wrapped.Tools == nil {
			return nil, cli.Hint(fmt.Errorf("read tools %s: %w", path, err), "the file holds a JSON list of tool definitions")
		}
		raws = wrapped.Tools
	}
	tools, err := document.Tools(raws)
	if err != nil {
		return nil, fmt.Errorf("read tools %s: %w", path, err)
	}
	return tools, nil
}

// readMemories reads answers of other memory systems. It returns an error for a file that is not
// an answer of a known system. Single records that can't be read become faults of the plan.
func readMemories(a *cli.App, paths []string) ([]api.MemoryAnswer, error) {
	var out []api.MemoryAnswer
	for _, path := range paths {
		data, err := a.ReadAll(path)
		if err != nil {
			return nil, fmt.Errorf("read memories: %w", err)
		}
		answer, err := foreign.Parse(data, "")
		if err != nil {
			return nil, cli.Hint(fmt.Errorf("%s: %w", path, err), "give the JSON that qmd search --json, a Mem0 search or a Cognee search prints")
		}
		out = append(out, api.MemoryAnswer{Format: answer.Format, JSON: data})
	}
	return out, nil
}

// renderBody makes the request body of a plan.
func renderBody(out *planned, f transcript.Format) ([]byte, []transcript.Note, error) {
	plan := out.Made
	req := transcript.Request{Model: plan.Model, Tools: plan.Tools, System: plan.System, Messages: plan.Messages,
		Markers: plan.Markers, Source: out.Dialect}
	switch f {
	case transcript.FormatAnthropic:
		// The Messages API requires a limit for the answer.
		req.MaxTokens = plan.Budgets.AnswerTokens()
		if m := out.Model.MaxOutput; m > 0 {
			req.MaxTokens = min(req.MaxTokens, m)
		}
		if plan.Params.ThinkingOff {
			req.Thinking = `{"type":"disabled"}`
		}
	default:
		req.CacheKey = plan.Params.CacheKey
	}
	return transcript.Render(f, &req)
}

// nativeFormat returns the message format of the plan's model.
func nativeFormat(out *planned) transcript.Format {
	provider := out.Model.Provider
	switch {
	case provider == "openai" && out.Dialect == transcript.Codex:
		return transcript.FormatResponses
	case provider == "openai", strings.HasPrefix(provider, "deepseek"):
		return transcript.FormatOpenAI
	}
	return transcript.FormatAnthropic
}
