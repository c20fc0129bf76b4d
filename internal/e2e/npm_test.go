package e2e

import (
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

//go:embed versions.json
var versionsFile []byte

// pinned is what npm is asked for: the version that versions.json names, or with
// E2E_NEWEST=1 the newest.
func pinned(t *testing.T, pkg string) (version string) {
	t.Helper()
	var all map[string]string
	if err := json.Unmarshal(versionsFile, &all); err != nil {
		t.Fatal("versions.json: ", err)
	}
	if version = all[pkg]; version == "" {
		t.Fatalf("versions.json names no version of %s", pkg)
	}
	if newestAsked() && pkg != "node" {
		return "latest"
	}
	return version
}

func newestAsked() bool { return os.Getenv("E2E_NEWEST") != "" }

// host is a program of npm's and the node that runs it.
type host struct{ node, script, version string }

// installOpenClaw has npm install the host, once for all runs, or skips.
func installOpenClaw(t *testing.T) host {
	t.Helper()
	dir, node := installNode(t)
	script, version := install(t, dir, "openclaw", "openclaw", filepath.Join("openclaw", "openclaw.mjs"), pathWith(node))
	return host{node, script, version}
}

// installNode has npm install the node that hosts run on, and returns the folder for them,
// or skips.
func installNode(t *testing.T) (dir, node string) {
	t.Helper()
	if os.Getenv("MEMKERNEL_E2E") == "" {
		t.Skip("real hosts run by make e2e (MEMKERNEL_E2E=1)")
	}
	return pinnedNode(t)
}

// pinnedNode has npm install the node that versions.json names, and returns the folder for
// what npm installs, or skips.
func pinnedNode(t *testing.T) (dir, node string) {
	t.Helper()
	if dir = os.Getenv("MEMKERNEL_E2E_DIR"); dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Skip("no folder to install the host in: set MEMKERNEL_E2E_DIR: ", err)
		}
		dir = filepath.Join(cache, "memkernel-e2e")
	}
	node, _ = install(t, dir, "node", "node", filepath.Join(".bin", "node"), os.Getenv("PATH"))
	return dir, node
}

// pathWith is the PATH with a program's folder in front.
func pathWith(program string) string {
	return filepath.Dir(program) + string(os.PathListSeparator) + os.Getenv("PATH")
}

// install installs a package in a folder of its own below dir, unless that version of it is
// there, and returns the file in its node_modules that is wanted, and its version. Where
// npm can't, the test is skipped.
func install(t *testing.T, dir, name, pkg, want, path string) (file, version string) {
	t.Helper()
	asked := pinned(t, pkg)
	if asked == "latest" {
		name += "-newest"
	}
	at := filepath.Join(dir, name)
	file = filepath.Join(at, "node_modules", want)
	if version = versionIn(at, pkg); version == asked {
		if _, err := os.Stat(file); err == nil {
			return file, version
		}
	}
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "package.json"), []byte(`{"private":true}`), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("npm installs %s@%s in %s", pkg, asked, at)
	began := time.Now()
	cmd := exec.Command("npm", "install", "--no-audit", "--no-fund", pkg+"@"+asked)
	cmd.Dir, cmd.Env = at, append(os.Environ(), "PATH="+path)
	out, err := cmd.CombinedOutput()
	if err == nil {
		_, err = os.Stat(file)
	}
	if err != nil {
		t.Skipf("npm can't install %s@%s: %v\n%s", pkg, asked, err, tail(string(out), 5))
	}
	t.Logf("%s took %v", pkg, time.Since(began).Round(time.Second))
	return file, versionIn(at, pkg)
}

// versionIn is the version of a package that is installed in a folder, "" if none is.
func versionIn(dir, pkg string) string {
	var m struct{ Version string }
	data, err := os.ReadFile(filepath.Join(dir, "node_modules", filepath.FromSlash(pkg), "package.json"))
	if err != nil || json.Unmarshal(data, &m) != nil {
		return ""
	}
	return m.Version
}

// tail is the last lines of a text.
func tail(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
