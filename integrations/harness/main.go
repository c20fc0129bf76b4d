package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve/tools"
	"github.com/memkernel/memkernel/transcript"
)

func main() {
	e := &endpoint{key: os.Getenv("MODEL_API_KEY")}
	workspace := flag.String("workspace", ".", "folder of the agent's files and Markdown memory")
	session := flag.String("session", "harness", "name of the session to begin, or to go on with")
	api := flag.String("api", "anthropic", "anthropic or openai")
	flag.StringVar(&e.url, "url", "https://api.anthropic.com/v1/messages", "the model's endpoint")
	flag.StringVar(&e.model, "model", "claude-opus-5-5", "the model's id")
	flag.IntVar(&e.window, "window", 0, "its context window in tokens; 0 takes what is known of the model")
	flag.IntVar(&e.answer, "max-tokens", 4096, "most tokens of an answer")
	known := flag.Bool("memory-tool", false, "give the model Anthropic's own memory tool, too (anthropic only)")
	flag.Parse()
	e.api = transcript.Format(*api)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *workspace, *session, e, *known); err != nil {
		fmt.Fprintln(os.Stderr, "harness: error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, workspace, session string, e *endpoint, known bool) error {
	in := bufio.NewScanner(os.Stdin)
	a, done, err := start(ctx, workspace, session, e)
	if err != nil {
		return err
	}
	defer done()
	a.tools.known = known
	a.tools.allow = func(command string) bool {
		fmt.Printf("run %q? [y/N] ", command)
		return in.Scan() && strings.EqualFold(strings.TrimSpace(in.Text()), "y")
	}
	for fmt.Print("> "); in.Scan(); fmt.Print("> ") {
		if err := a.command(ctx, strings.TrimSpace(in.Text())); err != nil {
			fmt.Fprintln(os.Stderr, "harness: error:", err)
		}
	}
	return in.Err()
}

// command is one line of the user's.
func (a *agent) command(ctx context.Context, text string) error {
	switch text {
	case "":
		return nil
	case "/compact":
		return a.compact(ctx)
	case "/reset":
		return a.reset(ctx)
	}
	return a.turn(ctx, text)
}

// start opens the parts of an agent. The caller must call done to close them.
func start(ctx context.Context, workspace, session string, e *endpoint) (*agent, func(), error) {
	dialect, err := transcript.ParseDialect(string(e.api))
	if err != nil {
		return nil, nil, err
	}
	k, err := kernel.Open(ctx, workspace, nil)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, nil, err
	}
	done := func() { root.Close(); k.Close() }
	memory, err := tools.New(k, tools.Options{SessionKey: session, Private: true})
	if err != nil {
		done()
		return nil, nil, err
	}
	talk, err := open(filepath.Join(workspace, ".harness", filepath.Base(session)+".jsonl"), dialect)
	if err != nil {
		done()
		return nil, nil, err
	}
	a := &agent{kernel: k, chat: k.Session(session, kernel.SessionOptions{Model: e.model, Private: true}), model: e, talk: talk, session: session, tools: &toolbox{root: root, memory: memory},
		say: func(s string) { fmt.Println(s) }}
	return a, done, nil
}
