package postgres_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/service/internal/pgstore"
	"github.com/memkernel/memkernel/service/postgres"
)

// A server that crashes forgets what did not wait for its disk, and counts again from before:
// another's content under a number that was given before is not taken for what was
// lost, nor another's lock for one's own.
func TestServerForgets(t *testing.T) {
	server := own(t, "wal_writer_delay=10s", "autovacuum=off")
	open := func() store.Store {
		s, err := postgres.OpenWith(t.Context(), pgstore.Options{DSN: server.DSN(), Root: "shop"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s.State()
	}
	a, b := open(), open()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := a.Put(store.Synced, store.Doc{Name: "sessions/x/session.json", Data: []byte("{}")})
	must(err)
	if _, err := a.Lock("sessions/x/lock", store.Alone); err != nil {
		t.Fatal(err)
	}
	must(server.Forgetful(t.Context()))
	_, err = a.Put(store.Unsynced, store.Doc{Name: "sessions/x/note", Data: []byte("of a, lost")})
	must(err)
	if data, err := b.Get("sessions/x/note"); err != nil || string(data) != "of a, lost" {
		t.Fatalf("before the server crashes another reads %q, %v", data, err)
	}
	server.Crash()
	must(server.Start())
	if data, err := b.Get("sessions/x/note"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the server has not forgotten %q, %v", data, err)
	}
	release, err := b.Lock("sessions/x/lock", store.Alone)
	must(err)
	_, err = b.Put(store.Synced, store.Doc{Name: "sessions/x/note", Data: []byte("of b, kept")})
	must(err)
	lost := (*store.LostError)(nil)
	if _, err := a.Put(store.Synced, store.Doc{Name: "sessions/x/note", Data: []byte("of a, late")}); !errors.As(err, &lost) || !store.Again(err) {
		t.Errorf("a write by a lock that the server forgot, and another has: %v", err)
	}
	release()
	c := open()
	if _, err := c.Lock("sessions/x/lock", store.Alone); err != nil {
		t.Fatal(err)
	}
	if data, err := c.Get("sessions/x/note"); err != nil || string(data) != "of b, kept" {
		t.Errorf("another reads %q, %v", data, err)
	}
	if data, err := a.Get("sessions/x/note"); err != nil || strings.Contains(string(data), "lost") {
		t.Errorf("who wrote what was lost reads %q, %v", data, err)
	}
}

// What a process knows of a content is not taken for another's of the same number and
// version, which a server gives that lost the first.
func TestServerGivesNumbersAgain(t *testing.T) {
	server := own(t, "wal_writer_delay=10s", "autovacuum=off")
	open := func() store.Store {
		s, err := postgres.OpenWith(t.Context(), pgstore.Options{DSN: server.DSN(), Root: "shop"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s.State()
	}
	a, b := open(), open()
	locked := func(s store.Store, do func()) {
		t.Helper()
		release, err := s.Lock("sessions/x/lock", store.Alone)
		if err != nil {
			t.Fatal(err)
		}
		do()
		release()
	}
	if err := server.Forgetful(t.Context()); err != nil {
		t.Fatal(err)
	}
	locked(a, func() {
		if _, err := a.Put(store.Unsynced, store.Doc{Name: "sessions/x/note", Data: []byte("of a, lost")}); err != nil {
			t.Fatal(err)
		}
	})
	server.Crash()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if data, err := open().Get("sessions/x/note"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the server has not forgotten %q, %v", data, err)
	}
	locked(b, func() {
		if _, err := b.Put(store.Synced, store.Doc{Name: "sessions/x/note", Data: []byte("of b, kept")}); err != nil {
			t.Fatal(err)
		}
	})
	locked(a, func() {
		if data, err := a.Get("sessions/x/note"); err != nil || string(data) != "of b, kept" {
			t.Errorf("it reads %q, %v", data, err)
		}
	})
}
