package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// workspace opens a kernel in a new folder.
func workspace() (k *kernel.Kernel, remove func()) {
	dir, err := os.MkdirTemp("", "workspace-")
	if err != nil {
		log.Fatal(err)
	}
	now := func() time.Time { return time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC) }
	if k, err = kernel.Open(context.Background(), dir, &kernel.Options{Now: now}); err != nil {
		log.Fatal(err)
	}
	return k, func() {
		k.Close()
		os.RemoveAll(dir)
	}
}

// A program plans before every model call, sends what the plan says, and observes the turn when
// it has ended. The model calls a tool before it answers.
func Example() {
	ctx := context.Background()
	k, remove := workspace()
	defer remove()
	chat := k.Session("chat-7", kernel.SessionOptions{Model: "claude-opus-4-5", Private: true})
	messages := []memkernel.Message{memkernel.User("Which port does the server listen on?")}
	answers := []memkernel.Message{ // of a model that plays along
		memkernel.Assistant("", memkernel.ToolCall{ID: "call-1", Name: "read_file", Input: `{"path":"server.conf"}`}),
		memkernel.Assistant("On 8080."),
	}
	for _, answer := range answers {
		plan, err := chat.Plan(ctx, messages, &api.PlanRequest{System: memkernel.Text("Be brief.")})
		if err != nil {
			log.Fatal(err)
		}
		body, _, err := transcript.Render(plan.Format, &transcript.Request{
			Model: plan.Model, System: plan.System, Messages: plan.Messages, Markers: plan.Markers, MaxTokens: 1024,
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(body))
		messages = append(messages, answer)
		if call := answer.Parts[0].Call; call != nil {
			messages = append(messages, memkernel.Result(call.ID, "listen = 8080"))
			continue
		}
		observed, err := chat.ObserveTurn(ctx, messages, &api.Turn{PlanID: plan.ID, Usage: &memkernel.Usage{InputTokens: 17, OutputTokens: 6}})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(observed.Outcome)
	}
	// Output:
	// {"model":"claude-opus-4-5","max_tokens":1024,"system":[{"type":"text","text":"Be brief."}],"messages":[{"role":"user","content":[{"type":"text","text":"Which port does the server listen on?"}]}]}
	// {"model":"claude-opus-4-5","max_tokens":1024,"system":[{"type":"text","text":"Be brief."}],"messages":[{"role":"user","content":[{"type":"text","text":"Which port does the server listen on?"}]},{"role":"assistant","content":[{"type":"tool_use","id":"call-1","name":"read_file","input":{"path":"server.conf"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call-1","content":"listen = 8080"}]}]}
	// committed
}

// A rule that a person typed is in the first plan of the next session.
func ExampleSession() {
	ctx := context.Background()
	k, remove := workspace()
	defer remove()
	settings := kernel.SessionOptions{Model: "claude-opus-4-5", Private: true}
	first := k.Session("chat-7", settings)
	messages := []memkernel.Message{memkernel.User("Never push to main."), memkernel.Assistant("Understood.")}
	if _, err := first.ObserveTurn(ctx, messages, nil); err != nil {
		log.Fatal(err)
	}
	if _, err := first.End(ctx); err != nil {
		log.Fatal(err)
	}

	plan, err := k.Session("chat-8", settings).Plan(ctx, []memkernel.Message{memkernel.User("Mend the title of the handbook.")}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range plan.Messages {
		for _, p := range m.Parts {
			for line := range strings.Lines(p.Text) {
				if strings.Contains(line, "main") {
					fmt.Print(line)
				}
			}
		}
	}
	// Output:
	// - [human] Never push to main.
}

func ExampleOpen() {
	_, err := kernel.Open(context.Background(), "no/such/folder", nil)
	fmt.Println(errors.Is(err, fs.ErrNotExist))

	_, err = kernel.Open(context.Background(), ".", &kernel.Options{KeepSessions: -1})
	var number *api.NumberError
	fmt.Println(errors.As(err, &number), number.Name)
	// Output:
	// true
	// true KeepSessions
}

func ExampleKernel_PlanContext() {
	ctx := context.Background()
	k, remove := workspace()
	defer remove()
	chat := k.Session("chat-7", kernel.SessionOptions{Model: "claude-opus-4-5", Private: true})
	question := memkernel.User("When do we deploy?")

	_, err := chat.Plan(ctx, nil, nil)
	fmt.Println(errors.Is(err, api.ErrNoMessages))
	_, err = chat.Plan(ctx, []memkernel.Message{question, memkernel.Assistant("On Tuesdays.")}, nil)
	fmt.Println(errors.Is(err, api.ErrAnswered))

	var small *budget.TooSmallError
	_, err = chat.Plan(ctx, []memkernel.Message{question}, &api.PlanRequest{ContextWindow: 8000, FixedTokens: 9000})
	fmt.Println(errors.As(err, &small), small.Window)

	_, err = chat.Plan(ctx, []memkernel.Message{question}, nil)
	fmt.Println(err)
	_, err = k.Session("chat-7", kernel.SessionOptions{Model: "claude-opus-4-5"}).Plan(ctx, []memkernel.Message{question}, nil)
	fmt.Println(errors.Is(err, api.ErrPrivate))
	// Output:
	// true
	// true
	// true 8000
	// <nil>
	// true
}

// A session whose journal is damaged can be planned again after Salvage.
func ExampleKernel_Salvage() {
	ctx := context.Background()
	k, remove := workspace()
	defer remove()
	chat := k.Session("chat-7", kernel.SessionOptions{Model: "claude-opus-4-5"})
	messages := []memkernel.Message{memkernel.User("When do we deploy?"), memkernel.Assistant("On Tuesdays.")}
	if _, err := chat.ObserveTurn(ctx, messages, nil); err != nil {
		log.Fatal(err)
	}
	k.Release("chat-7")
	journal := filepath.Join(k.StateDir(), "sessions", "chat-7", "journal.jsonl")
	data, err := os.ReadFile(journal)
	if err != nil {
		log.Fatal(err)
	}
	data[len(data)/2] ^= 1 // a bit that a disk lost
	if err := os.WriteFile(journal, data, 0o600); err != nil {
		log.Fatal(err)
	}

	messages = append(messages, memkernel.User("And who does it?"))
	_, err = chat.Plan(ctx, messages, nil)
	fmt.Println(errors.Is(err, api.ErrDamaged))
	if _, err := k.Salvage(ctx, api.SalvageRequest{SessionKey: "chat-7", Apply: true}); err != nil {
		log.Fatal(err)
	}
	_, err = chat.Plan(ctx, messages, nil)
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}

func ExampleKernel_ObserveTurn() {
	ctx := context.Background()
	k, remove := workspace()
	defer remove()
	chat := k.Session("chat-7", kernel.SessionOptions{Model: "claude-opus-4-5", Private: true})
	_, err := chat.ObserveTurn(ctx, nil, nil)
	fmt.Println(errors.Is(err, api.ErrNoMessages))

	messages := []memkernel.Message{memkernel.User("When do we deploy?"), memkernel.Assistant("On Tuesdays.")}
	for range 2 { // a turn that is delivered again is no error
		observed, err := chat.ObserveTurn(ctx, messages, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(observed.Outcome)
	}
	k.Close()
	_, err = chat.ObserveTurn(ctx, messages, nil)
	fmt.Println(errors.Is(err, api.ErrClosed))
	// Output:
	// true
	// committed
	// duplicate
	// true
}

func ExampleKernel_Search() {
	ctx := context.Background()
	k, remove := workspace()
	defer remove()
	found, err := k.Search(ctx, api.SearchRequest{Query: "when do we deploy"})
	fmt.Println(len(found.Hits), found.Reason, err) // an empty memory is no error

	_, err = k.Search(ctx, api.SearchRequest{Query: strings.Repeat("long ", api.MaxQuestion)})
	fmt.Println(errors.Is(err, api.ErrQuestion))
	k.Close()
	_, err = k.Search(ctx, api.SearchRequest{Query: "when do we deploy", SessionKey: "chat-7"})
	fmt.Println(errors.Is(err, api.ErrClosed))
	// Output:
	// 0 NO_MATCH <nil>
	// true
	// true
}
