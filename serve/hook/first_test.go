package hook

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/kernel"
)

// A prompt in a folder that was never indexed recalls what its notes say, and so does one
// after a note was written, by hand or through a kernel, with no other program about.
func TestPromptsFindWhatWasWritten(t *testing.T) {
	for h, event := range map[Host]string{Claude: "UserPromptSubmit", Codex: "UserPromptSubmit", Gemini: "BeforeAgent"} {
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
			if _, err := p.kernel().Remember(context.Background(), kernel.RememberRequest{Text: "The bittern booms at dusk.", Private: true}); err != nil {
				t.Fatal(err)
			}
			prompt("When does the bittern boom?", "at dusk")
			if log := p.log(); log != "" {
				t.Errorf("log: %s", log)
			}
		})
	}
}

// TestStartShowsTheNewestOfMemory: of a long MEMORY.md a session begins with its beginning
// and its newest part, and is told how to read what is between them.
func TestStartShowsTheNewestOfMemory(t *testing.T) {
	text := "# Memory\n\n"
	for i := range 300 {
		text += fmt.Sprintf("- Pump %d drains basin %d.\n", i, 900-i)
	}
	head, missing := startOf("MEMORY.md", text+"- Pump 7 was sold.\n", 900)
	if len(head) != 2 || !strings.Contains(head[0].Text, "Pump 3 drains") || !strings.HasSuffix(head[1].Text, "- Pump 7 was sold.") {
		t.Fatalf("%+v", head)
	}
	from, to := head[0].EndLine+1, head[1].StartLine-1
	if want := fmt.Sprintf("Lines %d to %d of 303 in MEMORY.md are not shown here. memory_get reads them, or 'memkernel get MEMORY.md:%d:%d'.", from, to, from, to-from+1); missing != want {
		t.Errorf("%q, want %q", missing, want)
	}
	for _, short := range []string{"one line\n", strings.Repeat("a very long line ", 100)} {
		if parts, missing := startOf("MEMORY.md", short, 900); len(parts) != 1 || missing != "" {
			t.Errorf("%+v, %q", parts, missing)
		}
	}
}

// A shared session is told at its start what is withheld from it.
func TestStartSaysWhatIsWithheld(t *testing.T) {
	for _, private := range []bool{true, false} {
		p := newProject(t, nil)
		p.put("memory/birds.md", "The heron eats herring.\n")
		p.put("MEMORY.md", "The harbour is called Ebbe.\n")
		p.spoil = func(s *Setup) { s.Private = private }
		got := contextOf(t, p.hook(Claude, map[string]any{"hook_event_name": "SessionStart", "source": "startup"}))
		if told := strings.Contains(got, "withheld, as this session is shared: MEMORY.md"); told == private || strings.Contains(got, "Ebbe") != private {
			t.Errorf("private %v: %s", private, got)
		}
	}
}
