package textutil

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Ignore holds the rules of one .gitignore file, as gitignore(5) describes them.
type Ignore struct {
	// dir is the folder of the file, with a slash at its end. It is "" for the workspace.
	dir string
	// within is the folder, with its slash, that paths are relative to. It is "" if dir is
	// relative to the same folder.
	within string
	rules  []rule
}

type rule struct {
	pattern string
	// name is set if the pattern is matched with the last name of a path. literal is set if such
	// a pattern has no wildcards.
	name, literal bool
	folder, not   bool
}

// ParseIgnore reads a .gitignore file of a folder, "" for the workspace. Rules that are
// no patterns match nothing, as for git.
func ParseIgnore(dir, text string) *Ignore {
	ig := &Ignore{dir: dir}
	if dir != "" {
		ig.dir += "/"
	}
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		if r, ok := parseRule(line); ok {
			ig.rules = append(ig.rules, r)
		}
	}
	return ig
}

func parseRule(line string) (r rule, ok bool) {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	if strings.HasPrefix(line, "#") {
		return r, false
	}
	line = trimSpaces(line)
	line, r.not = strings.CutPrefix(line, "!")
	if rest, ok := strings.CutSuffix(line, "/"); ok {
		line, r.folder = rest, true
	}
	r.name = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" || len(line) > maxGlob || strings.Count(line, "**") > maxAlternatives {
		return r, false
	}
	r.literal = r.name && !strings.ContainsAny(line, `*?[\`)
	if r.literal {
		r.pattern = line
		return r, true
	}
	r.pattern = posix.Replace(line)
	if rest, ok := strings.CutSuffix(r.pattern, "/**"); ok {
		r.pattern = rest + "/**/*" // the folder's content, not the folder
	}
	return r, doublestar.ValidatePattern(r.pattern)
}

// posix rewrites syntax that only one of gitignore(5) and package doublestar has into syntax that
// both have.
var posix = strings.NewReplacer("{", `\{`, "}", `\}`, "[:alpha:]", "a-zA-Z", "[:digit:]", "0-9", "[:alnum:]", "a-zA-Z0-9", "[:lower:]", "a-z",
	"[:upper:]", "A-Z", "[:space:]", " \t\n\v\f\r", "[:blank:]", " \t", "[:xdigit:]", "0-9a-fA-F", `\\`, `\\`, `\{`, `\{`, `\}`, `\}`)

// trimSpaces removes spaces at the end unless a backslash keeps them.
func trimSpaces(s string) string {
	for strings.HasSuffix(s, " ") {
		t := s[:len(s)-1]
		if n := len(t) - len(strings.TrimRight(t, `\`)); n%2 == 1 {
			return s
		}
		s = t
	}
	return s
}

// Within returns the rules for paths that are relative to a subfolder. Rules that ignore one of
// the folders in except are dropped.
func (ig *Ignore) Within(folder string, except []string) *Ignore {
	out := &Ignore{dir: ig.dir, within: folder + "/"}
	for _, r := range ig.rules {
		one := &Ignore{dir: ig.dir, rules: []rule{r}}
		if !slices.ContainsFunc(except, func(dir string) bool { out, _ := one.Match(dir, true); return out }) {
			out.rules = append(out.rules, r)
		}
	}
	return out
}

// Match reports whether the rules ignore a file or a folder below their own folder. decided is
// false if no rule matches. Git ignores everything in an ignored folder, whatever the rules say:
// callers must check the parent folders themselves.
func (ig *Ignore) Match(p string, folder bool) (ignored, decided bool) {
	rel, ok := strings.CutPrefix(ig.within+p, ig.dir)
	if !ok {
		return false, false
	}
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	for i := len(ig.rules) - 1; i >= 0; i-- {
		if r := &ig.rules[i]; r.match(rel, name, folder) {
			return !r.not, true
		}
	}
	return false, false
}

func (r *rule) match(rel, name string, folder bool) bool {
	switch {
	case r.folder && !folder:
		return false
	case r.literal:
		return r.pattern == name
	case r.name:
		return doublestar.MatchUnvalidated(r.pattern, name)
	}
	return doublestar.MatchUnvalidated(r.pattern, rel)
}
