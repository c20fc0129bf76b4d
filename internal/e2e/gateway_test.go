package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// gateway is OpenClaw with our plugin in both slots, in a home of its own.
type gateway struct {
	t         *testing.T
	host      host
	home      string
	workspace string
	port      int
	cmd       *exec.Cmd
	exited    chan struct{}
	log       string
}

const token = "e2e"

// llm is a model as the host is told of it.
type llm struct {
	name   string
	window int
}

var fakeLLM = llm{"fake-1", 65536}

// newGateway writes a configuration and a workspace. Without a plugin the host has its own
// engine and memory.
func newGateway(t *testing.T, h host, modelURL, binary, plugin string, llm llm) *gateway {
	t.Helper()
	// The state folder holds a socket: its path must be short.
	home, err := os.MkdirTemp("", "mke2e")
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{t: t, host: h, home: home, workspace: filepath.Join(home, "ws"), port: freePort(t), log: filepath.Join(home, "gateway.log")}
	write(t, filepath.Join(g.workspace, "MEMORY.md"), "# Memory\n- The deploy key is kept in vault seven.\n")
	write(t, filepath.Join(g.workspace, "memory", "deploys.md"), "# Deploys\n- The billing service is deployed on Thursdays from vault nine.\n")
	config := map[string]any{
		"models": map[string]any{"mode": "replace", "providers": map[string]any{"fake": map[string]any{"baseUrl": modelURL, "apiKey": "sk-fake", "api": "openai-completions",
			"models": []any{map[string]any{"id": llm.name, "name": llm.name, "reasoning": false, "input": []string{"text"},
				"cost": map[string]any{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}, "contextWindow": llm.window, "maxTokens": 2048}}}}},
		"agents":  map[string]any{"defaults": map[string]any{"workspace": g.workspace, "model": map[string]any{"primary": "fake/" + llm.name}}},
		"plugins": map[string]any{"load": map[string]any{"paths": []string{plugin}}, "slots": map[string]any{"contextEngine": "memkernel", "memory": "memkernel"}, "entries": map[string]any{"memkernel": map[string]any{"enabled": true, "config": map[string]any{"binary": binary, "idle": "1m", "assembleTimeoutMs": 20_000, "commitTimeoutMs": 60_000}}}},
		"gateway": map[string]any{"mode": "local", "port": g.port, "bind": "loopback", "auth": map[string]any{"mode": "token", "token": token}, "http": map[string]any{"endpoints": map[string]any{"chatCompletions": map[string]any{"enabled": true}}}},
	}
	if plugin == "" {
		delete(config, "plugins")
	}
	b, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(home, "openclaw.json"), string(b))
	t.Cleanup(func() {
		g.stop()
		g.killDaemon()
		if t.Failed() {
			t.Logf("left for a look: %s", home)
			return
		}
		os.RemoveAll(home)
	})
	return g
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (g *gateway) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, g.host.node, append([]string{g.host.script}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(g.home, "home"), "OPENCLAW_STATE_DIR="+filepath.Join(g.home, "state"), "OPENCLAW_CONFIG_PATH="+filepath.Join(g.home, "openclaw.json"),
		"OPENCLAW_DISABLE_BONJOUR=1", "OPENCLAW_GATEWAY_TOKEN="+token, "PATH="+filepath.Dir(g.host.node)+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Dir = g.home
	return cmd
}

// start starts the gateway and waits until it answers.
func (g *gateway) start() {
	g.t.Helper()
	log, err := os.OpenFile(g.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		g.t.Fatal(err)
	}
	defer log.Close()
	if err := os.MkdirAll(filepath.Join(g.home, "home"), 0o755); err != nil {
		g.t.Fatal(err)
	}
	g.cmd = g.command(context.Background(), "gateway", "run", "--port", fmt.Sprint(g.port))
	g.cmd.Stdout, g.cmd.Stderr = log, log
	if err := g.cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	cmd, exited := g.cmd, make(chan struct{})
	g.exited = exited
	go func() { cmd.Wait(); close(exited) }()
	for until := time.Now().Add(4 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/", g.port))
		if err == nil {
			resp.Body.Close()
			return
		}
		select {
		case <-exited:
			g.t.Fatalf("the gateway ended:\n%s", tail(g.said(), 20))
		default:
		}
		if time.Now().After(until) {
			g.t.Fatalf("the gateway does not answer:\n%s", tail(g.said(), 20))
		}
	}
}

// stop ends the gateway as a service manager does.
func (g *gateway) stop() {
	if g.cmd == nil {
		return
	}
	g.cmd.Process.Signal(os.Interrupt)
	select {
	case <-g.exited:
	case <-time.After(30 * time.Second):
		g.cmd.Process.Kill()
		<-g.exited
	}
	g.cmd = nil
}

func (g *gateway) said() string {
	b, _ := os.ReadFile(g.log) // what is not there was not said
	return string(b)
}

// say has a user say something in the main session, and gives the answer.
func (g *gateway) say(text string) (string, error) {
	body, err := json.Marshal(map[string]any{"model": "openclaw/default", "messages": []any{map[string]any{"role": "user", "content": text}}})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequest(http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/v1/chat/completions", g.port), bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("x-openclaw-session-key", sessionKey)
	resp, err := (&http.Client{Timeout: 4 * time.Minute}).Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	var doc struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(b, &doc); err != nil || len(doc.Choices) != 1 {
		return "", fmt.Errorf("the gateway answered %s: %s", resp.Status, b)
	}
	return doc.Choices[0].Message.Content, nil
}

// run runs one of the host's own commands.
func (g *gateway) run(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	out, err := g.command(ctx, args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (g *gateway) stateDir() string { return filepath.Join(g.workspace, ".memkernel") }

// killDaemon kills the daemon of the workspace, if there is one.
func (g *gateway) killDaemon() bool { return killDaemon(g.stateDir()) }

// killDaemon kills the daemon of a state folder, if there is one.
func killDaemon(state string) bool {
	var rec struct {
		PID int `json:"pid"`
	}
	b, err := os.ReadFile(filepath.Join(state, "serve.json"))
	if err != nil || json.Unmarshal(b, &rec) != nil || rec.PID <= 0 {
		return false
	}
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", rec.PID))
	if err == nil && filepath.Base(exe) != "memkernel" {
		return false // the number belongs to another process by now
	}
	p, err := os.FindProcess(rec.PID)
	return err == nil && p.Kill() == nil
}
