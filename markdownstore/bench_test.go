package markdownstore

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// corpus is one document of about 1 MiB, of the sample over and over with
// something different in each section.
func corpus() string {
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		b.WriteString(strings.ReplaceAll(sample, "Noon", strings.Repeat("Noon ", i%50)))
		b.WriteString("- Ann: a turn of the dialogue that goes on for a line or so, as they do.\n")
	}
	return b.String()
}

func BenchmarkParse(b *testing.B) {
	data := corpus()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		Parse("memory/a.md", data)
	}
}

func BenchmarkUnits(b *testing.B) {
	d := Parse("memory/a.md", corpus())
	b.SetBytes(int64(len(d.Raw)))
	b.ReportAllocs()
	for b.Loop() {
		Units(d)
	}
}

func benchChunks(b *testing.B, docs []Document) {
	size, n := 0, 0
	for _, d := range docs {
		size += len(d.Raw)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		n = 0
		for _, d := range docs {
			for range ChunkSeq(d, nil) {
				n++
			}
		}
	}
	b.ReportMetric(float64(n), "chunks")
}

func BenchmarkChunks(b *testing.B) {
	b.Run("synthetic", func(b *testing.B) { benchChunks(b, []Document{Parse("memory/a.md", corpus())}) })
	for _, sub := range []string{"workspaces", "retrieval"} {
		b.Run(sub, func(b *testing.B) {
			files := sharedFiles(b, sub)
			var docs []Document
			for _, p := range slices.Sorted(maps.Keys(files)) {
				docs = append(docs, Parse(p, files[p]))
			}
			benchChunks(b, docs)
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	s := open(b, workspace(b, nil), true)
	i := 0
	for b.Loop() {
		i++
		if _, err := s.Append(bg, "memory/2026-03-21.md", "e"+strings.Repeat("x", i%90)+string(rune('a'+i%26)), "- an entry"); err != nil {
			b.Fatal(err)
		}
	}
}
