package verbs

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// thisProgram returns the name and the path of memkernel. The name is the path if a shell does
// not find this program by its name.
func thisProgram() (name, self string, err error) {
	if self, err = os.Executable(); err != nil {
		return "", "", fmt.Errorf("find this program: %w", err)
	}
	if onPath("memkernel", self) {
		return "memkernel", self, nil
	}
	return self, self, nil
}

// onPath reports whether a shell finds program by name.
func onPath(name, program string) bool {
	found, err := exec.LookPath(name)
	if err != nil {
		return false
	}
	a, errA := os.Stat(found)
	b, errB := os.Stat(program)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// shellWord quotes a path for the shells of hosts if necessary.
func shellWord(path string) string {
	if !strings.ContainsFunc(path, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%", r))
	}) {
		return path
	}
	if runtime.GOOS == "windows" {
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
