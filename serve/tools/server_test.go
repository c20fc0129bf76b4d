package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve/tools"
)

// rig is a server over a small workspace, with a client connected.
type rig struct {
	*testing.T
	dir    string
	client *sdk.ClientSession
}

func connect(t *testing.T, o tools.Options) *rig {
	t.Helper()
	r := &rig{T: t, dir: filepath.Join(t.TempDir(), "workspace")}
	r.put("MEMORY.md", "# Memory\n\nThe deploy window is Tuesday at nine.\n")
	r.put("memory/2026-03-01.md", "# 2026-03-01\n\nWe chose Postgres for the ledger.\n")
	r.put("memory/notes.md", "# Notes\n\nThe ledger is replayed every night.\n")
	ctx := context.Background()
	k, err := kernel.Open(ctx, r.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	if _, err := k.Reindex(ctx, nil); err != nil {
		t.Fatal(err)
	}
	s, err := tools.NewServer(k, tools.ServerOptions{AllTools: true, Tools: o, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	here, there := sdk.NewInMemoryTransports()
	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.Run(serving, there) }()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	if r.client, err = c.Connect(ctx, here, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.client.Close(); stop(); <-ended })
	return r
}

func (r *rig) put(path, text string) {
	r.Helper()
	path = filepath.Join(r.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.Fatal(err)
	}
}

// call calls a tool and checks what every answer has.
func (r *rig) call(name string, args map[string]any) (map[string]any, *sdk.CallToolResult) {
	r.Helper()
	res, err := r.client.CallTool(context.Background(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		r.Fatalf("%s %v: %v", name, args, err)
	}
	if len(res.Content) != 1 {
		r.Fatalf("%s: %d contents", name, len(res.Content))
	}
	var doc map[string]any
	text := res.Content[0].(*sdk.TextContent).Text
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		r.Fatalf("%s: %v: %s", name, err, text)
	}
	if reason, _ := doc["reason"].(string); reason == "" {
		r.Errorf("%s %v: the answer has no reason: %s", name, args, text)
	}
	return doc, res
}

// TestAnswersKeepTheirSchemas calls every tool, well and badly, and holds what is
// structured against the schema that the server announced.
func TestAnswersKeepTheirSchemas(t *testing.T) {
	r := connect(t, tools.Options{Private: true})
	list, err := r.client.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*jsonschema.Resolved{}
	for _, tool := range list.Tools {
		if tool.OutputSchema == nil || tool.Annotations == nil || tool.Annotations.Title == "" || tool.Annotations.DestructiveHint == nil {
			t.Fatalf("%s: no output schema, title or hints", tool.Name)
		}
		edits := slices.Contains([]string{"memory_update", "memory_delete", "memory_undo"}, tool.Name)
		if *tool.Annotations.DestructiveHint != edits {
			t.Errorf("%s: destructiveHint is %v", tool.Name, !edits)
		}
		if want := tool.Name != "memory_append" && !edits; tool.Annotations.ReadOnlyHint != want {
			t.Errorf("%s: readOnlyHint is %v", tool.Name, !want)
		}
		schemas[tool.Name] = resolve(t, tool.OutputSchema)
	}
	if len(schemas) != 7 {
		t.Fatalf("%d tools, want 7", len(schemas))
	}
	notes, _ := r.call("memory_get", map[string]any{"path": "memory/notes.md"})
	version, deploys := notes["version"], "memory/deploys.md"
	for _, c := range []struct {
		tool, reason string
		args         map[string]any
	}{
		{"memory_search", "OK", map[string]any{"query": "deploy window"}},
		{"memory_search", "NO_MATCH", map[string]any{"query": "zzyzx"}},
		{"memory_get", "OK", map[string]any{"path": "memory/notes.md", "from": 1, "lines": 2}},
		{"memory_get", "NO_MATCH", map[string]any{"path": "memory/gone.md"}},
		{"memory_get", "DENIED", map[string]any{"path": "../outside.md"}},
		{"memory_get", "NO_MATCH", map[string]any{"path": "ev-0123456789abcdef"}},
		{"memory_list", "OK", map[string]any{}},
		{"memory_list", "OK", map[string]any{"path": "memory/notes.md", "maxResults": 1}},
		{"memory_append", "OK", map[string]any{"path": deploys, "text": "Kim owns the ledger."}},
		{"memory_append", "OK", map[string]any{"path": deploys, "text": "Kim owns the ledger."}},
		{"memory_update", "OK", map[string]any{"path": deploys, "old": "Kim owns the ledger.", "text": "Noor owns the ledger."}},
		{"memory_update", "CONFLICT", map[string]any{"path": deploys, "old": "Kim owns the ledger.", "text": "Ada owns the ledger."}},
		{"memory_update", "PERSON", map[string]any{"path": "memory/notes.md", "from": 1, "lines": 1, "version": version, "text": "x"}},
		{"memory_update", "DENIED", map[string]any{"path": "../outside.md", "old": "x", "text": "y"}},
		{"memory_delete", "OK", map[string]any{"path": deploys, "old": "Noor owns the ledger."}},
		{"memory_undo", "OK", map[string]any{}},
		{"memory_undo", "REFUSED", map[string]any{"edit": "ed-0000000000000000"}},
	} {
		doc, res := r.call(c.tool, c.args)
		if c.reason != "" && doc["reason"] != c.reason {
			t.Errorf("%s %v: reason %v, want %s: %v", c.tool, c.args, doc["reason"], c.reason, doc)
		}
		if res.IsError || res.StructuredContent == nil {
			t.Fatalf("%s %v: error %v, structured %v", c.tool, c.args, res.IsError, res.StructuredContent)
		}
		if err := schemas[c.tool].Validate(res.StructuredContent); err != nil {
			t.Errorf("%s %v: the answer doesn't keep its schema: %v", c.tool, c.args, err)
		}
	}
}

func resolve(t *testing.T, schema any) *jsonschema.Resolved {
	t.Helper()
	raw, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	out, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWrongArgumentsAreErrors(t *testing.T) {
	r := connect(t, tools.Options{})
	for _, c := range []struct {
		tool, argument string
		args           map[string]any
	}{
		{"memory_search", "limit", map[string]any{"query": "x", "limit": 3}},
		{"memory_search", "query", map[string]any{}},
		{"memory_search", "query", map[string]any{"query": 7}},
		{"memory_get", "private", map[string]any{"path": "MEMORY.md", "private": true}},
		{"memory_search", "session", map[string]any{"query": "x", "session": "other"}},
		{"memory_append", "text", map[string]any{"text": "  "}},
	} {
		doc, res := r.call(c.tool, c.args)
		if !res.IsError || doc["reason"] != "SCHEMA_INVALID" || doc["argument"] != c.argument {
			t.Errorf("%s %v: error %v, %v", c.tool, c.args, res.IsError, doc)
		}
	}
	if _, err := r.client.CallTool(context.Background(), &sdk.CallToolParams{Name: "memory_forget"}); err == nil {
		t.Error("a tool that isn't there was called")
	}
}

// TestSharedSeesNoPrivateFiles asks by every door.
func TestSharedSeesNoPrivateFiles(t *testing.T) {
	r := connect(t, tools.Options{})
	if doc, _ := r.call("memory_get", map[string]any{"path": "MEMORY.md"}); doc["reason"] != "DENIED" {
		t.Errorf("memory_get: %v", doc)
	}
	doc, _ := r.call("memory_search", map[string]any{"query": "deploy window Tuesday"})
	if strings.Contains(fmt.Sprint(doc["results"]), "Tuesday") {
		t.Errorf("memory_search: %v", doc)
	}
}

// TestFewTools: a server lists few tools unless it is told to list all, and no resources, for which
// hosts show their model tools of their own.
func TestFewTools(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	k, err := kernel.Open(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	for _, all := range []bool{false, true} {
		s, err := tools.NewServer(k, tools.ServerOptions{AllTools: all})
		if err != nil {
			t.Fatal(err)
		}
		here, there := sdk.NewInMemoryTransports()
		serving, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- s.Run(serving, there) }()
		c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, here, nil)
		if err != nil {
			t.Fatal(err)
		}
		list, err := c.ListTools(ctx, nil)
		if err != nil || all != (len(list.Tools) > 4) || c.InitializeResult().Capabilities.Resources != nil {
			t.Errorf("all %v: %d tools, resources %+v, %v", all, len(list.Tools), c.InitializeResult().Capabilities.Resources, err)
		}
		c.Close()
		stop()
		<-ended
	}
}

// TestCancellation: a call that waits for a session's lock ends when the client
// takes it back, and the server answers the next one.
func TestCancellation(t *testing.T) {
	r := connect(t, tools.Options{Private: true, SessionKey: "held"})
	r.call("memory_append", map[string]any{"text": "So that the session is there."})
	unlock := holdSession(t, filepath.Join(r.dir, ".memkernel", "sessions", "held"))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := r.client.CallTool(ctx, &sdk.CallToolParams{Name: "memory_append", Arguments: map[string]any{"text": "It waits."}})
		ended <- err
	}()
	cancel()
	if err := <-ended; err == nil {
		t.Error("a call that was taken back was answered")
	}
	unlock()
	if doc, _ := r.call("memory_get", map[string]any{"path": "memory/notes.md"}); doc["reason"] != "OK" {
		t.Errorf("%v", doc)
	}
}

