package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
	"unicode"

	"github.com/memkernel/memkernel/bench/relevance"
)

// prompt is a text that somebody types.
type prompt struct {
	Language string `json:"lang"`
	Kind     string `json:"kind"`
	Text     string `json:"text"`
	Sealed   bool   `json:"sealed"`
}

//go:embed prompts.jsonl
var data []byte

// prompts returns all prompts that have nothing to do with memory.
var prompts = sync.OnceValues(func() (out []prompt, err error) {
	sc := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; sc.Scan(); n++ {
		var p prompt
		if err := json.Unmarshal(sc.Bytes(), &p); err != nil {
			return nil, fmt.Errorf("prompts.jsonl:%d: %w", n, err)
		}
		out = append(out, p)
	}
	return out, sc.Err()
})

// promptsOf returns the sealed prompts, or the prompts that are not sealed.
func promptsOf(sealed bool) ([]prompt, error) {
	all, err := prompts()
	var out []prompt
	for _, p := range all {
		if p.Sealed == sealed {
			out = append(out, p)
		}
	}
	return out, err
}

// question returns a question for an item, as asked by somebody who knows that a note has the
// item.
func question(it relevance.KnownItem) string {
	for _, r := range it.Query {
		if unicode.In(r, unicode.Han) {
			return "我们之前记下的“" + it.Query + "”是怎么回事？"
		}
	}
	return "What did we note about " + it.Query + "?"
}
