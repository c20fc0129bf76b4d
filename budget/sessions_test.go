package budget

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/memkernel/memkernel/internal/suite"
)

// sessionTexts are all strings of the recorded sessions, in pieces of at most
// 16,000 bytes, if there are any: real text of every kind.
func sessionTexts(tb testing.TB) []string {
	tb.Helper()
	files, _ := filepath.Glob("../../shared/data/transcripts/*/*.jsonl")
	if len(files) == 0 {
		tb.Skip("no recorded sessions in ../../shared/data/transcripts")
	}
	var out []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			for len(v) > 16_000 {
				out, v = append(out, v[:16_000]), v[16_000:]
			}
			out = append(out, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			tb.Fatal(err)
		}
		sc := bufio.NewScanner(f)
		sc.Buffer(nil, 64<<20)
		for sc.Scan() {
			var v any
			if json.Unmarshal(sc.Bytes(), &v) == nil {
				walk(v)
			}
		}
		f.Close()
	}
	return out
}

// TestSessionsEqualReference takes a share of the texts; all of them in
// the long suite.
func TestSessionsEqualReference(t *testing.T) {
	limit := suite.Pick(1<<18, 1<<40)
	seen := map[string]bool{}
	total := 0
	for _, text := range sessionTexts(t) {
		if seen[text] {
			continue
		}
		seen[text] = true
		if total += len(text); total > limit {
			break
		}
		wantCount(t, o200k, text)
		if len(seen)%8 == 0 || limit > 1<<30 {
			wantCount(t, cl100k, text)
		}
	}
	t.Logf("%d distinct texts, %d bytes", len(seen), total)
}

// BenchmarkO200kSessions counts a megabyte of recorded sessions, which no branch
// predictor learns by heart.
func BenchmarkO200kSessions(b *testing.B) {
	var texts []string
	var size int64
	for _, text := range sessionTexts(b) {
		if size += int64(len(text)); size > 4<<20 {
			break
		}
		texts = append(texts, text)
	}
	counter, _ := For(o200k)
	ref := reference(b, o200k)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, text := range texts {
			counter.Count(text)
		}
	}
	own := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(referenceSeconds(func() {
		for _, text := range texts {
			ref.EncodeOrdinary(text)
		}
	})/own, "x-reference")
}
