package consolidation

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
)

// Derived keeps results that follow from the content of a file alone, so that the next night does
// not look at unchanged files again. It holds hashes, and no text. A nil Derived keeps nothing.
type Derived struct {
	// Known are the results that an earlier [Derived.Used] returned.
	Known map[string][]byte
	used  map[string][]byte
	fresh bool
}

// Used returns the results that were asked for, and whether they are others than the known ones.
func (d *Derived) Used() (map[string][]byte, bool) {
	return d.used, d.fresh || len(d.used) != len(d.Known)
}

// Of returns a result for a file's text. If it is not known, result is called. kind names
// everything else that the result depends on.
func (d *Derived) Of(kind, text string, result func() []byte) []byte {
	if d == nil {
		return result()
	}
	sum := sha256.Sum256([]byte(kind + "\x00" + text))
	k := hex.EncodeToString(sum[:16])
	out, ok := d.Known[k]
	if !ok {
		out, d.fresh = result(), true
	}
	if d.used == nil {
		d.used = map[string][]byte{}
	}
	d.used[k] = out
	return out
}

// Clean reports whether masking, in a manner that kind names, leaves a text as it is.
func (d *Derived) Clean(kind, text string, masked func(string) string) bool {
	return len(d.Of(kind, text, func() []byte {
		if masked(text) == text {
			return nil
		}
		return []byte{1}
	})) == 0
}

// hashed is the hash of a text.
func hashed(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// id names a set of names.
func (p people) id() string { return strings.Join(slices.Sorted(maps.Keys(p)), " ") }
