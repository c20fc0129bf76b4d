package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/service/internal/rows"
	"github.com/memkernel/memkernel/service/postgres"
)

// statements runs statements on the server, behind everybody's back.
func statements(t testing.TB, o rows.Options, of ...string) {
	t.Helper()
	c, err := pgx.Connect(context.Background(), o.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	for _, q := range append([]string{"SET search_path=" + o.Schema}, of...) {
		if _, err := c.Exec(context.Background(), q); err != nil {
			t.Fatal(err)
		}
	}
}

// atOnce calls a function for several numbers together.
func atOnce(n int, f func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() { <-start; f(i) })
	}
	close(start)
	wg.Wait()
}

// Two machines that are called at once for one session, for every plan and every turn: one
// wins, the other goes on from what it wrote. Both answer the same bytes, which are those of
// one machine that is called twice; no cut is made twice, no turn is there twice, and the
// workspace's files have nothing twice.
func TestTwoMachinesAtOnceForOneSession(t *testing.T) {
	o := fresh(t)
	shared, alone := t.TempDir(), t.TempDir()
	// What is recalled depends on how far each machine's index is, and is not looked at here.
	quiet := kernel.MemoryOptions{RecallTokens: -1}
	machines := []*kernel.Kernel{machineWith(t, o, shared, quiet), machineWith(t, o, shared, quiet)}
	files, err := kernel.Open(context.Background(), alone, &kernel.Options{Memory: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	a, b := newTalk(), newTalk()
	turns := suite.Pick(8, 30)
	for i := range turns {
		a.ask()
		b.ask()
		var last, want *api.ContextPlan
		for range 3 {
			var plans [2]*api.ContextPlan
			atOnce(2, func(m int) { plans[m] = a.plan(t, machines[m]) })
			want = b.plan(t, files)
			if again := b.plan(t, files); sent(t, again) != sent(t, want) {
				t.Fatal("one machine that is called twice answers differently")
			}
			for m, p := range plans {
				if sent(t, p) != sent(t, want) {
					t.Fatalf("turn %d: machine %d answers other bytes than one alone:\n%s", i, m, apart(sent(t, p), sent(t, want)))
				}
			}
			if plans[0].Generation != plans[1].Generation {
				t.Fatalf("turn %d: generations %d and %d: somebody cut twice", i, plans[0].Generation, plans[1].Generation)
			}
			last = plans[i%2]
			a.work(14_000)
			b.work(14_000)
		}
		say := func(c *talk) api.Turn {
			c.add(memkernel.RoleAssistant, words("It retries now, and the test passes. We decided to keep the queue in memory."))
			return api.Turn{SessionKey: "s", Model: model, Messages: c.msgs, AdvancementKey: fmt.Sprint("turn ", i), Private: true, Now: c.now}
		}
		turn, twin := say(a), say(b)
		turn.PlanID, twin.PlanID = last.ID, want.ID
		atOnce(2, func(m int) {
			if _, err := machines[m].ObserveTurn(context.Background(), turn); err != nil {
				t.Errorf("turn %d on machine %d: %v", i, m, err)
			}
		})
		for range 2 {
			if _, err := files.ObserveTurn(context.Background(), twin); err != nil {
				t.Fatal(err)
			}
		}
		note := func(k *kernel.Kernel) error {
			_, err := k.ObserveFlush(context.Background(), api.FlushReply{SessionKey: "s", Text: fmt.Sprintf("- [decision] Worker %d keeps its queue in memory.", i), Now: a.now})
			return err
		}
		atOnce(2, func(m int) {
			if err := note(machines[m]); err != nil {
				t.Errorf("note %d on machine %d: %v", i, m, err)
			}
		})
		if err := errors.Join(note(files), note(files)); err != nil {
			t.Fatal(err)
		}
	}
	st, err := files.Status(context.Background(), &api.StatusOptions{Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	cuts := st.Sessions[0].Lines[0].Cuts
	if cuts == 0 {
		t.Error("nothing was cut: the talk is too short to try anything")
	}
	for m, k := range machines {
		got, err := k.Status(context.Background(), &api.StatusOptions{Session: "s"})
		if err != nil || got.Sessions[0].Turns != turns || got.Sessions[0].Lines[0].Cuts != cuts {
			t.Errorf("machine %d has %d turns, %d cuts; want %d, %d; %v", m, got.Sessions[0].Turns, got.Sessions[0].Lines[0].Cuts, turns, cuts, err)
		}
		if found, err := k.Check(context.Background()); err != nil || len(found) > 0 {
			t.Errorf("machine %d: %+v, %v", m, found, err)
		}
	}
	got, want := markdown(t, shared), markdown(t, alone)
	if len(want) == 0 {
		t.Error("the workspace has no files to compare")
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s is\n%s\nand on one machine\n%s", name, got[name], want[name])
		}
	}
}

// machineWith is machine with settings of memory.
func machineWith(t testing.TB, o rows.Options, workspace string, m kernel.MemoryOptions) *kernel.Kernel {
	t.Helper()
	s, err := postgres.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Open(context.Background(), workspace, &kernel.Options{Store: s, StateDir: t.TempDir(), Memory: m})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close(); s.Close() })
	return k
}

// apart is where two texts part.
func apart(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("%.600s\n---\n%.600s", a[max(0, i-200):], b[max(0, i-200):])
}

// markdown are the files of a workspace.
func markdown(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"*.md", "memory/*.md"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			data, err := os.ReadFile(n)
			if err != nil {
				t.Fatal(err)
			}
			rel, _ := filepath.Rel(dir, n)
			out[rel] = string(data)
		}
	}
	return out
}

