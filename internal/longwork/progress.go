// Package longwork is about work that takes long: Over and its kin report progress to the person who
// waits, by way of the context, and Run and Aside let idle processors help.
package longwork

import (
	"context"
	"iter"
)

// Progress is told how many of all units are done, such as 3 of 10 of "session". Of a unit it
// hears 0 first, then no less than before, and all of them at last unless that ends before;
// then another unit may follow, or the same anew. It is called often.
type Progress func(unit string, done, all int)

type key struct{}

// WithProgress is a context whose work is told to f.
func WithProgress(ctx context.Context, f Progress) context.Context {
	return context.WithValue(ctx, key{}, f)
}

// ProgressOf is who is told, never nil.
func ProgressOf(ctx context.Context) Progress {
	if f, ok := ctx.Value(key{}).(Progress); ok && f != nil {
		return f
	}
	return func(string, int, int) {}
}

// Within is the context of the work on one of some units: who is told hears no more of
// such units from it, which would be parts of one.
func Within(ctx context.Context, unit string) context.Context {
	tell := ProgressOf(ctx)
	return WithProgress(ctx, func(u string, done, all int) {
		if u != unit {
			tell(u, done, all)
		}
	})
}

// Over goes over all items, and tells how far it is.
func Over[T any](ctx context.Context, unit string, all []T) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		tell := ProgressOf(ctx)
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
