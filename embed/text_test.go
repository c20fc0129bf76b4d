package embed

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Cached vectors were made of these texts. A row that changes needs a change of
// Model.
func TestCompose(t *testing.T) {
	for _, c := range []struct {
		trail      []string
		text, want string
	}{
		{nil, "a fact\n", "a fact"},
		{[]string{"Facts", "Servers"}, "The server is borealis.\n", "Facts > Servers\n\nThe server is borealis."},
		{[]string{"Facts", "Servers"}, "# Facts\n\n## Servers ##\n\nThe server.\n", "Facts > Servers\n\nThe server."},
		{[]string{"Facts"}, "# Facts\n\n## Other\nx", "Facts\n\n## Other\nx"},
		{[]string{"Facts"}, "#Facts\nx", "Facts\n\n#Facts\nx"},
		{[]string{"Facts"}, "####### Facts\nx", "Facts\n\n####### Facts\nx"},
		{[]string{"Facts"}, "# Facts\n", "Facts"},
		{nil, "- one\n<!-- mk:0123 -->\n\n- two\n  <!-- mk:4567 -->  \n", "- one\n\n- two"},
		{nil, "one <!-- two -->\n<!-- a --> b <!-- c -->\n<!-- open", "one <!-- two -->\n<!-- a --> b <!-- c -->\n<!-- open"},
		{nil, "<!-- mk:0123 -->\n", ""},
		{nil, "", ""},
		{nil, "a\r\n<!-- x -->\r\nb\r\n", "a\r\nb"},
	} {
		if got := Compose(c.trail, c.text); got != c.want {
			t.Errorf("Compose(%q, %q) = %q, want %q", c.trail, c.text, got, c.want)
		}
	}
}

// A cut text is a prefix, as long as the bound and whole runes allow; bytes that
// are not UTF-8 neither stop nor lengthen it.
func TestFit(t *testing.T) {
	if got := fit("", strings.Repeat("\x80", 50), 20); len(got) != 16 {
		t.Errorf("bytes that are no UTF-8 were cut to %d of 20", len(got))
	}
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOfN(rapid.SampledFrom([]byte("a\xc3\xa4\xf0\x9f\x98\x80\xff\x80")), 0, 40).Draw(t, "bytes"))
		if rapid.Bool().Draw(t, "valid") {
			s = strings.ToValidUTF8(s, "漢")
		}
		size := rapid.IntRange(utf8.UTFMax, 40).Draw(t, "size")
		got := fit("", s, size)
		cut := len(s) > size
		switch {
		case !cut && got != s:
			t.Fatalf("fit(%q, %d) = %q", s, size, got)
		case !strings.HasPrefix(s, got) || len(got) > size || cut && len(got) < size-utf8.UTFMax:
			t.Fatalf("fit(%q, %d) = %q", s, size, got)
		case utf8.ValidString(s) && (!utf8.ValidString(got) || cut && len(got)+utf8.RuneLen([]rune(s[len(got):])[0]) <= size):
			t.Fatalf("fit(%q, %d) = %q: torn or too short", s, size, got)
		}
	})
}
