package consolidation

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/markdownstore"
)

// mark matches a masker's replacement of a secret.
var mark = textutil.LazyRegexp(`\[masked:([^\]\s]+)\]`)

// severalSecrets is a limit: if a rule finds more secrets than this in one file, they are one finding.
const severalSecrets = 3

// secrets finds the lines with text that would be masked, except for examples. The secret itself
// is never repeated.
func (a *auditor) secrets() {
	for _, f := range a.snap.Files {
		if f.Doc.Raw == "" || f.Doc.Binary {
			continue
		}
		masked := a.Masker.Lines(f.Doc.Raw)
		was, is := strings.Split(f.Doc.Raw, "\n"), strings.Split(masked, "\n")
		var byRule groups[string, health.Finding]
		for n := 0; n < len(was) && n < len(is); n++ {
			if was[n] == is[n] {
				continue
			}
			rule := ""
			for _, v := range maskedValues(was[n], is[n]) {
				if !v.example() {
					rule = v.rule
				}
			}
			if rule == "" {
				continue
			}
			byRule.add(rule, health.Finding{Severity: health.Error, Place: health.Lines(f.Path, n+1, n+1), What: fmt.Sprintf("holds a secret (rule %s)", rule),
				Hint: "change it where it is valid, then take it out of the file and of its history; what is none can be named in redact.allow"})
		}
		for _, rule := range byRule.keys {
			a.together(byRule.of[rule], severalSecrets, func(n int) string { return fmt.Sprintf("holds a secret (rule %s), as do %d other lines", rule, n-1) })
		}
	}
}

var (
	conflictStart = textutil.LazyRegexp(`^<{7}(?: |$)`)
	conflictEnd   = textutil.LazyRegexp(`^>{7}(?: |$)`)
)

// conflicts finds the marks that a merge left. Marks in a code block are an example.
func (a *auditor) conflicts() {
	for _, f := range a.snap.Files {
		code := map[int]bool{} // the lines of code blocks, except those with one side's mark, through which a conflict runs
		for _, u := range markdownstore.Units(f.Doc) {
			text := f.Doc.Raw[u.Start:u.End]
			if u.Kind != markdownstore.UnitCode || strings.Count(text, "\n<<<<<<<") != strings.Count(text, "\n>>>>>>>") {
				continue
			}
			for n := u.StartLine; n <= u.EndLine; n++ {
				code[n] = true
			}
		}
		open, n := 0, 0
		add := func(from, to int, what string) {
			a.tell(health.Error, health.Lines(f.Path, from, to), what, "choose between the sides and remove the marks")
		}
		alone := func(line int) {
			if line > 0 {
				add(line, line, "holds a mark of a merge conflict")
			}
		}
		for l := range textutil.Lines(f.Doc.Raw) {
			switch n++; {
			case code[n]:
			case conflictStart.MatchString(l):
				alone(open)
				open = n
			case conflictEnd.MatchString(l) && open > 0:
				add(open, n, "holds both sides of a merge conflict")
				open = 0
			case conflictEnd.MatchString(l):
				alone(n)
			}
		}
		alone(open)
	}
}

// severalFiles is the most files of one fault that are reported one by one.
const severalFiles = 3

// files reports the files that can't be read, or not as they are meant.
func (a *auditor) files() {
	var byHint groups[string, health.Finding]
	for _, f := range a.snap.Files {
		for _, fault := range f.Faults() {
			byHint.add(fault.Hint, fault)
		}
	}
	for _, hint := range byHint.keys {
		a.together(byHint.of[hint], severalFiles, func(n int) string {
			return byHint.of[hint][0].What + "; so it is with " + count(n-1, "other file", "other files")
		})
	}
}

// Faults returns why a file can't be read, or not as it is meant.
func (f *file) Faults() (out []health.Finding) {
	add := func(s health.Severity, line int, what, hint string) {
		out = append(out, health.Finding{Severity: s, Place: health.Lines(f.Path, line, line), What: what, Hint: hint})
	}
	switch {
	case f.Err != nil && refused(f.Err):
		add(health.Warning, 0, "can't be read: "+oneLine(f.Err.Error()), "what is meant as memory must be a regular file in the workspace, readable and not over 32 MiB")
	case f.Err != nil:
		add(health.Error, 0, "can't be read: "+oneLine(f.Err.Error()), "give yourself the right to read it")
	case f.Shadowed:
		add(health.Warning, 0, "is not used: MEMORY.md stands in its place", "move what it says into MEMORY.md")
	}
	if f.UTF16 {
		add(health.Note, 0, "is UTF-16: it is read, and nothing is written to it", "save it as UTF-8")
	}
	for _, n := range f.Doc.Notes {
		add(health.Warning, n.Line, n.Text, n.Hint())
	}
	return out
}

// page matches the id of a page of the kernel's, such as cv-0123456789abcdef.
var page = textutil.LazyRegexp(`\b(?:cv|ev|rm|sp|ws|nt|rt|fm|su|cy)-[0-9a-f]{16}\b`)

// Mentioned returns the pages of the kernel's that the files name, by id.
func (s *Snapshot) Mentioned() map[string]bool {
	out := map[string]bool{}
	for _, f := range s.Files {
		for _, id := range page.FindAllString(f.Doc.Raw, -1) {
			out[id] = true
		}
	}
	return out
}

