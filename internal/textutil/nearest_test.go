package textutil

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"plan", "PLAN", 0}, {"plam", "plan", 1}, {"paln", "plan", 1}, {"", "get", 3},
		{"session", "sesion", 1}, {"größe", "grosse", 3}, {"数据", "数据库", 1},
		{strings.Repeat("a", 200), strings.Repeat("a", 150), 50},
	} {
		if got := Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		if Distance(a, b) != Distance(b, a) || Distance(a, a) != 0 {
			t.Fatalf("%q and %q", a, b)
		}
	})
}

func TestWords(t *testing.T) {
	words := []string{"search", "serve", "get", "status", "stats", "reset", "restore"}
	for typed, want := range map[string]string{
		"serch": "search", "sttus": "status", "gte": "get", "stat": "stats status", "xyzzy": "", "": "",
		"st": "status stats", "rest": "reset restore", "q": "",
	} {
		if got := Nearest(typed, words); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("Nearest(%q) = %q, want %q", typed, got, want)
		}
	}
}
