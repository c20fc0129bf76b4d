package represent

import (
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel/pagevm/internal/lex"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// DoorKinds returns the kinds of content, by the names of [ContentKind], of which a large
// result may be shortened before the model sees it for the first time.
func DoorKinds() []string {
	return []string{kindLog.String(), kindTest.String(), kindGrep.String(), kindListing.String(), kindJSON.String(), kindTable.String()}
}

// doorDefault are the kinds for which shortening cost no action its input and no edit its
// lines in recorded sessions of other people.
var doorDefault = []string{kindJSON.String()}

// doorBytes is the size below which a result is shown whole: some 2,000 tokens.
const doorBytes = 8000

// Door returns the kind of content for which a result is shortened before the model sees
// it for the first time, "" if the result is shown whole. Kinds are those of [DoorKinds]
// that are shortened; nil means JSON alone. The text to show is the compressed
// representation that [Evidence] makes with the same kinds in [Options.Door].
//
// Door returns "" for a result of less than 8,000 bytes, for an error, for what a call
// that reads or edits files returned, for code, diffs and prose, for a result that the
// model can't read whole (in has no Resolver or no PageID), and for the result of a call
// of the resolver itself. Door looks at the head of the text only.
func Door(in EvidenceInput, kinds []string) string {
	if len(in.Text) < doorBytes || in.IsError || in.Message || in.Resolver == "" || in.PageID == "" ||
		resolves(&in) {
		return ""
	}
	k, _ := detectKind(in.Text)
	if kinds == nil {
		kinds = doorDefault
	}
	if !slices.Contains(kinds, k.String()) || !slices.Contains(DoorKinds(), k.String()) {
		return ""
	}
	if does, _ := toolcall.Classify(in.Tool, in.Input); does != toolcall.CallOther {
		return ""
	}
	return k.String()
}

// resolves reports whether a call was made to read a page: its tool is the resolver, or its
// command runs the resolver's.
func resolves(in *EvidenceInput) bool {
	words := strings.Fields(in.Resolver)
	return in.Tool == in.Resolver || len(words) > 1 && strings.Contains(in.Input, words[0]+" "+words[1])
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
		line := s.text[u.start:u.end]
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

// tallied bounds the names in a tally.
const tallied = 40

// tally tells how many lines of search hits each file has, or how many paths of a
// listing each folder has, the most first, in about limit bytes; "" for other kinds.
func (s *scan) tally(limit int) string {
	if len(s.text) < doorBytes || s.kind != kindGrep && s.kind != kindListing {
		return ""
	}
	count := map[string]int{}
	var names []string
	for line := range strings.Lines(s.text) {
		name := s.kind.group(strings.TrimSpace(line))
		if name == "" {
			continue
		}
		if count[name]++; count[name] == 1 {
			names = append(names, name)
		}
	}
	if len(names) < 2 {
		return ""
	}
	slices.SortStableFunc(names, func(a, b string) int { return count[b] - count[a] })
	var b strings.Builder
	b.WriteString(map[kind]string{kindGrep: "lines by file: ", kindListing: "entries by folder: "}[s.kind])
	for i, name := range names {
		if i == tallied || b.Len() > limit {
			b.WriteString(", … and " + strconv.Itoa(len(names)-i) + " more")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name + " " + strconv.Itoa(count[name]))
	}
	return b.String()
}

// group returns the file of a hit, or the folder of a path.
func (k kind) group(line string) string {
	if k == kindListing {
		if i := strings.LastIndexByte(line, '/'); i > 0 && strings.IndexByte(line, ' ') < 0 {
			return line[:i+1]
		}
		return ""
	}
	name, rest, ok := strings.Cut(line, ":")
	if !ok || rest == "" || name == "" || strings.IndexByte(name, ' ') >= 0 || lex.AllDigits(name) {
		return ""
	}
	return name
}
