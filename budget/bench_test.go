package budget

import (
	"testing"
	"time"
)

// BenchmarkO200k compares our counter with the reference on 8,000 bytes of each
// class of text. memkernel's "x-reference" is how many times faster it is,
// measured in the same run.
func BenchmarkO200k(b *testing.B) {
	for _, c := range []struct{ name, class string }{
		{"prose", "prose"}, {"code", "go"}, {"json", "json compact"}, {"cjk", "chinese"}, {"base64", "base64"},
		{"markdown", "markdown"}, {"log", "log"}, {"german", "german"}, {"japanese", "japanese"},
	} {
		text := sample(b, c.class)
		ref := reference(b, o200k)
		b.Run(c.name+"/memkernel", func(b *testing.B) {
			counter, _ := For(o200k)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				counter.Count(text)
			}
			own := b.Elapsed().Seconds() / float64(b.N)
			b.ReportMetric(referenceSeconds(func() { ref.EncodeOrdinary(text) })/own, "x-reference")
		})
		b.Run(c.name+"/reference", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				ref.EncodeOrdinary(text)
			}
		})
	}
}

// referenceSeconds times f over at least 50 ms.
func referenceSeconds(f func()) float64 {
	n, start := 0, time.Now()
	for time.Since(start) < 50*time.Millisecond {
		f()
		n++
	}
	return time.Since(start).Seconds() / float64(n)
}
