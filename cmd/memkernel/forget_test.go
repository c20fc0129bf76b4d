package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// parcels is a workspace and a session that hold the words "berth five".
func parcels(t *testing.T) string {
	t.Helper()
	ws := t.TempDir()
	if err := os.WriteFile(filepath.Join(ws, "MEMORY.md"), []byte("# Memory\n\n- Parcels go to berth five.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "s.jsonl")
	line := `{"type":"user","uuid":"u1","sessionId":"s1","timestamp":"2026-03-09T09:00:00Z","message":{"role":"user","content":"Parcels go to berth five."}}` + "\n" +
		`{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s1","timestamp":"2026-03-09T09:00:05Z","message":{"role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":"Noted."}],"usage":{"input_tokens":10,"output_tokens":2}}}` + "\n"
	if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := invoke(t, "observe", "-t", file, "--workspace", ws, "--quiet"); code != 0 {
		t.Fatal(stderr)
	}
	return ws
}

func TestForgetEverywhereVerb(t *testing.T) {
	ws := parcels(t)
	_, shown, stderr := invoke(t, "forget", "--everywhere", "BERTH  five", "--workspace", ws)
	if !strings.Contains(shown, "MEMORY.md:3 would go: - Parcels go to berth five.") || !strings.Contains(stderr, "nothing was changed") {
		t.Errorf("%s%s", shown, stderr)
	}
	code, shown, stderr := invoke(t, "forget", "--everywhere", "BERTH  five", "--workspace", ws, "--apply")
	if code != 0 || !strings.Contains(shown, "nothing has these words") {
		t.Errorf("exit %d\n%s%s", code, shown, stderr)
	}
	// Whatever can't be reached is named.
	if err := os.WriteFile(filepath.Join(ws, ".memkernel", "stray.txt"), []byte("Berth\nFive"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, shown, _ = invoke(t, "forget", "--everywhere", "berth five", "--workspace", ws, "--apply")
	if code != 3 || !strings.Contains(shown, "1 place of it left") || !strings.Contains(shown, "stray.txt") {
		t.Errorf("exit %d\n%s", code, shown)
	}
	if code, _, stderr = invoke(t, "forget", "--everywhere", "x", "--all", "--workspace", ws); code != 2 {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// What was imported is forgotten with what its session's journal says of it, and stays away.
func TestForgetEverywhereWhatWasImported(t *testing.T) {
	ws, src := t.TempDir(), t.TempDir()
	fact := `{"type":"entity","name":"Harbour","entityType":"place","observations":["Parcels go to berth nine on Fridays","The crane is red"]}` + "\n"
	if err := os.WriteFile(filepath.Join(src, "memory.jsonl"), []byte(fact), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"import", src, "--all", "--apply"}, {"forget", "--everywhere", "berth nine", "--apply"}, {"import", src, "--all", "--apply"}, {"check"}} {
		if code, stdout, stderr := invoke(t, append(args, "--workspace", ws)...); code != 0 {
			t.Fatalf("%v: exit %d\n%s%s", args, code, stdout, stderr)
		}
	}
	err := filepath.WalkDir(ws, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "berth nine") {
			t.Errorf("%s holds it", path)
		}
		return err
	})
	text, rerr := os.ReadFile(filepath.Join(ws, "memory", "imported", "mcp-memory.md"))
	if err != nil || rerr != nil || !strings.Contains(string(text), "The crane is red") {
		t.Errorf("%v, %v:\n%s", err, rerr, text)
	}
}
