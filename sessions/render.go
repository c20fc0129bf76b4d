package sessions

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/textutil"
)

// sameBytes is the size from which two turns with equal text count as the same turn, wherever
// they are. Shorter texts, such as "ok", are too frequent.
const sameBytes = 32

// mark returns the hash that identifies a turn. The text of the turn must be masked.
func mark(t *Turn) string {
	text := t.Text
	if len(text) < sameBytes {
		text = t.Role + "\x00" + t.Time.UTC().Format(time.RFC3339Nano) + "\x00" + text
	}
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// appendTurn appends a turn to a part's text.
func appendTurn(b []byte, t *Turn, loc *time.Location) []byte {
	b = append(b, "\n## "...)
	if !t.Time.IsZero() {
		b = append(b, t.Time.In(loc).Format("15:04")...)
		b = append(b, ", "...)
	}
	b = fmt.Appendf(b, "line %d, %s\n%s: ", t.Line, t.Role, t.Role) // a piece of a long turn is shown with only this heading
	b = append(b, quiet(t.Text)...)
	return append(b, '\n')
}

// SummaryRole is the Role of a summary that the host's own compaction wrote.
const SummaryRole = "summary"

// IsSummary reports whether the headings above a text are those of a compaction's summary.
func IsSummary(trail []string) bool {
	return len(trail) > 0 && strings.HasSuffix(trail[len(trail)-1], ", "+SummaryRole)
}

// spoken matches a line that looks like the beginning of a turn.
var spoken = textutil.LazyRegexp(`^(?i:user|assistant|host|summary|human|system)\s*:`)

// quiet keeps a turn's text from ending its own section. It escapes headings, the beginnings of
// other turns, and fences that are never closed.
func quiet(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	fence := ""
	lines := strings.Split(strings.ReplaceAll(text, "\x00", "�"), "\n")
	for i, l := range lines {
		body := strings.TrimLeft(l, " ")
		if f := fenced.FindString(body); len(l)-len(body) < 4 && f != "" {
			switch {
			case fence == "":
				fence = f
			case f[0] == fence[0] && len(f) >= len(fence) && strings.Trim(body, f[:1]+" \t") == "":
				fence = ""
			}
			continue
		}
		if fence == "" && (strings.HasPrefix(body, "#") || underline.MatchString(body) || spoken.MatchString(body)) {
			lines[i] = `\` + body
		}
	}
	if fence != "" {
		lines = append(lines, fence)
	}
	return strings.Join(lines, "\n")
}

// fenced matches the run of backquotes or tildes that opens or closes a block of code.
var fenced = textutil.LazyRegexp("^(?:`{3,}|~{3,})")

// underline matches a line that makes the line above it a heading.
var underline = textutil.LazyRegexp(`^(?:=+|-+)[ \t]*$`)
