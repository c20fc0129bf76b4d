package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// BenchmarkHook is the round trip of a hook as a host sees it, a cold process each:
// the median in milliseconds, and as a multiple of a process that only prints its
// version. prompt searches memory, stop hands a turn's end over to be committed, turn
// waits for the commit of one that is new.
func BenchmarkHook(b *testing.B) {
	h := newHookBench(b)
	b.Run("prompt", func(b *testing.B) {
		h.measure(b, func(int) map[string]any {
			return map[string]any{"hook_event_name": "UserPromptSubmit", "session_id": "bench", "prompt": "which runbook covers the deploy window?"}
		})
	})
	b.Run("stop", func(b *testing.B) {
		h.measure(b, func(n int) map[string]any {
			// What was handed over before is waited for, by the session's lock.
			h.hook(b, map[string]any{"hook_event_name": "Stop", "session_id": "bench"}, "--wait")
			h.grow(b, n)
			return map[string]any{"hook_event_name": "Stop", "session_id": "bench"}
		})
	})
	b.Run("turn", func(b *testing.B) {
		h.measure(b, func(n int) map[string]any {
			h.grow(b, n)
			return map[string]any{"hook_event_name": "Stop", "session_id": "bench"}
		}, "--wait")
	})
}

type hookBench struct {
	bin, project, transcript string
}

func newHookBench(b *testing.B) *hookBench {
	b.Helper()
	dir := b.TempDir()
	h := &hookBench{bin: program(b), project: filepath.Join(dir, "project"), transcript: filepath.Join(dir, "session.jsonl")}
	if err := os.CopyFS(h.project, os.DirFS("../testdata/workspace")); err != nil {
		b.Fatal(err)
	}
	data, err := os.ReadFile("../testdata/session.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(h.transcript, data, 0o600); err != nil {
		b.Fatal(err)
	}
	h.run(b, nil, "reindex", "--quiet", "--workspace", h.project)
	b.Cleanup(func() { h.hook(b, map[string]any{"hook_event_name": "Stop", "session_id": "bench"}, "--wait") })
	h.hook(b, map[string]any{"hook_event_name": "Stop", "session_id": "bench"}, "--wait")
	return h
}

// run runs the program and gives how long it took.
func (h *hookBench) run(b *testing.B, in []byte, args ...string) time.Duration {
	b.Helper()
	cmd := exec.Command(h.bin, args...)
	cmd.Stdin = bytes.NewReader(in)
	start := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(start)
	if err != nil {
		b.Fatalf("%v: %v: %s", args, err, out)
	}
	return took
}

func (h *hookBench) hook(b *testing.B, event map[string]any, flags ...string) time.Duration {
	b.Helper()
	event["cwd"], event["transcript_path"] = h.project, h.transcript
	in, err := json.Marshal(event)
	if err != nil {
		b.Fatal(err)
	}
	return h.run(b, in, append([]string{"hook", "--host", "claude"}, flags...)...)
}

// grow adds a turn to the transcript.
func (h *hookBench) grow(b *testing.B, n int) {
	b.Helper()
	f, err := os.OpenFile(h.transcript, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	enc := json.NewEncoder(f)
	at := time.Date(2026, 11, 20, 9, 0, n, 0, time.UTC).Format(time.RFC3339)
	id := time.Now().Format("150405.000000000")
	for _, r := range []map[string]any{
		{"type": "user", "uuid": "u" + id, "timestamp": at, "sessionId": "bench", "message": map[string]any{"role": "user", "content": "go on with " + id}},
		{"type": "assistant", "uuid": "a" + id, "parentUuid": "u" + id, "timestamp": at, "sessionId": "bench", "message": map[string]any{"id": "msg_" + id, "type": "message", "role": "assistant",
			"model": "claude-opus-4-5", "content": []any{map[string]any{"type": "text", "text": "Done with " + id}}}},
	} {
		if err := enc.Encode(r); err != nil {
			b.Fatal(err)
		}
	}
}

// measure runs hooks and empty processes in turn, so that what else the machine does
// meets both.
func (h *hookBench) measure(b *testing.B, event func(n int) map[string]any, flags ...string) {
	var hooks, nothing []time.Duration
	for n := 0; b.Loop(); n++ {
		e := event(n)
		nothing = append(nothing, h.run(b, nil, "version"))
		hooks = append(hooks, h.hook(b, e, flags...))
	}
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2].Microseconds()) / 1000
	}
	b.ReportMetric(median(hooks), "p50-ms")
	b.ReportMetric(median(hooks)/median(nothing), "x-empty-process")
}
