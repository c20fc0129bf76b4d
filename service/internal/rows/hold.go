package rows

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memkernel/memkernel/internal/store"
)

// holds are the locks of this process. A lock is a row with a lease, which a goroutine renews. A
// holder that is paused for longer than the lease may lose the lock.
type holds struct {
	mu   sync.Mutex
	mine map[string]string // the names of the locks, by holder
	// newest has, for each folder with a journal, the newest mark at the moment when this process
	// took the lock of blobs alone. read names the folders whose journal was read since then.
	newest map[string]int64
	read   map[string]bool
	n      atomic.Int64
	stop   chan struct{}  // ends the goroutine that renews the locks; nil without locks
	runs   sync.WaitGroup // waits for that goroutine
}

// Lock implements [store.Store].
func (s *Store) Lock(name string, share store.Share) (func(), error) {
	p, err := s.at(name)
	if err != nil {
		return nil, err
	}
	h := &s.holds
	holder := fmt.Sprintf("%s %d", s.holder, h.n.Add(1))
	var ok bool
	var other string
	var newest map[string]int64
	if _, err := s.one(&take, p.at, []any{p.at, holder, share == store.Alone, s.lease.Microseconds()}, &ok, &other, &newest); err != nil {
		return nil, err
	}
	if !ok {
		if strings.HasPrefix(other, s.holder) {
			other = "this process"
		}
		return nil, &store.LockedError{Name: s.where(p.at), Holder: other}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mine[holder] = p.at
	if len(newest) > 0 {
		h.newest, h.read = newest, map[string]bool{}
	}
	if h.stop == nil {
		h.stop = make(chan struct{})
		stop, t := h.stop, time.NewTicker(max(s.lease/3, time.Millisecond))
		h.runs.Go(func() {
			defer t.Stop()
			for {
				select {
				case <-t.C:
					_ = s.renew() // a caller that relies on a lock calls renew again
				case <-stop:
					return
				}
			}
		})
	}
	return sync.OnceFunc(func() { s.letGo(holder) }), nil
}

// letGo releases a lock. A lock that can't be released ends with its lease.
func (c *core) letGo(holder string) {
	h := &c.holds
	h.mu.Lock()
	name, held := h.mine[holder]
	delete(h.mine, holder)
	if name == store.BlobsLock {
		clear(h.newest)
	}
	if len(h.mine) == 0 && h.stop != nil {
		close(h.stop)
		h.stop = nil
	}
	h.mu.Unlock()
	if held {
		_, _ = c.one(&release, name, []any{name, holder})
	}
}

// verify returns an error if trail, a server's answer for a folder, lacks the mark that the folder
// had when this process took the lock of blobs alone. Such a server may be an old primary that
// still runs after a standby took over. Records that it lacks may name blobs, so that the blobs
// must not be removed. journal reports that the answer included the journal.
func (c *core) verify(folder string, journal bool, trail []int64) error {
	h := &c.holds
	h.mu.Lock()
	defer h.mu.Unlock()
	switch mark, there := h.newest[folder]; {
	case !there:
	case !slices.Contains(trail, mark):
		return &store.LostError{Name: c.where(folder), Lock: c.where(store.BlobsLock)}
	case journal:
		h.read[folder] = true
	}
	return nil
}

// removing returns the holders' names under which this process holds the lock of blobs. unread are
// the folders that existed when it took the lock, and whose journal it has not read since.
func (c *core) removing() (holders, unread []string) {
	h := &c.holds
	h.mu.Lock()
	defer h.mu.Unlock()
	for holder, name := range h.mine {
		if name == store.BlobsLock {
			holders = append(holders, holder)
		}
	}
	for folder := range h.newest {
		if !h.read[folder] {
			unread = append(unread, folder)
		}
	}
	return holders, unread
}

// renew extends the leases of this process's locks. It returns an error if another process has
// taken one of the locks meanwhile: the caller must then stop the work that the lock protects. A
// lock stays valid after its lease has ended, as long as no other process takes it.
func (c *core) renew() (failed error) {
	held := c.held()
	for _, holder := range slices.Sorted(maps.Keys(held)) {
		name, ok := held[holder], false
		_, err := c.one(&renew, name, []any{name, holder, c.lease.Microseconds()}, &ok)
		if _, ours := c.held()[holder]; err == nil && !ok && ours {
			err = &store.LostError{Name: c.where(name), Lock: c.where(name)}
		}
		failed = cmp.Or(failed, err)
	}
	return failed
}

// held returns the names of this process's locks, by holder.
func (c *core) held() map[string]string {
	c.holds.mu.Lock()
	defer c.holds.mu.Unlock()
	return maps.Clone(c.holds.mine)
}
