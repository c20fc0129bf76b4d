package vec

// product returns the scalar product of v and w. w must be at least as long as v.
//
//go:noescape
func product(v, w []float32) float32
