package turns

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/bench/relevance"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/outline"
)

// Prompt is what somebody types.
type Prompt struct {
	Language string `json:"lang"`
	Kind     string `json:"kind"`
	Text     string `json:"text"`
	Sealed   bool   `json:"sealed"`
}

//go:embed prompts.jsonl
var data []byte

// prompts are all that have nothing to do with memory.
var prompts = sync.OnceValues(func() (out []Prompt, err error) {
	sc := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; sc.Scan(); n++ {
		var p Prompt
		if err := json.Unmarshal(sc.Bytes(), &p); err != nil {
			return nil, fmt.Errorf("prompts.jsonl:%d: %w", n, err)
		}
		out = append(out, p)
	}
	return out, sc.Err()
})

// Prompts returns those that are sealed, or those that are not.
func Prompts(sealed bool) ([]Prompt, error) {
	all, err := prompts()
	var out []Prompt
	for _, p := range all {
		if p.Sealed == sealed {
			out = append(out, p)
		}
	}
	return out, err
}

// Report is how often something was recalled for prompts that ask nothing of memory,
// and for questions that it can answer.
type Report struct {
	Prompts  int `json:"prompts"`
	Recalled int `json:"recalled"`
	// TokensMean is the size of what was recalled, over all prompts.
	TokensMean float64 `json:"tokens_mean"`
	// Kinds are the same by the kind of prompt.
	Kinds      map[string]Count `json:"kinds"`
	Answerable Answerable       `json:"answerable"`
}

// Count is how many of some prompts got something.
type Count struct {
	Prompts  int `json:"prompts"`
	Recalled int `json:"recalled"`
}

// Answerable are questions whose answers stand in the workspace; Right is how many got
// lines that hold theirs.
type Answerable struct {
	Count
	Right      int     `json:"right"`
	TokensMean float64 `json:"tokens_mean"`
}

// Judge plans every prompt, and a question for each item, each as a session of its own.
// The kernel must have indexed the workspace that the items are of. Now is the moment of
// the calls; nothing is written.
func Judge(ctx context.Context, k *kernel.Kernel, prompts []Prompt, items []relevance.KnownItem, holds func(it relevance.KnownItem, path string, from, to int) bool, now time.Time) (Report, error) {
	r := Report{Kinds: map[string]Count{}}
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
		got, err := turn(ctx, k, Question(it), now)
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

func (c *Count) add(got outline.Retrieval) {
	c.Prompts++
	c.Recalled += some(got)
}

func some(got outline.Retrieval) int {
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

func turn(ctx context.Context, k *kernel.Kernel, text string, now time.Time) (outline.Retrieval, error) {
	say := func(role memkernel.Role, text string) memkernel.Message {
		return memkernel.Message{Role: role, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: text}}}
	}
	plan, err := k.Peek(ctx, kernel.PlanRequest{SessionKey: "judged", Model: model, ContextWindow: window, Private: true, Now: now,
		Messages: []memkernel.Message{say(memkernel.RoleUser, "…"), say(memkernel.RoleAssistant, "…"), say(memkernel.RoleUser, text)}})
	if err != nil {
		return outline.Retrieval{}, fmt.Errorf("plan the turn %q: %w", text, err)
	}
	return plan.Retrieval, nil
}

// Question asks for an item as somebody would who knows that it was written down.
func Question(it relevance.KnownItem) string {
	for _, r := range it.Query {
		if unicode.In(r, unicode.Han) {
			return "我们之前记下的“" + it.Query + "”是怎么回事？"
		}
	}
	return "What did we note about " + it.Query + "?"
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
