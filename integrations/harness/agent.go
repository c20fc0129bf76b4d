package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/tools"
	"github.com/memkernel/memkernel/transcript"
)

// maxCalls bounds the model's calls in one turn of the user.
const maxCalls = 100

// agent is the loop.
type agent struct {
	kernel  *kernel.Kernel
	chat    *kernel.Session
	model   *endpoint
	talk    *conversation
	tools   *toolbox
	session string
	// say shows the agent's words.
	say func(string)
}

const system = `You are a careful assistant in the user's workspace. ` +
	`What you know from before is in memory: search it before you answer questions about earlier work. ` +
	`A tool result may be shown shortened, with an id: memory_get brings it back.`

// turn answers one message of the user's.
func (a *agent) turn(ctx context.Context, text string) error {
	if err := a.talk.add(map[string]any{"role": "user", "content": text}); err != nil {
		return err
	}
	for range maxCalls {
		plan, answer, err := a.call(ctx)
		if err != nil {
			return err
		}
		if err := a.talk.add(answer.message); err != nil {
			return err
		}
		open, err := a.act(ctx)
		if err != nil {
			return err
		}
		// Each call's bill is worth keeping. Messages before the turn's end are delivered again
		// with the end. The kernel commits a turn once.
		if err := a.observe(ctx, plan, answer.usage); err != nil || !open {
			return err
		}
	}
	return fmt.Errorf("the model called tools %d times in one turn", maxCalls)
}

// call plans a prompt and sends it. If the provider refuses the prompt as too long, call reports
// the refusal to the kernel and tries a smaller plan, as often as a smaller plan can help.
func (a *agent) call(ctx context.Context) (*api.ContextPlan, *reply, error) {
	req, err := a.request()
	if err != nil {
		return nil, nil, err
	}
	var no *refused
	for {
		plan, err := a.chat.Plan(ctx, a.talk.messages, &req)
		if errors.Is(err, api.ErrNoOverflow) {
			return nil, nil, no
		}
		if err != nil {
			return nil, nil, err
		}
		if plan.FlushDue != "" {
			a.flush(ctx)
		}
		answer, err := a.model.ask(ctx, plan)
		if !errors.As(err, &no) {
			return plan, answer, err
		}
		req.Overflow = &api.Overflow{Text: no.body, PlanID: plan.ID}
	}
}

func (a *agent) request() (api.PlanRequest, error) {
	defs, err := a.tools.definitions(a.model.api)
	if err != nil {
		return api.PlanRequest{}, err
	}
	return api.PlanRequest{
		ContextWindow: a.model.window, Format: a.model.api,
		System: memkernel.Text(system), Tools: defs, Resolver: tools.MemoryGet,
	}, nil
}

// act runs the calls of the newest message, and reports whether the model must be called again.
func (a *agent) act(ctx context.Context) (bool, error) {
	newest := a.talk.messages[len(a.talk.messages)-1]
	if text := transcript.Text(newest); text != "" {
		a.say(text)
	}
	var results []result
	for _, p := range newest.Parts {
		if p.Kind == memkernel.PartToolUse {
			text, failed := a.tools.run(ctx, p.Call.Name, json.RawMessage(p.Call.Input))
			results = append(results, result{p.Call.ID, text, failed})
		}
	}
	for _, m := range a.model.results(results) {
		if err := a.talk.add(m); err != nil {
			return false, err
		}
	}
	return len(results) > 0, nil
}

func (a *agent) observe(ctx context.Context, plan *api.ContextPlan, usage memkernel.Usage) error {
	_, err := a.chat.ObserveTurn(ctx, a.talk.messages, &api.Turn{PlanID: plan.ID, Usage: &usage})
	return err
}

// flush has the model write down the facts that should outlive the next cut. The question is not
// part of the conversation, and the user sees one line. If the model fails, the kernel writes
// down the facts that it can find by itself.
func (a *agent) flush(ctx context.Context) {
	line, err := a.writeDown(ctx)
	if err != nil {
		line = "flush: the model was not heard: " + err.Error()
	}
	if line != "" {
		a.say("[" + line + "]")
	}
}

// writeDown returns the written text, "" if there is none.
func (a *agent) writeDown(ctx context.Context) (string, error) {
	turn, err := a.kernel.FlushTurn(ctx, api.FlushRequest{SessionKey: a.session})
	if err != nil || turn.Prompt == "" {
		return "", err
	}
	answer, err := a.model.complete(ctx, turn)
	if err != nil {
		return "", err
	}
	done, err := a.kernel.ObserveFlush(ctx, api.FlushReply{SessionKey: a.session, Text: a.talk.text(answer.message)})
	if err != nil || done.Items == 0 {
		return "", err
	}
	return done.Line, nil
}

// compact makes room now, rather than when the window is full.
func (a *agent) compact(ctx context.Context) error {
	a.flush(ctx)
	p, err := a.kernel.Compact(ctx, a.boundary("the user asked"))
	if err == nil && p.Compaction != nil {
		a.say(fmt.Sprintf("[%s: %d tokens reclaimed, checkpoint %s]", p.Compaction.Reason, p.Compaction.ReclaimedTokens, p.Checkpoint))
	}
	return err
}

// reset begins a new conversation. Facts worth keeping stay in memory, and the next plan shows
// where the last conversation ended.
func (a *agent) reset(ctx context.Context) error {
	a.flush(ctx)
	if _, err := a.kernel.Reset(ctx, a.boundary("the user began anew")); err != nil {
		return err
	}
	return a.talk.clear(time.Now())
}

func (a *agent) boundary(why string) api.Boundary {
	return api.Boundary{SessionKey: a.session, Model: a.model.model, Messages: a.talk.messages, Reason: why, Now: time.Now()}
}
