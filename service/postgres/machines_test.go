package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/service/internal/pgtest"
	"github.com/memkernel/memkernel/service/internal/rows"
	"github.com/memkernel/memkernel/service/postgres"
)

func init() { suite.Quick(20) }

// server is what the tests of this package share that need none of their own.
var server pgtest.Shared

func TestMain(m *testing.M) {
	code := m.Run()
	server.Close()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

// built is the folder of a program that tests have built.
var built string

// ask asks a server for one row.
func ask(ctx context.Context, dsn, q string, into ...any) error {
	c, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	return c.QueryRow(ctx, q).Scan(into...)
}

// own is a server of the test's own, which it may end.
func own(t testing.TB, settings ...string) *pgtest.Server {
	t.Helper()
	s, err := pgtest.New(settings...)
	if err != nil {
		t.Skipf("no PostgreSQL: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

var schemas atomic.Int64

// fresh names a database with a schema of the test's own.
func fresh(t testing.TB) rows.Options {
	t.Helper()
	o := rows.Options{DSN: server.DSN(t), Root: "shop", Schema: fmt.Sprintf("mkm_%d_%d", os.Getpid(), schemas.Add(1))}
	t.Cleanup(func() {
		if c, err := pgx.Connect(context.Background(), o.DSN); err == nil {
			_, _ = c.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+o.Schema+" CASCADE")
			c.Close(context.Background())
		}
	})
	return o
}

// counter counts statements, and how often somebody waited for an answer.
type counter struct {
	mu    sync.Mutex
	said  []string
	trips int
}

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trips++
	c.said = append(c.said, fmt.Sprint(strings.Join(strings.Fields(d.SQL), " "), d.Args))
	return ctx
}

func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// take gives what was said since.
func (c *counter) take() (said []string, trips int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	said, trips = c.said, c.trips
	c.said, c.trips = nil, 0
	return said, trips
}

// machine opens a kernel as another machine has it: its own state folder, and the
// workspace and the database that all share.
func machine(t testing.TB, o rows.Options, workspace string) *kernel.Kernel {
	t.Helper()
	s, err := postgres.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Open(context.Background(), workspace, &kernel.Options{Store: s, StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close(); s.Close() })
	return k
}

const model = "claude-opus-4-5"

// talk is a conversation of turns with tool results.
type talk struct {
	rng  *rand.Rand
	now  time.Time
	msgs []memkernel.Message
}

func newTalk() *talk {
	return &talk{rng: rand.New(rand.NewPCG(2, 3)), now: time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)}
}

func (c *talk) add(role memkernel.Role, parts ...memkernel.Part) {
	c.now = c.now.Add(20 * time.Second)
	c.msgs = append(c.msgs, memkernel.Message{Key: fmt.Sprintf("m%04d", len(c.msgs)), Role: role, Parts: parts, Time: c.now, Model: model})
}

func words(s string) memkernel.Part {
	return memkernel.Part{Kind: memkernel.PartText, Text: s, Typed: true}
}

func (c *talk) ask() {
	c.add(memkernel.RoleUser, words(fmt.Sprintf("Make TestRetry%x pass, please.", c.rng.Int32())))
}

func (c *talk) work(bytes int) {
	id := fmt.Sprint("call_", len(c.msgs))
	c.add(memkernel.RoleAssistant, memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: id, Name: "Read", Input: fmt.Sprintf(`{"file_path":"pkg/queue/worker_%d.go"}`, c.rng.IntN(9))}})
	var b strings.Builder
	for b.Len() < bytes {
		fmt.Fprintf(&b, "func (w *Worker) step%d(ctx context.Context) error { // %x\n", b.Len(), c.rng.Int64())
	}
	c.add(memkernel.RoleUser, memkernel.Part{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: id, Content: []memkernel.Part{words(b.String())}, Text: true}})
}

