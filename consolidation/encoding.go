package consolidation

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/textutil"
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
		{"a byte-order mark", "save the file as UTF-8 without one", health.Note, func(s string) (int, int) { return 0, strings.Count(s[:min(len(s), 3)], "\uFEFF") }},
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

// twice matches the beginnings of characters of Latin and Cyrillic scripts, of quotation marks and
// of emoji that were read as Windows-1252. No letter has their second signs.
var twice = textutil.LazyRegexp(`[ÂÃ][\x{80}-\x{bf}]|(?:[ÐÑ][\x{80}-\x{bf}]){2}|â€[\x{80}-\x{bf}\x{2013}-\x{2122}œžŸ]|ðŸ[\x{80}-\x{bf}\x{2013}-\x{2122}œžŸšŠ]`)

func mojibake(s string) (at, n int) {
	if !strings.ContainsAny(s, "ÂÃÐÑâð") {
		return -1, 0
	}
	all := twice.FindAllStringSubmatchIndex(s, -1)
	if len(all) == 0 {
		return -1, 0
	}
	return all[0][0], len(all)
}

func countOf(sub string) func(string) (int, int) {
	return func(s string) (int, int) { return strings.Index(s, sub), strings.Count(s, sub) }
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
