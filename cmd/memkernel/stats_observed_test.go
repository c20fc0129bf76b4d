package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/transcript"
)

// statsOf is what stats says of a workspace.
func statsOf(t *testing.T, ws string) (total billing.Sum, text string) {
	t.Helper()
	var doc struct{ Total billing.Sum }
	code, out, stderr := invoke(t, "stats", "--workspace", ws, "--json")
	if err := json.Unmarshal([]byte(out), &doc); code != cli.ExitOK || err != nil {
		t.Fatalf("exit %d, %s, %v", code, stderr, err)
	}
	_, text, _ = invoke(t, "stats", "--workspace", ws)
	return doc.Total, text
}

// agrees holds sums against the bill of the transcript.
func agrees(t *testing.T, name string, got billing.Sum, path string) {
	t.Helper()
	s, err := transcript.LoadFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := replay.Bill(s, nil)
	b := got.Billed
	if got.Calls != want.Calls || b.InputTokens != want.InputTokens || b.CacheReadTokens != want.CacheReadTokens ||
		b.CacheWrite5mTokens+b.CacheWrite1hTokens != want.CacheWriteTokens || b.UncachedTokens != want.UncachedTokens {
		t.Errorf("%s: stats has %d calls, %+v; the transcript %+v", name, got.Calls, b, want)
	}
	if d := *got.BilledCostUSD - *want.CostUSD; d > 1e-9 || d < -1e-9 {
		t.Errorf("%s: stats has $%v, the transcript $%v", name, *got.BilledCostUSD, *want.CostUSD)
	}
	if turns := len(transcript.TurnEnds(s.View(transcript.Full), true)); got.Turns != turns {
		t.Errorf("%s: stats has %d turns, the transcript %d", name, got.Turns, turns)
	}
}

