package jsonl_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/jsonl"
)

// read reads a text whose records have an id, and returns these, and the places that could
// not be read.
func read(t *testing.T, text string) (ids, lost []string) {
	t.Helper()
	var back strings.Builder
	var rec struct{ ID string }
	for v, err := range jsonl.Values(strings.NewReader(text), 1<<20, func(v *jsonl.Value) error {
		rec.ID = ""
		if err := json.Unmarshal([]byte(v.Raw), &rec); err != nil {
			return err
		}
		if rec.ID == "" {
			return errors.New("no record")
		}
		return nil
	}) {
		if err != nil {
			t.Fatal(err)
		}
		if from := int(v.Offset) + len(v.Lead); text[from:from+len(v.Raw)] != v.Raw || 1+strings.Count(text[:from], "\n") != v.Line {
			t.Errorf("%q is not on line %d at %d of %q", v.Raw, v.Line, from, text)
		}
		back.WriteString(v.Lead + v.Raw + v.Tail)
		switch {
		case v.Err != nil:
			lost = append(lost, fmt.Sprintf("%d %s", v.Line, v.Raw))
		case !v.Blank():
			ids = append(ids, rec.ID)
		}
	}
	if back.String() != text {
		t.Errorf("%q comes back as %q", text, back.String())
	}
	return ids, lost
}

func TestPadding(t *testing.T) {
	const a, b = `{"id":"a"}`, `{"id":"b","of":{"x":[1,"}{"]}}`
	for name, text := range map[string]string{
		"zeros after": a + "\x00\x00\x00\n" + b + "\n", "zeros before": "\x00\x00" + a + "\n\x00" + b,
		"marks": "\ufeff" + a + "\n" + b + "\ufeff\n", "blanks": " \t" + a + " \r\n\v" + b + "\u2028\n",
		"a line of zeros": a + "\n\x00\x00\x00\n\n" + b + "\n\x00\x00", "in one line": a + b + "\n", "parted": a + " \x00 " + b,
		"separators": "\x1e" + a + "\n\x1e" + b + "\n", "old line ends": a + "\r" + b + "\r",
	} {
		if ids, lost := read(t, text); strings.Join(ids, "") != "ab" || lost != nil {
			t.Errorf("%s: read %q, lost %q", name, ids, lost)
		}
	}
}

// TestSpread: one object over several lines is one record, and several lines are theirs.
func TestSpread(t *testing.T) {
	for text, want := range map[string]int{"{\n \"id\": \"a\",\n \"n\": {}\n}\n": 1, "\n{\"id\":\"a\"}\n{\"id\":\n": 3, "{\"id\":\"a\"}\n{\"id\":\"b\"}\n": 2, "": 0} {
		var back strings.Builder
		n := 0
		for v, err := range jsonl.Spread(strings.NewReader(text), 1<<20, func(v *jsonl.Value) error { return json.Unmarshal([]byte(v.Raw), new(any)) }) {
			if n++; err != nil {
				t.Error(err)
			}
			back.WriteString(v.Lead + v.Raw + v.Tail)
		}
		if n != want || back.String() != text {
			t.Errorf("%q: %d values, %q", text, n, back.String())
		}
	}
}

// A record that is torn anywhere costs no record next to it, on its line or others, and is
// itself named.
func TestTorn(t *testing.T) {
	const torn = `{"id":"t","type":"message","message":{"role":"user","content":[{"type":"text","text":"open {\"brace\" \u00e4"},{"type":"image","n":-12.5e3,"ok":true}]},"end":null}`
	const whole = `{"id":"w","message":{"content":[{"type":"text","text":"{}"}]},"n":[]}`
	for cut := 1; cut < len(torn); cut++ {
		for name, text := range map[string]string{
			"glued": "TW\n", "then zeros": "T\x00\x00W\n", "more after": "TW{\"id\":\"z\"}\n", "twice": "TTW\n", "torn after": "TWT\n",
		} {
			ids, lost := read(t, `{"id":"a"}`+"\n"+strings.NewReplacer("T", torn[:cut], "W", whole).Replace(text)+`{"id":"b"}`)
			want := "a w b"
			if name == "more after" {
				want = "a w z b"
			}
			if strings.Join(ids, " ") != want || len(lost) == 0 || !strings.HasPrefix(lost[0], "2 "+strings.TrimSpace(torn[:cut])) {
				t.Errorf("%s: torn at %d (%s): read %q, lost %q", name, cut, torn[:cut], ids, lost)
			}
		}
	}
}

// A record that breaks off at the end of the file is told from one that is broken, and a
// line of open braces takes no longer than it should.
func TestCut(t *testing.T) {
	for text, want := range map[string]bool{`{"id":"a `: true, "{\"id\":\"a\n": false, `{"id":}`: false, `{"id":"x"}{"id":`: true, strings.Repeat(`{"a":`, 5_000): true, strings.Repeat(`{"a":`, 100_000): false} {
		cut := false
		for v := range jsonl.Values(strings.NewReader(text), 1<<20, func(v *jsonl.Value) error {
			if !json.Valid([]byte(v.Raw)) {
				return errors.New("no JSON")
			}
			return nil
		}) {
			cut = v.Cut()
		}
		if cut != want {
			t.Errorf("%.20q is cut off: %v", text, cut)
		}
	}
}