// TestFramesOnly: what is written to the stream is one JSON-RPC message a line, for
// good input and bad.
func TestFramesOnly(t *testing.T) {
	dir := t.TempDir()
	k, err := kernel.Open(context.Background(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	s, err := tools.NewServer(k, tools.ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_get","arguments":{"path":"a","bogus":1}}}
{"jsonrpc":"2.0","id":3,"method":"no/such/method"}
`
	reader, feed := io.Pipe()
	out := &lines{got: make(chan string, 16)}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(context.Background(), reader, out) }()
	go io.WriteString(feed, in)
	for range 3 {
		var frame struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
		}
		line := <-out.got
		if err := json.Unmarshal([]byte(line), &frame); err != nil || frame.Version != "2.0" || frame.ID == nil {
			t.Errorf("no frame: %q, %v", line, err)
		}
	}
	feed.Close()
	if err := <-ended; err != nil {
		t.Errorf("the client hung up: %v", err)
	}
	if rest := out.rest.String(); rest != "" {
		t.Errorf("left behind: %q", rest)
	}
}

// lines hands on what was written line by line.
type lines struct {
	rest bytes.Buffer
	got  chan string
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest.Write(p)
	for {
		line, err := l.rest.ReadString('\n')
		if err != nil {
			l.rest.WriteString(line)
			return len(p), nil
		}
		l.got <- line
	}
}
