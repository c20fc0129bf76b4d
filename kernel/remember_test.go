package kernel_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm/journal"
)

var noon = time.Date(2026, 11, 3, 12, 0, 0, 0, time.Local)

func read(t *testing.T, dir, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRemember(t *testing.T) {
	dir := t.TempDir()
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	ctx := context.Background()
	secret := "AKIA" + "IOSFODNN7EXAMPLE"
	req := api.RememberRequest{SessionKey: "s", Text: "The key is " + secret + " and the day is fine."}
	// The clock of the store is the machine's own: the log of noon may be late.
	a, err := k.Remember(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	b, err := k.Remember(ctx, req)
	if err != nil || !b.Duplicate || b.ID != a.ID || a.Duplicate {
		t.Errorf("again: %+v, %v; first %+v", b, err, a)
	}
	text := read(t, dir, a.Ref.Path)
	if strings.Count(text, "the day is fine") != 1 || strings.Contains(text, secret) || a.Masked != 1 {
		t.Errorf("%+v\n%s", a, text)
	}
	if _, err := k.Remember(ctx, api.RememberRequest{SessionKey: "s", ID: a.ID, Text: "something else"}); err == nil {
		t.Error("one id, two texts")
	}
	var denied *markdownstore.DeniedError
	for _, path := range []string{"MEMORY.md", "USER.md", "AGENTS.md", "../x.md", "/tmp/x.md", "notes.txt"} {
		if _, err := k.Remember(ctx, api.RememberRequest{Path: path, Text: "x"}); !errors.As(err, &denied) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if m, err := k.Remember(ctx, api.RememberRequest{Path: "MEMORY.md", Text: "Mine.", Private: true}); err != nil || !strings.Contains(read(t, dir, "MEMORY.md"), "Mine.") {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := k.Remember(ctx, api.RememberRequest{Text: " \n"}); err == nil {
		t.Error("nothing was remembered")
	}
	if f, err := k.Check(ctx); err != nil || len(f) > 0 {
		t.Errorf("check: %v %v", f, err)
	}
}

// What was promised in the journal is written when the session is next opened,
// wherever the first attempt died, and never twice.
func TestRememberSurvivesAKillAnywhere(t *testing.T) {
	for n := 0; ; n++ {
		dir := t.TempDir()
		done := rememberDying(t, dir, n)
		k := openKernel(t, dir)
		c := newConversation(1)
		c.user()
		mustPlan(t, k, request(c))
		log, _ := filepath.Glob(filepath.Join(dir, "memory", "*.md"))
		count := 0
		for _, f := range log {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			count += strings.Count(string(b), "The tide turns at six.")
		}
		journal, _ := os.ReadFile(filepath.Join(dir, ".memkernel", "sessions", "s", "journal.jsonl"))
		promised := strings.Contains(string(journal), "The tide turns at six.")
		if promised != (count == 1) || count > 1 || done && !promised {
			t.Fatalf("died at operation %d: promised %v, written %d times, acknowledged %v", n, promised, count, done)
		}
		if f, err := k.Check(context.Background()); err != nil || len(f) > 0 {
			t.Errorf("check: %v %v", f, err)
		}
		k.Close()
		if done {
			return
		}
	}
}

// rememberDying remembers with every write from the nth on failing, as after a
// kill, and tells whether it was acknowledged all the same.
func rememberDying(t *testing.T, dir string, n int) bool {
	t.Helper()
	dead := errors.New("killed")
	left := n
	restore := atomicfile.SetHook(func(op, path string) error {
		if left--; left < 0 {
			return dead
		}
		return nil
	})
	defer restore()
	k := openKernel(t, dir)
	defer k.Close()
	_, err := k.Remember(context.Background(), api.RememberRequest{SessionKey: "s", Text: "The tide turns at six."})
	return err == nil
}

// What is remembered says where it comes from; evidence that names nothing is
// refused, and the refusal stands in the journal.
func TestRememberEvidence(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	ctx := context.Background()
	c := newConversation(1)
	c.user()
	c.say()
	turn := observe(t, k, api.Turn{Messages: c.msgs})
	if _, err := k.Remember(ctx, api.RememberRequest{SessionKey: "s", Text: "The ferry leaves at six.", Evidence: turn.AdvancementKey}); err != nil {
		t.Error(err)
	}
	var no *journal.RejectionError
	if _, err := k.Remember(ctx, api.RememberRequest{SessionKey: "s", Text: "The ferry leaves at nine.", Evidence: "nowhere"}); !errors.As(err, &no) || no.Code != journal.CodeProvenance {
		t.Errorf("dangling evidence: %v", err)
	}
	file := read(t, dir, filepath.Join(".memkernel", "sessions", "s", "journal.jsonl"))
	if !strings.Contains(file, journal.CodeProvenance) || !strings.Contains(file, turn.AdvancementKey) {
		t.Errorf("%s", file)
	}
	// A writeback is no turn, neither live nor read back.
	k.Close()
	k = openKernel(t, dir)
	defer k.Close()
	if st, err := k.Status(ctx, nil); err != nil || len(st.Sessions) != 1 || st.Sessions[0].Turns != 1 {
		t.Errorf("%+v, %v", st, err)
	}
	logs, _ := filepath.Glob(filepath.Join(dir, "memory", "*.md"))
	text := ""
	for _, f := range logs {
		text += read(t, dir, filepath.Join("memory", filepath.Base(f)))
	}
	if strings.Count(text, "at six") != 1 || strings.Contains(text, "at nine") {
		t.Errorf("%s", text)
	}
}

// Journals from before validated appends are made good and stay idempotent.
func TestRememberOldJournal(t *testing.T) {
	dir := t.TempDir()
	j, err := journal.OpenJournalIn(store.Files(filepath.Join(dir, ".memkernel", "sessions", "s")), "journal.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(true, store.Record{Op: "remember", ID: "me-old", Body: []byte(`{"path":"memory/notes.md","text":"Old."}`)}); err != nil {
		t.Fatal(err)
	}
	k := openKernel(t, dir)
	defer k.Close()
	again, err := k.Remember(context.Background(), api.RememberRequest{SessionKey: "s", ID: "me-old", Path: "memory/notes.md", Text: "Old."})
	if err != nil || !again.Duplicate || strings.Count(read(t, dir, "memory/notes.md"), "Old.") != 1 {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := k.Remember(context.Background(), api.RememberRequest{SessionKey: "s", ID: "me-old", Path: "memory/notes.md", Text: "New."}); err == nil {
		t.Error("one id, two texts")
	}
}
