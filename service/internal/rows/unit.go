package rows

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/store"
)

// unit collects the writes of a unit of work in a folder. The folder's mutex guards it.
type unit struct {
	c *core
	f *folder
	// unchecked reports that the unit began without reading the folder.
	unchecked bool
	// alone: only callers that were given the unit use it.
	alone  bool
	failed error // the reason why nothing more can be written

	// asked reports that a read or write has found the folder with the known mark.
	asked bool
	// synced reports that a write must survive a crash of the server. wait reports the same for the
	// writes that were read.
	synced, wait bool
	head         // with the collected writes
	writes
	appended map[*log]bool // whose places are after records that are not written yet
}

// writes are the writes of one statement.
type writes struct {
	recs     []row
	replaced []int // the logs that lose their records of before
	puts     map[string]put
	gone     []place // written before puts
	blobs    map[string][]byte
}

// put is a document to be written.
type put struct {
	place
	data    []byte
	written time.Time
}

// reset drops the collected writes.
func (u *unit) reset() {
	u.head, u.writes = u.f.head, writes{puts: map[string]put{}, blobs: map[string][]byte{}}
	u.synced, u.wait, u.appended = false, false, map[*log]bool{}
}

// State implements [store.Unit].
func (u *unit) State() store.Store { return &Store{core: u.c, unit: u} }

// Unchecked implements [store.Unit].
func (u *unit) Unchecked() bool { return u.unchecked }

// PutBlobs implements [store.Unit]. The blobs are written with the record that names them.
func (u *unit) PutBlobs(ctx context.Context, b *store.Batch) (store.Stats, error) {
	return b.CommitTo(ctx, u.State().In("blobs"))
}

// Sync implements [store.Unit].
func (u *unit) Sync() error {
	u.f.mu.Lock()
	defer u.f.mu.Unlock()
	return u.sync()
}

func (u *unit) sync() error {
	if u.failed != nil || u.f.unit != u {
		return u.failed
	}
	var err error
	switch {
	case len(u.recs)+len(u.replaced)+len(u.puts)+len(u.gone)+len(u.blobs) > 0:
		err = u.commit()
	case u.wait && !u.f.durable:
		err = u.stand()
	case u.unchecked && !u.asked:
		var n changes
		if n, err = u.c.read(u.f.at, &head{}, []int{}, false); err == nil && n.mark() != u.f.mark() {
			err = u.overtaken()
		}
	}
	u.asked = true
	return u.fail(err)
}

// fail ends all writing after an error. The collected writes are dropped.
func (u *unit) fail(err error) error {
	if err == nil {
		return nil
	}
	for l := range u.appended {
		l.replaced = true
		u.f.gen[l.i]++ // others in this process may have read on to records that are not there
	}
	u.reset()
	u.failed, u.f.known = err, false
	return err
}

// overtaken returns the error of a unit whose folder has another mark.
func (u *unit) overtaken() error {
	return fmt.Errorf("write %s: %w; nothing was written: make the call again", u.c.where(u.f.at), store.ErrOvertaken)
}

// stand waits until the folder is durable.
func (u *unit) stand() error {
	has, newest, err := u.c.stand(u.f.at, u.f.mark())
	if err == nil && !newest && (has || u.f.mark() != 0) {
		err = u.overtaken()
	}
	u.f.durable = err == nil
	return err
}

// stand waits until a folder is durable. has reports whether the folder has a mark, and newest
// whether the mark is its newest.
func (c *core) stand(at string, mark int64) (has, newest bool, err error) {
	_, err = c.one(&stands, at, []any{at, mark}, &has, &newest)
	return has, newest, err
}

