package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/memkernel/memkernel/retrieval/foreign"
)

// version reads what npm installed.
func version(modules, pkg string) string {
	var doc struct {
		Version string `json:"version"`
	}
	b, err := os.ReadFile(filepath.Join(modules, pkg, "package.json"))
	if err != nil || json.Unmarshal(b, &doc) != nil {
		return "?"
	}
	return doc.Version
}

// node is a program of npm's, with a home of its own.
type node struct {
	modules, home string
	// runtime is the node that npm installed; the machine's own if it is not there.
	runtime string
	env     []string
}

// run starts a script.
func (n node) run(ctx context.Context, script string, args ...string) ([]byte, error) {
	runtime := n.runtime
	if _, err := os.Stat(runtime); err != nil {
		runtime = "node"
	}
	cmd := exec.CommandContext(ctx, runtime, append([]string{filepath.Join(n.modules, script)}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+n.home, "XDG_CACHE_HOME="+n.home, "XDG_CONFIG_HOME="+n.home, "XDG_DATA_HOME="+n.home)
	cmd.Env = append(cmd.Env, n.env...)
	return output(cmd)
}

// output runs a program; its complaint is part of the error.
func output(cmd *exec.Cmd) ([]byte, error) {
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(complaint.String()), "\n")
		return out, fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, strings.Join(lines[:min(2, len(lines))], " "))
	}
	return out, nil
}

// installed reports whether npm could have it.
func installed(modules, script string) error {
	if _, err := os.Stat(filepath.Join(modules, script)); err != nil {
		return errors.New("npm could not install it")
	}
	return nil
}

// qmd is QMD's search by words.
type qmd struct{ modules, tmp, runtime string }

const qmdScript = "@tobilu/qmd/dist/cli/qmd.js"

func (q qmd) name() string { return "qmd " + version(q.modules, "@tobilu/qmd") }

func (q qmd) open(ctx context.Context, dir string) (searcher, error) {
	if err := installed(q.modules, qmdScript); err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp(q.tmp, "qmd")
	if err != nil {
		return nil, err
	}
	n := node{q.modules, home, q.runtime, nil}
	_, err = n.run(ctx, qmdScript, "collection", "add", dir, "--name", "set")
	return qmdSearch{n}, err
}

type qmdSearch struct{ node }

func (q qmdSearch) ask(ctx context.Context, question string) ([]hit, error) {
	b, err := q.run(ctx, qmdScript, "search", "--json", "-n", fmt.Sprint(asked), "-c", "set", "--", question)
	if err != nil {
		return nil, err
	}
	answer, err := foreign.Parse(b, foreign.QMD)
	if err != nil {
		return nil, err
	}
	var out []hit
	for _, r := range answer.Records {
		out = append(out, hit{strings.TrimPrefix(r.Source, "qmd://set/"), r.StartLine, r.EndLine})
	}
	return out, nil
}

func (qmdSearch) close() error { return nil }

// openclaw is OpenClaw's memory without an embedding provider.
type openclaw struct{ modules, tmp, runtime string }

const openclawScript = "openclaw/openclaw.mjs"

func (o openclaw) name() string { return "openclaw " + version(o.modules, "openclaw") }

func (o openclaw) open(ctx context.Context, dir string) (searcher, error) {
	if err := installed(o.modules, openclawScript); err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp(o.tmp, "openclaw")
	if err != nil {
		return nil, err
	}
	ws := filepath.Join(home, "workspace")
	if err := os.CopyFS(ws, markdown{os.DirFS(dir)}); err != nil {
		return nil, err
	}
	config, err := json.Marshal(map[string]any{
		"agents": map[string]any{"defaults": map[string]any{"workspace": ws}},
		"memory": map[string]any{"search": map[string]any{"provider": "none", "fallback": "none"}}})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(home, "openclaw.json"), config, 0o600); err != nil {
		return nil, err
	}
	n := node{o.modules, home, o.runtime, []string{"OPENCLAW_STATE_DIR=" + home}}
	_, err = n.run(ctx, openclawScript, "memory", "index", "--force")
	return openclawSearch{n}, err
}

// markdown is a folder without what else a set holds.
type markdown struct{ fs.FS }

func (m markdown) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(m.FS, name)
	var out []fs.DirEntry
	for _, e := range all {
		if e.IsDir() || filepath.Ext(e.Name()) == ".md" {
			out = append(out, e)
		}
	}
	return out, err
}

type openclawSearch struct{ node }

func (o openclawSearch) ask(ctx context.Context, question string) ([]hit, error) {
	b, err := o.run(ctx, openclawScript, "memory", "search", "--json", "--max-results", fmt.Sprint(asked), "--query", question)
	if err != nil {
		return nil, err
	}
	var doc struct {
		Results []struct {
			Path string `json:"path"`
			From int    `json:"startLine"`
			To   int    `json:"endLine"`
		} `json:"results"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, err
	}
	var out []hit
	for _, r := range doc.Results {
		out = append(out, hit{r.Path, r.From, r.To})
	}
	return out, nil
}

func (openclawSearch) close() error { return nil }
