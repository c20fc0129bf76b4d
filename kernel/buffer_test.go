package kernel_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/markdownstore"
)

// Below its share the buffer stays away; a turn is in it once however often it is
// delivered; it is masked, not indexed, and begins anew with a dated header after a
// compaction.
func TestBufferTurns(t *testing.T) {
	dir := t.TempDir()
	all := fallback{}
	k := all.open(t, dir)
	defer func() { k.Close() }()
	c := ruledWork(0.4)
	spoken(t, k, c)
	if _, err := os.Stat(filepath.Join(dir, "memory/working-buffer.md")); err == nil {
		t.Fatal("the buffer was written at less than its share")
	}
	secret := "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
	c.add(memkernel.RoleUser, words("Use the token "+secret+" for the upload."))
	for range 14 {
		c.loop(1, 1500)
	}
	c.add(memkernel.RoleAssistant, words("Uploaded with "+secret+"."))
	spoken(t, k, c)
	text := read(t, dir, "memory/working-buffer.md")
	spoken(t, k, c)
	k.Close()
	k = all.open(t, dir)
	spoken(t, k, c)
	if again := read(t, dir, "memory/working-buffer.md"); again != text {
		t.Errorf("a turn delivered again was appended again:\n%s", again)
	}
	if strings.Contains(text, secret) || !strings.Contains(text, "[masked") || strings.Count(text, "# Working buffer of session s, 2026-11-03") != 1 ||
		strings.Count(text, "- [user] ") != 1 || strings.Count(text, "- [agent] ") != 1 || !strings.Contains(text, "- [read] pkg/queue/worker_") {
		t.Errorf("the buffer says\n%s", text)
	}
	pass(t, k.Compact, api.Boundary{Messages: c.msgs, Private: true, Now: c.now})
	c.user()
	c.say()
	spoken(t, k, c)
	if after := read(t, dir, "memory/working-buffer.md"); !strings.HasPrefix(after, text) || strings.Count(after, "# Working buffer of session s, ") != 2 {
		t.Errorf("after a compaction:\n%s", strings.TrimPrefix(after, text))
	}
	if c, err := k.Read(context.Background(), api.ReadRequest{Path: "memory/working-buffer.md"}); !errors.Is(err, markdownstore.ErrDenied) {
		t.Errorf("a shared session reads %+v %v", c, err)
	}
	reindex(t, k)
	if hits := search(t, k, "Uploaded token upload"); slices.ContainsFunc(hits, func(p string) bool { return strings.Contains(p, "buffer") || strings.Contains(p, "STATE") }) {
		t.Errorf("found in %v", hits)
	}
}

func search(t *testing.T, k *kernel.Kernel, q string) []string {
	t.Helper()
	r, err := k.Search(context.Background(), api.SearchRequest{Query: q, Private: true})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, h := range r.Hits {
		out = append(out, h.Path)
	}
	return out
}

// A buffer that nobody clears stops growing, and that is told once; what a curation
// has read goes, what was appended since stays.
func TestBufferIsBoundedAndCleared(t *testing.T) {
	dir := t.TempDir()
	n := fallback{life: kernel.LifeOptions{BufferAt: 0.01}}
	k := n.open(t, dir)
	defer k.Close()
	const full = 1 << 20
	put(t, dir, "memory/working-buffer.md", "A note of somebody's: "+strings.Repeat("long ", (full-3000)/5)+"\n")
	c := ruledWork(0.1)
	told := 0
	for range 8 {
		for _, f := range spoken(t, k, c).Faults {
			if told++; f.Code != fault.Net || !strings.Contains(f.Detail, "full") {
				t.Errorf("%+v", f)
			}
		}
		c.user()
		c.loop(1, 400)
		c.say()
	}
	ctx := context.Background()
	got, entries, err := kernel.ReadBuffer(k)
	if err != nil || told != 1 || len(got) > full+500 || entries == 0 {
		t.Fatalf("told %d times, the buffer has %d bytes, %d entries: %v", told, len(got), entries, err)
	}
	if err := kernel.ClearBuffer(ctx, k, 10, "x"); err == nil {
		t.Error("something was cleared that was never read")
	}
	put(t, dir, "memory/working-buffer.md", got+"\n## A note of somebody's\n")
	if err := kernel.ClearBuffer(ctx, k, len(got), kernel.HashOf(got)); err != nil {
		t.Fatal(err)
	}
	if left, _, err := kernel.ReadBuffer(k); err != nil || !strings.HasSuffix(left, "\n## A note of somebody's\n") || strings.Contains(left, mustCarry["constraint"]) {
		t.Errorf("left is %.100q … %q %v", left, left[max(0, len(left)-300):], err)
	}
	put(t, dir, "memory/working-buffer.md", "")
	spoken(t, k, c)
	first := read(t, dir, "memory/working-buffer.md")
	if !strings.Contains(first, mustCarry["constraint"]) || !strings.Contains(first, "# Working buffer of session") {
		t.Errorf("the first entry of an empty buffer has not all:\n%s", first)
	}
}
