package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// paths of the two APIs.
var paths = map[transcript.Format]string{
	transcript.FormatAnthropic: "/v1/messages",
	transcript.FormatOpenAI:    "/v1/chat/completions",
}

var asked = regexp.MustCompile(`Read (\S+)`)

// reader is a model that reads a file on every question, and answers what it read. It
// writes down nothing.
func reader(t fakemodel.Turn) fakemodel.Reply {
	if len(t.Tools) == 0 {
		return fakemodel.Reply{Text: api.NoReply}
	}
	if len(t.Results) > 0 {
		return fakemodel.Reply{Text: "It has " + t.Results[0][:20] + "."}
	}
	input, _ := json.Marshal(map[string]string{"path": asked.FindStringSubmatch(t.User)[1]})
	return fakemodel.Reply{Text: "I look.", Calls: []fakemodel.Call{{Name: "read_file", Input: input}}}
}

// begin opens an agent on a workspace of files that differ.
func begin(t *testing.T, api transcript.Format, dir string, window int, opt fakemodel.Options) (*agent, *fakemodel.Server, func()) {
	t.Helper()
	if opt.Script == nil {
		opt.Script = reader
	}
	server := fakemodel.New(opt)
	h := httptest.NewServer(server)
	a, done, err := start(t.Context(), dir, "test", &endpoint{api: api, url: h.URL + paths[api], model: "claude-opus-4-5", window: window, answer: 500})
	if err != nil {
		t.Fatal(err)
	}
	a.say = func(string) {}
	a.tools.allow = func(string) bool { return false }
	return a, server, func() { done(); h.Close() }
}

