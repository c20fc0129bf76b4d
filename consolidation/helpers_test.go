package consolidation_test

import (
	"context"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/health"
)

// now is the moment of the tests, in the afternoon of the newest log.
var now = time.Date(2026, 3, 9, 15, 0, 0, 0, time.UTC)

// healthy is a workspace in which nothing is wrong.
func healthy() fstest.MapFS {
	return files(map[string]string{
		"AGENTS.md":  "# AGENTS.md\n\n## Session Startup\n\nRead memory/2026-03-09.md and [the ports](memory/ports.md#database).\n",
		"USER.md":    "# USER.md\n\n- Name: Mika\n- Birthday: 4 May 1990\n- Timezone: Europe/Oslo\n",
		"TOOLS.md":   "# TOOLS.md\n\n## Database\n\n- Postgres port: 5432\n- Postgres version: 16.2\n",
		"MEMORY.md":  "# MEMORY.md\n\n## Facts\n\n- Postgres runs on port 5432.\n- The release is planned for 2026-12-01.\n\n## 2026-03-08\n\n- [decision] Deployments happen on Tuesdays and Thursdays, never on Fridays.\n",
		"SOUL.md":    "# SOUL.md\n\nBe kind.\n",
		"lab/run.md": "# not memory\n",

		"SESSION-STATE.md":         "# State\n\n- [ ] Look at the sweeper\n",
		"memory/2026-03-08.md":     "# 2026-03-08\n\n- 10:00 [decision] Deployments happen on Tuesdays and Thursdays, never on Fridays.\n- 11:00 Heartbeat, all green, nothing to be done about the sender.\n- [ ] Ask Solveig about the gates\n",
		"memory/2026-03-09.md":     "# 2026-03-09\n\n- 11:00 Heartbeat, all green, nothing to be done about the sender.\n- [x] Ask Solveig about the gates\n\n```\n<<<<<<< ours\n=======\n>>>>>>> theirs\n[gone](nowhere.md)\n```\n",
		"memory/ports.md":          "# Ports\n\n## Database\n\nSee [[2026-03-08]] and `memory/YYYY-MM-DD.md`.\n",
		"memory/observations.md":   "# Observations\n\n- Two questions in one message: the second gets no answer.\n",
		"memory/working-buffer.md": "# Working buffer\n\n<!-- empty -->\n",
	})
}

// files makes a file system of texts that were written an hour ago.
func files(texts map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range texts {
		out[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644, ModTime: now.Add(-time.Hour)}
	}
	return out
}

// with is the healthy workspace with other files; "" takes one away, and a + in
// front appends.
func with(texts map[string]string) fstest.MapFS {
	out := healthy()
	more := map[string]string{}
	for name, text := range texts {
		if rest, ok := strings.CutPrefix(text, "+"); ok {
			text = string(out[name].Data) + rest
		}
		more[name] = text
	}
	maps.Copy(out, files(more))
	for name, text := range texts {
		if text == "" {
			delete(out, name)
		}
	}
	return out
}

func audit(t *testing.T, fsys fstest.MapFS, change func(*consolidation.Options)) *health.Report {
	t.Helper()
	host, _ := consolidation.HostByName("openclaw")
	o := consolidation.Options{Host: host, Now: now, Timezone: time.UTC, Resolves: func(string) bool { return true }}
	if change != nil {
		change(&o)
	}
	r, err := auditOf(t.Context(), fsys, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// auditOf reads and checks a workspace.
func auditOf(ctx context.Context, fsys fs.FS, o consolidation.Options) (*health.Report, error) {
	snap, err := consolidation.Read(ctx, fsys, 0, nil)
	if err != nil {
		return nil, err
	}
	return consolidation.Audit(ctx, snap, o)
}

func entries(text string) []*consolidation.Entry {
	return consolidation.Entries("memory/2026-03-09.md", text)
}
