package pgstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/store/storetest"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/service/internal/bucket"
	"github.com/memkernel/memkernel/service/internal/pgstore"
	"github.com/memkernel/memkernel/service/internal/s3test"
)

// stepped is a bucket whose steps are asked for as a database's statements are.
type stepped struct {
	pgstore.Bucket
	fault atomic.Pointer[func(pgstore.Step) error]
}

func (b *stepped) ask(s pgstore.Step) error {
	if f := b.fault.Load(); f != nil {
		return (*f)(s)
	}
	return nil
}

func (b *stepped) Put(ctx context.Context, key string, data []byte) error {
	if err := b.ask(pgstore.Send); err != nil {
		return err
	}
	if err := b.Bucket.Put(ctx, key, data); err != nil {
		return err
	}
	return b.ask(pgstore.Acked)
}

func (b *stepped) Remove(ctx context.Context, key string) error {
	if err := b.ask(pgstore.Send); err != nil {
		return err
	}
	if err := b.Bucket.Remove(ctx, key); err != nil {
		return err
	}
	return b.ask(pgstore.Acked)
}

// bucketed gives a test a schema and a bucket of its own.
func bucketed(t testing.TB) (pgstore.Options, *s3test.Server) {
	t.Helper()
	o := fresh(t)
	s := s3test.Start()
	t.Cleanup(s.Close)
	in, err := bucket.New(bucket.Options{Endpoint: s.URL, Bucket: s3test.Bucket, Prefix: "p", AccessKey: "k", SecretKey: "the bucket's secret"})
	if err != nil {
		t.Fatal(err)
	}
	o.Bucket = &stepped{Bucket: in}
	return o, s
}

// setFault has f asked at every step of the database and the bucket.
func setFault(s *pgstore.Store, o pgstore.Options, f func(pgstore.Step) error) {
	s.SetFault(f)
	if b := o.Bucket.(*stepped); f == nil {
		b.fault.Store(nil)
	} else {
		b.fault.Store(&f)
	}
}

// apart puts all documents of the contract into the bucket; its journals are j and k.
func apart(s *pgstore.Store) *pgstore.Store {
	s.PutApart(func(name string) bool { b := path.Base(name); return b[0] != 'j' && b[0] != 'k' })
	return s
}

// The store's contract holds where every document is an object, also where the process
// dies before or after one is written.
func TestContractInABucket(t *testing.T) {
	t.Run("server", func(t *testing.T) {
		longOnly(t)
		contractInABucket(t, nil)
	})
	t.Run("both", func(t *testing.T) { contractInABucket(t, pgstore.NewModel()) })
}

// contractInABucket has a model beside the server, if one is given.
func contractInABucket(t *testing.T, m *pgstore.Model) {
	o, s3 := bucketed(t)
	var last *pgstore.Store
	n := 0
	storetest.Contract(t, storetest.Kind{
		Open: func(*rapid.T) store.Disk {
			n++
			o.Root = fmt.Sprint("root ", n)
			if last != nil {
				last.Close()
			}
			if m == nil {
				last = apart(open(t, o))
				return last
			}
			both, err := pgstore.OpenTwin(t, o, m)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { both.Close() })
			last = apart(both)
			return last
		},
		Kill: func(in store.Disk, n, _ int, refused bool) (func() bool, func() store.Disk) {
			s, d := in.(*pgstore.Store), &death{n: n, refused: refused}
			setFault(s, o, d.befalls)
			return func() bool { setFault(s, o, nil); return d.came() }, func() store.Disk { return s }
		},
	})
	if k, err := s3.Keys(); err != nil || len(k) == 0 {
		t.Fatalf("%d objects, %v: nothing came to the bucket", len(k), err)
	}
}

// put keeps a blob, and gives its hash.
func put(t *testing.T, s *pgstore.Store, content string) string {
	t.Helper()
	b := store.BlobsIn(s.In("blobs")).NewBatch()
	h := b.AddString(content)
	if _, err := b.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h
}

