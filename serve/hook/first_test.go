package hook

import (
	"context"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/kernel/api"
)

// A prompt in a folder that was never indexed recalls what its notes say, and so does one
// after a note was written, by hand or through a kernel, with no other program about.
func TestPromptsFindWhatWasWritten(t *testing.T) {
	for h, event := range map[Host]string{claude: "UserPromptSubmit", codex: "UserPromptSubmit", gemini: "BeforeAgent"} {
		t.Run(string(h), func(t *testing.T) {
			p := newProject(t, nil)
			p.put("memory/birds.md", "The heron eats herring.\n")
			prompt := func(text, want string) {
				t.Helper()
				if got := contextOf(t, p.hook(h, map[string]any{"hook_event_name": event, "prompt": text})); !strings.Contains(got, want) {
					t.Errorf("%s: %q is not in %q", text, want, got)
				}
			}
			prompt("What does the heron eat?", "eats herring")
			p.put("memory/鶴.md", "鶴は千年を生きる。\n")
			prompt("鶴は何年を生きる?", "千年")
			if _, err := p.kernel().Remember(context.Background(), api.RememberRequest{Text: "The bittern booms at dusk.", Private: true}); err != nil {
				t.Fatal(err)
			}
			prompt("When does the bittern boom?", "at dusk")
			if log := p.log(); log != "" {
				t.Errorf("log: %s", log)
			}
		})
	}
}

// TestStartShowsNoSecret: what a session that begins is shown of memory's files has no secret
// that they hold.
func TestStartShowsNoSecret(t *testing.T) {
	p := newProject(t, nil)
	p.put("MEMORY.md", "# Memory\n\n- The pump's gateway takes the password: Kiebitz4Moor!\n")
	got := contextOf(t, p.hook(claude, map[string]any{"hook_event_name": "SessionStart", "source": "startup"}))
	if !strings.Contains(got, "The pump's gateway") || strings.Contains(got, "Kiebitz4Moor") {
		t.Errorf("%s", got)
	}
}

// A line of a log that MEMORY.md quotes is shown once.
func TestStartShowsALineOnce(t *testing.T) {
	p := newProject(t, nil)
	p.put("MEMORY.md", "## 2026-11-20\n\n- [human] The ferry is called Ebbe. <!-- from memory/2026-11-20.md#L3 -->\n- The quay is long. <!-- from memory/2026-11-19.md#L3 -->\n")
	p.put("memory/2026-11-20.md", "# 2026-11-20\n\n- [human] the ferry is called Ebbe.\n- [said] the mole is short.\n")
	p.put("memory/2026-11-19.md", "# 2026-11-19\n\n- [said] the quay is long.\n")
	got := contextOf(t, p.hook(claude, map[string]any{"hook_event_name": "SessionStart", "source": "startup"}))
	if strings.Count(got, "Ebbe") != 1 || strings.Count(got, "quay is long") != 1 || !strings.Contains(got, "mole is short") || strings.Contains(got, "2026-11-19.md") {
		t.Errorf("%s", got)
	}
}

// A shared session is told at its start what is withheld from it.
func TestStartSaysWhatIsWithheld(t *testing.T) {
	for _, private := range []bool{true, false} {
		p := newProject(t, nil)
		p.put("memory/birds.md", "The heron eats herring.\n")
		p.put("MEMORY.md", "The harbour is called Ebbe.\n")
		p.spoil = func(s *Setup) { s.Private = private }
		got := contextOf(t, p.hook(claude, map[string]any{"hook_event_name": "SessionStart", "source": "startup"}))
		if told := strings.Contains(got, "withheld, as this session is shared: MEMORY.md"); told == private || strings.Contains(got, "Ebbe") != private {
			t.Errorf("private %v: %s", private, got)
		}
	}
}

// A session in a folder is not shown notes of another project, and is shown notes of none.
func TestPromptsLeaveOutOtherProjects(t *testing.T) {
	p := newProject(t, map[string]string{
		"memory/other.md": "---\nproject: other\n---\nThe heron of the other pond eats frogs.\n",
		"memory/none.md":  "The heron of our pond eats herring.\n",
	})
	for folder, shown := range map[string]bool{"this": false, "other": true} {
		got := contextOf(t, p.hook(claude, map[string]any{"hook_event_name": "UserPromptSubmit", "session_id": folder, "cwd": p.dir + "/" + folder, "prompt": "What does the heron of the pond eat?"}))
		if !strings.Contains(got, "herring") || strings.Contains(got, "frogs") != shown {
			t.Errorf("%s: %s", folder, got)
		}
	}
}