// commit makes the collected writes.
func (u *unit) commit() error {
	mark := newMark()
	synced := u.synced || u.wait
	ok, unsure, err := u.c.commit(u.f.at, u.f.mark(), mark, synced, &u.head, &u.writes)
	newest := true
	if err == nil && !ok && unsure { // it was written before an answer was lost, or it was overtaken
		ok, newest, err = u.c.stand(u.f.at, after(u.f.mark(), mark))
	}
	switch {
	case err != nil:
		return err
	case !ok:
		return u.overtaken()
	}
	f := u.f
	f.durable = synced
	u.head.rev++
	u.head.trail = slices.Clone(f.trail[max(0, len(f.trail)-marks+1):])
	if len(u.replaced) > 0 {
		u.head.trail = nil
		f.tail = slices.DeleteFunc(f.tail, func(r row) bool { return slices.Contains(u.replaced, r.log) })
	}
	u.head.trail = append(u.head.trail, after(f.mark(), mark))
	if f.at == filesIn { // the server's clock says when a file was written: what is written is read again
		u.head.rev, newest = f.rev, false
	}
	f.head, f.tail, f.known = u.head, append(f.tail, u.recs...), newest
	for name := range f.docs {
		if slices.ContainsFunc(u.gone, func(g place) bool { return g.folder == f.at && g.covers(f.path(name)) }) {
			delete(f.docs, name)
		}
	}
	others := map[string]bool{}
	for _, g := range u.gone {
		others[g.folder] = true
	}
	for _, p := range u.puts {
		if others[p.folder] = true; p.folder == f.at && f.at != "" {
			f.docs[p.name] = doc{rev: f.rev, size: int64(len(p.data)), mark: mark, data: some(p.data), written: p.written}
		}
	}
	delete(others, f.at)
	u.reset()
	f.mu.Unlock()
	for at := range others {
		u.c.forget(at)
	}
	f.mu.Lock()
	return nil
}

// path returns the path of a name in the folder.
func (f *folder) path(name string) string {
	if f.at == "" {
		return name
	}
	return f.at + "/" + name
}

// covers reports whether a path is this place or below it.
func (p place) covers(at string) bool {
	return at == p.at || p.at == "" || strings.HasPrefix(at, p.at+"/")
}

// blobWaits is how often a writer of blobs tries again while a process removes blobs. blobPause is
// the time between two tries.
const blobWaits = 200

var blobPause = 25 * time.Millisecond

// commit writes in a folder whose newest mark is base, or without a folder if base is -1. ok is
// false if the folder has another mark.
func (c *core) commit(at string, base, mark int64, synced bool, h *head, w *writes) (ok, unsure bool, err error) {
	how := "off"
	if synced {
		how = "on"
	}
	var seqs []int64
	var turns, in, ns, zones []int
	var times []int64
	var kinds, ids, bodies []string
	for _, r := range w.recs {
		seqs, turns, in, ns = append(seqs, r.seq), append(turns, r.turn), append(in, r.log), append(ns, r.n)
		kinds, ids, bodies = append(kinds, r.rec.Op), append(ids, r.rec.ID), append(bodies, string(r.rec.Body))
		t, zone := since1970(r.rec.Time)
		times, zones = append(times, t), append(zones, zone)
	}
	var key string
	var folders, names []string
	var data, blobs [][]byte
	for _, g := range w.gone {
		folders, names, data = append(folders, g.folder), append(names, g.name), append(data, nil)
	}
	for _, path := range slices.Sorted(maps.Keys(w.puts)) { // writers of the same rows wait for the same one first
		p := w.puts[path]
		folders, names, data = append(folders, p.folder), append(names, p.name), append(data, some(p.data))
		if p.folder == at {
			key = cmp.Or(p.key(), key)
		}
	}
	hashes := slices.Sorted(maps.Keys(w.blobs))
	for _, hash := range hashes {
		blobs = append(blobs, w.blobs[hash])
	}
	args := []any{how, at, base, mark, key, h.seq, h.turns, h.counts[:], h.sizes[:], some(w.replaced), h.before(w),
		seqs, turns, in, ns, kinds, ids, times, zones, bodies, folders, names, data, hashes, blobs}
	for range blobWaits {
		var free, again bool
		again, err = c.one(&commit, at, args, &free, &ok)
		if unsure = unsure || again; err != nil || free {
			return ok, unsure, err
		}
		time.Sleep(blobPause)
	}
	return false, unsure, fmt.Errorf("%w: %w", &store.LockedError{Name: c.where(store.BlobsLock), Holder: "a process that removes blobs"}, store.ErrAgain)
}

// before returns the number of the newest record that was there before the collected ones.
func (h *head) before(w *writes) int64 { return h.seq - int64(len(w.recs)) }

