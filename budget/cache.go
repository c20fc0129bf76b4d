package budget

import (
	"hash/maphash"
	"sync"
)

// defaultCacheSize is the minimum number of counts that a cache keeps.
const defaultCacheSize = 1 << 16

// uncached is the size in bytes up to which counting a text is as cheap as finding its count in
// the cache.
const uncached = 48

// Cache keeps counts by content, so that a plan counts new content only. It identifies content by
// a 64-bit hash with a random seed, the length and the counter's name. It keeps no texts. A Cache
// is safe for concurrent use.
//
// The cache has two generations. When the younger generation is full, it replaces the older one.
// A count of the older generation returns to the younger one when it is used. All other counts of
// the older generation are forgotten.
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

// NewCache returns an empty cache. It keeps at least the last size counts that were used, and at
// most twice as many counts. A size of 0 means 65,536.
func NewCache(size int) *Cache {
	if size <= 0 {
		size = defaultCacheSize
	}
	return &Cache{size: size, seed: maphash.MakeSeed(), young: map[cacheKey]Count{}}
}

// Count returns c.Count(text), from the cache if the cache has it. A nil cache counts each time.
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
