//go:build unix

package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/memkernel/memkernel/client"
	"github.com/memkernel/memkernel/client/protocol"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/service/internal/fleet"
	"github.com/memkernel/memkernel/service/internal/pgtest"
	"github.com/memkernel/memkernel/service/postgres"
)

// postgresTool runs a program of PostgreSQL's, and gives what it printed.
func postgresTool(t *testing.T, name string, args ...string) string {
	t.Helper()
	path, err := pgtest.Program(name)
	if err != nil {
		t.Skip(err)
	}
	out, err := exec.Command(path, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

// journalOf is what a session's journal says: the turns that are committed, and its pages.
func journalOf(t *testing.T, in store.Store, key string) (committed, pages []string) {
	t.Helper()
	l, err := in.OpenLog("sessions/"+key+"/journal.jsonl", store.LogOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	err = l.Read(func(r store.Record) error {
		if turn, ok := strings.CutPrefix(r.ID, "turn:t"); ok && r.Op == "committed" {
			committed = append(committed, turn)
		}
		if r.Op != "ingest" {
			return nil
		}
		var body struct{ Pages []struct{ ID string } }
		if err := json.Unmarshal(r.Body, &body); err != nil {
			return err
		}
		for _, p := range body.Pages {
			pages = append(pages, p.ID)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return committed, pages
}

// TestBackup dumps the state while services write. What is brought back in a new database has all
// turns that were acknowledged before the dump and plans the same bytes, and every pointer leads
// somewhere.
func TestBackup(t *testing.T) {
	bin := command(t)
	server := own(t, "max_connections=100")
	in := func(dsn string) *fleet.Fleet {
		t.Helper()
		f, err := fleet.New(bin, t.TempDir(), dsn, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	machine := func(f *fleet.Fleet) *fleet.Machine {
		t.Helper()
		m := f.Machine()
		if err := m.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.End(syscall.SIGKILL) })
		return m
	}
	live := in(server.DSN())
	s := &soak{t: t, f: live, refusals: map[string]int{}, results: 6000, public: true}
	for range 2 {
		s.machines = append(s.machines, machine(live))
	}
	quiet := &still{t: t, results: 6000}
	for i := range 3 {
		quiet.turn(i)
		quiet.observe(s.machines[i%2])
	}
	quiet.turn(3)

	ctx, cancel := context.WithCancel(t.Context())
	var talking sync.WaitGroup
	defer talking.Wait()
	defer cancel()
	for i := range soakSessions {
		talking.Go(func() { s.talk(ctx, i) })
	}
	s.more(ctx, suite.Pick[int64](2, 3))
	want := quiet.peek(s.machines[0])
	var acked [soakSessions]int64
	for i := range acked {
		acked[i] = s.acked[i].Load()
	}
	file := filepath.Join(t.TempDir(), "state.dump")
	postgresTool(t, "pg_dump", "--format=custom", "--schema=memkernel", "--file="+file, live.DSN)
	s.more(ctx, 1) // what the dump has nothing of
	cancel()
	talking.Wait()

	execute(t, server.DSN(), "CREATE DATABASE restored")
	dsn := strings.Replace(server.DSN(), "dbname=postgres", "dbname=restored", 1)
	postgresTool(t, "pg_restore", "--no-owner", "--exit-on-error", "--single-transaction", "--dbname="+dsn, file)
	right := in(dsn)
	if out, err := right.Run("check"); err != nil || !strings.Contains(out, "nothing found") {
		t.Errorf("check: %s, %v", out, err)
	}
	if got := quiet.peek(machine(right)); got != want {
		t.Errorf("what was brought back plans other bytes:\n%.1000s\n%.1000s", want, got)
	}
	st, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn, Root: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	k, err := kernel.Open(t.Context(), right.Workspace(), &kernel.Options{Store: st, StateDir: filepath.Join(right.Dir, "looked")})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	blobs := 0
	for i := range acked {
		key := fmt.Sprint("soak-", i)
		committed, pages := journalOf(t, st.State(), key)
		if int64(len(committed)) < acked[i] {
			t.Errorf("%s: %d turns were acknowledged before the dump, and it has %d", key, acked[i], len(committed))
		}
		for _, id := range pages {
			c, err := k.Get(t.Context(), key, id)
			if err != nil || c.Reason != api.GetOK || c.Text == "" {
				t.Errorf("%s: page %s leads to %+v, %v", key, id, c, err)
				continue
			}
			if c.Page != nil && c.Page.Blob != "" {
				blobs++
			}
		}
	}
	if blobs < soakSessions {
		t.Errorf("only %d pages have their content in blobs", blobs)
	}
}

// still is a session whose turns are not delivered by several at once, and which is shown no
// file that others write.
type still struct {
	t        *testing.T
	results  int // bytes of a tool's result that each turn has, 0 for none
	messages []json.RawMessage
	turns    int64
}

func (s *still) client(m *fleet.Machine) *client.Client {
	s.t.Helper()
	c, err := client.Connect(s.t.Context(), m.Client())
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

func (s *still) turn(n int) {
	rng := rand.New(rand.NewPCG(uint64(n), 7))
	s.messages = append(s.messages, said("user", fmt.Sprintf("question %d: we decided that port %d stays. %s", n, 8000+n, strings.Repeat(fmt.Sprintf("word %x ", rng.Uint64()), 2000))))
}

// peek is what a machine would have sent, as it says that.
func (s *still) peek(m *fleet.Machine) string {
	s.t.Helper()
	c := s.client(m)
	defer c.Close()
	var all []any
	for _, m := range s.messages {
		all = append(all, m)
	}
	p, err := c.Peek(s.t.Context(), &protocol.PlanParams{SessionKey: "still", Model: model, Now: time.Date(2026, 11, 24, 12, len(s.messages), 0, 0, time.UTC),
		Conversation: &protocol.Conversation{Dialect: "anthropic", Messages: all}})
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := json.Marshal([]any{p.Items, p.Markers, p.Params, p.Budgets, p.Regions, p.Cut})
	if err != nil {
		s.t.Fatal(err)
	}
	return string(out)
}

// observe commits the turn by a machine, after a plan of it.
func (s *still) observe(m *fleet.Machine) {
	s.t.Helper()
	c := s.client(m)
	defer c.Close()
	now := time.Date(2026, 11, 24, 12, len(s.messages), 0, 0, time.UTC)
	session := c.Session("still", client.SessionOptions{Model: model})
	p, err := session.Plan(s.t.Context(), s.messages, &protocol.PlanParams{Now: now})
	if err != nil {
		s.t.Fatal(err)
	}
	turn := len(s.messages)
	if s.results > 0 {
		s.messages = append(s.messages, called(rand.New(rand.NewPCG(uint64(turn), 9)), fmt.Sprint("s", turn), s.results)...)
	}
	s.messages = append(s.messages, said("assistant", fmt.Sprintf("answer to %d", turn)))
	o, err := session.ObserveTurn(s.t.Context(), s.messages, &protocol.TurnParams{PlanID: p.PlanID, Now: now})
	s.turns++
	if err != nil || o.Outcome != "committed" || o.Turns != s.turns {
		s.t.Fatalf("turn %d: %+v, %v", s.turns, o, err)
	}
}
