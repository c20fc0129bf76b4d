package consolidation

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/kernel/health"
)

// damage is one kind of damaged text.
type damage struct {
	what, hint string
	severity   health.Severity
	// find returns the offset of the first damage, -1 if there is none, and the number of all
	// damages.
	find func(string) (at, n int)
}

// damages returns the kinds of damage.
func damages() []damage {
	const again = "put the text in again from its source, saved as UTF-8"
	return []damage{
		{"zero bytes", again, health.Warning, countOf("\x00")},
		{"bytes that are no UTF-8", "save the file as UTF-8", health.Warning, invalid},
		{"replacement characters (U+FFFD), each of which was another", again, health.Warning, countOf("\uFFFD")},
		{"text that was decoded twice, such as Ã© for é", again, health.Warning, mojibake},
		{"a byte-order mark", "save the file as UTF-8 without one", health.Note, byteOrderMark},
	}
}

// inUTF16 is the finding about a file in UTF-16.
const inUTF16 = "is UTF-16: it is read, and nothing is written to it"

// severalFiles is the most files of one damage that are reported one by one.
const severalFiles = 3

// encoding finds damaged text. It reports each kind once per file, at its first place.
func (a *auditor) encoding() {
	kinds := damages()
	found := make([][]health.Finding, len(kinds)+1)
	for _, f := range a.snap.Files {
		if f.UTF16 {
			found[len(kinds)] = append(found[len(kinds)], health.Finding{Severity: health.Note, Place: health.Place{Path: f.Path}, What: inUTF16, Hint: "save the file as UTF-8"})
		}
		for k, d := range kinds {
			at, n := d.find(f.Doc.Raw)
			if n == 0 {
				continue
			}
			what := "holds " + d.what
			if n > 1 {
				what += fmt.Sprintf(", %d times", n)
			}
			line := 1 + strings.Count(f.Doc.Raw[:at], "\n")
			found[k] = append(found[k], health.Finding{Severity: d.severity, Place: health.Lines(f.Path, line, line), What: what, Hint: d.hint})
		}
	}
	for k := range found {
		what := inUTF16
		if k < len(kinds) {
			what = "holds " + kinds[k].what
		}
		a.together(found[k], severalFiles, func(n int) string {
			return what + fmt.Sprintf("; so it is with %s", count(n-1, "other file", "other files"))
		})
	}
}

func countOf(sub string) func(string) (int, int) {
	return func(s string) (int, int) { return strings.Index(s, sub), strings.Count(s, sub) }
}

func byteOrderMark(s string) (int, int) {
	if strings.HasPrefix(s, "\uFEFF") {
		return 0, 1
	}
	return -1, 0
}

func invalid(s string) (at, n int) {
	at = -1
	for i, inside := 0, false; i < len(s); {
		r, w := utf8.DecodeRuneInString(s[i:])
		bad := r == utf8.RuneError && w == 1
		if bad && !inside {
			if n++; n == 1 {
				at = i
			}
		}
		inside = bad
		i += w
	}
	return at, n
}

// mojibake finds UTF-8 that was read as Windows-1252 or Latin-1 and written again: runs of
// characters whose bytes in these encodings are valid UTF-8 of characters that people write.
// French and Portuguese put accents next to each other too, but such bytes are not valid UTF-8.
func mojibake(s string) (at, n int) {
	at = -1
	var run []byte
	start := 0
	for i, r := range s + " " {
		if b, ok := windows1252(r); ok && b >= 0x80 {
			if len(run) == 0 {
				start = i
			}
			run = append(run, b)
			continue
		}
		if len(run) > 1 && decodedTwice(run) {
			if n++; n == 1 {
				at = start
			}
		}
		run = run[:0]
	}
	return at, n
}

// decodedTwice reports whether bytes are UTF-8 of Latin letters, Greek, Cyrillic, punctuation,
// CJK or emoji. A single character of three bytes must be punctuation, since other such
// characters seldom occur alone.
func decodedTwice(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	rs := []rune(string(b))
	for _, r := range rs {
		switch {
		case r >= 0xa0 && r < 0x180, r >= 0x370 && r < 0x530, r >= 0x2000 && r < 0x2800, r >= 0x1f000:
		case len(rs) > 1 && r >= 0x2e80 && r < 0xfb00, len(rs) > 1 && r >= 0xfe00 && r <= 0xffff:
		default:
			return false
		}
	}
	return true
}

// cp1252 are the characters that Windows-1252 has at 0x80 to 0x9f, with 0 where it has none.
var cp1252 = [32]rune{0x20ac, 0, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017d, 0,
	0, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0, 0x017e, 0x0178}

// windows1252 returns the byte of a character in Windows-1252, or in Latin-1 if Windows-1252 does
// not have the character.
func windows1252(r rune) (byte, bool) {
	if r < 0x100 {
		return byte(r), true
	}
	for i, c := range cp1252 {
		if c == r {
			return byte(0x80 + i), true
		}
	}
	return 0, false
}
