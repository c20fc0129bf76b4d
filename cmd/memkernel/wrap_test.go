package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/fakemodel"
)

// client is an agent for scripts that knows nothing of memkernel: it asks the API that its
// environment names, client TURNS BYTES, with a tool result of that size in each turn, and
// ends with the code of CLIENT_EXIT. With CLIENT_API=gemini it speaks Gemini's, and
// else it asks for CLIENT_MODEL.
func client() {
	if os.Args[1] == "codex" {
		codex()
		return
	}
	turns, _ := strconv.Atoi(os.Args[1])
	size, _ := strconv.Atoi(os.Args[2])
	ask := askAnthropic()
	if os.Getenv("CLIENT_API") == "gemini" {
		ask = askGemini()
	}
	for n := range turns {
		calls := ask(fmt.Sprintf("Read file %d of the harbour, and say what it has.", n), false)
		for calls {
			var b strings.Builder
			for i := 0; b.Len() < size; i++ {
				fmt.Fprintf(&b, "line %d of file %d: berth %x is taken until %d\n", i, n, (i+3)*(n+7)*7919, i%24)
			}
			calls = ask(b.String(), true)
		}
	}
	fmt.Println("client: done", os.Getenv("OPENAI_BASE_URL") != "")
	code, _ := strconv.Atoi(os.Getenv("CLIENT_EXIT"))
	os.Exit(code)
}

// askAnthropic makes a function that says a text, or gives it as the result of the last
// call, and reports whether the model called again.
func askAnthropic() func(text string, result bool) bool {
	var messages []any
	open := ""
	return func(text string, result bool) bool {
		var content any = text
		if result {
			content = []any{map[string]any{"type": "tool_result", "tool_use_id": open, "content": text}}
		}
		messages = append(messages, map[string]any{"role": "user", "content": content})
		var answer struct{ Content json.RawMessage }
		post(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", map[string]any{"model": cmp.Or(os.Getenv("CLIENT_MODEL"), "claude-sonnet-4-6"), "max_tokens": 500, "system": "You are a tester.", "messages": messages,
			"metadata": map[string]string{"user_id": "user_x_account_y_session_0b54a4fe-0000-4000-8000-000000000001"},
			"tools":    []any{map[string]any{"name": "Read", "description": "reads", "input_schema": map[string]string{"type": "object"}}}}, &answer)
		messages = append(messages, map[string]any{"role": "assistant", "content": answer.Content})
		var blocks []struct{ Type, ID string }
		json.Unmarshal(answer.Content, &blocks)
		open = ""
		for _, b := range blocks {
			if b.Type == "tool_use" {
				open = b.ID
			}
		}
		return open != ""
	}
}

// codex is a client that reads no variable: client codex -c KEY=URL … exec TURNS asks
// for responses where the argument KEY says that CODEX_KEY names, and else nobody.
func codex() {
	url, turns := "", 0
	for i, arg := range os.Args {
		if to, ok := strings.CutPrefix(arg, os.Getenv("CODEX_KEY")+"="); ok && os.Args[i-1] == "-c" {
			url, _ = strconv.Unquote(to)
		}
		if arg == "exec" {
			turns, _ = strconv.Atoi(os.Args[i+1])
		}
	}
	items := []any{map[string]any{"type": "additional_tools", "role": "developer", "tools": []any{map[string]any{"type": "custom", "name": "exec", "description": "runs"}}}}
	for n := range turns {
		items = append(items, map[string]any{"type": "message", "role": "user", "content": []any{map[string]string{"type": "input_text", "text": fmt.Sprintf("say %d", n)}}})
		var answer struct{ Output []any }
		post(url+"/responses", map[string]any{"model": "gpt-5.5", "store": false, "input": items}, &answer)
		items = append(items, answer.Output...)
	}
	fmt.Println("codex: done")
}

func askGemini() func(text string, result bool) bool {
	var contents []any
	return func(text string, result bool) bool {
		part := map[string]any{"text": text}
		if result {
			part = map[string]any{"functionResponse": map[string]any{"name": "Read", "response": map[string]any{"output": text}}}
		}
		contents = append(contents, map[string]any{"role": "user", "parts": []any{part}})
		var answer struct {
			Candidates []struct{ Content json.RawMessage }
		}
		post(os.Getenv("GOOGLE_GEMINI_BASE_URL")+"/v1beta/models/gemini-3-flash:generateContent", map[string]any{"contents": contents,
			"systemInstruction": map[string]any{"parts": []any{map[string]string{"text": "You are a tester."}}},
			"tools":             []any{map[string]any{"functionDeclarations": []any{map[string]any{"name": "Read", "parameters": map[string]string{"type": "OBJECT"}}}}}}, &answer)
		if len(answer.Candidates) == 0 {
			fmt.Fprintln(os.Stderr, "client: no candidates")
			os.Exit(1)
		}
		contents = append(contents, answer.Candidates[0].Content)
		return bytes.Contains(answer.Candidates[0].Content, []byte(`"functionCall"`))
	}
}

// post sends a request and reads its answer; the client ends with what went wrong.
func post(url string, body, answer any) {
	data, _ := json.Marshal(body)
	res, err := http.Post(url, "application/json", bytes.NewReader(data))
	if err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
	text, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if res.StatusCode != http.StatusOK || json.Unmarshal(text, answer) != nil {
		fmt.Fprintln(os.Stderr, "client:", res.Status, string(text))
		os.Exit(1)
	}
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
	calls, usd := 0, 0.0
	server, _ := m.Load(ts.Getenv("WORK"))
	for _, r := range server.(*fakemodel.Server).Requests() {
		if r.Refused {
			continue
		}
		calls++
		model, _ := cachelayout.DefaultBook().Lookup(r.Model, time.Now())
		u := r.Usage
		usd += *model.Cost(u.Read, u.Written-u.Hour, u.Hour, u.Uncached, u.Output)
	}
	got, err := strconv.ParseFloat(said[2], 64)
	ts.Check(err)
	if said[1] != strconv.Itoa(calls) || math.Abs(got-usd) > 0.05*usd {
		ts.Fatalf("it says %s, the model billed %d calls and $%.4f", said[0], calls, usd)
	}
}
