package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/memkernel/memkernel/bench/relevance"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// youngName is the name of the set of memories that have just begun.
const youngName = "young: a session's own log"

// flushEvery is the number of turns between two checkpoints of such a session.
const flushEvery = 3

// young makes a memory of each session in the transcripts below a folder. It holds only the lines
// that the session's checkpoints write into the day's log, as in a workspace after its first day.
func young(ctx context.Context, from, dir string) (out []source, err error) {
	if from == "" {
		return nil, nil
	}
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		s := source{Set: relevance.Set{Name: youngName, Dir: filepath.Join(dir, name)}, small: true}
		if err := keepLog(ctx, path, s.Dir); err != nil {
			return err
		}
		if s.asked, err = ofLog(s.Dir); len(s.asked) > 0 {
			out = append(out, s)
		}
		return err
	})
	return out, err
}

// keepLog runs a session through a kernel, and leaves the kernel's logs in dir.
func keepLog(ctx context.Context, path, dir string) (err error) {
	s, err := transcript.LoadFile(path, nil)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	state := dir + ".state"
	k, err := kernel.Open(ctx, dir, &kernel.Options{StateDir: state})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.Close(), os.RemoveAll(state)) }()
	msgs := s.View(transcript.Full)
	for i, end := range transcript.TurnEnds(msgs, true) {
		if (i+1)%flushEvery != 0 {
			continue
		}
		b := api.Boundary{SessionKey: "begun", Model: "claude-sonnet-4-6", Messages: msgs[:end], Now: msgs[end-1].Time, Private: true}
		if _, err := k.Flush(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// ofLog returns prompts about the entries of a memory's logs, made of words in these entries.
// Every second prompt is a question.
func ofLog(dir string) ([]string, error) {
	var out []string
	files, err := filepath.Glob(filepath.Join(dir, "memory", "*.md"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			entry, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
			words := strings.Fields(entry)
			if !ok || len(words) < 6 {
				continue
			}
			at := len(words) / 3
			asked := strings.Trim(strings.Join(words[at:min(at+5, len(words))], " "), ".,:;→(")
			if len(out)%2 == 0 {
				asked = "What did we note about " + asked + "?"
			}
			out = append(out, asked)
		}
	}
	return out, err
}
