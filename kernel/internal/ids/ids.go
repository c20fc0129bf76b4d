// Package ids names pages by their provenance, and content by its hash. Equal content has equal
// names in every process. The package reads and writes nothing.
package ids

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// Page derives a page's stable id from its provenance.
func Page(prefix string, provenance ...string) string {
	h := sha256.New()
	for _, p := range provenance {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return prefix + "-" + hex.EncodeToString(h.Sum(nil)[:8])
}

// Conversation returns the page of a run of a message's parts. Hosts number the messages of every
// sidechain from the beginning.
func Conversation(branch, key string, part int) string {
	return Page("cv", Branched(branch, key), strconv.Itoa(part))
}

// Evidence returns the page of a tool call and its result.
func Evidence(branch, call string) string { return Page("ev", Branched(branch, call)) }

// Branched returns a host's id that differs from the same id on another branch.
func Branched(branch, id string) string {
	if branch == "" {
		return id
	}
	return branch + "\x00" + id
}

// Hash returns the hash of a text, in hex.
func Hash(s string) string {
	if len(s) > 32<<10 { // in pieces, without a copy of the text
		h := sha256.New()
		w := bufio.NewWriter(h)
		w.WriteString(s)
		w.Flush()
		return hex.EncodeToString(h.Sum(nil))
	}
	return HashBytes([]byte(s))
}

// HashBytes returns the hash of bytes, in hex.
func HashBytes(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
