//go:build unix

package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/client"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/service/internal/fleet"
	"github.com/memkernel/memkernel/service/internal/pgtest"
	"github.com/memkernel/memkernel/service/internal/rows"
	"github.com/memkernel/memkernel/service/postgres"
)

func execute(t *testing.T, dsn string, statements ...string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	for _, q := range statements {
		if _, err := c.Exec(t.Context(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// A database that is really full refuses the call in one sentence that has the way out,
// keeps what was acknowledged, and goes on when there is room. A file system of its own is
// needed for that, which only root may mount.
func TestFullDatabase(t *testing.T) {
	server := own(t)
	tiny := filepath.Join(filepath.Dir(server.Data()), "tiny")
	if err := os.Mkdir(tiny, 0o755); err != nil {
		t.Fatal(err)
	}
	mount := func(options string) error {
		out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", tiny).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	if err := mount(suite.Pick("size=10m", "size=14m")); err != nil {
		t.Skipf("no small file system can be mounted: %v", err)
	}
	t.Cleanup(func() {
		server.Crash()
		if out, err := exec.Command("umount", tiny).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	if err := server.Own(tiny); err != nil {
		t.Fatal(err)
	}
	execute(t, server.DSN(), "CREATE TABLESPACE tiny LOCATION '"+tiny+"'", "CREATE DATABASE small TABLESPACE tiny")
	o := rows.Options{DSN: strings.Replace(server.DSN(), "dbname=postgres", "dbname=small", 1), Root: "shop"}
	k := machine(t, o, t.TempDir())
	talk := newTalk()
	turns := 0
	step := func() error {
		before := len(talk.msgs)
		talk.ask()
		talk.work(400_000)
		p, err := k.PlanContext(t.Context(), api.PlanRequest{SessionKey: "s", Model: model, ContextWindow: 64_000, Messages: talk.msgs, Now: talk.now})
		if err == nil {
			talk.add("assistant", words("Done."))
			_, err = k.ObserveTurn(t.Context(), api.Turn{SessionKey: "s", Model: model, Messages: talk.msgs, PlanID: p.ID, Now: talk.now})
		}
		if err != nil {
			talk.msgs = talk.msgs[:before]
			return err
		}
		turns++
		return nil
	}
	var err error
	for range 200 {
		if err = step(); err != nil {
			break
		}
	}
	if !errors.Is(err, rows.ErrFull) || !strings.Contains(err.Error(), "free some space on the server") {
		t.Fatalf("after %d turns: %v", turns, err)
	}
	if turns == 0 {
		t.Fatal("there was no room for a turn")
	}
	t.Logf("after %d turns: %v", turns, err)
	holds := func() {
		t.Helper()
		st, err := machine(t, o, t.TempDir()).Status(t.Context(), &api.StatusOptions{Session: "s"})
		if err != nil || len(st.Sessions) != 1 || st.Sessions[0].Turns != turns {
			t.Errorf("%d turns were acknowledged: %+v, %v", turns, st, err)
		}
	}
	holds()
	if err := mount("remount,size=200m"); err != nil {
		t.Fatal(err)
	}
	if err := step(); err != nil {
		t.Fatalf("with room again: %v", err)
	}
	holds()
	if found, err := k.Check(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

// Machines whose clocks are an hour apart serve a session by turns: locks are by the
// server's clock, and of a plan's bytes none is by a machine's.
func TestClocksApart(t *testing.T) {
	o := fresh(t)
	at := func(workspace string, o *rows.Options, off time.Duration) *kernel.Kernel {
		opt := &kernel.Options{StateDir: t.TempDir(), Now: func() time.Time { return time.Now().Add(off) }}
		if o != nil {
			s, err := postgres.Open(t.Context(), *o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			opt.Store = s
		}
		k, err := kernel.Open(t.Context(), workspace, opt)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { k.Close() })
		return k
	}
	shared := t.TempDir()
	machines := []*kernel.Kernel{at(shared, &o, -time.Hour), at(shared, &o, 0), at(shared, &o, time.Hour)}
	alone := at(t.TempDir(), nil, 0)
	a, b := newTalk(), newTalk()
	const turns = 9
	for i := range turns {
		a.ask()
		b.ask()
		a.work(14_000)
		b.work(14_000)
		k := machines[i%3]
		p, q := a.plan(t, k), b.plan(t, alone)
		if sent(t, p) != sent(t, q) {
			t.Fatalf("plan %d differs from that of one machine", i)
		}
		a.observe(t, machines[(i+1)%3], p)
		b.observe(t, alone, q)
	}
	for i, k := range machines {
		st, err := k.Status(t.Context(), &api.StatusOptions{Session: "s"})
		if err != nil || len(st.Sessions) != 1 || st.Sessions[0].Turns != turns {
			t.Errorf("machine %d: %+v, %v", i, st, err)
		}
		if found, err := k.Check(t.Context()); err != nil || len(found) > 0 {
			t.Errorf("machine %d: %+v, %v", i, found, err)
		}
	}
}

// A service goes on while a newer program has brought the tables up to its version, which
// adds to them; when it is started again it is refused in one sentence, and loses nothing.
func TestTwoVersions(t *testing.T) {
	bin := command(t)
	server := own(t)
	f, err := fleet.New(bin, t.TempDir(), server.DSN(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	m := f.Machine()
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.End(syscall.SIGKILL) })
	turn := func(n int) {
		t.Helper()
		c, err := client.Connect(t.Context(), f.Client(m.URL()))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		s := c.Session("s", client.SessionOptions{Model: model, Private: true})
		o, err := s.ObserveTurn(t.Context(), conversation(n), nil)
		if err != nil || o.Turns != int64(n) {
			t.Fatalf("turn %d: %+v, %v", n, o, err)
		}
	}
	turn(1)
	execute(t, server.DSN(), "ALTER TABLE memkernel.documents ADD COLUMN newer int", "INSERT INTO memkernel.versions(version) VALUES(99)")
	turn(2)
	m.End(syscall.SIGTERM)
	if err := m.Start(); err == nil || !strings.Contains(err.Error(), "upgrade memkernel on this machine") {
		t.Fatalf("an older program on newer tables: %v", err)
	}
	if out, err := f.Run("status"); err == nil || !strings.Contains(err.Error(), "the tables are of version 99") {
		t.Fatalf("%s, %v", out, err)
	}
	execute(t, server.DSN(), "DELETE FROM memkernel.versions WHERE version=99")
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	turn(3)
}

// Tables that somebody changed by hand, so that bringing them up to date fails half way, stay
// as they were, and so does what is in them.
func TestHalfASchema(t *testing.T) {
	o := fresh(t)
	k := machine(t, o, t.TempDir())
	talk := newTalk()
	talk.ask()
	talk.observe(t, k, talk.plan(t, k))
	k.Close()
	in := func(q string) { execute(t, o.DSN, "SET search_path="+o.Schema+"; "+q) }
	in("DELETE FROM versions") // what the first version adds is there
	_, err := postgres.Open(t.Context(), o)
	if !errors.Is(err, rows.ErrSchema) || !strings.Contains(err.Error(), "schema version 1") || !strings.Contains(err.Error(), "restore them from a backup") {
		t.Fatalf("%v", err)
	}
	var n int
	if err := ask(t.Context(), o.DSN, "SELECT count(*) FROM "+o.Schema+".versions", &n); err != nil || n != 0 {
		t.Errorf("the tables are of version %d, %v", n, err)
	}
	in("INSERT INTO versions(version) VALUES(1), (2)")
	st, err := machine(t, o, t.TempDir()).Status(t.Context(), &api.StatusOptions{Session: "s"})
	if err != nil || len(st.Sessions) != 1 || st.Sessions[0].Turns != 1 {
		t.Errorf("%+v, %v", st, err)
	}
}

// conversation is one of so many turns.
func conversation(turns int) (out []json.RawMessage) {
	for i := range turns {
		out = append(out, said("user", fmt.Sprintf("question %d", i)), said("assistant", fmt.Sprintf("answer %d", i)))
	}
	return out
}

// A standby that the primary does not wait for lacks the newest turns when it takes over.
// What it has is whole, and a host that hands in its conversation goes on.
func TestAsynchronousStandby(t *testing.T) {
	bin := command(t)
	primary := own(t)
	standby, err := primary.Standby()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(standby.Close)
	f, err := fleet.New(bin, t.TempDir(), pgtest.Either(primary, standby), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	m := f.Machine()
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.End(syscall.SIGKILL) })
	turn := func(n int) (turns int64) {
		t.Helper()
		o := f.Client(m.URL())
		o.Retries = 20
		c, err := client.Connect(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		got, err := c.Session("s", client.SessionOptions{Model: model, Private: true}).ObserveTurn(t.Context(), conversation(n), nil)
		if err != nil || got.Outcome != "committed" {
			t.Fatalf("turn %d: %+v, %v", n, got, err)
		}
		return got.Turns
	}
	turn(1)
	turn(2)
	for begun, behind := time.Now(), true; behind; {
		if err := ask(t.Context(), primary.DSN(), "SELECT count(*) FILTER (WHERE replay_lsn >= pg_current_wal_insert_lsn()) = 0 FROM pg_stat_replication", &behind); err != nil || time.Since(begun) > time.Minute {
			t.Fatalf("the standby does not follow: %v", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	standby.Crash()
	turn(3)
	turn(4)
	primary.Crash()
	if err := standby.Start(); err != nil {
		t.Fatal(err)
	}
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := turn(5); n != 3 {
		t.Errorf("behind two turns of which the standby knew, the next is number %d", n)
	}
	m.End(syscall.SIGTERM)
	if out, err := f.Run("check"); err != nil {
		t.Errorf("%s, %v", out, err)
	}
}
