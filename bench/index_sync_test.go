package bench

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/markdownstore"
)

func openIndex(b testing.TB) *index.Index {
	b.Helper()
	ix, err := index.Open(filepath.Join(b.TempDir(), "index.sqlite"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { ix.Close() })
	return ix
}

func syncIndex(b testing.TB, ix *index.Index, source iter.Seq2[index.FileStat, error], read index.Reader) index.SyncReport {
	b.Helper()
	r, err := ix.Sync(context.Background(), source, read, nil)
	if err != nil || len(r.Failed) > 0 {
		b.Fatal(err, r.Failed)
	}
	return r
}

// BenchmarkIndexFull is a full sync, from chunks to the closed file, against
// the insertion into a bare table of words that were analysed before.
func BenchmarkIndexFull(b *testing.B) {
	eachCorpus(b, func(b *testing.B, c *corpus) { full(b, c, c.list(), c.read) })
}

// BenchmarkIndexFiles is the same from Markdown files on disk, which are read
// and cut on the way.
func BenchmarkIndexFiles(b *testing.B) {
	c := notesCorpus(b, 10000)
	root := b.TempDir()
	for p, chunks := range c.files {
		var text strings.Builder
		for _, ch := range chunks {
			fmt.Fprintf(&text, "# %s\n\n%s", ch.Trail[1], ch.Text)
		}
		write(b, filepath.Join(root, p), text.String())
	}
	read := func(path string) ([]index.Chunk, error) {
		data, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return nil, err
		}
		var out []index.Chunk
		for ch := range markdownstore.ChunkSeq(markdownstore.Parse(path, string(data)), nil) {
			out = append(out, index.Chunk{ID: ch.ID, StartLine: ch.StartLine, EndLine: ch.EndLine,
				Trail: ch.Trail, Date: ch.Date, Tokens: ch.Tokens, Text: ch.Text})
		}
		return out, nil
	}
	cut := &corpus{files: map[string][]index.Chunk{}}
	for p := range c.files {
		cut.files[p], _ = read(p)
	}
	full(b, cut.finish(), walk(root), read)
}

func full(b *testing.B, c *corpus, source iter.Seq2[index.FileStat, error], read index.Reader) {
	ready := analyse(b, c)
	var ours, theirs []time.Duration
	var report index.SyncReport
	for b.Loop() {
		p := newPeer(b)
		t := time.Now()
		p.insert(ready)
		p.db.Close()
		theirs = append(theirs, time.Since(t))

		ix := openIndex(b)
		t = time.Now()
		report = syncIndex(b, ix, source, read)
		ix.Close()
		ours = append(ours, time.Since(t))
	}
	if report.ChunksAdded != len(ready) {
		b.Fatalf("%d chunks were added, want %d", report.ChunksAdded, len(ready))
	}
	best := slices.Min(ours).Seconds()
	b.ReportMetric(best/slices.Min(theirs).Seconds(), "x-bare-fts5")
	b.ReportMetric(float64(report.ChunkBytes)/1e6/best, "MB/s")
	b.ReportMetric(float64(len(ready))/best, "chunks/s")
}

func write(b testing.TB, path, text string) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
	when := time.Date(2026, 3, 1, 12, 0, 0, 1, time.UTC)
	if err := os.Chtimes(path, when, when); err != nil {
		b.Fatal(err)
	}
}

// walk lists the Markdown files below a folder.
func walk(root string) iter.Seq2[index.FileStat, error] {
	return func(yield func(index.FileStat, error) bool) {
		filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(p, ".md") {
				return err
			}
			fi, err := d.Info()
			if err != nil {
				return err
			}
			if !yield(index.FileStat{Path: filepath.ToSlash(p[len(root)+1:]), Size: fi.Size(), ModTime: fi.ModTime()}, nil) {
				return filepath.SkipAll
			}
			return nil
		})
	}
}

// BenchmarkIndexNoop is a sync, and Behind, over 10,000 files of which none has
// changed, against find printing size and time of the same files.
func BenchmarkIndexNoop(b *testing.B) {
	root := b.TempDir()
	for i := range 10000 {
		write(b, filepath.Join(root, fmt.Sprintf("d%02d/%05d.md", i/250, i)), fmt.Sprintf("file %d\n", i))
	}
	find, err := exec.LookPath("find")
	if err != nil {
		b.Skip("no find")
	}
	opened := 0
	read := func(path string) ([]index.Chunk, error) {
		opened++
		return []index.Chunk{{StartLine: 1, EndLine: 1, Text: path}}, nil
	}
	ix := openIndex(b)
	syncIndex(b, ix, walk(root), read)
	opened = 0
	measure := func(f func()) time.Duration {
		t := time.Now()
		f()
		return time.Since(t)
	}
	times := map[string][]time.Duration{}
	for b.Loop() {
		times["find"] = append(times["find"], measure(func() {
			if err := exec.Command(find, root, "-name", "*.md", "-printf", "%s %T@ %p\n").Run(); err != nil {
				b.Fatal(err)
			}
		}))
		times["walk"] = append(times["walk"], measure(func() {
			for range walk(root) {
			}
		}))
		times["sync"] = append(times["sync"], measure(func() { syncIndex(b, ix, walk(root), read) }))
		times["behind"] = append(times["behind"], measure(func() {
			if late, err := ix.Lag(context.Background(), walk(root)); err != nil || !late.Zero() {
				b.Fatal(late, err)
			}
		}))
	}
	if opened > 0 {
		b.Fatalf("%d files were opened", opened)
	}
	for _, what := range []string{"walk", "sync", "behind"} {
		b.ReportMetric(float64(quantile(times[what], 0.5))/float64(quantile(times["find"], 0.5)), what+"-x-find")
	}
	b.ReportMetric(float64(quantile(times["sync"], 0.5).Microseconds())/1000, "sync-ms")
}

// quantile is the value below which a share q of the times lie.
func quantile(times []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
