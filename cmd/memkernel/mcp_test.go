package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memkernel/memkernel/cmd/memkernel/internal/cli"
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
		if private {
			args = append(args, "--private")
		}
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
		if want := []string{"context_status", "memory_append", "memory_delete", "memory_get", "memory_search", "memory_undo", "memory_update", "page_expand"}; !slices.Equal(names, want) {
			t.Errorf("tools %v", names)
		}
		res, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "memory_get", Arguments: map[string]any{"path": "MEMORY.md"}})
		if err != nil {
			t.Fatal(err)
		}
		doc, _ := res.StructuredContent.(map[string]any)
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
