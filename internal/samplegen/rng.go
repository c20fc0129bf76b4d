package main

import "encoding/base64"

// rng is splitmix64: tiny, and the same in every Go release.
type rng struct{ state uint64 }

func (r *rng) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// n is a number in [0, max).
func (r *rng) n(max int) int { return int(r.next() % uint64(max)) }

// between is a number in [lo, hi].
func (r *rng) between(lo, hi int) int { return lo + r.n(hi-lo+1) }

// chance is true in p of 100 cases.
func (r *rng) chance(p int) bool { return r.n(100) < p }

// pick takes one of the choices.
func pick[T any](r *rng, of []T) T { return of[r.n(len(of))] }

const hexDigits = "0123456789abcdef"

// hex is a run of n lower-case hex digits.
func (r *rng) hex(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = hexDigits[r.n(16)]
	}
	return string(b)
}

// uuid looks like a version 4 UUID.
func (r *rng) uuid() string {
	return r.hex(8) + "-" + r.hex(4) + "-4" + r.hex(3) + "-a" + r.hex(3) + "-" + r.hex(12)
}

const idChars = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz123456789"

// id is a provider-like identifier.
func (r *rng) id(prefix string) string {
	b := make([]byte, 22)
	for i := range b {
		b[i] = idChars[r.n(len(idChars))]
	}
	return prefix + "01" + string(b)
}

// signature stands for the opaque signature of a thinking block.
func (r *rng) signature(bytes int) string {
	b := make([]byte, bytes)
	for i := range b {
		b[i] = byte(r.next())
	}
	return base64.StdEncoding.EncodeToString(b)
}
