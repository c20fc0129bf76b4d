package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/internal/cli"
)

// TestMCPOverStdio talks to the program itself through the SDK's client. What isn't a
// frame on its standard output would end the session.
func TestMCPOverStdio(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "MEMORY.md"), []byte("# Memory\n\nThe deploy window is Tuesday.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, private := range []bool{false, true} {
		args := []string{"mcp", "--workspace", dir}
		want := []string{"memory_append", "memory_search"}
		if private {
			args = append(args, "--private", "--all-tools")
			want = append(want, "context_status", "memory_delete", "memory_get", "memory_list", "memory_undo", "memory_update")
		}
		slices.Sort(want)
		var stderr bytes.Buffer
		cmd := exec.Command("memkernel", args...)
		cmd.Stderr = &stderr
		ctx := context.Background()
		c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &sdk.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		var names []string
		for tool, err := range c.Tools(ctx, nil) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, tool.Name)
		}
		slices.Sort(names)
		if !slices.Equal(names, want) {
			t.Errorf("tools %v", names)
		}
		res, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "memory_get", Arguments: map[string]any{"path": "MEMORY.md"}})
		if err != nil {
			t.Fatal(err)
		}
		if (res.StructuredContent != nil) != private {
			t.Errorf("private %v: structured content %v", private, res.StructuredContent)
		}
		var doc map[string]any
		if err := json.Unmarshal([]byte(res.Content[0].(*sdk.TextContent).Text), &doc); err != nil {
			t.Fatal(err)
		}
		if want := map[bool]string{false: "DENIED", true: "OK"}[private]; doc["reason"] != want {
			t.Errorf("private %v: %v, want %s", private, doc, want)
		}
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if stderr.Len() > 0 {
			t.Errorf("standard error: %s", stderr.String())
		}
	}
}

// TestMCPCostsLittle bounds the tokens that every request of a host has once memkernel is set up: the
// rules that init writes, the server's instructions, and the definitions of its tools.
func TestMCPCostsLittle(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", t.TempDir())
	if out, err := exec.Command("memkernel", "init", "--yes", "--host", "cursor", "--workspace", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	rules, err := os.ReadFile(filepath.Join(dir, ".cursor", "rules", "memkernel.mdc"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: exec.Command("memkernel", "mcp", "--workspace", dir)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	counter, err := budget.ForModel("o200k", "")
	if err != nil {
		t.Fatal(err)
	}
	all := counter.Count(string(rules)).Tokens + counter.Count(c.InitializeResult().Instructions).Tokens
	for tool, err := range c.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal([]any{tool.Name, tool.Description, tool.InputSchema})
		if err != nil {
			t.Fatal(err)
		}
		all += counter.Count(string(raw)).Tokens
	}
	if t.Logf("%d tokens", all); all > 166 {
		t.Errorf("rules, instructions and definitions are %d tokens", all)
	}
}

// A client that writes its requests and hangs up at once gets all answers.
func TestMCPAnswersBeforeItHangsUp(t *testing.T) {
	for range 3 {
		var out, stderr bytes.Buffer
		u := &cli.UI{Out: &out, Err: &stderr, In: strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":"two","method":"tools/call","params":{"name":"memory_search","arguments":{"query":"deployment"}}}
{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)}
		if code := run(t.Context(), u, []string{"mcp", "--workspace", t.TempDir()}); code != 0 {
			t.Fatalf("exit %d: %s", code, stderr.String())
		}
		for _, id := range []string{`"id":1,`, `"id":"two",`, `"id":3,`} {
			if !strings.Contains(out.String(), id) {
				t.Errorf("no answer with %s in\n%s", id, out.String())
			}
		}
	}
}
