// Package progress tells whoever waits how far something slow is: the context has who is
// told, and loops tell it, however deep. What is told changes nothing of what is done.
package progress

import (
	"context"
	"iter"
)

// Func is told how many of all units are done, such as 3 of 10 of "session". Of a unit it
// hears 0 first, then no less than before, and all of them at last unless that ends before;
// then another unit may follow, or the same anew. It is called often.
type Func func(unit string, done, all int)

type key struct{}

// With is a context whose work is told to f.
func With(ctx context.Context, f Func) context.Context { return context.WithValue(ctx, key{}, f) }

// Of is who is told, never nil.
func Of(ctx context.Context) Func {
	if f, ok := ctx.Value(key{}).(Func); ok && f != nil {
		return f
	}
	return func(string, int, int) {}
}

// Within is the context of the work on one of some units: who is told hears no more of
// such units from it, which would be parts of one.
func Within(ctx context.Context, unit string) context.Context {
	tell := Of(ctx)
	return With(ctx, func(u string, done, all int) {
		if u != unit {
			tell(u, done, all)
		}
	})
}

// Over goes over all items, and tells how far it is.
func Over[T any](ctx context.Context, unit string, all []T) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		tell := Of(ctx)
		for i, v := range all {
			tell(unit, i, len(all))
			if !yield(i, v) {
				return
			}
		}
		if len(all) > 0 {
			tell(unit, len(all), len(all))
		}
	}
}