// remembering is a workspace with a day's log that is worth something.
func remembering(t *testing.T) (dir string, night time.Time) {
	t.Helper()
	dir, night = t.TempDir(), time.Date(2026, 11, 3, 23, 30, 0, 0, time.UTC)
	if err := os.MkdirAll(filepath.Join(dir, "memory"), 0o700); err != nil {
		t.Fatal(err)
	}
	log := "# 2026-11-03\n\n- [decision] We deploy on Tuesdays, never on Fridays.\n- [lesson] The queue needs a timeout of 30 seconds.\n"
	for name, text := range map[string]string{"memory/2026-11-03.md": log, "MEMORY.md": "# Memory\n\n- The gate closes at six.\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, night
}

// jobs are how often each was recorded.
func jobs(t *testing.T, o rows.Options) map[string]int {
	t.Helper()
	s, err := rows.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	data, err := s.Get(api.JobsFile)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, name := range []string{"audit", "curate", "prune"} {
		out[name] = strings.Count(string(data), `"job":"`+name+`"`)
	}
	return out
}

// The night's upkeep of machines that are all told to do it, at once and one after the
// other, is done once.
func TestOneNight(t *testing.T) {
	o := fresh(t)
	dir, night := remembering(t)
	const n = 3
	var machines []*kernel.Kernel
	for range n {
		machines = append(machines, machine(t, o, dir))
	}
	run := func(i int, now time.Time) (*api.Nightly, error) {
		return machines[i].Maintenance().Nightly(context.Background(), api.NightlyRequest{Once: 20 * time.Hour, Now: now})
	}
	for day := range 2 {
		now := night.AddDate(0, 0, day)
		did := make([]bool, n)
		for round := range 2 {
			atOnce(n, func(i int) {
				// Clocks are apart by up to an hour.
				out, err := run(i, now.Add(time.Duration(i+3*round)*12*time.Minute))
				switch {
				case errors.Is(err, api.ErrNightlyRuns):
				case err != nil || out.Failed():
					t.Errorf("machine %d: %+v, %v", i, out, err)
				case out.Skipped == "":
					if did[i] {
						t.Errorf("machine %d did it twice", i)
					}
					did[i] = true
				case !strings.Contains(out.Skipped, "once in 20h"):
					t.Errorf("machine %d: %s", i, out.Skipped)
				}
			})
		}
		if count := len(slices.DeleteFunc(did, func(d bool) bool { return !d })); count != 1 {
			t.Errorf("night %d was done by %d machines", day, count)
		}
		if got := jobs(t, o); got["audit"] != day+1 || got["curate"] != day+1 || got["prune"] != day+1 {
			t.Errorf("after night %d the record has %v", day, got)
		}
	}
	text := markdown(t, dir)["MEMORY.md"]
	for _, line := range []string{"We deploy on Tuesdays", "The queue needs a timeout"} {
		if strings.Count(text, line) != 1 {
			t.Errorf("MEMORY.md has %q %d times:\n%s", line, strings.Count(text, line), text)
		}
	}
}

// A machine that is paused in its night's upkeep, and whose lease somebody else got, writes
// nothing of it when it wakes up.
func TestPausedInUpkeep(t *testing.T) {
	o := fresh(t)
	dir, night := remembering(t)
	paused, other := machine(t, o, dir), machine(t, o, dir)
	out, err := paused.Maintenance().Nightly(context.Background(), api.NightlyRequest{Now: night, Before: func(context.Context) error {
		statements(t, o, `UPDATE holds SET holders='{}' WHERE name='nightly.lock'`)
		if out, err := other.Maintenance().Nightly(context.Background(), api.NightlyRequest{Now: night}); err != nil || out.Failed() {
			t.Errorf("the other: %+v, %v", out, err)
		}
		return nil
	}})
	if lost := (*store.LostError)(nil); !errors.As(err, &lost) {
		t.Errorf("the machine that was paused: %+v, %v", out, err)
	}
	if got := jobs(t, o); got["audit"] != 1 || got["curate"] != 1 || got["prune"] != 1 {
		t.Errorf("the record has %v", got)
	}
	if text := markdown(t, dir)["MEMORY.md"]; strings.Count(text, "We deploy on Tuesdays") != 1 {
		t.Errorf("MEMORY.md:\n%s", text)
	}
	// It is not out of order for good.
	if out, err := paused.Maintenance().Nightly(context.Background(), api.NightlyRequest{Now: night.Add(time.Hour)}); err != nil || out.Failed() {
		t.Errorf("afterwards: %+v, %v", out, err)
	}
}

// Retention on all machines at once: one does it, and the others are told; who is paused in
// it removes nothing after another had its lease.
func TestOneRetention(t *testing.T) {
	o := fresh(t)
	dir := t.TempDir()
	machines := []*kernel.Kernel{machine(t, o, dir), machine(t, o, dir), machine(t, o, dir)}
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const sessions = 6
	for s := range sessions {
		_, err := machines[s%3].ObserveTurn(context.Background(), api.Turn{SessionKey: fmt.Sprint("s", s), Model: model, Now: begun,
			Messages: []memkernel.Message{{Key: "q", Role: memkernel.RoleUser, Parts: []memkernel.Part{words("a question")}, Model: model, Time: begun},
				{Key: "a", Role: memkernel.RoleAssistant, Parts: []memkernel.Part{words(strings.Repeat("a long answer ", 9000))}, Model: model, Time: begun}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range machines { // none of them has a session in hand
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
	}
	machines = []*kernel.Kernel{machine(t, o, dir), machine(t, o, dir), machine(t, o, dir)}
	req := api.RetainRequest{Sessions: 24 * time.Hour, Now: time.Now().AddDate(1, 0, 0), Apply: true}
	var mu sync.Mutex
	ended, told := map[string]int{}, 0
	for range 2 {
		atOnce(len(machines), func(i int) {
			out, err := machines[i].Retain(context.Background(), req)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, api.ErrRetainRuns):
				told++
			case err != nil || len(out.Unreadable) > 0:
				t.Errorf("machine %d: %+v, %v", i, out, err)
			default:
				for _, e := range out.Ended {
					ended[e.Session]++
				}
			}
		})
	}
	if len(ended) != sessions {
		t.Errorf("%d sessions ended: %v", len(ended), ended)
	}
	for s, n := range ended {
		if n != 1 {
			t.Errorf("session %s ended %d times", s, n)
		}
	}
	st, err := machines[0].Status(context.Background(), nil)
	if err != nil || len(st.Sessions) != 0 {
		t.Errorf("%+v, %v", st, err)
	}
	t.Logf("%d were told that another does it", told)

	// Its lease is somebody else's from now on: what it would remove stays.
	if _, err := machines[1].ObserveTurn(context.Background(), api.Turn{SessionKey: "late", Model: model, Now: begun,
		Messages: []memkernel.Message{{Key: "q", Role: memkernel.RoleUser, Parts: []memkernel.Part{words("a question")}, Model: model, Time: begun}}}); err != nil {
		t.Fatal(err)
	}
	if err := machines[1].Close(); err != nil {
		t.Fatal(err)
	}
	s, err := rows.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	release, err := s.Lock("retain.lock", store.Alone)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if _, err := machines[0].Retain(context.Background(), req); !errors.Is(err, api.ErrRetainRuns) {
		t.Errorf("while another has the lease: %v", err)
	}
	statements(t, o, `UPDATE holds SET holders='{}' WHERE name='retain.lock'`)
	release2, err := machine2(t, o).Lock("retain.lock", store.Alone)
	if err != nil {
		t.Fatal(err)
	}
	defer release2()
	lost := (*store.LostError)(nil)
	if _, err := s.Remove(store.Synced, "sessions/late"); !errors.As(err, &lost) {
		t.Errorf("who was paused removes: %v", err)
	}
}

// machine2 is another machine's store.
func machine2(t *testing.T, o rows.Options) *rows.Store {
	t.Helper()
	s, err := rows.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// counting is a provider that counts what it is sent.
type counting struct {
	mu    sync.Mutex
	texts map[string]int
}

func (*counting) Model() string { return "counting" }

func vectorOf(text string) []float32 {
	v := make([]float32, 8)
	for i, r := range text {
		v[(i+int(r))%len(v)]++
	}
	return v
}

func (*counting) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	return vectorOf(text), nil
}

func (c *counting) EmbedDocuments(_ context.Context, texts []string) (embed.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out embed.Result
	for _, t := range texts {
		c.texts[t]++
		out.Vectors = append(out.Vectors, vectorOf(t))
	}
	c.mu.Unlock()
	time.Sleep(50 * time.Millisecond) // others could send the same meanwhile
	c.mu.Lock()
	return out, nil
}

// Machines that share an index and bring it up to date at once send each text to be
// embedded once.
func TestOneSync(t *testing.T) {
	o := fresh(t)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "memory"), 0o700); err != nil {
		t.Fatal(err)
	}
	const n, notes = 3, 40
	for i := range notes {
		if err := os.WriteFile(filepath.Join(dir, "memory", fmt.Sprintf("note%d.md", i)), fmt.Appendf(nil, "# Note %d\n\nThe crane number %d is greased on Tuesdays.\n", i, i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// That a file keeps it makes no difference to who makes its vectors.
	backend := api.SQLite(filepath.Join(t.TempDir(), "index.sqlite"))
	backend.Shared = true
	// The file is made by one: of several at once SQLite refuses some.
	if _, err := machineWith(t, o, dir, kernel.MemoryOptions{Backend: backend}).Reindex(context.Background(), &api.ReindexOptions{Wait: time.Minute}); err != nil {
		t.Fatal(err)
	}
	p := &counting{texts: map[string]int{}}
	var machines []*kernel.Kernel
	for range n {
		machines = append(machines, machineWith(t, o, dir, kernel.MemoryOptions{Backend: backend, Embedder: p}))
	}
	atOnce(n, func(i int) {
		r, err := machines[i].Reindex(context.Background(), &api.ReindexOptions{Wait: time.Minute})
		if err != nil || r.EmbedErr != nil {
			t.Errorf("machine %d: %v, %v", i, err, r.EmbedErr)
		}
	})
	if len(p.texts) < notes {
		t.Errorf("%d texts have vectors, of %d notes", len(p.texts), notes)
	}
	for text, times := range p.texts {
		if times != 1 {
			t.Errorf("%q was sent %d times", text, times)
		}
	}
}
