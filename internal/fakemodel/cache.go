package fakemodel

import (
	"crypto/sha256"
	"time"
)

// Usage is the bill of one request, in tokens. Read, Written and Uncached add up to the input. Hour
// is the part of Written that is cached for an hour.
type Usage struct {
	Read, Written, Uncached, Output int

	Hour int
}

// Input returns the number of all input tokens.
func (u Usage) Input() int { return u.Read + u.Written + u.Uncached }

// cache holds prefixes by the hash of all their segments.
type cache struct {
	ttl   time.Duration
	until map[string]entry
}

// entry is a cached prefix.
type entry struct {
	until time.Time
	ttl   time.Duration
}

// holds reports whether a prefix is cached, and renews the prefix, because a provider counts a
// lifetime from the last use.
func (c *cache) holds(key string, now time.Time) bool {
	e, ok := c.until[key]
	if !ok || now.After(e.until) {
		return false
	}
	c.put(key, now, e.ttl)
	return true
}

// put caches a prefix for ttl, or for the server's time if ttl is 0.
func (c *cache) put(key string, now time.Time, ttl time.Duration) {
	if ttl == 0 {
		ttl = c.ttl
	}
	c.until[key] = entry{now.Add(ttl), ttl}
}

// longest returns the number of tokens in the longest cached prefix of the request, and caches all
// of the request's prefixes.
func (c *cache) longest(r Request) int {
	hit := 0
	for i, key := range prefixKeys(r.Model, r.Segments) {
		if c.holds(key, r.At) {
			hit = i + 1
		}
		c.put(key, r.At, 0)
	}
	return tokensOf(r.Segments, hit)
}

// prefixKeys returns the cache's keys of all prefixes of segments: keys[i] covers
// segments[:i+1].
func prefixKeys(model string, segments []segment) []string {
	sum := sha256.Sum256([]byte(model))
	keys := make([]string, len(segments))
	for i, s := range segments {
		sum = sha256.Sum256(append(sum[:], s.Bytes...))
		keys[i] = string(sum[:])
	}
	return keys
}

// tokensOf counts segments[:n].
func tokensOf(segments []segment, n int) int {
	total := 0
	for _, s := range segments[:n] {
		total += s.tokens()
	}
	return total
}
