package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/memkernel/memkernel/bench/solve"
	"github.com/memkernel/memkernel/transcript"
)

// serve answers as the scripted reader does, in the form of an API, with a bill of the body's
// size. Busy is what the first call gets.
func serve(t *testing.T, api transcript.Format, calls *atomic.Int32) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		body, _ := io.ReadAll(r.Body)
		a, err := solve.Reader{}.Answer(r.Context(), api, body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		id := func(i int) string { return fmt.Sprintf("call_%d_%d", calls.Load(), i) }
		tokens := len(body) / 4
		if api == transcript.FormatAnthropic {
			content := []map[string]any{}
			if a.Text != "" {
				content = append(content, map[string]any{"type": "text", "text": a.Text})
			}
			for i, c := range a.Calls {
				content = append(content, map[string]any{"type": "tool_use", "id": id(i), "name": c.Name, "input": c.Input})
			}
			json.NewEncoder(w).Encode(map[string]any{"content": content, "usage": map[string]int{"input_tokens": tokens, "output_tokens": 50}})
			return
		}
		message := map[string]any{"role": "assistant", "content": a.Text}
		var made []map[string]any
		for i, c := range a.Calls {
			made = append(made, map[string]any{"id": id(i), "type": "function", "function": map[string]string{"name": c.Name, "arguments": string(c.Input)}})
		}
		if made != nil {
			message["tool_calls"] = made
		}
		json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": message}}, "usage": map[string]int{"prompt_tokens": tokens, "completion_tokens": 50}})
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func key(string) string { return "k" }

func TestSolvesOverBothAPIs(t *testing.T) {
	for api, model := range map[string]string{"anthropic": "claude-opus-4-5", "openai": "gpt-5"} {
		var calls atomic.Int32
		file := filepath.Join(t.TempDir(), "done.jsonl")
		args := []string{"--api", api, "--model", model, "--url", serve(t, apis[api].format, &calls), "--window", "32000", "--task", "rule", "--policy", "memkernel", "--budget", "500", "--out", file}
		var out bytes.Buffer
		if err := run(t.Context(), args, key, &out); err != nil {
			t.Fatalf("%s: %v", api, err)
		}
		if !strings.Contains(out.String(), "memkernel") || strings.Contains(out.String(), " 0/4") {
			t.Errorf("%s:\n%s", api, out.String())
		}
		before := calls.Load()
		var again bytes.Buffer
		if err := run(t.Context(), args, key, &again); err != nil || again.String() != out.String() || calls.Load() != before {
			t.Errorf("%s: %v; %d more calls; again it says\n%s", api, err, calls.Load()-before, again.String())
		}
	}
}

// A budget that is spent ends the run; with more it goes on where it was, also behind a line
// that a kill cut short.
func TestBudget(t *testing.T) {
	var calls atomic.Int32
	file := filepath.Join(t.TempDir(), "done.jsonl")
	args := func(budget string) []string {
		return []string{"--model", "claude-opus-4-5", "--url", serve(t, transcript.FormatAnthropic, &calls), "--window", "32000", "--task", "answer,newest", "--policy", "turns-1", "--budget", budget, "--out", file}
	}
	var out bytes.Buffer
	if err := run(t.Context(), args("1"), key, &out); err != nil || !strings.Contains(out.String(), "of $1.00 are spent: give more to go on") {
		t.Fatalf("%v\n%s", err, out.String())
	}
	done, err := os.ReadFile(file)
	if err != nil || bytes.Count(done, []byte("\n")) == 0 {
		t.Fatalf("%v: nothing is done:\n%s", err, done)
	}
	if err := os.WriteFile(file, append(done, `{"name":"cut sh`...), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := run(ctx, args("500"), key, io.Discard); err == nil {
		t.Error("a run that was stopped says that all is well")
	}
	if err := run(t.Context(), args("500"), key, &out); err != nil || !strings.Contains(out.String(), "/8") {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.HasPrefix(now, done) || bytes.Count(now, []byte("\n")) != 8 {
		t.Errorf("%v:\n%s", err, now)
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other.txt")
	if err := os.WriteFile(other, []byte("hello\nworld\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"--budget is missing":   {},
		"--api telnet":          {"--api", "telnet", "--budget", "1"},
		"its price is not":      {"--model", "nobody-knows-1", "--budget", "1"},
		"other.txt:1 is no":     {"--budget", "1", "--out", other},
		"answered 401: no such": {"--budget", "1", "--out", filepath.Join(dir, "x"), "--window", "32000"},
		"bills nothing":         {"--budget", "1", "--out", filepath.Join(dir, "y"), "--window", "32000", "--variants", "2"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(want, "bills") {
				io.WriteString(w, `{"content":[{"type":"text","text":"hi"}]}`)
				return
			}
			http.Error(w, "no such key", http.StatusUnauthorized)
		}))
		if err := run(t.Context(), append(args, "--url", s.URL), key, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
		s.Close()
	}
	if err := run(t.Context(), []string{"--budget", "1"}, func(string) string { return "" }, io.Discard); err == nil || !strings.Contains(err.Error(), "ANTHROPIC_API_KEY") {
		t.Error(err)
	}
}
