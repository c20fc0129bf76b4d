package markdownstore

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkDocument holds everything that is true of any document and its chunks.
func checkDocument(t testing.TB, path, data string, c *Chunking) []chunk {
	t.Helper()
	d := Parse(path, data)
	if d.Raw != data || d.BOM+d.FrontMatter+d.Body != data {
		t.Fatalf("%s: parts do not add up to the file: %q + %q + %q", path, d.BOM, d.FrontMatter, d.Body)
	}
	if d.BodyOffset != len(data)-len(d.Body) || d.BodyLine != 1+strings.Count(data[:d.BodyOffset], "\n") {
		t.Fatalf("%s: body at byte %d line %d", path, d.BodyOffset, d.BodyLine)
	}
	if _, err := json.Marshal(d.Meta); err != nil {
		t.Fatalf("%s: meta: %v", path, err)
	}
	checkUnits(t, d)
	chunks := chunksOf(d, c)
	checkChunks(t, d, chunks, c)
	return chunks
}

// begin returns where the units of a document begin: with its front matter if that has properties.
func begin(d Document) (offset, line int) {
	if len(properties(d)) > 0 {
		return len(d.BOM), 1
	}
	return d.BodyOffset, d.BodyLine
}

func checkUnits(t testing.TB, d Document) {
	t.Helper()
	at, line := begin(d)
	units := AllUnits(d)
	for i, u := range units {
		text := d.Raw[u.Start:u.End]
		if u.Start != at || u.End <= u.Start || u.StartLine != line {
			t.Fatalf("unit %d: %+v, want start %d line %d", i, u, at, line)
		}
		if (u.Kind == UnitHeading) != (u.Level > 0) {
			t.Fatalf("unit %d: %+v: level", i, u)
		}
		line += strings.Count(text, "\n")
		if end := line - 1; u.EndLine != end && (strings.HasSuffix(text, "\n") || u.EndLine != end+1) {
			t.Fatalf("unit %d: %+v ends on line %d", i, u, end)
		}
		at = u.End
	}
	if len(units) > 0 && at != len(d.Raw) || len(units) == 0 && !d.Binary && strings.TrimSpace(d.Body) != "" {
		t.Fatalf("units end at %d of %d", at, len(d.Raw))
	}
}

func checkChunks(t testing.TB, d Document, chunks []chunk, c *Chunking) {
	t.Helper()
	var opts Chunking
	if c != nil {
		opts = *c
	}
	opts.SetDefaults()
	var b strings.Builder
	ids := map[string]bool{}
	first, _ := begin(d)
	prev := chunk{start: first, end: first}
	for i, ch := range chunks {
		if ch.Text != d.Raw[ch.start:ch.end] || ch.overlap >= len(ch.Text) {
			t.Fatalf("chunk %d: text is not the file's bytes, or all overlap", i)
		}
		if ch.start+ch.overlap != prev.end || ch.start < prev.start {
			t.Fatalf("chunk %d: begins at %d with overlap %d, the one before is %d-%d", i, ch.start, ch.overlap, prev.start, prev.end)
		}
		if ids[ch.ID] || len(ch.ID) != 32 {
			t.Fatalf("chunk %d: id %q", i, ch.ID)
		}
		ids[ch.ID] = true
		b.WriteString(ch.Text[ch.overlap:])
		checkLines(t, d, i, ch)
		if n := countTokens(ch.Text[:ch.overlap]); n > opts.Overlap+1 {
			t.Fatalf("chunk %d: overlap of %d tokens", i, n)
		}
		if utf8.ValidString(d.Raw) && !utf8.ValidString(ch.Text) {
			t.Fatalf("chunk %d cuts a rune", i)
		}
		if ch.Trail == nil {
			t.Fatalf("chunk %d: trail is nil", i)
		}
		prev = ch
	}
	if d.Binary || strings.TrimSpace(d.Body) == "" && first == d.BodyOffset {
		if len(chunks) > 0 {
			t.Fatalf("%d chunks of nothing", len(chunks))
		}
	} else if b.String() != d.Raw[first:] {
		t.Fatalf("chunks without overlap are not the document")
	}
}

func checkLines(t testing.TB, d Document, i int, ch chunk) {
	t.Helper()
	start := 1 + strings.Count(d.Raw[:ch.start], "\n")
	end := 1 + strings.Count(d.Raw[:ch.end-1], "\n")
	if ch.StartLine != start || ch.EndLine != end {
		t.Fatalf("chunk %d: lines %d-%d, want %d-%d", i, ch.StartLine, ch.EndLine, start, end)
	}
}
