package kernel_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

func curated(t *testing.T, k *kernel.Kernel, apply bool) *api.Curated {
	t.Helper()
	c, err := k.Maintenance().Curate(context.Background(), api.CurateRequest{Apply: apply, Now: nightAt})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func pruned(t *testing.T, k *kernel.Kernel, apply bool) *api.Pruned {
	t.Helper()
	p, err := k.Maintenance().Prune(context.Background(), api.PruneRequest{PruneOptions: named, Apply: apply, Now: nightAt})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A preview writes nothing at all, and says what is then done.
func TestUpkeepPreview(t *testing.T) {
	dir := t.TempDir()
	overgrown(t, dir)
	k := nightKernel(t, dir)
	defer k.Close()
	before := photograph(t, dir)
	c, p := curated(t, k, false), pruned(t, k, false)
	if !maps.Equal(before, photograph(t, dir)) {
		t.Error("a preview wrote something")
	}
	if d := curated(t, k, true); d.Text() != c.Text() || c.Text() == "" {
		t.Errorf("the preview said\n%s\nand what was written is\n%s", c.Text(), d.Text())
	}
	if p.BufferBytes != 0 || p.BufferLeft == 0 {
		t.Errorf("before a curation %d bytes of the buffer would go", p.BufferBytes)
	}
	if q := pruned(t, k, true); len(q.Moves) < len(p.Moves) || q.BufferBytes == 0 {
		t.Errorf("%d moves were announced and %d done, %d bytes of the buffer went", len(p.Moves), len(q.Moves), q.BufferBytes)
	}
}

// Of the buffer goes what a committed curation has read; what came since stays. What
// was pruned does not come back, though a log says it again.
func TestBufferGoesAsRead(t *testing.T) {
	dir := t.TempDir()
	overgrown(t, dir)
	k := nightKernel(t, dir)
	defer k.Close()
	curated(t, k, true)
	buffer := filepath.Join(dir, "memory", "working-buffer.md")
	f, err := os.OpenFile(buffer, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("- [decision] A word that came after the curation.\n")
	f.Close()
	p := pruned(t, k, true)
	if got := readFile(t, dir, "memory/working-buffer.md"); got != "- [decision] A word that came after the curation.\n" || p.BufferLeft != len(got) {
		t.Errorf("the buffer is %q, %d bytes were left", got, p.BufferLeft)
	}
	putAt(t, filepath.Join(dir, "memory", "2026-03-09.md"), readFile(t, dir, "memory/2026-03-09.md")+"- [decision] The parcels go out on Mondays.\n- [human] Renew the certificate of the sweeper\n", nightAt)
	for _, e := range curated(t, k, true).Entries {
		if strings.Contains(e.Text, "certificate") || strings.Contains(e.Text, "Mondays") {
			t.Errorf("what was retired came back: %q", e.Text)
		}
	}
}

// An undo brings every file back, byte for byte; what somebody wrote into one since stays.
func TestUndoPrune(t *testing.T) {
	dir := t.TempDir()
	overgrown(t, dir)
	k := nightKernel(t, dir)
	defer k.Close()
	if _, err := k.Editor().Undo(context.Background(), api.UndoRequest{Voice: api.VoicePerson, Now: nightAt}); err == nil || !strings.Contains(err.Error(), "nothing was changed that could be taken back") {
		t.Errorf("an undo of nothing: %v", err)
	}
	curated(t, k, true)
	before := texts(t, dir)
	pruned(t, k, true)
	if maps.Equal(before, texts(t, dir)) {
		t.Fatal("nothing was pruned")
	}
	after := texts(t, dir)
	u, err := k.Editor().Undo(context.Background(), api.UndoRequest{Voice: api.VoicePerson, Now: nightAt.Add(time.Hour)})
	if err != nil || len(u.Files) < 4 {
		t.Fatalf("%+v, %v", u, err)
	}
	if got := texts(t, dir); !maps.Equal(before, got) {
		t.Errorf("after the undo the files are\n%v\nwant\n%v", got, before)
	}
	pruned(t, k, true)
	if got := texts(t, dir); got["MEMORY.md"] != after["MEMORY.md"] {
		t.Errorf("pruned again, MEMORY.md is\n%s\nwant\n%s", got["MEMORY.md"], after["MEMORY.md"])
	}
	putAt(t, filepath.Join(dir, "MEMORY.md"), readFile(t, dir, "MEMORY.md")+"\n- Somebody wrote this.\n", nightAt)
	before["MEMORY.md"] += "\n- Somebody wrote this.\n"
	if _, err := k.Editor().Undo(context.Background(), api.UndoRequest{Voice: api.VoicePerson, Now: nightAt.Add(time.Hour)}); err != nil {
		t.Errorf("an undo over a change: %v", err)
	}
	if got := texts(t, dir); !maps.Equal(before, got) {
		t.Errorf("after the undo the files are\n%v\nwant\n%v", got, before)
	}
}

// A night's runs go back one after the other, in any order, until the files are as before.
func TestUndoNight(t *testing.T) {
	dir := t.TempDir()
	overgrown(t, dir)
	k := nightKernel(t, dir)
	defer k.Close()
	before := texts(t, dir)
	night := func() *api.Nightly {
		n, err := k.Maintenance().Nightly(context.Background(), api.NightlyRequest{Now: nightAt, Audit: onlyLosses, Prune: named})
		if err != nil || n.Failed() || n.Curated.Run == "" || n.Pruned.Run == "" {
			t.Fatalf("%+v, %v", n, err)
		}
		return n
	}
	undo := func(edit string) (*api.EditUndone, error) {
		return k.Editor().Undo(context.Background(), api.UndoRequest{Edit: edit, Voice: api.VoicePerson, Private: true, Now: nightAt.Add(time.Hour)})
	}
	n := night()
	after := texts(t, dir)
	for _, run := range []string{n.Curated.Run, n.Pruned.Run} {
		if u, err := undo(run); err != nil || len(u.Left) > 0 {
			t.Fatalf("the older run first: %+v, %v", u, err)
		}
	}
	if got := texts(t, dir); !maps.Equal(before, got) {
		t.Errorf("after both undos the files are\n%v\nwant\n%v", got, before)
	}
	// Both undos are taken back, the night's lines are there again, and go as before.
	for _, run := range []string{"run-5", "run-4"} {
		if u, err := undo(run); err != nil || u.Kind != "undo" {
			t.Fatalf("%+v, %v", u, err)
		}
	}
	if got := texts(t, dir); !maps.Equal(after, got) {
		t.Errorf("after the undos of the undos the files are\n%v\nwant\n%v", got, after)
	}
	for _, want := range []api.EditUndone{{Edit: n.Pruned.Run, Kind: "prune"}, {Edit: n.Curated.Run, Kind: "curate"}} {
		if u, err := undo(""); err != nil || u.Edit != want.Edit || u.Kind != want.Kind {
			t.Fatalf("%+v, %v; want %+v", u, err, want)
		}
	}
	if got := texts(t, dir); !maps.Equal(before, got) {
		t.Errorf("after the undo the files are\n%v\nwant\n%v", got, before)
	}
	if p := pruned(t, k, false); p.BufferBytes != 0 {
		t.Errorf("%d bytes of the buffer would go, which no curation holds now", p.BufferBytes)
	}
	if loss, err := k.Maintenance().Guard(context.Background(), api.GuardRequest{}); err != nil || len(loss.Lost) > 0 {
		t.Errorf("an undo counts as a loss: %+v, %v", loss, err)
	}
	// A person who took it back has said what it is worth: it does not come again.
	again := curated(t, k, true)
	for _, e := range again.Entries {
		if slices.ContainsFunc(n.Curated.Entries, func(x consolidation.Promoted) bool { return x.Text == e.Text }) {
			t.Errorf("the next night brings %q again", e.Text)
		}
	}
}

// What a person writes between the promise and the deed of a curation is not lost when it is taken
// back.
func TestUndoKeepsForeignChanges(t *testing.T) {
	dir := t.TempDir()
	overgrown(t, dir)
	k := nightKernel(t, dir)
	defer k.Close()
	memory := filepath.Join(dir, "MEMORY.md")
	restore := atomicfile.SetHook(func(op, path string) error {
		if b, _ := os.ReadFile(memory); strings.Contains(filepath.ToSlash(path), "/backups/") && !strings.Contains(string(b), "meanwhile") {
			return os.WriteFile(memory, append(b, "- An editor wrote this meanwhile.\n"...), 0o644)
		}
		return nil
	})
	defer restore()
	c := curated(t, k, true)
	restore()
	text := readFile(t, dir, "MEMORY.md")
	if !strings.Contains(text, "An editor wrote this meanwhile.") || !strings.Contains(text, c.Entries[0].Text) {
		t.Fatalf("MEMORY.md is\n%s", text)
	}
	if _, err := k.Editor().Undo(context.Background(), api.UndoRequest{Voice: api.VoicePerson, Private: true, Now: nightAt}); err != nil {
		t.Errorf("the undo: %v", err)
	}
	if got := readFile(t, dir, "MEMORY.md"); !strings.Contains(got, "An editor wrote this meanwhile.") || strings.Contains(got, c.Entries[0].Text) {
		t.Errorf("MEMORY.md is\n%s", got)
	}
}

// texts are the Markdown files that have something in them.
func texts(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, f := range tree(t, dir) {
		if rel, _ := filepath.Rel(dir, f); strings.HasSuffix(rel, ".md") {
			if text := readFile(t, dir, rel); text != "" {
				out[rel] = text
			}
		}
	}
	return out
}

// A change that loses more than a quarter of MEMORY.md is refused, whoever of ours
// makes it; a foreign one is told, and not any more once the lines stand elsewhere.
func TestGuard(t *testing.T) {
	dir := t.TempDir()
	overgrown(t, dir)
	k := nightKernel(t, dir)
	defer k.Close()
	if n, err := k.Maintenance().Nightly(context.Background(), api.NightlyRequest{Now: nightAt, Audit: onlyLosses, Prune: named}); err != nil || n.Failed() {
		t.Fatalf("%+v, %v", n, err)
	}
	guard := func() (int, bool) {
		loss, err := k.Maintenance().Guard(context.Background(), api.GuardRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return len(loss.Lost), loss.Refused
	}
	if n, refused := guard(); n != 0 || refused {
		t.Errorf("after a night %d lines are lost", n)
	}
	whole := readFile(t, dir, "MEMORY.md")
	lines := strings.SplitAfter(whole, "\n")
	putAt(t, filepath.Join(dir, "MEMORY.md"), strings.Join(lines[:len(lines)/2], ""), nightAt)
	n, refused := guard()
	if !refused || n < 10 {
		t.Errorf("half a file is gone and %d lines are told", n)
	}
	if r, err := k.Maintenance().Audit(context.Background(), onlyLosses); err != nil || len(r.Findings) != 1 {
		t.Errorf("the audit says %+v, %v", r, err)
	}
	putAt(t, filepath.Join(dir, "memory", "harbour-keys.md"), whole, nightAt)
	if n, refused := guard(); n != 0 || refused {
		t.Errorf("all lines stand elsewhere, and %d are lost", n)
	}
}

// The store refuses it before it is written.
func TestGuardOfReplace(t *testing.T) {
	dir := t.TempDir()
	overgrown(t, dir)
	k := nightKernel(t, dir)
	defer k.Close()
	store := kernel.PrivateStore(k)
	l, err := store.ReadFile("MEMORY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Replace(context.Background(), "MEMORY.md", l.Hash, "# Memory\n")
	var loss *api.LossError
	if !errors.As(err, &loss) || len(loss.Lost) < 60 || readFile(t, dir, "MEMORY.md") != l.Text {
		t.Errorf("%v", err)
	}
	if _, err := store.Replace(context.Background(), "memory/2026-02-02.md", "", "x"); !errors.Is(err, markdownstore.ErrDenied) {
		t.Errorf("the log of a day that is over: %v", err)
	}
}

// A file that changes between the promise and the deed is not overwritten: nothing of
// it is lost, and the next night goes on.
func TestUpkeepKeepsForeignChanges(t *testing.T) {
	dir := t.TempDir()
	overgrown(t, dir)
	k := nightKernel(t, dir)
	defer k.Close()
	restore := beforeRename("MEMORY.md", func() {
		b, _ := os.ReadFile(filepath.Join(dir, "MEMORY.md"))
		os.WriteFile(filepath.Join(dir, "MEMORY.md"), append(b, "- An editor wrote this meanwhile.\n"...), 0o644)
	})
	defer restore()
	pruned(t, k, true)
	restore()
	if !strings.Contains(readFile(t, dir, "MEMORY.md"), "An editor wrote this meanwhile.") {
		t.Errorf("what an editor wrote is lost:\n%s", readFile(t, dir, "MEMORY.md"))
	}
	next := nightAt.AddDate(0, 0, 2)
	k2 := kernelAt(t, dir, next)
	defer k2.Close()
	if _, err := k2.Maintenance().Prune(context.Background(), api.PruneRequest{PruneOptions: named, Apply: true, Now: next}); err != nil {
		t.Fatal(err)
	}
	if text := readFile(t, dir, "MEMORY.md"); strings.Count(text, "\n") > 2*consolidation.MachineLines || !strings.Contains(text+readFile(t, dir, "memory/harbour.md"), "An editor wrote this meanwhile.") {
		t.Errorf("the next night left\n%s", text)
	}
}

// A step that fails keeps those behind it from running, and is in the record of jobs;
// a second run beside another is refused; one that is to wait for quiet does.
func TestNightlySteps(t *testing.T) {
	dir := t.TempDir()
	overgrown(t, dir)
	k := nightKernel(t, dir)
	defer k.Close()
	if err := os.Remove(filepath.Join(dir, "MEMORY.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "MEMORY.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	n, err := k.Maintenance().Nightly(context.Background(), api.NightlyRequest{Now: nightAt, Audit: onlyLosses, Prune: named})
	if err != nil || !n.Failed() || n.Steps[len(n.Steps)-1].Outcome != "skipped" {
		t.Fatalf("%+v, %v", n, err)
	}
	if jobs := readFile(t, dir, ".memkernel/"+api.JobsFile); !strings.Contains(jobs, `"job":"curate","error":"`) || strings.Contains(jobs, `"job":"curate","error":""`) {
		t.Errorf("the record says %s", jobs)
	}
	pass(t, openKernel(t, dir).Flush, api.Boundary{Messages: session(71, 3, 2, 900).msgs})
	n, err = k.Maintenance().Nightly(context.Background(), api.NightlyRequest{Now: time.Now(), Idle: time.Hour})
	if err != nil || n.Skipped == "" || len(n.Steps) > 0 {
		t.Errorf("with a session at work: %+v, %v", n, err)
	}
}

// beforeRename runs something once, before a file of that name is put in place.
func beforeRename(name string, f func()) (restore func()) {
	done := false
	return atomicfile.SetHook(func(op, path string) error {
		if !done && filepath.Base(path) == name {
			done = true
			f()
		}
		return nil
	})
}