func has(t *testing.T, s *pgstore.Store, hash, content string) {
	t.Helper()
	if got, err := store.BlobsIn(s.In("blobs")).Get(hash); err != nil || string(got) != content {
		t.Fatalf("%q, %v", got, err)
	}
	if err := store.BlobsIn(s.In("blobs")).Verify(hash); err != nil {
		t.Fatal(err)
	}
}

// objects are how many objects the bucket has, and how many of them the store knows of.
func objects(t *testing.T, o pgstore.Options, s *pgstore.Store, s3 *s3test.Server) (n, rows int) {
	t.Helper()
	keys, err := s3.Keys()
	if err != nil {
		t.Fatal(err)
	}
	known, err := s.Value(t.Context(), `SELECT count(*) FROM objects`)
	if err != nil {
		t.Fatal(err)
	}
	return len(keys), int(known)
}

func sweep(t *testing.T, s *pgstore.Store, now bool, want int) {
	t.Helper()
	if n, err := s.Sweep(t.Context(), now); n != want || err != nil {
		t.Fatalf("%d objects were swept, %v, want %d", n, err, want)
	}
}

// Only what is larger than the limit goes to the bucket; a name keeps its object when it
// is moved, and the object goes with the last name.
func TestBlobsByTheirSize(t *testing.T) {
	o, s3 := bucketed(t)
	o.Above = 100
	s := open(t, o)
	small, large := strings.Repeat("s", 100), strings.Repeat("l", 101)
	hs, hl := put(t, s, small), put(t, s, large)
	put(t, s, large) // once more: it is there
	has(t, s, hs, small)
	has(t, s, hl, large)
	keys, err := s3.Keys()
	if err != nil || len(keys) != 1 || !strings.HasPrefix(keys[0], "p/project/"+hl[:2]+"/"+hl+"-") {
		t.Fatalf("keys %v, %v", keys, err)
	}
	if _, err := s.Put(store.Synced, store.Doc{Name: "sessions/x/state.json", Data: []byte(large)}); err != nil {
		t.Fatal(err)
	}
	if n, _ := objects(t, o, s, s3); n != 1 {
		t.Errorf("a document that is no blob went to the bucket")
	}
	if _, err := s.Journal("blobs/"+hl[:2]+"/"+hl).Append(101, []byte("x"), true); err == nil || !strings.Contains(err.Error(), "named by its content") {
		t.Errorf("a blob was written on: %v", err)
	}
	aside, err := store.BlobsIn(s.In("blobs")).PutAside(hl)
	if err != nil || !strings.HasSuffix(aside, ".damaged-1") {
		t.Fatal(aside, err)
	}
	if got, err := s.Get("blobs/" + hl[:2] + "/" + hl + ".damaged-1"); err != nil || string(got) != large {
		t.Fatalf("put aside: %q, %v", got, err)
	}
	put(t, s, large)
	sweep(t, s, true, 0)
	if err := store.BlobsIn(s.In("blobs")).Delete(hl); err != nil {
		t.Fatal(err)
	}
	sweep(t, s, false, 1)
	if _, err := s.Remove(store.Synced, "blobs"); err != nil {
		t.Fatal(err)
	}
	sweep(t, s, false, 1)
	if n, rows := objects(t, o, s, s3); n != 0 || rows != 0 {
		t.Errorf("%d objects and %d rows are left", n, rows)
	}
}

