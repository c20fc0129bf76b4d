package display

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rivo/uniseg"
)

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", -1234567: "-1,234,567", 100000: "100,000"} {
		if got := Thousands(n); got != want {
			t.Errorf("thousands(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestDollars(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	for _, tt := range []struct {
		v    *float64
		want string
	}{{nil, "unpriced"}, {p(0), "$0"}, {p(0.00042), "$0.00042"}, {p(1.5), "$1.5000"}} {
		if got := dollars(tt.v); got != tt.want {
			t.Errorf("dollars = %q, want %q", got, tt.want)
		}
	}
}

// TestFieldsKeepTheirWidth holds that whatever a transcript holds, a field takes
// the columns it was given and no control character reaches the terminal.
func TestFieldsKeepTheirWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		n := rapid.IntRange(2, 40).Draw(t, "columns")
		for _, f := range []string{Left(s, n), Right(s, n)} {
			if Width(f) != n {
				t.Fatalf("%q is %d columns wide, want %d", f, Width(f), n)
			}
			if strings.ContainsAny(f, "\x1b\n\r\t\a") {
				t.Fatalf("%q holds a control character", f)
			}
		}
		for _, l := range Wrap(s, n) {
			if Width(l) > n && uniseg.GraphemeClusterCount(l) > 1 { // one letter is never cut
				t.Fatalf("wrap gave %q, over %d columns", l, n)
			}
		}
	})
}

// A letter that is wider than a line has one of its own, and what follows it another.
func TestWrapAroundAWideLetter(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		want []string
	}{{"\u0600Aः\u0041", 2, []string{"\u0600Aः", "A"}}, {"漢字 a", 1, []string{"漢", "字", "a"}}} {
		if got := Wrap(tt.text, tt.n); !slices.Equal(got, tt.want) {
			t.Errorf("%q at %d columns: %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
}

// TestWidth: columns are a terminal's, for every script.
func TestWidth(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "plan": 4, "größe": 5, "gro\u0308ße": 5, "数据库": 6, "ｶﾅ": 2, "カナ": 4, "한글": 4,
		"👨‍👩‍👧": 2, "🏳️‍🌈": 2, "👍🏽": 2, "🇩🇪": 2, "שלום": 4, "سجل": 3, "❤️": 2, "e\u0301\u0302": 1,
	} {
		if got := Width(s); got != want {
			t.Errorf("%q is %d columns wide, want %d", s, got, want)
		}
	}
}

// TestClipKeepsLetters: what is cut is cut between letters, whatever they are made of.
func TestClipKeepsLetters(t *testing.T) {
	for _, tt := range []struct {
		s    string
		n    int
		want string
	}{
		{"数据库表", 5, "数据~"}, {"数据库表", 6, "数据~"}, {"数据库表", 8, "数据库表"},
		{"👨‍👩‍👧👨‍👩‍👧", 3, "👨‍👩‍👧~"}, {"👨‍👩‍👧👨‍👩‍👧", 2, "~"}, {"gro\u0308ße", 4, "gro\u0308~"},
		{"שלום עולם", 5, "שלום~"}, {"a數b", 3, "a~"}, {"abc", 1, ""},
	} {
		if got := Clip(tt.s, tt.n); got != tt.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
	for _, s := range []string{"数据库是重要的系统", "👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧", "gro\u0308sse\u0301gro\u0308sse\u0301"} {
		if got := strings.Join(Wrap(s, 5), ""); got != s {
			t.Errorf("wrapped %q is %q", s, got)
		}
	}
}
