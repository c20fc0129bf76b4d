package pgstore

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
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// Model is the server in memory, as far as this package asks one: its tables, and for each of
// its statements what that does to them. A statement is done or not done, and they are
// done one after the other, as READ COMMITTED has it for those that wait for a row. It
// parses no SQL: it knows the statements by their text. TestModelIsTheServer asks it
// and a server the same.
type Model struct {
	// Now is the server's clock.
	Now func() time.Time
	// Break is a rule that the server does not keep, to see that a test finds it.
	Break Broken
	// Named has statements named by what they are about, too.
	Named bool
	// Audit is told of what must not have been done, found by what is there and not by the
	// rules above; nil tells nobody.
	Audit func(what string)
	// Apart is whether an object is in the bucket.
	Apart func(key string) bool
	// Ended is told that a session is to be ended.
	Ended func(pid uint32)
	// Route says which server a process's nth connection reaches while an old primary lives
	// beside the new one; nil reaches the new one.
	Route func(holder string, n int) (old bool)
	// Async is that no commit waits for the standby.
	Async bool

	mu sync.Mutex
	// sites are the primaries that there were, the one of now last; asked is the one that is asked.
	sites []*site
	asked *site
	pids  atomic.Uint32
	// serves is the server that each session is at.
	serves map[uint32]*site
	twins  sync.Mutex
}

// Broken is a rule that is not kept.
type Broken string

const (
	BrokenFence  Broken = "a write is done whether or not the lock is still held"
	BrokenAppend Broken = "an append is done wherever the journal ends"
	BrokenRows   Broken = "a file of the workspace is written whatever version it has"
	BrokenLock   Broken = "a lock is given to whoever asks"
	// BrokenStandby and BrokenPromoted are about a standby that takes over.
	BrokenStandby  Broken = "a commit that waits is acknowledged whether or not the standby has it"
	BrokenPromoted Broken = "a standby that took over keeps no write to who holds the lock"
	BrokenWait     Broken = "who says that something is there waits for no standby"
	BrokenServers  Broken = "a process that has connections to two servers tells them not apart"
)

type tables struct {
	files  map[key]fileRow
	pieces map[int64][]piece
	gone   map[int64]fileRow
	locks  map[key]lockRow
	// objects are contents that are in a bucket.
	objects map[int64]objectRow
	// texts are the files of workspaces.
	texts      map[key]textRow
	workspaces map[int64]workspaceRow
	// The sequences.
	contents, fence int64
}

type key struct {
	root int64
	path string
}

type fileRow struct {
	content, size, version int64
	time                   time.Time
}

// piece is a part of a content; slices of them are not changed but replaced.
type piece struct {
	off  int64
	data []byte
	mark int64
}

type objectRow struct {
	root, size  int64
	key, place  string
	time        time.Time
	named, goes bool
}

type lockRow struct {
	alone  bool
	held   map[string]int64 // not changed but replaced
	holder string
	wanted time.Time
}

// NewModel returns a server without any state.
func NewModel() *Model {
	return &Model{Now: time.Now, serves: map[uint32]*site{}, sites: []*site{{started: 1, now: tables{files: map[key]fileRow{}, pieces: map[int64][]piece{}, gone: map[int64]fileRow{}, locks: map[key]lockRow{}, objects: map[int64]objectRow{}, texts: map[key]textRow{}, workspaces: map[int64]workspaceRow{}}}}}
}

func (t tables) clone() tables {
	t.files, t.pieces, t.gone, t.locks, t.objects = maps.Clone(t.files), maps.Clone(t.pieces), maps.Clone(t.gone), maps.Clone(t.locks), maps.Clone(t.objects)
	t.cloneRows()
	return t
}

// args are a statement's, from 1 on.
type args []any

func (a args) at(i int) any { return a[i-1] }

func (a args) int(i int) int64 {
	switch v := a.at(i).(type) {
	case int:
		return int64(v)
	case int32:
		return int64(v)
	}
	return a.at(i).(int64)
}
func (a args) str(i int) string    { return a.at(i).(string) }
func (a args) strs(i int) []string { return a.at(i).([]string) }
func (a args) ints(i int) []int64  { return a.at(i).([]int64) }

type answer struct{ rows [][]any }

func one(vals ...any) answer { return answer{[][]any{vals}} }

// statement is one that the model knows, by what its text begins with.
type statement struct {
	name, part string
	does       effect
	fenced     bool
	do         func(m *Model, t *tables, ok bool, a args) answer
}

// effect is what a statement does to the disk.
type effect int

const (
	reads       effect = iota
	commits            // and waits for the disk, unless a fenced one says that it does not
	commitsLate        // and does not
)

