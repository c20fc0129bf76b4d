// Package ids names pages by their provenance, and content by its hash. Equal content has equal
// names in every process. The package reads and writes nothing.
package ids

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
	"sync"
)

// Page derives a page's stable id from its provenance.
func Page(prefix string, provenance ...string) string {
	return prefix + "-" + HashOf(func(w *bufio.Writer) {
		for _, p := range provenance {
			w.WriteString(p)
			w.WriteByte(0)
		}
	})[:16]
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
func Hash(s string) string { return HashOf(func(w *bufio.Writer) { w.WriteString(s) }) }

// HashBytes returns the hash of bytes, in hex.
func HashBytes(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// hasher is a hash with a buffer, so that a text is hashed without a copy of it.
type hasher struct {
	hash hash.Hash
	w    *bufio.Writer
	sum  [sha256.Size]byte
	hex  [2 * sha256.Size]byte
}

var hashers = sync.Pool{New: func() any {
	h := &hasher{hash: sha256.New()}
	h.w = bufio.NewWriterSize(h.hash, 512)
	return h
}}

// HashOf returns the hash of the bytes that write writes, in hex. write must not keep w.
func HashOf(write func(w *bufio.Writer)) string {
	h := hashers.Get().(*hasher)
	defer hashers.Put(h)
	h.hash.Reset()
	write(h.w)
	h.w.Flush()
	hex.Encode(h.hex[:], h.hash.Sum(h.sum[:0]))
	return string(h.hex[:])
}
