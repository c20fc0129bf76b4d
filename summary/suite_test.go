package summary

import "github.com/memkernel/memkernel/internal/suite"

func init() { suite.Quick(10) }

// thirds counts three bytes as a token.
func thirds(s string) int { return (len(s) + 2) / 3 }

// unmasked is the mask of texts without secrets.
func unmasked(text string) string { return text }
