package verbs

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve/install"
)

// TestPastLimits: the newest are read within each limit, each other one is named with the
// reason and a way to have it, and that way reads it.
func TestPastLimits(t *testing.T) {
	for name, c := range map[string]struct {
		most pastLimits
		read string // the sessions that are read in, newest first
		why  string
	}{
		"none":          {pastLimits{}, "abcd", ""},
		"files":         {pastLimits{files: 2}, "ab", "there are 2 newer ones"},
		"bytes of one":  {pastLimits{each: 1000}, "acd", "it has over 1000 bytes"},
		"bytes of all":  {pastLimits{all: 700}, "acd", "newer ones have "},
		"time":          {pastLimits{longEnough: time.Nanosecond}, "a", "the others took 1ns"},
		"those of init": {defaultPast, "abcd", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			a := &cli.App{UI: &cli.UI{Out: io.Discard, Err: io.Discard}, Settings: cli.Settings{Workspace: dir, StateDir: filepath.Join(dir, kernel.DefaultStateDir), Config: config.Default()}}
			found := []install.Host{{Name: "claude"}}
			for i, s := range "abcd" {
				long := ""
				if s == 'b' {
					long = strings.Repeat("x", 1000)
				}
				path := filepath.Join(dir, "sessions", string(s)+".jsonl")
				lay(t, path, fmt.Sprintf(`{"type":"user","uuid":"u%[1]c","sessionId":"%[1]c","timestamp":"2026-11-01T10:00:00Z","message":{"role":"user","content":"tide %[1]c %[2]s"}}`+"\n", s, long))
				at := time.Now().Add(-time.Duration(i) * time.Hour)
				if err := os.Chtimes(path, at, at); err != nil {
					t.Fatal(err)
				}
				found[0].Transcripts = append(found[0].Transcripts, path)
			}
			take := func(most pastLimits) (*pastJSON, string) {
				t.Helper()
				p := lookPast(a.StateDir, found, most)
				planned := len(p.Left)
				if err := p.take(context.Background(), a, most); err != nil {
					t.Fatal(err)
				}
				if planned > 0 && !strings.Contains(p.line(), fmt.Sprintf("; %d left out", planned)) {
					t.Errorf("the plan hides what is left out: %s", p.line())
				}
				return p, display.Style{}.Text(func(s *display.Sheet) { p.showLeft(s, "memkernel init --all-sessions") })
			}
			p, text := take(c.most)
			unread := ""
			for _, l := range p.Left {
				unread += strings.TrimSuffix(filepath.Base(l.Path), ".jsonl")
				if !strings.Contains(l.Reason, c.why) || !strings.Contains(text, l.Reason+"\n  "+shellWord(l.Path)+"\n") {
					t.Errorf("%s: %q, told %q", l.Path, l.Reason, text)
				}
			}
			for _, s := range "abcd" {
				if strings.ContainsRune(c.read, s) == strings.ContainsRune(unread, s) {
					t.Errorf("read in must be %s; left out are %q", c.read, unread)
				}
			}
			if p.Found != 4 || p.Read != len(c.read) || strings.Contains(text, "--all-sessions") != (len(c.read) < 4) {
				t.Errorf("%d of %d, told %q", p.Read, p.Found, text)
			}
			if p, text := take(pastLimits{}); p.Read != 4-len(c.read) || text != "" {
				t.Errorf("without limits %d more, %q", p.Read, text)
			}
			if p := lookPast(a.StateDir, found, c.most); len(p.todo)+len(p.Left) > 0 {
				t.Errorf("%+v is left", p)
			}
		})
	}
}

func lay(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
