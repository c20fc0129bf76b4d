package main

import (
	"io"
	"testing"
)

// TestNoBars: bars are for terminals, and not with --quiet.
func TestNoBars(t *testing.T) {
	if u := (&ui{err: io.Discard}); u.bars() != nil {
		t.Error("there are bars where there is no terminal")
	}
	if u := (&ui{err: io.Discard, quiet: true}); u.bars() != nil {
		t.Error("there are bars with --quiet")
	}
}
