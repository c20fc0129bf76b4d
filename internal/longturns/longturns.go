// Package longturns makes the turns of long sessions for benchmarks, and drives a kernel in this
// process with them. This is the baseline for a kernel that is called over a socket. The package
// is for benchmarks only, and asserts nothing.
package longturns

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// Model is the model that the sessions speak to.
const Model = "claude-opus-4-5-20251101"

type object map[string]any

// local is a session whose kernel is in this process.
type local struct {
	k  *kernel.Kernel
	in *transcript.Intake
}

// New returns the session "s" of a kernel, with the messages of its conversation so far.
func New(k *kernel.Kernel, in *transcript.Intake) *local { return &local{k: k, in: in} }

// Step plans a call for the question and observes the answer.
func (l *local) Step(question, answer []json.RawMessage) (api.Outcome, error) {
	ctx := context.Background()
	if err := l.Take(question); err != nil {
		return "", err
	}
	p, err := l.k.PlanContext(ctx, api.PlanRequest{SessionKey: "s", Model: Model, Private: true, Messages: l.in.Messages()})
	if err != nil {
		return "", err
	}
	if err := l.Take(answer); err != nil {
		return "", err
	}
	o, err := l.k.ObserveTurn(ctx, api.Turn{SessionKey: "s", Model: Model, Private: true, Messages: l.in.Messages(), PlanID: p.ID})
	if err != nil {
		return "", err
	}
	return o.Outcome, nil
}

// Take adds messages of the Anthropic dialect to the conversation.
func (l *local) Take(more []json.RawMessage) error {
	values := make([]string, len(more))
	for i, m := range more {
		values[i] = string(m)
	}
	return l.in.Append(values, nil)
}

// words makes a text of about the given number of tokens.
func words(rnd *rand.Rand, tokens int) string {
	var b strings.Builder
	for range tokens * 2 / 5 {
		fmt.Fprintf(&b, "%s%d ", []string{"deploy", "cache", "index", "worker", "queue", "socket", "ledger", "schema"}[rnd.Intn(8)], rnd.Intn(50))
	}
	return b.String()
}

// Turn returns a user turn with a tool call whose result has about the given number of tokens.
func Turn(rnd *rand.Rand, n, tokens int) (question, answer []json.RawMessage) {
	raw := func(v any) json.RawMessage {
		data, _ := json.Marshal(v) // made of strings
		return data
	}
	id := fmt.Sprintf("toolu_%d", n)
	question = []json.RawMessage{raw(object{"role": "user", "content": fmt.Sprintf("question %d: %s", n, words(rnd, 20))})}
	answer = []json.RawMessage{
		raw(object{"role": "assistant", "content": []object{{"type": "tool_use", "id": id, "name": "read", "input": object{"path": fmt.Sprint("file", n)}}}}),
		raw(object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": id, "content": words(rnd, tokens)}}}),
		raw(object{"role": "assistant", "content": []object{{"type": "text", "text": "answer " + words(rnd, 50)}}}),
	}
	return question, answer
}
