package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/transcript"
)

// MemkernelGet as [Options.Resolver] lets the model follow pointers with a shell.
const MemkernelGet = "memkernel-get"

// shells are the names that harnesses give to a tool that runs commands.
var shells = map[string]bool{"bash": true, "shell": true, "exec": true, "exec_command": true, "run_command": true, "terminal": true,
	"run_shell_command": true, "execute_command": true, "run_terminal_cmd": true, "local_shell": true, "shell_command": true}

// outcome is what became of a request.
type outcome struct {
	body   []byte              // what goes out
	plan   *kernel.ContextPlan // nil if it passed
	reason string              // why it passed
	detail string              // for the log; never a word of the body
	same   bool                // planned, and sent as it came
}

// header is the value of X-Memkernel.
func (o *outcome) header() string {
	if o.plan == nil {
		return "passed; reason=" + o.reason
	}
	state := "body=written"
	if o.same {
		state = "body=unchanged"
	}
	return "planned; cut=" + cutOf(o.plan) + "; " + state
}

func cutOf(p *kernel.ContextPlan) string {
	if p.Layout.Made == nil {
		return "none"
	}
	return string(p.Layout.Made.Reason)
}

// request is what the kernel is asked.
func (x *Proxy) request(ln *line, b *transcript.Body) kernel.PlanRequest {
	req := kernel.PlanRequest{SessionKey: ln.session, Branch: ln.branch, Model: b.Model, System: b.System, Tools: b.Tools,
		Messages: b.Messages, ContextWindow: x.opt.ContextWindow, Reserve: x.opt.Reserve, Format: b.Format, Private: x.opt.Private,
		ToolChoice: b.Member("tool_choice"), Thinking: b.Member("thinking"), Effort: b.Text("reasoning_effort"),
		Now: x.opt.Now(), TTL: x.lifetime(b), Resolver: x.resolver(ln, b)}
	if b.Format == transcript.FormatAnthropic {
		req.Effort, req.DropOption = b.Member("output_config"), dropsBlocks(req.Thinking)
	}
	if b.Format == transcript.FormatResponses {
		req.Thinking = b.Member("reasoning")
	}
	return req
}

// lifetime is the one that the client asks for its messages, 0 for none.
func (x *Proxy) lifetime(b *transcript.Body) time.Duration {
	if b.Format != transcript.FormatAnthropic {
		return 0
	}
	switch m := b.Markers(); {
	case m.Long && !m.Short:
		return time.Hour
	case m.Any():
		return 5 * time.Minute
	}
	return 0
}

// dropsBlocks tells whether the client lets the provider drop thinking that no longer
// fits its prefix.
func dropsBlocks(thinking string) bool {
	var t struct {
		Binding struct {
			Mismatch string `json:"prefix_mismatch_behavior"`
		} `json:"block_binding"`
	}
	return json.Unmarshal([]byte(thinking), &t) == nil && t.Binding.Mismatch == "drop_block"
}

// resolver names the way by which the model of this request can follow a pointer, ""
// if it has none.
func (x *Proxy) resolver(ln *line, b *transcript.Body) string {
	for _, t := range b.Tools {
		switch {
		case x.opt.Resolver == "":
			return ""
		case x.opt.Resolver == MemkernelGet && shells[strings.ToLower(t.Name)]:
			return x.opt.Command + " --session " + Quote(ln.session)
		case t.Name == x.opt.Resolver:
			return t.Name
		}
	}
	return ""
}

// Quote writes a word so that a shell reads it as one.
func Quote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// errBusy: the conversation's line is at work on another request.
var errBusy = errors.New("the conversation is being planned or observed")

// plan asks the kernel and waits for as long as the deadline allows. A plan that
// comes too late is finished all the same, so that the next request finds its work
// done; it holds the line until then.
func (x *Proxy) plan(ctx context.Context, ln *line, req kernel.PlanRequest, ask func(context.Context, kernel.PlanRequest) (*kernel.ContextPlan, error)) (*kernel.ContextPlan, error) {
	timer := time.NewTimer(x.opt.Deadline)
	defer timer.Stop()
	select {
	case ln.slot <- struct{}{}: // a free line is never busy, however late this runs
	default:
		select {
		case ln.slot <- struct{}{}:
		case <-timer.C:
			return nil, errBusy
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	type answer struct {
		plan *kernel.ContextPlan
		err  error
	}
	done := make(chan answer, 1)
	x.work.Go(func() {
		defer func() { <-ln.slot }()
		p, err := ask(context.WithoutCancel(ctx), req)
		done <- answer{p, err}
	})
	select {
	case a := <-done:
		return a.plan, a.err
	case <-timer.C:
		return nil, context.DeadlineExceeded
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// passed is the outcome of a request that goes out as it came.
func passed(data []byte, reason string, err error) *outcome {
	o := &outcome{body: data, reason: reason}
	if err != nil {
		o.detail = err.Error()
	}
	return o
}

// planned asks for a plan and writes the body that it says.
func (x *Proxy) planned(ctx context.Context, ln *line, from kernel.Source, b *transcript.Body, data []byte, count bool, over *kernel.Overflow) *outcome {
	req := x.request(ln, b)
	req.Overflow, req.Source = over, from
	ask := x.planner.PlanContext
	if count {
		ask = x.planner.Peek
	}
	p, err := x.plan(ctx, ln, req, ask)
	switch {
	case errors.Is(err, errBusy):
		return passed(data, passBusy, nil)
	case errors.Is(err, context.DeadlineExceeded):
		return passed(data, passDeadline, fmt.Errorf("no plan within %s", x.opt.Deadline))
	case err != nil:
		return passed(data, passPlan, err)
	}
	return x.written(b, data, p)
}

// written is the body that a plan says. Where the messages stay as they are, so do
// the client's own markers.
func (x *Proxy) written(b *transcript.Body, data []byte, p *kernel.ContextPlan) *outcome {
	edit := transcript.BodyEdit{Messages: p.Messages}
	if b.Format == transcript.FormatAnthropic {
		edit.Markers = p.Markers
		if p.Params.ThinkingOff {
			edit.Thinking = `{"type":"disabled"}`
		}
	}
	if b.Same(p.Messages) && edit.Thinking == "" && (len(edit.Markers) == 0 || b.Markers().Any()) {
		return &outcome{body: data, plan: p, same: true}
	}
	if rule := breaks(b, p); rule != "" {
		return passed(data, passInvalid, errors.New(rule))
	}
	body, notes := b.Write(edit)
	o := &outcome{body: body, plan: p}
	if len(notes) > 0 {
		o.detail = fmt.Sprintf("%d blocks not sent, the first for rule %s", len(notes), notes[0].Rule)
	}
	return o
}

// breaks names a rule of the API that a plan breaks and the client did not.
func breaks(b *transcript.Body, p *kernel.ContextPlan) string {
	judge := func(msgs []memkernel.Message) map[string]bool {
		out := map[string]bool{}
		provider := transcript.Provider(b.Format)
		for _, v := range transcript.Validate(provider, &transcript.Request{Model: b.Model, System: b.System, Tools: b.Tools, Messages: msgs, Source: b.Source()}, nil) {
			out[v.Code+" "+v.Rule] = true
		}
		return out
	}
	broken := judge(p.Messages)
	if len(broken) == 0 {
		return ""
	}
	before := judge(b.Messages)
	for rule := range broken {
		if !before[rule] {
			return rule
		}
	}
	return ""
}
