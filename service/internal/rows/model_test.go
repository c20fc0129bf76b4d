package rows

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/memkernel/memkernel/internal/store"
)

// Model is a server with one tenant, in memory. It knows for each statement of this package what
// it does to the tables, and parses no SQL. Statements run one after the other. TestModelIsTheServer
// compares it with a server.
type Model struct {
	// Now is the server's clock.
	Now func() time.Time
	// Break is a rule that the server breaks, to see that tests notice it.
	Break Broken
	// Audit is told when a lock has holders that exclude each other; nil tells nobody.
	Audit func(what string)
	// Route reports whether a process's nth connection reaches the old primary, while one lives
	// next to the new one; nil reaches the new one.
	Route func(holder string, n int) (old bool)
	// Async: no commit waits for the standby.
	Async bool
	// Marks bounds the trails; 0 is the server's bound.
	Marks int

	mu sync.Mutex
	// sites are the primaries in the order in which they took over.
	sites []*site
}

// Broken is a rule that is not kept.
type Broken string

const (
	BrokenMark    Broken = "a unit is written whatever the newest mark of its folder is"
	BrokenTrail   Broken = "every mark is in the trail, so that what another server forgot is taken for known"
	BrokenBlobs   Broken = "blobs are written while somebody removes blobs"
	BrokenEnded   Broken = "whoever has let the lease of the lock of blobs end still removes blobs"
	BrokenRemove  Broken = "blobs are removed by somebody who has lost the lock"
	BrokenHold    Broken = "a lock is given to whoever asks"
	BrokenWait    Broken = "whoever waits for a folder waits for no standby"
	BrokenStandby Broken = "a commit that waits is acknowledged whether or not the standby has it"
	BrokenAnswer  Broken = "a unit whose answer was lost is taken for written"
	BrokenLate    Broken = "a unit that was overtaken is taken for written"
	BrokenAsync   Broken = "no commit of a unit waits for the disk"
)

// tables have the rows of a server. Their slices and the maps in them are never changed in place.
type tables struct {
	folders map[string]folderRow
	log     map[string][]row // by folder
	docs    map[docKey]docRow
	blobs   map[string]docRow
	holds   map[string]holdRow
	// touched: the transaction has written or locked a row, so that its commit has something to
	// wait for.
	touched bool
}

type folderRow struct {
	head
	removed int64
	written time.Time
}

type docKey struct{ folder, name string }

type docRow struct {
	rev, mark int64
	data      []byte
	written   time.Time
}

type holdRow struct {
	alone   bool
	holders map[string]int64
}

// NewModel returns a server with a tenant without any state.
func NewModel() *Model {
	return &Model{Now: time.Now, sites: []*site{{now: tables{folders: map[string]folderRow{}, log: map[string][]row{}, docs: map[docKey]docRow{}, blobs: map[string]docRow{},
		holds: map[string]holdRow{store.BlobsLock: {}}}}}}
}

func (t *tables) clone() tables {
	return tables{folders: maps.Clone(t.folders), log: maps.Clone(t.log), docs: maps.Clone(t.docs), blobs: maps.Clone(t.blobs), holds: maps.Clone(t.holds)}
}

// args are the arguments of a statement, from 1 on.
type args []any

func (a args) int(i int) int64        { return reflect.ValueOf(a[i-1]).Int() }
func (a args) str(i int) string       { return a[i-1].(string) }
func (a args) is(i int) bool          { return a[i-1].(bool) }
func (a args) strs(i int) []string    { return a[i-1].([]string) }
func (a args) longs(i int) []int64    { return a[i-1].([]int64) }
func (a args) ints(i int) []int       { return a[i-1].([]int) }
func (a args) data(i int) [][]byte    { return a[i-1].([][]byte) }
func one(vals ...any) [][]any         { return [][]any{vals} }
func below(name, of string) bool      { return name == of || strings.HasPrefix(name, of+"/") }
func within(path, folder string) bool { return strings.HasPrefix(path, folder+"/") }

