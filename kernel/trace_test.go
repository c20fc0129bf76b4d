package kernel_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

var updateTrace = flag.Bool("update-trace", false, "record testdata/trace.jsonl anew")

// replayFile decides a trace again.
func replayFile(t fataler, path string) *api.TraceReport {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatalf("open trace: %v", err)
	}
	defer f.Close()
	r, err := kernel.Stored.ReplayTrace(path, f)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return r
}

// wantSame wants a trace of so many plans in which everything is decided again as it
// was.
func wantSame(t fataler, path string, plans int) {
	t.Helper()
	if r := replayFile(t, path); r.Difference != nil || r.Plans != plans || r.Other+r.Skipped > 0 {
		t.Fatalf("%s: %d plans are the same, want %d; %+v\n%+v", path, r.Plans, plans, r, r.Difference)
	}
}

// reopen closes a kernel and opens another one with the same folder.
func reopen(t fataler, k *kernel.Kernel, dir string) *kernel.Kernel {
	k.Close()
	return openKernel(t, dir)
}

// TestTraceReplays plans random sessions as TestPlansHold does: the trace of each
// is decided again in every point, and no decision in it can be changed without
// that being found.
func TestTraceReplays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir := tempDir(t)
		k := openKernel(t, dir)
		defer func() { k.Close() }()
		c := newConversation(rapid.Int64().Draw(t, "seed"))
		c.user()
		if rapid.Bool().Draw(t, "workspace") {
			fillWorkspace(t, dir, nil)
			reindex(t, k)
		}
		resolver := rapid.SampledFrom([]string{"", "memory_get"}).Draw(t, "resolver")
		window := rapid.SampledFrom([]int{64_000, 96_000, 128_000}).Draw(t, "window")
		models := rapid.SampledFrom([][]string{{model}, {boundModel}, {model, boundModel}}).Draw(t, "models")
		plans := rapid.IntRange(3, 10).Draw(t, "steps")
		for i := range plans {
			step(t, c)
			if path := rapid.SampledFrom([]string{"", "", "AGENTS.md", "SESSION-STATE.md"}).Draw(t, "file"); path != "" {
				put(t, dir, path, fmt.Sprintf("# %s\n\n- Never touch worker %d.\n", path, c.rng.Intn(3)))
			}
			if rapid.IntRange(0, 5).Draw(t, "reopen") == 0 {
				k = reopen(t, k, dir)
			}
			req := request(c)
			req.Resolver, req.ContextWindow, req.Private, req.Model = resolver, window, true, models[i%len(models)]
			req.Messages = slices.Clone(c.msgs) // which a step may overwrite
			if p := mustPlan(t, k, req); hasFault(p, "not_traced") {
				t.Fatalf("faults are %v", p.Faults)
			}
		}
		path := sessionFile(dir, "trace.jsonl")
		wantSame(t, path, plans)
		lieAndReplay(t, path)
	})
}

// full tells which lines of a trace stand by themselves.
func full(t fataler, path string) (out []bool) {
	for _, l := range traceLines(t, path)[1:] {
		var rec struct {
			Body struct{ After string }
		}
		decode(t, l, &rec)
		out = append(out, rec.Body.After == "")
	}
	return out
}

