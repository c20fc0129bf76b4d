package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/service/internal/moving"
	"github.com/memkernel/memkernel/service/internal/rows"
	"github.com/memkernel/memkernel/service/postgres"
)

// rowsMachine opens a kernel as a machine has it that shares no folder with any other.
func rowsMachine(t testing.TB, o rows.Options) (*kernel.Kernel, *markdownstore.Store) {
	t.Helper()
	s, err := postgres.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Open(context.Background(), t.TempDir(), &kernel.Options{Store: s, StateDir: t.TempDir(), Memory: kernel.MemoryOptions{Files: s.Workspace()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close(); s.Close() })
	return k, markdownstore.New(s.Workspace(), &markdownstore.Options{Private: true})
}

func private(c *talk) api.PlanRequest {
	return api.PlanRequest{SessionKey: "s", Model: model, ContextWindow: 64_000, Messages: c.msgs, Now: c.now.Add(time.Second), Private: true, Resolver: "memory_get"}
}

// A session that moves in the middle of a turn plans the bytes that it would plan on one
// machine with a folder, although MEMORY.md, SESSION-STATE.md and today's log were last written
// on the other machine.
func TestWorkspaceInRows(t *testing.T) {
	o := fresh(t)
	k1, f1 := rowsMachine(t, o)
	k2, f2 := rowsMachine(t, o)
	dir := t.TempDir()
	single, err := kernel.Open(context.Background(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer single.Close()
	folder, err := markdownstore.Open(dir, &markdownstore.Options{Private: true})
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	machines, files := []*kernel.Kernel{k1, k2}, []*markdownstore.Store{f1, f2}
	a, b := newTalk(), newTalk()
	ctx := context.Background()
	plan := func(k *kernel.Kernel, c *talk) *api.ContextPlan {
		t.Helper()
		p, err := k.PlanContext(ctx, private(c))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	today := a.now.In(time.Local).Format("memory/2006-01-02.md")
	written := map[string]bool{}
	write := func(st *markdownstore.Store, i int) {
		t.Helper()
		for _, name := range []string{"MEMORY.md", "SESSION-STATE.md", today} {
			l, err := st.ReadFile(name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			text := fmt.Sprintf("- note %d of %s: the retry test of worker %d waits for the queue\n", i, name, i)
			if name == "SESSION-STATE.md" {
				text = fmt.Sprintf("# Session state\n\n- step %d is being done\n", i)
			} else {
				text = l.Text + text
			}
			if _, err := st.Redact(ctx, name, l.Hash, text); err != nil {
				t.Fatal(err)
			}
			written[name] = true
		}
	}
	turns, at := suite.Pick(5, 20), 0
	for turn := range turns {
		a.ask()
		b.ask()
		for step := range 3 {
			at++
			// The one machine writes, the other plans.
			write(files[at%2], at)
			write(folder, at)
			// A folder is looked at every few seconds; in rows a version says that it must be.
			if _, err := single.Reindex(ctx, nil); err != nil {
				t.Fatal(err)
			}
			p, q := plan(machines[(at+1)%2], a), plan(single, b)
			if sent(t, p) != sent(t, q) {
				t.Fatalf("turn %d, step %d: the plan of the other machine differs from that of one with a folder:\n%s\n--\n%s", turn, step, sent(t, p), sent(t, q))
			}
			if step == 0 && !strings.Contains(sent(t, p), fmt.Sprintf("note %d of MEMORY.md", at)) && turn == 0 {
				t.Errorf("the plan has nothing of what the other machine wrote:\n%s", sent(t, p))
			}
			// The call is made again, by the machine that has written.
			if p, q = plan(machines[at%2], a), plan(single, b); sent(t, p) != sent(t, q) {
				t.Fatalf("turn %d, step %d: the second plan differs:\n%s\n--\n%s", turn, step, sent(t, p), sent(t, q))
			}
			a.work(9_000)
			b.work(9_000)
		}
		end := func(k *kernel.Kernel, c *talk) {
			p := plan(k, c)
			c.add(memkernel.RoleAssistant, words("It retries now, and the test passes."))
			if _, err := k.ObserveTurn(ctx, api.Turn{SessionKey: "s", Model: model, Messages: c.msgs, PlanID: p.ID, Now: c.now, Private: true}); err != nil {
				t.Fatal(err)
			}
		}
		end(machines[turn%2], a)
		end(single, b)
	}
	for _, f := range files {
		if _, err := f.Version(ctx, 0); err != nil {
			t.Fatal(err)
		}
	}
	for name := range written {
		l, err := f1.ReadFile(name)
		m, err2 := f2.ReadFile(name)
		if err != nil || err2 != nil || l.Hash != m.Hash {
			t.Errorf("%s: %v, %v", name, err, err2)
		}
	}
}

// What one machine wrote a search on another finds at once, and a plan recalls.
func TestRowsAreSearchedElsewhere(t *testing.T) {
	o := fresh(t)
	k1, f1 := rowsMachine(t, o)
	k2, _ := rowsMachine(t, o)
	ctx := context.Background()
	for i, word := range []string{"kingfisher", "bittern", "goldcrest"} {
		if _, err := f1.Append(ctx, "memory/birds.md", fmt.Sprint("e", i), "The bird of day "+fmt.Sprint(i)+" was a "+word+"."); err != nil {
			t.Fatal(err)
		}
		for m, k := range []*kernel.Kernel{k2, k1} {
			r, err := k.Search(ctx, api.SearchRequest{Query: "who saw the " + word, Private: true})
			if err != nil || len(r.Hits) == 0 || !strings.Contains(r.Hits[0].Text, word) {
				t.Errorf("%s on machine %d: %+v, %v", word, m, r, err)
			}
		}
		c, err := k2.Read(ctx, api.ReadRequest{Path: "memory/birds.md", Private: true})
		if err != nil || !strings.Contains(c.Text, word) {
			t.Errorf("%s: %+v, %v", word, c, err)
		}
	}
}

// Of two machines that remember in the same file at once neither loses a line.
func TestTwoMachinesRemember(t *testing.T) {
	o := fresh(t)
	const each = 8
	var wg sync.WaitGroup
	var files *markdownstore.Store
	for m := range 2 {
		k, st := rowsMachine(t, o)
		files = st
		wg.Go(func() {
			for i := range each {
				_, err := k.Remember(context.Background(), api.RememberRequest{SessionKey: fmt.Sprint("s", m), Path: "MEMORY.md", Text: fmt.Sprintf("fact %d of machine %d", i, m), Private: true})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if _, err := files.Version(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	l, err := files.ReadFile("MEMORY.md")
	if err != nil {
		t.Fatal(err)
	}
	for m := range 2 {
		for i := range each {
			if fact := fmt.Sprintf("fact %d of machine %d", i, m); strings.Count(l.Text, fact) != 1 {
				t.Errorf("%q stands %d times", fact, strings.Count(l.Text, fact))
			}
		}
	}
}

// A folder goes to the database and back with every byte; what differs is named, and a
// copy that was cut short is opened by nobody, and goes on.
func TestCopyThereAndBack(t *testing.T) {
	o := fresh(t)
	dir, back := t.TempDir(), t.TempDir()
	texts := map[string]string{"MEMORY.md": "\ufeff# Memory\r\n\r\n- one\r\n", "AGENTS.md": "Speak plainly.\n", "memory/2026-03-01.md": "# 2026-03-01\n", "memory/.facts/2026-03-01.md": "# Facts\n",
		"memory/latin.md": "caf\xe9\n", "memory/deep/er/long.md": strings.Repeat("a long line of text\n", 100_000), "memory/A.md": "upper\n", "memory/empty.md": ""}
	for name, text := range texts {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	in := func(dir string) *markdownstore.Store {
		s, err := markdownstore.Open(dir, &markdownstore.Options{Private: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	rows := func() (*markdownstore.Store, *postgres.Store) {
		s, err := postgres.Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return markdownstore.New(s.Workspace(), &markdownstore.Options{Private: true}), s
	}
	to, _ := rows()
	// Cut short after some files.
	ctx, cancel := context.WithCancel(context.Background())
	_, _, err := moving.Markdown(ctx, in(dir), to, moving.Options{Wait: time.Minute, Progress: func(what string, done, _ int) {
		if what == "copying" && done == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	_, db := rows()
	if _, err := kernel.Open(context.Background(), t.TempDir(), &kernel.Options{Store: db, StateDir: t.TempDir(), Memory: kernel.MemoryOptions{Files: db.Workspace()}}); err == nil || !strings.Contains(err.Error(), "a move was cut short") {
		t.Errorf("half of a move was opened: %v", err)
	}
	to, _ = rows()
	move := func(from, to *markdownstore.Store) (*moving.Report, []moving.CopyLeft, error) {
		return moving.Markdown(context.Background(), from, to, moving.Options{Wait: time.Minute, Progress: func(string, int, int) {}})
	}
	r, left, err := move(in(dir), to)
	if err != nil || r.Documents != len(texts) || r.Copied == 0 || r.Copied == r.Documents || len(left) != 0 {
		t.Fatalf("%+v, %v, %v", r, left, err)
	}
	if r, _, err = move(to, in(back)); err != nil || r.Copied != len(texts) {
		t.Fatalf("%+v, %v", r, err)
	}
	for name, text := range texts {
		if b, err := os.ReadFile(filepath.Join(back, filepath.FromSlash(name))); err != nil || !bytes.Equal(b, []byte(text)) {
			t.Errorf("%s: %d bytes, want %d, %v", name, len(b), len(text), err)
		}
	}
	// Neither overwrites the other.
	if err := os.WriteFile(filepath.Join(back, "AGENTS.md"), []byte("Shout.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var conflict *moving.ConflictError
	for _, way := range [][2]*markdownstore.Store{{in(back), to}, {to, in(back)}} {
		if _, _, err := move(way[0], way[1]); !errors.As(err, &conflict) || len(conflict.Paths) != 1 || conflict.Paths[0] != "AGENTS.md" {
			t.Errorf("%v", err)
		}
	}
	other, _ := rows() // another machine
	if l, err := other.ReadFile("AGENTS.md"); err != nil || l.Text != "Speak plainly.\n" {
		t.Errorf("%+v, %v", l, err)
	}
	// A link in the folder leads nothing out of it.
	if err := errors.Join(os.RemoveAll(filepath.Join(back, "memory")), os.Symlink(t.TempDir(), filepath.Join(back, "memory"))); err != nil {
		t.Fatal(err)
	}
	if _, _, err := move(other, in(back)); !errors.As(err, &conflict) {
		t.Errorf("through a link: %v", err)
	}
}

// TestStatementsWithRows holds how often a warm turn asks the database where the workspace is
// there too.
func TestStatementsWithRows(t *testing.T) {
	for name, w := range map[string]struct{ machines, turn, plan int }{"stays": {1, 6, 3}, "moves": {2, 8, 4}} {
		t.Run(name, func(t *testing.T) {
			o := fresh(t)
			c := &counter{}
			o.Tracer = c
			k, files := rowsMachine(t, o)
			machines := []*kernel.Kernel{k}
			if w.machines > 1 {
				k2, _ := rowsMachine(t, o)
				machines = append(machines, k2)
			}
			if _, err := files.Append(context.Background(), "MEMORY.md", "e1", "The queue is retried."); err != nil {
				t.Fatal(err)
			}
			// A private session, which has its log and SESSION-STATE.md written with each turn.
			talk := newTalk()
			turn := func(k *kernel.Kernel) (planned, observed []string, trips int) {
				talk.ask()
				talk.work(4000)
				c.take()
				p, err := k.PlanContext(t.Context(), private(talk))
				if err != nil {
					t.Fatal(err)
				}
				planned, trips = c.take()
				talk.add(memkernel.RoleAssistant, words("It retries now, and the test passes."))
				if _, err := k.ObserveTurn(t.Context(), api.Turn{SessionKey: "s", Model: model, Messages: talk.msgs, PlanID: p.ID, Now: talk.now, Private: true}); err != nil {
					t.Fatal(err)
				}
				observed, _ = c.take()
				return planned, observed, trips
			}
			for i := range 18 { // 32 calls, and a session stays
				turn(machines[i%len(machines)])
			}
			planned, observed, trips := turn(k)
			t.Logf("plan: %d statements in %d round trips; observe: %d statements", len(planned), trips, len(observed))
			if len(planned)+len(observed) > w.turn || trips > w.plan {
				t.Errorf("a turn takes %d statements, and a plan %d round trips:\n%s\n--\n%s", len(planned)+len(observed), trips, strings.Join(planned, "\n"), strings.Join(observed, "\n"))
			}
		})
	}
}