var statements = append(rowStatements, []statement{
	{"find", "SELECT coalesce(f.content, 0), coalesce(f.size, 0), coalesce(f.version, 0)", reads, false, func(m *Model, t *tables, _ bool, a args) answer {
		f, there := t.files[key{a.int(1), a.str(2)}]
		if !there {
			return one(int64(0), int64(0), int64(0), time.Time{}, len(t.in(a.int(1), a.str(3), a.str(4))) > 0)
		}
		return one(f.content, f.size, f.version, f.time, false)
	}},
	{"get", "SELECT f.content IS NOT NULL", reads, false, func(m *Model, t *tables, _ bool, a args) answer {
		f, there := t.files[key{a.int(1), a.str(2)}]
		folder := !there && len(t.in(a.int(1), a.str(3), a.str(4))) > 0
		o := t.objects[f.content]
		if len(t.pieces[f.content]) == 0 || !there {
			return one(there, f.content, f.size, []byte{}, o.key, o.place, folder)
		}
		var out answer
		for _, p := range t.pieces[f.content] {
			out.rows = append(out.rows, []any{true, f.content, f.size, p.data, o.key, o.place, folder})
		}
		return out
	}},
	{"list", "WITH RECURSIVE names", reads, false, func(m *Model, t *tables, _ bool, a args) (out answer) {
		lo, from := a.str(2), ""
		for _, at := range t.in(a.int(1), lo, a.str(3)) {
			if at < from {
				continue
			}
			f, rest := t.files[key{a.int(1), at}], at[len(lo):]
			first, _, deeper := strings.Cut(rest, "/")
			if deeper {
				from = lo + first + "0"
			} else {
				from = at + "\x01"
			}
			out.rows = append(out.rows, []any{first, deeper, f.size, f.time})
		}
		return out
	}},
	{"missing", "SELECT n.path FROM unnest", reads, false, func(m *Model, t *tables, _ bool, a args) (out answer) {
		for i, at := range a.strs(2) {
			if f, there := t.files[key{a.int(1), at}]; !there || f.size != a.ints(3)[i] {
				out.rows = append(out.rows, []any{at})
			}
		}
		return out
	}},
	{"put", "o AS (UPDATE objects SET named=true", commits, true, func(m *Model, t *tables, ok bool, a args) answer {
		paths, sizes, open, ids := a.strs(5), a.ints(6), a.ints(11), a.ints(12)
		named := int64(0)
		for _, id := range ids {
			if o, there := t.objects[id]; there && ok && !o.named && !o.goes {
				o.named = true
				t.objects[id] = o
				named++
			}
		}
		all := named == a.int(13)
		var count, bytes int64
		left, put, contents, versions := []int64{}, []string{}, []int64{}, []int64{}
		for i, at := range paths {
			if !ok || !all {
				break
			}
			id := ids[i]
			if id == 0 {
				t.contents++
				id = t.contents
			}
			old, there := t.files[key{a.int(1), at}]
			if there && a.at(7).(bool) && old.size == sizes[i] {
				continue
			}
			if there {
				if had := len(t.pieces[old.content]) > 0; t.leave(old, open, m.Now()) && !had {
					left = append(left, old.content)
				}
			}
			t.files[key{a.int(1), at}] = fileRow{id, sizes[i], old.version + 1, m.Now()}
			for j, of := range a.ints(8) {
				if of == int64(i+1) {
					t.add(id, piece{off: a.ints(9)[j], data: a.at(10).([][]byte)[j]})
				}
			}
			count, bytes = count+1, bytes+sizes[i]
			put, contents, versions = append(put, at), append(contents, id), append(versions, old.version+1)
		}
		return one(ok, all, count, bytes, left, put, contents, versions)
	}},
	{"drop", "WITH g AS (DELETE FROM gone WHERE content=ANY", commits, false, func(m *Model, t *tables, _ bool, a args) answer {
		for _, id := range a.ints(1) {
			delete(t.gone, id)
			delete(t.pieces, id)
		}
		return one(true)
	}},
	{"move", "cur AS (SELECT path, content FROM files", commits, true, func(m *Model, t *tables, ok bool, a args) answer {
		old, now := a.str(5), a.str(8)
		cur := t.in(a.int(1), a.str(6), a.str(7))
		if _, there := t.files[key{a.int(1), old}]; there {
			cur = append(cur, old)
		}
		if !ok {
			cur = nil
		}
		moved := map[string]fileRow{}
		for _, at := range cur {
			moved[now+at[len(old):]] = t.files[key{a.int(1), at}]
		}
		for at := range moved {
			if f, there := t.files[key{a.int(1), at}]; there {
				t.leave(f, a.ints(9), m.Now())
				delete(t.files, key{a.int(1), at})
			}
		}
		for _, at := range cur {
			delete(t.files, key{a.int(1), at})
		}
		for at, f := range moved {
			t.files[key{a.int(1), at}] = f
		}
		return one(ok, int64(len(moved)))
	}},
	{"remove", "f AS (DELETE FROM files AS f USING unnest", commits, true, func(m *Model, t *tables, ok bool, a args) answer {
		var n int64
		for i, at := range a.strs(5) {
			for _, at := range append(t.in(a.int(1), a.strs(6)[i], a.strs(7)[i]), at) {
				if f, there := t.files[key{a.int(1), at}]; there && ok {
					t.leave(f, a.ints(8), m.Now())
					delete(t.files, key{a.int(1), at})
					n++
				}
			}
		}
		return one(ok, n)
	}},
	{"size", "SELECT size FROM files WHERE content=$1::bigint AND root=$2::bigint UNION ALL", reads, false, func(m *Model, t *tables, _ bool, a args) answer {
		if f, ok := t.opened(a.int(1)); ok {
			return one(f.size)
		}
		return answer{}
	}},
	{"close", "WITH g AS (DELETE FROM gone WHERE content=$1::bigint AND root", commits, false, func(m *Model, t *tables, _ bool, a args) answer {
		if _, there := t.gone[a.int(1)]; there {
			delete(t.gone, a.int(1))
			delete(t.pieces, a.int(1))
		}
		return one(true)
	}},
	{"part", "SELECT z.size, z.version, coalesce(greatest(p.off", reads, false, func(m *Model, t *tables, _ bool, a args) (out answer) {
		f, there := t.opened(a.int(1))
		if !there {
			return out
		}
		from := int64(0)
		for _, p := range t.pieces[a.int(1)] {
			if p.off <= a.int(2) {
				from = p.off
			}
		}
		for _, p := range t.pieces[a.int(1)] {
			if p.off >= from && p.off < a.int(3) {
				lo, hi := max(p.off, a.int(2)), min(p.off+int64(len(p.data)), a.int(3))
				out.rows = append(out.rows, []any{f.size, f.version, lo, p.data[min(lo-p.off, int64(len(p.data))):max(hi-p.off, min(lo-p.off, int64(len(p.data))))]})
			}
		}
		if out.rows == nil {
			return one(f.size, f.version, int64(0), []byte{})
		}
		return out
	}},
	{"make", "have AS (SELECT content, size, version FROM files", commits, true, func(m *Model, t *tables, ok bool, a args) answer {
		f, there := t.files[key{a.int(1), a.str(5)}]
		if !there && ok {
			t.contents++
			f = fileRow{t.contents, 0, 1, m.Now()}
			t.files[key{a.int(1), a.str(5)}] = f
		}
		return one(ok, f.content, f.size, f.version)
	}},
	{"look", "SELECT size, version, path=$3::text", reads, false, func(m *Model, t *tables, _ bool, a args) answer {
		k, f, there := t.of(a.int(1))
		if !there || k.root != a.int(2) {
			return answer{}
		}
		return one(f.size, f.version, k.path == a.str(3))
	}},
	{"append", "f AS (UPDATE files SET size=size+$7::bigint", commits, true, func(m *Model, t *tables, ok bool, a args) answer {
		k, f, there := t.of(a.int(5))
		off := a.int(6)
		if m.Break == BrokenAppend {
			off = f.size
		}
		if !ok || !there || f.size != off {
			return one(ok, false, int64(0))
		}
		t.files[k] = fileRow{f.content, f.size + a.int(7), f.version + 1, m.Now()}
		for i, o := range a.ints(9) {
			t.add(f.content, piece{o + off - a.int(6), a.at(10).([][]byte)[i], a.int(8)})
		}
		return one(ok, true, f.version+1)
	}},
	{"marked", "SELECT EXISTS(SELECT FROM pieces", reads, false, func(m *Model, t *tables, _ bool, a args) answer {
		return one(slices.ContainsFunc(t.pieces[a.int(1)], func(p piece) bool { return p.off == a.int(2) && p.mark == a.int(3) }))
	}},
	{"flushed", flushed, reads, false, func(m *Model, t *tables, _ bool, a args) answer { return one(t.marked(a)) }},
	{"flushed for good", flushedForGood, commits, false, func(m *Model, t *tables, _ bool, a args) answer { return one(t.marked(a)) }},
	{"sync", "f AS (UPDATE files SET version=version+1 WHERE", commits, true, func(m *Model, t *tables, ok bool, a args) answer {
		k, f, there := t.of(a.int(5))
		if !ok || !there {
			return one(ok, false, int64(0), int64(0))
		}
		f.version++
		t.files[k] = f
		return one(ok, true, f.size, f.version)
	}},
	{"cut", "f AS (UPDATE files SET size=least(size", commits, true, func(m *Model, t *tables, ok bool, a args) answer {
		k, f, there := t.of(a.int(5))
		if !ok || !there {
			return one(ok, false, int64(0), int64(0))
		}
		f = fileRow{f.content, min(f.size, a.int(6)), f.version + 1, m.Now()}
		t.files[k] = f
		var kept []piece
		for _, p := range t.pieces[f.content] {
			if p.off < a.int(6) {
				p.data = p.data[:min(int64(len(p.data)), a.int(6)-p.off)]
				kept = append(kept, p)
			}
		}
		t.pieces[f.content] = kept
		return one(ok, true, f.size, f.version)
	}},
	{"patch", "was AS (SELECT size FROM files WHERE root=$1::bigint AND content=$5::bigint)", commits, true, func(m *Model, t *tables, ok bool, a args) answer {
		k, f, there := t.of(a.int(5))
		off, end, data := a.int(6), a.int(7), a.at(8).([]byte)
		if !ok || !there {
			return one(ok, false, int64(0), int64(0))
		}
		t.patch(f.content, off, data)
		if end > f.size {
			t.add(f.content, piece{off: f.size, data: append(make([]byte, max(off-f.size, 0)), data[max(f.size-off, 0):]...)})
		}
		f = fileRow{f.content, max(f.size, end), f.version + 1, m.Now()}
		t.files[k] = f
		return one(ok, true, f.size, f.version)
	}},
	{"flush", "same AS MATERIALIZED", commits, true, func(m *Model, t *tables, ok bool, a args) answer {
		for i, at := range a.strs(24) {
			f := t.files[key{a.int(1), at}]
			ok = ok && f.content == a.ints(25)[i] && f.version == a.ints(26)[i]
		}
		good, files := ok, map[key]fileRow{}
		for i, id := range a.ints(5) {
			k, f, there := t.of(id)
			if expect := a.ints(6)[i]; !there || k.root != a.int(1) || expect >= 0 && f.size != expect && m.Break != BrokenAppend {
				good = false
				break
			}
			files[k] = fileRow{id, max(f.size, a.ints(7)[i]), f.version + 1, m.Now()}
		}
		var patches int64
		put, made, versions := []string{}, []int64{}, []int64{}
		if !good {
			files = nil
		} else {
			maps.Copy(t.files, files)
			for i, id := range a.ints(9) {
				t.add(id, piece{a.ints(10)[i], a.at(11).([][]byte)[i], a.int(8)})
			}
			for i, id := range a.ints(12) {
				off, data := a.ints(13)[i], a.at(14).([][]byte)[i]
				t.patch(id, off, data)
				for _, p := range t.pieces[id] {
					if over := min(p.off+int64(len(p.data)), off+int64(len(data))) - max(p.off, off); over > 0 {
						t.mark(id, max(p.off, off), a.int(8))
						patches += over
					}
				}
			}
			for i, at := range a.strs(17) {
				t.contents++
				id, k := t.contents, key{a.int(1), at}
				old, there := t.files[k]
				if there {
					t.leave(old, a.ints(22), m.Now())
				}
				t.files[k] = fileRow{id, a.ints(18)[i], old.version + 1, m.Now()}
				for j, of := range a.ints(19) {
					if of == int64(i+1) {
						t.add(id, piece{a.ints(20)[j], a.at(21).([][]byte)[j], a.int(8)})
					}
				}
				put, made, versions = append(put, at), append(made, id), append(versions, old.version+1)
			}
		}
		if end := a.int(23); end > 0 {
			t.until(key{a.int(1), a.str(16)}, a.str(15), m.Now().UnixMicro()+end)
		} else {
			t.until(key{a.int(1), a.str(16)}, a.str(15), 0)
		}
		return one(ok, int64(len(files)), patches, put, made, versions)
	}},
	{"wait", waitBehind, commits, true, func(m *Model, t *tables, ok bool, a args) answer {
		if _, there := t.locks[key{a.int(1), a.str(5)}]; !there && ok {
			t.locks[key{a.int(1), a.str(5)}] = lockRow{}
		}
		return one(ok)
	}},
	{"take", takeLock, commitsLate, false, func(m *Model, t *tables, _ bool, a args) answer {
		t.fence++
		token, k := fmt.Sprint(t.fence, ".", a.str(9)), key{a.int(1), a.str(2)}
		now := m.Now().UnixMicro()
		l, there := t.locks[k]
		ok := m.fence(t, a.int(1), a.strs(7), a.strs(8))
		held := map[string]int64{}
		for h, end := range l.held {
			if end > now && !slices.Contains(a.strs(6), h) {
				held[h] = end
			}
		}
		alone := a.at(3).(bool)
		switch before := l.holder; {
		case !ok, there && (l.alone || alone) && len(held) > 0 && m.Break != BrokenLock:
			return one(ok, "", before)
		default:
			held[token] = now + a.int(4)
			t.locks[k] = lockRow{alone, held, a.str(5), l.wanted}
			return one(ok, token, before)
		}
	}},
	{"view", listView, reads, false, func(m *Model, t *tables, _ bool, a args) (out answer) {
		names := t.in(a.int(1), a.str(2), a.str(3))
		for _, at := range a.strs(4) {
			if _, there := t.files[key{a.int(1), at}]; there && !slices.Contains(names, at) {
				names = append(names, at)
			}
		}
		if l, there := t.locks[key{a.int(1), a.str(9)}]; !there || l.holder != a.str(10) {
			return out
		}
		slices.Sort(names)
		for _, at := range names {
			f := t.files[key{a.int(1), at}]
			from := int64(-1) // from where on it is read
			if k := slices.Index(a.strs(5), at); k >= 0 {
				same, upto := a.ints(6)[k] == f.content, a.ints(8)[k]
				switch {
				case same && a.ints(7)[k] == f.version:
				case f.size <= 4096, !same && f.size <= 32768:
					from = 0
				case same && f.size > upto && f.size-upto <= 131072:
					for _, p := range t.pieces[f.content] {
						if p.off <= upto {
							from = p.off
						}
					}
					from = max(from, 0)
				}
			}
			some := false
			for _, p := range t.pieces[f.content] {
				if from >= 0 && p.off >= from {
					some = true
					off := p.off
					out.rows = append(out.rows, []any{at, f.content, f.size, f.version, f.time, &off, p.data})
				}
			}
			if !some {
				out.rows = append(out.rows, []any{at, f.content, f.size, f.version, f.time, (*int64)(nil), []byte(nil)})
			}
		}
		return out
	}},
	{"beside", "SELECT path, content, size, version, time FROM files", reads, false, func(m *Model, t *tables, _ bool, a args) (out answer) {
		for _, at := range a.strs(2) {
			if f, there := t.files[key{a.int(1), at}]; there {
				out.rows = append(out.rows, []any{at, f.content, f.size, f.version, f.time})
			}
		}
		return out
	}},
	{"lost", "SELECT h.token FROM unnest($2::text[], $3::text[])", reads, false, func(m *Model, t *tables, _ bool, a args) (out answer) {
		for i, at := range a.strs(2) {
			if _, there := t.locks[key{a.int(1), at}].held[a.strs(3)[i]]; there {
				out.rows = append(out.rows, []any{a.strs(3)[i]})
			}
		}
		return out
	}},
	{"want", wantLock, commitsLate, false, func(m *Model, t *tables, _ bool, a args) answer {
		if l, there := t.locks[key{a.int(1), a.str(2)}]; there && !l.alone {
			l.wanted = m.Now()
			t.locks[key{a.int(1), a.str(2)}] = l
		}
		return one("off")
	}},
	{"free", freeLock, commitsLate, false, func(m *Model, t *tables, _ bool, a args) answer {
		k := key{a.int(1), a.str(2)}
		_, had := t.locks[k].held[a.str(3)]
		if a.at(4).(bool) {
			t.until(k, a.str(3), 0)
		} else {
			t.free(k, a.str(3))
		}
		return one(had, "off")
	}},
	{"renew", "WITH h AS (SELECT n.path, jsonb_object_agg", commits, false, func(m *Model, t *tables, _ bool, a args) (out answer) {
		more := map[string]map[string]int64{}
		for i, at := range a.strs(2) {
			token := a.strs(3)[i]
			if _, there := t.locks[key{a.int(1), at}].held[token]; there {
				if more[at] == nil {
					more[at] = map[string]int64{}
				}
				more[at][token] = m.Now().UnixMicro() + a.int(4)
			}
		}
		for _, at := range slices.Sorted(maps.Keys(more)) {
			l := t.locks[key{a.int(1), at}]
			l.held = maps.Clone(l.held)
			maps.Copy(l.held, more[at])
			t.locks[key{a.int(1), at}] = l
			out.rows = append(out.rows, []any{at, l.wanted.After(m.Now().Add(-time.Duration(a.int(5)) * time.Microsecond)), slices.Sorted(maps.Keys(l.held))})
		}
		return out
	}},
	{"end", "SELECT pg_terminate_backend(pid, 2000)", reads, false, func(m *Model, t *tables, _ bool, a args) answer {
		if pid := uint32(a.int(1)); m.Ended != nil && m.serves[pid] == m.asked {
			m.Ended(pid)
		}
		return answer{}
	}},
	{"object", "o AS (INSERT INTO objects AS o", commits, true, func(m *Model, t *tables, ok bool, a args) answer {
		contents := []int64{}
		for i, k := range a.strs(5) {
			if !ok {
				break
			}
			t.contents++
			id, o := t.contents, objectRow{root: a.int(1), key: k, size: a.ints(6)[i], place: a.str(7)}
			for had, was := range t.objects { // by a write whose answer was lost
				if was.root == o.root && was.key == k {
					id, o = had, was
				}
			}
			o.time = m.Now()
			t.objects[id] = o
			contents = append(contents, id)
		}
		return one(ok, contents)
	}},
	{"named", "SELECT count(*) FROM objects WHERE content=ANY", reads, false, func(m *Model, t *tables, _ bool, a args) answer {
		n := int64(0)
		for _, id := range a.ints(1) {
			if t.objects[id].named {
				n++
			}
		}
		return one(n)
	}},
	{"is object", "SELECT EXISTS(SELECT FROM objects WHERE content=$1", reads, false, func(m *Model, t *tables, _ bool, a args) answer {
		o, there := t.objects[a.int(1)]
		return one(there && !o.goes)
	}},
	{"find object", "SELECT key, size, place FROM objects", reads, false, func(m *Model, t *tables, _ bool, a args) answer {
		o, there := t.objects[a.int(1)]
		if !there {
			return answer{}
		}
		return one(o.key, o.size, o.place)
	}},
	{"condemn", condemn, commits, false, func(m *Model, t *tables, _ bool, a args) (out answer) {
		for _, id := range slices.Sorted(maps.Keys(t.objects)) {
			o := t.objects[id]
			_, has := t.opened(id)
			late := o.time.Before(m.Now().Add(-time.Duration(a.int(2)) * time.Microsecond))
			if o.root != a.int(1) || !o.goes && (o.named && has || !o.named && !late) {
				continue
			}
			out.rows = append(out.rows, []any{id, o.key, o.goes})
			o.goes = true
			t.objects[id] = o
		}
		return out
	}},
	{"swept", "WITH d AS (DELETE FROM objects", commits, false, func(m *Model, t *tables, _ bool, a args) answer {
		if t.objects[a.int(1)].goes {
			delete(t.objects, a.int(1))
		}
		return one(true)
	}},
	{"strays", "SELECT x.key, o.key IS NOT NULL FROM unnest", reads, false, func(m *Model, t *tables, _ bool, a args) (out answer) {
		for _, k := range a.strs(2) {
			known, named := false, false
			for id, o := range t.objects {
				if o.root == a.int(1) && o.key == k {
					known = true
					_, _, named = t.of(id)
				}
			}
			if !named {
				out.rows = append(out.rows, []any{k, known})
			}
		}
		return out
	}},
	// What tests ask.
	{"forget locks", `UPDATE locks SET held='{}'`, commits, false, func(m *Model, t *tables, _ bool, a args) answer {
		for k, l := range t.locks {
			l.held = nil
			t.locks[k] = l
		}
		return answer{}
	}},
	{"end leases", EndLeases, commits, false, func(m *Model, t *tables, _ bool, a args) answer {
		for k, l := range t.locks {
			held := map[string]int64{}
			for token := range l.held {
				held[token] = 1
			}
			l.held = held
			t.locks[k] = l
		}
		return answer{}
	}},
	{"count", CountRows, reads, false, func(m *Model, t *tables, _ bool, a args) answer {
		n := len(t.files) + len(t.gone)
		for _, p := range t.pieces {
			n += len(p)
		}
		return one(int64(n))
	}},
}...)

