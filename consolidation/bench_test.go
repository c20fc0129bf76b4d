package consolidation_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/memkernel/memkernel/consolidation"
)

// large is a workspace of n notes, each of some forty entries that differ.
func large(n int) fstest.MapFS {
	texts := map[string]string{"MEMORY.md": "# M\n\n## 2026-03-09\n\n- Postgres port: 5432\n"}
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "# Note %d\n\n", i)
		for j := range 40 {
			fmt.Fprintf(&b, "- Sailing %d of %d left port %d with %d guests, see [note](n%d.md)\n", j, i, i%97, i*j%241, i)
		}
		texts[fmt.Sprintf("memory/n%d.md", i)] = b.String()
	}
	return files(texts)
}

// BenchmarkAudit audits 10,000 files. times-read is how often the same files could
// have been read and taken apart meanwhile.
func BenchmarkAudit(b *testing.B) {
	fsys := large(10_000)
	host, _ := consolidation.HostByName("openclaw")
	o := consolidation.Options{Host: host, Now: now, Timezone: time.UTC}
	var read time.Duration
	for b.Loop() {
		b.StopTimer()
		start := time.Now()
		if _, err := consolidation.Read(b.Context(), fsys, 0, nil); err != nil {
			b.Fatal(err)
		}
		read += time.Since(start)
		b.StartTimer()
		if _, err := auditOf(b.Context(), fsys, o); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(read), "times-read")
}
