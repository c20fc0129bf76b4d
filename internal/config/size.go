package config

import "fmt"

// Size is a number of bytes, spelled 32MiB or 32MB. Units with an i are powers of 1024. Units
// without an i are powers of 1000.
type Size int64

// maxSize is the largest size. Up to maxSize, floating-point numbers are exact too.
const maxSize = 1 << 53

var sizeScales = []scale{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"", 1}, {"B", 1}}

// Set reads a number of bytes with an optional unit.
func (n *Size) Set(s string) error {
	v, ok := parseScaled(s, sizeScales, maxSize)
	if !ok {
		return fmt.Errorf("%q is not a size such as 32MiB, 32MB or 500KB", s)
	}
	*n = Size(v)
	return nil
}

// String returns an exact spelling in a unit that divides it.
func (n Size) String() string { return formatScaled(int64(n), sizeScales) }