const (
	// EndLeases has all leases end.
	EndLeases = `UPDATE locks SET held=coalesce((SELECT jsonb_object_agg(key, 1) FROM jsonb_each(held)), '{}')`
	// CountRows counts what contents have.
	CountRows = `SELECT (SELECT count(*) FROM pieces)+(SELECT count(*) FROM files)+(SELECT count(*) FROM gone)`
)

// in are the paths of a root in bounds, sorted.
func (t *tables) in(root int64, lo, hi string) (out []string) {
	for k := range t.files {
		if k.root == root && k.path >= lo && k.path < hi {
			out = append(out, k.path)
		}
	}
	slices.Sort(out)
	return out
}

// of is the file that has a content.
func (t *tables) of(content int64) (key, fileRow, bool) {
	for k, f := range t.files {
		if f.content == content {
			return k, f, true
		}
	}
	return key{}, fileRow{}, false
}

func (t *tables) opened(content int64) (fileRow, bool) {
	if _, f, ok := t.of(content); ok {
		return f, true
	}
	f, ok := t.gone[content]
	return f, ok
}

// leave takes the content from a name; deleted is false if somebody reads it.
func (t *tables) leave(f fileRow, open []int64, now time.Time) (deleted bool) {
	if slices.Contains(open, f.content) {
		t.gone[f.content] = fileRow{content: f.content, size: f.size, time: now}
		return false
	}
	delete(t.pieces, f.content)
	return true
}

