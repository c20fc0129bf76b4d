package textutil

import "sync"

// Recent is a cache of the values that were used last. It has two generations. When the younger one
// is full, it replaces the older one. A value of the older generation returns to the younger one
// when it is used. All other values of the older generation are forgotten. The zero value is an
// empty cache, which is safe for concurrent use.
type Recent[K comparable, V any] struct {
	mu         sync.Mutex
	young, old map[K]recent[K, V]
	cost       int // of young
}

// recent is a value with the key under which it was put, its cost, and the most that a generation
// may cost.
type recent[K comparable, V any] struct {
	key        K
	value      V
	cost, most int
}

// Get returns the value of a key. The cache keeps the key that Put was given, and not this one.
func (c *Recent[K, V]) Get(key K) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.young[key]
	if !ok {
		if e, ok = c.old[key]; ok {
			c.put(e)
		}
	}
	return e.value, ok
}

// Put keeps a value. cost is its share of most, the most that a generation may cost.
func (c *Recent[K, V]) Put(key K, v V, cost, most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(recent[K, V]{key, v, cost, most})
}

// Age forgets the values that were not used since the previous call of Age.
func (c *Recent[K, V]) Age() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn()
}

// turn begins a generation. The caller must hold mu.
func (c *Recent[K, V]) turn() {
	c.young, c.old, c.cost = map[K]recent[K, V]{}, c.young, 0
}

// put keeps a value. The caller must hold mu.
func (c *Recent[K, V]) put(e recent[K, V]) {
	if c.young == nil || c.cost+e.cost > e.most {
		c.turn()
	}
	c.cost += e.cost
	c.young[e.key] = e
}
