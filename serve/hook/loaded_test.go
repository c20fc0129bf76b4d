package hook

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/markdownstore"
)

// TestNoHostGetsItsOwnInstructions: what a host shows its model by itself is not recalled
// for it, and is for the others.
func TestNoHostGetsItsOwnInstructions(t *testing.T) {
	files := map[string]string{"CLAUDE.md": "The deploy window is amber.\n", "AGENTS.md": "The deploy window is blue.\n", "GEMINI.md": "The deploy window is cyan.\n",
		"pkg/CLAUDE.md": "The deploy window is amberish.\n", "notes/deploys.md": "The deploy window is dusk.\n"}
	own := map[Host]string{claude: "amber", codex: "blue", gemini: "cyan"}
	p := newProject(t, nil)
	p.include = markdownstore.Everything()
	for path, text := range files {
		p.put(path, text)
	}
	k, err := kernel.Open(context.Background(), p.dir, &kernel.Options{StateDir: p.state, Memory: kernel.MemoryOptions{Store: markdownstore.Options{Include: p.include}}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if _, err := k.Reindex(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	for h, word := range own {
		event := "UserPromptSubmit"
		if h == gemini {
			event = "BeforeAgent"
		}
		got := p.hook(h, map[string]any{"hook_event_name": event, "prompt": "when is the deploy window?", "session_id": "s-" + string(h)})
		if strings.Contains(got, word) || !strings.Contains(got, "dusk") {
			t.Errorf("%s gets what it shows itself, or nothing: %s", h, got)
		}
		for other, w := range own {
			if other != h && !strings.Contains(got, w) {
				t.Errorf("%s does not get what %s shows: %s", h, other, got)
			}
		}
	}
	// One file under two names is shown under either.
	if err := os.Remove(filepath.Join(p.dir, "CLAUDE.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("AGENTS.md", filepath.Join(p.dir, "CLAUDE.md")); err != nil {
		t.Skip(err)
	}
	if _, err := k.Reindex(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	got := p.hook(claude, map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": "when is the deploy window?", "session_id": "s-link"})
	if strings.Contains(got, "blue") || !strings.Contains(got, "dusk") {
		t.Errorf("a link is not seen: %s", got)
	}
}
