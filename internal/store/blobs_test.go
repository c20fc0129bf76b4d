package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/suite"
)

func fileOf(s *Blobs, hash string) string { return s.in.Where(blobName(hash)) }

func commit(t *testing.T, s *Blobs, contents ...string) Stats {
	t.Helper()
	b := s.NewBatch()
	for _, c := range contents {
		b.AddString(c)
	}
	st, err := b.Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func TestPutAndGet(t *testing.T) {
	s := BlobsIn(Files(filepath.Join(t.TempDir(), "blobs")))
	b := s.NewBatch()
	h := b.AddString("hello")
	if h2 := b.Add([]byte("hello")); h2 != h || b.Len() != 1 {
		t.Errorf("second add of one content: hash %s, len %d", h2, b.Len())
	}
	empty := b.AddString("")
	if s.Has(h) {
		t.Error("blob is there before commit")
	}
	st, err := b.Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if st.Files != 2 || st.Bytes != 5 || st.Syncs == 0 {
		t.Errorf("stats = %+v", st)
	}
	for hash, want := range map[string]string{h: "hello", empty: ""} {
		got, err := s.Get(hash)
		if err != nil || string(got) != want {
			t.Errorf("Get(%s) = %q, %v", hash, got, err)
		}
	}
	if info, err := s.Stat(h); err != nil || info.Size != 5 {
		t.Errorf("Stat = %+v, %v", info, err)
	}
}

func TestExistingBlobIsNotWrittenAgain(t *testing.T) {
	dir := t.TempDir()
	commit(t, BlobsIn(Files(dir)), "a", "b")
	s := BlobsIn(Files(dir))
	if st := commit(t, s, "a"); st.Files != 0 || st.Syncs == 0 {
		t.Errorf("first commit of a new store must settle the name: %+v", st)
	}
	if st := commit(t, s, "a"); st.Files != 0 || st.Syncs != 0 {
		t.Errorf("known durable blob costs syncs: %+v", st)
	}
	// A file cut short by a crash is replaced.
	f := fileOf(s, Sum([]byte("b")))
	if err := os.Truncate(f, 0); err != nil {
		t.Fatal(err)
	}
	if st := commit(t, s, "b"); st.Files != 1 {
		t.Errorf("short file not replaced: %+v", st)
	}
}

func TestDamageIsNamed(t *testing.T) {
	s := BlobsIn(Files(t.TempDir()))
	commit(t, s, "content")
	h := Sum([]byte("content"))
	if err := os.WriteFile(fileOf(s, h), []byte("CONTENT"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := s.Get(h)
	var d *DamageError
	if !errors.As(err, &d) || d.File != fileOf(s, h) || d.Hash != h || d.Hint == "" {
		t.Errorf("Get = %v", err)
	}
}

func TestNotFoundAndBadHash(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	s := BlobsIn(Files(dir))
	_, err := s.Get(strings.Repeat("0", 64))
	if !errors.Is(err, errNoBlob) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	for _, h := range []string{"", "../../etc/passwd", strings.Repeat("A", 64), strings.Repeat("0", 63)} {
		if _, err := s.Get(h); !errors.Is(err, errBadHash) {
			t.Errorf("Get(%q): %v", h, err)
		}
		if _, err := s.Stat(h); !errors.Is(err, errBadHash) {
			t.Errorf("Stat(%q): %v", h, err)
		}
		if err := s.Delete(h); !errors.Is(err, errBadHash) {
			t.Errorf("Delete(%q): %v", h, err)
		}
	}
	for range s.Walk() {
		t.Error("walk of a missing store yields")
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("reading made the directory")
	}
}

func TestWalkAndDelete(t *testing.T) {
	s := BlobsIn(Files(t.TempDir()))
	commit(t, s, "a", "b", "c")
	os.WriteFile(filepath.Join(s.in.Where(""), "README"), nil, 0o600)
	walk := func() (hs []string) {
		for i, err := range s.Walk() {
			if err != nil {
				t.Fatal(err)
			}
			hs = append(hs, i.Hash)
		}
		return hs
	}
	hs := walk()
	if len(hs) != 3 {
		t.Fatalf("walk = %v", hs)
	}
	if err := s.Delete(hs[1]); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(hs[1]); err != nil {
		t.Errorf("second delete: %v", err)
	}
	if diff := cmp.Diff([]string{hs[0], hs[2]}, walk()); diff != "" {
		t.Error(diff)
	}
	if st := commit(t, s, "a", "b", "c"); st.Files != 1 {
		t.Errorf("deleted blob is written again: %+v", st)
	}
}

func noTemps(t *testing.T, s *Blobs) {
	t.Helper()
	entries, _ := os.ReadDir(filepath.Join(s.in.Where(""), "tmp"))
	for _, e := range entries {
		t.Errorf("litter: %s", e.Name())
	}
}

func TestCancelledCommitLeavesNothing(t *testing.T) {
	s := BlobsIn(Files(t.TempDir()))
	ctx, cancel := context.WithCancel(t.Context())
	b := s.NewBatch()
	b.AddString("x")
	cancel()
	if _, err := b.Commit(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	noTemps(t, s)
	for i := range s.Walk() {
		t.Errorf("stored: %v", i)
	}
}

// Every operation of a commit fails once, small batch and large: nothing half
// written is there, no temp stays, and a second try succeeds.
func TestFailEveryOperation(t *testing.T) {
	for _, size := range []int{1, suite.Pick(12, 40)} {
		for n := 0; ; n++ {
			s := BlobsIn(Files(filepath.Join(t.TempDir(), "blobs")))
			if !failOnce(t, s, size, n) {
				break
			}
			var contents []string
			for i := range size {
				contents = append(contents, fmt.Sprint("content ", i))
			}
			commit(t, s, contents...)
			for _, c := range contents {
				if _, err := s.Get(Sum([]byte(c))); err != nil {
					t.Errorf("op %d: after retry: %v", n, err)
				}
			}
		}
	}
}

func failOnce(t *testing.T, s *Blobs, size, n int) (failed bool) {
	t.Helper()
	i := 0
	restore := atomicfile.SetHook(func(op, path string) error {
		i++
		if i-1 != n {
			return nil
		}
		failed = true
		return &atomicfile.PartialWrite{N: 3, Err: syscall.ENOSPC}
	})
	defer restore()
	b := s.NewBatch()
	for i := range size {
		b.AddString(fmt.Sprint("content ", i))
	}
	_, err := b.Commit(t.Context())
	if failed != errors.Is(err, syscall.ENOSPC) {
		t.Errorf("op %d: failed %v, err %v", n, failed, err)
	}
	restore()
	noTemps(t, s)
	for info, err := range s.Walk() {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(info.Hash); err != nil {
			t.Errorf("op %d: %v", n, err)
		}
	}
	return failed
}

func BenchmarkCommit400(b *testing.B) {
	for _, mode := range []string{"first", "new", "existing"} {
		b.Run(mode, func(b *testing.B) {
			b.ReportAllocs()
			s := BlobsIn(Files(b.TempDir()))
			var st Stats
			n := 0
			for b.Loop() {
				switch mode {
				case "first":
					s = BlobsIn(Files(filepath.Join(b.TempDir(), "blobs")))
				case "existing":
					s = BlobsIn(Files(s.in.Where("")))
				}
				gen := n
				if mode == "existing" {
					gen = 0
				}
				batch := s.NewBatch()
				for i := range 400 {
					batch.AddString(strings.Repeat(fmt.Sprintf("%4d %3d\n", gen, i), 220))
				}
				one, err := batch.Commit(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				st.Syncs += one.Syncs
				st.SyncTime += one.SyncTime
				n++
			}
			b.ReportMetric(float64(st.SyncTime.Microseconds())/float64(n), "sync-µs/op")
			b.ReportMetric(float64(st.Syncs)/float64(n), "syncs/op")
		})
	}
}

// What says nothing of a content is told from what says that it is not there, or wrong.
func TestOutOfReach(t *testing.T) {
	for _, err := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EIO, syscall.ENOMEM, syscall.EACCES, fs.ErrPermission, ErrOutOfReach} {
		if err := fmt.Errorf("read: %w", &fs.PathError{Op: "open", Path: "x", Err: err}); !OutOfReach(err) {
			t.Errorf("%v says what is there", err)
		}
	}
	for _, err := range []error{nil, syscall.ENOENT, fs.ErrNotExist, errNoBlob, &DamageError{}, errors.New("no JSON")} {
		if OutOfReach(err) {
			t.Errorf("%v says nothing of what is there", err)
		}
	}
	if Again(syscall.EACCES) || !Again(&fs.PathError{Op: "open", Path: "x", Err: syscall.EMFILE}) {
		t.Error("who has no right may ask again, or who had no descriptor may not")
	}
}
