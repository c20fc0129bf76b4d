package install

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/sessions"
)

// The bounds of the search for sessions: how many files, and how much of each.
const (
	maxSessionFiles = 5000
	maxFirstLine    = 1 << 20 // bytes
)

// logs returns the regular files below a folder that match a pattern and that here accepts, by
// name. A nil here accepts all files.
func logs(dir, pattern string, here func(path string) bool) (out []string) {
	names, _ := fs.Glob(os.DirFS(dir), pattern) // a folder that can't be read has nothing that can be found
	for _, name := range names[max(len(names)-maxSessionFiles, 0):] {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if st, err := os.Lstat(path); err == nil && st.Mode().IsRegular() && (here == nil || here(path)) {
			out = append(out, path)
		}
	}
	return out
}

// claudeSessions returns the transcripts in the project's folder. It leaves out transcripts of
// subagents, which are parts of other transcripts.
func claudeSessions(s *Site, home string) []string {
	return logs(sessions.ClaudeProject(home, s.Workspace), "*.jsonl", func(path string) bool { return !strings.HasPrefix(filepath.Base(path), "agent-") })
}

func piSessions(s *Site, home string) []string {
	name := "--" + strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(strings.TrimLeft(s.Workspace, `/\`)) + "--"
	return logs(filepath.Join(home, "agent", "sessions", name), "*.jsonl", nil)
}

// codexSessions returns the newest transcripts whose first line names the workspace. Most are in
// folders that are named by date.
func codexSessions(s *Site, home string) (out []string) {
	for _, pattern := range []string{"archived_sessions/*.jsonl", "archived_sessions/*/*/*/*.jsonl", "sessions/*.jsonl", "sessions/*/*/*/*.jsonl"} {
		out = append(out, logs(home, pattern, s.named)...)
	}
	slices.Reverse(out)
	return out
}

// copilotSessions returns the logs, each in a folder of its own, whose first line names the
// workspace.
func copilotSessions(s *Site, home string) []string {
	return logs(home, "session-state/*/events.jsonl", s.named)
}

// geminiSessions returns the chats of the folders that name the workspace, by its hash or in a
// file.
func geminiSessions(s *Site, home string) []string {
	return logs(home, "tmp/*/chats/*.json*", func(path string) bool {
		dir := filepath.Dir(filepath.Dir(path))
		root, err := os.ReadFile(filepath.Join(dir, ".project_root"))
		return filepath.Base(dir) == store.Sum([]byte(s.Workspace)) || err == nil && s.isWorkspace(strings.TrimSpace(string(root)))
	})
}

// named reports whether the first line of a transcript names the workspace.
func (s *Site) named(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return s.isWorkspace(sessions.WorkingDir(f, maxFirstLine, 1))
}

func (s *Site) isWorkspace(dir string) bool {
	return dir != "" && filepath.Clean(dir) == filepath.Clean(s.Workspace)
}

// Memories is a folder in which a host keeps memories of its own.
type Memories struct {
	// Title is the host's own name for itself.
	Title  string `json:"host"`
	Folder string `json:"folder"`
	// Files is the number of Markdown files in the folder, at most maxSessionFiles.
	Files int `json:"files"`
}

// Memories returns the folders in which the user's hosts keep memories of this workspace.
func (s *Site) Memories() (out []Memories) {
	for _, m := range sessions.HostMemories(s.Workspace, s.Home, s.Getenv) {
		n := 0
		_ = filepath.WalkDir(m.Folder, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || n >= maxSessionFiles:
				return fs.SkipAll // the rest can't be read, or is more than is counted
			case d.Type().IsRegular() && strings.EqualFold(filepath.Ext(path), ".md"):
				n++
			}
			return nil
		})
		if n > 0 {
			out = append(out, Memories{m.Host, m.Folder, n})
		}
	}
	return out
}
