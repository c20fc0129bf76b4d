// Command samplegen writes the sample session that is bundled in testdata: an
// invented coding agent at work on an invented Go web service, in the JSONL
// that Claude Code keeps.
//
// Nothing in it was recorded. A small project is made from templates, a script
// of tasks is played against it (files are really edited, so what is read later
// shows the edits), and the usage figures come from a simulated cache with a
// five-minute lifetime. The same seed always gives the same bytes.
//
//	┌──────────┐   reads, edits    ┌───────────┐   records   ┌────────────┐
//	│ script_* │ ────────────────► │ world     │ ──────────► │ session    │
//	│ (tasks)  │                   │ (files)   │             │ (JSONL)    │
//	└──────────┘                   └───────────┘             └────────────┘
//
// It never reads a file, a clock or the network. Sizes are bytes, tokens are an
// estimate of a provider's, times are UTC.
package main

//go:generate go run . -o ../../testdata/session.jsonl

import (
	"bytes"
	"flag"
	"fmt"
	"os"
)

// defaultSeed makes the bundled sample.
const defaultSeed = 20260309

func main() {
	out := flag.String("o", "", "file to write (default standard output)")
	seed := flag.Uint64("seed", defaultSeed, "seed of every choice")
	flag.Parse()
	data := Generate(*seed)
	var err error
	if *out == "" {
		_, err = os.Stdout.Write(data)
	} else {
		err = os.WriteFile(*out, data, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "samplegen: error:", err)
		os.Exit(1)
	}
}

// Generate plays the whole script with a seed and returns the session's JSONL.
func Generate(seed uint64) []byte {
	var buf bytes.Buffer
	s := newSession(&buf, seed)
	playMorning(s)
	playAfternoon(s)
	s.compact(compactionSummary)
	playEvening(s)
	return buf.Bytes()
}
