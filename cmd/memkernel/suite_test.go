package main

import (
	"testing"

	"github.com/memkernel/memkernel/internal/lazyregexp"
	"github.com/memkernel/memkernel/internal/suite"
)

func init() { suite.Quick(0) }

// TestPatterns: whatever package has a pattern that is compiled late has a good one.
func TestPatterns(t *testing.T) {
	if lazyregexp.CompileAll() == 0 {
		t.Error("no pattern")
	}
}
