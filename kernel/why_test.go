package kernel_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

func grounds(t *testing.T, k *kernel.Kernel, name string) *api.Grounds {
	t.Helper()
	g, err := k.Maintenance().Why(context.Background(), api.WhyRequest{Entry: name, Now: nightAt})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// What is recalled for a turn, and what the agent then named, counts for an entry; what
// was forgotten does not.
func TestWhyCountsUse(t *testing.T) {
	const fact = "Parcels for Antwerp leave by rail from platform seven, because the ferry refuses lemurs."
	k, _ := workspaceKernel(t, map[string]string{"memory/trade.md": "# Trade\n\n- " + fact + "\n"})
	if g := grounds(t, k, "memory/trade.md:3"); g.Recalled != 0 || g.Text != fact || g.WrittenBy != "" {
		t.Fatalf("%+v", g)
	}
	c := newConversation(3)
	turn := func(question, answer string) {
		t.Helper()
		c.add(memkernel.RoleUser, words(question))
		if p := mustPlan(t, k, private(c)); !strings.Contains(shown(p, "memkernel:rt"), "platform seven") {
			t.Fatalf("it is not recalled: %+v", p.Retrieval)
		}
		c.add(memkernel.RoleAssistant, words(answer))
		observe(t, k, api.Turn{Messages: c.msgs, Private: true, Now: c.now})
	}
	turn("From which platform do parcels for Antwerp leave?", "Parcels for Antwerp leave from platform seven, by rail.")
	if g := grounds(t, k, fact); g.Recalled != 1 || g.Named != 1 || g.Last.IsZero() {
		t.Errorf("recalled %d times, named %d", g.Recalled, g.Named)
	}
	if _, err := k.Forget(context.Background(), api.ForgetRequest{SessionKey: "s", Session: true, Apply: true}); err != nil {
		t.Fatal(err)
	}
	if g := grounds(t, k, fact); g.Recalled != 0 || g.Named != 0 {
		t.Errorf("after the session was forgotten it was recalled %d times", g.Recalled)
	}
}

// An answer that says something else has named nothing.
func TestWhyTellsSilence(t *testing.T) {
	const fact = "Parcels for Antwerp leave by rail from platform seven, because the ferry refuses lemurs."
	k, _ := workspaceKernel(t, map[string]string{"memory/trade.md": "# Trade\n\n- " + fact + "\n"})
	c := newConversation(3)
	c.add(memkernel.RoleUser, words("From which platform do parcels for Antwerp leave?"))
	mustPlan(t, k, private(c))
	c.add(memkernel.RoleAssistant, words("I would rather ask the clerk, who is back at noon."))
	observe(t, k, api.Turn{Messages: c.msgs, Private: true, Now: c.now})
	if g := grounds(t, k, fact); g.Recalled != 1 || g.Named != 0 {
		t.Errorf("recalled %d times, named %d", g.Recalled, g.Named)
	}
}

// Why an entry was chosen is on record, without a word of it, and what wrote it is told
// from the record: not once somebody changed it.
func TestWhyKnowsTheRun(t *testing.T) {
	dir := t.TempDir()
	overgrown(t, dir)
	k := nightKernel(t, dir)
	defer k.Close()
	done := curated(t, k, true)
	e := done.Entries[0]
	g := grounds(t, k, e.Text)
	if g.WrittenBy != api.ByUpkeep || g.Run != done.Run || g.Score != e.Score || strings.Join(g.Why, " ") != strings.Join(e.Why, " ") || len(g.From) != 1 || g.From[0].Text == "" {
		t.Fatalf("%+v of %+v", g, e)
	}
	file := filepath.Join(dir, "MEMORY.md")
	was := readFile(t, dir, "MEMORY.md")
	if err := os.WriteFile(file, []byte(strings.Replace(was, e.Text, "By hand: "+e.Text, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if g := grounds(t, k, "By hand: "+e.Text); g.WrittenBy != api.ByMark || g.Run != "" {
		t.Errorf("%+v", g)
	}
	var none *api.NoLineError
	if _, err := k.Maintenance().Why(context.Background(), api.WhyRequest{Entry: "MEMORY.md:100000"}); !errors.As(err, &none) || none.Near == 0 {
		t.Errorf("a line that is not there: %v", err)
	}
}

// A learning that was dear says in the day's log what it cost, and is a lesson for that.
func TestDearLessonsSayWhatTheyCost(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := newConversation(4)
	c.user()
	run := func(id, command, out string, failed bool) {
		c.add(memkernel.RoleAssistant, memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: id, Name: "Bash", Input: `{"command":"` + command + `"}`}})
		c.add(memkernel.RoleTool, memkernel.Part{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: id, IsError: failed, Content: []memkernel.Part{words(out)}}})
	}
	run("a", "harbour sync gates --short", "Error: unknown flag: --short", true)
	for i := range 6 {
		run("b"+string(rune('0'+i)), "ls pier", "gate", false)
	}
	run("c", "harbour sync gates", "synced", false)
	c.say()
	pass(t, k.EndSession, api.Boundary{Messages: c.msgs})
	want := "- [surprise] [lesson] harbour sync gates --short failed: Error: unknown flag: --short → harbour sync gates worked (7 calls later)"
	if text := logs(t, dir); !strings.Contains(text, want) {
		t.Errorf("%q is not in\n%s", want, text)
	}
}
