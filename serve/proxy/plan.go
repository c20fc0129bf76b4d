package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/transcript"
)

// MemkernelGet as [Options.Resolver] lets the model follow pointers with a shell.
const MemkernelGet = "memkernel-get"

// outcome is the decision on a request.
type outcome struct {
	body   []byte           // the body to send
	plan   *api.ContextPlan // nil if there was none
	reason string           // why there was none
	detail string           // for the log; never a word of the body
	same   bool             // sent as it came, although there is a plan
	// extends means that there is no plan, and that the newest plan's messages are sent, followed
	// by the new messages.
	extends bool
}

// header returns the value of X-Memkernel.
func (o *outcome) header() string {
	state := "body=written"
	if o.same {
		state = "body=unchanged"
	}
	switch {
	case o.extends:
		return "extended; reason=" + o.reason + "; " + state
	case o.plan == nil:
		return "passed; reason=" + o.reason
	}
	return "planned; cut=" + cutOf(o.plan) + "; " + state
}

// name returns the word for the body that is sent.
func (o *outcome) name() string {
	word, _, _ := strings.Cut(o.header(), ";")
	return word
}

func cutOf(p *api.ContextPlan) string {
	if p.Layout.Made == nil {
		return "none"
	}
	return string(p.Layout.Made.Reason)
}

// request returns the plan request for the kernel.
func (o *Options) request(e *exchange) api.PlanRequest {
	ln, b := e.line, e.body
	req := api.PlanRequest{SessionKey: ln.session, Branch: ln.branch, Model: b.Model, System: b.System, Tools: b.Tools,
		Messages: b.Messages, ContextWindow: o.ContextWindow, ServerWindow: e.window, Reserve: o.Reserve, Format: b.Format, Private: o.Private,
		ToolChoice: b.Member("tool_choice"), Thinking: b.Member("thinking"), Effort: b.Text("reasoning_effort"),
		Now: e.began, Resolver: o.resolver(ln, b)}
	if n, ok := longestAnswer(b); ok && n > 0 && n < math.MaxInt32 {
		req.MaxTokens = int(n)
	}
	switch b.Format {
	case transcript.FormatAnthropic:
		var t struct { // the client may let the provider drop thinking that no longer fits its prefix
			Binding struct {
				Mismatch string `json:"prefix_mismatch_behavior"`
			} `json:"block_binding"`
		}
		_ = json.Unmarshal([]byte(req.Thinking), &t)
		req.Effort, req.DropOption = b.Member("output_config"), t.Binding.Mismatch == "drop_block"
		req.TTL, req.FixedTTL = lifetimes(b)
	case transcript.FormatResponses:
		req.Thinking = b.Member("reasoning")
	case transcript.FormatGemini:
		req.ToolChoice = b.Member("toolConfig")
	}
	return req
}

// lifetimes returns the cache lifetime that the client requests for its messages, and the lifetime
// of its own markers on tools and system, which stay in every plan. One short lifetime makes the
// lifetime of all markers short. A lifetime is 0 if there are no such markers.
func lifetimes(b *transcript.Body) (messages, fixed time.Duration) {
	m := b.Markers()
	switch {
	case m.Long && !m.Short:
		messages = time.Hour
	case m.Any():
		messages = 5 * time.Minute
	}
	switch {
	case m.Short:
		fixed = 5 * time.Minute
	case m.Fixed > 0:
		fixed = time.Hour
	}
	return messages, fixed
}

// resolver names the way by which the model of this request can follow a pointer, ""
// if it has none.
func (o *Options) resolver(ln *line, b *transcript.Body) string {
	for _, t := range b.Tools {
		switch {
		case o.Resolver == "":
			return ""
		case o.Resolver == MemkernelGet && toolcall.IsShell(t.Name):
			return o.Command + " --session " + quote(ln.session)
		case t.Name == o.Resolver:
			return t.Name
		}
	}
	return ""
}

// quote writes a word so that a shell reads it as one.
func quote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// errBusy means that another request of the conversation is being planned or observed.
var errBusy = errors.New("the conversation is being planned or observed")

// giveUp is how long the proxy waits for a cancelled plan. A plan that is being recorded should
// still be sent. Any other plan ends at once.
const giveUp = time.Second

