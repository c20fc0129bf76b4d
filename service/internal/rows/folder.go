package rows

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/memkernel/memkernel/internal/store"
)

// mutex is a lock that may be held during a statement. It is a channel, because the fake clock of
// testing/synctest advances while a goroutine waits for a channel, and not for a sync.Mutex.
type mutex chan struct{}

func newMutex() mutex { return make(mutex, 1) }

func (m mutex) Lock()   { m <- struct{}{} }
func (m mutex) Unlock() { <-m }

// TryLock locks the mutex if it is free, and reports whether it did.
func (m mutex) TryLock() bool {
	select {
	case m <- struct{}{}:
		return true
	default:
		return false
	}
}

// folder is this process's knowledge of a folder.
type folder struct {
	at   string
	turn chan struct{} // held by the open unit

	mu   mutex // guards the fields below
	unit *unit // the open unit to which all calls of this process belong, nil if there is none
	// known is false if the folder must be read before this knowledge is used.
	known bool
	// durable reports that everything known survives a crash of the server.
	durable bool
	state
}

// state is the content of a folder at one moment.
type state struct {
	head
	docs map[string]doc // the documents by name; empty for the folder ""
	// tail has the records that were read or written since the last refresh, nil if no unit is
	// open.
	tail []row
}

// head is the row of a folder. The zero value is a folder that does not exist.
type head struct {
	rev, seq int64
	turns    int
	counts   [len(logs)]int
	sizes    [len(logs)]int64
	times    [len(logs)]time.Time
	trail    []int64
	moving   string
}

// newest is the newest mark, 0 for a folder that does not exist.
func (h *head) newest() int64 {
	if len(h.trail) == 0 {
		return 0
	}
	return h.trail[len(h.trail)-1]
}

// doc is a document. Its data is nil if the content is not known.
type doc struct {
	size, mark int64
	data       []byte
	written    time.Time
}

func (d doc) info() store.Info { return store.Info{Size: d.size, Time: d.written} }

// row is a record of a log. seq is its number among all records of the folder, and n its number in
// the log.
type row struct {
	seq     int64
	turn, n int // turn is set only in records that are being written
	log     int // the index in logs
	rec     store.Record
}

// changes describe what is new in a folder since a known state.
type changes struct {
	state
	same bool // the trail has the known mark; otherwise the state is the whole folder
	some bool // docs has only the documents written since the known state, and not all documents
}

// read reads the changes of a folder since a known state, which is identified by its newest mark:
// records of the logs with the indexes of after seq, and documents after rev if docs is set.
func (c *core) read(folder string, mark, rev, seq int64, of []int, docs bool) (n changes, err error) {
	type part struct {
		what           int
		name, kind, id string
		nums           []int64
		data           []byte
		body           *string
		written        *time.Time
		times          []time.Time
	}
	parts, _, err := ask(c, &news, folder, []any{folder, mark, rev, seq, of, docs}, func(scan scanner, p *part) error {
		return scan(&p.what, &p.name, &p.nums, &p.times, &p.kind, &p.id, &p.data, &p.body, &p.written)
	})
	n.docs = map[string]doc{}
	for _, p := range parts {
		switch nums := p.nums; p.what {
		case 0:
			n.head = head{rev: nums[0], seq: nums[1], turns: int(nums[2]), moving: p.name, trail: nums[5+2*len(logs):]}
			n.same, n.some = nums[3] == 1, nums[4] == 1
			copy(n.sizes[:], nums[5+len(logs):])
			copy(n.times[:], p.times)
			for i := range logs {
				n.counts[i] = int(nums[5+i])
			}
		case 1:
			n.docs[p.name] = doc{size: nums[0], mark: nums[1], data: p.data, written: *p.written}
		default:
			r := row{seq: nums[0], n: int(nums[1]), log: int(nums[2]), rec: store.Record{Op: p.kind, ID: p.id, Time: at(nums[4], int(nums[3]))}}
			if p.body != nil {
				r.rec.Body = []byte(*p.body)
			}
			n.tail = append(n.tail, r)
		}
	}
	slices.SortFunc(n.tail, func(a, b row) int { return cmp.Compare(a.seq, b.seq) })
	if err == nil {
		err = c.verify(folder, slices.Contains(of, 0), n.trail)
	}
	return n, err
}

