package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/memkernel/memkernel/client"
	"github.com/memkernel/memkernel/client/protocol"
)

// TestURL: a session goes over HTTP as over a socket, through a server that is ended and
// started anew.
func TestURL(t *testing.T) {
	ws := t.TempDir()
	token, _ := newToken(t, "--workspace", ws, "--access", "write")
	listen := func(address string, out io.Writer) (end func()) {
		cmd := exec.Command("memkernel-server", "serve", "--workspace", ws, "--listen", address)
		cmd.Stdout = out
		if err := cmd.Start(); err != nil {
			t.Error(err)
			return func() {}
		}
		end = sync.OnceFunc(func() {
			cmd.Process.Signal(os.Interrupt)
			cmd.Wait()
		})
		t.Cleanup(end)
		return end
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	end := listen("127.0.0.1:0", write)
	write.Close()
	url, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url = strings.TrimSpace(url)
	c, err := client.Connect(t.Context(), client.Options{URL: url, Token: token, Retries: 12})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Server().Protocol != 1 {
		t.Errorf("the server said %+v", c.Server())
	}
	s := c.Session("s", client.SessionOptions{Model: "claude-sonnet-4-6", Private: true})
	var messages []json.RawMessage
	for i, text := range []string{"when does the heron move?", "and the zebra?", "thanks, go on"} {
		messages = append(messages, says("user", text))
		plan, err := s.Plan(t.Context(), messages, nil)
		if err != nil || len(plan.Messages) != len(messages) {
			t.Fatalf("turn %d: %v", i, err)
		}
		messages = append(messages, says("assistant", "on Thursday"))
		if i == 1 { // the next one's delivery finds nobody for a moment
			end()
			go listen(strings.TrimPrefix(url, "http://"), nil)
		}
		if o, err := s.ObserveTurn(t.Context(), messages, &protocol.TurnParams{PlanID: plan.PlanID}); err != nil || o.Turns != int64(i+1) {
			t.Fatalf("turn %d: %+v, %v", i, o, err)
		}
	}
	if _, err := c.Remember(t.Context(), &protocol.RememberParams{SessionKey: "s", Private: true, Path: "memory/facts.md", Text: "The heron moves on Thursday."}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(ws, "memory", "facts.md")); err != nil {
		t.Error(err)
	}
	done, err := c.Reindex(t.Context(), &protocol.ReindexParams{Progress: true, Full: true})
	if err != nil || done.Schema != "memkernel/reindex/v1" {
		t.Errorf("%+v, %v", done, err)
	}
	var e *client.Error
	if _, err := client.Connect(t.Context(), client.Options{URL: url, Token: "mkt_nobody's"}); !errors.As(err, &e) || e.Code != "TOKEN" {
		t.Errorf("%v", err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Status(stopped, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func says(role, text string) json.RawMessage {
	return json.RawMessage(`{"role":"` + role + `","content":"` + text + `"}`)
}

// TestClients runs what the clients' own tests call a server for, where their languages are
// installed.
func TestClients(t *testing.T) {
	server, err := exec.LookPath("memkernel-server")
	if err != nil {
		t.Fatal(err)
	}
	for language, args := range map[string][]string{
		"typescript": {"node", "--test", "--test-name-pattern", "server"},
		"python":     {"python3", "-B", "-m", "unittest", "test_client.ServerTest"},
	} {
		t.Run(language, func(t *testing.T) {
			if _, err := exec.LookPath(args[0]); err != nil {
				t.Skip("the language is not installed")
			}
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Dir, cmd.Env = "../../../integrations/"+language, append(os.Environ(), "MEMKERNEL_SERVER="+server)
			out, err := cmd.CombinedOutput()
			if err != nil || !regexp.MustCompile(`(?m)^(Ran [1-9]|.*ok \d+ - a server by its URL[^#\n]*$|.*✔ a server by its URL)`).Match(out) || strings.Contains(string(out), "skipped=") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