// some returns an array that is not NULL.
func some[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// key returns the session's key, if the document is the one that holds it.
func (p *put) key() string {
	var whose struct{ Key string }
	if p.name != "session.json" || json.Unmarshal(p.data, &whose) != nil {
		return ""
	}
	return strings.ReplaceAll(whose.Key, "\x00", "\ufffd")
}

// End implements [store.Unit].
func (u *unit) End() error {
	defer u.c.shed()
	u.f.mu.Lock()
	defer u.f.mu.Unlock()
	if u.f.unit != u {
		return u.failed
	}
	err := u.sync()
	u.f.unit, u.f.tail = nil, nil
	<-u.f.turn
	return err
}

// writing returns the unit to which a write to a place belongs, with its folder locked. It returns
// nil if there is no such unit.
func (s *Store) writing(p place) *unit {
	f := s.core.folder(p.folder)
	f.mu.Lock()
	if u := f.of(s); u != nil {
		return u
	}
	f.mu.Unlock()
	if u := s.unit; u != nil {
		u.f.mu.Lock()
		if u.f.unit == u {
			return u
		}
		u.f.mu.Unlock()
	}
	return nil
}

// put collects a document or a blob.
func (u *unit) put(p put, how store.Durability) {
	u.synced = u.synced || how != store.Unsynced
	if hash := p.blob(); hash != "" {
		u.blobs[hash], u.synced = p.data, true
	} else {
		u.puts[p.at] = p
	}
}

// remove collects the removal of a document with all below it.
func (u *unit) remove(p place, how store.Durability) {
	maps.DeleteFunc(u.puts, func(at string, _ put) bool { return p.covers(at) })
	u.gone = append(u.gone, p)
	u.synced = u.synced || how != store.Unsynced
}

// restart collects the replacement of a log by records.
func (u *unit) restart(log int, recs []store.Record) error {
	rows, h, err := numbered(log, recs, u.head, true)
	if err != nil {
		return err
	}
	u.recs = slices.DeleteFunc(u.recs, func(r row) bool { return r.log == log })
	u.recs, u.head, u.synced = append(u.recs, rows...), h, true
	if !slices.Contains(u.replaced, log) {
		u.replaced = append(u.replaced, log)
	}
	u.f.gen[log]++
	return nil
}

var errNoUnit = errors.New("only a unit of work may write to a log")

// numbered gives records their places after a head, or in a log that begins anew, and returns the
// head that includes them.
func numbered(log int, recs []store.Record, h head, anew bool) (out []row, _ head, err error) {
	if anew {
		h.counts[log], h.sizes[log], h.times[log] = 0, 0, time.Now()
		for _, r := range recs {
			h.turns -= commits(r)
		}
		h.turns = max(h.turns, 0)
	}
	for _, r := range recs {
		if err := sound(r); err != nil {
			return nil, h, err
		}
		h.seq, h.turns, h.counts[log], h.sizes[log] = h.seq+1, h.turns+commits(r), h.counts[log]+1, h.sizes[log]+int64(len(r.Body))
		h.times[log] = time.Now()
		n := row{seq: h.seq, turn: h.turns, n: h.counts[log], log: log, rec: r}
		n.rec.Time = at(since1970(r.Time)) // as others read it
		n.rec.Body = slices.Clone(r.Body)
		out = append(out, n)
	}
	return out, h, nil
}

// commits returns 1 if a record commits a turn.
func commits(r store.Record) int {
	if r.Op == "committed" && strings.HasPrefix(r.ID, "turn:") {
		return 1
	}
	return 0
}

// sound returns an error for a record that the server would not take.
func sound(r store.Record) error {
	text := func(s string) bool { return !strings.ContainsRune(s, 0) && strings.ToValidUTF8(s, "") == s }
	switch {
	case r.Op == "":
		return errors.New("record without an operation")
	case !r.Time.IsZero() && !at(since1970(r.Time)).Equal(r.Time):
		return fmt.Errorf("record %s %q of %s: the time is too far away", r.Op, r.ID, r.Time)
	case !text(r.Op) || !text(r.ID) || len(r.Body) > 0 && (!text(string(r.Body)) || !json.Valid(r.Body)):
		return fmt.Errorf("encode %s record %q: it is no JSON of UTF-8", r.Op, r.ID)
	}
	return nil
}