// TestTraceBeginsAnew: a line stands by itself where the one before says nothing of
// use, and only there.
func TestTraceBeginsAnew(t *testing.T) {
	dir := t.TempDir()
	k, other := openKernel(t, dir), openKernel(t, dir)
	defer func() { k.Close(); other.Close() }()
	path := sessionFile(dir, "trace.jsonl")
	c := session(120, 2, 2, 3000)
	var want []bool
	plan := func(k *kernel.Kernel, full bool) {
		t.Helper()
		mustPlan(t, k, request(c))
		c.grow()
		want = append(want, full)
	}
	plan(k, true)
	plan(k, false)
	observe(t, k, api.Turn{Messages: c.msgs[:len(c.msgs)-1]})
	plan(k, false)
	if _, err := k.Peek(context.Background(), request(c)); err != nil {
		t.Fatal(err)
	}
	plan(k, false)
	plan(other, true)
	plan(k, true) // behind what the other planned
	plan(k, false)
	plan(other, true)
	k = reopen(t, k, dir)
	plan(k, true)
	c.msgs = slices.Clone(c.msgs) // the host edits what stands
	c.msgs[0].Parts = append(c.msgs[0].Parts, words("And be quick."))
	plan(k, false)
	plan(k, false)
	flip(t, sessionFile(dir, "projection.jsonl"), 200)
	k = reopen(t, k, dir)
	plan(k, true)
	if got := full(t, path); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("lines that stand by themselves: %v, want %v", got, want)
	}
	wantSame(t, path, len(want))
}

// TestTraceOfMany: processes that take turns decide from what one alone decides from,
// whichever of them showed a message, cut it or was away meanwhile, and send the same.
func TestTraceOfMany(t *testing.T) {
	for _, resolver := range []string{"", "memory_get"}[suite.Pick(1, 0):] {
		alone, shared, anew := t.TempDir(), t.TempDir(), t.TempDir()
		one := openKernel(t, alone)
		ks := []*kernel.Kernel{openKernel(t, shared), openKernel(t, shared), openKernel(t, shared), openKernel(t, shared)}
		last := openKernel(t, anew)
		defer func() {
			for _, k := range append(ks, one, last) {
				k.Close()
			}
		}()
		c := newConversation(123)
		cuts := 0
		for i := range suite.Pick(26, 60) {
			c.user()
			if i%7 == 3 {
				c.loop(2, 60_000) // more than the room that is left
			} else {
				c.loop(1, 4000+c.rng.Intn(4000))
			}
			req := request(c)
			req.ContextWindow, req.Resolver, req.Messages = 48_000, resolver, slices.Clone(c.msgs)
			last = reopen(t, last, anew)
			p := mustPlan(t, one, req)
			for _, k := range []*kernel.Kernel{ks[i*3%4], last} {
				if diff := cmp.Diff(stream(mustPlan(t, k, req)), stream(p)); diff != "" {
					t.Fatalf("plan %d: another process sends other bytes:\n%s", i, diff)
				}
			}
			if p.Layout.Made != nil {
				cuts++
			}
			c.say()
		}
		if cuts < 2 {
			t.Errorf("%d cuts are too few", cuts)
		}
		given := deciderSaw(t, alone)
		for name, dir := range map[string]string{"of several": shared, "that is opened anew": anew} {
			if diff := cmp.Diff(deciderSaw(t, dir), given); diff != "" {
				t.Errorf("a process %s decides from other messages than one alone:\n%s", name, diff)
			}
		}
	}
}

// TestTraceRotates: a trace that is full is put aside, the one before it goes, and
// each replays by itself. Where the first plan alone is larger than all that is
// allowed, some more go with it.
func TestTraceRotates(t *testing.T) {
	for _, max := range []int64{1, 60_000} {
		dir := t.TempDir()
		k, err := kernel.Open(context.Background(), dir, &kernel.Options{TraceBytes: max})
		if err != nil {
			t.Fatal(err)
		}
		defer k.Close()
		c := session(121, 2, 2, 3000)
		const plans = 120
		for range plans {
			mustPlan(t, k, request(c))
			c.grow()
		}
		here := 0
		for _, name := range []string{"trace.jsonl", "trace.1.jsonl"} {
			path := sessionFile(dir, name)
			lines := traceLines(t, path)
			limit := 4 * int64(len(lines[0])+len(lines[1])+2)
			if size := fileSize(t, path); size > limit+max+4000 {
				t.Errorf("%s has %d bytes, %d are allowed and its first line has %d", name, size, max, len(lines[1]))
			} else if name == "trace.1.jsonl" && (size < limit || size < max) {
				t.Errorf("%s was put aside at %d bytes", name, size)
			}
			wantSame(t, path, len(lines)-1)
			here += len(lines) - 1
		}
		if here >= plans {
			t.Errorf("all %d plans are there: nothing was dropped", plans)
		}
	}
}

