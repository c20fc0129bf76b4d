package cli

import (
	"io"
	"testing"
)

// TestNoBars: bars are for terminals, and not with --quiet.
func TestNoBars(t *testing.T) {
	if u := (&UI{Err: io.Discard}); u.Bars() != nil {
		t.Error("there are bars where there is no terminal")
	}
	if u := (&UI{Err: io.Discard, Quiet: true}); u.Bars() != nil {
		t.Error("there are bars with --quiet")
	}
}
