package hook

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/memkernel/memkernel/kernel"
)

// TestTakeIn: a past session is read in once under the key of its hooks, what it has grown by
// is read the next time, and what a killed process had committed is recognised.
func TestTakeIn(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	state := filepath.Join(dir, ".memkernel")
	k, err := kernel.Open(ctx, dir, &kernel.Options{StateDir: state, Life: kernel.LifeOptions{Off: true, Flush: kernel.FlushOptions{Off: true}}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	var text []byte
	parent := any(nil)
	say := func(id, role string) {
		m := map[string]any{"role": role, "content": "remember that the harbour closes: " + id}
		if role == "assistant" {
			m = map[string]any{"id": id, "type": "message", "model": "m", "role": role, "content": []any{map[string]any{"type": "text", "text": "yes " + id}}, "stop_reason": "end_turn"}
		}
		line, err := json.Marshal(map[string]any{"type": role, "uuid": id, "parentUuid": parent, "sessionId": "another", "timestamp": "2026-11-01T10:00:00Z", "message": m})
		if err != nil {
			t.Fatal(err)
		}
		parent, text = id, append(append(text, line...), '\n')
	}
	take := func(want bool, turns int) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Unread(state, Claude, path, int64(len(text))); got != want {
			t.Errorf("unread: %v", got)
		}
		if got, lost, err := TakeIn(ctx, k, state, Claude, path); err != nil || len(lost) > 0 || got != want {
			t.Errorf("read: %v, %v", got, err)
		}
		if st, _, err := k.SessionStatus(ctx, "claude:s1"); err != nil || st.Turns != turns {
			t.Errorf("%+v, %v; want %d turns", st, err, turns)
		}
	}
	say("u1", "user")
	say("a1", "assistant")
	say("u2", "user")
	say("a2", "assistant")
	take(true, 2)
	take(false, 2)
	say("u3", "user")
	say("a3", "assistant")
	take(true, 3)
	if err := os.RemoveAll(filepath.Join(state, "hook")); err != nil {
		t.Fatal(err)
	}
	take(true, 3) // as after a kill before the record was written
	if names, err := filepath.Glob(filepath.Join(dir, "[^.]*")); err != nil || len(names) > 0 {
		t.Errorf("written to the workspace: %v, %v", names, err)
	}
}
