package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write NOTICE and the pages' install parts anew")

// updated compares a file of the checkout with its content as it should be, or writes it.
func updated(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) == want {
		return
	}
	if !*update {
		t.Errorf("%s is not up to date: run 'make notice'", name)
		return
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// linked lists the modules in the programs of all targets, with their folders.
func linked(t *testing.T) (out []linkedModule) {
	t.Helper()
	all := map[string]linkedModule{}
	for _, target := range targets {
		cmd := exec.Command("go", "list", "-deps", "-json=Module", "./cmd/memkernel")
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOOS="+target.goos, "GOARCH="+target.goarch)
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
			var p struct{ Module linkedModule }
			if err := d.Decode(&p); err != nil {
				t.Fatal(err)
			}
			if m := p.Module; m.Path != "" && !m.Main {
				all[m.Path] = m
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, all[name])
	}
	return out
}

// linkedModule is a module as go list tells it.
type linkedModule struct {
	Path, Version, Dir string
	Main               bool
}

var legalName = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying|^notice|^patents`)

// texts returns a module's licences, and the files that they refer to.
func (m linkedModule) texts(t *testing.T) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() || !legalName.MatchString(e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for line := range strings.Lines(string(bytes.ReplaceAll(data, []byte("\r"), nil))) {
			text.WriteString(strings.TrimRight(line, " \t\n\f") + "\n")
		}
		out = append(out, strings.Trim(text.String(), "\n")+"\n")
	}
	return out
}

// carried are the licences of data of others that a program carries.
var carried = []string{"budget/tables/NOTICE", "pagevm/mask/data/LICENSE"}

const noticeHead = "The modules that are compiled in, and files of others, above the texts of their licences:\n"

// NOTICE has the licences of Go, of every module that is linked into a program, and of the data
// that it carries, word for word. Modules with the same text share it.
func TestNotice(t *testing.T) {
	needs(t, "go")
	of := map[string][]string{}
	var order []string
	for _, name := range carried {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSpace(string(data)) + "\n"
		order, of[text] = append(order, text), []string{"    " + name + "\n"}
	}
	for _, m := range append([]linkedModule{{Path: "Go, its standard library", Dir: runtime.GOROOT()}}, linked(t)...) {
		texts := m.texts(t)
		if len(texts) == 0 {
			t.Errorf("%s %s has no licence", m.Path, m.Version)
		}
		for _, text := range texts {
			if of[text] == nil {
				order = append(order, text)
			}
			of[text] = append(of[text], strings.TrimRight("    "+m.Path+" "+m.Version, " ")+"\n")
		}
	}
	if len(order) < 20 {
		t.Fatalf("only %d texts", len(order))
	}
	notice, err := os.ReadFile(filepath.Join(root, "NOTICE"))
	if err != nil {
		t.Fatal(err)
	}
	want, _, _ := strings.Cut(string(notice), noticeHead)
	want += noticeHead
	for _, text := range order {
		want += "\n" + strings.Repeat("-", 80) + "\n\n" + strings.Join(of[text], "") + "\n" + text
	}
	updated(t, "NOTICE", want)
}

// A program with a module whose licence is not in NOTICE can't be released.
func TestNoLicence(t *testing.T) {
	p := fakeRelease(t, "1.2.3")
	good := program{target: targets[0], info: &debug.BuildInfo{Deps: []*debug.Module{{Path: "github.com/spf13/cobra", Version: moduleVersion(t, "github.com/spf13/cobra")}}}}
	if p.bom(good); p.err != nil {
		t.Fatal(p.err)
	}
	good.info.Deps[0].Version = "v0.0.1"
	if p.bom(good); p.err == nil || !strings.HasPrefix(p.err.Error(), "NOTICE has no licence of github.com/spf13/cobra v0.0.1") {
		t.Errorf("said %v", p.err)
	}
}

// moduleVersion returns the version of a module that the program has.
func moduleVersion(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^\s` + path + ` (\S+)`).FindSubmatch(data)
	if m == nil {
		t.Fatalf("go.mod has no %s", path)
	}
	return string(m[1])
}

// installText is the part of a page about a channel, or, if the name is "", about all channels.
func installText(channels []channel, name string) string {
	var lines []string
	for _, c := range channels {
		if c.published && name == "" {
			lines = append(lines, fmt.Sprintf("%s  # %s", c.install, c.name))
		}
		if c.published && name == c.name {
			lines = append(lines, c.install)
		}
	}
	switch {
	case len(lines) > 0:
		return "```sh\n" + strings.Join(lines, "\n") + "\n```\n"
	case name == "":
		return "No release is published yet. In a clone of this repository, `go install ./cmd/memkernel` builds\nthe program and puts it where Go keeps programs.\n"
	}
	return "It is not published yet.\n"
}

var installPart = regexp.MustCompile(`(?s)<!-- install ?(\w*): [^\n]*-->\n(.*?)<!-- /install -->\n`)

// pages are the Markdown files of the checkout that people read.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{".git", "bin", "testdata", "node_modules"}, d.Name()) {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".md" {
			return nil
		}
		data, err := os.ReadFile(path)
		name, errRel := filepath.Rel(root, path)
		if errRel != nil {
			return errRel
		}
		out[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// broken lists the promises of a page that are not kept: what is not published can't be installed,
// unless the page says before that it is not published yet.
func broken(channels []channel, page string) (out []string) {
	for _, c := range channels {
		at := regexp.MustCompile(c.promise).FindStringIndex(page)
		if at != nil && !c.published && !strings.Contains(page[:at[0]], "not published yet") {
			out = append(out, page[at[0]:at[1]])
		}
	}
	return out
}

// The pages' install parts are made from the list of channels, and no page promises more.
func TestPagesPromiseWhatIsPublished(t *testing.T) {
	parts := 0
	for name, text := range pages(t) {
		want := installPart.ReplaceAllStringFunc(text, func(part string) string {
			parts++
			m := installPart.FindStringSubmatch(part)
			return strings.Replace(part, m[2], installText(channels, m[1]), 1)
		})
		updated(t, name, want)
		for _, promise := range broken(channels, want) {
			t.Errorf("%s promises %q, which is not published", name, promise)
		}
	}
	if parts != 4 {
		t.Errorf("%d pages have an install part, want README.md and those for npm, PyPI and Gemini CLI", parts)
	}
}

func TestBrokenPromises(t *testing.T) {
	for _, c := range channels {
		page := "# memkernel\n\n" + c.install + "\n"
		if got := broken(channels, page); len(got) == 0 {
			t.Errorf("nobody minds %s", c.install)
		}
		c.published = true
		if got := broken([]channel{c}, page); len(got) > 0 {
			t.Errorf("%s is published, and %q is not allowed", c.name, got)
		}
		for _, name := range []string{"", c.name} {
			if got := installText([]channel{c}, name); !strings.Contains(got, c.install) {
				t.Errorf("%s is published, and the page says %q", c.name, got)
			}
		}
	}
}