// pointers checks that the pages that memory names can still be read. It checks each page once,
// and skips logs of past days.
func (a *auditor) pointers() {
	if a.Resolves == nil {
		a.report.Skip("there is no state folder to look in")
		return
	}
	today := a.today()
	var byID groups[string, health.Finding]
	for _, f := range a.snap.Files {
		n := 0
		for l := range textutil.Lines(f.Doc.Raw) {
			n++
			for _, id := range page.FindAllString(l, -1) {
				if f.closed(today) || a.Resolves(id) {
					continue
				}
				byID.add(id, health.Finding{Severity: health.Warning, Place: health.Lines(f.Path, n, n), What: "names page " + id + ", which can't be read", Hint: "say what it held instead, or take the reference out"})
			}
		}
	}
	for _, id := range byID.keys {
		a.together(byID.of[id], 1, func(n int) string { return "names page " + id + ", which can't be read" + alsoLines(n-1) })
	}
}

// maskedValue is a value that a masker took out of a line, with the masker's rule and the text
// around the value.
type maskedValue struct{ rule, value, before, behind string }

// maskedValues compares a line with its masked form, and returns the masked values. A value
// without a clear end reaches to the end of the line.
func maskedValues(was, is string) (out []maskedValue) {
	at, in := 0, 0
	for _, m := range mark.FindAllStringSubmatchIndex(is, -1) {
		at += m[0] - in // the text between marks is the same
		in = m[1]
		if at > len(was) {
			return out
		}
		next := is[in:]
		if n := mark.FindStringIndex(next); n != nil {
			next = next[:n[0]]
		}
		end := len(was)
		if n := strings.Index(was[at:], next); next != "" && n >= 0 {
			end = at + n
		}
		if v := was[at:end]; !mark.MatchString(v) {
			out = append(out, maskedValue{is[m[2]:m[3]], v, was[:at], was[end:]})
		}
		at = end
	}
	return out
}

var (
	// amounts are several numbers with their units: p200/c30, 8k/32k, min8/max32.
	amounts = textutil.LazyRegexp(`^(?:[A-Za-z]{1,5}-?)?\d{0,5}(?:\.\d+)?[A-Za-z%]{0,2}(?:/(?:[A-Za-z]{1,5}-?)?\d{0,5}(?:\.\d+)?[A-Za-z%]{0,2})+$`)
	// exampleWord is a word that no real secret contains.
	exampleWord = textutil.LazyRegexp(`(?i)example|eyJzdWIiOiIxMjM0NTY3ODkw|your[-_]|yourkey|yourtoken|yourpass|placeholder|changeme|change[-_]me|dummy|sample|redacted|x{8}|0{8}|not[-_]?real|fake|insert[-_]`)
	// usualPassword is a password of many tutorials, or a placeholder for one.
	usualPassword = textutil.LazyRegexp(`(?i)^(?:(?:my|our|the|some|pass|passwd|password|passw0rd|pwd|pw|super|secret|token|key|api|auth|bearer|client|app|db|test|testing|demo|root|admin|guest|user|postgres|mysql|mongo|redis|hunter|changeme|letmein|qwerty|foo|bar|abcd?|default|dev|local)[-_.]?)+(?:v?[0-9]{0,4}[!.]{0,2})$`)
	// wordy matches words in lower case with numbers among them, which are an identifier or a
	// phrase.
	wordy = textutil.LazyRegexp(`^(?:[a-z]{2,}|\d{1,4})(?:[-_](?:[a-z]+|\d{1,4}))+$`)
	// phraseKey is a name of a value that may be a phrase.
	phraseKey = textutil.LazyRegexp(`(?i)pass|pwd|kennwort|contrase|senha|парол|密码|密碼|パスワード|암호|secret|phrase`)
	// exampleHost matches a host name that is reserved for examples.
	exampleHost = textutil.LazyRegexp(`(?i)^@(?:[\w-]+\.)*example(?:\.(?:com|org|net))?(?:[:/]|$)`)
)

// example reports whether a masked value is known not to be a secret. Such a value is common in
// examples and tutorials, or is a number of something.
func (v *maskedValue) example() bool {
	value := strings.Trim(v.value, "\"'`")
	if exampleWord.MatchString(value) || series(value) {
		return true
	}
	switch v.rule {
	case "stated-password": // "the password is hunter2" says that it is one
		return strings.HasSuffix(strings.TrimRight(v.before, " \t\"'"), ":") && usualPassword.MatchString(value)
	case "url-password":
		user := v.before[strings.LastIndexByte(v.before, '/')+1:]
		return usualPassword.MatchString(value) || strings.TrimSuffix(user, ":") == value || exampleHost.MatchString(v.behind)
	case "secret":
		return amounts.MatchString(value) && strings.ContainsAny(value, "0123456789") || usualPassword.MatchString(value) ||
			wordy.MatchString(value) && !phraseKey.MatchString(v.before[max(0, strings.LastIndexAny(strings.TrimRight(v.before, " \t:=\"'`"), " \t\n,;")+1):])
	}
	return usualPassword.MatchString(value)
}

// leastSeries is the length of a run of consecutive characters, such as abcdefg, that no
// generator of secrets produces.
const leastSeries = 7

// series reports whether at least half of a value is one repeated character, or the alphabet or
// the digits in order.
func series(value string) bool {
	best, up, same := 0, 1, 1
	rs := []rune(strings.ToLower(value))
	for i := 1; i < len(rs); i++ {
		d := rs[i] - rs[i-1]
		switch {
		case d == 1, rs[i] == '0' && rs[i-1] == '9', rs[i] == '1' && rs[i-1] == 'z', rs[i] == '0' && rs[i-1] == 'z', rs[i] == 'a' && unicode.IsDigit(rs[i-1]) && up >= 4:
			up++
		default:
			up = 1
		}
		if d == 0 {
			same++
		} else {
			same = 1
		}
		best = max(best, up, same)
	}
	return best >= leastSeries && 2*best >= min(len(rs), 2*12)
}
