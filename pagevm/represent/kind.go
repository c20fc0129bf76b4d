package represent

import (
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm/internal/lex"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// kind is the kind of a text. It decides how the text is shortened.
type kind uint8

const (
	kindProse kind = iota
	kindCode
	kindDiff
	kindJSON
	kindLog
	kindGrep
	kindListing
	kindTable
	kindTest
	kindMarkdown
)

func (k kind) String() string {
	return [...]string{"prose", "code", "diff", "json", "log", "search hits", "listing", "table", "test output", "markdown"}[k]
}

// ContentKind returns the kind of a text, which decides how it is shortened: "code", "diff",
// "json", "log", "test output", "search hits", "listing", "table", "markdown" for prose with
// headings, or "prose" for any other text.
func ContentKind(text string) string {
	k, _ := kindOf(&EvidenceInput{Text: text})
	return k.String()
}

// kindOf returns the kind of a content. Instructions are Markdown. Prose with headings is Markdown,
// too. So is any text with headings from a file with a Markdown extension, except for JSON and
// diffs.
func kindOf(in *EvidenceInput) (k kind, numbered bool) {
	k, numbered = detectKind(in.Text)
	switch {
	case in.Rules, k != kindJSON && k != kindDiff && headed(in.Text) &&
		(k == kindProse || slices.Contains(markdownFiles, path.Ext(toolcall.Read(in.Tool, in.Input).Path()))):
		k = kindMarkdown
	}
	return k, numbered
}

// markdownFiles are the extensions of files in Markdown.
var markdownFiles = []string{".md", ".mdc", ".markdown", ".mdx"}

// leastHeadings is the number of headings from which prose counts as Markdown. It is our choice.
const leastHeadings = 2

// headed reports whether a text has headings that begin a paragraph.
func headed(text string) bool {
	if !strings.Contains(text, "# ") {
		return false
	}
	n, gap := 0, true
	var f fence
	for text := range strings.SplitSeq(text, "\n") {
		l := f.line(lex.Unnumbered(text))
		if l.heading > 0 && gap {
			n++
		}
		gap = l.heading > 0 || !l.code && blank(l.text)
	}
	return n >= leastHeadings
}

// errorWorth returns the worth that a unit gains by naming an error. The worth is low in code,
// where such words are everywhere, and high in logs.
func (k kind) errorWorth(strong bool) float32 {
	w := float32(9)
	switch k {
	case kindCode, kindGrep:
		w = 4
	case kindProse, kindDiff:
		w = 6
	}
	if !strong {
		w /= 3
	}
	return w
}

const (
	worthEdge = 12 // first and last line
	// sampleLines is how many lines decide the kind.
	sampleLines = 60
)

// lineVotes counts the kinds of the lines of a sample.
type lineVotes struct {
	n, numbered, diff, hunk, grep, path, pipe, tab, log, code, test int
	label                                                           string // of the last line
}

// detectKind returns the kind of a text, by its first lines. numbered reports whether they begin
// with the line numbers of a file read ("  12→code", "12<tab>code").
func detectKind(text string) (k kind, numbered bool) {
	v := vote(text)
	if v.n == 0 {
		return kindProse, false
	}
	share := func(n int) int { return 100 * n / v.n }
	numbered = share(v.numbered) >= 70
	trimmed := strings.TrimSpace(text)
	switch {
	case v.hunk > 0 && v.diff > 0:
		return kindDiff, numbered
	case isJSONish(trimmed):
		return kindJSON, numbered
	case share(v.test) >= 20:
		return kindTest, numbered
	case numbered && share(v.code) >= 30:
		return kindCode, true
	case share(v.grep) >= 50:
		return kindGrep, numbered
	case share(v.path) >= 60:
		return kindListing, numbered
	case share(v.pipe) >= 50 || share(v.tab) >= 60 && !numbered && share(v.log) < 30:
		return kindTable, numbered
	case share(v.log) >= 30:
		return kindLog, numbered
	case share(v.code) >= 35:
		return kindCode, numbered
	}
	return kindProse, numbered
}

// isJSONish reports whether a text opens and closes like JSON, perhaps several documents
// one after the other.
func isJSONish(t string) bool {
	if len(t) < 2 || strings.IndexByte(t[:min(len(t), 400)], '"') < 0 {
		return false
	}
	next := strings.TrimLeft(t[1:], " \t\r\n")
	if next == "" {
		return false
	}
	switch t[0] {
	case '{':
		return t[len(t)-1] == '}' && (next[0] == '"' || next[0] == '}')
	case '[':
		return t[len(t)-1] == ']' && strings.IndexByte(`"{[]-0123456789`, next[0]) >= 0
	}
	return false
}

func vote(text string) (v lineVotes) {
	for line := range strings.SplitSeq(text, "\n") {
		if v.n == sampleLines {
			break
		}
		if !blank(line) {
			v.count(line[:min(len(line), 400)])
		}
	}
	return v
}

func (v *lineVotes) count(line string) {
	v.n++
	body := lex.Unnumbered(line)
	if len(body) != len(line) {
		v.numbered++
	}
	switch {
	case strings.HasPrefix(body, "@@ "):
		v.hunk++
	case strings.HasPrefix(body, "diff --"), strings.HasPrefix(body, "--- "), strings.HasPrefix(body, "+++ "):
		v.diff++
	}
	t := strings.TrimSpace(body)
	switch {
	case t == "":
	case t[0] == '|' && strings.Count(t, "|") >= 3:
		v.pipe++
	case strings.Count(body, "\t") >= 2 && body[0] != '\t':
		v.tab++
	}
	said := unlabelled(t)
	label := t[:len(t)-len(said)]
	labelled := label != "" && label == v.label
	v.label = label
	switch {
	case testLine(said):
		v.test++
		v.log++
	case labelled, logLine(t):
		v.log++
	case grepPrefix(t) > 0:
		v.grep++
	case listed(t):
		v.path++
	}
	if codeLine(t) {
		v.code++
	}
}

// grepPrefix returns the length of a "path:12:" or "12:" prefix, 0 if there is none.
func grepPrefix(t string) int {
	i := 0
	for i < len(t) && i < 300 && byteClass[t[i]]&(cWord|cJoin) != 0 {
		i++
	}
	if i < len(t) && t[i] == ':' {
		j := i + 1
		for j < len(t) && t[j] >= '0' && t[j] <= '9' {
			j++
		}
		if j > i+1 && j < len(t) && (t[j] == ':' || t[j] == '-') {
			return j + 1
		}
		if i > 0 && byteClass[t[0]]&cDigit != 0 && allDigits(t[:i]) {
			return i + 1
		}
		if strings.IndexByte(t[:i], '/') > 0 {
			return i + 1
		}
	}
	return contextPrefix(t[:i])
}

// contextPrefix returns the length of a "path-12-" that a search puts before the
// lines round a hit, 0 if run is none.
func contextPrefix(run string) int {
	i := len(run) - 1
	if i < 0 || run[i] != '-' || strings.IndexByte(run, '/') < 0 {
		return 0
	}
	d := strings.LastIndexByte(run[:i], '-')
	if d < 0 || !allDigits(run[d+1:i]) {
		return 0
	}
	return len(run)
}

// listed reports whether a line is of a listing: one path or file name, or a line of ls -l.
func listed(t string) bool {
	if len(t) > 10 && strings.IndexByte("-dlcbps", t[0]) >= 0 && strings.Trim(t[1:10], "-rwxsStT") == "" {
		return true
	}
	if strings.IndexByte(t, ' ') >= 0 {
		return false
	}
	dot := strings.LastIndexByte(t, '.')
	return strings.IndexByte(t, '/') >= 0 || dot > 0 && isExt(t[dot+1:])
}

var (
	testStarts = []string{"(pass)", "(fail)", "(skip)", "=== RUN", "=== PAUSE", "=== CONT", "--- PASS", "--- FAIL", "--- SKIP", "FAIL\t",
		"✓", "✔", "✗", "✘", "×", "ok ", "not ok ", "[ RUN ", "[       OK ]", "[  FAILED  ]", "PASS ", "FAIL "}
	logStarts = []string{"=== ", "--- ", "ok  ", "?   ", "FAIL", "PASS", "[INFO", "[WARN", "[ERROR", "INFO", "WARN", "ERROR", "DEBUG",
		"✓", "✗", "✔", "✘", "npm ", "> "}
)

// testLine reports whether a line reports the result of one test.
func testLine(t string) bool {
	return textutil.Begins(t, testStarts) || strings.HasPrefix(t, "test ") && (strings.HasSuffix(t, " ... ok") || strings.HasSuffix(t, " ... FAILED")) ||
		strings.Contains(t, "::") && (strings.Contains(t, " PASSED") || strings.Contains(t, " FAILED"))
}

func logLine(t string) bool {
	if t == "" {
		return false
	}
	if textutil.Begins(t, logStarts) {
		return true
	}
	if i := strings.LastIndexByte(t[:min(len(t), 60)], '\t'); i >= 0 && timed(t[i+1:]) {
		return true // a time after the names of job and step
	}
	return timed(t)
}

// timed reports whether a time is at the start: 2026-01-02 or 12:34:56.
func timed(t string) bool {
	t = strings.TrimLeft(t[:min(len(t), 24)], "[(")
	if len(t) < 8 || byteClass[t[0]]&cDigit == 0 {
		return false
	}
	return t[4] == '-' && t[7] == '-' || t[2] == ':' && t[5] == ':' || t[4] == '/' && t[7] == '/'
}

func codeLine(t string) bool {
	if t == "" {
		return false
	}
	switch t[len(t)-1] {
	case '{', '}', ';', '(', ')', ',', '[', ']':
		return true
	}
	return strings.HasPrefix(t, "//") || strings.HasPrefix(t, "#include") || strings.HasPrefix(t, "import ") ||
		strings.Contains(t, " := ") || strings.HasPrefix(t, "return") || strings.Contains(t, " = ") || signature(t)
}

// lineWorth returns the base worth of a line that is not blank. Callers must pass the lines in
// order.
func (s *scan) lineWorth(line string) float32 {
	switch s.kind {
	case kindDiff:
		return diffWorth(line)
	case kindCode:
		body := lex.Unnumbered(line)
		indented := body != "" && (body[0] == ' ' || body[0] == '\t')
		if t := strings.TrimLeft(body, " \t"); signature(t) {
			if indented {
				return 2
			}
			return 5
		}
	case kindTable, kindListing, kindGrep:
		if s.lines <= 2 {
			return 5
		}
	case kindLog, kindTest:
		if strings.HasPrefix(line, "--- FAIL") || strings.HasPrefix(line, "FAIL") {
			return 6
		}
	case kindMarkdown:
		return s.markdownWorth(lex.Unnumbered(line))
	case kindProse:
		return proseWorth(lex.Unnumbered(line), s.gapped || s.lines == 1)
	}
	return 0
}

func diffWorth(line string) float32 {
	switch {
	case strings.HasPrefix(line, "diff --"):
		return 8
	case strings.HasPrefix(line, "@@"):
		return 3
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "index "):
		return 0
	case line[0] == '+' || line[0] == '-':
		if len(line) > 3 {
			return 2
		}
	}
	return 0
}

