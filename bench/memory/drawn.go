package main

import (
	"bufio"
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/memkernel/memkernel/consolidation"
)

//go:embed testdata/verdicts.jsonl
var verdictLines []byte

// verdict is a reader's judgment whether a curated entry would help somebody who works in the
// workspace a week later, and why.
type verdict struct {
	// Key is the hash of the entry's words.
	Key    string `json:"key"`
	Useful bool   `json:"useful"`
	Reason string `json:"reason"`
}

func verdicts() (map[string]verdict, error) {
	out := map[string]verdict{}
	sc := bufio.NewScanner(bytes.NewReader(verdictLines))
	for n := 1; sc.Scan(); n++ {
		var v verdict
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("verdicts.jsonl:%d: %w", n, err)
		}
		out[v.Key] = v
	}
	return out, sc.Err()
}

// draw draws n curated entries. From the same list it always draws the same entries.
func draw(all []curated, n int) []curated {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b curated) int { return cmp.Compare(a.key(), b.key()) })
	rng := rand.New(rand.NewPCG(50, 20))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}

func (c *curated) key() string { return consolidation.KeyHash(c.entry.Text) }

// useful counts the drawn entries that have a verdict, and the drawn entries that are useful by
// their verdict.
func useful(drawn []curated) (judged, good int, err error) {
	vs, err := verdicts()
	for i := range drawn {
		if v, ok := vs[drawn[i].key()]; ok {
			judged++
			if v.Useful {
				good++
			}
		}
	}
	return judged, good, err
}
