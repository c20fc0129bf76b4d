//go:build unix

package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/service/internal/fleet"
	"github.com/memkernel/memkernel/service/internal/pgtest"
	"github.com/memkernel/memkernel/service/internal/s3test"
	"github.com/memkernel/memkernel/service/postgres"
)

// backedUp is a state in a database and a bucket, which services use, or one that was brought
// back of a backup.
type backedUp struct {
	f      *fleet.Fleet
	bucket *s3test.Server
}

const bucketKey, bucketSecret = "me", "s3cret-of-the-bucket"

func newBackedUp(t *testing.T, dsn string) *backedUp {
	t.Helper()
	t.Setenv("BUCKET_KEY", bucketKey)
	t.Setenv("BUCKET_SECRET", bucketSecret)
	f, err := fleet.Mixed(t.TempDir(), dsn, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	b := &backedUp{f, s3test.Start()}
	t.Cleanup(b.bucket.Close)
	conf, err := os.ReadFile(f.Config())
	if err == nil {
		more := fmt.Sprintf("  blobs:\n    s3:\n      bucket: %s\n      endpoint: %s\n      access_key_env: BUCKET_KEY\n      secret_key_env: BUCKET_SECRET\n      above: 1KiB\n", s3test.Bucket, b.bucket.URL)
		err = os.WriteFile(f.Config(), []byte(strings.Replace(string(conf), "experimental:", more+"experimental:", 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// machine starts a service.
func (b *backedUp) machine(t *testing.T) *fleet.Machine {
	t.Helper()
	m, err := b.f.Of(command(t))
	if err == nil {
		err = m.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.End(syscall.SIGKILL) })
	return m
}

// check is what `memkernel check` says, and how it ended.
func (b *backedUp) check(t *testing.T) (string, error) {
	t.Helper()
	b.f.Bin = command(t)
	return b.f.Run("check")
}

// open opens a kernel on it.
func (b *backedUp) open(t *testing.T) *kernel.Kernel {
	t.Helper()
	st, err := postgres.Open(t.Context(), b.f.DSN, "shop", postgres.WithBucket(postgres.Bucket{Name: s3test.Bucket, Endpoint: b.bucket.URL, AccessKey: bucketKey, SecretKey: bucketSecret, Above: 1 << 10}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	k, err := kernel.Open(t.Context(), b.f.Workspace(), &kernel.Options{Store: st, StateDir: filepath.Join(b.f.Dir, "looked")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k
}

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
	data, err := in.Get("sessions/" + key + "/journal.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var l struct {
			Rec struct {
				Op, ID string
				Body   struct{ Pages []struct{ ID string } }
			}
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%s: %q: %v", key, line, err)
		}
		if turn, ok := strings.CutPrefix(l.Rec.ID, "turn:t"); ok && l.Rec.Op == "committed" {
			committed = append(committed, turn)
		}
		for _, p := range l.Rec.Body.Pages {
			if l.Rec.Op == "ingest" {
				pages = append(pages, p.ID)
			}
		}
	}
	return committed, pages
}

// TestBackupOfABucket backs a state up that has its large contents in a bucket, while services
// write: the database is dumped, and then the bucket copied. What is brought back of the two, in
// a new database and a new bucket, has all turns that were acknowledged before the dump, plans
// the same bytes, and every pointer leads somewhere. The other way round, check names what is
// missing.
func TestBackupOfABucket(t *testing.T) {
	server := own(t, "max_connections=100")
	live := newBackedUp(t, server.DSN())
	s := &soak{t: t, f: live.f, refusals: map[string]int{}, results: 6000, public: true}
	for range 2 {
		s.machines = append(s.machines, live.machine(t))
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
	dumps := t.TempDir()
	dump := func(name string) (file string, acked [soakSessions]int64) {
		for i := range acked {
			acked[i] = s.acked[i].Load()
		}
		file = filepath.Join(dumps, name)
		postgresTool(t, "pg_dump", "--format=custom", "--schema=memkernel_state", "--file="+file, live.f.DSN)
		return file, acked
	}
	restore := func(name, file string) *backedUp {
		execute(t, server.DSN(), "CREATE DATABASE "+name)
		b := newBackedUp(t, strings.Replace(server.DSN(), "dbname=postgres", "dbname="+name, 1))
		postgresTool(t, "pg_restore", "--no-owner", "--exit-on-error", "--single-transaction", "--dbname="+b.f.DSN, file)
		return b
	}
	early := s3test.Start()
	t.Cleanup(early.Close)
	if err := live.bucket.CopyTo(early); err != nil {
		t.Fatal(err)
	}
	s.more(ctx, suite.Pick[int64](1, 2))
	want := quiet.peek(s.machines[0])
	file, acked := dump("state.dump")
	s.more(ctx, suite.Pick[int64](1, 2)) // objects that the dump has no names of
	late := s3test.Start()
	t.Cleanup(late.Close)
	if err := live.bucket.CopyTo(late); err != nil {
		t.Fatal(err)
	}
	cancel()
	talking.Wait()

	right := restore("restored", file)
	if err := late.CopyTo(right.bucket); err != nil {
		t.Fatal(err)
	}
	// What was written between the dump and the copy belongs to nothing, and check says how
	// much that is. Without it there is nothing to be said.
	if out, err := right.check(t); err == nil || !strings.HasPrefix(out, "blobs: ") || !strings.Contains(out, "belong to nothing") || strings.Contains(out, "damaged") {
		t.Errorf("check: %s, %v", out, err)
	}
	named := map[string]bool{}
	for _, key := range strings.Fields(postgresTool(t, "psql", "-Atc", "SELECT key FROM memkernel_state.objects", right.f.DSN)) {
		named[key] = true
	}
	keys, err := right.bucket.Keys()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if !named[key] {
			if err := right.bucket.Remove(key); err != nil {
				t.Fatal(err)
			}
		}
	}
	if out, err := right.check(t); err != nil || !strings.Contains(out, "nothing found") {
		t.Errorf("check: %s, %v", out, err)
	}
	if got := quiet.peek(right.machine(t)); got != want {
		t.Errorf("what was brought back plans other bytes:\n%.1000s\n%.1000s", want, got)
	}
	k := right.open(t)
	st, err := postgres.Open(t.Context(), right.f.DSN, "shop")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	objects := 0
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
				objects++
			}
		}
	}
	if objects < soakSessions {
		t.Errorf("only %d pages have their content in the bucket", objects)
	}

	wrong := restore("toolate", file)
	if err := early.CopyTo(wrong.bucket); err != nil {
		t.Fatal(err)
	}
	if out, err := wrong.check(t); err == nil || !strings.Contains(out, "s3://"+s3test.Bucket) || !strings.Contains(out, "is damaged: it is not there") {
		t.Errorf("a bucket that was copied before the dump: %s, %v", out, err)
	}
}