// at returns the time of a record from its nanoseconds since 1970 and its zone, in minutes east of
// UTC. 0 nanoseconds give the zero time.
func at(nanoseconds int64, zone int) (t time.Time) {
	switch {
	case nanoseconds == 0:
		return t
	case zone == 0:
		return time.Unix(0, nanoseconds).UTC()
	}
	return time.Unix(0, nanoseconds).In(time.FixedZone("", zone*60))
}

// since1970 is the inverse of at.
func since1970(t time.Time) (nanoseconds int64, zone int) {
	if t.IsZero() {
		return 0, 0
	}
	_, seconds := t.Zone()
	return t.UnixNano(), seconds / 60
}

// folder returns this process's knowledge of a folder.
func (c *core) folder(at string) *folder {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.folders[at]
	if f == nil {
		f = &folder{at: at, turn: make(chan struct{}, 1), mu: newMutex(), state: state{docs: map[string]doc{}}}
		c.folders[at] = f
	}
	return f
}

// allLogs are all indexes in logs.
var allLogs = []int{0, 1, 2, ended}

// refresh brings the knowledge of the folder up to date. Callers must hold f.mu.
func (f *folder) refresh(c *core) error {
	n, err := c.read(f.at, f.newest(), f.rev, f.seq, allLogs, f.at != "")
	if err != nil {
		return err
	}
	f.durable = f.durable && n.newest() == f.newest()
	for name, d := range n.docs {
		if o := f.docs[name]; o.mark == d.mark && d.data == nil {
			d.data = o.data
			n.docs[name] = d
		}
	}
	if n.some {
		maps.Copy(f.docs, n.docs)
		n.docs = f.docs
	}
	f.state, f.known = n.state, true
	return nil
}

// mostFolders bounds the folders whose documents are kept.
const mostFolders = 256

// shed forgets the documents of folders without an open unit, if more than mostFolders folders have
// documents. It keeps those of the workspace, which all sessions read.
func (c *core) shed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	full := 0
	for _, f := range c.folders {
		if !f.mu.TryLock() {
			continue
		}
		if len(f.docs) > 0 {
			full++
		}
		if full > mostFolders && f.unit == nil && f.at != filesIn { // with rev 0, the next read returns all documents
			f.docs, f.rev, f.known = map[string]doc{}, 0, false
			full--
		}
		f.mu.Unlock()
	}
}

// of returns the folder's open unit to which the calls of a store belong, or nil if there is none.
// Callers must hold f.mu.
func (f *folder) of(s *Store) *unit {
	if u := s.unit; u != nil && u.f == f && !u.ended {
		return u
	}
	return f.unit
}

// forget makes the next unit in the folder read the folder again.
func (c *core) forget(at string) {
	f := c.folder(at)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known = false
}

// Begin implements [store.Store]. If another process writes to the folder during the unit, the unit
// fails with [store.ErrOvertaken].
func (s *Store) Begin(ctx context.Context, name string, seen bool) (store.Unit, error) {
	p, err := s.at(name)
	if err != nil {
		return nil, err
	}
	if p.name != "" {
		return nil, fmt.Errorf("begin in %s: the database has no such folder", s.where(p.at))
	}
	u, err := s.begin(ctx, s.core.folder(p.folder), seen, false)
	if err != nil {
		return nil, err
	}
	return u, nil
}

// begin begins a unit. If alone is set, only calls through the unit's own store belong to the unit.
// Otherwise the calls of all callers in this process do.
func (s *Store) begin(ctx context.Context, f *folder, seen, alone bool) (*unit, error) {
	select {
	case f.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	u := &unit{c: s.core, f: f, unchecked: seen && f.known, logs: map[*log]bool{}}
	if !u.unchecked {
		if err := f.refresh(s.core); err != nil {
			<-f.turn
			return nil, err
		}
	}
	if u.reset(); !alone {
		f.unit = u
	}
	return u, nil
}
