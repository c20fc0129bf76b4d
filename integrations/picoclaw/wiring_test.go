package picoclaw_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The host's packages, as far as the wiring uses them.
var doubles = map[string]string{
	"providers/providers.go": `package providers

type Message struct{ Role, Content string }
`,
	"agent/agent.go": `package agent

import (
	"context"
	"encoding/json"

	"github.com/sipeed/picoclaw/pkg/providers"
)

type ContextManager interface {
	Assemble(ctx context.Context, req *AssembleRequest) (*AssembleResponse, error)
	Compact(ctx context.Context, req *CompactRequest) error
	Ingest(ctx context.Context, req *IngestRequest) error
	Clear(ctx context.Context, sessionKey string) error
}

type AssembleRequest struct {
	SessionKey        string
	Budget, MaxTokens int
}

type AssembleResponse struct {
	History []providers.Message
	Summary string
}

type ContextCompressReason string

type CompactRequest struct {
	SessionKey string
	Reason     ContextCompressReason
	Budget     int
}

type IngestRequest struct {
	SessionKey string
	Message    providers.Message
}

type SessionStore interface {
	GetHistory(key string) []providers.Message
	SetHistory(key string, history []providers.Message)
	SetSummary(key, summary string)
	Save(key string) error
}

type AgentInstance struct {
	ID string
	Workspace, Model string
	Sessions         SessionStore
}

type AgentRegistry struct{}

func (r *AgentRegistry) GetDefaultAgent() *AgentInstance { return nil }

type AgentLoop struct{}

func (al *AgentLoop) GetRegistry() *AgentRegistry { return nil }

func RegisterContextManager(name string, factory func(json.RawMessage, *AgentLoop) (ContextManager, error)) error {
	return nil
}
`,
}

// The file that a reader copies compiles against the shapes that this package is for.
func TestWiringCompiles(t *testing.T) {
	program, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go program is not installed")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	// The doubles are inside this module for the compiler alone, under other names.
	const virtual = "github.com/memkernel/memkernel/integrations/picoclaw/zz"
	wiring, err := os.ReadFile("wiring/memkernel.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	// As a package that is no program it needs no linking.
	files := map[string]string{"wiring/wiring.go": strings.Replace(string(wiring), "package main", "package wiring", 1)}
	for name, text := range doubles {
		files[name] = text
	}
	replace := map[string]string{}
	for name, text := range files {
		real := filepath.Join(t.TempDir(), filepath.Base(name))
		if err := os.WriteFile(real, []byte(strings.ReplaceAll(text, "github.com/sipeed/picoclaw/pkg", virtual)), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(here, "zz", filepath.FromSlash(name))] = real
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, program, "build", "-overlay", list, "./zz/wiring").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
}
