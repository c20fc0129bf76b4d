package pgstore_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/memkernel/memkernel/service/internal/pgstore"
)

// simAbove is the size in bytes from which blobs go to the bucket in simulations, and simGrace
// how many leases long an object may be without a name: not long, so that some are given
// up whose writers are still at work.
const (
	simAbove = 1000
	simGrace = 2 * simLease
)

// brokenBlobs is a rule that the bucket breaks, not the server.
const brokenBlobs pgstore.Broken = "an object is acknowledged before it is there"

// simBucket is the bucket of a simulation.
type simBucket struct {
	mu sync.Mutex
	at map[string][]byte
}

func (b *simBucket) has(key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at[key] != nil
}

// bucketOf is the bucket as a machine reaches it.
type bucketOf struct {
	*simBucket
	mc *machine
}

var _ pgstore.Bucket = bucketOf{}

func (b bucketOf) Place() string { return "the bucket" }

// ask has something done with the bucket, at some time, or not.
func (b bucketOf) ask(what, key string, do func()) error {
	hash, _, _ := strings.Cut(key[strings.LastIndex(key, "/")+1:], "-") // what follows is random
	err := b.mc.ask(pgstore.Statement{Name: "bucket", About: " " + what + " " + hash, Do: func() error {
		b.mu.Lock()
		defer b.mu.Unlock()
		do()
		return nil
	}})
	if err != nil {
		return fmt.Errorf("the bucket does not answer: %w", err)
	}
	return nil
}

func (b bucketOf) Put(_ context.Context, key string, data []byte) error {
	s, data := b.mc.sim, bytes.Clone(data)
	if s.broken == brokenBlobs {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.late = append(s.late, lateStatement{b.mc.name, pgstore.Statement{Name: "bucket", Do: func() error { b.at[key] = data; return nil }}})
		return nil
	}
	return b.ask("put", key, func() { b.at[key] = data })
}

func (b bucketOf) Get(_ context.Context, key string, _ int64) (data []byte, err error) {
	if err := b.ask("get", key, func() { data = bytes.Clone(b.at[key]) }); err != nil {
		return nil, err
	}
	if data == nil {
		return nil, fmt.Errorf("%s: %w", key, fs.ErrNotExist)
	}
	return data, nil
}

func (b bucketOf) Remove(_ context.Context, key string) error {
	return b.ask("remove", key, func() { delete(b.at, key) })
}

func (b bucketOf) List(_ context.Context, prefix string, f func(key string, size int64) error) error {
	var keys []string
	if err := b.ask("list", "", func() { keys = slices.Sorted(maps.Keys(b.at)) }); err != nil {
		return err
	}
	for _, key := range keys {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		b.mu.Lock()
		size := int64(len(b.at[key]))
		b.mu.Unlock()
		if err := f(key, size); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes from the bucket, at some machine, what no name has.
func (h *host) sweep() {
	s := h.s
	s.mu.Lock()
	mc := s.machines[h.rng.IntN(len(s.machines))]
	s.mu.Unlock()
	n, err := mc.store.Sweep(context.Background(), false)
	what := fmt.Sprintf("%d are swept by %s", n, mc.name)
	if err != nil {
		what += ", and then it fails: " + err.Error()
	}
	s.note(h.key, what)
	s.mu.Lock()
	s.happened["swept"] += n
	s.mu.Unlock()
}
