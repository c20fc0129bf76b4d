package textutil

import "sync"

// Recent is a cache of the values that were used last. It has two generations. When the younger one
// is full, it replaces the older one. A value of the older generation returns to the younger one
// when it is used. All other values of the older generation are forgotten. The zero value is an
// empty cache, which is safe for concurrent use.
type Recent[K comparable, V any] struct {
	mu         sync.Mutex
	young, old map[K]recent[V]
	cost       int // of young
}

// recent is a value with its cost and with the most that a generation may cost.
type recent[V any] struct {
	value      V
	cost, most int
}

// Get returns the value of a key.
func (c *Recent[K, V]) Get(key K) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.young[key]
	if !ok {
		if e, ok = c.old[key]; ok {
			c.put(key, e)
		}
	}
	return e.value, ok
}

// Put keeps a value. cost is its share of most, the most that a generation may cost.
func (c *Recent[K, V]) Put(key K, v V, cost, most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, recent[V]{v, cost, most})
}

// put keeps a value. The caller must hold mu.
func (c *Recent[K, V]) put(key K, e recent[V]) {
	if c.cost += e.cost; c.young == nil || c.cost > e.most {
		c.young, c.old, c.cost = map[K]recent[V]{}, c.young, e.cost
	}
	c.young[key] = e
}
