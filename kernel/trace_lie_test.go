package kernel_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/kernel"
)

// lieAndReplay changes one recorded decision and wants it found.
func lieAndReplay(t *rapid.T, path string) {
	lines := traceLines(t, path)
	n := rapid.IntRange(1, len(lines)-1).Draw(t, "line")
	var rec map[string]any
	decode(t, lines[n], &rec)
	body := rec["body"].(map[string]any)
	var at []place
	for _, name := range []string{"align", "generation", "projection"} {
		at = leaves(at, place{of: body, name: name, path: name}, body[name])
	}
	for i, s := range body["steps"].([]any) {
		out := s.(map[string]any)
		at = leaves(at, place{of: out, name: "out", path: fmt.Sprintf("steps[%d].out", i)}, out["out"])
	}
	lie := rapid.SampledFrom(at).Draw(t, "lie")
	lie.of[lie.name] = otherValue(lie.of[lie.name])
	lines[n] = encode(t, rec)
	told := filepath.Join(filepath.Dir(path), "told.jsonl")
	if err := os.WriteFile(told, bytes.Join(lines, []byte("\n")), 0o600); err != nil {
		t.Fatalf("%v", err)
	}
	f, err := os.Open(told)
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer f.Close()
	r, err := kernel.Stored.ReplayTrace(told, f)
	if err != nil {
		return // what was made of it can't be read
	}
	if r.Difference == nil || r.Difference.Line != n+1 || r.Plans != n-1 || !strings.HasPrefix(r.Difference.Field, lie.path) && !strings.HasPrefix(lie.path, r.Difference.Field) {
		t.Fatalf("line %d: %s was changed, and the replay says %+v of %d plans", n+1, lie.path, r.Difference, r.Plans)
	}
}

// place is a value somewhere in JSON.
type place struct {
	of         map[string]any
	name, path string
}

func (p place) String() string { return p.path }

// leaves adds the numbers, words and switches at and below a place.
func leaves(out []place, p place, v any) []place {
	switch x := v.(type) {
	case map[string]any:
		for _, name := range sortedNames(x) {
			out = leaves(out, place{x, name, p.path + "." + name}, x[name])
		}
		return out
	case string, json.Number, bool:
		return append(out, p)
	}
	return out
}

func sortedNames(m map[string]any) []string {
	raw, _ := json.Marshal(m)
	dec, names := json.NewDecoder(bytes.NewReader(raw)), []string(nil)
	dec.Token()
	for dec.More() {
		name, _ := dec.Token()
		var skip json.RawMessage
		dec.Decode(&skip)
		names = append(names, name.(string))
	}
	return names
}

func otherValue(v any) any {
	switch x := v.(type) {
	case bool:
		return !x
	case json.Number:
		if x == "0" {
			return json.Number("1")
		}
		return json.Number(x.String() + "1")
	case string:
		if _, err := time.Parse(time.RFC3339Nano, x); err == nil {
			return "2001-02-03T04:05:06Z"
		}
		levels := map[string]string{"full": "pointer", "pointer": "structured", "structured": "compressed", "compressed": "full"}
		if l := levels[x]; l != "" {
			return l
		}
		return x + "x"
	}
	return nil
}

// traceLines reads a trace's envelopes, their line breaks off.
func traceLines(t fataler, path string) [][]byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read trace: %v", err)
	}
	return bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
}

// decode reads the record in an envelope.
func decode(t fataler, line []byte, rec any) {
	t.Helper()
	var env struct{ Rec json.RawMessage }
	if err := json.Unmarshal(line, &env); err != nil {
		t.Fatalf("%v", err)
	}
	dec := json.NewDecoder(bytes.NewReader(env.Rec))
	dec.UseNumber()
	if err := dec.Decode(rec); err != nil {
		t.Fatalf("%v", err)
	}
}

// encode puts a record into an envelope that is whole.
func encode(t fataler, rec any) []byte {
	t.Helper()
	raw, err := json.Marshal(rec)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return fmt.Appendf(nil, `{"v":1,"n":%d,"crc":"%08x","rec":%s}`, len(raw), crc32.Checksum(raw, crc32.MakeTable(crc32.Castagnoli)), raw)
}
