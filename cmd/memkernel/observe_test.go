package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/suite"
)

// observedTurns is the document of observe.
type observedTurns struct {
	Committed, Duplicate, Conflicts, Ingested, Turns int
	Open                                             bool
	TornLine                                         int `json:"torn_line"`
}

const sharedTranscripts = "../../../shared/data/transcripts"

// recordings are the bundled session and, where they are there, other people's.
func recordings(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	paths, _ := filepath.Glob(sharedTranscripts + "/*/*.jsonl")
	if len(paths) == 0 {
		t.Log("../shared/data/transcripts is absent: only the bundled session is read")
	}
	for _, p := range append(suite.Some(paths, 1), sample) {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(p)] = data
	}
	return out
}

// longTranscript is a session of Claude Code's of so many turns of two messages.
// Its last call was billed so many tokens.
func longTranscript(t *testing.T, turns, billed int) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for i := range turns {
		at := time.Date(2026, 11, 3, 9, 0, i, 0, time.UTC).Format(time.RFC3339)
		user, reply := fmt.Sprint("u", i), fmt.Sprint("a", i)
		for _, r := range []map[string]any{
			{"type": "user", "uuid": user, "parentUuid": fmt.Sprint("a", i-1), "timestamp": at, "sessionId": "long",
				"message": map[string]any{"role": "user", "content": fmt.Sprintf("Is route %d open? Never close it before %d.", i, i)}},
			{"type": "assistant", "uuid": reply, "parentUuid": user, "timestamp": at, "sessionId": "long",
				"message": map[string]any{"id": "msg" + reply, "type": "message", "role": "assistant", "model": "claude-opus-4-5", "stop_reason": "end_turn",
					"content": []any{map[string]any{"type": "text", "text": fmt.Sprintf("Route %d is open; I went with the longer hours.", i)}}}},
		} {
			if m := r["message"].(map[string]any); m["role"] == "assistant" && i == turns-1 {
				m["usage"] = map[string]any{"input_tokens": billed, "output_tokens": 20}
			}
			if err := enc.Encode(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.Bytes()
}

// verb runs the program in this process.
func verb(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(context.Background(), &cli.UI{In: strings.NewReader(""), Out: &out, Err: &errs}, args)
	return out.String(), errs.String(), code
}

// everything is what lies below a folder, with times; lock files aside, which hold
// nothing.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == "lock" || strings.HasSuffix(d.Name(), ".lock") {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		out[path] = fmt.Sprint(fi.Size(), fi.ModTime().UnixNano())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A transcript that did not change is observed again without a byte written, however
// long it is.
func TestObserveAgainWritesNothing(t *testing.T) {
	all := recordings(t)
	all["long.jsonl"] = longTranscript(t, suite.Pick(520, 700), 20_000)
	all["full.jsonl"] = longTranscript(t, 3, 190_000)
	for name, data := range all {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "long.jsonl" && name != "full.jsonl" {
				t.Skip("short")
			}
			dir, file := t.TempDir(), filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
			observe := func() observedTurns {
				t.Helper()
				out, errs, code := verb(t, "observe", "--json", "--workspace", dir, "-t", file)
				var doc observedTurns
				if code != 0 || json.Unmarshal([]byte(out), &doc) != nil {
					t.Fatalf("exit %d: %s%s", code, out, errs)
				}
				return doc
			}
			first := observe()
			before := everything(t, dir)
			again := observe()
			if again.Committed+again.Conflicts+again.Ingested != 0 || again.Duplicate != first.Committed {
				t.Errorf("first %+v, again %+v", first, again)
			}
			after := everything(t, dir)
			for _, path := range slices.Sorted(maps.Keys(after)) {
				if before[path] != after[path] {
					t.Errorf("%s was written: %s, it was %s", strings.TrimPrefix(path, dir), after[path], before[path])
				}
			}
			if len(before) != len(after) {
				t.Errorf("%d files, there were %d", len(after), len(before))
			}
		})
	}
}

