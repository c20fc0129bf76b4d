package scriptedhost

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
)

// recorded is a real session where one is, beside the repository; the bundled one
// has the same shape.
var recorded = []string{"../../../shared/data/transcripts/claude-code/cli__89-7eb280e769-12.jsonl", "../../testdata/session.jsonl"}

func setup(t *testing.T, turns int) Setup {
	t.Helper()
	name, work, err := Material(recorded...)
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(suite.Number(t, "MEMKERNEL_SEED", 1, 1))
	t.Logf("%d calls of %s, seed %d, %d turns", len(work), name, seed, turns)
	return Setup{Seed: seed, Turns: turns, Work: work}
}

// TestSession plays a session of 400 turns, or of 30 in the quick suite, through every
// event, in one process but for the restarts.
func TestSession(t *testing.T) {
	s := setup(t, suite.Pick(30, 400))
	h := New(t.TempDir(), s)
	ctx := context.Background()
	if err := h.Open(ctx); err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	checked := 0
	script := NewScript(s)
	for i := range script {
		st := &script[i]
		if err := h.Do(ctx, st); err != nil {
			t.Fatal(err)
		}
		if !st.Kind.Event() {
			continue
		}
		checked++
		h.Shallow = st.Kind != Reset
		if err := h.Check(ctx, nil); err != nil {
			t.Errorf("behind turn %d, %s: %v", st.Turn, st.Kind, err)
		}
	}
	h.Shallow = false
	if err := h.Check(ctx, nil); err != nil {
		t.Errorf("at the end: %v", err)
	}
	l := h.Ledger
	t.Logf("%d steps, %d turns, %d resets, %d checks; %d memories, %d logged, %d pinned; faults %v",
		len(script), l.Turns, l.Epoch, checked, len(l.Memories), len(l.Logged), len(l.Pinned), h.Faults)
}

// TestCheckNotices: a check that finds nothing would show nothing. It finds what a
// kernel without its working state does not keep, an entry that occurs twice, one
// that is gone, and a page that was damaged.
func TestCheckNotices(t *testing.T) {
	s := setup(t, 12)
	ctx := context.Background()
	play := func(o *kernel.Options) *Host {
		h := New(t.TempDir(), s)
		h.Options = o
		if err := h.Open(ctx); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.Close() })
		script := NewScript(s)
		for i := range script {
			if err := h.Do(ctx, &script[i]); err != nil {
				t.Fatal(err)
			}
		}
		return h
	}
	if err := play(&kernel.Options{Life: kernel.LifeOptions{Off: true}}).Check(ctx, nil); err == nil || !strings.Contains(err.Error(), "stands 0 times") {
		t.Errorf("without a working state: %v", err)
	}
	h := play(nil)
	if err := h.Check(ctx, nil); err != nil {
		t.Fatal(err)
	}
	log := longest(t, filepath.Join(h.Workspace(), "memory", "20*.md"))
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for want, with := range map[string]string{
		"stands 2 times": string(text) + "\n" + string(text),
		"stands 0 times": strings.ReplaceAll(string(text), "- [decision]", "- [decision] not"),
	} {
		if err := os.WriteFile(log, []byte(with), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := h.Check(ctx, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	if err := os.WriteFile(log, text, 0o600); err != nil {
		t.Fatal(err)
	}
	blob := longest(t, filepath.Join(h.Workspace(), ".memkernel", "blobs", "*", "*"))
	if err := os.Remove(blob); err != nil {
		t.Fatal(err)
	}
	if err := h.Check(ctx, nil); err == nil || !strings.Contains(err.Error(), filepath.Base(blob)[:12]) {
		t.Errorf("without blob %s: %v", blob, err)
	}
}

// longest is the largest file that a pattern finds.
func longest(t *testing.T, pattern string) (path string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(-1)
	for _, f := range files {
		if fi, err := os.Stat(f); err == nil && fi.Size() > size {
			path, size = f, fi.Size()
		}
	}
	if size <= 0 {
		t.Fatalf("nothing is at %s", pattern)
	}
	return path
}

// TestKills kills the process that drives a session again and again.
func TestKills(t *testing.T) {
	n := kills(t)
	h := Kills(t, "TestKilledChild", setup(t, turnsFor(n)), n)
	if h.Ledger.Epoch != 3 {
		t.Errorf("%d resets, want 3", h.Ledger.Epoch)
	}
}

// TestKilledChild is the host that TestKills kills.
func TestKilledChild(t *testing.T) {
	Child(t, func() Setup { return setup(t, turnsFor(kills(t))) })
}

// kills is how often a session is killed.
func kills(t *testing.T) int { return suite.Number(t, "MEMKERNEL_KILLS", 4, 200) }

func turnsFor(kills int) int {
	if kills < 100 {
		return 40 // all that a host does besides turns is once in them
	}
	return 400
}
