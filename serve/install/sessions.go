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

// claudeSessions returns the transcripts in the project's folder. It leaves out transcripts of
// subagents, which are parts of other transcripts.
func claudeSessions(s *Site, home string) []string {
	return slices.DeleteFunc(files(sessions.ClaudeProject(home, s.Workspace), ".jsonl"), func(path string) bool { return strings.HasPrefix(filepath.Base(path), "agent-") })
}

func piSessions(s *Site, home string) []string {
	name := "--" + strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(strings.TrimLeft(s.Workspace, `/\`)) + "--"
	return files(filepath.Join(home, "agent", "sessions", name), ".jsonl")
}

// codexSessions returns the newest transcripts whose first line names the workspace.
func codexSessions(s *Site, home string) (out []string) {
	looked := 0
	for _, folder := range []string{"sessions", "archived_sessions"} {
		newestFirst(filepath.Join(home, folder), 4, func(path string) bool {
			if looked++; strings.HasSuffix(path, ".jsonl") && s.isWorkspace(folderOf(path)) {
				out = append(out, path)
			}
			return looked < maxSessionFiles
		})
	}
	return out
}

// folderOf returns the folder that a transcript of Codex or Copilot CLI names, "" if it names
// none.
func folderOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	return sessions.WorkingDir(f, maxFirstLine, 1)
}

// copilotSessions are the logs, each in a folder of its own, whose first line names the workspace.
func copilotSessions(s *Site, home string) (out []string) {
	for i, dir := range list(filepath.Join(home, "session-state")) {
		path := filepath.Join(home, "session-state", dir.Name(), "events.jsonl")
		if i < maxSessionFiles && s.isWorkspace(folderOf(path)) {
			out = append(out, path)
		}
	}
	return out
}

// geminiSessions are the chats of the folders that name the workspace, by its hash or
// in a file.
func geminiSessions(s *Site, home string) (out []string) {
	tmp := filepath.Join(home, "tmp")
	for i, dir := range list(tmp) {
		root, err := os.ReadFile(filepath.Join(tmp, dir.Name(), ".project_root"))
		if dir.Name() == store.Sum([]byte(s.Workspace)) || err == nil && s.isWorkspace(strings.TrimSpace(string(root))) {
			out = append(out, files(filepath.Join(tmp, dir.Name(), "chats"), ".json", ".jsonl")...)
		}
		if i >= maxSessionFiles {
			break
		}
	}
	return out
}

func (s *Site) isWorkspace(dir string) bool {
	return dir != "" && filepath.Clean(dir) == filepath.Clean(s.Workspace)
}

func list(dir string) []os.DirEntry {
	entries, _ := os.ReadDir(dir) // one that can't be read has nothing that can be found
	return entries
}

// files are the regular files of a folder with one of these endings.
func files(dir string, endings ...string) (out []string) {
	for _, e := range list(dir) {
		if e.Type().IsRegular() && slices.Contains(endings, filepath.Ext(e.Name())) {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// newestFirst calls f for the files in folders that are named by date, from the last name
// to the first, until it returns false.
func newestFirst(dir string, depth int, f func(path string) bool) bool {
	for _, e := range slices.Backward(list(dir)) {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() && depth > 0 && !newestFirst(path, depth-1, f) || e.Type().IsRegular() && !f(path) {
			return false
		}
	}
	return true
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
