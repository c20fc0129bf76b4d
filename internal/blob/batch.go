package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"
	"unsafe"

	"github.com/memkernel/memkernel/internal/atomicfile"
)

// Stats tells what a commit wrote and what durability cost.
type Stats struct {
	// Added and AddedBytes count the blobs that were new; Existing those that
	// stood already and were not written again.
	Added, Existing int
	AddedBytes      int64
	// Syncs counts fsync and syncfs calls, SyncTime the time inside them.
	Syncs    int
	SyncTime time.Duration
}

// Batch collects blobs that become durable together. It is for one goroutine.
type Batch struct {
	s     *Store
	items []item
	seen  map[string]struct{}
	group *atomicfile.Group // nil until something is staged
	st    Stats
	bytes int64
}

type item struct {
	hash string
	data []byte
}

// NewBatch starts an empty batch.
func (s *Store) NewBatch() *Batch {
	return &Batch{s: s, seen: make(map[string]struct{})}
}

// Add puts content in the batch and returns its hash. The bytes are held, not
// copied, and must not change before Commit.
func (b *Batch) Add(content []byte) string {
	h := Sum(content)
	b.add(h, content)
	return h
}

// AddString is Add for a string; nothing is copied.
func (b *Batch) AddString(content string) string {
	return b.Add(unsafe.Slice(unsafe.StringData(content), len(content)))
}

// AddReader stages what r yields in bounded memory and returns its hash and
// size. The bytes are on disk as a temp until Commit or Discard.
func (b *Batch) AddReader(r io.Reader) (hash string, n int64, err error) {
	if err := b.start(); err != nil {
		return "", 0, fmt.Errorf("add blob: %w", err)
	}
	sum := sha256.New()
	n, err = b.group.WriteFrom(io.TeeReader(r, sum), 0o600, func(n int64) (string, error) {
		hash = hex.EncodeToString(sum.Sum(nil))
		return b.place(hash, n)
	})
	if err != nil {
		return "", n, fmt.Errorf("add blob: %w", err)
	}
	return hash, n, nil
}

// place says where a streamed blob of n bytes goes, "" if it stands already.
func (b *Batch) place(hash string, n int64) (string, error) {
	if _, dup := b.seen[hash]; dup {
		return "", nil
	}
	b.seen[hash] = struct{}{}
	file := b.s.file(hash)
	if fi, err := b.s.in.Stat(name(hash)); err == nil && fi.Size() == n {
		b.st.Existing++
		return "", b.settle(hash)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	b.st.Added++
	b.st.AddedBytes += n
	return file, nil
}

func (b *Batch) add(h string, content []byte) {
	if _, dup := b.seen[h]; dup {
		return
	}
	b.seen[h] = struct{}{}
	b.items = append(b.items, item{h, content})
	b.bytes += int64(len(content))
}

// Len is the number of distinct blobs in the batch.
func (b *Batch) Len() int { return len(b.seen) }

// Bytes is the size of the content held in memory until Commit.
func (b *Batch) Bytes() int64 { return b.bytes }

func (b *Batch) start() error {
	if b.group != nil {
		return nil
	}
	if err := b.s.prepare(); err != nil {
		return err
	}
	b.group = atomicfile.NewGroup(b.s.tmp())
	return nil
}

// Commit writes what is not stored yet and makes all of the batch durable:
// only after it returns nil may a pointer to one of its blobs be handed out.
// After an error some blobs may stand and the batch is empty; nothing is left
// half written. An empty batch touches nothing.
func (b *Batch) Commit(ctx context.Context) (Stats, error) {
	defer b.Discard()
	for _, it := range b.items {
		if err := ctx.Err(); err != nil {
			return b.st, fmt.Errorf("commit blobs: %w", err)
		}
		if err := b.put(it); err != nil {
			return b.st, fmt.Errorf("commit blobs: %w", err)
		}
	}
	if b.group == nil {
		return b.st, nil
	}
	if err := ctx.Err(); err != nil {
		return b.st, fmt.Errorf("commit blobs: %w", err)
	}
	gst, err := b.group.Commit()
	b.st.Syncs, b.st.SyncTime = gst.Syncs, gst.SyncTime
	if err != nil {
		return b.st, fmt.Errorf("commit blobs: %w", err)
	}
	b.s.remember(b.seen)
	return b.st, nil
}

// put stages one blob unless it stands already with its size. A file of
// another size is what a crash before the first sync left: it is replaced.
func (b *Batch) put(it item) error {
	file := b.s.file(it.hash)
	fi, err := b.s.in.Stat(name(it.hash))
	if err == nil && fi.Size() == int64(len(it.data)) {
		b.st.Existing++
		return b.settle(it.hash)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := b.start(); err != nil {
		return err
	}
	b.st.Added++
	b.st.AddedBytes += int64(len(it.data))
	return b.group.Write(file, it.data, 0o600)
}

// settle has the commit sync the name of a blob that stands, unless this
// process knows it to be durable.
func (b *Batch) settle(hash string) error {
	if b.s.isDurable(hash) {
		return nil
	}
	if err := b.start(); err != nil {
		return err
	}
	b.group.NeedDir(filepath.Dir(b.s.file(hash)))
	return nil
}

// Discard drops the batch and what AddReader staged.
func (b *Batch) Discard() {
	if b.group != nil {
		b.group.Abort()
		b.group = nil
	}
	b.items, b.bytes = nil, 0
	b.seen = make(map[string]struct{})
}

func (s *Store) isDurable(hash string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.durable[hash]
	return ok
}

func (s *Store) remember(hashes map[string]struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range hashes {
		s.durable[h] = struct{}{}
	}
}
