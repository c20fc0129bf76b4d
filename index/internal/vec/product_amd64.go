package vec

// product is that of a vector with one that is at least as long.
//
//go:noescape
func product(v, w []float32) float32
