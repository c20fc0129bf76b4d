package sessions

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/memkernel/memkernel/internal/jsonl"
	"github.com/memkernel/memkernel/internal/textutil"
)

// hostMemory is a folder in which a host keeps memories that it writes by itself.
type hostMemory struct {
	// Name is "claude" or "codex". Host is the host's own name for itself.
	Name, Host, Folder string
	// Shown, if not nil, blanks the lines of a file that are not about the workspace.
	Shown func(text string) string
}

// HostMemories returns the existing folders with the memories that the hosts of the user with
// this home wrote about a workspace. Links are not followed.
func HostMemories(workspace, home string, getenv func(string) string) (out []hostMemory) {
	if abs, err := filepath.Abs(workspace); err == nil {
		workspace = abs
	}
	if to, err := filepath.EvalSymlinks(workspace); err == nil {
		workspace = to
	}
	project := ClaudeProject(cmp.Or(getenv("CLAUDE_CONFIG_DIR"), filepath.Join(home, ".claude")), workspace)
	if dir := filepath.Join(project, "memory"); isFolder(project) && isFolder(dir) && claudeKnows(project, workspace) {
		out = append(out, hostMemory{Name: "claude", Host: "Claude Code", Folder: dir})
	}
	if dir := filepath.Join(cmp.Or(getenv("CODEX_HOME"), filepath.Join(home, ".codex")), "memories"); isFolder(dir) {
		out = append(out, hostMemory{Name: "codex", Host: "Codex", Folder: dir, Shown: func(text string) string { return codexShown(text, workspace) }})
	}
	return out
}

func isFolder(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.IsDir()
}

// ClaudeProject returns the folder that Claude Code names after the project's path. In the name, a
// dash replaces every character except ASCII letters and digits.
func ClaudeProject(home, workspace string) string {
	var name strings.Builder
	for _, u := range utf16.Encode([]rune(workspace)) {
		if u >= 'a' && u <= 'z' || u >= 'A' && u <= 'Z' || u >= '0' && u <= '9' {
			name.WriteByte(byte(u))
		} else {
			name.WriteByte('-')
		}
	}
	return filepath.Join(home, "projects", name.String())
}

// maxLooked bounds the transcripts that are looked at to find the owner of a folder.
const maxLooked = 8

// claudeKnows reports whether a folder of Claude Code belongs to the workspace. Several paths may
// give the same name, so the working directories of its newest transcripts decide.
func claudeKnows(project, workspace string) bool {
	paths, _ := filepath.Glob(filepath.Join(escaped.Replace(project), "*.jsonl"))
	slices.SortFunc(paths, func(a, b string) int { return modified(b).Compare(modified(a)) })
	other := false
	for _, p := range paths[:min(len(paths), maxLooked)] {
		cwd := workingDir(p)
		if is(cwd, workspace) {
			return true
		}
		other = other || cwd != ""
	}
	return !other
}

var escaped = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

func modified(path string) (t time.Time) {
	if fi, err := os.Lstat(path); err == nil && fi.Mode().IsRegular() {
		t = fi.ModTime()
	}
	return t
}

// workingDir returns the first working directory that the beginning of a transcript names.
func workingDir(path string) string {
	if modified(path).IsZero() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	return WorkingDir(io.LimitReader(f, detectBytes), detectBytes, detectBytes)
}

// WorkingDir returns the first folder that one of the first records of a transcript names, as
// Claude Code, Codex, Pi and Copilot CLI do, or "". It reads no record of more than longest bytes.
func WorkingDir(r io.Reader, longest, records int) (dir string) {
	type named struct {
		CWD string `json:"cwd"`
	}
	jsonl.Find(textutil.UTF8Reader(r), longest, records, func(raw string) bool {
		var rec struct {
			named
			Payload named `json:"payload"`
			Data    struct {
				Context named `json:"context"`
			} `json:"data"`
		}
		if json.Unmarshal([]byte(raw), &rec) == nil {
			dir = cmp.Or(rec.CWD, rec.Payload.CWD, rec.Data.Context.CWD)
		}
		return dir != ""
	})
	return dir
}

// is reports whether a folder is the workspace.
func is(dir, workspace string) bool {
	if dir == "" || filepath.Clean(dir) == filepath.Clean(workspace) {
		return dir != ""
	}
	to, err := filepath.EvalSymlinks(dir)
	return err == nil && to == workspace
}

// codexShown blanks everything in a file of Codex's memories that is not marked as belonging to the
// workspace. Codex keeps the memories of all projects together. The summary of a session names its
// folder in its first lines, and MEMORY.md names a folder for each group of tasks.
func codexShown(text, workspace string) string {
	groups := strings.SplitAfter(text, "\n# Task Group")
	for i := range groups[:len(groups)-1] { // a group begins with its heading
		groups[i] = strings.TrimSuffix(groups[i], "# Task Group")
		groups[i+1] = "# Task Group" + groups[i+1]
	}
	var b strings.Builder
	for i, g := range groups {
		own := false
		for j, line := range strings.SplitN(g, "\n", 12) {
			dir, ok := strings.CutPrefix(strings.TrimSpace(line), "applies_to: cwd=")
			if !ok && i == 0 && j < 11 {
				dir, ok = strings.CutPrefix(strings.TrimSpace(line), "cwd: ")
			}
			dir, _, _ = strings.Cut(dir, ";")
			own = own || ok && is(strings.TrimSpace(dir), workspace)
		}
		if own {
			b.WriteString(g)
		} else {
			b.WriteString(strings.Repeat("\n", strings.Count(g, "\n")))
		}
	}
	return b.String()
}
