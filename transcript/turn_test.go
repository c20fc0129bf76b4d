package transcript

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/suite"
)

// growing are recordings of every dialect that grows line by line.
func growing(t *testing.T) map[string][]byte {
	t.Helper()
	paths, _ := filepath.Glob("../../shared/data/transcripts/*/*.jsonl")
	if len(paths) == 0 {
		t.Log("../shared/data/transcripts is absent: only the bundled session is read")
	}
	out := map[string][]byte{}
	for _, p := range append(suite.Some(paths, 3), "../testdata/session.jsonl") {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(p)] = data
	}
	return out
}

// A turn that has ended in a file that grows is the same turn when all of it is there:
// none is taken for ended that goes on.
func TestEndedTurnsStand(t *testing.T) {
	for name, data := range growing(t) {
		t.Run(name, func(t *testing.T) {
			lines := bytes.SplitAfter(data, []byte("\n"))
			step := len(lines)/suite.Pick(14, 50) + 1
			turns := func(data []byte) (keys, texts []string) {
				s, err := Load(bytes.NewReader(data), name, nil)
				if err != nil {
					t.Fatal(err)
				}
				msgs := s.View(Full)
				from := 0
				for _, end := range TurnEnds(msgs, s.Ended) {
					keys, texts = append(keys, msgs[end-1].Key+msgs[end-1].Time.String()), append(texts, sketch(msgs[from:end]))
					from = end
				}
				return keys, texts
			}
			keys, texts := turns(data)
			if len(keys) == 0 {
				t.Fatal("no turn has ended")
			}
			bad, size := 0, 0
			for i, l := range lines {
				if size += len(l); i%step != 0 && i < len(lines)-2 {
					continue
				}
				k, x := turns(data[:size])
				for n := max(0, len(k)-2); n < len(k); n++ {
					if n >= len(keys) || k[n] != keys[n] || x[n] != texts[n] {
						if bad++; bad < 4 {
							t.Errorf("after %d lines turn %d ended in %s, and in %q when all is there", i+1, n+1, k[n], keys[min(n, len(keys)-1)])
						}
						break
					}
				}
			}
		})
	}
}

// A file that is cut off anywhere is read up to its last whole line, and reports it; a
// broken line before the last is an error that names it.
func TestTornLine(t *testing.T) {
	for name, data := range growing(t) {
		lines := bytes.SplitAfter(data, []byte("\n"))[:12]
		whole := bytes.Join(lines, nil)
		last := len(whole) - len(lines[11])
		for cut := len(lines[0]) + 1; cut < len(whole); cut++ {
			if cut < last && cut%suite.Pick(601, 13) != 0 || cut > last+suite.Pick(60, 3000) && cut < len(whole)-3 {
				continue
			}
			line := bytes.Count(whole[:cut], []byte("\n")) + 1
			s, err := Load(bytes.NewReader(whole[:cut]), name, nil)
			at := bytes.LastIndexByte(whole[:cut], '\n') + 1
			end := strings.TrimRight(string(whole[at:cut]), "\r")
			complete := end == "" || end == strings.TrimRight(string(lines[line-1]), "\r\n")
			if err != nil || (s.Torn == nil) != complete || s.Torn != nil && s.Torn.Line != line || len(s.Skipped) > 0 {
				t.Fatalf("%s cut at %d, in line %d: torn %v, %v", name, cut, line, s.Torn, err)
			}
			before, err := Load(bytes.NewReader(whole[:at]), name, nil)
			if err != nil || !complete && sketch(before.Messages) != sketch(s.Messages) {
				t.Fatalf("%s cut at %d: other messages than up to line %d, %v", name, cut, line-1, err)
			}
		}
		_, err := Load(bytes.NewReader(whole[:len(lines[0])/2]), name, nil)
		if !errors.Is(err, ErrUnread) || errors.Is(err, ErrEmpty) {
			t.Errorf("%s: half of the first line: %v", name, err)
		}
		broken := bytes.Join([][]byte{lines[0], lines[1][:len(lines[1])/2], []byte("\n"), lines[2]}, nil)
		var at *LineError
		if _, err := Load(bytes.NewReader(broken), name, nil); !errors.As(err, &at) || at.Line != 2 {
			t.Errorf("%s: a broken second line: %v", name, err)
		}
		if s, err := Load(bytes.NewReader(broken), name, &Options{SkipBroken: true}); err != nil || len(s.Skipped) != 1 {
			t.Errorf("%s: skipped: %v", name, err)
		}
	}
	half := `{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"Grüße aus 東京`
	for cut := strings.Index(half, "Gr"); cut <= len(half); cut++ {
		doc := `{"type":"user","uuid":"t","sessionId":"s","message":{"role":"user","content":"hi"}}` + "\n" + half[:cut]
		if s, err := Load(strings.NewReader(doc), "", nil); err != nil || s.Torn == nil || len(s.Messages) != 1 {
			t.Errorf("cut at %d (a whole rune: %v): %v", cut, utf8.ValidString(half[:cut]), err)
		}
	}
}
