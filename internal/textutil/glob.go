package textutil

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// maxGlob is the largest length of a glob in bytes. The cost of a match grows faster than this
// length.
const maxGlob = 1024

// maxAlternatives bounds the alternatives of a glob, and its runs of folders. A match may have to
// try all combinations of them.
const maxAlternatives = 16

// CheckGlob returns an error that names the fault of a glob, nil for a good one.
func CheckGlob(text string) error {
	clean := strings.TrimSuffix(text, "/")
	switch {
	case strings.TrimSpace(clean) == "":
		return errors.New("a glob is empty")
	case len(text) > maxGlob:
		return fmt.Errorf("%q… is longer than %d bytes", text[:32], maxGlob)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return fmt.Errorf("%q is not a text", text)
	case strings.HasPrefix(text, "!"):
		return fmt.Errorf("%q begins with !: what is to stay out belongs to index.exclude", text)
	case strings.HasPrefix(text, "/"), strings.HasPrefix(text, "~"), len(text) > 1 && text[1] == ':':
		return fmt.Errorf("%q is not relative to the workspace", text)
	case slices.Contains(strings.Split(clean, "/"), ".."):
		return fmt.Errorf("%q leads out of the workspace", text)
	case strings.Count(text, "{")+strings.Count(text, "**") > maxAlternatives:
		return fmt.Errorf("%q has more than %d alternatives and runs of folders", text, maxAlternatives)
	case !doublestar.ValidatePattern(clean):
		return fmt.Errorf("%q is no glob: a bracket, a brace or a backslash stands open", text)
	}
	return nil
}

// Globs matches a name if at least one of its globs does. The zero value matches nothing.
//
// A * matches any characters of one name. ** between slashes matches any folders. ? matches one
// character. [a-z] and [^a-z] match one character of a set. {a,b} matches either text. A
// backslash removes the special meaning of the next character. Upper and lower case are the same.
// A glob that names a folder matches the folder's content.
//
// A closed name is matched only by a part of a glob that names it. For a name that begins with a
// dot, that part must begin with a dot too. For another name, the part must be exactly the name.
type Globs struct {
	all    []glob
	closed func(name string) bool
}

type glob struct {
	text  string
	parts []string
	// across is set if an alternative contains a slash. The parts have no meaning then.
	across bool
}

// NewGlobs makes globs of texts. A text that [CheckGlob] refuses matches nothing. closed reports
// whether a name is closed. If closed is nil, no name is.
func NewGlobs(texts []string, closed func(name string) bool) Globs {
	g := Globs{closed: closed}
	for _, t := range texts {
		if CheckGlob(t) != nil {
			continue
		}
		t = strings.ToLower(path.Clean(strings.TrimSuffix(t, "/")))
		one := glob{text: t, parts: strings.Split(t, "/")}
		one.across = slices.ContainsFunc(one.parts, func(p string) bool { return strings.Count(p, "{") != strings.Count(p, "}") })
		g.all = append(g.all, one)
	}
	return g
}

// Empty reports whether there are no globs.
func (g Globs) Empty() bool { return len(g.all) == 0 }

// Names reports whether a glob names the file of the path. A glob that matches only a folder
// above the file, or all files, does not count.
func (g Globs) Names(p string) bool {
	p = strings.ToLower(p)
	return slices.ContainsFunc(g.all, func(o glob) bool {
		last := o.parts[len(o.parts)-1]
		return last != "*" && last != "**" && doublestar.MatchUnvalidated(o.text, p) && g.opens(o, p)
	})
}

// Match reports whether a glob matches the path or a folder above it.
func (g Globs) Match(p string) bool {
	p = strings.ToLower(p)
	return slices.ContainsFunc(g.all, func(o glob) bool {
		for at := p; ; {
			if doublestar.MatchUnvalidated(o.text, at) && g.opens(o, p) {
				return true
			}
			i := strings.LastIndexByte(at, '/')
			if i < 0 {
				return false
			}
			at = at[:i]
		}
	})
}

// Below reports whether a glob may match something in a folder.
func (g Globs) Below(dir string) bool {
	dir = strings.ToLower(dir)
	names := strings.Split(dir, "/")
	return slices.ContainsFunc(g.all, func(o glob) bool { return o.reaches(names) && g.opens(o, dir) })
}

func (o *glob) reaches(names []string) bool {
	if o.across {
		return true
	}
	for i, name := range names {
		if i == len(o.parts) || o.parts[i] == "**" {
			return true
		}
		if !doublestar.MatchUnvalidated(o.parts[i], name) {
			return false
		}
	}
	return true
}

// opens reports whether all closed names on a path are named by the glob.
func (g Globs) opens(o glob, p string) bool {
	if g.closed == nil {
		return true
	}
	for name := range strings.SplitSeq(p, "/") {
		if g.closed(name) && !slices.ContainsFunc(o.parts, func(part string) bool { return names(part, name) }) {
			return false
		}
	}
	return true
}

// names reports whether a part of a glob names a closed name.
func names(part, name string) bool {
	if strings.HasPrefix(name, ".") {
		return strings.HasPrefix(strings.TrimPrefix(part, `\`), ".") && doublestar.MatchUnvalidated(part, name)
	}
	return part == name
}
