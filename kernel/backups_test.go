package kernel_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel/api"
)

// stateHas tells which files of the state folder hold a text.
func stateHas(t *testing.T, dir, text string) (out []string) {
	t.Helper()
	for _, f := range tree(t, filepath.Join(dir, ".memkernel")) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), text) {
			out = append(out, f)
		}
	}
	return out
}

// typed are secrets as people type them into memory's files.
var typed = map[string]string{
	"a token":         "- The deploy token is ghp_" + "0123456789abcdefghijABCDEFGHIJ012345.",
	"a connection":    "- База: postgres://svc:Zk8qP2vN7xR4tW9b@db.internal/prod",
	"a key of clouds": "- クラウドの鍵は AKIA" + "Q3EGVZ7KTR2XLMNP です",
}

// TestSecretsOfFilesStayThere: pruning and curating copy no secret into the state folder,
// lose not a byte of the file that holds it, say that it was left alone, and go on with
// the rest; what was pruned comes back byte for byte.
func TestSecretsOfFilesStayThere(t *testing.T) {
	for n, name := range slices.Sorted(maps.Keys(typed)) {
		line := typed[name]
		for i, file := range []string{"MEMORY.md", "memory/observations.md", "memory/working-buffer.md"} {
			if i != n && !suite.Long() {
				continue
			}
			t.Run(name+" in "+filepath.Base(file), func(t *testing.T) {
				dir := t.TempDir()
				overgrown(t, dir)
				putAt(t, filepath.Join(dir, file), readFile(t, dir, file)+"\n"+line+"\n", nightAt.AddDate(0, 0, -10))
				k := nightKernel(t, dir)
				defer k.Close()
				curated(t, k, true)
				before := texts(t, dir)
				p := pruned(t, k, true)
				if after := texts(t, dir); after[file] != before[file] {
					t.Errorf("%s changed:\n%s", file, after[file])
				} else if maps.Equal(before, after) {
					t.Error("nothing was pruned")
				}
				if !strings.Contains(strings.Join(p.Kept, "\n"), file+": it holds what is taken for a secret") {
					t.Errorf("it says: %q", p.Kept)
				}
				if _, err := k.Editor().Undo(context.Background(), api.UndoRequest{Voice: api.VoicePerson, Now: nightAt.Add(time.Hour)}); err != nil {
					t.Error(err)
				}
				after := texts(t, dir)
				for path, text := range before {
					if path != "memory/2026-03-10.md" && after[path] != text {
						t.Errorf("after the undo %s is\n%s\nwant\n%s", path, after[path], text)
					}
				}
				if _, err := k.Maintenance().Nightly(context.Background(), api.NightlyRequest{Now: nightAt.Add(2 * time.Hour)}); err != nil {
					t.Error(err)
				}
				for _, word := range strings.Fields(line) {
					if found := stateHas(t, filepath.Join(dir), word); len(word) > 20 && len(found) > 0 {
						t.Errorf("%q is in %v", word, found)
					}
				}
				clean(t, k)
			})
		}
	}
}

func backups(t *testing.T, dir string) int {
	t.Helper()
	return len(tree(t, filepath.Join(dir, ".memkernel", "backups")))
}

// TestBackupsEnd: backups of runs that are old go; those that an undo of the newest pruning
// needs stay until it is taken back.
func TestBackupsEnd(t *testing.T) {
	dir := t.TempDir()
	overgrown(t, dir)
	k := nightKernel(t, dir)
	defer k.Close()
	if r := retain(t, k, api.RetainRequest{Backups: day, Now: nightAt, Apply: true}); r.Backups != 0 {
		t.Errorf("%+v", r)
	}
	curated(t, k, true)
	before := texts(t, dir)
	pruned(t, k, true)
	all := backups(t, dir)
	if r := retain(t, k, api.RetainRequest{Backups: 30 * day, Now: nightAt.Add(29 * day), Apply: true}); r.Backups != 0 || backups(t, dir) != all {
		t.Errorf("they are young: %+v", r)
	}
	late := api.RetainRequest{Backups: 30 * day, Now: nightAt.Add(40 * day)}
	preview := retain(t, k, late)
	if preview.Backups == 0 || preview.Backups == all || preview.BackupBytes == 0 || backups(t, dir) != all {
		t.Fatalf("%d of %d would go", preview.Backups, all)
	}
	late.Apply = true
	if r := retain(t, k, late); r.Backups != preview.Backups || backups(t, dir) != all-r.Backups {
		t.Errorf("%+v, previewed %+v", r, preview)
	}
	if r := retain(t, k, late); r.Backups != 0 {
		t.Errorf("%+v", r)
	}
	if _, err := k.Editor().Undo(context.Background(), api.UndoRequest{Voice: api.VoicePerson, Now: nightAt.Add(41 * day)}); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, dir); !maps.Equal(before, got) {
		t.Errorf("after the undo the files are\n%v\nwant\n%v", got, before)
	}
	late.Now = nightAt.Add(100 * day)
	if r := retain(t, k, late); r.Backups == 0 || backups(t, dir) != 0 {
		t.Errorf("%d are left: %+v", backups(t, dir), r)
	}
	pruned(t, k, true)
	clean(t, k)
}

