package kernel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// called are a call of a tool and its result.
func called(n int, name string, args map[string]any, result string, failed bool) []memkernel.Message {
	input, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	id := fmt.Sprintf("call-%d", n)
	return []memkernel.Message{
		{Role: memkernel.RoleAssistant, Key: id, Parts: []memkernel.Part{{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: id, Name: name, Input: string(input)}}}},
		{Role: memkernel.RoleUser, Key: id + "-r", Parts: []memkernel.Part{{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: id, Name: name, Content: []memkernel.Part{{Kind: memkernel.PartText, Text: result}}, IsError: failed}}}},
	}
}

// turnOfCalls is a turn in which a person asks, tools are called, and the agent says that it is
// done.
func turnOfCalls(ask string, calls ...[]memkernel.Message) []memkernel.Message {
	out := []memkernel.Message{{Role: memkernel.RoleUser, Key: "ask", Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: ask, Typed: true}}}}
	for _, c := range calls {
		out = append(out, c...)
	}
	return append(out, memkernel.Message{Role: memkernel.RoleAssistant, Key: "done", Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "That is done."}}})
}

const (
	byPerson = "- The long shed belongs to the harbour office"
	byWords  = "- Never force-push to the main branch"
	byTool   = "- sweeper listens on 0.0.0.0:9100"
	byAgent  = "- The crane seems to be stuck on rainy mornings"
)

// What an observed session wrote into a file is whose the session shows it to be; whatever
// it can't show is nobody's that is known.
func TestProvenanceOfWrites(t *testing.T) {
	read := called(1, "Read", map[string]any{"file_path": "MEMORY.md"}, "     1\t# Memory\n     2\t\n     3\t"+byPerson+"\n", false)
	ports := called(2, "Bash", map[string]any{"command": "ss -ltn"}, strings.TrimPrefix(byTool, "- ")+"\n", false)
	after := "# Memory\n\n" + byPerson + "\n" + byWords + "\n" + byTool + "\n" + byAgent + "\n"
	edit := func(failed bool) []memkernel.Message {
		return called(3, "Edit", map[string]any{"file_path": "MEMORY.md", "old_string": byPerson, "new_string": strings.Join([]string{byPerson, byWords, byTool, byAgent}, "\n")}, "edited", failed)
	}
	write := called(3, "Write", map[string]any{"file_path": "MEMORY.md", "content": after}, "The file has been updated", false)
	created := called(3, "Write", map[string]any{"file_path": "MEMORY.md", "content": after}, "File created successfully", false)
	shell := called(3, "bash", map[string]any{"command": "cat >> MEMORY.md <<'EOF'\n" + byWords + "\n" + byTool + "\n" + byAgent + "\nEOF"}, "", false)
	patch := called(3, "apply_patch", map[string]any{"input": "*** Begin Patch\n*** Update File: MEMORY.md\n@@\n " + byPerson + "\n+" + byWords + "\n+" + byTool + "\n+" + byAgent + "\n*** End Patch"}, "Done!", false)
	const u, w, to, a = consolidation.OriginUnknown, consolidation.OriginWords, consolidation.OriginTool, consolidation.OriginAgent
	for name, c := range map[string]struct {
		calls [][]memkernel.Message
		want  [4]consolidation.Origin
	}{
		"edit":              {[][]memkernel.Message{read, ports, edit(false)}, [4]consolidation.Origin{u, w, to, a}},
		"patch":             {[][]memkernel.Message{ports, patch}, [4]consolidation.Origin{u, w, to, a}},
		"shell":             {[][]memkernel.Message{ports, shell}, [4]consolidation.Origin{u, w, to, a}},
		"write behind read": {[][]memkernel.Message{read, ports, write}, [4]consolidation.Origin{u, w, to, a}},
		"write of new file": {[][]memkernel.Message{ports, created}, [4]consolidation.Origin{a, w, to, a}},
		"write unseen":      {[][]memkernel.Message{ports, write}, [4]consolidation.Origin{u, u, u, u}},
		"failed":            {[][]memkernel.Message{read, ports, edit(true)}, [4]consolidation.Origin{u, u, u, u}},
		"nothing":           {nil, [4]consolidation.Origin{u, u, u, u}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			putAt(t, filepath.Join(dir, "MEMORY.md"), after, nightAt.AddDate(0, 0, -3))
			k := kernelAt(t, dir, nightAt)
			defer k.Close()
			turn := api.Turn{Messages: turnOfCalls("never force-push to the main branch! Note what you find out in MEMORY.md", c.calls...)}
			for range 2 { // delivered again it is known
				if o := observe(t, k, turn); len(o.Faults) > 0 {
					t.Fatalf("%+v", o.Faults)
				}
			}
			for i, want := range c.want {
				if by := writtenBy(t, k, "MEMORY.md", 3+i); by != authorOf[want] {
					t.Errorf("line %d is said to be of %q, want %q", 3+i, by, want)
				}
			}
			p, err := k.Maintenance().Prune(context.Background(), api.PruneRequest{PruneOptions: api.PruneOptions{MemoryLines: 1}, Apply: true, Now: nightAt})
			if err != nil {
				t.Fatal(err)
			}
			rest := readFile(t, dir, "MEMORY.md")
			for i, line := range []string{byPerson, byWords, byTool, byAgent} {
				if stays := strings.Contains(rest, line+"\n"); stays == c.want[i].Machine() {
					t.Errorf("%q of %q stays: %t\n%+v", line, c.want[i], stays, p.Moves)
				}
			}
		})
	}
}

