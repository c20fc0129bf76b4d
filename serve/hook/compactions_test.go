package hook

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestCountCompactions: the hooks count each compaction of the transcript once, also those made
// before the hooks were installed. From the fourth on the restored state has a warning.
func TestCountCompactions(t *testing.T) {
	p := newProject(t, nil)
	var log strings.Builder
	parent, n := "null", 0
	row := func(fields string) {
		n++
		fmt.Fprintf(&log, `{"uuid":"u%d","parentUuid":%s,"sessionId":"s1","timestamp":"2026-05-02T08:%02d:00Z",%s}`+"\n", n, parent, n, fields)
		parent = fmt.Sprintf(`"u%d"`, n)
	}
	turn := func(k int) {
		row(fmt.Sprintf(`"type":"user","message":{"role":"user","content":"Count the boats of pier %d."}`, k))
		row(fmt.Sprintf(`"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Pier %d has nine."}]}`, k))
	}
	compacted := func() {
		parent = "null"
		row(`"type":"system","subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{"trigger":"auto","preTokens":150000}`)
		row(`"type":"user","isCompactSummary":true,"message":{"role":"user","content":"The boats of some piers are counted."}`)
	}
	event := func(name string, more ...string) string {
		p.put("t.jsonl", log.String())
		e := map[string]any{"hook_event_name": name, "transcript_path": filepath.Join(p.dir, "t.jsonl")}
		for i := 0; i < len(more); i += 2 {
			e[more[i]] = more[i+1]
		}
		p.later += sameCompaction
		return p.hook(claude, e)
	}
	for k := 1; k <= 6; k++ {
		turn(k)
		if k <= 2 {
			compacted()
			continue
		}
		event("Stop")
		event("Stop")
		event("PreCompact", "trigger", "auto")
		compacted()
		got := event("SessionStart", "source", "compact")
		warned := strings.Contains(got, fmt.Sprintf("Warning: %d compactions", k))
		if got == "" || warned != (k > 3) {
			t.Errorf("after compaction %d:\n%s\n%s", k, got, p.log())
		}
	}
}
