package summary

import (
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// segment is one simple command of a shell line with its words, and the operator before it.
type segment struct {
	op, text string
	words    []string
}

// shell is the meaning of a command line to the summary.
type shell struct {
	// text is the command without leading directory changes and without trailing redirections and
	// paging. The command's success or failure is recorded under text.
	text string
	// dir is the directory that the line changes to first, "" if it changes to none.
	dir  string
	segs []segment
	// check is "program verb" of the line's first test, build or lint command.
	check string
	// piped reports whether a pager or filter hides the exit status.
	piped bool
}

// parseShell reads a command line. It is a reader of habits, not a shell. Quotes, escapes,
// substitutions and here documents are skipped over, and everything that it doesn't understand
// stays part of the text.
func parseShell(line string) shell {
	line = textutil.Head(strings.TrimSpace(line), commandWindow)
	segs := split(line)
	var sh shell
	for len(segs) > 1 {
		w := segs[0].words
		if len(w) != 2 || w[0] != "cd" || segs[1].op == "|" || segs[1].op == "||" {
			break
		}
		sh.dir = w[1]
		segs = segs[1:]
	}
	if len(segs) > 0 {
		segs[0].op = ""
	}
	if all := len(segs); all > 1 {
		segs = append(segs[:1], slices.DeleteFunc(segs[1:], trailing)...)
		sh.piped = len(segs) < all
	}
	var b strings.Builder
	for i, s := range segs {
		if i > 0 {
			b.WriteString(" " + s.op + " ")
		}
		b.WriteString(s.text)
		if sh.check == "" {
			sh.check = checkOf(s.words)
		}
		sh.piped = sh.piped || s.op == "|" || s.op == "||" || s.op == ";"
	}
	sh.segs, sh.text = segs, oneLine(b.String(), commandRunes)
	return sh
}

// trailing reports whether a segment only shortens or comments the output of the segments before
// it, as "| head -20", "; echo done" and "|| true" do.
func trailing(s segment) bool {
	if len(s.words) == 0 {
		return true
	}
	switch s.words[0] {
	case "head", "tail", "cat", "less", "more", "tee":
		return s.op == "|"
	case "true", "echo", ":":
		return s.op == "||" || s.op == ";"
	}
	return false
}

// split cuts a line at the operators && || ; | and newlines that are outside quotes,
// substitutions and here documents.
func split(line string) []segment {
	out := make([]segment, 0, 4)
	op, start, depth := "", 0, 0
	var quote byte
	add := func(end int, next string, skip int) {
		if t := tidy(line[start:end]); t != "" {
			out = append(out, segment{op, t, words(t)})
			op = next
		}
		start = end + skip
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth > 0:
		case c == '<' && strings.HasPrefix(line[i:], "<<"):
			add(len(line), "", 0)
			return out
		case strings.HasPrefix(line[i:], "&&") || strings.HasPrefix(line[i:], "||"):
			add(i, line[i:i+2], 2)
			i++
		case c == ';' || c == '|':
			add(i, string(c), 1)
		case c == '\n':
			add(i, ";", 1)
		}
	}
	add(len(line), "", 0)
	return out
}

// tidy takes redirections to the terminal off a simple command, collapses its
// white space, and drops a comment line.
func tidy(s string) string {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "#") {
		return ""
	}
	if strings.Contains(s, ">") {
		s = strings.TrimSpace(unshown.ReplaceAllString(s, ""))
	}
	return s
}

// unshown matches redirections at the end of a command that hide or join its output.
var unshown = textutil.LazyRegexp(`(?:\s*(?:2>&1|2?> ?/dev/null))+$`)

// words splits a simple command at white space and removes quotes. It skips environment settings
// and wrappers such as env, time and timeout.
func words(s string) []string {
	w := strings.Fields(textutil.Head(s, 1<<10))
	for i := range w {
		w[i] = strings.Trim(w[i], `"'`)
	}
	for len(w) > 0 {
		switch {
		case w[0] == "env" || w[0] == "time" || w[0] == "sudo" || w[0] == "nice" || w[0] == "exec":
			w = w[1:]
		case w[0] == "timeout" && len(w) > 1:
			w = w[2:]
		case strings.Contains(w[0], "=") && !strings.HasPrefix(w[0], "="):
			w = w[1:]
		default:
			return w
		}
	}
	return w
}

// checkers are programs that test, build or lint with any arguments.
var checkers = [...]string{"pytest", "jest", "vitest", "mocha", "ava", "tsc", "tsgo", "eslint", "biome", "prettier",
	"golangci-lint", "staticcheck", "ruff", "mypy", "pyright", "flake8", "pylint", "tox", "nox", "ctest", "ninja",
	"make", "gmake", "mvn", "gradle", "gradlew", "msbuild", "xcodebuild", "rspec", "rubocop", "phpunit", "phpstan",
	"bazel", "buck2", "shellcheck", "clang-tidy", "playwright", "cypress"}

// runners are programs that test, build or lint if one of their first words is a verb.
var runners = [...]string{"go", "npm", "npx", "pnpm", "yarn", "bun", "bunx", "deno", "cargo", "mise", "just", "task",
	"dotnet", "swift", "zig", "cmake", "python", "python3", "uv", "poetry", "pipenv", "hatch", "bundle", "rake",
	"composer", "mix", "sbt", "lein", "stack", "cabal", "dune", "flutter", "dart", "rails", "node", "turbo", "nx", "moon", "vp", "pre-commit"}

