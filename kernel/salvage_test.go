package kernel_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// damageTalk is a conversation with rules, decisions and a large result.
func damageTalk() *conversation {
	c := ruledWork(0.2)
	c.user()
	c.loop(2, 9000)
	c.say()
	c.user()
	return c
}

// damageStory is a state folder with two sessions that have a file of every kind, and with the
// tombstone of one that ended.
func damageStory(t *testing.T, dir string) {
	t.Helper()
	before := openKernel(t, dir)
	large(t, before, "old", 1)
	before.Close()
	k := openKernel(t, dir)
	defer k.Close()
	for _, key := range []string{"s", "other"} {
		c := damageTalk()
		req := request(c)
		req.SessionKey, req.Private = key, true
		p := planned(t, k, req)
		c.say()
		if _, err := k.ObserveTurn(context.Background(), api.Turn{SessionKey: key, Model: model, Messages: c.msgs, PlanID: p.ID, Usage: &memkernel.Usage{InputTokens: p.Budgets.PlannedInputTokens}, Private: true}); err != nil {
			t.Fatal(err)
		}
		if _, err := k.Compact(context.Background(), api.Boundary{SessionKey: key, Messages: c.msgs, Private: true}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := k.Write(context.Background(), api.WriteRequest{SessionKey: "other", Updates: []journal.Update{{Key: "no-prod", Type: pagevm.Constraint, Field: "text",
		Op: journal.OpSetWithVersion, Value: []byte(`"Never touch production."`), Scope: memkernel.ScopeProject, EvidenceRef: "session:other"}}}); err != nil {
		t.Fatal(err)
	}
	if out := ended(t, k, true); len(out.Ended) != 1 {
		t.Fatalf("%d sessions ended", len(out.Ended))
	}
	clean(t, k)
}

// stateFiles are the files of a state folder by kind: the first parts of their names.
func stateFiles(t *testing.T, state string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(state, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(state, p)
		rel = filepath.ToSlash(rel)
		if err == nil && !d.IsDir() && !strings.HasSuffix(rel, "lock") && d.Name() != ".gitignore" && !strings.HasPrefix(rel, "sessions/other/") {
			if fi, _ := d.Info(); fi.Size() > 0 {
				out = append(out, rel)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// vouched tells the files of which no damage may pass unnoticed.
func vouched(name string) bool {
	return strings.HasSuffix(name, "journal.jsonl") || strings.HasSuffix(name, ".head") || name == "ended.jsonl" || strings.HasPrefix(name, "blobs/") || strings.HasPrefix(name, "backups/") || strings.Contains(name, "/checkpoints/") || strings.Contains(name, "/state/")
}

// TestDamage damages every kind of file at random. Check and salvage notice it and name
// the file; nothing else panics, or answers with what was never stored; the other
// session is as it was; and once it is salvaged, check is silent and the session goes
// on.
func TestDamage(t *testing.T) {
	whole := t.TempDir()
	damageStory(t, whole)
	files := stateFiles(t, filepath.Join(whole, ".memkernel"))
	kinds := map[string]bool{}
	for _, f := range files {
		kinds[filepath.Ext(f)+" "+filepath.Base(filepath.Dir(f))] = true
	}
	if len(kinds) < 4 {
		t.Fatalf("kinds of files: %v", kinds)
	}
	rounds := suite.Pick(1, 40)
	r := rand.New(rand.NewPCG(3, 5))
	tried, noticed, silent := 0, 0, map[string]int{}
	seen := map[string]bool{}
	for i, f := range files {
		kind := filepath.Ext(f) + " " + filepath.Base(filepath.Dir(f))
		if strings.HasPrefix(f, "blobs/") {
			kind = "blob"
		}
		if seen[kind] && !suite.Long() {
			continue
		}
		seen[kind] = true
		for n := range rounds + 1 { // the last removes the file
			if n != i%2 && !suite.Long() {
				continue
			}
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, ".memkernel", filepath.FromSlash(f))
			good, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			bad, what := spoilt(good, n, r)
			if n == rounds {
				what = "removed"
				err = os.Remove(path)
			} else if os.Chmod(path, 0o600); bytes.Equal(bad, good) {
				continue
			} else {
				err = os.WriteFile(path, bad, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			tried++
			told := damageTold(t, dir, f)
			if told {
				noticed++
			} else {
				silent[f]++
				if vouched(f) && !(n == rounds && strings.HasPrefix(f, "backups/")) { // nothing but its name says that there was one
					t.Errorf("%s, %s: nobody noticed", f, what)
				}
			}
			mended(t, dir, f+", "+what)
		}
	}
	t.Logf("tried %d, noticed %d, silent %v, wrong 0", tried, noticed, silent)
}

// spoilt is content with a bit flipped, a range zeroed, its end gone, or all of it.
func spoilt(good []byte, n int, r *rand.Rand) ([]byte, string) {
	bad := bytes.Clone(good)
	at := r.IntN(len(bad))
	switch n % 4 {
	case 0:
		bad[at] ^= 1 << r.IntN(8)
		return bad, "a bit"
	case 1:
		return bad[:at], "cut"
	case 2:
		clear(bad[at:min(len(bad), at+1+r.IntN(4096))])
		return bad, "zeroed in part"
	default:
		clear(bad)
		return bad, "zeroed"
	}
}

// damageTold asks check, which must go on to the end, and looks that the session that
// was not touched reads as before.
func damageTold(t *testing.T, dir, name string) bool {
	t.Helper()
	k := openKernel(t, dir)
	defer k.Close()
	found, err := k.Check(context.Background())
	if err != nil {
		t.Fatalf("%s: check ends with %v", name, err)
	}
	for _, f := range found {
		if f.Session == "other" && !strings.HasPrefix(name, "blobs/") {
			t.Fatalf("%s: the other session is damaged: %+v", name, f)
		}
	}
	if strings.HasPrefix(name, "project/") {
		return len(found) > 0
	}
	if r, err := k.Restore(context.Background(), api.RestoreRequest{SessionKey: "other"}); err != nil || r.Text == "" {
		t.Fatalf("%s: the other session does not answer: %v", name, err)
	}
	if _, err := k.Status(context.Background(), nil); err != nil {
		t.Fatalf("%s: status ends with %v", name, err)
	}
	if _, err := k.Retain(context.Background(), api.RetainRequest{Blobs: 24 * time.Hour, Apply: true}); err != nil && !strings.HasPrefix(name, "project/") {
		t.Fatalf("%s: retain ends with %v", name, err)
	}
	return len(found) > 0
}

// mended salvages the session and goes on with it.
func mended(t *testing.T, dir, what string) {
	t.Helper()
	k := openKernel(t, dir)
	defer k.Close()
	for _, req := range []api.SalvageRequest{{SessionKey: "s", Apply: true}, {Project: true, Apply: true}} {
		if _, err := k.Salvage(context.Background(), req); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	found, err := k.Check(context.Background())
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for _, f := range found {
		if f.Session == "s" && !strings.Contains(f.What, "blob") && !strings.Contains(f.What, "what was captured") {
			t.Fatalf("%s: after salvage check says %+v", what, f)
		}
	}
	c := damageTalk()
	c.say()
	c.user()
	req := request(c)
	req.Private = true
	p, err := k.PlanContext(context.Background(), req)
	if err != nil {
		t.Fatalf("%s: after salvage: %v", what, err)
	}
	checkPlan(t, p, c.msgs)
}

// A permission that is missing is called that, and no damage; it stops nobody else.
func TestUnreadableSession(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	dir := t.TempDir()
	damageStory(t, dir)
	path := sessionFile(dir, "journal.jsonl")
	os.Chmod(path, 0)
	defer os.Chmod(path, 0o600)
	k := openKernel(t, dir)
	defer k.Close()
	found, err := k.Check(context.Background())
	if err != nil || len(found) != 1 || !strings.Contains(found[0].Hint, "right to read") {
		t.Errorf("%v, %+v", err, found)
	}
	if _, err := k.Status(context.Background(), nil); err != nil {
		t.Error(err)
	}
}

// Nothing of a state folder is followed through a link: not a file, not a folder, not
// the folder itself; the targets keep what they hold, and every call says why.
func TestLinksInState(t *testing.T) {
	whole := t.TempDir()
	damageStory(t, whole)
	state := filepath.Join(whole, ".memkernel")
	names := append(suite.Some(stateFiles(t, state), 3), "sessions", "sessions/s", "sessions/s/state", "sessions/s/checkpoints", "blobs", "")
	for _, name := range names {
		if strings.HasPrefix(name, "index.sqlite") {
			continue // the index looks itself
		}
		t.Run(name, func(t *testing.T) {
			dir, out := t.TempDir(), t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			at, target := filepath.Join(dir, ".memkernel", filepath.FromSlash(name)), filepath.Join(out, "target")
			if err := os.Rename(at, target); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, at); err != nil {
				t.Skip("no symbolic links here")
			}
			before := contents(t, out)
			k, err := kernel.Open(context.Background(), dir, nil)
			if name == "" {
				if err == nil {
					t.Error("the folder itself was followed")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer k.Close()
			c := damageTalk()
			c.say()
			c.user()
			req := request(c)
			req.Private = true
			p, planErr := k.PlanContext(context.Background(), req)
			turn := api.Turn{SessionKey: "s", Model: model, Messages: c.msgs, Private: true}
			if p != nil {
				turn.PlanID, turn.Usage = p.ID, &memkernel.Usage{InputTokens: p.Budgets.PlannedInputTokens}
			}
			k.ObserveTurn(context.Background(), turn)
			k.Checkpoint(context.Background(), api.Boundary{SessionKey: "s", Messages: c.msgs, Private: true})
			k.Flush(context.Background(), api.Boundary{SessionKey: "s", Messages: c.msgs, Private: true})
			k.Retain(context.Background(), api.RetainRequest{Blobs: 1, Apply: true})
			k.Forget(context.Background(), api.ForgetRequest{SessionKey: "s", Session: true, Apply: true})
			k.Salvage(context.Background(), api.SalvageRequest{SessionKey: "s", Apply: true})
			if after := contents(t, out); after != before {
				t.Errorf("what the link leads to was changed (the plan said %v)", planErr)
			}
		})
	}
}

// contents are all files below a folder, with their names.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		b.WriteString(p + "\n" + string(data) + "\n")
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return b.String()
}

// What a killed process left half written goes when a session is next written to; what
// a living one is writing stays.
func TestTempsGo(t *testing.T) {
	dir := t.TempDir()
	damageStory(t, dir)
	state := filepath.Join(dir, ".memkernel")
	var dead, alive []string
	for _, folder := range []string{".", "sessions/s", "sessions/s/state", "sessions/s/checkpoints"} {
		dead = append(dead, leaveTemp(t, filepath.Join(state, folder), 1<<22-1))
		alive = append(alive, leaveTemp(t, filepath.Join(state, folder), os.Getppid()))
	}
	k := openKernel(t, dir)
	defer k.Close()
	c := damageTalk()
	c.say()
	c.user()
	req := request(c)
	req.Private = true
	planned(t, k, req)
	for _, p := range dead {
		if _, err := os.Lstat(p); err == nil {
			t.Errorf("%s is left", p)
		}
	}
	for _, p := range alive {
		if _, err := os.Lstat(p); err != nil {
			t.Errorf("%s is gone", p)
		}
	}
}

// leaveTemp makes a half written file of a process, by the name of one that this
// process makes.
func leaveTemp(t *testing.T, dir string, pid int) string {
	t.Helper()
	var name string
	restore := atomicfile.SetHook(func(op, path string) error {
		if op == "create" {
			name = filepath.Base(path)
		}
		return nil
	})
	err := atomicfile.WriteFile(filepath.Join(dir, "x"), nil, 0o600)
	restore()
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(dir, "x"))
	parts := strings.SplitN(name, "-", 2)
	path := filepath.Join(dir, strings.TrimRight(parts[0], "0123456789")+strconv.Itoa(pid)+"-"+parts[1])
	if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