// part writes the first bytes of a file to another.
func part(t *testing.T, from string, n int64, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data[:n], 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestStatsAfterObserve observes a session as it grows, and again.
func TestStatsAfterObserve(t *testing.T) {
	ws, file := t.TempDir(), filepath.Join(t.TempDir(), "session.jsonl")
	fi, err := os.Stat(sample)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int64{fi.Size() / 2, fi.Size(), fi.Size()} {
		part(t, sample, n, file)
		args := []string{"observe", "-q", "-t", file, "--session", "grown", "--workspace", ws}
		if n == fi.Size() {
			args = append(args, "--ended")
		}
		if code, _, stderr := invoke(t, args...); code != cli.ExitOK {
			t.Fatalf("exit %d: %s", code, stderr)
		}
	}
	total, text := statsOf(t, ws)
	agrees(t, "observe", total, sample)
	for _, want := range []string{"184 calls of 1 session, ", "billed\n", "  cost of input", "hit ratio ", "184 calls without a known plan"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	for _, not := range []string{"planned", "off by", "error per call"} {
		if strings.Contains(text, not) {
			t.Errorf("nothing was planned, and %q is in\n%s", not, text)
		}
	}
}

// TestStatsOfRequests observes a request whose messages have their provider's usage.
func TestStatsOfRequests(t *testing.T) {
	ws, file := t.TempDir(), filepath.Join(t.TempDir(), "request.json")
	const body = `{"model":"gpt-5","messages":[{"role":"system","content":"s"},{"role":"user","content":"hello"},
{"role":"assistant","content":"good day","usage":{"prompt_tokens":5000,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":4000}}}%s]}`
	const more = `,{"role":"user","content":"and now?"},{"role":"assistant","content":"good day","usage":{"prompt_tokens":5000,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":4000}}}`
	for _, rest := range []string{"", "", more} {
		if err := os.WriteFile(file, fmt.Appendf(nil, body, rest), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := invoke(t, "observe", "-q", "-t", file, "--session", "r", "--workspace", ws); code != cli.ExitOK {
			t.Fatal(stderr)
		}
	}
	if total, _ := statsOf(t, ws); total.Calls != 2 || total.Turns != 2 || total.Billed.InputTokens != 10_000 || total.Billed.CacheReadTokens != 8000 || total.BilledCostUSD == nil {
		t.Errorf("%+v", total)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(body, `"cached_tokens":4000`, `"cached_tokens":-1`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := invoke(t, "observe", "-q", "-t", file, "--session", "r", "--workspace", ws)
	if code != cli.ExitError || !strings.Contains(stderr, "request.json:2: bytes ") || !strings.Contains(stderr, ": usage: prompt_tokens_details.cached_tokens is negative") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// hooked runs a host's hook on an event.
func hooked(t *testing.T, host, event string) {
	t.Helper()
	var out, problems bytes.Buffer
	u := &cli.UI{In: strings.NewReader(event), Out: &out, Err: &problems}
	if code := run(context.Background(), u, []string{"hook", "--host", host, "--wait"}); code != cli.ExitOK {
		t.Fatalf("%s: exit %d, %s", event, code, problems.String())
	}
}

// TestStatsAfterHooks goes through a session's life in every host, from SessionStart to
// its end, with events that come twice.
func TestStatsAfterHooks(t *testing.T) {
	for host, want := range map[string]memkernel.Usage{
		"claude": {InputTokens: 3000},
		"codex":  {InputTokens: 1850},
		"gemini": {InputTokens: 800, CacheReadTokens: 100},
	} {
		ws := t.TempDir()
		if code, _, stderr := invoke(t, "reindex", "-q", "--workspace", ws); code != cli.ExitOK {
			t.Fatal(stderr)
		}
		in := filepath.Join("..", "..", "serve", "hook", "testdata", host)
		whole, err := os.ReadFile(filepath.Join(in, "transcript.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		events, err := os.ReadFile(filepath.Join(in, "events.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		rows, file := strings.SplitAfter(string(whole), "\n"), filepath.Join(ws, "transcript.jsonl")
		for line := range strings.Lines(string(events)) {
			var e struct {
				Lines int
				Event json.RawMessage
			}
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(strings.Join(rows[:e.Lines], "")), 0o600); err != nil {
				t.Fatal(err)
			}
			event := strings.NewReplacer("$TRANSCRIPT", filepath.ToSlash(file), "$PROJECT", filepath.ToSlash(ws)).Replace(string(e.Event))
			for range 2 {
				hooked(t, host, event)
			}
		}
		total, text := statsOf(t, ws)
		if total.Billed.InputTokens != want.InputTotal() || total.Billed.CacheReadTokens != want.CacheReadTokens || total.Turns == 0 {
			log, _ := os.ReadFile(filepath.Join(ws, ".memkernel", "hook.log"))
			t.Errorf("%s: %+v\n%s%s", host, total, text, log)
		}
	}
}

// TestStatsOfAGrowingTranscript has a Stop after every turn of a long session, of which
// each reads the end alone.
func TestStatsOfAGrowingTranscript(t *testing.T) {
	ws, file := t.TempDir(), filepath.Join(t.TempDir(), "session.jsonl")
	if code, _, stderr := invoke(t, "reindex", "-q", "--workspace", ws); code != cli.ExitOK {
		t.Fatal(stderr)
	}
	data, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	var stops []int64
	for rec, err := range transcript.Stream(bytes.NewReader(data), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if m := rec.Message; m != nil && m.Branch == "" && transcript.PlainUser(*m) && rec.Offset > 0 {
			stops = append(stops, rec.Offset)
		}
	}
	event := fmt.Sprintf(`{"hook_event_name":"Stop","session_id":"g","cwd":%q,"transcript_path":%q}`, filepath.ToSlash(ws), filepath.ToSlash(file))
	for _, n := range append(suite.Some(stops, 4), int64(len(data))) {
		part(t, sample, n, file)
		hooked(t, "claude", event)
	}
	total, _ := statsOf(t, ws)
	agrees(t, "hooks", total, sample)
}