func (c *talk) plan(t testing.TB, k *kernel.Kernel) *api.ContextPlan {
	t.Helper()
	p, err := k.PlanContext(context.Background(), api.PlanRequest{SessionKey: "s", Model: model, ContextWindow: 64_000, Messages: c.msgs, Now: c.now.Add(time.Second), Resolver: "memory_get"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range p.Faults {
		t.Errorf("the plan has the fault %s: %s", f.Code, f.Detail)
	}
	return p
}

func (c *talk) observe(t testing.TB, k *kernel.Kernel, p *api.ContextPlan) {
	t.Helper()
	c.add(memkernel.RoleAssistant, words("It retries now, and the test passes."))
	if _, err := k.ObserveTurn(context.Background(), api.Turn{SessionKey: "s", Model: model, Messages: c.msgs, PlanID: p.ID, Now: c.now}); err != nil {
		t.Fatal(err)
	}
}

func sent(t testing.TB, p *api.ContextPlan) string {
	t.Helper()
	b, err := json.Marshal(struct {
		System   []memkernel.Part
		Messages []memkernel.Message
	}{p.System, p.Messages})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A session whose calls go to one machine and another plans the same bytes as one that
// stays on one, with files; every turn is there once, and what prompts name can be had.
func TestAnyMachineServesTheSession(t *testing.T) {
	o := fresh(t)
	shared, alone := t.TempDir(), t.TempDir()
	machines := []*kernel.Kernel{machine(t, o, shared), machine(t, o, shared), machine(t, o, shared)}
	files, err := kernel.Open(context.Background(), alone, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	a, b := newTalk(), newTalk()
	turns, at := suite.Pick(8, 40), 0
	next := func() *kernel.Kernel { at++; return machines[(at*at+at/3)%len(machines)] }
	pointers := 0
	for range turns {
		a.ask()
		b.ask()
		for range 3 {
			p, q := a.plan(t, next()), b.plan(t, files)
			if sent(t, p) != sent(t, q) || !reflect.DeepEqual(p.Markers, q.Markers) {
				t.Fatalf("plan %d, or its cache markers, differ from those of one machine with files", at)
			}
			for _, r := range p.Reduced {
				pointers++
				if c, err := next().Get(context.Background(), "s", r.Handle); err != nil || c.Reason != api.GetOK {
					t.Fatalf("get %s: %+v, %v", r.Handle, c, err)
				}
			}
			a.work(14_000)
			b.work(14_000)
		}
		a.observe(t, next(), a.plan(t, next()))
		b.observe(t, files, b.plan(t, files))
	}
	if pointers == 0 {
		t.Error("nothing left a prompt: the talk is too short to try anything")
	}
	for i, k := range machines {
		st, err := k.Status(context.Background(), &api.StatusOptions{Session: "s"})
		if err != nil || len(st.Sessions) != 1 || st.Sessions[0].Turns != turns {
			t.Errorf("machine %d: %+v, %v", i, st, err)
		}
		if found, err := k.Check(context.Background()); err != nil || len(found) > 0 {
			t.Errorf("machine %d: %+v, %v", i, found, err)
		}
	}
}

// Turns of many sessions by all machines at once, several for the same session: each that
// was acknowledged is there once.
func TestMachinesAtOnce(t *testing.T) {
	o := fresh(t)
	shared := t.TempDir()
	machines := []*kernel.Kernel{machine(t, o, shared), machine(t, o, shared)}
	const sessions = 3
	turns := suite.Pick(4, 20)
	var acked [sessions]atomic.Int64
	var wg sync.WaitGroup
	for m, k := range machines {
		for s := range sessions {
			wg.Go(func() {
				for i := range turns {
					msg := func(role memkernel.Role, what string) memkernel.Message {
						return memkernel.Message{Key: fmt.Sprint(what, m, "-", i), Role: role, Parts: []memkernel.Part{words(fmt.Sprintf("%s %d of machine %d", what, i, m))}, Model: model}
					}
					_, err := k.ObserveTurn(context.Background(), api.Turn{SessionKey: fmt.Sprint("s", s), Model: model, AdvancementKey: fmt.Sprintf("turn-%d-%d", m, i),
						Messages: []memkernel.Message{msg(memkernel.RoleUser, "question"), msg(memkernel.RoleAssistant, "answer")}})
					if err != nil {
						t.Errorf("turn: %v", err)
						continue
					}
					acked[s].Add(1)
				}
			})
		}
	}
	wg.Wait()
	for s := range sessions {
		st, err := machines[0].Status(context.Background(), &api.StatusOptions{Session: fmt.Sprint("s", s)})
		if err != nil || len(st.Sessions) != 1 || int64(st.Sessions[0].Turns) != acked[s].Load() {
			t.Errorf("session %d: %d turns were acknowledged: %+v, %v", s, acked[s].Load(), st.Sessions, err)
		}
	}
	if found, err := machines[1].Check(context.Background()); err != nil || len(found) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestStatements holds how often a warm turn asks the database, and how much a plan writes that
// can be made again: a turn of a session that stays on its machine, and of one that other
// machines served meanwhile.
func TestStatements(t *testing.T) {
	for name, w := range map[string]struct {
		machines, turn, plan int
		shared               bool // there are pages that all sessions share
	}{"stays": {1, 3, 2, false}, "stays, with what is shared": {1, 3, 2, true}, "moves": {2, 4, 3, false}, "moves among four, with what is shared": {4, 4, 3, true}} {
		t.Run(name, func(t *testing.T) {
			o := fresh(t)
			c := &counter{}
			o.Tracer = c
			var ks []*kernel.Kernel
			dir := t.TempDir()
			for range w.machines {
				ks = append(ks, machine(t, o, dir))
			}
			talk := newTalk()
			for i := range 18 { // 32 calls, and a session stays
				k := ks[i%w.machines]
				talk.ask()
				talk.work(4000)
				talk.observe(t, k, talk.plan(t, k))
			}
			talk.ask()
			talk.work(4000)
			if w.shared {
				rule := journal.Update{Key: "tone", Type: pagevm.Preference, Field: "text", Op: journal.OpSetWithVersion, Scope: memkernel.ScopeProject,
					Value: []byte(`"Answer in one line."`), EvidenceRef: "session:another"}
				if r, err := ks[0].Write(t.Context(), api.WriteRequest{SessionKey: "another", Project: true, Updates: []journal.Update{rule}}); err != nil || len(r.Accepted) != 1 {
					t.Fatal(r, err)
				}
				for i := range 6 {
					k := ks[i%w.machines]
					talk.observe(t, k, talk.plan(t, k))
					talk.ask()
				}
			}
			derived := func() (n int64) {
				if err := ask(t.Context(), o.DSN, "SELECT sum(octet_length(body::text)) FROM "+o.Schema+".log WHERE log=1", &n); err != nil {
					t.Fatal(err)
				}
				return n
			}
			had := derived()
			c.take()
			p := talk.plan(t, ks[0])
			planned, trips := c.take()
			wrote := derived() - had
			talk.observe(t, ks[0], p)
			observed, _ := c.take()
			t.Logf("plan: %d statements in %d round trips, %d bytes of the projection; observe: %d statements", len(planned), trips, wrote, len(observed))
			if wrote == 0 || wrote > 5_000 || w.machines == 1 && p.Stats.LogBytes > 20_000 {
				t.Errorf("a plan writes %d bytes of the projection, and %d with the trace, that can be made again", wrote, p.Stats.LogBytes)
			}
			if len(planned)+len(observed) > w.turn || trips > w.plan {
				t.Errorf("a turn takes %d statements, and a plan %d round trips:\n%s\n--\n%s", len(planned)+len(observed), trips, strings.Join(planned, "\n"), strings.Join(observed, "\n"))
			}
		})
	}
}

// A turn is observed where it was planned, without a look first. What another machine has written
// between the two stands, and the turn with it, once.
func TestWrittenBetweenPlanAndTurn(t *testing.T) {
	o := fresh(t)
	var ks []*kernel.Kernel
	dir := t.TempDir()
	for range 2 {
		ks = append(ks, machine(t, o, dir))
	}
	talk := newTalk()
	const turns = 6
	for i := range turns {
		here, there := ks[i%2], ks[1-i%2]
		talk.ask()
		talk.work(400)
		p := talk.plan(t, here)
		u := journal.Update{Key: fmt.Sprint("tone-", i), Type: pagevm.Constraint, Field: "text", Op: journal.OpSetWithVersion, Scope: memkernel.ScopeSession,
			Value: []byte(`"Answer in one line."`), EvidenceRef: "session:s"}
		if r, err := there.Write(t.Context(), api.WriteRequest{SessionKey: "s", Updates: []journal.Update{u}}); err != nil || len(r.Accepted) != 1 {
			t.Fatal(r, err)
		}
		talk.observe(t, here, p)
	}
	for i, k := range ks {
		st, err := k.Status(t.Context(), &api.StatusOptions{Session: "s"})
		if err != nil || len(st.Sessions) != 1 || st.Sessions[0].Turns != turns {
			t.Errorf("machine %d: %+v, %v", i, st.Sessions, err)
		}
		if found, err := k.Check(t.Context()); err != nil || len(found) > 0 {
			t.Errorf("machine %d: %+v, %v", i, found, err)
		}
	}
	var kept int
	if err := ask(t.Context(), o.DSN, "SELECT count(DISTINCT substring(body::text from 'tone-[0-9]')) FROM "+o.Schema+".log WHERE kind='staged'", &kept); err != nil || kept != turns {
		t.Errorf("%d of %d writes are kept, %v", kept, turns, err)
	}
}

// A turn of .1 to 10 kB takes little more of the database than it says, everything included.
func TestBytesOfATurn(t *testing.T) {
	o := fresh(t)
	k := machine(t, o, t.TempDir())
	has := func() (n int64) {
		t.Helper()
		statements(t, o, "VACUUM FULL folders", "VACUUM FULL log", "VACUUM FULL documents", "VACUUM FULL blobs")
		q := "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind='r' AND relnamespace='" + o.Schema + "'::regnamespace"
		if err := ask(t.Context(), o.DSN, q, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	talk := newTalk()
	sizes := []int{100, 300, 1000, 3000, 10_000}
	turn := func(i int) {
		talk.ask()
		talk.work(sizes[i%len(sizes)])
		talk.observe(t, k, talk.plan(t, k))
	}
	turn(0)
	const turns = 100
	begun := has()
	for i := range turns {
		turn(i)
	}
	mean := (has() - begun) / turns
	t.Logf("%d bytes a turn", mean)
	if mean > 10_000 {
		t.Errorf("%d bytes a turn", mean)
	}
}
