package hook

import (
	"path/filepath"
	"strings"
	"testing"
)

// A process that died within a call told no hook of it: the resumed session hears which call
// has no known outcome, and hears nothing of it once the result is there.
func TestResumeAfterDeath(t *testing.T) {
	p := newProject(t, map[string]string{"MEMORY.md": "# Memory\n\n- The ferry sails at six.\n"})
	path := filepath.Join(p.dir, "t.jsonl")
	line := func(uuid, parent, kind, content string) string {
		return `{"type":"` + kind + `","uuid":"` + uuid + `","parentUuid":` + parent + `,"sessionId":"s1","cwd":"/srv/ferry","timestamp":"2026-05-02T08:00:00Z","message":{"role":"` + kind + `","content":` + content + "}}\n"
	}
	begun := line("u1", "null", "user", `"move the bookings"`) +
		line("u2", `"u1"`, "assistant", `[{"type":"tool_use","id":"a1","name":"Bash","input":{"command":"./copy.sh"}},{"type":"tool_use","id":"a2","name":"Bash","input":{"command":"./index.sh"}}]`) +
		line("u3", `"u2"`, "user", `[{"type":"tool_result","tool_use_id":"a1","content":"4,012 rows"}]`)
	resumed := func(text string) string {
		p.put("t.jsonl", text)
		p.later += 2 * goneOn
		return contextOf(t, p.hook(claude, map[string]any{"hook_event_name": "SessionStart", "source": "resume", "transcript_path": path}))
	}
	const lost = "begun, no known outcome: ./index.sh"
	if got := resumed(begun); !strings.Contains(got, lost) || strings.Contains(got, "outcome: ./copy.sh") {
		t.Errorf("after the death:\n%s\n%s", got, p.log())
	}
	if got := resumed(begun + line("u4", `"u3"`, "user", `[{"type":"tool_result","tool_use_id":"a2","content":"done"}]`) + line("u5", `"u4"`, "assistant", `"Both are done."`)); strings.Contains(got, lost) {
		t.Errorf("after the result:\n%s", got)
	}

	// Right after a turn a resume adds nothing but a call that was cut off since.
	soon := func(text string) string {
		p.put("t.jsonl", text)
		return p.hook(claude, map[string]any{"hook_event_name": "SessionStart", "source": "resume", "transcript_path": path})
	}
	ended := begun + line("u4", `"u3"`, "user", `[{"type":"tool_result","tool_use_id":"a2","content":"done"}]`) + line("u5", `"u4"`, "assistant", `"Both are done."`)
	p.hook(claude, map[string]any{"hook_event_name": "Stop", "transcript_path": path})
	if got := soon(ended); got != "" {
		t.Errorf("nothing was cut off: %s", got)
	}
	ended += line("u6", `"u5"`, "user", `"and the index of May"`) + line("u7", `"u6"`, "assistant", `[{"type":"tool_use","id":"a3","name":"Bash","input":{"command":"./may.sh"}}]`)
	if got := soon(ended); !strings.Contains(got, "begun, no known outcome: ./may.sh") || strings.Contains(got, "MEMORY.md") || strings.Contains(got, "Goal:") {
		t.Errorf("cut off a minute ago: %s", got)
	}
}