func workspace(t *testing.T, files int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range files {
		var b strings.Builder
		for line := range 300 {
			fmt.Fprintf(&b, "line %d of file %d says %x\n", line, i, (line+7)*(i+3)*7919)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.txt", i)), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// prefixes counts how often a request did not repeat the one before it, and fails on
// a tool call without its result.
func prefixes(t *testing.T, requests []fakemodel.Request) (parted int) {
	t.Helper()
	var before *fakemodel.Request
	for i := range requests {
		r := &requests[i]
		if err := r.Pairs(); err != nil {
			t.Errorf("request %d: %v", r.N, err)
		}
		if before != nil && r.Parts(*before) != "" {
			parted++
		}
		if !r.Refused {
			before = r
		}
	}
	return parted
}

// apart takes the flush turns out of what was asked.
func apart(all []fakemodel.Request) (requests, flushes []fakemodel.Request) {
	for _, r := range all {
		if bytes.Contains(r.Body, []byte(api.NoReply)) {
			flushes = append(flushes, r)
		} else {
			requests = append(requests, r)
		}
	}
	return requests, flushes
}

// A window of 60k holds some of the thirty files that are read: the harness goes on,
// and its requests keep their prefix but where the kernel cuts.
func TestGoesOn(t *testing.T) {
	for api := range paths {
		t.Run(string(api), func(t *testing.T) {
			a, server, done := begin(t, api, workspace(t, 30), 60_000, fakemodel.Options{})
			defer done()
			for i := range 30 {
				if err := a.turn(t.Context(), fmt.Sprintf("Read f%d.txt and tell me the first line.", i)); err != nil {
					t.Fatal(err)
				}
			}
			requests, flushes := apart(server.Requests())
			if len(flushes) == 0 {
				t.Error("the model was never asked what to write down")
			}
			if parted := prefixes(t, requests); len(requests) != 60 || parted == 0 || parted > 12 {
				t.Errorf("%d requests, %d with another prefix", len(requests), parted)
			}
			st, err := a.kernel.Status(t.Context(), nil)
			if err != nil || len(st.Sessions) != 1 || st.Sessions[0].Turns != 30 {
				t.Errorf("%+v, %v", st.Sessions, err)
			}
		})
	}
}

// Before a cut the model is asked once what is to outlive it. What it answers stands in
// the day's log, masked; the conversation and the user never see it; a model that fails
// costs nothing.
func TestFlushes(t *testing.T) {
	secret := "AKIA" + "IOSFODNN7EXAMPLE"
	for name, reply := range map[string]fakemodel.Reply{
		"writes":  {Text: "- [lesson] The files are dull, the key is " + secret + "."},
		"nothing": {Text: api.NoReply},
		"fails":   {Status: 529, Kind: "overloaded_error", Error: "overloaded"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := workspace(t, 30)
			a, server, done := begin(t, transcript.FormatAnthropic, dir, 60_000, fakemodel.Options{Script: func(turn fakemodel.Turn) fakemodel.Reply {
				if len(turn.Tools) == 0 {
					return reply
				}
				return reader(turn)
			}})
			defer done()
			var said strings.Builder
			a.say = func(s string) { said.WriteString(s + "\n") }
			for i := range 12 {
				if err := a.turn(t.Context(), fmt.Sprintf("Read f%d.txt and tell me the first line.", i)); err != nil {
					t.Fatal(err)
				}
			}
			if err := a.reset(t.Context()); err != nil {
				t.Fatal(err)
			}
			requests, flushes := apart(server.Requests())
			if len(requests) != 24 || len(flushes) == 0 || len(flushes) > 4 {
				t.Errorf("%d requests, %d of them flushes", len(requests)+len(flushes), len(flushes))
			}
			log, _ := filepath.Glob(filepath.Join(dir, "memory", "*.md"))
			var text []byte
			if len(log) > 0 {
				text, _ = os.ReadFile(log[0])
			}
			if wrote := bytes.Count(text, []byte("The files are dull")); wrote != map[bool]int{true: 1}[name == "writes"] || bytes.Contains(text, []byte(secret)) {
				t.Errorf("the log says %s", text)
			}
			if told := strings.Contains(said.String(), "[flush: 1 entry to memory/"); told != (name == "writes") || strings.Contains(said.String(), api.NoReply) || strings.Contains(said.String(), "dull") {
				t.Errorf("the user saw:\n%s", said.String())
			}
			for _, r := range requests {
				if bytes.Contains(r.Body, []byte("What of this session should be remembered")) {
					t.Errorf("request %d shows the flush", r.N)
				}
			}
		})
	}
}

// A provider that takes less than its window is heeded: it refuses, the next request
// is smaller, and no turn is lost.
func TestTooLong(t *testing.T) {
	for api := range paths {
		t.Run(string(api), func(t *testing.T) {
			a, server, done := begin(t, api, workspace(t, 12), 64_000, fakemodel.Options{Window: 20_000})
			defer done()
			for i := range 12 {
				if err := a.turn(t.Context(), fmt.Sprintf("Read f%d.txt and tell me the first line.", i)); err != nil {
					t.Fatalf("turn %d: %v", i, err)
				}
			}
			refused := 0
			for _, r := range server.Requests() {
				if r.Refused {
					refused++
				}
			}
			if refused == 0 || refused > 4 {
				t.Errorf("%d requests were refused", refused)
			}
			prefixes(t, server.Requests())
		})
	}
}

// A refusal of another kind is the user's to see, as it came.
func TestRefusal(t *testing.T) {
	a, server, done := begin(t, transcript.FormatAnthropic, workspace(t, 1), 24_000, fakemodel.Options{Script: func(fakemodel.Turn) fakemodel.Reply {
		return fakemodel.Reply{Status: 401, Kind: "authentication_error", Error: "invalid x-api-key"}
	}})
	defer done()
	err := a.turn(t.Context(), "hello")
	if err == nil || !strings.Contains(err.Error(), "invalid x-api-key") || len(server.Requests()) != 1 {
		t.Errorf("%v after %d requests", err, len(server.Requests()))
	}
}

// Memory is written and found across a reset and another run, and what was said
// stays on disk.
func TestRemembers(t *testing.T) {
	script := func(turn fakemodel.Turn) fakemodel.Reply {
		switch {
		case len(turn.Results) > 0:
			return fakemodel.Reply{Text: "Done: " + turn.Results[0]}
		case !strings.Contains(turn.User, "Which port?"):
			return fakemodel.Reply{Calls: []fakemodel.Call{{Name: "memory_append", Input: json.RawMessage(`{"text":"The staging port is 8443."}`)}}}
		}
		return fakemodel.Reply{Calls: []fakemodel.Call{{Name: "memory_search", Input: json.RawMessage(`{"query":"staging port"}`)}}}
	}
	dir := workspace(t, 0)
	a, _, done := begin(t, transcript.FormatAnthropic, dir, 64_000, fakemodel.Options{Script: script})
	for _, line := range []string{"Keep the port.", "/compact", "/reset"} {
		if err := a.command(t.Context(), line); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	done()
	a, server, done := begin(t, transcript.FormatAnthropic, dir, 64_000, fakemodel.Options{Script: script})
	defer done()
	if _, err := a.kernel.Reindex(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	var said []string
	a.say = func(s string) { said = append(said, s) }
	if err := a.turn(t.Context(), "Which port?"); err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(said, "\n"); !strings.Contains(all, "8443") {
		t.Errorf("after reset and restart: %s", all)
	}
	if n := len(a.talk.messages); n != 4 {
		t.Errorf("%d messages after the reset; what was said before stands beside", n)
	}
	prefixes(t, server.Requests())
}

// A conversation goes on where another run ended, and a damaged line is named.
func TestConversation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk.jsonl")
	c, err := open(path, transcript.Anthropic)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []any{map[string]any{"role": "user", "content": "one"}, map[string]any{"role": "assistant", "content": "two"}} {
		if err := c.add(m); err != nil {
			t.Fatal(err)
		}
	}
	again, err := open(path, transcript.Anthropic)
	if err != nil || len(again.messages) != 2 || again.messages[1].Key != c.messages[1].Key || !again.messages[1].Time.Equal(c.messages[1].Time) {
		t.Fatalf("%+v, %v", again, err)
	}
	if err := os.WriteFile(path, []byte("{\"at\":\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(path, transcript.Anthropic); err == nil || !strings.Contains(err.Error(), "talk.jsonl:1:") {
		t.Errorf("a damaged line: %v", err)
	}
}

// The tools of this program stay in the workspace, and ask.
func TestTools(t *testing.T) {
	dir := workspace(t, 1)
	a, _, done := begin(t, transcript.FormatAnthropic, dir, 24_000, fakemodel.Options{})
	defer done()
	if err := os.Symlink("/etc", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	for input, failed := range map[string]bool{
		`read_file {"path":"f0.txt"}`: false, `read_file {"path":"../x"}`: true, `read_file {"path":"out/passwd"}`: true,
		`read_file {`: true, `run_command {"command":"true"}`: true, `no_such_tool {}`: true, `memory_search {"query":"x"}`: false, `memory_search {"q":"x"}`: true,
	} {
		name, args, _ := strings.Cut(input, " ")
		if text, bad := a.tools.run(t.Context(), name, json.RawMessage(args)); bad != failed {
			t.Errorf("%s: failed %v, %s", input, bad, text)
		}
	}
	a.tools.allow = func(string) bool { return true }
	if text, bad := a.tools.run(t.Context(), "run_command", json.RawMessage(`{"command":"pwd; ls"}`)); bad || !strings.Contains(text, "f0.txt") {
		t.Errorf("an allowed command: %s", text)
	}
}

// A model that knows the memory tool by itself writes and reads memory by it.
func TestMemoryTool(t *testing.T) {
	dir := t.TempDir()
	call := func(input string) fakemodel.Reply {
		return fakemodel.Reply{Calls: []fakemodel.Call{{Name: "memory", Input: json.RawMessage(input)}}}
	}
	var results []string
	a, server, done := begin(t, transcript.FormatAnthropic, dir, 60_000, fakemodel.Options{Script: func(turn fakemodel.Turn) fakemodel.Reply {
		results = append(results, turn.Results...)
		switch len(results) {
		case 0:
			return call(`{"command":"create","path":"/memories/cranes.md","file_text":"- The red crane stands on pier 4.\n"}`)
		case 1:
			return call(`{"command":"view","path":"/memories/cranes.md"}`)
		}
		return fakemodel.Reply{Text: "Kept."}
	}})
	defer done()
	a.tools.known = true
	if err := a.turn(t.Context(), "Keep where the red crane stands."); err != nil {
		t.Fatal(err)
	}
	if len(results) != 2 || results[0] != "File created successfully at: /memories/cranes.md" || !strings.Contains(results[1], "     1\t- The red crane stands on pier 4.") {
		t.Errorf("%q", results)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "memory", "cranes.md")); err != nil || !strings.Contains(string(text), "pier 4") {
		t.Errorf("%v: %s", err, text)
	}
	if body := string(server.Requests()[0].Body); !strings.Contains(body, `{"type":"memory_20250818","name":"memory"}`) {
		t.Errorf("the model was not given the tool: %s", body)
	}
}
