package lex

import (
	"encoding/json"
	"testing"
)

func FuzzUnquote(f *testing.F) {
	for _, s := range []string{`""`, `"a"`, `"`, ``, `"\n\t\"\\\/\b\f\r"`, `"\u00e9\u4e2d"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83d\u0041"`, `"\ud83dx"`,
		`"\udc00\ud83d\ude00"`, `"\u12"`, `"\x"`, `"\"`, `"a"b"`, "\"\n\"", "\"\xff\xc3é\"", `"\uD83D\uDE00\u00zz"`, `x"a"`, `"\ufffd"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := Unquote(s)
		if s == "" || s[0] != '"' || s[len(s)-1] != '"' {
			if ok {
				t.Fatalf("%q is no string, and decoded to %q", s, got)
			}
			return
		}
		var want string
		if err := json.Unmarshal([]byte(s), &want); ok != (err == nil) || ok && got != want {
			t.Errorf("%q decodes to %q, %v, in encoding/json to %q, %v", s, got, ok, want, err)
		}
	})
}
