package cli

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/sessions"
)

func TestPastSessions(t *testing.T) {
	c := config.Default()
	c.Retrieval.Sessions.Folders = []string{"logs", "ops=/srv/ops", "/srv/a=b/logs", "~/.claude/projects"}
	want := []sessions.Source{{Path: "logs"}, {Path: "/srv/ops", Agent: "ops"}, {Path: "/srv/a=b/logs"}, {Path: "~/.claude/projects"}}
	if diff := cmp.Diff(want, pastSessions(c).Sources); diff != "" {
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
// minutes and by watch.
func TestSyncOptions(t *testing.T) {
	got := syncOptions(config.Default())
	if !got.OnStart || !got.OnSearch || !got.Watch || got.Interval != 5*time.Minute {
		t.Errorf("%+v", got)
	}
}
