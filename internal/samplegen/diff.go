package main

import (
	"fmt"
	"strings"
)

// hunkBounds finds the changed middle of two texts: the number of equal lines
// in front and behind.
func hunkBounds(a, b []string) (front, back int) {
	for front < len(a) && front < len(b) && a[front] == b[front] {
		front++
	}
	for back < len(a)-front && back < len(b)-front && a[len(a)-1-back] == b[len(b)-1-back] {
		back++
	}
	return front, back
}

// lines splits a text; an empty text has none.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// unified is one hunk that spans every change of a file.
func unified(file, before, after string, r *rng) string {
	if before == after {
		return ""
	}
	a, b := lines(before), lines(after)
	front, back := hunkBounds(a, b)
	lead, tail := min(3, front), min(3, back)
	var out strings.Builder
	fmt.Fprintf(&out, "diff --git a/%s b/%s\nindex %s..%s 100644\n--- a/%s\n+++ b/%s\n", file, file, r.hex(7), r.hex(7), file, file)
	fmt.Fprintf(&out, "@@ -%d,%d +%d,%d @@\n", front-lead+1, len(a)-front-back+lead+tail, front-lead+1, len(b)-front-back+lead+tail)
	for _, l := range a[front-lead : front] {
		out.WriteString(" " + l + "\n")
	}
	for _, l := range a[front : len(a)-back] {
		out.WriteString("-" + l + "\n")
	}
	for _, l := range b[front : len(b)-back] {
		out.WriteString("+" + l + "\n")
	}
	for _, l := range a[len(a)-back : len(a)-back+tail] {
		out.WriteString(" " + l + "\n")
	}
	return out.String()
}

// changed counts lines added and removed.
func changed(before, after string) (added, gone int) {
	a, b := lines(before), lines(after)
	front, back := hunkBounds(a, b)
	return len(b) - front - back, len(a) - front - back
}