// A machine that removes a blob late takes nothing away that another has written since.
func TestLateRemoval(t *testing.T) {
	o, s3 := bucketed(t)
	o.Above = 10
	late, other := open(t, o), open(t, o)
	text := strings.Repeat("words ", 10)
	h := put(t, late, text)
	if err := store.BlobsIn(late.In("blobs")).Delete(h); err != nil {
		t.Fatal(err)
	}
	stopped, wake, done := make(chan struct{}), make(chan struct{}), make(chan error)
	f := func(step pgstore.Step) error { // it stands still before the bucket hears of it
		if step == pgstore.Send {
			close(stopped)
			<-wake
		}
		return nil
	}
	b := o.Bucket.(*stepped)
	b.fault.Store(&f)
	go func() { _, err := late.Sweep(context.Background(), false); done <- err }()
	<-stopped
	b.fault.Store(nil)
	put(t, other, text)
	close(wake)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	has(t, other, h, text)
	if n, rows := objects(t, o, other, s3); n != 1 || rows != 1 {
		t.Errorf("%d objects, %d rows", n, rows)
	}
}

// What a writer left that died before it gave a name goes after the grace, by the server's clock,
// and a writer that is slower than that is refused, leaves nothing, and may try again.
func TestNeverNamed(t *testing.T) {
	o, s3 := bucketed(t)
	o.Above = 10
	s := open(t, o)
	text := strings.Repeat("words ", 10)
	batch := func() error {
		b := store.BlobsIn(s.In("blobs")).NewBatch()
		b.AddString(text)
		_, err := b.Commit(context.Background())
		return err
	}
	died := errors.New("killed")
	f := func(step pgstore.Step) error {
		if step == pgstore.Acked {
			return died
		}
		return nil
	}
	b := o.Bucket.(*stepped)
	b.fault.Store(&f)
	if err := batch(); !errors.Is(err, died) {
		t.Fatal(err)
	}
	b.fault.Store(nil)
	sweep(t, s, false, 0)
	var strays []store.Stray
	if err := s.Strays(t.Context(), func(x store.Stray) error { strays = append(strays, x); return nil }); err != nil || len(strays) != 1 || !strays[0].Known {
		t.Fatalf("strays %+v, %v", strays, err)
	}
	if strays[0].Size != int64(len(text)) {
		t.Fatalf("%+v, want %d bytes", strays[0], len(text))
	}
	if err := s.Exec(t.Context(), `UPDATE objects SET time=time-interval '61 minutes'`); err != nil {
		t.Fatal(err)
	}
	sweep(t, s, false, 1)

	// Slower than the grace, and given up before and after its object came.
	for _, when := range []pgstore.Step{pgstore.Send, pgstore.Acked} {
		f := func(step pgstore.Step) error {
			if step == when {
				b.fault.Store(nil)
				sweep(t, s, true, 1)
			}
			return nil
		}
		b.fault.Store(&f)
		if err := batch(); err == nil || !strings.Contains(err.Error(), "make the call again") {
			t.Fatalf("given up: %v", err)
		}
		if n, rows := objects(t, o, s, s3); n != 0 || rows != 0 {
			t.Fatalf("%d objects, %d rows are left", n, rows)
		}
	}
	if err := batch(); err != nil {
		t.Fatal(err)
	}
	has(t, s, store.Sum([]byte(text)), text)
}

