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
)

// tree is a new checkout with the tracked files of this one as they stand, and a section
// of the changelog for the version that it is tagged with.
func tree(t testing.TB, tag string) string {
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

// checkProgram holds that a program is for its target, static, and of the version.
func checkProgram(t testing.TB, target target, data []byte, version string) {
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

// desktopServer is the command of the server as a bundle's manifest has it.
func desktopServer(t testing.TB, bundle, workspace string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(bundle, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	parsed(t, file{name: "manifest.json", data: data}, &m)
	fill := strings.NewReplacer("${__dirname}", bundle, "${user_config.workspace}", workspace, "${user_config.private}", "true")
	out := []string{fill.Replace(m.Server.MCPConfig.Command)}
	for _, arg := range m.Server.MCPConfig.Args {
		out = append(out, fill.Replace(arg))
	}
	return out
}

// answers starts a server of the Model Context Protocol, and asks it who it is and what it knows.
func answers(t testing.TB, dir string, env []string, version, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var said bytes.Buffer
	cmd.Stderr = &said
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	lines := bufio.NewReader(out)
	for _, step := range [][2]string{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`, `"version":"v` + version + `"`},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_search","arguments":{"query":"where do we sail?"}}}`, `NO_MATCH`},
	} {
		if _, err := io.WriteString(in, step[0]+"\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, step[1]) {
			t.Fatalf("the server answers %s, %v: %s", line, err, said.String())
		}
	}
	// A client that hangs up ends it.
	if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}
