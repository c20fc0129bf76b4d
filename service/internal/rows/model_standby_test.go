package rows

import (
	"errors"
	"io"
)

// site is a server: the primary, or one that was.
type site struct {
	now tables
	// before are the tables before each of the newest commits that neither the disk nor the
	// standby need have.
	before []tables
	// alone: no standby answers, so that commits that wait for one go on waiting.
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

// mostTail bounds what the disk and the standby lack.
const mostTail = 16

// transact runs a statement. With wait it undoes one whose commit has to wait for a standby that
// does not answer: what is done when that waiting ends is as if it had come only then.
func (m *Model) transact(to life, s *statement, a args, wait bool) ([][]any, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	in := to.at
	if in.dead || in.failed != to.since {
		return nil, io.ErrUnexpectedEOF
	}
	was := in.now
	in.now = was.clone()
	out := effects[s](m, &in.now, a)
	synced := (s != &commit || a.str(2) == "on" && m.Break != BrokenAsync) && !m.Async
	switch {
	case !in.now.touched:
		in.now = was
	case synced && in.alone && wait:
		in.now = was
		return nil, ErrWaits
	case synced:
		in.before = nil
	default:
		if in.before = append(in.before, was); len(in.before) > mostTail {
			in.before = in.before[1:]
		}
	}
	return out, nil
}

// without is the tables without the newest n commits of those that may be missing.
func (in *site) without(n int) tables {
	if n = min(n, len(in.before)); n > 0 {
		return in.before[len(in.before)-n]
	}
	return in.now
}

func (m *Model) primary() *site { return m.sites[len(m.sites)-1] }

// Tail returns how many commits have not reached the disk, or the standby.
func (m *Model) Tail() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.primary().before)
}

// Fail has the server fail and begin anew, without the newest n commits of those that nobody
// waited for the disk with.
func (m *Model) Fail(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	in := m.primary()
	in.now, in.before = in.without(n), nil
	in.failed++
}

// CutOff has the standby not answer any more, which lacks the newest n commits that nobody waited
// for it with.
func (m *Model) CutOff(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	in := m.primary()
	in.alone, in.standby = !m.Async && m.Break != BrokenStandby, in.without(n)
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
	m.sites = append(m.sites, &site{now: m.primary().standby})
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

// Lost reports whether the server of a statement's connection is dead.
func (m *Model) Lost(s Statement) bool { return !m.lives(s.at) }

// reach gives the server that a new connection reaches.
func (m *Model) reach(holder string, n int) life {
	m.mu.Lock()
	defer m.mu.Unlock()
	in := m.primary()
	if k := len(m.sites) - 2; k >= 0 && !m.sites[k].dead && m.Route != nil && m.Route(holder, n) {
		in = m.sites[k]
	}
	return life{in, in.failed}
}
