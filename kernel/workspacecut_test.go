package kernel_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
)

// tooLarge are files of many shapes that no room for workspace files holds, each with a
// line at its end.
func tooLarge() map[string]string {
	words := strings.Fields("harbour ledger window queue tenant region 数据库 設定 größe سجل 🚢 deploy")
	sentence := func(i int) string {
		var b strings.Builder
		for j := range 14 {
			fmt.Fprintf(&b, "%s%d ", words[(i*7+j*j)%len(words)], (i*31+j)%997)
		}
		return strings.TrimSpace(b.String()) + "."
	}
	repeat := func(n int, f func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(f(i))
		}
		return b.String()
	}
	return map[string]string{
		"headings":      "# Memory\n\n" + repeat(300, func(i int) string { return fmt.Sprintf("## Topic %d\n\n%s\n\n- %s\n\n", i, sentence(i), sentence(i+1)) }),
		"no headings":   repeat(900, func(i int) string { return sentence(i) + "\n\n" }),
		"one line":      repeat(900, func(i int) string { return sentence(i) + " " }),
		"no spaces":     strings.Repeat("記憶は財産である。", 9000),
		"table":         "| a | b |\n|---|---|\n" + repeat(900, func(i int) string { return fmt.Sprintf("| %d | %s |\n", i, sentence(i)) }),
		"code":          "# Memory\n\n```\n" + repeat(900, func(i int) string { return sentence(i) + "\n" }) + "```\n",
		"list":          repeat(900, func(i int) string { return "- " + sentence(i) + "\n" }),
		"headings only": repeat(2500, func(i int) string { return fmt.Sprintf("## %s\n", sentence(i)) }),
		"crlf":          repeat(900, func(i int) string { return sentence(i) + "\r\n" }),
	}
}

// TestWorkspaceCutUsesItsRoom: a file that has no room in full is shown by as much of it as
// there is room for, whatever its shape; that most of it is missing is a fault that names
// the way out; and what is shown stands from plan to plan, also for another process.
func TestWorkspaceCutUsesItsRoom(t *testing.T) {
	const room = 4000
	texts := tooLarge()
	for i, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		for _, file := range suite.Pick([]string{"MEMORY.md", "AGENTS.md"}[i%2:i%2+1], []string{"MEMORY.md", "AGENTS.md"}) {
			if name == "headings only" && file == "AGENTS.md" {
				continue // every heading of standing instructions must stand
			}
			t.Run(name+" "+file, func(t *testing.T) {
				dir := t.TempDir()
				put(t, dir, file, text)
				open := func() *kernel.Kernel {
					k, err := kernel.Open(context.Background(), dir, &kernel.Options{Memory: kernel.MemoryOptions{WorkspaceTokens: room}})
					if err != nil {
						t.Fatal(err)
					}
					return k
				}
				k := open()
				c := newConversation(3)
				c.user()
				p := mustPlan(t, k, private(c))
				checkPlan(t, p, c.msgs)
				for _, r := range p.Regions {
					if r.Name == "carry" && (r.Tokens < room*3/4 || r.Tokens > room*21/20) {
						t.Errorf("%d tokens are carried, there is room for %d", r.Tokens, room)
					}
				}
				detail := ""
				for _, f := range p.Faults {
					if f.Code == "workspace_cut" {
						detail = f.Detail
					}
				}
				for _, want := range []string{file, "workspace.max_tokens", "memory/"} {
					if !strings.Contains(detail, want) {
						t.Errorf("the fault is %q, without %q", detail, want)
					}
				}
				carry := shown(p, "memkernel:carry")
				k.Close()
				k = open()
				defer k.Close()
				c.loop(1, 10)
				if again := shown(mustPlan(t, k, private(c)), "memkernel:carry"); again != carry {
					t.Error("the next plan shows something else")
				}
			})
		}
	}
}

// TestWorkspaceCutShowsTheNewest: of a MEMORY.md that has no room the beginning and the newest
// part are shown, and how to read what is between them.
func TestWorkspaceCutShowsTheNewest(t *testing.T) {
	dir := t.TempDir()
	text := "# Memory\n\n"
	for i := range 4000 {
		text += fmt.Sprintf("- Basin %d drains into sluice %d.\n", i, 9000-i)
	}
	put(t, dir, "MEMORY.md", text)
	k := openKernel(t, dir)
	defer k.Close()
	c := newConversation(3)
	c.user()
	got := stream(mustPlan(t, k, private(c)))
	if !strings.Contains(got, "Basin 3 drains") || !strings.Contains(got, "Basin 3999 drains") || strings.Contains(got, "Basin 2000 drains") || !regexp.MustCompile(`Lines \d+ to \d+ of 4002 in MEMORY.md are not shown here.*memkernel get MEMORY.md:\d+:\d+`).MatchString(got) {
		t.Errorf("%.3000s", got)
	}
}

// TestWorkspaceCutKeepsCommands: of standing instructions the commands and red lines are
// kept before all else, also at the end of what is cut.
func TestWorkspaceCutKeepsCommands(t *testing.T) {
	text := tooLarge()["headings"] + "\n## Red Lines\n\nThe ledger is holy to us.\n\n## Last\n\n- Never delete the ledger.\n"
	k, _ := workspaceKernel(t, map[string]string{"AGENTS.md": text})
	c := newConversation(3)
	c.user()
	carry := shown(mustPlan(t, k, private(c)), "memkernel:carry")
	for _, want := range []string{"Never delete the ledger.", "The ledger is holy to us.", "Topic"} {
		if !strings.Contains(carry, want) {
			t.Errorf("the carry block lacks %q:\n%.300s … %s", want, carry, carry[max(0, len(carry)-300):])
		}
	}
}

// TestWorkspaceHalfShownIsNoFault: what is shown for the most part is none.
func TestWorkspaceHalfShownIsNoFault(t *testing.T) {
	for _, n := range []int{1, 100, 150} {
		k, _ := workspaceKernel(t, map[string]string{"MEMORY.md": strings.Repeat("Prose that is shown for the most part, and a little more of it than half.\n", n*4)})
		c := newConversation(3)
		c.user()
		if p := mustPlan(t, k, private(c)); hasFault(p, "workspace_cut") {
			t.Errorf("%d lines: %+v", n*4, p.Faults)
		}
	}
}
