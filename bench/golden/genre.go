package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/memkernel/memkernel/bench/relevance"
)

// genre is a kind of notes, with questions about the notes.
type genre struct {
	name string
	make func(root string, n *notes) error
}

var genres = []genre{
	{"items-en", items(itemsEN)}, {"items-de", items(itemsDE)}, {"items-zh", items(itemsZH)},
	{"code", code},
	{"prose-en", prose(proseEN)}, {"prose-de", prose(proseDE)}, {"prose-es", prose(proseES)},
	{"prose-zh", prose(proseZH)}, {"prose-ar", prose(proseAR)}, {"prose-hi", prose(proseHI)},
	{"logs", logs}, {"tables", tables}, {"templates", templates},
}

// judge makes the genre in a temporary folder and asks one half of its questions.
func (g genre) judge(ctx context.Context, root string, sealed bool) (ours, plain []relevance.Answer, rows string, err error) {
	dir, err := os.MkdirTemp("", "memkernel-golden-")
	if err != nil {
		return nil, nil, "", err
	}
	defer os.RemoveAll(dir)
	set, err := g.set(dir, root, sealed)
	if err != nil {
		return nil, nil, "", fmt.Errorf("make %s: %w", g.name, err)
	}
	return ask(ctx, set)
}

// set writes the notes below dir. The questions are shuffled, and every second one is sealed.
func (g genre) set(dir, root string, sealed bool) (relevance.Set, error) {
	n := &notes{rng: rand.New(rand.NewPCG(2026, 11)), files: map[string]*strings.Builder{}, lines: map[string]int{}}
	if err := g.make(root, n); err != nil {
		return relevance.Set{}, err
	}
	for path, text := range n.files {
		full := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			return relevance.Set{}, err
		}
		if err := os.WriteFile(full, []byte(text.String()), 0o600); err != nil {
			return relevance.Set{}, err
		}
	}
	set := relevance.Set{Name: g.name, Dir: dir}
	n.rng.Shuffle(len(n.questions), func(i, j int) { n.questions[i], n.questions[j] = n.questions[j], n.questions[i] })
	for i, q := range n.questions {
		if (i%2 == 1) == sealed {
			q.ID, q.Category = fmt.Sprintf("%s-%d", g.name, i), g.name
			set.Questions = append(set.Questions, q)
		}
	}
	return set, nil
}

// notes holds files that grow line by line, and questions about their lines.
type notes struct {
	rng       *rand.Rand
	files     map[string]*strings.Builder
	lines     map[string]int
	questions []relevance.Question
}

// add writes lines to a file and returns the number of the first line.
func (n *notes) add(path string, text ...string) int {
	if n.files[path] == nil {
		n.files[path] = &strings.Builder{}
	}
	first := n.lines[path] + 1
	for _, t := range text {
		n.files[path].WriteString(t + "\n")
		n.lines[path] += 1 + strings.Count(t, "\n")
	}
	return first
}

// ask adds a question that lines of a file answer.
func (n *notes) ask(text, path string, from, to int) {
	n.questions = append(n.questions, relevance.Question{Text: text, Evidence: []relevance.Evidence{{File: path, Line: from, EndLine: to}}})
}

// pairs returns all pairs of two lists, shuffled.
func (n *notes) pairs(a, b int) [][2]int {
	var out [][2]int
	for i := range a {
		for j := range b {
			out = append(out, [2]int{i, j})
		}
	}
	n.rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func (n *notes) pick(of []string) string { return of[n.rng.IntN(len(of))] }
