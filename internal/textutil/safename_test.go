package textutil_test

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/textutil"
	"pgregory.net/rapid"
)

// onDisk is a name as the most careless of disks has it: case is not distinguished, and dots
// and spaces at the end are dropped.
func onDisk(name string) string { return strings.ToLower(strings.TrimRight(name, ". ")) }

// windows are the names that Windows keeps for devices, with what it takes for them.
var windows = []string{"con", "PRN", "Aux", "nul", "NUL.txt", "com1", "COM9.log", "com0", "lpt1.tar.gz", "lpt9", "aux.", "con ", "nul .txt", "com¹", "CONIN$", "aux.t/x"}

// hostile are words that were made to meet others.
var hostile = append([]string{"", ".", "..", "...", "a/b", "a_b", "a:b", "a b", "a\x00b", "A/b", "abc", "ABC", "aBc", "abc.", "abc..", "abc ", " abc", "default", "Default",
	"caf\u00e9", "cafe\u0301", "\u212bngstrom", "\u00c5ngstrom", "A\u030angstrom", "stra\u00dfe", "STRASSE", "\u0130stanbul", "istanbul", "\xff", "\xfe", "\uff41bc", "日本", "日本語",
	"agent:main:telegram:1", "proxy-0123456789abcdef", "x_y-0123456789abcdef", "-0123456789abcdef", "..-0123456789abcdef", "~1", "ABCDEF~1",
	strings.Repeat("k", 100), strings.Repeat("k", 101), strings.Repeat("K", 100), strings.Repeat("k", 200), strings.Repeat("_", 100)}, windows...)

// word draws a word, hostile more often than not, and now and then the name of one.
func word(t *rapid.T, label string) string {
	w := rapid.OneOf(
		rapid.SampledFrom(hostile),
		rapid.String(),
		rapid.StringMatching(`[A-Za-z_.-]{0,6}`),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.StringMatching(`[a-c_./-]{1,3}(-[0-9a-f]{16})?`),
	).Draw(t, label)
	for range rapid.IntRange(0, 3).Draw(t, label+" again") {
		w = rapid.SampledFrom([]func(string) string{textutil.SafeName, strings.ToUpper, strings.ToLower,
			func(s string) string { return s + "." }, func(s string) string { return s + " " }, func(s string) string { return "_" + s },
			func(s string) string { return strings.TrimPrefix(s, "_") }}).Draw(t, label+" by")(w)
	}
	return w
}

// TestNoTwoWordsShareAName, whatever the disk makes of names.
func TestNoTwoWordsShareAName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := word(t, "a")
		b := word(t, "b")
		if rapid.Bool().Draw(t, "near") {
			b = rapid.SampledFrom([]func(string) string{textutil.SafeName, strings.ToUpper, strings.ToLower, onDisk}).Draw(t, "made of a by")(a)
		}
		x, y := textutil.SafeName(a), textutil.SafeName(b)
		if a != b && onDisk(x) == onDisk(y) {
			t.Fatalf("%q and %q are %q and %q", a, b, x, y)
		}
		if a == b && x != y {
			t.Fatalf("%q is %q and %q", a, x, y)
		}
	})
}

// TestHostileWords: of all pairs of a list, and what becomes of their names as words.
func TestHostileWords(t *testing.T) {
	words := map[string]bool{}
	for _, w := range hostile {
		words[w], words[strings.ToUpper(w)], words[strings.ToLower(w)] = true, true, true
	}
	for range 3 {
		for w := range words {
			if len(w) < 300 {
				words[textutil.SafeName(w)] = true
			}
		}
	}
	by := map[string]string{}
	for w := range words {
		name := textutil.SafeName(w)
		if other, ok := by[onDisk(name)]; ok {
			t.Errorf("%q and %q share %q", w, other, name)
		}
		by[onDisk(name)] = w
	}
}

// TestNamesStand: a name is one that every system takes as it is.
func TestNamesStand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := textutil.SafeName(word(t, "word"))
		stem, _, _ := strings.Cut(strings.ToLower(name), ".")
		for _, d := range []string{"con", "prn", "aux", "nul"} {
			if stem == d {
				t.Fatalf("%q is a device", name)
			}
		}
		if len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) && stem[3] >= '0' && stem[3] <= '9' {
			t.Fatalf("%q is a device", name)
		}
		if onDisk(name) != strings.ToLower(name) || len(name) > 118 || strings.Trim(name, ".") == "" || strings.ContainsAny(name, `/\:*?"<>| `) || !textutil.IsSafeName(name) {
			t.Fatalf("%q can't stand", name)
		}
	})
}

// TestNames: a word that is a safe name is its own name.
func TestNames(t *testing.T) {
	for _, w := range []string{"main", "build-42", "proxy-0123456789abcdef", "2f1c6f0e-7a53-4a33-9d0b-0c9f3c2b7d11"} {
		if got := textutil.SafeName(w); got != w {
			t.Errorf("%q is %q", w, got)
		}
	}
	if got := textutil.SafeName("a/b"); got != "a_b-c14cddc033f64b9d" {
		t.Error(got)
	}
	for _, w := range []string{"../x", "a/b", "", ".", "x y", strings.Repeat("k", 101)} {
		if textutil.IsSafeName(w) {
			t.Errorf("%q is no name", w)
		}
	}
}
