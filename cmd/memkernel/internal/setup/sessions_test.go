package setup

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/sessions"
)

func TestPastSessions(t *testing.T) {
	s := config.Default().Retrieval.Sessions
	s.Folders = []string{"logs", "ops=/srv/ops", "/srv/a=b/logs", "~/.claude/projects"}
	want := []sessions.Source{{Path: "logs"}, {Path: "/srv/ops", Agent: "ops"}, {Path: "/srv/a=b/logs"}, {Path: "~/.claude/projects"}}
	if diff := cmp.Diff(want, pastSessions(&s).Sources); diff != "" {
		t.Error(diff)
	}
	t.Setenv("HOME", "/home/me")
	a := &Settings{Workspace: "/work"}
	for path, want := range map[string]string{"logs": "/work/logs", "/srv": "/srv", "~/x": "/home/me/x", "~x": "/work/~x"} {
		if got := a.inWorkspace(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// The defaults of the configuration are on start, on search, every five
// minutes, by watch after a second and a half.
func TestSyncOptions(t *testing.T) {
	got := syncOptions(&config.Default().Index.Sync)
	if !got.OnStart || !got.OnSearch || !got.Watch || got.Interval != kernel.DefaultSyncInterval || got.Debounce != 1500*time.Millisecond {
		t.Errorf("%+v", got)
	}
}

// A project's own configuration reads transcripts of the project only; the user's reads
// those that it names.
func TestTrustFolder(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	a := &Settings{Workspace: dir, Config: config.Default()}
	a.Config.Retrieval.Sessions.Enabled = true
	for path, trusted := range map[string]bool{filepath.Join(dir, "logs"): true, filepath.Join(dir, "not", "there"): true, outside: false,
		filepath.Join(dir, "..", "x"): false, filepath.Join(dir, "link"): false, filepath.Join(dir, "link", "more"): false} {
		if err := a.trustFolder(path); (err == nil) != trusted {
			t.Errorf("%s: %v", path, err)
		}
	}
	a.ConfigPath = "mine.yaml"
	if err := a.trustFolder(outside); err != nil {
		t.Errorf("with --config: %v", err)
	}
}