// authorOf is the author that why names for an origin. What a tool said, an agent wrote down.
var authorOf = map[consolidation.Origin]string{consolidation.OriginWords: api.ByWords, consolidation.OriginTool: api.ByAgent, consolidation.OriginAgent: api.ByAgent}

// writtenBy returns the author of the entry on a line of a file.
func writtenBy(t *testing.T, k *kernel.Kernel, path string, line int) string {
	t.Helper()
	g, err := k.Maintenance().Why(context.Background(), api.WhyRequest{Entry: fmt.Sprintf("%s:%d", path, line), Now: nightAt})
	if err != nil {
		t.Fatal(err)
	}
	return g.WrittenBy
}

// What upkeep wrote says where it comes from; what somebody changed of it is no longer upkeep's.
func TestProvenanceOfUpkeep(t *testing.T) {
	dir := t.TempDir()
	putAt(t, filepath.Join(dir, "MEMORY.md"), "# Memory\n\n- Written by hand.\n", nightAt)
	putAt(t, filepath.Join(dir, "memory", "2026-03-09.md"), "# 2026-03-09\n\n- [human] Every report is to be a table with two columns.\n<!-- mk:fl-0123456789abcdef -->\n- [decision] The nets are kept in the long shed because the short one leaks.\n<!-- mk:me-0123456789abcdef -->\n", nightAt)
	k := kernelAt(t, dir, nightAt)
	defer k.Close()
	if c := curated(t, k, true); len(c.Entries) != 1 { // an agent's word alone is nothing that stands
		t.Fatalf("%+v", c.Entries)
	}
	text := readFile(t, dir, "MEMORY.md")
	by := func(line string) string {
		t.Helper()
		at := strings.Index(text, line)
		if at < 0 {
			t.Fatalf("no %q in\n%s", line, text)
		}
		return writtenBy(t, k, "MEMORY.md", 1+strings.Count(text[:at], "\n"))
	}
	if got := by("- [human] Every"); got != api.ByUpkeep {
		t.Errorf("what was curated is by %q", got)
	}
	if got := by("- Written by hand."); got != "" {
		t.Errorf("what was there is by %q", got)
	}
	text = strings.Replace(text, "two columns", "three columns", 1)
	putAt(t, filepath.Join(dir, "MEMORY.md"), text, nightAt)
	if got := by("- [human] Every"); got != api.ByMark {
		t.Errorf("what was put right is by %q", got)
	}
}

// provenanceTurn is a turn in which an agent writes into MEMORY.md.
func provenanceTurn() api.Turn {
	return api.Turn{Messages: turnOfCalls("note it", called(1, "Edit", map[string]any{"file_path": "MEMORY.md", "old_string": byPerson, "new_string": byPerson + "\n" + byAgent}, "edited", false))}
}

// TestProvenanceCrashChild is the delivery that TestProvenanceKillAnywhere kills.
func TestProvenanceCrashChild(t *testing.T) {
	dir := suite.Child(t)
	putAt(t, filepath.Join(dir, "MEMORY.md"), "# Memory\n\n"+byPerson+"\n"+byAgent+"\n", nightAt)
	k := kernelAt(t, dir, nightAt)
	defer k.Close()
	observe(t, k, provenanceTurn())
	fmt.Println("DONE")
}

// TestProvenanceKillAnywhere kills the delivery of a turn before each of its writes:
// delivered again, who wrote what is known.
func TestProvenanceKillAnywhere(t *testing.T) {
	suite.EveryWrite(t, "TestProvenanceCrashChild", 5, func(dir string, n int, out []byte) {
		k := kernelAt(t, dir, nightAt)
		defer k.Close()
		observe(t, k, provenanceTurn())
		for line, want := range map[int]string{3: "", 4: api.ByAgent} {
			if by := writtenBy(t, k, "MEMORY.md", line); by != want {
				t.Fatalf("killed at %d: line %d is said to be of %q", n, line, by)
			}
		}
	})
}
