package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// root is the checkout that the tests are in.
const root = "../.."

// fakeModules are those that the small programs are said to hold.
var fakeModules []*debug.Module

// fakeRelease packs small programs in place of those that take a while to build: on Linux
// and macOS scripts that print what they were called with, wait for a signal, or end as
// they are told to.
func fakeRelease(t testing.TB, version string) *packer { return fakeReleaseOf(t, version, version) }

// fakeReleaseOf packs programs that say that they are of another version than the release.
func fakeReleaseOf(t testing.TB, version, says string) *packer {
	t.Helper()
	dir := t.TempDir()
	var programs []program
	for _, target := range targets {
		text := fmt.Sprintf("#!/bin/sh\n# %s\ncase \"$1\" in\nexit) exit $2;;\nwait) trap 'echo told; exit 7' TERM; echo waiting; while :; do sleep 0.05; done;;\nesac\necho memkernel v%s \"$@\"\n", target, says)
		path := filepath.Join(dir, target.goos+target.goarch)
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		programs = append(programs, program{target, path, &buildinfo.BuildInfo{GoVersion: "go1.26.8", Deps: fakeModules}})
	}
	p := &packer{
		checkout: &checkout{root: root, tag: "v" + version, version: version, time: time.Unix(1_800_000_000, 0).UTC(), notes: "### Added\n\n- all of it"},
		extras:   []file{{"man/memkernel.1", []byte(".TH memkernel 1\n"), 0o644}},
		dir:      filepath.Join(dir, "release"),
	}
	for _, shell := range shells {
		p.extras = append(p.extras, file{"completions/" + shell[1], []byte("# " + shell[0] + "\n"), 0o644})
	}
	if err := p.all(programs); err != nil {
		t.Fatal(err)
	}
	return p
}

// unpacked is what an archive of a release holds, by name.
func unpacked(t testing.TB, path string) map[string]file {
	t.Helper()
	out := map[string]file{}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, "gz") || strings.HasSuffix(path, ".tar") {
		var plain io.Reader = bytes.NewReader(data)
		if strings.HasSuffix(path, "gz") {
			if plain, err = gzip.NewReader(plain); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
		}
		for r := tar.NewReader(plain); ; {
			h, err := r.Next()
			if err == io.EOF {
				return out
			}
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			out[h.Name] = file{h.Name, readAll(t, r), h.FileInfo().Mode()}
		}
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name] = file{f.Name, readAll(t, r), f.Mode()}
		r.Close()
	}
	return out
}

func readAll(t testing.TB, r io.Reader) []byte {
	t.Helper()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// parsed reads JSON strictly into a value.
func parsed(t testing.TB, f file, into any) {
	t.Helper()
	if f.data == nil {
		t.Fatalf("there is no such file, for %T", into)
	}
	d := json.NewDecoder(bytes.NewReader(f.data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v\n%s", f.name, err, f.data)
	}
}

// unpack puts an archive of a release into a new folder.
func unpack(t testing.TB, path string) string {
	t.Helper()
	dir := t.TempDir()
	for name, f := range unpacked(t, path) {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, f.data, f.mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// shell runs a program in a folder with an empty home, and gives what it prints.
func shell(t testing.TB, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, said.String())
	}
	return string(out)
}

// needs skips a test where a program is not there.
func needs(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("needs %s: %v", name, err)
	}
}
