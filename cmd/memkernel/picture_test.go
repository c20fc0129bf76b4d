package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/suite"
)

// pictureArgs is PICTURE of the Makefile.
var pictureArgs = []string{"--context-window", "128k", "--fixed-tokens", "25000", "--resolver", "memory_get"}

// TestPictures holds the pictures of the bundled sample against what the command draws;
// -update rewrites them. The quick suite draws the first and holds that the others differ
// from it in colours alone.
func TestPictures(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(makefile, []byte("PICTURE := "+strings.Join(pictureArgs, " ")+"\n")) {
		t.Errorf("make picture takes other arguments than %v", pictureArgs)
	}
	var first []byte
	for i, theme := range display.PictureThemes() {
		name := "session-" + theme + ".svg"
		path := filepath.Join("../../doc", name)
		if !bytes.Contains(makefile, []byte("doc/"+name)) {
			t.Errorf("make picture does not make %s", path)
		}
		want, err := os.ReadFile(path)
		if err != nil && !*update {
			t.Fatal(err)
		}
		var got []byte
		if i > 0 && !*update && !suite.Long() {
			if !bytes.Equal(colour.ReplaceAll(first, nil), colour.ReplaceAll(want, nil)) {
				t.Errorf("%s differs from the other theme in more than colours; make picture rewrites it", path)
			}
			continue
		}
		made := filepath.Join(t.TempDir(), name)
		args := append([]string{"replay", "-q", "-t", sample, "--picture", made, "--theme", theme}, pictureArgs...)
		if code, _, stderr := invoke(t, args...); code != cli.ExitOK {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		if got, err = os.ReadFile(made); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = got
		}
		switch {
		case bytes.Equal(got, want):
		case *update:
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s is another picture than the command draws; make picture rewrites it", path)
		}
	}
}

var colour = regexp.MustCompile("#[0-9a-f]{6}")

// TestPictureRefusals: what --picture can't do is said before anything is replayed or
// written, and a file that was there stays.
func TestPictureRefusals(t *testing.T) {
	kept := filepath.Join(t.TempDir(), "kept.svg")
	if err := os.WriteFile(kept, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		code int
		want string
		args []string
	}{
		{cli.ExitUsage, "3 policies at most, not 4", []string{"-t", sample, "--picture", kept, "--policy", "all"}},
		{cli.ExitUsage, "light, dark", []string{"-t", sample, "--picture", kept, "--theme", "blue"}},
		{cli.ExitUsage, "--theme goes with --picture", []string{"-t", sample, "--theme", "dark"}},
		{cli.ExitUsage, "names a file", []string{"-t", sample, "--picture", "-"}},
		{cli.ExitUsage, "--picture and --trace exclude each other", []string{"--trace", "t.jsonl", "--picture", kept}},
		{cli.ExitError, "nowhere", []string{"-t", sample, "--limit", "2", "--picture", "nowhere/at/all.svg"}},
		{cli.ExitError, "nothing to draw", []string{"-t", sample, "--limit", "2", "--picture", kept, "--context-window", "300", "--reserve", "1"}},
	} {
		code, _, stderr := invoke(t, append([]string{"replay", "-q"}, tt.args...)...)
		if code != tt.code || !strings.Contains(stderr, tt.want) {
			t.Errorf("%v: exit %d, want %d; %q, want %q", tt.args, code, tt.code, stderr, tt.want)
		}
	}
	if raw, err := os.ReadFile(kept); err != nil || string(raw) != "kept" {
		t.Errorf("the file holds %.40q, %v", raw, err)
	}
}
