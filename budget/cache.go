package budget

import (
	"hash/maphash"
	"sync"
)

// DefaultCacheSize is the number of counts that a cache keeps at least.
const DefaultCacheSize = 1 << 16

// uncached is the size up to which counting a text costs no more than finding
// its count, in bytes.
const uncached = 48

// Cache keeps counts by content, so that a plan counts new content only. It identifies content by
// a 64-bit hash with a random seed, its length and the counter's name; it keeps no texts. It is
// safe for concurrent use.
//
// It has two generations. When the younger is full it replaces the older. Counts of the older
// return to the younger when they are used, and the others are forgotten.
type Cache struct {
	size int
	seed maphash.Seed

	mu         sync.Mutex // guards the maps
	young, old map[cacheKey]Count
}

type cacheKey struct {
	counter string
	hash    uint64
	length  int
}

// NewCache returns an empty cache that keeps at least the size counts used last
// and at most twice as many. 0 means [DefaultCacheSize].
func NewCache(size int) *Cache {
	if size <= 0 {
		size = DefaultCacheSize
	}
	return &Cache{size: size, seed: maphash.MakeSeed(), young: map[cacheKey]Count{}}
}

// Count returns c.Count(text), from the cache if it is there. A nil cache counts
// each time.
func (k *Cache) Count(c Counter, text string) Count {
	if k == nil || len(text) <= uncached {
		return c.Count(text)
	}
	key := cacheKey{counter: c.Name(), hash: maphash.String(k.seed, text), length: len(text)}
	if n, ok := k.get(key); ok {
		return n
	}
	n := c.Count(text)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.add(key, n)
	return n
}

func (k *Cache) get(key cacheKey) (Count, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n, ok := k.young[key]
	if !ok {
		if n, ok = k.old[key]; ok {
			k.add(key, n)
		}
	}
	return n, ok
}

// add keeps a count. The caller must hold k.mu.
func (k *Cache) add(key cacheKey, n Count) {
	if len(k.young) >= k.size {
		k.young, k.old = make(map[cacheKey]Count, k.size), k.young
	}
	k.young[key] = n
}

// Len returns the number of counts kept.
func (k *Cache) Len() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := len(k.young)
	for key := range k.old {
		if _, ok := k.young[key]; !ok {
			n++
		}
	}
	return n
}
