package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	nodePackage     = "node@26"
	openclawPackage = "openclaw@2026.9.6"
)

// host is a program of npm's and the node that runs it.
type host struct{ node, script string }

// installOpenClaw has npm install the host, once for all runs, or skips.
func installOpenClaw(t *testing.T) host {
	t.Helper()
	dir, node := installNode(t)
	h := host{node, filepath.Join(dir, "openclaw", "node_modules", "openclaw", "openclaw.mjs")}
	install(t, h.script, filepath.Join(dir, "openclaw"), openclawPackage, pathWith(node))
	return h
}

// installNode has npm install the node that hosts run on, and returns the folder for them,
// or skips.
func installNode(t *testing.T) (dir, node string) {
	t.Helper()
	if os.Getenv("MEMKERNEL_E2E") == "" {
		t.Skip("real hosts run by make e2e (MEMKERNEL_E2E=1)")
	}
	if dir = os.Getenv("MEMKERNEL_E2E_DIR"); dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Skip("no folder to install the host in: set MEMKERNEL_E2E_DIR: ", err)
		}
		dir = filepath.Join(cache, "memkernel-e2e")
	}
	node = filepath.Join(dir, "node", "node_modules", ".bin", "node")
	install(t, node, filepath.Join(dir, "node"), nodePackage, os.Getenv("PATH"))
	return dir, node
}

// pathWith is the PATH with a program's folder in front.
func pathWith(program string) string {
	return filepath.Dir(program) + string(os.PathListSeparator) + os.Getenv("PATH")
}

// install installs a package in a folder of its own, unless what is wanted of it is
// there.
func install(t *testing.T, want, dir, pkg, path string) {
	t.Helper()
	if _, err := os.Stat(want); err == nil {
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private":true}`), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("npm installs %s in %s", pkg, dir)
	began := time.Now()
	cmd := exec.Command("npm", "install", "--no-audit", "--no-fund", pkg)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+path)
	out, err := cmd.CombinedOutput()
	if err == nil {
		_, err = os.Stat(want)
	}
	if err != nil {
		t.Skipf("npm can't install %s: %v\n%s", pkg, err, tail(string(out), 5))
	}
	t.Logf("%s took %v", pkg, time.Since(began).Round(time.Second))
}

// tail is the last lines of a text.
func tail(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
