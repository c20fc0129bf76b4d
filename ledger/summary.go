package ledger

import (
	"strings"
	"unicode/utf8"
)

// Bounds of a host's summary, our choice: of points, and of the characters of one.
const (
	mostPoints = 60
	leastPoint = 25
	mostPoint  = 320
)

// ReadSummary returns the points of a host's own summary of a conversation: its list items outside
// of code. The sections on files and their code are left out, since the files say it themselves,
// and so is a first part in which a host's model thinks aloud.
func ReadSummary(text string) (points []string) {
	for _, mark := range [...]string{"\nSummary:", "<summary>"} {
		if at := strings.LastIndex(text, mark); at >= 0 {
			text = text[at+len(mark):]
		}
	}
	code, files := false, false
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		if strings.HasPrefix(t, "```") {
			code = !code
			continue
		}
		item := strings.TrimLeft(t, "-*+• \t")
		if number, rest, ok := strings.Cut(item, ". "); ok && strings.Trim(number, "0123456789") == "" {
			item = rest
		}
		plain := strings.TrimSpace(strings.ReplaceAll(item, "**", ""))
		heading := strings.HasPrefix(t, "#") || strings.HasSuffix(plain, ":") && line[0] != ' ' && line[0] != '\t'
		switch {
		case code || t == "":
		case heading:
			files = strings.Contains(strings.ToLower(plain), "file") || strings.Contains(strings.ToLower(plain), "code")
		case files || item == t || strings.HasSuffix(plain, ":"):
		case utf8.RuneCountInString(plain) >= leastPoint && utf8.RuneCountInString(plain) <= mostPoint && len(points) < mostPoints:
			points = append(points, plain)
		}
	}
	return points
}
