package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/bench/relevance"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

func TestPrompts(t *testing.T) {
	open, err := promptsOf(false)
	if err != nil {
		t.Fatal(err)
	}
	sealed, _ := promptsOf(true)
	languages, texts := map[string]bool{}, map[string]bool{}
	for _, p := range append(open, sealed...) {
		languages[p.Language], texts[p.Text] = true, true
		if p.Language == "" || p.Kind == "" || p.Text == "" {
			t.Errorf("incomplete: %+v", p)
		}
	}
	if n := len(open) + len(sealed); n < 140 || len(texts) != n || len(languages) < 8 || len(open)-len(sealed) > 1 || len(sealed) > len(open) {
		t.Errorf("%d and %d sealed, %d different, %d languages", len(open), len(sealed), len(texts), len(languages))
	}
}

// A turn counts by what the plan shows: a question that the notes answer is answered
// from its lines, and a word that nothing holds gets nothing.
func TestJudge(t *testing.T) {
	const dir = "../../testdata/workspace"
	b, err := relevance.Open(t.Context(), relevance.Set{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	k, err := kernel.Open(t.Context(), dir, &kernel.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if _, err := k.Reindex(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	now, err := b.Moment(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := judge(t.Context(), k, []prompt{{Kind: "x", Text: "zzyzx qwfpg"}, {Kind: "y", Text: "deployment window of the release"}}, b.Asked(1, 10), b.HeldBy, now.AddDate(0, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	if r.Prompts != 2 || r.Recalled != 1 || r.Kinds["x"].Recalled != 0 || r.Kinds["y"].Recalled != 1 || r.TokensMean <= 0 {
		t.Errorf("%+v", r)
	}
	if a := r.Answerable; a.Prompts != 10 || a.Recalled < 8 || a.Right < 6 || a.Right > a.Recalled || a.TokensMean <= 0 {
		t.Errorf("%+v", a)
	}
}

func TestLines(t *testing.T) {
	for citation, want := range map[string][3]any{"memory/a.md#L3-L9": {"memory/a.md", 3, 9}, "MEMORY.md#L4": {"MEMORY.md", 4, 4}} {
		path, from, to, ok := lines(citation)
		if got := [3]any{path, from, to}; !ok || got != want {
			t.Errorf("%s: %v", citation, got)
		}
	}
	for _, c := range []string{"pg-0123", "a.md#Lx", "a.md#L1-Lx"} {
		if _, _, _, ok := lines(c); ok {
			t.Errorf("%s is taken for lines", c)
		}
	}
}

// What has nothing to do with memory is recalled nothing, and what memory answers is.
func TestSilence(t *testing.T) {
	const dir = "../../testdata/workspace"
	b, err := relevance.Open(t.Context(), relevance.Set{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	k, err := kernel.Open(t.Context(), dir, &kernel.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if _, err := k.Reindex(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	now, err := b.Moment(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	junk, err := promptsOf(false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := judge(t.Context(), k, junk, b.Asked(1, 100), b.HeldBy, now.AddDate(0, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	if r.Recalled > len(junk)/10 || r.TokensMean > 40 {
		t.Errorf("something is recalled for %d of %d prompts that ask nothing of memory, %.0f tokens in the mean: %+v", r.Recalled, len(junk), r.TokensMean, r.Kinds)
	}
	if a := r.Answerable; a.Recalled < 97 || a.Right < 95 {
		t.Errorf("of questions that memory answers: %+v", a)
	}
}

// A workspace in eight languages that nothing was chosen by: of what it answers nearly all
// is recalled with the answer, and of what it doesn't next to nothing.
func TestSilenceInLanguages(t *testing.T) {
	const dir = "testdata/fresh"
	raw, err := os.ReadFile(dir + "/prompts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Open(t.Context(), dir, &kernel.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if _, err := k.Reindex(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	type counts struct{ asked, right, junk, recalled int }
	var got [2]counts
	for line := range bytes.Lines(raw) {
		var p struct {
			Lang, Kind, Text string
			Line             int
			Sealed           bool
		}
		if err := json.Unmarshal(line, &p); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		r, err := turn(t.Context(), k, p.Text, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
		if err != nil {
			t.Fatal(err)
		}
		c := &got[0]
		if p.Sealed {
			c = &got[1]
		}
		if p.Kind == "junk" {
			c.junk, c.recalled = c.junk+1, c.recalled+some(r)
			if some(r) > 0 && !p.Sealed {
				t.Logf("recalled for %q", p.Text)
			}
			continue
		}
		c.asked++
		right := slices.ContainsFunc(r.Citations, func(c string) bool {
			path, from, to, ok := lines(c)
			return ok && path == "memory/"+p.Lang+".md" && from <= p.Line && p.Line <= to
		})
		if right {
			c.right++
		} else if !p.Sealed {
			t.Logf("not answered: %q", p.Text)
		}
	}
	for i, c := range got {
		t.Logf("sealed %v: %+v", i == 1, c)
		if c.asked < 32 || c.junk < 32 || c.right < c.asked-2 || c.recalled > c.junk/10 {
			t.Errorf("sealed %v: %+v", i == 1, c)
		}
	}
}

// recalls is how often something was recalled for prompts that ask nothing of memory,
// and for questions that it can answer.
type recalls struct {
	Prompts  int
	Recalled int
	// TokensMean is the size of what was recalled, over all prompts.
	TokensMean float64
	// Kinds are the same by the kind of prompt.
	Kinds      map[string]count
	Answerable answerable
}

// count is how many of some prompts got something.
type count struct {
	Prompts  int
	Recalled int
}

// answerable are questions whose answers stand in the workspace; Right is how many got
// lines that hold theirs.
type answerable struct {
	count
	Right      int
	TokensMean float64
}

// judge plans every prompt, and a question for each item, each as a session of its own.
// The kernel must have indexed the workspace that the items are of. Now is the moment of
// the calls; nothing is written.
func judge(ctx context.Context, k *kernel.Kernel, prompts []prompt, items []relevance.KnownItem, holds func(it relevance.KnownItem, path string, from, to int) bool, now time.Time) (recalls, error) {
	r := recalls{Kinds: map[string]count{}}
	for _, p := range prompts {
		got, err := turn(ctx, k, p.Text, now)
		if err != nil {
			return r, err
		}
		c := r.Kinds[p.Kind]
		c.add(got)
		r.Kinds[p.Kind] = c
		r.Prompts, r.Recalled = r.Prompts+1, r.Recalled+some(got)
		r.TokensMean += float64(got.Tokens)
	}
	r.TokensMean /= float64(max(r.Prompts, 1))
	a := &r.Answerable
	for _, it := range items {
		got, err := turn(ctx, k, question(it), now)
		if err != nil {
			return r, err
		}
		a.add(got)
		a.TokensMean += float64(got.Tokens)
		for _, c := range got.Citations {
			if path, from, to, ok := lines(c); ok && holds(it, path, from, to) {
				a.Right++
				break
			}
		}
	}
	a.TokensMean /= float64(max(a.Prompts, 1))
	return r, nil
}

func (c *count) add(got api.Retrieval) {
	c.Prompts++
	c.Recalled += some(got)
}

func some(got api.Retrieval) int {
	if got.Page == "" {
		return 0
	}
	return 1
}

// The calls are planned for a model that every price book has room for, behind a turn
// that went before.
const (
	window = 128_000
	model  = "claude-sonnet-4-5"
)

func turn(ctx context.Context, k *kernel.Kernel, text string, now time.Time) (api.Retrieval, error) {
	say := func(role memkernel.Role, text string) memkernel.Message {
		return memkernel.Message{Role: role, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: text}}}
	}
	plan, err := k.Peek(ctx, api.PlanRequest{SessionKey: "judged", Model: model, ContextWindow: window, Private: true, Now: now,
		Messages: []memkernel.Message{say(memkernel.RoleUser, "…"), say(memkernel.RoleAssistant, "…"), say(memkernel.RoleUser, text)}})
	if err != nil {
		return api.Retrieval{}, fmt.Errorf("plan the turn %q: %w", text, err)
	}
	return plan.Retrieval, nil
}

// lines reads a citation, PATH#L1-L2 or PATH#L1.
func lines(citation string) (path string, from, to int, ok bool) {
	path, at, ok := strings.Cut(citation, "#L")
	if !ok {
		return "", 0, 0, false
	}
	first, last, several := strings.Cut(at, "-L")
	if !several {
		last = first
	}
	from, err := strconv.Atoi(first)
	if err != nil {
		return "", 0, 0, false
	}
	to, err = strconv.Atoi(last)
	return path, from, to, err == nil
}
