package transcript

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/unicode"

	"github.com/memkernel/memkernel/internal/jsonl"
	"github.com/memkernel/memkernel/internal/suite"
)

func testdata(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no testdata: %v", err)
	}
	return files
}

// TestRoundTrip writes every sample back in all its spellings: as it is, with
// CRLF, with a byte order mark, without the last line end, read byte by byte.
func TestRoundTrip(t *testing.T) {
	for _, path := range testdata(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for name, in := range map[string][]byte{
			"plain":      data,
			"crlf":       bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")),
			"bom":        append([]byte(bom), data...),
			"no newline": bytes.TrimRight(data, "\n"),
			"blank ends": append(append([]byte(" \n\n"), data...), " \n \n"...),
		} {
			t.Run(filepath.Base(path)+"/"+name, func(t *testing.T) {
				if diff := cmp.Diff(string(in), string(rewrite(t, in, nil))); diff != "" {
					t.Errorf("written back (-want +got):\n%s", diff)
				}
				var out bytes.Buffer
				for rec, err := range Stream(iotest.OneByteReader(bytes.NewReader(in)), nil) {
					if err != nil {
						t.Fatal(err)
					}
					out.WriteString(rec.Lead + rec.Raw + rec.Tail)
				}
				if !bytes.Equal(out.Bytes(), in) {
					t.Error("byte by byte: written back differently")
				}
			})
		}
	}
}

func TestOffsetsAndLines(t *testing.T) {
	for _, path := range testdata(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for rec := range records(t, data, nil) {
			if at := rec.Offset; !bytes.HasPrefix(data[at:], []byte(rec.Lead+rec.Raw+rec.Tail)) {
				t.Errorf("%s: record of line %d is not at offset %d", path, rec.Line, at)
			}
			raw := int(rec.Offset) + len(rec.Lead)
			if line := 1 + bytes.Count(data[:raw], []byte("\n")); line != rec.Line && rec.Raw != "" {
				t.Errorf("%s: record at %d says line %d, stands on %d", path, raw, rec.Line, line)
			}
		}
	}
}

func TestDetect(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     Dialect
	}{
		{"claude", `{"parentUuid":null,"type":"user","uuid":"u"}`, ClaudeCode},
		{"claude snapshot", `{"type":"file-history-snapshot","messageId":"m"}`, ClaudeCode},
		{"claude cut inside the first line", `{"type":"user","message":{"role":"user","content":"` + strings.Repeat("x", 100), ClaudeCode},
		{"claude behind a broken line", "{broken\n" + `{"type":"user","uuid":"u","message":{}}`, ClaudeCode},
		{"pi", `{"type":"session","id":"a","cwd":"/"}`, Pi},
		{"pi without header", `{"type":"message","id":"a","parentId":"b","message":{}}`, Pi},
		{"codex", `{"timestamp":"t","type":"session_meta","payload":{}}`, Codex},
		{"codex early", `{"id":"a","timestamp":"t","instructions":null}`, Codex},
		{"anthropic", `{"model":"claude-x","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`, anthropic},
		{"anthropic array", `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]`, anthropic},
		{"anthropic cut in the system prompt", `{"system":"` + strings.Repeat("x", 100), anthropic},
		{"anthropic later system message", `[{"role":"user","content":"a"},{"role":"system","content":"b"}]`, anthropic},
		{"openai", `{"model":"gpt-5","messages":[{"role":"system","content":"hi"}]}`, OpenAI},
		{"openai array", `[{"role":"assistant","tool_calls":[]},{"role":"tool","tool_call_id":"a"}]`, OpenAI},
		{"bom and blank", bom + " \r\n\r\n" + `{"type":"session","id":"a"}`, Pi},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, err := Detect([]byte(tc.in)); got != tc.want || err != nil {
				t.Errorf("Detect = %q, %v, want %q", got, err, tc.want)
			}
		})
	}
	for _, in := range []string{"hello", `{"a":1}`, `[1,2]`, `"x"`} {
		if d, err := Detect([]byte(in)); !errors.Is(err, ErrUnknownDialect) {
			t.Errorf("Detect(%s) = %q, %v, want %v", in, d, err, ErrUnknownDialect)
		}
	}
}

const okLine = `{"type":"user","uuid":"u1","message":{"role":"user","content":"hi"}}`

