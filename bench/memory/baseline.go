package main

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed testdata/baseline.txt
var baselineLines string

// baseline is what the table had before rules were made by it, of one half of the sets.
func baseline(half string) (map[string]string, error) {
	out := map[string]string{}
	for n, line := range strings.Split(baselineLines, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, " ;; ")
		if len(f) != 3 {
			return nil, fmt.Errorf("baseline.txt:%d: %d fields, want 3", n+1, len(f))
		}
		if f[0] == half {
			out[f[1]] = f[2]
		}
	}
	return out, nil
}
