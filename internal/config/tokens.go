package config

import (
	"fmt"
	"math"
)

// Tokens is a number of tokens, spelled 200000, 200k or 1m. It is also a flag of
// the command line.
type Tokens int

var tokenScales = []scale{{"m", 1_000_000}, {"k", 1000}, {"", 1}}

// Set reads a number with an optional k (thousand) or m (million).
func (n *Tokens) Set(s string) error {
	v, ok := parseScaled(s, tokenScales, math.MaxInt32)
	if !ok {
		return fmt.Errorf("%q is not a number of tokens such as 200000, 200k or 1m", s)
	}
	*n = Tokens(v)
	return nil
}

// String returns the shortest spelling.
func (n Tokens) String() string { return formatScaled(int64(n), tokenScales) }

// Type names the kind of value in the help of a flag.
func (n Tokens) Type() string { return "tokens" }
