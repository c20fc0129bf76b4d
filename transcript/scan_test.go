package transcript

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestSkipAgreesWithJSON lets the cursor and encoding/json judge mutilated
// JSON: they must agree about every byte sequence.
func TestSkipAgreesWithJSON(t *testing.T) {
	seeds := []string{
		`{"a":[1,-2.5e+3,true,false,null,"x\u00e9\n"],"b":{}}`, `[]`, `"\ud83d\ude00"`, `0`, `{"a":{"b":[[],{}]}}`,
	}
	rapid.Check(t, func(t *rapid.T) {
		b := []byte(rapid.SampledFrom(seeds).Draw(t, "seed"))
		for range rapid.IntRange(0, 3).Draw(t, "edits") {
			i := rapid.IntRange(0, len(b)-1).Draw(t, "at")
			b[i] = rapid.SampledFrom([]byte("{}[]\",:\\u0e1-+.tfn \n\x00z")).Draw(t, "byte")
		}
		b = b[:rapid.IntRange(0, len(b)).Draw(t, "cut")]
		c := scan(string(b))
		c.Skip()
		if got, want := c.End() == nil, json.Valid(b); got != want {
			t.Fatalf("%q: valid = %v, encoding/json says %v (%v)", b, got, want, c.Err)
		}
	})
}

func TestStringsAgreeWithJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		want, _ := json.Marshal(s)
		c := scan(string(want))
		if got := c.Str(); got != s || c.Err != nil {
			t.Fatalf("read %s = %q, %v, want %q", want, got, c.Err, s)
		}
		var back string
		if err := json.Unmarshal(appendString(nil, s), &back); err != nil || back != s {
			t.Fatalf("wrote %q as %s, read back %q, %v", s, appendString(nil, s), back, err)
		}
	})
}

func TestStringEdges(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"pair", `"\ud83d\ude00"`, "😀"},
		{"half a pair", `"\ud83dx"`, "\uFFFDx"},
		{"two halves", `"\ud83d\ud83d\ude00"`, "\uFFFD😀"},
		{"invalid utf-8 stays", "\"a\xffb\"", "a\xffb"},
		{"all escapes", `"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := scan(tc.in)
			if got := c.Str(); got != tc.want || c.Err != nil {
				t.Errorf("got %q, %v, want %q", got, c.Err, tc.want)
			}
		})
	}
	if got := string(appendString(nil, "a\xffb\x01<&>")); got != "\"a\uFFFDb\\u0001<&>\"" {
		t.Errorf("appendString = %s", got)
	}
}

func TestDepthIsBounded(t *testing.T) {
	b := make([]byte, 3*maxDepth)
	for i := range b {
		b[i] = '['
	}
	c := scan(string(b))
	if c.Skip(); c.Err != errDepth {
		t.Errorf("err = %v, want %v", c.Err, errDepth)
	}
}

func TestCleanCutsOnlyMarkers(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{`{"a": 1}`, `{"a": 1}`},
		{`{ "cache_control":{"type":"ephemeral"} , "a": 1 }`, `{ "a": 1 }`},
		{`{"a": 1, "cache_control": 5}`, `{"a": 1}`},
		{`{"a": 1, "cache_control": 5 , "b":2}`, `{"a": 1 , "b":2}`},
		{`{"cache_control":1,"prompt_cache_breakpoint":2,"a":3}`, `{"a":3}`},
		{`{"cache_control":1}`, `{}`},
		{`{"input":{"cache_control":1}}`, `{"input":{"cache_control":1}}`},
		{`{"content":[{"x":1,"cache_control":1},"s",{"cache_control":1,"y":2}],"z": 0}`, `{"content":[{"x":1},"s",{"y":2}],"z": 0}`},
	} {
		if diff := cmp.Diff(tc.want, string(AppendClean(nil, tc.in))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.in, diff)
		}
	}
}