// TestTraceOff: a kernel that is to write no trace writes none.
func TestTraceOff(t *testing.T) {
	dir := t.TempDir()
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{NoTrace: true})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	mustPlan(t, k, request(session(122, 2, 2, 3000)))
	if _, err := os.Stat(sessionFile(dir, "trace.jsonl")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is one: %v", err)
	}
}

// TestTraceTorn: whatever was left behind the last whole line is dropped by the
// next plan, and by a replay; damage in front of it is an error with file and line.
func TestTraceTorn(t *testing.T) {
	for _, tail := range []string{`{"v":1,"n":99,"crc":"0000`, "\x00\x00\x00", "{\"v\":1,\"n\":2,\"crc\":\"00000000\",\"rec\":{}}\n", strings.Repeat("x", 200_000)} {
		dir := t.TempDir()
		path := sessionFile(dir, "trace.jsonl")
		k := openKernel(t, dir)
		c := session(123, 2, 2, 3000)
		mustPlan(t, k, request(c))
		c.grow()
		mustPlan(t, k, request(c))
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString(tail)
		f.Close()
		wantSame(t, path, 2)
		c.grow()
		mustPlan(t, k, request(c)) // in the process that wrote it
		wantSame(t, path, 3)
		os.Truncate(path, fileSize(t, path)-40)
		k = reopen(t, k, dir)
		c.grow()
		mustPlan(t, k, request(c))
		wantSame(t, path, 3)
		k.Close()
		flip(t, path, len(traceLines(t, path)[0])+100)
		var d *store.LogError
		g, _ := os.Open(path)
		defer g.Close()
		if _, err := kernel.Stored.ReplayTrace(path, g); !errors.As(err, &d) || d.Line != 2 || !strings.Contains(err.Error(), path) {
			t.Errorf("damage: %v", err)
		}
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return fi.Size()
}

// TestTraceOfAnotherVersion: what another version decided is told apart, whether it
// decided otherwise or not, and a plan by this one begins a new file.
func TestTraceOfAnotherVersion(t *testing.T) {
	for _, tt := range []struct {
		name           string
		lie            func(body map[string]any, out func(decider string) map[string]any)
		other, skipped int
	}{
		{"the same", func(map[string]any, func(string) map[string]any) {}, 0, 0},
		{"the cut planner", func(_ map[string]any, out func(string) map[string]any) { out("plan_cut")["target_tokens"] = 7 }, 1, 0},
		{"a field that is gone", func(b map[string]any, _ func(string) map[string]any) {
			for _, s := range b["steps"].([]any) {
				if s := s.(map[string]any); s["decider"] == "plan_cut" {
					s["in"].(map[string]any)["Mood"] = "good"
				}
			}
		}, 1, 0},
		{"next", func(_ map[string]any, out func(string) map[string]any) { out("next")["kept"] = 99 }, 1, 3},
		{"the projection", func(b map[string]any, _ func(string) map[string]any) { b["projection"] = "x" }, 1, 3},
		{"align", func(b map[string]any, _ func(string) map[string]any) { b["align"].(map[string]any)["at"] = 0 }, 1, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := sessionFile(dir, "trace.jsonl")
			k := openKernel(t, dir)
			c := session(124, 2, 2, 3000)
			for range 4 {
				mustPlan(t, k, request(c))
				c.grow()
			}
			lines := traceLines(t, path)
			editTrace(t, lines, 0, func(b map[string]any) {
				b["deciders"] = map[string]int{"align": 9, "plan_cut": 9, "select": 9, "next": 9}
			})
			editTrace(t, lines, 2, func(b map[string]any) {
				tt.lie(b, func(decider string) map[string]any {
					for _, s := range b["steps"].([]any) {
						if s := s.(map[string]any); s["decider"] == decider {
							return s["out"].(map[string]any)
						}
					}
					return nil
				})
			})
			os.WriteFile(path, append(bytes.Join(lines, []byte("\n")), '\n'), 0o600)
			r := replayFile(t, path)
			if r.Difference != nil || r.Other != tt.other || r.Skipped != tt.skipped || r.Plans != 4-tt.skipped || (r.FirstOther != nil) != (tt.other > 0) {
				t.Errorf("%+v", r)
			}
			if o := r.FirstOther; o != nil && (o.Line != 3 || o.Plan == "" || o.Decider == "" || o.Field == "") {
				t.Errorf("%+v", o)
			}
			k = reopen(t, k, dir)
			mustPlan(t, k, request(c))
			k.Close()
			wantSame(t, path, 1)
			if got := replayFile(t, sessionFile(dir, "trace.1.jsonl")); got.Other != tt.other {
				t.Errorf("what was put aside: %+v", got)
			}
		})
	}
}