func (t *tables) add(content int64, p piece) {
	p.data = bytes.Clone(p.data)
	next := append(slices.Clone(t.pieces[content]), p)
	slices.SortFunc(next, func(a, b piece) int { return cmp.Compare(a.off, b.off) })
	t.pieces[content] = next
}

// patch writes over what is there.
func (t *tables) patch(content, off int64, data []byte) {
	next := slices.Clone(t.pieces[content])
	for i, p := range next {
		from, to := max(off, p.off), min(off+int64(len(data)), p.off+int64(len(p.data)))
		if from < to {
			next[i].data = bytes.Clone(p.data)
			copy(next[i].data[from-p.off:], data[from-off:to-off])
		}
	}
	t.pieces[content] = next
}

// mark says of the piece at an offset which write it is of.
func (t *tables) mark(content, off, mark int64) {
	next := slices.Clone(t.pieces[content])
	for i, p := range next {
		if p.off <= off && off < p.off+int64(len(p.data)) {
			next[i].mark = mark
		}
	}
	t.pieces[content] = next
}

// marked is whether contents, or those of paths, have a piece with a mark.
func (t *tables) marked(a args) bool {
	ids := slices.Clone(a.ints(2))
	for _, at := range a.strs(4) {
		ids = append(ids, t.files[key{a.int(1), at}].content)
	}
	return slices.ContainsFunc(ids, func(id int64) bool {
		return slices.ContainsFunc(t.pieces[id], func(p piece) bool { return p.mark == a.int(3) })
	})
}