func TestBrokenLines(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		line     int
		kept     int
	}{
		{"syntax", okLine + "\n{\"type\":\"user\",,}\n" + strings.Replace(okLine, "u1", "u2", 1), 2, 2},
		{"truncated last line, with a line break", okLine + "\n" + okLine[:40] + "\n", 2, 1},
		{"no object", okLine + "\n[1]\n", 2, 1},
		{"zeros of a crash in a record", okLine + "\n" + okLine[:40] + "\x00\x00\x00\n", 2, 1},
		{"control character", "{\"type\":\"user\",\"uuid\":\"\x01\"}\n" + okLine, 1, 1},
		{"torn before a record", okLine[:40] + okLine + "\n" + strings.Replace(okLine, "u1", "u2", 1), 1, 2},
		{"torn after a record", okLine + okLine[:40] + "\n" + strings.Replace(okLine, "u1", "u2", 1), 1, 2},
		{"not an object after a record", okLine + " 1\n" + strings.Replace(okLine, "u1", "u2", 1), 1, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Load(strings.NewReader(tc.in), "log.jsonl", nil)
			var le *LineError
			if !errors.As(err, &le) || le.Line != tc.line || le.File != "log.jsonl" || le.Hint == "" {
				t.Fatalf("Load = %v, want a LineError of line %d", err, tc.line)
			}
			s := load(t, tc.in, &Options{SkipBroken: true})
			if len(s.Skipped) != 1 || s.Skipped[0].Line != tc.line || len(s.Messages) != tc.kept {
				t.Errorf("skipped %v, kept %d messages, want %d", s.Skipped, len(s.Messages), tc.kept)
			}
			if got := rewrite(t, []byte(tc.in), &Options{SkipBroken: true}); string(got) != tc.in {
				t.Errorf("written back %q", got)
			}
		})
	}
}

// Padding that a crash leaves around records costs none of them, nor does a writer that put
// several in one line: nothing is broken, and zero bytes are noted.
func TestPaddedLines(t *testing.T) {
	second, third := strings.Replace(okLine, "u1", "u2", 1), strings.Replace(okLine, "u1", "u3", 1)
	for in, noted := range map[string]string{
		okLine + "\x00\x00\n\x00" + second + "\n" + third + "\n":               "padding padding",
		"\x00\x00\n" + okLine + second + "\n" + bom + third + " \x00\n":        "padding padding",
		bom + "\x00" + okLine + "\n" + second + " " + third + "\n\x00\x00\x00": "padding padding",
		okLine + bom + "\r\n" + second + "\r" + third:                          "",
	} {
		s, err := Load(strings.NewReader(in), "", nil)
		if err != nil || len(s.Messages) != 3 || len(s.Skipped) > 0 || strings.Join(rules(s.Notes), " ") != noted {
			t.Errorf("%q: %v, %+v", in, err, s)
			continue
		}
		if got := rewrite(t, []byte(in), nil); string(got) != in {
			t.Errorf("%q is written back as %q", in, got)
		}
	}
}

// TestUTF16: a transcript that PowerShell saved is the transcript that it was.
func TestUTF16(t *testing.T) {
	for _, path := range testdata(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := load(t, string(data), nil)
		for _, mark := range []unicode.BOMPolicy{unicode.UseBOM, unicode.IgnoreBOM} {
			wide, err := unicode.UTF16(unicode.LittleEndian, mark).NewEncoder().Bytes(data)
			if err != nil {
				t.Fatal(err)
			}
			got := load(t, string(wide), nil)
			if diff := cmp.Diff(want.Messages, got.Messages); diff != "" || want.Dialect != got.Dialect {
				t.Errorf("%s, mark %v: %s, %s", path, mark, got.Dialect, diff)
			}
		}
	}
}

