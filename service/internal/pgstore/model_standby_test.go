package pgstore

import (
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
)

// site is a server: the primary, or one that was.
type site struct {
	started int64 // as it names itself
	now     tables
	// before are the tables as they were before each of the newest commits that neither the
	// disk need have nor the standby.
	before []tables
	// alone is that no standby answers, so that commits that wait for one go on waiting.
	alone bool
	// standby is what the standby has that does not answer.
	standby tables
	failed  int
	dead    bool
}

// life is a server between two of its failures.
type life struct {
	at    *site
	since int
}

// ErrWaits is that a commit waits for a standby that does not answer.
var ErrWaits = errors.New("the commit waits for the standby")

// mostTail bounds what the disk and the standby are behind.
const mostTail = 16

// commits notes what was before a commit. One that waits is on the disk and the standby when it
// is done, and all before it.
func (in *site) commits(waits, async bool) {
	if waits && !async {
		in.before = nil
		return
	}
	if in.before = append(in.before, in.now.clone()); len(in.before) > mostTail {
		in.before = in.before[1:]
	}
}

// without is the tables without the newest n commits of those that may be missing.
func (in *site) without(n int) tables {
	if n = min(n, len(in.before)); n > 0 {
		return in.before[len(in.before)-n]
	}
	return in.now
}

func (m *Model) primary() *site { return m.sites[len(m.sites)-1] }

// Tail is how many commits have not reached the disk, or the standby.
func (m *Model) Tail() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.primary().before)
}

// Fail lets the server fail and begin anew, without the newest n commits of those that nobody
// waited for the disk with. Sequences go back with them.
func (m *Model) Fail(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	in := m.primary()
	in.now = in.without(n)
	in.before = nil
	in.failed++
}

// CutOff has the standby not answer any more, which lacks the newest n commits that
// nobody waited for it with.
func (m *Model) CutOff(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	in := m.primary()
	in.alone, in.standby = !m.Async && m.Break != BrokenStandby, in.without(n).clone()
}

// Follow has the standby answer again.
func (m *Model) Follow() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.primary().alone = false
}

// Promote makes the standby the primary. The old one lives on until End.
func (m *Model) Promote() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sites = append(m.sites, &site{started: int64(len(m.sites) + 1), now: m.primary().standby})
}

// End is the death of the old primary.
func (m *Model) End() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sites[len(m.sites)-2].dead = true
}

func (m *Model) lives(l life) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !l.at.dead && l.at.failed == l.since
}

// reach gives the server that a new connection reaches.
func (m *Model) reach(pid uint32, holder string, n int) life {
	m.mu.Lock()
	defer m.mu.Unlock()
	in := m.primary()
	if k := len(m.sites) - 2; k >= 0 && !m.sites[k].dead && m.Route != nil && m.Route(holder, n) {
		in = m.sites[k]
	}
	m.serves[pid] = in
	return life{in, in.failed}
}

// Serves is whether the server lives that a session is at.
func (m *Model) Serves(pid uint32) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.serves[pid].dead
}

// transact does statements that are one transaction. With wait it undoes one whose
// commit has to wait for a standby that does not answer: what is done when that waiting
// ends is as if it had come only then.
func (m *Model) transact(to life, qs []*pgx.QueuedQuery, wait bool) (out []answer, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	in := to.at
	if in.dead || in.failed != to.since {
		return nil, io.ErrUnexpectedEOF
	}
	s, err := find(qs[0].SQL)
	if err != nil {
		return nil, err
	}
	waits := in.alone && wait && s.waits(qs[0].Arguments) && !(m.Break == BrokenWait && s.name == "wait")
	was, before := in.now, in.before
	if waits {
		in.now = was.clone()
	}
	for _, q := range qs {
		a, err := m.exec(in, q.SQL, q.Arguments)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	if waits && (m.locksRows(&was, s, qs[0].Arguments) || !was.same(&in.now)) {
		in.now, in.before = was, before
		return nil, ErrWaits
	}
	return out, nil
}

// locksRows is whether a statement locks rows, as those of locks that fence it: that alone makes
// a commit wait. One that neither locks nor changes anything waits for nobody.
func (m *Model) locksRows(t *tables, s *statement, a args) bool {
	switch s.name {
	case "flushed for good", "wait": // it writes the row of the lock as it is
		_, there := t.locks[key{a.int(1), a.str(5)}]
		return there
	case "write text", "remove text":
		if _, there := t.texts[key{a.int(1), a.str(5)}]; there {
			return true
		}
	case "condemn": // it writes what is marked already, as it was
		for _, o := range t.objects {
			if o.root == a.int(1) && o.goes {
				return true
			}
		}
	}
	if !s.fenced {
		return false
	}
	for i, at := range a.strs(2) {
		if _, there := t.locks[key{a.int(1), at}].held[a.strs(3)[i]]; there {
			return true
		}
	}
	return false
}

// same is whether tables have the same rows.
func (t *tables) same(o *tables) bool {
	return maps.Equal(t.files, o.files) && maps.Equal(t.gone, o.gone) && maps.Equal(t.objects, o.objects) && maps.Equal(t.workspaces, o.workspaces) &&
		t.contents == o.contents && t.fence == o.fence &&
		maps.EqualFunc(t.pieces, o.pieces, func(a, b []piece) bool {
			return slices.EqualFunc(a, b, func(a, b piece) bool { return a.off == b.off && a.mark == b.mark && slices.Equal(a.data, b.data) })
		}) &&
		maps.EqualFunc(t.locks, o.locks, func(a, b lockRow) bool {
			return a.alone == b.alone && a.holder == b.holder && a.wanted.Equal(b.wanted) && maps.Equal(a.held, b.held)
		}) &&
		maps.EqualFunc(t.texts, o.texts, func(a, b textRow) bool { return a.version == b.version && a.mark == b.mark })
}