func (t *tables) free(k key, token string) {
	if l, there := t.locks[k]; there {
		l.held = maps.Clone(l.held)
		delete(l.held, token)
		t.locks[k] = l
	}
}

// until has the lease of a token that is there end at some time.
func (t *tables) until(k key, token string, end int64) {
	l := t.locks[k]
	if _, there := l.held[token]; there {
		l.held = maps.Clone(l.held)
		l.held[token] = end
		t.locks[k] = l
	}
}

// fence is whether tokens still hold their locks.
func (m *Model) fence(t *tables, root int64, locks, tokens []string) bool {
	for i, at := range locks {
		if _, there := t.locks[key{root, at}].held[tokens[i]]; !there && m.Break != BrokenFence && !(m.Break == BrokenPromoted && len(m.sites) > 1) {
			return false
		}
	}
	return true
}

// about is the name that a statement is about.
func (m *Model) about(in *site, s *statement, a args) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var at any = ""
	switch s.name {
	case "append", "sync", "cut", "patch":
		k, f, _ := in.now.of(a.int(5))
		at = fmt.Sprintf("%s of %d bytes", k.path, f.size)
	case "look", "part", "size", "marked":
		k, _, _ := in.now.of(a.int(1))
		at = k.path
	case "put", "make", "remove", "write text", "remove text":
		at = a.at(5)
	case "move":
		at = a.str(5) + " to " + a.str(8)
	case "flush":
		at = a.str(16)
	case "find", "get", "take", "free", "list", "text":
		at = a.at(2)
	default:
		return ""
	}
	return fmt.Sprint(" ", at)
}

