package represent

import (
	"strings"

	"github.com/memkernel/memkernel/pagevm/internal/lex"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// doorBytes is the size below which a result is shown whole: some 2,000 tokens.
const doorBytes = 8000

// Door returns the kind of content, as of [ContentKind], for which a result is shortened before
// the model sees it for the first time, "" if the result is shown whole. The text to show is the
// compressed representation that [Evidence] makes. Door shortens JSON and logs: in recorded
// sessions of other people it cost no action its input and no edit its lines there.
//
// Door returns "" for a result of less than 8,000 bytes, for an error, for what a call
// that reads or edits files returned, for JSON that consists of texts, for a result that the
// model can't read whole (in has no Resolver or no PageID), and for the result of a call
// of the resolver itself.
func Door(in EvidenceInput) string {
	if len(in.Text) < doorBytes || in.IsError || in.Message || in.Resolver == "" || in.PageID == "" ||
		Resolves(in.Resolver, in.Tool, in.Input) {
		return ""
	}
	k, _ := detectKind(in.Text)
	if k != kindLog && (k != kindJSON || 3*inLongStrings(in.Text) > len(in.Text)) {
		return ""
	}
	if does, _ := toolcall.Classify(in.Tool, in.Input); does != toolcall.CallOther {
		return ""
	}
	return k.String()
}

// Resolves reports whether a call is made to read a page: its tool is the resolver, or its
// command runs the resolver's.
func Resolves(resolver, tool, input string) bool {
	words := strings.Fields(resolver)
	return tool == resolver || len(words) > 1 && strings.Contains(input, words[0]+" "+words[1])
}

const (
	// mustWorth makes a unit the first to be chosen, whatever else it is worth, per byte.
	mustWorth = 1e6
	// nearMust is what a line gains by being at most nearLines lines from such a unit.
	nearMust  = 24
	nearLines = 8
)

// mustShow makes the units of a log or of test output that tell how the run came out the
// first to be chosen: errors, failed assertions, stack frames and counts. The lines round
// them come next, and passed tests are left out. It returns the size of the first in bytes,
// with the marks round them.
func (s *scan) mustShow() (bytes int) {
	if s.kind != kindLog && s.kind != kindTest {
		return 0
	}
	s.counts = true
	near := 0
	for i := range s.units {
		u := &s.units[i]
		line := untimed(s.text[u.start:u.end])
		switch {
		case passed(line):
			u.base = -mustWorth
			s.passed++
			near = 0
		case u.err && tellsError(line), outcome(line):
			n := u.end - u.start + 1 + markBytes
			u.base += mustWorth * float32(n)
			bytes += n
			for j := i - 1; j >= max(i-nearLines/2, 0) && s.units[j].base >= 0; j-- {
				s.units[j].base += nearMust
			}
			near = nearLines
		case near > 0:
			u.base += nearMust
			near--
		}
	}
	return bytes
}

// tellsError reports whether a line has a word for an error or failure other than a warning.
func tellsError(line string) bool {
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return r < 'A' || r > 'z' || r > 'Z' && r < 'a' }) {
		if strong, _ := errorWord(word); strong && !strings.EqualFold(word[:min(len(word), 4)], "warn") {
			return true
		}
	}
	return false
}

// unlabelled cuts off the name of the job that a runner writes before each line, as in
// "web test: (pass) shows the page".
func unlabelled(line string) string {
	if i := strings.Index(line[:min(len(line), 80)], ": "); i > 0 && strings.IndexByte(line[:i], ' ') > 0 {
		return line[i+2:]
	}
	return line
}

// untimed cuts off the time before a message, with the names of job and step that a runner writes
// before the time.
func untimed(line string) string {
	for at := 0; at < min(len(line), 120); {
		if timed(strings.TrimPrefix(line[at:], "\ufeff")) {
			_, line, _ = strings.Cut(line[at:], " ")
			at = 0
			continue
		}
		i := strings.IndexByte(line[at:], '\t')
		if i < 0 {
			break
		}
		at += i + 1
	}
	return line
}

// passed reports whether a line tells of a test that passed: its name may hold any word.
func passed(line string) bool {
	t := strings.TrimSpace(unlabelled(line))
	for _, p := range [...]string{"(pass)", "✓", "✔", "--- PASS", "=== ", "ok ", "PASS", "[PASS]", "[       OK ]", "[ RUN      ]"} {
		if strings.HasPrefix(t, p) {
			return true
		}
	}
	return strings.HasSuffix(t, " ... ok") || strings.Contains(t, " PASSED")
}

// outcome reports whether a line holds what a failed run is understood by: an assertion, a
// frame of a stack, or how many tests and problems there were.
func outcome(line string) bool {
	t := strings.TrimSpace(unlabelled(line))
	for _, p := range [...]string{"at ", "File \"", "goroutine ", "Caused by", "Expected", "expected", "Received", "received", "Actual", "actual",
		"assert", "Assert", "E   ", "got", "want", "Tests:", "Test Suites:", "Test Files", "Ran ", "(fail)", "✗", "✘", "×", "not ok", "Exited with", "exit status", "exit code", "Process exited"} {
		if strings.HasPrefix(t, p) {
			return true
		}
	}
	return frame(t) || counted(t)
}

// frame reports whether a line names a place in a source file: "main.go:12 +0x1d".
func frame(t string) bool {
	colon := strings.IndexByte(t, ':')
	if colon <= 0 || colon+1 >= len(t) || t[colon+1] < '0' || t[colon+1] > '9' {
		return false
	}
	dot := strings.LastIndexByte(t[:colon], '.')
	return dot > 0 && isExt(t[dot+1:colon])
}

var countedWords = toolcall.Names("passed failed pass fail skipped todo ignored error errors failure failures warnings tests total problems pending")

// counted reports whether a line counts tests or problems: "12 passed, 1 failed".
func counted(t string) bool {
	fields := strings.Fields(t[:min(len(t), 200)])
	for i := 1; i < len(fields); i++ {
		if countedWords[strings.Trim(fields[i], ",.;:()")] && lex.AllDigits(strings.TrimLeft(fields[i-1], "(")) {
			return true
		}
	}
	return false
}