// effects are what the statements do.
var effects = map[*statement]func(m *Model, t *tables, a args) [][]any{
	&news: func(m *Model, t *tables, a args) (out [][]any) {
		f, there := t.folders[a.str(2)]
		if !there {
			return nil
		}
		same := slices.Contains(f.trail, a.int(3)) || m.Break == BrokenTrail && a.int(3) != 0
		some := same && f.removed <= a.int(4)
		nums := []int64{f.rev, f.seq, int64(f.turns), bit(same), bit(some)}
		for _, n := range f.counts {
			nums = append(nums, int64(n))
		}
		out = one(0, f.moving, slices.Concat(nums, f.sizes[:], f.trail), f.times[:], "", "", nil, "", f.written)
		for k, d := range t.docs {
			if fresh := !same || d.rev > a.int(4); k.folder == a.str(2) && a.is(7) && (!some || fresh) {
				var data any
				if fresh && len(d.data) <= 32768 {
					data = d.data
				}
				out = append(out, []any{1, k.name, []int64{int64(len(d.data)), d.mark}, nil, "", "", data, "", d.written})
			}
		}
		for _, r := range t.log[a.str(2)] {
			if slices.Contains(a.ints(6), r.log) && (!same || r.seq > a.int(5)) {
				var body any
				if len(r.rec.Body) > 0 {
					body = string(r.rec.Body)
				}
				t, zone := since1970(r.rec.Time)
				out = append(out, []any{2, "", []int64{r.seq, int64(r.n), int64(r.log), int64(zone), t}, nil, r.rec.Op, r.rec.ID, nil, body, nil})
			}
		}
		return out
	},
	&commit: (*Model).commit,
	&stands: func(m *Model, t *tables, a args) [][]any {
		f, there := t.folders[a.str(2)]
		t.touched = there && m.Break != BrokenWait
		if m.Break == BrokenAnswer {
			return one(true, true)
		}
		return one(slices.Contains(f.trail, a.int(3)), there && f.newest() == a.int(3))
	},
	&get: func(_ *Model, t *tables, a args) [][]any {
		if d, there := t.docs[docKey{a.str(2), a.str(3)}]; there && a.str(4) == "" {
			return one(d.data, d.written, d.mark)
		}
		if b, there := t.blobs[a.str(4)]; there {
			return one(b.data, b.written, int64(0))
		}
		return nil
	},
	&list: func(_ *Model, t *tables, a args) (out [][]any) {
		at, in, name, prefix := a.str(2), a.str(3), a.str(4), a.str(7)
		type entry struct {
			folder bool
			size   int64
		}
		names := map[string]entry{}
		add := func(path string, size int64) {
			first, _, deeper := strings.Cut(path, "/")
			e := names[first]
			names[first] = entry{e.folder || deeper, max(e.size, size)}
		}
		for k, d := range t.docs {
			if k == (docKey{in, name}) {
				add("", int64(len(d.data)))
			}
			if k.folder == in && k.name >= prefix && k.name < a.str(8) {
				add(k.name[len(prefix):], int64(len(d.data)))
			}
		}
		for i, l := range logs {
			if f := t.folders[in]; f.counts[i] > 0 {
				if int(a.int(5)) == i {
					add("", f.sizes[i])
				}
				if at == in {
					add(l+".jsonl", f.sizes[i])
				}
			}
		}
		for f := range t.folders {
			switch {
			case f == at:
				add("/", 0)
			case f == "" || strings.HasPrefix(f, "/"):
			case at == "":
				add(f+"/", 0)
			case within(f, at):
				add(f[len(at)+1:]+"/", 0)
			}
		}
		for h, b := range t.blobs {
			if h == a.str(6) {
				add("", int64(len(b.data)))
			}
			switch at {
			case "":
				add("blobs/", 0)
			case "blobs":
				add(h[:2]+"/", 0)
			case "blobs/" + h[:2]:
				add(h, int64(len(b.data)))
			}
		}
		for first, e := range names {
			out = append(out, []any{first, e.folder, e.size, time.Time{}})
		}
		return out
	},
	&journals: func(_ *Model, t *tables, _ args) (out [][]any) {
		for at, f := range t.folders {
			if f.counts[0] > 0 && (at == "project" || within(at, "sessions")) {
				out = append(out, []any{at, f.sizes[0], f.times[0]})
			}
		}
		return out
	},
	&remove: func(m *Model, t *tables, a args) [][]any {
		hashes, holding := a.strs(3), a.strs(4)
		if len(hashes) > 0 && len(holding) > 0 && m.Break != BrokenRemove {
			h := t.holds[store.BlobsLock].holders
			unread := slices.ContainsFunc(a.strs(5), func(at string) bool { _, there := t.folders[at]; return there })
			if unread || !slices.ContainsFunc(holding, func(mine string) bool { _, has := h[mine]; return has }) {
				return one(false, 0)
			}
			t.touched = true
		}
		n := 0
		for _, at := range a.strs(2) {
			for k := range t.docs {
				if below(k.folder, at) {
					delete(t.docs, k)
					n++
				}
			}
			for f := range t.folders {
				if below(f, at) {
					delete(t.folders, f)
					delete(t.log, f)
					n++
				}
			}
		}
		for h := range t.blobs {
			if slices.Contains(hashes, h) || slices.Contains(a.strs(2), "blobs") || slices.Contains(a.strs(2), "blobs/"+h[:2]) {
				delete(t.blobs, h)
				n++
			}
		}
		t.touched = t.touched || n > 0
		return one(true, n)
	},
	&move: func(m *Model, t *tables, a args) [][]any {
		old, now, mark := a.str(2), a.str(3), a.int(5)
		f, source := t.folders[old]
		g, target := t.folders[now]
		if !source || target || f.newest() != a.int(4) {
			return one(slices.Contains(g.trail, mark), source, target)
		}
		t.touched = true
		f.trail = append(m.kept(f.trail), mark)
		t.folders[now], t.log[now] = f, t.log[old]
		delete(t.folders, old)
		delete(t.log, old)
		for k, d := range t.docs {
			if k.folder == old {
				delete(t.docs, k)
				t.docs[docKey{now, k.name}] = d
			}
		}
		return one(true, source, target)
	},
	&take: func(m *Model, t *tables, a args) [][]any {
		h := t.holds[a.str(2)]
		other := ""
		if all := slices.Sorted(maps.Keys(h.holders)); len(all) > 0 {
			other = all[0]
		}
		now := m.Now().UnixMicro()
		live := maps.Clone(h.holders)
		maps.DeleteFunc(live, func(holder string, end int64) bool { return end <= now || holder == a.str(3) })
		t.touched = true // the row is locked even if nothing is written
		newest := map[string]int64{}
		for at, f := range t.folders {
			if a.str(2) == store.BlobsLock && a.is(4) && f.counts[0] > 0 && (at == "project" || within(at, "sessions")) {
				newest[at] = f.newest()
			}
		}
		if (h.alone || a.is(4)) && len(live) > 0 && m.Break != BrokenHold {
			return one(false, other, newest)
		}
		if live == nil {
			live = map[string]int64{}
		}
		live[a.str(3)] = now + a.int(5)
		t.holds[a.str(2)] = holdRow{a.is(4), live}
		if m.Audit != nil && a.is(4) && len(live) > 1 {
			m.Audit(fmt.Sprintf("%d have %s, and one has it alone", len(live), a.str(2)))
		}
		return one(true, other, newest)
	},
	&renew: func(m *Model, t *tables, a args) [][]any {
		return one(t.hold(a.str(2), a.str(3), func(h map[string]int64) { h[a.str(3)] = m.Now().UnixMicro() + a.int(4) }))
	},
	&release: func(_ *Model, t *tables, a args) [][]any {
		t.hold(a.str(2), a.str(3), func(h map[string]int64) { delete(h, a.str(3)) })
		return nil
	},
	&moving: func(m *Model, t *tables, a args) [][]any {
		f := m.write(t, a.str(2), a.int(4), false)
		f.moving = a.str(3)
		t.folders[a.str(2)] = f
		return nil
	},
}

