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
	ended     bool
	failed    error // the reason why nothing more can be written
	// logs are the open logs that have read the folder in this unit, or have written to it.
	logs map[*log]bool

	// asked reports that a statement has found the known mark as the folder's newest.
	asked bool
	// synced reports that the collected writes, or those that were read, must survive a crash of the
	// server.
	synced bool
	state  // the folder as it will be after the collected writes; its trail is still the known one
	writes
}

// writes are the writes that one statement makes.
type writes struct {
	mark     int64 // the random number of the writes
	recs     []row
	replaced []int          // the indexes of logs whose old records are removed
	puts     map[string]put // documents and blobs
	gone     []put          // paths that are removed with all below them, before puts are written
}

// put is a document or a blob to be written. If data is nil, the document is to be removed.
type put struct {
	place
	doc
}

// reset drops the collected writes.
func (u *unit) reset() {
	u.state, u.writes, u.synced = u.f.state, writes{mark: newMark(), puts: map[string]put{}}, false
	u.docs, u.tail = maps.Clone(u.docs), slices.Clip(u.tail)
}

// State implements [store.Unit].
func (u *unit) State() store.Store { return &Store{core: u.c, unit: u} }

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
	if u.failed != nil || u.ended {
		return u.failed
	}
	var err error
	switch {
	case len(u.recs)+len(u.replaced)+len(u.puts)+len(u.gone) > 0:
		err = u.commit()
	case u.synced && !u.f.durable:
		err = u.stand()
	case u.unchecked && !u.asked:
		var n changes
		if n, err = u.c.read(u.f.at, 0, 0, 0, []int{}, false); err == nil && n.newest() != u.newest() {
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
	u.lose()
	u.failed, u.f.known = err, false
	return err
}

// lose drops the collected writes. The unit's logs may have read them, and must be opened again.
func (u *unit) lose() {
	for l := range u.logs {
		l.mark = noMark
	}
	clear(u.logs)
	u.reset()
}

// overtaken returns the error of a unit whose folder has another mark.
func (u *unit) overtaken() error {
	return fmt.Errorf("write %s: %w; nothing was written: make the call again", u.c.where(u.f.at), store.ErrOvertaken)
}

// stand waits until the folder is durable. It returns an error if the folder's newest mark is not
// the known one.
func (u *unit) stand() error {
	has, newest, err := u.c.stand(u.f.at, u.newest())
	if err == nil && !newest && (has || u.newest() != 0) {
		err = u.overtaken()
	}
	u.f.durable = err == nil
	return err
}

// stand waits until a folder is durable. has reports whether the folder's trail has a mark, and
// newest whether that mark is the newest.
func (c *core) stand(at string, mark int64) (has, newest bool, err error) {
	_, err = c.one(&stands, at, []any{at, mark}, &has, &newest)
	return has, newest, err
}

// commit sends the collected writes to the server. If they are made, the unit's state becomes the known
// state of the folder. Callers must hold the folder's mutex, which commit releases for a moment.
func (u *unit) commit() error {
	mark := after(u.newest(), u.mark)
	ok, unsure, err := u.send()
	newest := true
	if err == nil && !ok && unsure { // the writes were made before an answer was lost, or the unit was overtaken
		ok, newest, err = u.c.stand(u.f.at, mark)
	}
	switch {
	case err != nil:
		return err
	case !ok:
		return u.overtaken()
	}
	f := u.f
	if f.at == filesIn { // the written files are read again, because the server's clock gives their times
		newest = false
	} else {
		u.rev++
	}
	known := u.trail[max(0, len(u.trail)-marks+1):]
	if len(u.replaced) > 0 {
		known = nil
	}
	u.trail = append(slices.Clone(known), mark)
	others := map[string]bool{}
	for _, p := range u.changes() {
		if p.folder != f.at && p.blob() == "" {
			others[p.folder] = true
		}
	}
	for l := range u.logs {
		l.mark = mark
	}
	f.state, f.durable, f.known = u.state, u.synced, newest
	u.reset()
	f.mu.Unlock()
	for at := range others {
		u.c.forget(at)
	}
	f.mu.Lock()
	return nil
}

// changes returns the collected removals and then the puts. It sorts the puts by path, so that two
// writers of the same rows don't wait for each other.
func (w *writes) changes() []put {
	out := slices.Clone(w.gone)
	for _, at := range slices.Sorted(maps.Keys(w.puts)) {
		out = append(out, w.puts[at])
	}
	return out
}

// path returns the path of a name in the folder.
func (f *folder) path(name string) string {
	if f.at == "" {
		return name
	}
	return f.at + "/" + name
}

// covers reports whether a path is this place or below it.
func (p place) covers(at string) bool { return at == p.at || strings.HasPrefix(at, p.at+"/") }

// blobWaits is how often a writer of blobs tries while another process removes blobs. blobPause is
// the time between two tries.
const blobWaits = 200

var blobPause = 25 * time.Millisecond

// send makes the collected writes on the server if the known mark is the folder's newest. ok is false
// if the folder has another mark. unsure reports that an answer was lost, so that the server may have
// made the writes earlier.
func (u *unit) send() (ok, unsure bool, err error) {
	how := "off"
	if u.synced {
		how = "on"
	}
	var seqs, times []int64
	var turns, in, ns, zones []int
	var kinds, ids, bodies, folders, names, hashes []string
	var key string
	var data, blobs [][]byte
	for _, r := range u.recs {
		seqs, turns, in, ns = append(seqs, r.seq), append(turns, r.turn), append(in, r.log), append(ns, r.n)
		kinds, ids, bodies = append(kinds, r.rec.Op), append(ids, r.rec.ID), append(bodies, string(r.rec.Body))
		t, zone := since1970(r.rec.Time)
		times, zones = append(times, t), append(zones, zone)
	}
	for _, p := range u.changes() {
		if hash := p.blob(); hash != "" {
			hashes, blobs = append(hashes, hash), append(blobs, p.data)
			continue
		}
		folders, names, data = append(folders, p.folder), append(names, p.name), append(data, p.data)
		if p.folder == u.f.at {
			key = cmp.Or(p.key(), key)
		}
	}
	args := []any{how, u.f.at, u.newest(), u.mark, key, u.seq, u.turns, u.counts[:], u.sizes[:], some(u.replaced), u.seq - int64(len(u.recs)),
		seqs, turns, in, ns, kinds, ids, times, zones, bodies, folders, names, data, hashes, blobs}
	for range blobWaits {
		var free, again bool
		again, err = u.c.one(&commit, u.f.at, args, &free, &ok)
		if unsure = unsure || again; err != nil || free {
			return ok, unsure, err
		}
		time.Sleep(blobPause)
	}
	return false, unsure, fmt.Errorf("%w: %w", &store.LockedError{Name: u.c.where(store.BlobsLock), Holder: "a process that removes blobs"}, store.ErrAgain)
}

// some returns s, or an empty slice if s is nil, because pgx sends a nil slice as NULL.
func some[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// key returns the session's key if the document is session.json, and "" otherwise.
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
	if u.ended {
		return u.failed
	}
	err := u.sync()
	u.ended, u.f.unit, u.f.tail = true, nil, nil
	<-u.f.turn
	return err
}

// writing returns the open unit to which a write to a place belongs, or nil if there is none. If it
// returns a unit, the caller must unlock the mutex of the unit's folder.
func (s *Store) writing(p place) *unit {
	f := s.core.folder(p.folder)
	f.mu.Lock()
	if u := f.of(s); u != nil {
		return u
	}
	f.mu.Unlock()
	if u := s.unit; u != nil {
		u.f.mu.Lock()
		if !u.ended {
			return u
		}
		u.f.mu.Unlock()
	}
	return nil
}

// change collects writes and removals of documents, and writes of blobs.
func (u *unit) change(how store.Durability, all ...put) {
	for _, p := range all {
		u.synced = u.synced || how != store.Unsynced || p.blob() != ""
		own := p.folder == u.f.at && p.folder != ""
		if p.data != nil {
			p.mark = u.mark
			if u.puts[p.at] = p; own {
				u.docs[p.name] = p.doc
			}
			continue
		}
		maps.DeleteFunc(u.puts, func(at string, _ put) bool { return p.covers(at) })
		if u.gone = append(u.gone, p); own {
			maps.DeleteFunc(u.docs, func(name string, _ doc) bool { return p.covers(u.f.path(name)) })
		}
	}
}

// add collects records of a log. If anew is set, they replace all records of the log.
func (u *unit) add(log int, recs []store.Record, anew bool) (out []row, err error) {
	for _, r := range recs {
		if err := sound(r); err != nil {
			return nil, err
		}
	}
	if anew {
		for _, r := range recs {
			u.turns -= commits(r)
		}
		u.turns = max(u.turns, 0)
		u.counts[log], u.sizes[log], u.times[log], u.synced = 0, 0, time.Now(), true
		of := func(r row) bool { return r.log == log }
		u.recs, u.tail = slices.DeleteFunc(u.recs, of), slices.DeleteFunc(slices.Clone(u.tail), of)
		for l := range u.logs {
			if l.i == log {
				l.mark = noMark
				delete(u.logs, l)
			}
		}
		if !slices.Contains(u.replaced, log) {
			u.replaced = append(u.replaced, log)
		}
	}
	for _, r := range recs {
		u.seq, u.turns, u.counts[log], u.sizes[log] = u.seq+1, u.turns+commits(r), u.counts[log]+1, u.sizes[log]+int64(len(r.Body))
		u.times[log] = time.Now()
		n := row{seq: u.seq, turn: u.turns, n: u.counts[log], log: log, rec: r}
		n.rec.Time = at(since1970(r.Time)) // as others read it
		n.rec.Body = slices.Clone(r.Body)
		out = append(out, n)
	}
	u.recs, u.tail = append(u.recs, out...), append(u.tail, out...)
	return out, nil
}

// commits returns 1 if a record commits a turn.
func commits(r store.Record) int {
	if r.Op == "committed" && strings.HasPrefix(r.ID, "turn:") {
		return 1
	}
	return 0
}

// sound returns an error for a record that the server would refuse or change.
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
