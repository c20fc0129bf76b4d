// Package longwork is for work that takes long: Over reports progress through the context, and Run
// and Aside let idle processors help.
package longwork

import (
	"context"
	"iter"
)

// progress receives the number of finished units and the number of all units, such as 3 and 10 of
// the unit "session". For each unit, done begins at 0, never falls, and ends at the value of all
// unless the work fails. Another unit may follow, or the same unit again. Progress is called
// often.
type progress func(unit string, done, all int)

type key struct{}

// WithProgress returns a context whose work reports to f.
func WithProgress(ctx context.Context, f progress) context.Context {
	return context.WithValue(ctx, key{}, f)
}

// ProgressOf returns the function that work reports to. It is never nil.
func ProgressOf(ctx context.Context) progress {
	if f, ok := ctx.Value(key{}).(progress); ok && f != nil {
		return f
	}
	return func(string, int, int) {}
}

// Within returns a context for the work on one of several units. Reports with the same unit are
// dropped, because they would count parts of a single unit.
func Within(ctx context.Context, unit string) context.Context {
	tell := ProgressOf(ctx)
	return WithProgress(ctx, func(u string, done, all int) {
		if u != unit {
			tell(u, done, all)
		}
	})
}

// Over iterates over all items and reports each step.
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
