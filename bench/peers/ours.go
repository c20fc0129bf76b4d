package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// ours is memkernel in this process.
type ours struct{ tmp string }

func (ours) name() string { return "memkernel" }

func (o ours) open(ctx context.Context, dir string) (searcher, error) {
	state, err := os.MkdirTemp(o.tmp, "ours")
	if err != nil {
		return nil, err
	}
	k, err := kernel.Open(ctx, dir, &kernel.Options{StateDir: state})
	if err != nil {
		return nil, err
	}
	if _, err := k.Reindex(ctx, nil); err != nil {
		k.Close()
		return nil, err
	}
	return kernelSearch{k}, nil
}

type kernelSearch struct{ *kernel.Kernel }

// now is when all questions are asked: years after the notes would age them all
// alike, so it is the same for everybody who lets it be set.
var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (k kernelSearch) ask(ctx context.Context, question string) ([]hit, error) {
	r, err := k.Search(ctx, api.SearchRequest{Query: question, Private: true, MaxResults: asked, Lines: true, Now: now}) // a peer has no places
	if err != nil {
		return nil, err
	}
	var out []hit
	for _, h := range r.Hits {
		out = append(out, hit{h.Path, h.StartLine, h.EndLine})
	}
	return out, r.Err
}

func (k kernelSearch) close() error { return k.Close() }

// oursCLI is memkernel, a process for each question.
type oursCLI struct{ program, tmp string }

func (oursCLI) name() string { return "memkernel-cli" }

func (o oursCLI) open(ctx context.Context, dir string) (searcher, error) {
	state, err := os.MkdirTemp(o.tmp, "cli")
	if err != nil {
		return nil, err
	}
	shared := []string{"--workspace", dir, "--state-dir", state, "-q", "--json"}
	_, err = output(exec.CommandContext(ctx, o.program, append([]string{"reindex"}, shared...)...))
	return cliSearch{o.program, shared}, err
}

type cliSearch struct {
	program string
	shared  []string
}

func (c cliSearch) ask(ctx context.Context, question string) ([]hit, error) {
	args := append([]string{"search", "--lines", "-n", "50", "--now", now.Format(time.RFC3339)}, c.shared...)
	b, err := output(exec.CommandContext(ctx, c.program, append(args, "--", question)...))
	if err != nil {
		return nil, err
	}
	var doc struct {
		Results []struct {
			Path string `json:"path"`
			From int    `json:"start_line"`
			To   int    `json:"end_line"`
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

func (cliSearch) close() error { return nil }

// peers returns all that are compared.
func peers(dir, tmp string) []peer {
	modules := func(name string) string { return filepath.Join(dir, name, "node_modules") }
	runtime := filepath.Join(modules("node"), ".bin", "node")
	return []peer{
		ours{tmp}, oursCLI{filepath.Join(dir, "memkernel"), tmp}, fts5{}, bleveIndex{},
		qmd{modules("qmd"), tmp, runtime}, openclaw{modules("openclaw"), tmp, runtime},
	}
}
