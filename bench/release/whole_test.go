package main

import (
	"bufio"
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/suite"
)

// tree is a new checkout with the tracked files of this one as they stand, and a section
// of the changelog for the version that it is tagged with.
func tree(t *testing.T, tag string) string {
	t.Helper()
	out, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("what would be released is what git tracks, and git can't say: %v", err)
	}
	dir := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if name == "CHANGELOG.md" {
			data = bytes.Replace(data, []byte("\n## Unreleased\n"), []byte("\n## "+strings.TrimPrefix(tag, "v")+"\n"), 1)
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-f", "."}, commit("all of it"), {"tag", tag}} {
		if _, err := git(dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The whole of a release is built and looked at; what runs on this machine is installed
// and run. Programs for other systems are told apart by what is written in them, and
// nobody has run them here.
func TestReleaseWhole(t *testing.T) {
	if !suite.Long() {
		t.Skip("six programs are built: part of make test-release and make test-long")
	}
	const version = "0.99.0"
	us := here(t)
	dir := filepath.Join(t.TempDir(), "release")
	var said strings.Builder
	if err := run(tree(t, "v"+version), dir, false, &said); err != nil {
		t.Fatal(err)
	}
	t.Log(said.String())
	if notes, err := os.ReadFile(filepath.Join(dir, "notes.md")); err != nil || !strings.HasPrefix(string(notes), "### ") {
		t.Errorf("notes %.80q, %v", notes, err)
	}
	checkSums(t, dir)
	checkPackages(t, dir, version, version)
	each(t, dir, version, "memkernel_VERSION_SYSTEM.EXT", func(t *testing.T, target target, files map[string]file) {
		checkProgram(t, target, files[target.program()].data, version)
	})
	t.Run("npm installs", func(t *testing.T) { npmInstalls(t, dir, version) })
	t.Run("pip installs", func(t *testing.T) { pipInstalls(t, dir, version, version) })
	for name, place := range map[string]string{
		"memkernel_" + version + "_" + us.goos + "_" + us.goarch + ".tar.gz": "memkernel",
		strings.Replace(us.node, "-", ".", 1) + ".memkernel.tar.gz":          "memkernel",
		"memkernel_" + version + "_" + us.goos + "_" + us.goarch + ".mcpb":   "server/memkernel",
	} {
		t.Run("runs "+name, func(t *testing.T) {
			at := unpack(t, filepath.Join(dir, name))
			if got := shell(t, at, empty(t), filepath.Join(at, place), "version"); !strings.HasPrefix(got, "memkernel v"+version+" ") {
				t.Errorf("it says %q", got)
			}
		})
	}
	t.Run("Claude Desktop's bundle answers", func(t *testing.T) {
		at := unpack(t, filepath.Join(dir, "memkernel_"+version+"_"+us.goos+"_"+us.goarch+".mcpb"))
		answers(t, at, t.TempDir(), version)
	})
}

// checkProgram holds that a program is for its target, static, and of the version.
func checkProgram(t *testing.T, target target, data []byte, version string) {
	t.Helper()
	info, err := buildinfo.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range info.Settings {
		got[s.Key] = s.Value
	}
	if info.Main.Version != "v"+version || got["GOOS"] != target.goos || got["GOARCH"] != target.goarch || got["CGO_ENABLED"] != "0" || got["vcs.modified"] != "false" {
		t.Errorf("%s: %v", info.Main.Version, got)
	}
	if target.goos != "linux" {
		return
	}
	e, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range e.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("it asks for a loader, and is not static")
		}
	}
}

// answers starts the server as a bundle's manifest says, and asks it who it is.
func answers(t *testing.T, bundle, workspace, version string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(bundle, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	parsed(t, file{name: "manifest.json", data: data}, &m)
	fill := strings.NewReplacer("${__dirname}", bundle, "${user_config.workspace}", workspace, "${user_config.private}", "true")
	var args []string
	for _, arg := range m.Server.MCPConfig.Args {
		args = append(args, fill.Replace(arg))
	}
	cmd := exec.Command(fill.Replace(m.Server.MCPConfig.Command), args...)
	cmd.Env = append(os.Environ(), empty(t)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.Contains(line, `"version":"v`+version+`"`) {
		t.Errorf("it answers %s, %v: %s", line, err, said.String())
	}
	// A client that hangs up ends it.
	if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
		t.Errorf("it ended with %v", err)
	}
}
