package install

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"
)

// What is looked at to count sessions: so many files, and so much of each.
const (
	maxSessionFiles = 5000
	maxFirstLine    = 1 << 20 // bytes
)

// claudeSessions counts the transcripts in the folder that Claude Code names after the
// project's path: every character but ASCII letters and digits is a dash there.
func claudeSessions(s *Site, homes []string) int {
	var name strings.Builder
	for _, u := range utf16.Encode([]rune(s.Workspace)) {
		if u >= 'a' && u <= 'z' || u >= 'A' && u <= 'Z' || u >= '0' && u <= '9' {
			name.WriteByte(byte(u))
		} else {
			name.WriteByte('-')
		}
	}
	n := 0
	for _, home := range homes {
		n += countFiles(filepath.Join(home, "projects", name.String()), ".jsonl")
	}
	return n
}

func piSessions(s *Site, homes []string) int {
	name := "--" + strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(strings.TrimLeft(s.Workspace, `/\`)) + "--"
	n := 0
	for _, home := range homes {
		n += countFiles(filepath.Join(home, "agent", "sessions", name), ".jsonl")
	}
	return n
}

// codexSessions counts the newest transcripts whose first line names the workspace.
func codexSessions(s *Site, homes []string) int {
	n, looked := 0, 0
	for _, home := range homes {
		for _, folder := range []string{"sessions", "archived_sessions"} {
			newestFirst(filepath.Join(home, folder), 4, func(path string) bool {
				if looked++; strings.HasSuffix(path, ".jsonl") && s.isWorkspace(codexFolder(path)) {
					n++
				}
				return looked < maxSessionFiles
			})
		}
	}
	return n
}

// codexFolder is the folder that a transcript says it is of, "" if it says none.
func codexFolder(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, maxFirstLine)).ReadBytes('\n')
	var meta struct {
		Payload struct {
			CWD string `json:"cwd"`
		} `json:"payload"`
		CWD string `json:"cwd"`
	}
	if json.Unmarshal(line, &meta) != nil {
		return ""
	}
	if meta.Payload.CWD != "" {
		return meta.Payload.CWD
	}
	return meta.CWD
}

// geminiSessions counts the chats of the folders that name the workspace, by its hash or
// in a file.
func geminiSessions(s *Site, homes []string) int {
	sum := sha256.Sum256([]byte(s.Workspace))
	n := 0
	for _, home := range homes {
		tmp := filepath.Join(home, "tmp")
		for i, dir := range list(tmp) {
			root, err := os.ReadFile(filepath.Join(tmp, dir.Name(), ".project_root"))
			if dir.Name() == hex.EncodeToString(sum[:]) || err == nil && s.isWorkspace(strings.TrimSpace(string(root))) {
				n += countFiles(filepath.Join(tmp, dir.Name(), "chats"), ".json") + countFiles(filepath.Join(tmp, dir.Name(), "chats"), ".jsonl")
			}
			if i >= maxSessionFiles {
				break
			}
		}
	}
	return n
}

func (s *Site) isWorkspace(dir string) bool {
	return dir != "" && filepath.Clean(dir) == filepath.Clean(s.Workspace)
}

func list(dir string) []os.DirEntry {
	entries, _ := os.ReadDir(dir) // one that can't be read has nothing that can be counted
	return entries
}

func countFiles(dir, suffix string) (n int) {
	for _, e := range list(dir) {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), suffix) {
			n++
		}
	}
	return n
}

// newestFirst calls f for the files in folders that are named by date, from the last name
// to the first, until it returns false.
func newestFirst(dir string, depth int, f func(path string) bool) bool {
	entries := list(dir)
	for i := len(entries) - 1; i >= 0; i-- {
		path := filepath.Join(dir, entries[i].Name())
		switch {
		case entries[i].IsDir() && depth > 0:
			if !newestFirst(path, depth-1, f) {
				return false
			}
		case entries[i].Type().IsRegular():
			if !f(path) {
				return false
			}
		}
	}
	return true
}