// audit looks at what a statement left.
func (m *Model) audit(in *site, s *statement, a args, ok bool) {
	switch {
	case s.fenced && ok:
		for i, at := range a.strs(2) {
			_, has := in.now.locks[key{a.int(1), at}].held[a.strs(3)[i]]
			if freed := s.name == "flush" && a.str(15) == a.strs(3)[i]; !has && !freed {
				m.Audit(fmt.Sprintf("%s is done by one who has lost %s", s.name, at))
			}
		}
	}
	switch {
	case s.name == "put" && ok && m.Apart != nil:
		for _, id := range a.ints(12) {
			if o := in.now.objects[id]; o.named && !m.Apart(o.key) {
				m.Audit(fmt.Sprintf("%s has got its name, and is not in the bucket", o.key))
			}
		}
	case s.name == "take":
		if l := in.now.locks[key{a.int(1), a.str(2)}]; l.alone && len(l.held) > 1 {
			m.Audit(fmt.Sprintf("%d have %s, and one has it alone", len(l.held), a.str(2)))
		}
	}
}

// idle is whether a file of a workspace may be written without a lock.
func (m *Model) idle(t *tables, root int64) bool {
	l, there := t.locks[key{root, writersLock}]
	for _, end := range l.held {
		if end > m.Now().UnixMicro() && m.Break != BrokenLock {
			return false
		}
	}
	return there && t.workspaces[root].moving == ""
}

