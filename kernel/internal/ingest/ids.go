package ingest

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
	"sync"
)

// PageID derives a page's stable id from its provenance. Equal content has equal ids and hashes in
// every process.
func PageID(prefix string, provenance ...string) string {
	return prefix + "-" + hashOf(func(w *bufio.Writer) {
		for _, p := range provenance {
			w.WriteString(p)
			w.WriteByte(0)
		}
	})[:16]
}

// conversationID returns the page of a run of a message's parts. Hosts number the messages of every
// sidechain from the beginning.
func conversationID(branch, key string, part int) string {
	return PageID("cv", branched(branch, key), strconv.Itoa(part))
}

// evidenceID returns the page of a tool call and its result.
func evidenceID(branch, call string) string { return PageID("ev", branched(branch, call)) }

// branched returns a host's id that differs from the same id on another branch.
func branched(branch, id string) string {
	if branch == "" {
		return id
	}
	return branch + "\x00" + id
}

// Hash returns the hash of a text, in hex.
func Hash(s string) string { return hashOf(func(w *bufio.Writer) { w.WriteString(s) }) }

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

// hashOf returns the hash of the bytes that write writes, in hex. write must not keep w.
func hashOf(write func(w *bufio.Writer)) string {
	h := hashers.Get().(*hasher)
	defer hashers.Put(h)
	h.hash.Reset()
	write(h.w)
	h.w.Flush()
	hex.Encode(h.hex[:], h.hash.Sum(h.sum[:0]))
	return string(h.hex[:])
}