// plan requests a plan from the kernel and waits until the deadline. Then it cancels the plan.
// The messages that the plan has read are lost, and the observation of the answer reads them
// again while no client waits. The line is held until the kernel has returned. If the cancelled
// plan is recorded after all, it goes to late.
func (x *Proxy) plan(ctx context.Context, ln *line, req api.PlanRequest, ask func(context.Context, api.PlanRequest) (*api.ContextPlan, error), late func(*api.ContextPlan)) (*api.ContextPlan, error) {
	// Each plan that was not ready in time doubles the wait, up to four times. Otherwise a plan that
	// takes longer than one deadline, such as a cut on a busy machine, would never be made.
	deadline := x.opt.Deadline << min(ln.missed.Load(), 2)
	ctx, cancel := context.WithTimeout(ctx, deadline)
	select {
	case ln.slot <- struct{}{}: // a free line is never busy, however late this runs
	default:
		select {
		case ln.slot <- struct{}{}:
		case <-ctx.Done():
			cancel()
			return nil, errBusy
		}
	}
	type answer struct {
		plan *api.ContextPlan
		err  error
	}
	done, gone, free := make(chan answer), make(chan struct{}), make(chan struct{})
	defer close(gone)
	x.work.Go(func() {
		defer func() {
			<-ln.slot
			close(free)
		}()
		defer cancel()
		p, err := ask(ctx, req)
		select {
		case done <- answer{p, err}:
		case <-gone:
			if p != nil {
				late(p)
			}
		}
	})
	var a answer
	select {
	case a = <-done:
	case <-ctx.Done():
		select {
		case a = <-done:
		case <-time.After(min(giveUp, deadline)):
			return nil, ctx.Err()
		}
	}
	<-free // so that the answer's observation comes before the next plan
	return a.plan, a.err
}

// passed returns the outcome of a request that goes out as it came.
func passed(data []byte, reason string, err error) *outcome {
	o := &outcome{body: data, reason: reason}
	if err != nil {
		o.detail = err.Error()
	}
	return o
}

// planned requests a plan and chooses the body to send. The body has the plan's messages, or is
// the result of [Proxy.extend] if there is no plan.
func (x *Proxy) planned(ctx context.Context, e *exchange, over *api.Overflow) *outcome {
	told := e.line.unplanned.Load()
	if over != nil && e.out.extends {
		told = &api.Unplanned{Messages: e.body.Messages, Now: e.began}
	}
	req := x.opt.request(e)
	req.Overflow, req.Unplanned, req.Source = over, told, e.from
	ask, stands := x.planner.PlanContext, func(p *api.ContextPlan) {
		e.line.planned.Store(newPlanned(e.body, p))
		e.line.unplanned.CompareAndSwap(told, nil) // the plan includes it
	}
	if e.count {
		ask, stands = x.planner.Peek, func(*api.ContextPlan) {}
	}
	p, err := x.plan(ctx, e.line, req, ask, func(p *api.ContextPlan) {
		if breaks(e.body, p.Messages) == "" {
			stands(p)
		}
	})
	if errors.Is(err, errBusy) {
		return x.extend(e, passBusy, nil)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		e.line.missed.Add(1)
	} else {
		e.line.missed.Store(0)
	}
	small, _ := errors.AsType[*budget.TooSmallError](err)
	switch {
	case small != nil && small.Always():
		x.account.note(func(so *Status) { so.Unfit = small.Error() })
		return x.extend(e, passUnfit, err)
	case errors.Is(err, context.DeadlineExceeded):
		return x.extend(e, passDeadline, errors.New("no plan in time"))
	case err != nil:
		return x.extend(e, passPlan, err)
	}
	o, err := x.written(e, &transcript.BodyEdit{Messages: p.Messages, Markers: p.Markers}, p.Params.ThinkingOff)
	if err != nil {
		return x.extend(e, passInvalid, err)
	}
	stands(p)
	o.plan = p
	return o
}

// written returns the body with the messages of an edit. If the messages are unchanged, the
// client's own markers stay, too. An error names a rule of the API that the edit breaks.
func (x *Proxy) written(e *exchange, edit *transcript.BodyEdit, thinkingOff bool) (*outcome, error) {
	b := e.body
	if b.Format != transcript.FormatAnthropic {
		edit.Markers = nil
	} else if thinkingOff {
		edit.Thinking = `{"type":"disabled"}`
	}
	own := b.Same(edit.Messages) && edit.Thinking == "" && (len(edit.Markers) == 0 || b.Markers().Any())
	if own {
		return &outcome{body: e.data, same: true}, nil
	}
	if rule := breaks(b, edit.Messages); rule != "" {
		return nil, errors.New(rule)
	}
	body, notes := b.Write(*edit)
	o := &outcome{body: body}
	if len(notes) > 0 {
		o.detail = fmt.Sprintf("%d blocks not sent, the first for rule %s", len(notes), notes[0].Rule)
	}
	return o, nil
}

// breaks names a rule of the API that the planned messages break and the client's own messages do
// not.
func breaks(b *transcript.Body, planned []memkernel.Message) string {
	judge := func(msgs []memkernel.Message) map[string]bool {
		out := map[string]bool{}
		for _, v := range transcript.Validate(b.Format, &transcript.Request{Model: b.Model, System: b.System, Tools: b.Tools, Messages: msgs, Source: b.Source()}) {
			out[v.Code+" "+v.Rule] = true
		}
		return out
	}
	broken := judge(planned)
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