var verbs = [...]string{"test", "tests", "build", "check", "lint", "vet", "typecheck", "clippy", "compile", "verify",
	"ci", "spec", "e2e", "tsc", "pytest", "unittest", "jest", "vitest", "eslint", "mypy", "ruff", "playwright", "nextest"}

// checkOf names the check that a simple command runs, "" if the command is not a check.
func checkOf(w []string) string {
	if len(w) == 0 {
		return ""
	}
	prog := path.Base(w[0])
	if slices.Contains(checkers[:], prog) {
		return prog
	}
	if !slices.Contains(runners[:], prog) {
		return ""
	}
	for _, a := range w[1:min(len(w), 6)] {
		if strings.HasPrefix(a, "-") || strings.ContainsAny(a, "/.") {
			continue
		}
		parts := strings.FieldsFunc(strings.ToLower(a), func(r rune) bool { return strings.ContainsRune(":-_", r) })
		if n := len(parts); n > 0 && (slices.Contains(verbs[:], parts[0]) || slices.Contains(verbs[:], parts[n-1])) {
			return prog + " " + a
		}
	}
	return ""
}

// covers reports whether the success of one command line means that the failure of another is
// resolved. It does if both lines are the same, or if the successful line runs each check of the
// failed line at least as widely.
func covers(succeeded, failing string) bool {
	if succeeded == failing {
		return true
	}
	done, checks := split(succeeded), 0
	for _, f := range split(failing) {
		if checkOf(f.words) == "" {
			continue
		}
		checks++
		if !slices.ContainsFunc(done, func(s segment) bool { return widens(s.words, f.words) }) {
			return false
		}
	}
	return checks > 0
}

// widens reports whether command a is the same check as b and has no argument
// or flag that narrows it more.
func widens(a, b []string) bool {
	kind := checkOf(a)
	return kind != "" && kind == checkOf(b) && !slices.ContainsFunc(a[1:], func(arg string) bool {
		return (!strings.HasPrefix(arg, "-") && arg != "./..." || narrows(arg)) && !slices.Contains(b, arg)
	})
}

// narrows reports whether arg is a flag that selects part of a test run.
func narrows(arg string) bool {
	flag, _, _ := strings.Cut(arg, "=")
	return slices.Contains([]string{"-run", "-k", "-t", "-m", "--filter", "--grep", "-g", "-p", "--package", "--test", "-skip"}, flag)
}

// commitOf reports whether a simple command commits. subject is the subject that the command
// names, "" if it names none.
func commitOf(s segment) (subject string, ok bool) {
	if gitVerb(s.words) != "commit" {
		return "", false
	}
	_, after, ok := strings.Cut(s.text, "commit")
	if !ok {
		return "", true
	}
	for _, flag := range [...]string{" -m ", " -am ", " --message ", " --message=", " -a -m "} {
		if _, msg, found := strings.Cut(after, flag); found {
			return subjectOf(strings.TrimSpace(msg)), true
		}
	}
	return "", true
}

// subjectOf returns the first line of a quoted message or of the here document
// that the quotes hold.
func subjectOf(msg string) string {
	quote := byte(' ')
	if msg != "" && (msg[0] == '"' || msg[0] == '\'') {
		quote = msg[0]
		msg = msg[1:]
	}
	if strings.HasPrefix(msg, "$(cat <<") || strings.HasPrefix(msg, "<<") {
		_, msg, _ = strings.Cut(msg, "\n")
		msg, _, _ = strings.Cut(strings.TrimLeft(msg, " \t\n"), "\n")
		return msg
	}
	msg, _, _ = strings.Cut(msg, "\n")
	for i := 0; i < len(msg); i++ {
		if msg[i] == '\\' && quote == '"' {
			i++
		} else if msg[i] == quote {
			return strings.ReplaceAll(msg[:i], `\"`, `"`)
		}
	}
	return msg
}

// gitVerb returns the subcommand of a git command, "" for other programs.
func gitVerb(w []string) string {
	if len(w) < 2 || path.Base(w[0]) != "git" {
		return ""
	}
	for i := 1; i < len(w); i++ {
		switch {
		case w[i] == "-C" || w[i] == "-c":
			i++
		case !strings.HasPrefix(w[i], "-"):
			return w[i]
		}
	}
	return ""
}

// newBranch returns in sure the branch that a simple command creates and switches to. It returns
// in maybe a branch that the command switches to if its output confirms the switch.
func newBranch(w []string) (sure, maybe string) {
	v := gitVerb(w)
	if v != "checkout" && v != "switch" {
		return "", ""
	}
	rest := w[slices.Index(w, v)+1:]
	for i, a := range rest {
		if (a == "-b" || a == "-B" || a == "-c" || a == "-C" || a == "--create") && i+1 < len(rest) {
			return rest[i+1], ""
		}
	}
	if len(rest) == 1 && !strings.HasPrefix(rest[0], "-") {
		return "", rest[0]
	}
	return "", ""
}

// absolute reports whether p is an absolute path.
func absolute(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~/") ||
		len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}

// cleanPath returns a path in the one spelling under which it is remembered.
func cleanPath(p string) string {
	p = oneLine(p, pathRunes)
	if p == "" || strings.Contains(p, `\`) || strings.Contains(p, "://") {
		return p
	}
	return path.Clean(p)
}