// A file that is observed while it grows comes to the turns that it comes to when it is
// observed once: none that still went on, none twice, none in two forms.
// TestObserveCountsTheHostsCompactions: the compactions in a host's transcript count once,
// however often the file is observed and while it grows. After the fourth a restore warns.
func TestObserveCountsTheHostsCompactions(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "orchard.jsonl")
	var log strings.Builder
	parent, n := "null", 0
	row := func(format string, args ...any) {
		n++
		fmt.Fprintf(&log, `{"uuid":"u%d","parentUuid":%s,"sessionId":"orchard","timestamp":"2026-11-20T09:%02d:00Z",`+format+"}\n", append([]any{n, parent, n}, args...)...)
		parent = fmt.Sprintf(`"u%d"`, n)
	}
	turn := func(k int) {
		row(`"type":"user","message":{"role":"user","content":"Prune row %d of the pear trees."}`, k)
		row(`"type":"assistant","message":{"id":"a%d","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"Row %d is pruned."}],"usage":{"input_tokens":900,"output_tokens":9}}`, k, k)
	}
	compacted := func(k int) {
		parent = "null"
		row(`"type":"system","subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{"trigger":"auto","preTokens":150000}`)
		row(`"type":"user","isCompactSummary":true,"message":{"role":"user","content":"This session is being continued from a previous conversation. Rows up to %d are pruned."}`, k)
	}
	run := func(args ...string) string {
		t.Helper()
		out, errs, code := verb(t, append(args, "--workspace", dir)...)
		if code != 0 {
			t.Fatalf("%v: exit %d: %s%s", args, code, out, errs)
		}
		return out
	}
	for k := 1; k <= 5; k++ {
		turn(k)
		if k <= 4 {
			compacted(k)
		}
		if err := os.WriteFile(file, []byte(log.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		if k == 2 || k >= 4 {
			run("observe", "-t", file)
			run("observe", "-t", file)
			run("checkpoint", "--session", "orchard")
			want := fmt.Sprintf("compaction_count: %d\n", min(k, 4))
			if got := newestCheckpoint(t, dir); !strings.Contains(got, want) {
				t.Errorf("after turn %d the checkpoint lacks %q:\n%s", k, want, got)
			}
			if got := run("restore", "--session", "orchard"); strings.Contains(got, "Warning: 4 compactions") != (k >= 4) {
				t.Errorf("restore after turn %d: %s", k, got)
			}
		}
	}
	if got := run("status", "--session", "orchard"); !strings.Contains(got, "compacted 4 times\n") {
		t.Errorf("status: %s", got)
	}
}

// newestCheckpoint returns the newest checkpoint of the only session in a workspace.
func newestCheckpoint(t *testing.T, dir string) string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, ".memkernel/sessions/*/checkpoints/cp_*.yaml"))
	if len(files) == 0 {
		t.Fatal("there is no checkpoint")
	}
	data, err := os.ReadFile(slices.Max(files))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestObserveWhileItGrows(t *testing.T) {
	turns := regexp.MustCompile(`\{"id":"turn-[0-9a-f]+","value":\{[^}]*\}`)
	committed := func(dir string) []string {
		journals, _ := filepath.Glob(filepath.Join(dir, ".memkernel/sessions/*/journal.jsonl"))
		var out []string
		for _, j := range journals {
			data, err := os.ReadFile(j)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, turns.FindAllString(string(data), -1)...)
		}
		return out
	}
	for name, data := range recordings(t) {
		t.Run(name, func(t *testing.T) {
			grown, once, file := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), name)
			observe := func(dir string, data []byte) (doc observedTurns) {
				t.Helper()
				if err := os.WriteFile(file, data, 0o600); err != nil {
					t.Fatal(err)
				}
				out, errs, code := verb(t, "observe", "--json", "--workspace", dir, "--session", "s", "-t", file)
				if code != 0 || json.Unmarshal([]byte(out), &doc) != nil {
					t.Fatalf("%d bytes: exit %d: %s%s", len(data), code, out, errs)
				}
				if doc.TornLine > 0 != strings.Contains(errs, "is not whole yet") {
					t.Errorf("torn line %d: %s", doc.TornLine, errs)
				}
				return doc
			}
			first := bytes.IndexByte(data, '\n') + 1
			few := suite.Pick(3, 12)
			if name == filepath.Base(sample) {
				few = suite.Pick(4, 30)
			}
			for i := range few { // anywhere, mostly within a line
				observe(grown, data[:first+(len(data)-first)*i/few])
			}
			observe(grown, data)
			doc := observe(once, data)
			want, got := committed(once), committed(grown)
			if !slices.Equal(got, want) || len(want) != doc.Committed {
				t.Errorf("%d turns of a growing file, %d at once:\n%s\n%s", len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			out, errs, code := verb(t, "observe", "--json", "--workspace", once, "--session", "s", "-t", file, "--ended")
			var ended observedTurns
			if code != 0 || json.Unmarshal([]byte(out), &ended) != nil {
				t.Fatalf("--ended: exit %d: %s%s", code, out, errs)
			}
			if more := ended.Committed; more > 1 || (more == 1) != (doc.Open && !ended.Open) {
				t.Errorf("--ended: %+v, it was %+v", ended, doc)
			}
		})
	}
}
