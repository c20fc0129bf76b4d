package kernel_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// A harness plans before every model call, sends what the plan says, and observes
// the turn when it has ended.
func Example() {
	ctx := context.Background()
	workspace, err := os.MkdirTemp("", "workspace-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(workspace)
	k, err := kernel.Open(ctx, workspace, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer k.Close()

	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	messages := []memkernel.Message{{
		Key: "m1", Role: memkernel.RoleUser, Time: now,
		Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "Which port does the server listen on?", Typed: true}},
	}}
	plan, err := k.PlanContext(ctx, api.PlanRequest{
		SessionKey: "demo", Model: "claude-opus-4-5", Messages: messages, Now: now,
	})
	if err != nil {
		log.Fatal(err)
	}
	body, _, err := transcript.Render(plan.Format, &transcript.Request{
		Model: plan.Model, Messages: plan.Messages, Markers: plan.Markers, MaxTokens: 1024,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(body))

	// The model has answered: give the whole conversation back, with the bill.
	messages = append(messages, memkernel.Message{
		Key: "m2", Role: memkernel.RoleAssistant, Time: now.Add(3 * time.Second),
		Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "On 8080."}},
	})
	observed, err := k.ObserveTurn(ctx, api.Turn{
		SessionKey: "demo", Model: "claude-opus-4-5", Messages: messages, PlanID: plan.ID,
		Usage: &memkernel.Usage{InputTokens: 17, OutputTokens: 6}, Now: now.Add(4 * time.Second),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(observed.Outcome)
	// Output:
	// {"model":"claude-opus-4-5","max_tokens":1024,"messages":[{"role":"user","content":[{"type":"text","text":"Which port does the server listen on?"}]}]}
	// committed
}
