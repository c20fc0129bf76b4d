package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/verbs"
	"github.com/memkernel/memkernel/kernel"
)

// TestCommitBehind: a turn's end that was handed over is committed by a process of its
// own, in the workspace of the event.
func TestCommitBehind(t *testing.T) {
	ws := t.TempDir()
	if err := os.Mkdir(filepath.Join(ws, ".memkernel"), 0o700); err != nil {
		t.Fatal(err)
	}
	transcript, err := filepath.Abs("../../serve/hook/testdata/claude/transcript.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	event, err := json.Marshal(map[string]string{"hook_event_name": "Stop", "session_id": "s1", "cwd": ws, "transcript_path": transcript})
	if err != nil {
		t.Fatal(err)
	}
	p, err := verbs.StartBehind("memkernel", []string{"hook", "--host", "claude", "--wait"}, event)
	if err != nil {
		t.Fatal(err)
	}
	if st, err := p.Wait(); err != nil || !st.Success() {
		t.Fatalf("%v, %v", st, err)
	}
	k, err := kernel.Open(context.Background(), ws, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if s, _, err := k.SessionStatus(context.Background(), "claude:s1"); err != nil || s.Turns != 3 {
		log, _ := os.ReadFile(filepath.Join(ws, ".memkernel", "hook.log"))
		t.Errorf("%d turns, want 3: %v %s", s.Turns, err, log)
	}
}

// TestHookNeverEndsAsUsageError: 2 is the code by which a hook tells its host to block.
func TestHookNeverEndsAsUsageError(t *testing.T) {
	for _, args := range [][]string{{"hook"}, {"hook", "--host", "nobody"}, {"hook", "--hots", "claude"}, {"hook", "claude"}, {"hook", "--host", "claude", "--deadline", "soon"}} {
		if code, stdout, stderr := invoke(t, args...); code != cli.ExitError || stdout != "" || stderr == "" {
			t.Errorf("%v: exit %d, %q, %q", args, code, stdout, stderr)
		}
	}
	for _, host := range []string{"claude", "codex", "gemini"} {
		if code, stdout, _ := invoke(t, "hook", "--host", host); code != cli.ExitOK || host != "claude" && stdout != "{}\n" || host == "claude" && stdout != "" {
			t.Errorf("%s: exit %d, %q", host, code, stdout)
		}
	}
}