// Machines that write a blob under the lock that keeps removals away find it there for as long
// as they hold it, whatever others remove and sweep before and after.
func TestNamedAndRemovedAtOnce(t *testing.T) {
	o, s3 := bucketed(t)
	o.Above = 10
	text := strings.Repeat("words ", 10)
	h := store.Sum([]byte(text))
	ctx, cancel := context.WithCancel(t.Context())
	var work, sweeping sync.WaitGroup
	for range 3 {
		s := open(t, o)
		blobs := store.BlobsIn(s.In("blobs"))
		work.Go(func() {
			for i := range suite.Pick(6, 100) {
				share := store.Share(i%4 != 0)
				release, err := store.Wait(ctx, s, "blobs.lock", share)
				if err != nil {
					t.Error(err)
					return
				}
				if share == store.Alone {
					err = blobs.Delete(h)
				} else {
					b := blobs.NewBatch()
					b.AddString(text)
					if _, err = b.Commit(ctx); err == nil {
						_, err = blobs.Get(h)
					}
				}
				release()
				if err != nil {
					t.Errorf("share %v: %v", share, err)
				}
			}
		})
		sweeping.Go(func() {
			for ; ctx.Err() == nil; time.Sleep(suite.Pick(5*time.Millisecond, 0)) {
				if _, err := s.Sweep(ctx, false); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	cancel()
	sweeping.Wait()
	s := open(t, o)
	if _, err := s.Remove(store.Synced, "blobs"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sweep(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if n, rows := objects(t, o, s, s3); n != 0 || rows != 0 {
		t.Errorf("%d objects, %d rows are left", n, rows)
	}
}

// A sweep that dies at any step is finished by the next.
func TestSweepDies(t *testing.T) {
	o, s3 := bucketed(t)
	o.Above = 10
	s := open(t, o)
	for at := 1; at < 12; at++ {
		for i := range 2 {
			put(t, s, strings.Repeat(fmt.Sprint("words ", i, at), 10))
		}
		if _, err := s.Remove(store.Synced, "blobs"); err != nil {
			t.Fatal(err)
		}
		n := 0
		setFault(s, o, func(pgstore.Step) error {
			if n++; n >= at {
				return io.ErrUnexpectedEOF
			}
			return nil
		})
		_, err := s.Sweep(t.Context(), false)
		setFault(s, o, nil)
		if _, err2 := s.Sweep(t.Context(), false); err2 != nil {
			t.Fatalf("step %d: %v; then %v", at, err, err2)
		}
		if n, rows := objects(t, o, s, s3); n != 0 || rows != 0 {
			t.Fatalf("step %d: %d objects, %d rows are left", at, n, rows)
		}
	}
}

// An object that is gone, or holds something else, is named with the way out, and so is a
// machine that knows of no bucket, or of another.
func TestObjectDamaged(t *testing.T) {
	o, s3 := bucketed(t)
	o.Above = 10
	s := open(t, o)
	text := strings.Repeat("words ", 10)
	h := put(t, s, text)
	blobs := store.BlobsIn(s.In("blobs"))
	keys, err := s3.Keys()
	if err != nil {
		t.Fatal(err)
	}
	for what, do := range map[string]func() error{
		"gone":    func() error { return s3.Remove(keys[0]) },
		"longer":  func() error { return s3.Put(keys[0], text+"more") },
		"shorter": func() error { return s3.Put(keys[0], text[:7]) },
		"other":   func() error { return s3.Put(keys[0], strings.ToUpper(text)) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
		d := (*store.DamageError)(nil)
		_, err := blobs.Get(h)
		if !errors.As(err, &d) || d.Hash != h || !strings.Contains(err.Error(), "s3://blobs/"+keys[0]) {
			t.Errorf("%s: get: %v", what, err)
		}
		if err := blobs.Verify(h); !errors.As(err, &d) {
			t.Errorf("%s: verify: %v", what, err)
		}
	}
	if err := s3.Put("p/project/ab/unknown", "who put that here"); err != nil {
		t.Fatal(err)
	}
	k := kernelOn(t, t.TempDir(), s)
	found, err := k.Check(t.Context())
	said := fmt.Sprint(found)
	if err != nil || len(found) != 2 || !strings.Contains(said, h) || !strings.Contains(said, "1 objects of 17 bytes") {
		t.Errorf("check: %+v, %v", found, err)
	}
	none := o
	none.Bucket = nil
	without := open(t, none)
	if _, err := store.BlobsIn(without.In("blobs")).Get(h); err == nil || !strings.Contains(err.Error(), "s3://blobs/p") || !strings.Contains(err.Error(), "store.blobs.s3") {
		t.Errorf("no bucket: %v", err)
	}
	if _, err := without.Remove(store.Synced, "blobs"); err != nil {
		t.Fatal(err)
	}
	if _, err := without.Sweep(t.Context(), true); err == nil || !strings.Contains(err.Error(), "1 objects") {
		t.Errorf("sweep without a bucket: %v", err)
	}
	sweep(t, s, false, 1)
}

// A write that does not reach the bucket fails the turn, which may be made again, and no line
// names what is not there.
func TestBucketOutOfReach(t *testing.T) {
	o, s3 := bucketed(t)
	o.Above = 1000
	s := open(t, o)
	k := kernelOn(t, t.TempDir(), s)
	if err := turn(k, 0); err != nil {
		t.Fatal(err)
	}
	if n, _ := objects(t, o, s, s3); n == 0 {
		t.Fatal("nothing came to the bucket")
	}
	for name, f := range map[string]s3test.Fault{"denies": s3test.Refuse(403, "AccessDenied"), "no bucket": s3test.Refuse(404, "NoSuchBucket"), "out of order": s3test.Refuse(500, "InternalError")} {
		s3.SetFault(f)
		err := turn(k, 1)
		if e := (*bucket.Error)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), "nothing was written") {
			t.Fatalf("%s: %v", name, err)
		}
		s3.SetFault(nil)
		holds(t, k, 1, 2, name)
	}
	if err := turn(k, 1); err != nil {
		t.Fatal(err)
	}
	holds(t, k, 2, 2, "the bucket is back")
}

// A process that dies at any step of the database or the bucket leaves every turn that was
// acknowledged, and no pointer without its blob; what it left in the bucket goes.
func TestKernelDiesBesideABucket(t *testing.T) {
	o, s3 := bucketed(t)
	o.Above, o.Lease = 1000, 200*time.Millisecond
	dir := t.TempDir()
	run := func(root string, at int) (steps, acked int) {
		o.Root = root
		s := open(t, o)
		var n atomic.Int64
		setFault(s, o, func(step pgstore.Step) error {
			if step != pgstore.Look && n.Add(1) >= int64(at) || n.Load() >= int64(at) {
				return io.ErrUnexpectedEOF
			}
			return nil
		})
		k := kernelOn(t, dir, s)
		for i := range 2 {
			if turn(k, i) != nil {
				break
			}
			acked++
		}
		o.Bucket.(*stepped).fault.Store(nil) // the bucket of the next process
		return int(n.Load()), acked
	}
	steps, acked := run("whole", 1<<30)
	if acked != 2 || steps < 20 {
		t.Fatalf("%d turns in %d steps", acked, steps)
	}
	var all []int
	for i := range steps {
		all = append(all, i+1)
	}
	for _, at := range suite.Some(all, 16) {
		root := fmt.Sprint("dies at ", at)
		_, acked := run(root, at)
		o.Root = root
		s := open(t, o)
		k := kernelOn(t, dir, s)
		holds(t, k, acked, acked+1, root)
		if err := turn(k, 2); err != nil {
			t.Fatalf("%s: the next turn: %v", root, err)
		}
		if _, err := s.Sweep(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		holds(t, k, acked+1, acked+3, root)
		if err := s.Strays(t.Context(), func(x store.Stray) error { return fmt.Errorf("%+v is left", x) }); err != nil {
			t.Fatalf("%s: %v", root, err)
		}
	}
	if n, _ := objects(t, o, open(t, o), s3); n == 0 {
		t.Fatal("nothing came to the bucket")
	}
}

// What is forgotten goes from the bucket, also what a dead writer left there; what can't be
// reached makes it fail until it is.
func TestForgetInABucket(t *testing.T) {
	o, s3 := bucketed(t)
	o.Above = 1000
	s := open(t, o)
	k := kernelOn(t, t.TempDir(), s)
	for i := range 2 {
		if err := turn(k, i); err != nil {
			t.Fatal(err)
		}
	}
	left := []byte(strings.Repeat("func step0() was left by a dead writer\n", 40))
	died := errors.New("killed")
	f := func(step pgstore.Step) error {
		if step == pgstore.Acked {
			return died
		}
		return nil
	}
	b := o.Bucket.(*stepped)
	b.fault.Store(&f)
	if _, err := s.Put(store.Once, store.Doc{Name: "blobs/" + store.Sum(left)[:2] + "/" + store.Sum(left), Data: left}); !errors.Is(err, died) {
		t.Fatal(err)
	}
	b.fault.Store(nil)
	forget := func() (*api.Everywhere, error) {
		return k.ForgetEverywhere(context.Background(), api.EverywhereRequest{Words: "func step0()", Apply: true})
	}
	s3.SetFault(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodDelete {
			s3test.Refuse(403, "AccessDenied")(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
	if _, err := forget(); err == nil || !strings.Contains(err.Error(), "the right to") {
		t.Fatalf("a bucket that keeps what is to go: %v", err)
	}
	s3.SetFault(nil)
	out, err := forget()
	if err != nil || len(out.Left) > 0 {
		t.Fatalf("forget: %+v, %v", out, err)
	}
	keys, err := s3.Keys()
	if err != nil || len(keys) != 1 {
		t.Fatalf("keys %v, %v", keys, err)
	}
	got, err := o.Bucket.Get(t.Context(), strings.TrimPrefix(keys[0], "p/"), 100_000)
	if err != nil || bytes.Contains(got, []byte("func step0()")) {
		t.Fatalf("the bucket still has it: %v", err)
	}
	// An object that has no row is left alone, and counted by a check.
	if err := s3.Put("p/project/ab/unknown", string(left)); err != nil {
		t.Fatal(err)
	}
	if out, err = forget(); err != nil || len(out.Left) > 0 {
		t.Fatalf("forget: %+v, %v", out, err)
	}
	var strays []store.Stray
	if err := s.Strays(t.Context(), func(x store.Stray) error { strays = append(strays, x); return nil }); err != nil || len(strays) != 1 || strays[0].Known || !strings.HasSuffix(strays[0].Where, "unknown") {
		t.Fatalf("strays %+v, %v", strays, err)
	}
}

type inStore struct{ store.Store }

func (s inStore) State() store.Store { return s.Store }

// The state moves into the bucket and back, and none of it stays where it is taken away.
func TestMoveThroughABucket(t *testing.T) {
	o, s3 := bucketed(t)
	o.Above = 1000
	s := open(t, o)
	first := storetest.New()
	k, err := kernel.Open(t.Context(), t.TempDir(), &kernel.Options{Store: inStore{first}, StateDir: t.TempDir(), Memory: kernel.MemoryOptions{Off: true}})
	if err != nil {
		t.Fatal(err)
	}
	if err := turn(k, 0); err != nil {
		t.Fatal(err)
	}
	k.Close()
	s3.SetFault(s3test.Refuse(503, "SlowDown"))
	if _, err := kernel.MoveState(t.Context(), inStore{first}, state{s}, kernel.MoveOptions{}); !errors.Is(err, bucket.ErrBusy) {
		t.Fatalf("move: %v", err)
	}
	s3.SetFault(nil)
	there, err := kernel.MoveState(t.Context(), inStore{first}, state{s}, kernel.MoveOptions{})
	if err != nil || there.Documents == 0 {
		t.Fatal(there, err)
	}
	if n, _ := objects(t, o, s, s3); n == 0 {
		t.Fatal("nothing came to the bucket")
	}
	last := storetest.New()
	back, err := kernel.MoveState(t.Context(), state{s}, inStore{last}, kernel.MoveOptions{RemoveSource: true})
	if err != nil || back.Documents != there.Documents || back.Bytes != there.Bytes || !back.Removed {
		t.Fatal(back, err)
	}
	if n, rows := objects(t, o, s, s3); n != 0 || rows != 0 {
		t.Errorf("%d objects, %d rows are left", n, rows)
	}
}