// find is the statement of a text.
func find(sql string) (*statement, error) {
	for i, s := range statements {
		rest, isFenced := strings.CutPrefix(sql, fenced)
		if !isFenced {
			rest, isFenced = strings.CutPrefix(sql, without)
		}
		if s.fenced == isFenced && strings.HasPrefix(strings.TrimSpace(rest), s.part) {
			return &statements[i], nil
		}
	}
	return nil, fmt.Errorf("the model of the server does not know this statement: tell it what it does in model_test.go\n%s", sql)
}

// exec does a statement on a server.
func (m *Model) exec(in *site, sql string, a []any) (answer, error) {
	s, err := find(sql)
	if err != nil {
		return answer{}, err
	}
	if m.asked = in; s.does != reads {
		in.commits(s.waits(a), m.Async)
	}
	ok := !s.fenced || m.fence(&in.now, args(a).int(1), args(a).strs(2), args(a).strs(3))
	if strings.HasPrefix(sql, without) {
		ok = ok && m.idle(&in.now, args(a).int(1))
	}
	out := s.do(m, &in.now, ok, a)
	if m.Audit != nil && in == m.primary() {
		m.audit(in, s, a, ok)
	}
	return out, nil
}

// waits is whether a statement's commit waits for the disk and a standby, if it has one.
func (s *statement) waits(a []any) bool {
	return s.does == commits && !(s.fenced && args(a).str(4) == "off")
}

// Statement is one that is sent, with all that is one transaction with it.
type Statement struct {
	Context     context.Context // of who waits for the answer
	Name, About string
	PID         uint32
	// Do has the server do it; ErrWaits is that its commit waits for the standby, and has not
	// happened yet to anybody else. Commit ends that waiting, without the standby.
	Do, Commit func() error
}

// Wire brings a statement to the server and the answer back, and may do neither.
type Wire func(Statement) error

// Client is a process's connections to a model.
type Client struct {
	m      *Model
	wire   Wire
	holder string
	// meets is called when a connection is to another server than the last, or to one that
	// failed meanwhile, and asked whether an idle one may be used.
	meets func(server int64)
	may   func(server int64) bool

	mu    sync.Mutex
	idle  []*modelConn
	made  int
	reset int // how often all connections were given up
	last  life
}

// connect gives an idle connection, or a new one.
func (c *Client) connect() *modelConn {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n := len(c.idle) - 1; n >= 0; n-- {
		conn := c.idle[n]
		c.idle = c.idle[:n]
		if c.m.lives(conn.to) && (c.m.Break == BrokenServers || c.may == nil || c.may(conn.Server())) {
			return conn
		}
	}
	c.made++
	conn := &modelConn{c: c, pid: c.m.pids.Add(1), reset: c.reset}
	conn.to = c.m.reach(conn.pid, c.holder, c.made)
	if was := c.last; was != conn.to {
		c.last = conn.to
		if c.m.Break == BrokenServers && was.at != nil && was.at.failed == was.since {
			return conn
		}
		if c.meets != nil {
			c.meets(conn.Server())
		}
	}
	return conn
}

// OnModel opens a root of a model as Open does on a server. wire may be nil.
func OnModel(m *Model, wire Wire, root int64, holder string, lease time.Duration) *Store {
	client := m.client(wire)
	client.holder = holder
	c := &core{place: "model", holder: holder, lease: lease, root: root, pool: client}
	client.meets = c.meets // as Open has it
	client.may = func(server int64) bool { return server == c.server.Load() }
	c.leases.init(c)
	c.open.init()
	return &Store{core: c}
}

// WithBucket keeps large contents in a bucket.
func (s *Store) WithBucket(b Bucket, above int64, grace time.Duration) *Store {
	s.objects.init(Options{Bucket: b, Above: above, Grace: grace})
	return s
}

