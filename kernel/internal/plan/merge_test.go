package plan

import (
	"strings"
	"testing"
)

// BenchmarkBareWords brings a prompt of 600 kB into the form in which it is compared.
func BenchmarkBareWords(b *testing.B) {
	text := strings.Repeat("func (w *Worker) step(ctx context.Context, id int) error { // Größe 42\n", 600_000/70)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		bareWords(text)
	}
}
