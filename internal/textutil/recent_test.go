package textutil

import "testing"

// The values used last stay, within twice the most.
func TestRecent(t *testing.T) {
	var c Recent[int, string]
	if _, ok := c.Get(0); ok {
		t.Error("an empty cache has a value")
	}
	for i := range 20 {
		c.Put(i, "x", 1, 5)
		if v, ok := c.Get(0); !ok || v != "x" {
			t.Fatalf("after %d values the one that is always used is gone", i)
		}
	}
	kept := 0
	for i := range 20 {
		if len(c.young) > 5 || len(c.old) > 5 {
			t.Fatalf("generations of %d and %d", len(c.young), len(c.old))
		}
		if _, ok := c.young[i]; ok {
			kept++
		} else if _, ok := c.old[i]; ok {
			kept++
		}
	}
	if _, ok := c.Get(19); !ok || kept < 5 {
		t.Errorf("%d are kept, the last one: %v", kept, ok)
	}
}
