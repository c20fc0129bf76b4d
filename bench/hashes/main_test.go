package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
)

// hashes are the lines of the sample's first calls under every host.
func hashes(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	for _, h := range hosts {
		h.refuse, h.compact, h.boundary, h.reopen = min(h.refuse, 4), min(h.compact, 5), min(h.boundary, 6), min(h.reopen, 7)
		if err := h.run(context.Background(), &out, "../../testdata/session.jsonl", "../../testdata/workspace", 12); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// Two runs of one build are equal, and every kind of line is there.
func TestSameBuildSameLines(t *testing.T) {
	a, b := hashes(t), hashes(t)
	var out strings.Builder
	if err := compare(&out, a, b); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	for _, kind := range []string{"body", "decision", "journal", "state", "workspace"} {
		if !strings.Contains(a, " "+kind+" ") {
			t.Errorf("no line of %s", kind)
		}
	}
	for _, what := range []string{" peek ", " refused ", " observed ", " compacted ", " checkpoint ", " flushed "} {
		if !strings.Contains(a, what) {
			t.Errorf("no line of%s", what)
		}
	}
}

func TestCompareFindsDifferences(t *testing.T) {
	before := "s whole 0 plan body aa\ns whole 0 plan decision bb\ns whole 1 plan body cc\n"
	for name, after := range map[string]string{
		"changed": strings.Replace(before, "cc", "dd", 1),
		"missing": strings.SplitAfterN(before, "\n", 2)[1],
		"new":     before + "s whole 2 plan body ee\n",
	} {
		if compare(io.Discard, before, after) == nil {
			t.Errorf("%s: no difference found", name)
		}
	}
	if err := compare(io.Discard, before, before); err != nil {
		t.Error(err)
	}
}
