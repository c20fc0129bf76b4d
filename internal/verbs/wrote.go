package verbs

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/markdownstore"
)

// wroteJSON is a file for people that a verb created or changed.
type wroteJSON struct {
	// Path is relative to the workspace, or absolute for a file outside of it.
	Path string `json:"path"`
	// New reports whether the verb created the file. Lines is the number of its lines. Added
	// counts its new or changed lines.
	New   bool `json:"new"`
	Lines int  `json:"lines"`
	Added int  `json:"added"`
}

// These patterns match the files' names in their folders.
var (
	writtenState   = regexp.MustCompile(`^SESSION-STATE\.md$`)
	logName        = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2}|working-buffer)\.md$`)
	checkpointName = regexp.MustCompile(`^cp_\d+\.yaml$`)
)

// readable returns the texts, by path, of the files for people that observing a session may
// write. These are SESSION-STATE.md, the days' logs and the working buffer of the workspace, and
// the checkpoints in the session's folder.
//
// If rows is not nil, it reads the workspace's files from the database.
func readable(workspace string, rows *markdownstore.Store, sessionDir string) map[string]string {
	out := map[string]string{}
	take := func(in fs.FS, root, dir string, names *regexp.Regexp) {
		entries, _ := fs.ReadDir(in, dir)
		for _, e := range entries {
			if !names.MatchString(e.Name()) {
				continue
			}
			name := path.Join(dir, e.Name())
			if text, err := fs.ReadFile(in, name); err == nil {
				out[filepath.Join(root, filepath.FromSlash(name))] = string(text)
			}
		}
	}
	files := os.DirFS(workspace)
	if rows != nil {
		files = rows.FS()
	}
	take(files, workspace, ".", writtenState)
	take(files, workspace, "memory", logName)
	take(os.DirFS(sessionDir), sessionDir, "checkpoints", checkpointName)
	return out
}

// wrote returns the files that changed, by path.
func wrote(workspace string, before, after map[string]string) []wroteJSON {
	out := []wroteJSON{}
	for path, text := range after {
		old, was := before[path]
		if was && old == text {
			continue
		}
		shown := path
		if rel, err := filepath.Rel(workspace, path); err == nil && filepath.IsLocal(rel) {
			shown = filepath.ToSlash(rel)
		}
		out = append(out, wroteJSON{Path: shown, New: !was, Lines: strings.Count(text, "\n"), Added: added(old, text)})
	}
	slices.SortFunc(out, func(a, b wroteJSON) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// added counts the lines of text that are not in old. A repeated line counts for each further
// occurrence.
func added(old, text string) (n int) {
	have := map[string]int{}
	for l := range strings.Lines(old) {
		have[l]++
	}
	for l := range strings.Lines(text) {
		if have[l]--; have[l] < 0 {
			n++
		}
	}
	return n
}

// wroteText returns a line for each file.
func wroteText(files []wroteJSON) string {
	var b strings.Builder
	for _, f := range files {
		what := "changed, " + display.Plural(f.Added, "line") + " new"
		if f.New {
			what = "made, " + display.Plural(f.Lines, "line")
		}
		fmt.Fprintf(&b, "wrote %s: %s\n", display.Printable(f.Path), what)
	}
	return b.String()
}
