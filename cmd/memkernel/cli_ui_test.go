package main

import (
	"io"
	"testing"
)

// TestNoBars: bars are for terminals, and not with --quiet.
func TestNoBars(t *testing.T) {
	if u := (&ui{Err: io.Discard}); u.bars() != nil {
		t.Error("there are bars where there is no terminal")
	}
	if u := (&ui{Err: io.Discard, Quiet: true}); u.bars() != nil {
		t.Error("there are bars with --quiet")
	}
}