// proseWorth favours headings, list items and the start of paragraphs.
func proseWorth(line string, first bool) float32 {
	t := strings.TrimLeft(line, " \t")
	switch {
	case t == "":
		return 0
	case t[0] == '#':
		return 4
	case strings.HasPrefix(t, "- ") || strings.HasPrefix(t, "* ") || strings.HasPrefix(t, "**"):
		return 1
	case first:
		return 1.5
	}
	return 0
}

// The worth per byte of the lines of an outline, in the order in which an excerpt shows them:
// headings, the line after each, and the lines that command something. Only the order matters.
const (
	headingWorth = 4000
	topicWorth   = 400
	commandWorth = 40
)

// markdownWorth favours the headings of the fewest marks, the line after each heading, and the
// lines that command something.
func (s *scan) markdownWorth(line string) float32 {
	topic, worth := s.topic, float32(0)
	if blank(line) {
		return 0
	}
	switch l := s.fence.line(line); {
	case l.heading > 0:
		worth = headingWorth / float32(l.heading)
	case l.code:
		return 0
	case topic:
		worth = topicWorth
	case imperative(l) || modal(line):
		worth = commandWorth
	default:
		return proseWorth(line, s.gapped)
	}
	s.topic = worth >= headingWorth/6
	return worth * float32(len(line)+2*markBytes)
}

// signature reports whether a trimmed line declares something, in the languages
// that agents mostly read.
func signature(t string) bool {
	n := 0
	for n < len(t) && n < 12 && (byteClass[t[n]]&cLower != 0 || n == 0 && (t[0] == '@' || t[0] == '#')) {
		n++
	}
	if n < 2 || n >= len(t) || t[n] != ' ' && t[n] != '(' && t[n] != '<' {
		return false
	}
	switch t[:n] {
	case "func", "type", "class", "def", "interface", "struct", "enum", "impl", "fn", "pub", "trait", "mod",
		"export", "function", "public", "private", "protected", "static", "abstract", "async", "module",
		"package", "namespace", "template", "typedef", "const", "var", "let", "val", "fun", "object", "record",
		"describe", "it", "test", "create", "alter", "extern", "unsafe", "override", "final", "sealed", "data",
		"protocol", "extension", "service", "message", "rpc", "macro", "union", "defmodule", "defp":
		return true
	}
	return false
}
