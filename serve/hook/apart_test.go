package hook

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/api"
)

// terminal is a session of Claude Code in a project.
type terminal struct {
	*project
	id, path string
	n        int
}

func (p *project) terminal(id string) *terminal {
	return &terminal{project: p, id: id, path: filepath.Join(p.TempDir(), id+".jsonl")}
}

func (s *terminal) event(name string, members ...string) string {
	e := map[string]any{"hook_event_name": name, "session_id": s.id, "transcript_path": s.path}
	for i := 0; i+1 < len(members); i += 2 {
		e[members[i]] = members[i+1]
	}
	s.later += time.Second
	out := s.hook(claude, e)
	if !strings.HasPrefix(out, "{") {
		return out
	}
	return contextOf(s.T, out)
}

// turn asks and is answered. It returns what the hook put into the prompt.
func (s *terminal) turn(prompt, reply string) string {
	got := s.event("UserPromptSubmit", "prompt", prompt)
	f, err := os.OpenFile(s.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		s.Fatal(err)
	}
	at := now.Add(s.later).Format(time.RFC3339)
	fmt.Fprintf(f, `{"type":"user","uuid":"%s-%d","parentUuid":%q,"sessionId":%q,"timestamp":%q,"message":{"role":"user","content":%q}}`+"\n", s.id, s.n+1, s.parent(), s.id, at, prompt)
	s.n++
	fmt.Fprintf(f, `{"type":"assistant","uuid":"%s-%d","parentUuid":%q,"sessionId":%q,"timestamp":%q,"message":{"role":"assistant","id":"m%d","model":"claude-sonnet-4-6","content":[{"type":"text","text":%q}],"stop_reason":"end_turn","usage":{"input_tokens":500,"output_tokens":9}}}`+"\n", s.id, s.n+1, s.parent(), s.id, at, s.n, reply)
	s.n++
	f.Close()
	s.event("Stop")
	return got
}

func (s *terminal) parent() string {
	if s.n == 0 {
		return ""
	}
	return fmt.Sprintf("%s-%d", s.id, s.n)
}

// TestTwoTerminals: two sessions in one project at once, one of which ends. No prompt holds
// the other's work. A session that begins, or was cleared, is told in one line which one was
// at work; asked where the work was it shows the whole. A resume right after a turn, and a
// rule that memory has, add nothing.
func TestTwoTerminals(t *testing.T) {
	p := newProject(t, map[string]string{"MEMORY.md": "# Memory\n\n- Quote every price in euros.\n"})
	shop, garden := p.terminal("shop-1"), p.terminal("garden-2")
	shop.event("SessionStart", "source", "startup")
	shop.turn("Move the shop to the new ledger. Quote every price in euros.", "I decided to begin with the invoices, since they are few.")
	if got := garden.event("SessionStart", "source", "startup"); strings.Count(got, checkpoint.BesideMark) != 1 || !strings.Contains(got, "memkernel restore --session claude:shop-1]") || strings.Contains(got, "ledger") {
		t.Errorf("the second session begins with %s", got)
	}
	for i := range 2 {
		if got := shop.turn("go on with the invoices", "Begun."); strings.Contains(got, "fern") {
			t.Errorf("turn %d of the shop holds %s", i, got)
		}
		if got := garden.turn("Water the ferns.", "Watered."); strings.Contains(got, "ledger") || strings.Contains(got, "invoices") {
			t.Errorf("turn %d of the garden holds %s", i, got)
		}
	}
	if got := garden.event("SessionStart", "source", "resume"); got != "" {
		t.Errorf("a resume a second after the last turn adds %s", got)
	}
	shop.event("PreCompact", "trigger", "manual")
	got := shop.event("SessionStart", "source", "compact")
	if strings.Count(got, "Quote every price in euros.") != 2 || !strings.Contains(got, "Goal, as first stated: Move the shop") { // memory's, and in the goal's own words
		t.Errorf("a compaction leaves %s", got)
	}
	shop.event("SessionEnd", "reason", "clear")
	for _, source := range []string{"clear", "startup"} {
		next := p.terminal("next-" + source)
		if got := next.event("SessionStart", "source", source); strings.Contains(got, "invoices") || strings.Contains(got, "ferns") || strings.Count(got, checkpoint.BesideMark) != 1 {
			t.Errorf("%s begins with %s", source, got)
		}
		if got := next.event("UserPromptSubmit", "prompt", "où en étions-nous ?"); !strings.Contains(got, "Working state of session claude:") || !strings.Contains(got, "Last request: ") {
			t.Errorf("asked where the work was, %s shows %s", source, got)
		}
	}
	if log := p.log(); log != "" {
		t.Errorf("log: %s", log)
	}
}

// TestPlannedByAnotherDoor: the turns of a session that another door plans are not taken in
// again, and nothing is put into their prompts. A turn that the door did not plan is.
func TestPlannedByAnotherDoor(t *testing.T) {
	p := newProject(t, map[string]string{"MEMORY.md": "# Memory\n\nThe deploy window is Tuesday at nine.\n"})
	s := p.terminal("both")
	p.later = time.Since(now) // the state's files have the system's times
	key := claude.Key("both")
	if got := s.turn("when is the deploy window?", "On Tuesday."); !strings.Contains(got, "Tuesday at nine") || p.turns(key) != 1 {
		t.Errorf("a hook alone gives %q, %d turns", got, p.turns(key))
	}
	k := p.kernel()
	p.later = time.Since(now)
	_, err := k.PlanContext(context.Background(), api.PlanRequest{SessionKey: key, Model: "claude-sonnet-4-6", Private: true, Now: now.Add(p.later),
		Messages: []memkernel.Message{{Role: memkernel.RoleUser, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "when is the deploy window?"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	k.Close()
	p.later = time.Since(now) - time.Minute
	r, err := readRecord(p.state, key)
	if err != nil {
		t.Fatal(err)
	}
	r.Prompted = now.Add(p.later)
	if err := r.write(p.state); err != nil {
		t.Fatal(err)
	}
	for _, e := range [][]string{{"SessionStart", "source", "compact"}, {"UserPromptSubmit", "prompt", "tell me the deploy window"}, {"Stop"}} {
		if got := s.event(e[0], e[1:]...); got != "" {
			t.Errorf("%s adds %s", e[0], got)
		}
	}
	if got := s.turn("and the deploy window again?", "Tuesday."); got != "" || p.turns(key) != 1 {
		t.Errorf("with the other door: %q, %d turns", got, p.turns(key))
	}
	p.later += 2 * time.Hour
	s.turn("thanks, and the next deploy window?", "Tuesday.")
	if p.turns(key) != 2 {
		t.Errorf("without the other door: %d turns", p.turns(key))
	}
}
