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
			want = append(want, "memory_delete", "memory_get", "memory_list", "memory_undo", "memory_update")
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
	counter, err := budget.For("o200k")
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

// After uninstall --state a running server still answers from the files, and doesn't make the state
// folder again.
func TestMCPAfterUninstall(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", t.TempDir())
	memory := filepath.Join(dir, "MEMORY.md")
	if err := os.WriteFile(memory, []byte("# Memory\n\nThe deploy window is Tuesday.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	verb := func(args ...string) {
		t.Helper()
		var out, stderr bytes.Buffer
		if code := run(t.Context(), &cli.UI{Out: &out, Err: &stderr, In: strings.NewReader("")}, append(args, "--workspace", dir)); code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, stderr.String())
		}
	}
	verb("init", "--yes", "--host", "cursor")
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: exec.Command("memkernel", "mcp", "--private", "--workspace", dir)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	call := func(name string, args map[string]any) string {
		t.Helper()
		res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
		if err != nil {
			return err.Error()
		}
		return res.Content[0].(*sdk.TextContent).Text
	}
	for _, uninstalled := range []bool{false, true} {
		if uninstalled {
			verb("uninstall", "--yes", "--state")
			if err := os.WriteFile(memory, []byte("# Memory\n\nThe deploy window is Tuesday. Kim watches.\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if answer := call("memory_search", map[string]any{"query": "deploy window"}); !strings.Contains(answer, "Tuesday") {
			t.Errorf("uninstalled %v: search answers %s", uninstalled, answer)
		}
		answer := call("memory_append", map[string]any{"text": "Noor owns the ledger."})
		if refused := strings.Contains(answer, "was removed while this program ran"); refused != uninstalled {
			t.Errorf("uninstalled %v: append answers %s", uninstalled, answer)
		}
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != "MEMORY.md" && e.Name() != "memory" {
			t.Errorf("%s is there again", e.Name())
		}
	}
	if err != nil {
		t.Error(err)
	}
}
