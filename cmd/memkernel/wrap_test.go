package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/serve/meter"
	"github.com/memkernel/memkernel/serve/proxy"
)

// client is an agent for scripts that knows nothing of memkernel: it asks the API that its
// environment names, client TURNS BYTES, with a tool result of that size in each turn, and
// ends with the code of CLIENT_EXIT.
func client() {
	turns, _ := strconv.Atoi(os.Args[1])
	size, _ := strconv.Atoi(os.Args[2])
	var messages []any
	user := func(content any) { messages = append(messages, map[string]any{"role": "user", "content": content}) }
	for n := range turns {
		user(fmt.Sprintf("Read file %d of the harbour, and say what it has.", n))
		for {
			body, _ := json.Marshal(map[string]any{"model": "claude-sonnet-4-6", "max_tokens": 500, "system": "You are a tester.", "messages": messages,
				"metadata": map[string]string{"user_id": "user_x_account_y_session_0b54a4fe-0000-4000-8000-000000000001"},
				"tools":    []any{map[string]any{"name": "Read", "description": "reads", "input_schema": map[string]string{"type": "object"}}}})
			res, err := http.Post(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", "application/json", bytes.NewReader(body))
			if err != nil {
				fmt.Fprintln(os.Stderr, "client:", err)
				os.Exit(1)
			}
			text, _ := io.ReadAll(res.Body)
			res.Body.Close()
			var answer struct {
				Content []struct{ Type, ID string }
			}
			if res.StatusCode != http.StatusOK || json.Unmarshal(text, &answer) != nil {
				fmt.Fprintln(os.Stderr, "client:", res.Status, string(text))
				os.Exit(1)
			}
			messages = append(messages, map[string]any{"role": "assistant", "content": json.RawMessage(contentOf(text))})
			open := ""
			for _, b := range answer.Content {
				if b.Type == "tool_use" {
					open = b.ID
				}
			}
			if open == "" {
				break
			}
			var b strings.Builder
			for i := 0; b.Len() < size; i++ {
				fmt.Fprintf(&b, "line %d of file %d: berth %x is taken until %d\n", i, n, (i+3)*(n+7)*7919, i%24)
			}
			user([]any{map[string]any{"type": "tool_result", "tool_use_id": open, "content": b.String()}})
		}
	}
	fmt.Println("client: done", os.Getenv("OPENAI_BASE_URL") != "")
	code, _ := strconv.Atoi(os.Getenv("CLIENT_EXIT"))
	os.Exit(code)
}

func contentOf(answer []byte) []byte {
	var a struct{ Content json.RawMessage }
	json.Unmarshal(answer, &a)
	return a.Content
}

// models are the fake models of scripts, which run side by side, by their folders.
type models struct{ sync.Map }

// fakeModel starts a model that calls a tool once in each turn: fakemodel VARIABLE.
func (m *models) fakeModel(ts *testscript.TestScript, neg bool, args []string) {
	server := fakemodel.New(fakemodel.Options{Window: 60_000, Script: func(t fakemodel.Turn) fakemodel.Reply {
		if len(t.Results) > 0 {
			return fakemodel.Reply{Text: "It has berths."}
		}
		return fakemodel.Reply{Calls: []fakemodel.Call{{Name: "Read", Input: json.RawMessage(`{"path":"harbour.txt"}`)}}}
	}})
	h := httptest.NewServer(server)
	ts.Defer(h.Close)
	ts.Setenv(args[0], h.URL)
	m.Store(ts.Getenv("WORK"), server)
}

var saidBilled = regexp.MustCompile(`memkernel: (\d+) calls, billed \$([0-9.]+)`)

// billed holds what the last command said of its bill to what the fake model billed.
func (m *models) billed(ts *testscript.TestScript, neg bool, args []string) {
	said := saidBilled.FindStringSubmatch(ts.ReadFile("stderr"))
	if said == nil {
		ts.Fatalf("no bill is told of")
	}
	model, _ := cachelayout.DefaultBook().Lookup("claude-sonnet-4-6", time.Now())
	calls, usd := 0, 0.0
	server, _ := m.Load(ts.Getenv("WORK"))
	for _, r := range server.(*fakemodel.Server).Requests() {
		if r.Refused {
			continue
		}
		calls++
		u := r.Usage
		usd += *model.Cost(u.Read, u.Written, 0, u.Uncached, u.Output)
	}
	got, err := strconv.ParseFloat(said[2], 64)
	ts.Check(err)
	if said[1] != strconv.Itoa(calls) || math.Abs(got-usd) > 0.05*usd {
		ts.Fatalf("it says %s, the model billed %d calls and $%.4f", said[0], calls, usd)
	}
}

// gained is a workspace with a run of the proxy.
func gained(t *testing.T) string {
	t.Helper()
	ws := t.TempDir()
	m := meter.New(cachelayout.DefaultBook(), 0, store.Files(filepath.Join(ws, ".memkernel")), "client", time.Now())
	m.Take(proxy.Billed{Model: "claude-sonnet-4-6", Usage: memkernel.Usage{InputTokens: 1000}, Began: time.Now()})
	if _, err := m.Sum(); err != nil {
		t.Fatal(err)
	}
	return ws
}