// TestForgetLeavesWhatWasRecalled: to forget a session whose prompt showed memory's files takes no
// backup of those files away.
func TestForgetLeavesWhatWasRecalled(t *testing.T) {
	dir := t.TempDir()
	overgrown(t, dir)
	k := nightKernel(t, dir)
	defer k.Close()
	c := newConversation(3)
	c.add("user", words("Where do the night shifts leave the keys?"))
	r := request(c)
	r.Private = true
	p := mustPlan(t, k, r)
	c.say()
	observe(t, k, api.Turn{Messages: c.msgs, Model: model, PlanID: p.ID, Private: true, Now: c.now})
	if !strings.Contains(stream(p), "MEMORY.md") {
		t.Fatal("the prompt shows no file of memory")
	}
	pruned(t, k, true)
	all := backups(t, dir)
	if all == 0 {
		t.Fatal("there is no backup")
	}
	if out := forget(t, k, true); len(out.Backups) > 0 || backups(t, dir) != all {
		t.Errorf("%v went of %d backups", out.Backups, all)
	}
	if _, err := k.Editor().Undo(context.Background(), api.UndoRequest{Voice: api.VoicePerson, Now: nightAt.Add(time.Hour)}); err != nil {
		t.Errorf("undo: %v", err)
	}
	clean(t, k)
}

// TestForgetReachesBackups: what is forgotten is in no backup either; the file stays, and
// an undo that would need the backup says why it can't be done.
func TestForgetReachesBackups(t *testing.T) {
	dir := t.TempDir()
	overgrown(t, dir)
	const said = "The spare key of the lighthouse hangs behind the third barrel in the cellar of Ingrid."
	putAt(t, filepath.Join(dir, "MEMORY.md"), readFile(t, dir, "MEMORY.md")+"- "+said+"\n", nightAt.AddDate(0, 0, -10))
	k := nightKernel(t, dir)
	defer k.Close()
	c := newConversation(3)
	c.add("user", words(said))
	c.say()
	observe(t, k, api.Turn{Messages: c.msgs, Model: model, Now: c.now})
	pruned(t, k, true)
	inBackups := func() (n int) {
		for _, f := range stateHas(t, dir, "third barrel") {
			if strings.Contains(f, "backups") {
				n++
			}
		}
		return n
	}
	if inBackups() == 0 {
		t.Fatal("it is in no backup")
	}
	all, before := backups(t, dir), texts(t, dir)
	if out := forget(t, k, false); len(out.Backups) != inBackups() || backups(t, dir) != all {
		t.Errorf("the preview names %v", out.Backups)
	}
	out := forget(t, k, true)
	if inBackups() != 0 || len(out.Backups) == 0 || backups(t, dir) != all-len(out.Backups) {
		t.Errorf("%d backups have it, %v went of %d", inBackups(), out.Backups, all)
	}
	if !maps.Equal(before, texts(t, dir)) {
		t.Error("a file of the workspace changed")
	}
	if _, err := k.Editor().Undo(context.Background(), api.UndoRequest{Voice: api.VoicePerson, Now: nightAt.Add(time.Hour)}); err == nil || !strings.Contains(err.Error(), "no longer kept") {
		t.Errorf("undo: %v", err)
	}
	clean(t, k)
}
