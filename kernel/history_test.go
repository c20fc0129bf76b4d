package kernel_test

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

func historyOf(t *testing.T, k *kernel.Kernel, path string, line int) *api.History {
	t.Helper()
	h, err := k.Maintenance().History(context.Background(), api.HistoryRequest{Path: path, Line: line, Diff: true})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// lineWith is the number of the first line of a file that has a text.
func lineWith(t *testing.T, dir, path, text string) int {
	t.Helper()
	n := slices.IndexFunc(strings.Split(readFile(t, dir, path), "\n"), func(l string) bool { return strings.Contains(l, text) })
	if n < 0 {
		t.Fatalf("%q is not in %s", text, path)
	}
	return n + 1
}

// events are what happened, newest first, each with the run that did it.
func events(h *api.History) string {
	var out []string
	for _, v := range h.Versions {
		out = append(out, strings.TrimSpace(string(v.Event)+" "+v.Run))
	}
	return strings.Join(out, ", ")
}

// What a night did is in the history of what it did it to, with where it came from and went,
// and so is that it was taken back. Asking changes nothing.
func TestHistoryOfANight(t *testing.T) {
	dir := t.TempDir()
	overgrown(t, dir)
	k := nightKernel(t, dir)
	defer k.Close()
	c := curated(t, k, true)
	p := pruned(t, k, true)
	before := photograph(t, dir)
	h := historyOf(t, k, "MEMORY.md", lineWith(t, dir, "MEMORY.md", "nets in the long shed"))
	if got, want := events(h), "promoted "+c.Run+", first_known"; got != want || h.Versions[0].Origin != consolidation.OriginUpkeep || h.Versions[1].Path != "memory/2026-03-09.md" || !strings.Contains(h.Versions[1].Text, "We decided") {
		t.Errorf("it is %s, want %s: %+v", got, want, h.Versions)
	}
	moved := p.Moves[slices.IndexFunc(p.Moves, func(m consolidation.Move) bool { return m.Why == "room" })]
	line := lineWith(t, dir, moved.To, strings.TrimPrefix(moved.Text, "- "))
	h = historyOf(t, k, moved.To, line)
	if got, want := events(h), "moved "+p.Run+", first_known"; got != want || len(h.Versions[0].From) != 1 || !strings.HasPrefix(h.Versions[0].From[0], "MEMORY.md:") || h.Versions[1].Origin != consolidation.OriginUnknown {
		t.Errorf("it is %s, want %s: %+v", got, want, h.Versions)
	}
	if got, want := events(historyOf(t, k, "MEMORY.md", 0)), "changed "+p.Run+", changed "+c.Run+", first_known"; got != want {
		t.Errorf("the file's is %s, want %s", got, want)
	}
	if !maps.Equal(before, photograph(t, dir)) {
		t.Error("asking wrote something")
	}
	if _, err := k.Editor().Undo(context.Background(), api.UndoRequest{Voice: api.VoicePerson, Now: nightAt.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	h = historyOf(t, k, "MEMORY.md", lineWith(t, dir, "MEMORY.md", strings.TrimPrefix(moved.Text, "- ")))
	if len(h.Versions) != 3 || h.Versions[0].Undoes != p.Run || h.Versions[0].Event != api.EventRestored || h.Versions[1].Event != api.EventRemoved || len(h.Versions[1].To) != 1 {
		t.Errorf("after the undo it is %+v", h.Versions)
	}
}

// Secrets are masked in every version.
func TestHistoryHidesSecrets(t *testing.T) {
	const secret = "AKIAIOSFODNN7QRSTUVW"
	dir := t.TempDir()
	overgrown(t, dir)
	k := nightKernel(t, dir)
	defer k.Close()
	pruned(t, k, true)
	putAt(t, filepath.Join(dir, "MEMORY.md"), readFile(t, dir, "MEMORY.md")+"- The key of the bucket is "+secret+".\n", nightAt.Add(time.Hour))
	for _, line := range []int{0, lineWith(t, dir, "MEMORY.md", secret)} {
		h := historyOf(t, k, "MEMORY.md", line)
		for _, v := range h.Versions {
			if strings.Contains(v.Text+v.Diff+h.Text, secret) {
				t.Errorf("%+v", v)
			}
		}
		if len(h.Versions) == 0 || !strings.Contains(h.Versions[0].Diff, "+- The key of the bucket is [masked:") {
			t.Errorf("%+v", h.Versions)
		}
	}
}

// What retention or a request to forget removed is in no history, which says that something
// is not kept.
func TestHistoryEndsWithBackups(t *testing.T) {
	for name, remove := range map[string]func(t *testing.T, k *kernel.Kernel){
		"retention": func(t *testing.T, k *kernel.Kernel) {
			retain(t, k, api.RetainRequest{Backups: 30 * day, Now: nightAt.Add(100 * day), Apply: true})
			retain(t, k, api.RetainRequest{Backups: 30 * day, Now: nightAt.Add(200 * day), Apply: true})
		},
		"forget": func(t *testing.T, k *kernel.Kernel) { forget(t, k, true) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			overgrown(t, dir)
			const said = "The spare key of the lighthouse hangs behind the third barrel in the cellar of Ingrid."
			file := filepath.Join(dir, "MEMORY.md")
			was := readFile(t, dir, "MEMORY.md")
			putAt(t, file, was+"- "+said+"\n", nightAt.AddDate(0, 0, -10))
			k := nightKernel(t, dir)
			defer k.Close()
			c := newConversation(3)
			c.add("user", words(said))
			c.say()
			observe(t, k, api.Turn{Messages: c.msgs, Model: model, Now: c.now})
			pruned(t, k, true)
			has := func() bool {
				for _, v := range historyOf(t, k, "MEMORY.md", 0).Versions {
					if strings.Contains(v.Diff, "third barrel") {
						return true
					}
				}
				return false
			}
			putAt(t, file, "# Memory\n\n- All else was taken out by hand.\n", nightAt.Add(time.Hour))
			if !has() {
				t.Fatal("it is in no version")
			}
			if name == "retention" { // the newest pruning can always be taken back
				if _, err := k.Maintenance().Prune(context.Background(), api.PruneRequest{PruneOptions: api.PruneOptions{MemoryLines: 1, Include: []string{"MEMORY.md"}}, Apply: true, Now: nightAt.Add(5 * day)}); err != nil {
					t.Fatal(err)
				}
			}
			remove(t, k)
			h := historyOf(t, k, "MEMORY.md", 0)
			if has() || h.Unkept == 0 {
				t.Errorf("%d states are not kept: %+v", h.Unkept, h.Versions)
			}
		})
	}
}

// What can't be answered says what is wrong.
func TestHistoryErrors(t *testing.T) {
	k, dir := workspaceKernel(t, map[string]string{"memory/trade.md": "# Trade\n\n- One thing of many.\n\n\n\n- Another one.\n"})
	putAt(t, filepath.Join(dir, "memory", "picture.md"), "\x00\x01\x02PNG\x00", nightAt)
	ask := func(path string, line int) error {
		_, err := k.Maintenance().History(context.Background(), api.HistoryRequest{Path: path, Line: line})
		return err
	}
	var none *api.NoLineError
	if err := ask("memory/trade.md", 6); !errors.As(err, &none) || none.Near != 7 {
		t.Errorf("%v", err)
	}
	if err := ask("memory/trade.md", 70); !errors.As(err, &none) || none.Near != 7 || !strings.Contains(err.Error(), "has 7 lines, and no line 70") {
		t.Errorf("%v", err)
	}
	if err := ask("memory/nothing.md", 1); !errors.Is(err, api.ErrNoHistory) {
		t.Errorf("%v", err)
	}
	if err := ask("memory/picture.md", 1); !errors.Is(err, api.ErrNoText) {
		t.Errorf("%v", err)
	}
	for _, path := range []string{"../memory/trade.md", "/etc/passwd", ".memkernel/config.yaml", "memory"} {
		if err := ask(path, 0); err == nil || !strings.Contains(err.Error(), "denied") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := ask("./memory//trade.md", 3); err != nil {
		t.Error(err)
	}
}