// editTrace changes the body of line i.
func editTrace(t *testing.T, lines [][]byte, i int, edit func(map[string]any)) {
	t.Helper()
	var rec map[string]any
	decode(t, lines[i], &rec)
	edit(rec["body"].(map[string]any))
	lines[i] = encode(t, rec)
}

// TestTraceNotReadable: what can't be replayed says so, by file and line.
func TestTraceNotReadable(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := session(125, 2, 2, 3000)
	for range 3 {
		mustPlan(t, k, request(c))
		c.grow()
	}
	path := sessionFile(dir, "trace.jsonl")
	for _, tt := range []struct {
		name string
		line int
		edit func(map[string]any)
		want string
	}{
		{"newer", 0, func(b map[string]any) { b["format"] = 9 }, "newer"},
		{"a field that nobody knows", 1, func(b map[string]any) { b["mood"] = 1 }, "line 2"},
		{"a plan that is missing", 2, func(b map[string]any) { b["after"] = "pl-0" }, `line 3: it goes on from plan "pl-0"`},
		{"keeping too much", 2, func(b map[string]any) { b["keep_host"] = 99 }, "line 3: it keeps more than there is"},
		{"a place too few", 2, func(b map[string]any) { b["keep_places"] = 1 }, "line 3"},
		{"no chosen step", 2, func(b map[string]any) { b["chosen"] = 40 }, "line 3: chosen"},
		{"an unknown decider", 2, func(b map[string]any) { b["steps"].([]any)[0].(map[string]any)["decider"] = "dice" }, "line 3"},
	} {
		lines := traceLines(t, path)
		editTrace(t, lines, tt.line, tt.edit)
		_, err := kernel.Stored.ReplayTrace("t.jsonl", bytes.NewReader(bytes.Join(lines, []byte("\n"))))
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "t.jsonl") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	for _, text := range []string{"", "\n", "hello\n", `{"paging_trace":1}`, "\x00"} {
		if _, err := kernel.Stored.ReplayTrace("t.jsonl", strings.NewReader(text)); !errors.Is(err, store.ErrNoTrace) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestRecordedTrace decides a trace again that was recorded when the versions of the
// deciders were set last. If it fails, what is decided has changed: raise the
// version of the decider in trace.go and record anew with -update-trace.
func TestRecordedTrace(t *testing.T) {
	const golden = "testdata/trace.jsonl"
	if *updateTrace {
		dir := t.TempDir()
		k := openKernel(t, dir)
		defer k.Close()
		c := session(126, 1, 1, 1000)
		for i := range 6 {
			c.loop(3, 6000)
			if i == 3 {
				c.grow()
				c.gap(3 * time.Hour)
			}
			mustPlan(t, k, narrow(c))
		}
		b, err := os.ReadFile(sessionFile(dir, "trace.jsonl"))
		if err == nil {
			err = os.WriteFile(golden, b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	wantSame(t, golden, 6)
}