func bit(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// kept are the newest marks of a trail, with room for one more.
func (m *Model) kept(trail []int64) []int64 {
	return slices.Clone(trail[max(0, len(trail)+1-cmp.Or(m.Marks, marks)):])
}

// write counts a write in a folder, which it makes.
func (m *Model) write(t *tables, folder string, mark int64, removes bool) folderRow {
	f, there := t.folders[folder]
	f.rev++
	f.trail = append(m.kept(f.trail), after(f.newest(), mark))
	if removes && there {
		f.removed = f.rev
	}
	f.written, t.touched = m.Now(), true
	t.folders[folder] = f
	return f
}

// hold changes the holders of a lock that has the holder, and reports whether it has.
func (t *tables) hold(name, holder string, f func(map[string]int64)) bool {
	h := t.holds[name]
	if _, has := h.holders[holder]; !has {
		return false
	}
	h.holders, t.touched = maps.Clone(h.holders), true
	f(h.holders)
	t.holds[name] = h
	return true
}

func (m *Model) commit(t *tables, a args) [][]any {
	folder, base, mark, now := a.str(3), a.int(4), a.int(5), m.Now()
	blobs := t.holds[store.BlobsLock]
	t.touched = len(a.strs(25)) > 0
	for _, end := range blobs.holders {
		if t.touched && blobs.alone && end > now.UnixMicro() && m.Break != BrokenBlobs {
			return one(false, false)
		}
	}
	f := t.folders[folder]
	if base >= 0 && f.newest() != base && m.Break != BrokenMark {
		return one(true, m.Break == BrokenLate && slices.Contains(f.trail, base))
	}
	gone, revs := map[string]bool{}, map[string]int64{} // of the folders that are written
	for i, in := range a.strs(22) {
		gone[in] = gone[in] || a.data(24)[i] == nil
	}
	for in, removes := range gone {
		if base < 0 || in != folder {
			revs[in] = m.write(t, in, mark, removes).rev
		}
	}
	if base >= 0 {
		f = m.write(t, folder, mark, gone[folder])
		revs[folder] = f.rev
		replaced := a.ints(11)
		for i := range logs {
			if n, size := a.ints(9)[i], a.longs(10)[i]; n != f.counts[i] || size != f.sizes[i] || slices.Contains(replaced, i) {
				f.counts[i], f.sizes[i], f.times[i] = n, size, now
			}
		}
		f.seq, f.turns = a.int(7), int(a.int(8))
		if len(replaced) > 0 {
			f.trail = f.trail[len(f.trail)-1:]
			t.log[folder] = slices.DeleteFunc(slices.Clone(t.log[folder]), func(r row) bool { return slices.Contains(replaced, r.log) && r.seq <= a.int(12) })
		}
		t.folders[folder] = f
		for i, seq := range a.longs(13) {
			r := row{seq: seq, turn: a.ints(14)[i], log: a.ints(15)[i], n: a.ints(16)[i],
				rec: store.Record{Op: a.strs(17)[i], ID: a.strs(18)[i], Time: at(a.longs(19)[i], a.ints(20)[i]), Body: []byte(a.strs(21)[i])}}
			t.log[folder] = append(slices.Clip(t.log[folder]), r)
		}
	}
	for i, in := range a.strs(22) {
		for k := range t.docs {
			if a.data(24)[i] == nil && k.folder == in && below(k.name, a.strs(23)[i]) {
				delete(t.docs, k)
			}
		}
	}
	for i, in := range a.strs(22) {
		if data := a.data(24)[i]; data != nil {
			t.docs[docKey{in, a.strs(23)[i]}] = docRow{revs[in], mark, bytes.Clone(data), now}
		}
	}
	if len(a.strs(25)) > 0 && blobs.alone && m.Break != BrokenEnded && m.Break != BrokenBlobs {
		t.holds[store.BlobsLock] = holdRow{true, map[string]int64{}}
	}
	for i, hash := range a.strs(25) {
		if b, there := t.blobs[hash]; !there || len(b.data) != len(a.data(26)[i]) {
			t.blobs[hash] = docRow{data: bytes.Clone(a.data(26)[i]), written: now}
		}
	}
	return one(true, true)
}

// Statement is a statement on its way to the server.
type Statement struct {
	Context     context.Context // of who waits for the answer
	Name, About string
	// Do runs it. ErrWaits is that its commit waits for the standby, and nobody else can see it
	// yet. Commit ends that waiting without the standby.
	Do, Commit func() error
	at         life
}

// Wire brings a statement to the server and the answer back, and may do neither.
type Wire func(Statement) error

// client is a process's connections to a model.
type client struct {
	m      *Model
	wire   Wire
	holder string

	mu   sync.Mutex
	idle []life
	made int
}

// OnModel opens the tenant of a model.
func OnModel(m *Model, wire Wire, holder string, lease time.Duration) *Store {
	c := newCore("model", holder, lease)
	c.db, c.tenant = &client{m: m, wire: wire, holder: holder}, 1
	return &Store{core: c}
}

func (c *client) Close() {}

// connect returns an idle connection, or a new one.
func (c *client) connect() life {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n := len(c.idle) - 1; n >= 0; n-- {
		at := c.idle[n]
		c.idle = c.idle[:n]
		if c.m.lives(at) {
			return at
		}
	}
	c.made++
	return c.m.reach(c.holder, c.made)
}

func (c *client) Ask(ctx context.Context, s *statement, a []any, row func(func(...any) error) error) error {
	sent := slices.Clone(a)
	for i, v := range a {
		switch v := v.(type) {
		case []int:
			sent[i] = slices.Clone(v)
		case []int64:
			sent[i] = slices.Clone(v)
		}
	}
	at := c.connect()
	var out [][]any
	do := func(wait bool) func() error {
		return func() (err error) { out, err = c.m.transact(at, s, sent, wait); return err }
	}
	about := ""
	if s == &commit {
		about = fmt.Sprintf("%s, %d records", a[2], len(a[12].([]int64)))
	} else if len(a) > 1 {
		about = fmt.Sprint(a[1])
	}
	err := c.wire(Statement{Context: ctx, Name: s.name, About: about, Do: do(true), Commit: do(false), at: at})
	if err == nil || errors.As(err, new(*pgconn.PgError)) {
		c.mu.Lock()
		c.idle = append(c.idle, at)
		c.mu.Unlock()
	}
	if err != nil {
		return err
	}
	for _, vals := range out {
		if err := row(func(into ...any) error { return scan(vals, into) }); err != nil {
			return err
		}
	}
	return nil
}

// scan reads a row.
func scan(vals, into []any) error {
	if len(into) != len(vals) {
		return fmt.Errorf("%d columns, and %d are scanned", len(vals), len(into))
	}
	for i, to := range into {
		at := reflect.ValueOf(to).Elem()
		at.SetZero()
		if vals[i] == nil {
			continue
		}
		v := reflect.ValueOf(vals[i])
		if v.Kind() == reflect.Slice {
			v = reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v)
		}
		if at.Kind() == reflect.Pointer {
			at.Set(reflect.New(at.Type().Elem()))
			at = at.Elem()
		}
		if !v.CanConvert(at.Type()) || v.Kind() != at.Kind() && !v.CanInt() {
			return fmt.Errorf("column %d is %v, and scanned as %v", i+1, v.Type(), at.Type())
		}
		at.Set(v.Convert(at.Type()))
	}
	return nil
}