func (m *Model) client(wire Wire) *Client {
	if wire == nil {
		wire = func(s Statement) error { return s.Do() }
	}
	return &Client{m: m, wire: wire}
}

func (c *Client) Acquire(context.Context) (conn, error) { return c.connect(), nil }
func (c *Client) Close()                                {}

// Reset implements database.
func (c *Client) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle, c.reset = nil, c.reset+1
}

func (c *Client) Query(ctx context.Context, sql string, a ...any) (pgx.Rows, error) {
	conn := c.connect()
	defer conn.Release()
	return conn.Query(ctx, sql, a...)
}

func (c *Client) Exec(ctx context.Context, sql string, a ...any) (pgconn.CommandTag, error) {
	_, err := c.Query(ctx, sql, a...)
	return pgconn.CommandTag{}, err
}

type modelConn struct {
	c     *Client
	pid   uint32
	to    life
	reset int
	dead  bool
}

func (c *modelConn) Release() {
	c.c.mu.Lock()
	defer c.c.mu.Unlock()
	if !c.dead && c.reset == c.c.reset {
		c.c.idle = append(c.c.idle, c)
	}
}

func (c *modelConn) PID() uint32 { return c.pid }

func (c *modelConn) Server() int64 {
	if c.c.m.Break == BrokenServers {
		return 1
	}
	return c.to.at.started
}

// ask sends statements that are one transaction.
func (c *modelConn) ask(ctx context.Context, qs ...*pgx.QueuedQuery) ([]answer, error) {
	s, err := find(qs[0].SQL)
	if err != nil {
		return nil, err
	}
	var out []answer
	about := ""
	if c.c.m.Named {
		about = c.c.m.about(c.to.at, s, qs[0].Arguments)
	}
	do := func(wait bool) func() error {
		return func() (err error) {
			out, err = c.c.m.transact(c.to, qs, wait)
			return err
		}
	}
	err = c.c.wire(Statement{Context: ctx, Name: s.name, About: about, PID: c.pid, Do: do(true), Commit: do(false)})
	if err != nil {
		var said *pgconn.PgError
		c.dead = !errors.As(err, &said)
		return nil, err
	}
	return out, nil
}

func (c *modelConn) Query(ctx context.Context, sql string, a ...any) (pgx.Rows, error) {
	out, err := c.ask(ctx, &pgx.QueuedQuery{SQL: sql, Arguments: a})
	if err != nil {
		return nil, err
	}
	return &rows{left: out[0].rows}, nil
}

func (c *modelConn) QueryRow(ctx context.Context, sql string, a ...any) pgx.Row {
	r, err := c.Query(ctx, sql, a...)
	return oneRow{r, err}
}

func (c *modelConn) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	out, err := c.ask(ctx, b.QueuedQueries...)
	return &results{out, err}
}

type results struct {
	left []answer
	err  error
}

func (r *results) Exec() (pgconn.CommandTag, error) {
	_, err := r.Query()
	return pgconn.CommandTag{}, err
}

func (r *results) Query() (pgx.Rows, error) {
	if r.err != nil {
		return nil, r.err
	}
	a := r.left[0]
	r.left = r.left[1:]
	return &rows{left: a.rows}, nil
}

func (r *results) QueryRow() pgx.Row {
	rows, err := r.Query()
	return oneRow{rows, err}
}

func (r *results) Close() error { return r.err }
func (r *results) Tx() pgx.Tx   { return nil }

type oneRow struct {
	rows pgx.Rows
	err  error
}

func (r oneRow) Scan(into ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		return cmp.Or(r.rows.Err(), pgx.ErrNoRows)
	}
	if err := r.rows.Scan(into...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}

// rows are an answer that is read.
type rows struct {
	left [][]any
	at   []any
}

func (r *rows) Close()                                       {}
func (r *rows) Err() error                                   { return nil }
func (r *rows) CommandTag() pgconn.CommandTag                { return pgconn.CommandTag{} }
func (r *rows) FieldDescriptions() []pgconn.FieldDescription { return nil }
func (r *rows) Values() ([]any, error)                       { return r.at, nil }
func (r *rows) RawValues() [][]byte                          { return nil }
func (r *rows) Conn() *pgx.Conn                              { return nil }
func (r *rows) TypeMap() *pgtype.Map                         { return nil }

func (r *rows) Next() bool {
	if len(r.left) == 0 {
		return false
	}
	r.at, r.left = r.left[0], r.left[1:]
	return true
}

func (r *rows) Scan(into ...any) error {
	if len(into) != len(r.at) {
		return fmt.Errorf("%d columns, and %d are scanned", len(r.at), len(into))
	}
	for i, to := range into {
		v := reflect.ValueOf(r.at[i])
		if b, ok := r.at[i].([]byte); ok {
			v = reflect.ValueOf(bytes.Clone(b))
		}
		at := reflect.ValueOf(to).Elem()
		if !v.Type().ConvertibleTo(at.Type()) || v.Kind() != at.Kind() && !v.CanInt() {
			return fmt.Errorf("column %d is %v, and scanned as %v", i+1, v.Type(), at.Type())
		}
		at.Set(v.Convert(at.Type()))
	}
	return nil
}
