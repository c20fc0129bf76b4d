package markdownstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A link inside the workspace makes nothing memory that is none, opens nothing that is
// closed, and shares nothing that is private, at any door.
func TestLinksWithin(t *testing.T) {
	files := map[string]string{"AGENTS.md": "agents", "CLAUDE.md": "claude", "MEMORY.md": "curated", "USER.md": "user", "README.md": "readme", "SESSION-STATE.md": "state",
		"HEARTBEAT.md": "heart", "src/code.md": "code", "memory/a.md": "a", "memory/2026-03-20.md": "past", "memory/working-buffer.md": "buffer", ".memkernel/x.md": "own"}
	dir := workspace(t, files)
	refused := map[string]string{"up": "../AGENTS.md", "readme": "../README.md", "code": "../src/code.md", "claude": "../CLAUDE.md", "state": "../SESSION-STATE.md",
		"heart": "../HEARTBEAT.md", "own": "../.memkernel/x.md", "chain": "code.md", "far": "../memory/../src/../src/code.md"}
	for name, to := range refused {
		link(t, to, dir, "memory/"+name+".md")
	}
	link(t, "../src", dir, "memory/folder")
	private := map[string]string{"curated": "../MEMORY.md", "user": "../USER.md", "buffer": "working-buffer.md", "twice": "curated.md"}
	for name, to := range private {
		link(t, to, dir, "memory/"+name+".md")
	}
	link(t, "a.md", dir, "memory/alias.md")
	link(t, "alias.md", dir, "memory/alias2.md")
	link(t, "2026-03-20.md", dir, "memory/log.md")
	s := open(t, dir, true)
	for name := range refused {
		p := "memory/" + name + ".md"
		deniedAtAllDoors(t, s, p, denyLink)
		deniedAtAllDoors(t, s.Shared(), p, denyLink)
	}
	deniedAtAllDoors(t, s, "memory/folder/code.md", denyLink)
	for name := range private {
		p := "memory/" + name + ".md"
		if c, err := s.Read(p, 0, 0); err != nil || c.Text == "" {
			t.Errorf("%s in a private session: %+v, %v", p, c, err)
		}
		deniedAtAllDoors(t, s.Shared(), p, DenyPrivate)
	}
	for f, err := range s.Walk(bg) {
		var d *DeniedError
		base := filepath.Base(f.Path)
		switch name := base[:len(base)-len(filepath.Ext(base))]; {
		case refused[name] != "" && f.Path == "memory/"+base, f.Path == "memory/folder":
			if !errors.As(err, &d) || d.Reason != denyLink {
				t.Errorf("%s: %+v, %v", f.Path, f, err)
			}
		case err != nil:
			t.Errorf("%s: %v", f.Path, err)
		case private[name] != "" && f.Path == "memory/"+base && !f.Private:
			t.Errorf("%s is shared", f.Path)
		case name == "buffer" && f.Indexed:
			t.Errorf("%s is searched", f.Path)
		}
	}
	for _, p := range []string{"memory/alias.md", "memory/alias2.md"} {
		if c, err := s.Shared().Read(p, 0, 0); err != nil || c.Text != "a" {
			t.Errorf("%s: %+v, %v", p, c, err)
		}
	}
	if _, err := s.Append(bg, "memory/alias.md", "e1", "more"); err != nil {
		t.Errorf("append through a link within memory: %v", err)
	}
	var d *DeniedError
	if _, err := s.Replace(bg, "memory/log.md", hashOf("past"), "x"); !errors.As(err, &d) || d.Reason != DenyClosed {
		t.Errorf("a past log was written through a link: %v", err)
	}
	s.Guard(func(path, before, after string) error { return errors.New("guarded") })
	if _, err := s.Replace(bg, "memory/curated.md", hashOf("curated"), "x"); err == nil {
		t.Error("curated memory was replaced unguarded")
	}
	delete(files, "memory/a.md")
	for p, want := range files {
		if got := read(t, dir, p); got != want {
			t.Errorf("%s holds %q, want %q", p, got, want)
		}
	}
}

func deniedAtAllDoors(t *testing.T, s *Store, p string, why DenyReason) {
	t.Helper()
	_, readErr := s.Read(p, 0, 0)
	_, loadErr := s.ReadFile(p)
	_, appendErr := s.Append(bg, p, "e1", "planted")
	_, replaceErr := s.Replace(bg, p, "", "planted")
	errs := map[string]error{"read": readErr, "load": loadErr, "append": appendErr, "replace": replaceErr}
	if why == denyLink { // what is private is there for upkeep
		_, errs["open"] = fs.Stat(s.FS(), p)
	}
	for what, err := range errs {
		var d *DeniedError
		if p == "memory/folder/code.md" && what == "open" {
			continue // no listing comes there
		}
		if !errors.As(err, &d) || d.Reason != why {
			t.Errorf("%s %s: %v, want %s", what, p, err, why)
		}
	}
}

// Hosts call their standing instructions by several names, of which one is the file. What
// is appended to memory never becomes an instruction by it.
func TestLinkedInstructions(t *testing.T) {
	for _, to := range []string{"CLAUDE.md", "docs/agents.md", "memory/agents.md"} {
		dir := workspace(t, map[string]string{to: "rules", "memory/a.md": "a"})
		link(t, to, dir, "AGENTS.md")
		s := open(t, dir, false)
		l, err := s.ReadFile("AGENTS.md")
		if err != nil || l.Text != "rules" || l.PageType != pageBootstrap || l.Memory {
			t.Errorf("AGENTS.md -> %s: %+v, %v", to, l, err)
		}
		if c, err := s.Read("AGENTS.md", 0, 0); !errors.Is(err, ErrDenied) {
			t.Errorf("AGENTS.md -> %s is memory: %+v, %v", to, c, err)
		}
		for _, p := range []string{"AGENTS.md", to} {
			if _, err := s.Append(bg, p, "e1", "planted"); !errors.Is(err, ErrDenied) {
				t.Errorf("append to %s: %v", p, err)
			}
		}
	}
	dir := workspace(t, map[string]string{"AGENTS.md": "rules", "MEMORY.md": "curated"})
	link(t, "AGENTS.md", dir, "CLAUDE.md")
	link(t, "MEMORY.md", dir, "SOUL.md")
	if err := os.Mkdir(filepath.Join(dir, "memory"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, "AGENTS.md"), filepath.Join(dir, "memory", "hard.md")); err != nil {
		t.Skip(err)
	}
	s := open(t, dir, false)
	if l, err := s.ReadFile("AGENTS.md"); err != nil || l.Text != "rules" {
		t.Errorf("%+v, %v", l, err)
	}
	if l, err := s.ReadFile("SOUL.md"); !errors.Is(err, ErrDenied) {
		t.Errorf("a shared session was given curated memory as instructions: %+v, %v", l, err)
	}
	if _, err := s.Append(bg, "memory/hard.md", "e1", "planted"); !errors.Is(err, ErrDenied) {
		t.Errorf("append to instructions by a hard link: %v", err)
	}
}