func TestBrokenDocuments(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		kept     int
	}{
		{"cut", `{"messages":[{"role":"user","content":"a"},{"role":"assist`, 1},
		{"cut between", `[{"role":"user","content":"a"},`, 1},
		{"no comma", `[{"role":"user","content":"a"} {"role":"user","content":"b"}]`, 1},
		{"bad message", `[{"role":"user","content":"a"},{"role":},{"role":"user","content":"b"}]`, 2},
		{"no object", `[{"role":"user","content":"a"},7]`, 1},
		{"more behind", `[{"role":"user","content":"a"}] x`, 1},
		{"cut in an escape", `[{"role":"user","content":"a"},{"role":"user","content":"\`, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var le *LineError
			if _, err := Load(strings.NewReader(tc.in), "", &Options{Dialect: anthropic}); !errors.As(err, &le) {
				t.Fatalf("Load = %v, want a LineError", err)
			}
			opt := &Options{Dialect: anthropic, SkipBroken: true}
			if s := load(t, tc.in, opt); len(s.Skipped) != 1 || len(s.Messages) != tc.kept {
				t.Errorf("skipped %v, kept %d, want %d", s.Skipped, len(s.Messages), tc.kept)
			}
			if got := rewrite(t, []byte(tc.in), opt); string(got) != tc.in {
				t.Errorf("written back %q", got)
			}
		})
	}
}

func TestEmpty(t *testing.T) {
	for _, d := range append(Dialects(), "") {
		for _, in := range []string{"", "\n \r\n", bom} {
			if _, err := Load(strings.NewReader(in), "x", &Options{Dialect: d, SkipBroken: true}); !errors.Is(err, ErrEmpty) {
				t.Errorf("%q %q: %v, want %v", d, in, err, ErrEmpty)
			}
		}
	}
}

func TestReadError(t *testing.T) {
	bad := errors.New("disk is gone")
	for _, head := range []string{"", okLine + "\n", `[{"role":"user","content":"a"},`} {
		r := io.MultiReader(strings.NewReader(head), iotest.ErrReader(bad))
		if _, err := Load(r, "x", &Options{SkipBroken: true}); !errors.Is(err, bad) {
			t.Errorf("after %q: %v, want %v", head, err, bad)
		}
	}
}

func TestLineTooLong(t *testing.T) {
	long := strings.Replace(okLine, "hi", strings.Repeat("x", 600_000), 1)
	in := long + "\n" + strings.Replace(okLine, "u1", "u2", 1) + "\n"
	opt := &Options{MaxLineBytes: 300_000}
	if _, err := Load(strings.NewReader(in), "x", opt); !errors.Is(err, jsonl.ErrTooLong) {
		t.Fatalf("Load = %v, want %v", err, jsonl.ErrTooLong)
	}
	opt.SkipBroken = true
	if s := load(t, in, opt); len(s.Messages) != 1 || len(s.Skipped) != 1 {
		t.Errorf("%d messages, %d skipped, want one each", len(s.Messages), len(s.Skipped))
	}
	if s := load(t, in, nil); len(s.Messages) != 2 {
		t.Errorf("without a limit %d messages, want 2", len(s.Messages))
	}
}

func TestInvalidUTF8IsKept(t *testing.T) {
	in := strings.Replace(okLine, "hi", "a\xffb", 1) + "\n"
	s := load(t, in, nil)
	if got := Text(s.Messages[0]); got != "a\xffb" {
		t.Errorf("text = %q", got)
	}
	if got := rewrite(t, []byte(in), nil); string(got) != in {
		t.Errorf("written back %q", got)
	}
	body, _, err := Render(FormatAnthropic, &Request{Messages: s.Messages})
	if err != nil || !bytes.Contains(body, []byte("a\uFFFDb")) {
		t.Errorf("body = %s, %v", body, err)
	}
}

// repeat is an endless file made of one block, up to a size.
type repeat struct {
	block []byte
	left  int
	at    int
}

func (r *repeat) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, io.EOF
	}
	n := copy(p, r.block[r.at:])
	n = min(n, r.left)
	r.at = (r.at + n) % len(r.block)
	r.left -= n
	return n, nil
}

// TestStreamIsBounded reads 500 MiB of lines, and looks at what stays reachable.
func TestStreamIsBounded(t *testing.T) {
	block, size := generated(ClaudeCode, 200), suite.Pick(32<<20, 500<<20)
	r := &repeat{block: block, left: size / len(block) * len(block)}
	n, most := 0, uint64(0)
	var ms runtime.MemStats
	for _, err := range Stream(r, &Options{Dialect: ClaudeCode}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%1500 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&ms)
			most = max(most, ms.HeapAlloc)
		}
	}
	if n == 0 || most > 24<<20 {
		t.Errorf("%d records, %d bytes reachable at most", n, most)
	}
}

// TestUnread: what holds something that can't be read is no empty transcript, in any
// dialect; the error names the file.
func TestUnread(t *testing.T) {
	for name, in := range map[string]string{
		"a cut first line": `{"type":"user","uuid":"u","sessionId":"s","message":{"role":"us`, "zeros": strings.Repeat("\x00", 4096),
		"words": "hello\nworld\n", "packed": "\x1f\x8b\x08\x00\x00\n\x00", "wide": "\xff\xfeh\x00i\x00\n\x00", "a page": "<html>\n<body></body>\n</html>",
		"other JSON": `{"name":"x"}` + "\n" + `{"name":"y"}` + "\n",
	} {
		for _, d := range append(Dialects(), "") {
			for _, skip := range []bool{true, false} {
				_, err := Load(strings.NewReader(in), "the-file", &Options{Dialect: d, SkipBroken: skip})
				if err == nil || errors.Is(err, ErrEmpty) || !strings.Contains(err.Error(), "the-file") {
					t.Errorf("%s as %q, on skipping %v: %v", name, d, skip, err)
				}
			}
		}
	}
}
