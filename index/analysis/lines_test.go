package analysis

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The terms of all lines side by side are those of the text, in as many lines.
func TestAppendLines(t *testing.T) {
	a := New()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.RuneFrom([]rune("ab-_.'\n 的数ครñ")))).Draw(t, "text")
		want, lang := a.AppendIndex(nil, text)
		got, lang2 := a.AppendLines(nil, text)
		if strings.Join(strings.Fields(string(got)), " ") != strings.Join(strings.Fields(string(want)), " ") || lang != lang2 {
			t.Fatalf("%q: %q in %q, want %q in %q", text, got, lang2, want, lang)
		}
		if strings.Count(string(got), "\n") != strings.Count(text, "\n") {
			t.Fatalf("%q: lines of %q", text, got)
		}
	})
}

// Questions drop the function words of their language, also where only those are
// known of it, and find what is inflected.
func TestMoreLanguages(t *testing.T) {
	a := New()
	for _, tc := range []struct{ question, want string }{
		{"متى تغادر العبارة؟", "تغادر تغدر عبار عبر"},
		{"والكتاب", "كتاب كتب"},
		{"Gdzie jest stary prom?", "stari prom"},
		{"Kde je ten starý trajekt, který byl v přístavu?", "stary stari trajekt pristavu"},
		{"Πού είναι το πλοίο;", "πλοιο"},
		{"犬と一緒", "犬と 犬 と一 一緒"},
		{"数据库", "数据 据库"},
	} {
		if got := strings.Join(a.Query(tc.question, []string{"en"}), " "); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.question, got, tc.want)
		}
	}
}
