package main

import (
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

	"github.com/memkernel/memkernel/internal/cli"
)

// TestModelNotes: observe asks the model that --config names, and status says so in
// text and in JSON that keeps its contract.
func TestModelNotes(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		raw, _ := json.Marshal(`{"ops":[{"op":"update","field":"goal","text":"A goal","version":0,"evidence":"m1"}]}`)
		fmt.Fprintf(w, `{"choices":[{"message":{"content":%s},"finish_reason":"stop"}]}`, raw)
	}))
	defer server.Close()
	ws := t.TempDir()
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf("summary:\n  model:\n    provider: openai\n    base_url: %s/v1\n    name: small\n", server.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// Nothing is asked about while a call is under way, so that one observe of three may ask nothing.
	for _, file := range []string{beginning(t, 60), beginning(t, 200), sample} {
		if code, _, stderr := invoke(t, "observe", "-t", file, "--session", "s", "--workspace", ws, "--config", config, "-q"); code != cli.ExitOK {
			t.Fatalf("observe: exit %d, %s", code, stderr)
		}
	}
	code, stdout, stderr := invoke(t, "status", "--workspace", ws, "--json", "-q")
	var doc map[string]any
	if err := json.Unmarshal([]byte(stdout), &doc); code != cli.ExitOK || err != nil {
		t.Fatalf("status: exit %d, %s, %v", code, stderr, err)
	}
	code, stdout, _ = invoke(t, "status", "--workspace", ws)
	if code != cli.ExitOK || asked.Load() < 2 || !strings.Contains(stdout, "notes by small at "+server.URL[:20]) || !strings.Contains(stdout, "the last SERVER_ERROR") {
		t.Errorf("asked %d times; status says\n%s", asked.Load(), stdout)
	}
}

// TestModelIsTheUsersChoice: the state folder's own file has nothing sent anywhere, and no
// key. It may say that nothing is.
func TestModelIsTheUsersChoice(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { asked.Add(1); io.WriteString(w, "{}") }))
	defer server.Close()
	for name, c := range map[string]struct{ text, want string }{
		"far away":   {"provider: anthropic", "summary.model.provider"},
		"with a key": {"provider: openai\n    base_url: " + server.URL + "\n    name: m\n    api_key_env: HOME", "summary.model.api_key_env"},
		"here":       {"provider: openai\n    base_url: " + server.URL + "\n    name: m", "summary.model.base_url"},
		"none":       {"provider: none", ""},
	} {
		t.Run(name, func(t *testing.T) {
			ws := t.TempDir()
			os.Mkdir(filepath.Join(ws, ".memkernel"), 0o700)
			if err := os.WriteFile(filepath.Join(ws, ".memkernel", "config.yaml"), []byte("summary:\n  model:\n    "+c.text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			code, _, stderr := invoke(t, "observe", "-t", beginning(t, 30), "--workspace", ws)
			if code != cli.ExitOK || strings.Contains(stderr, "ignored") != (c.want != "") || !strings.Contains(stderr, c.want) {
				t.Errorf("exit %d, %s; want %q", code, stderr, c.want)
			}
			if code, _, stderr := invoke(t, "status", "--workspace", ws, "-q"); code != cli.ExitOK {
				t.Errorf("status: exit %d, %s", code, stderr)
			}
		})
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("a model was asked %d times", n)
	}
}
