package rows_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"testing/synctest"
	"time"

	"github.com/memkernel/memkernel/service/internal/rows"
)

// standby is a second server that follows the first. Now and then it is cut off: commits that wait
// for it go on waiting. Then it follows again, or takes over. The old primary is dead by then, or
// lives on for a while with those who are connected to it, or whom the network leads there.
type standby struct {
	rng   *rand.Rand
	rate  int // of being cut off, per thousand steps
	route int // who reaches the old primary
	// async: nobody waits for it.
	async bool
	phase phase
	until time.Time
	// overs is how often it has taken over, ends how often the old primary is dead.
	overs, ends int
	hung        []*hung
}

type phase int

const (
	follows phase = iota
	cutOff
	two // the old primary lives next to the new one
)

// hung is a commit that waits for the standby.
type hung struct {
	who string
	rows.Statement
	done chan error // nil if nobody waits for the answer
}

// begin draws whether there is a standby.
func (s *simulation) begin() {
	rng := rand.New(rand.NewPCG(s.seed, 46))
	if rng.IntN(2) == 0 {
		return
	}
	b := &standby{rng: rng, rate: 1 + rng.IntN(12), async: rng.IntN(4) == 0}
	if s.m.Async = b.async; b.async {
		s.rates.fail = 0 // its own disk forgets nothing that was waited for
	}
	s.m.Route = b.leadsToOld
	s.standby = b
}

// age is how many old primaries are dead.
func (s *simulation) age() int {
	if s.standby == nil {
		return 0
	}
	return s.standby.ends
}

// mayBeLost reports whether something that was acknowledged at an age may be lost: with a standby
// that nobody waits for, everything from before it took over.
func (s *simulation) mayBeLost(age int) bool {
	return s.standby != nil && s.standby.async && age < s.standby.ends
}

// split reports whether there are two primaries, one of which has old data.
func (s *simulation) split() bool { return s.standby != nil && s.standby.phase == two }

// leadsToOld is for [rows.Model.Route].
func (b *standby) leadsToOld(holder string, n int) bool {
	h := fnv.New64a()
	if fmt.Fprint(h, holder); b.route == 1 {
		n = 0 // some machines reach only the old primary
	}
	return b.route > 0 && rand.New(rand.NewPCG(h.Sum64(), uint64(b.overs*1000+n))).IntN(2) == 0
}

func (b *standby) follows() bool { return b == nil || b.phase == follows }

// hang waits until a commit need not wait for the standby any more, or its connection dies.
func (s *simulation) hang(who string, st rows.Statement) error {
	h := &hung{who, st, make(chan error, 1)}
	s.note(who, st.Name+" "+st.About+" waits for the standby")
	s.count("a commit waits for the standby", 1)
	s.mu.Lock()
	s.standby.hung = append(s.standby.hung, h)
	s.mu.Unlock()
	select {
	case err := <-h.done:
		return err
	case <-st.Context.Done():
	}
	if s.take(h) { // the server ends the waiting of a client that gives up, and others see the commit
		_ = st.Commit()
	}
	return st.Context.Err()
}

// arrives has the server run a statement for which nobody waits any more.
func (s *simulation) arrives(l lateStatement) {
	if errors.Is(l.Do(), rows.ErrWaits) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.standby.hung = append(s.standby.hung, &hung{l.who, l.Statement, nil})
	}
}

// step lets something happen to the servers, or not.
func (b *standby) step(s *simulation) bool {
	if b == nil {
		return false
	}
	if len(b.hung) > 0 && b.rng.IntN(12) == 0 {
		h := b.hung[b.rng.IntN(len(b.hung))]
		if h.done != nil && b.rng.IntN(2) == 0 {
			s.note(h.who, h.Name+": the connection dies while the commit waits")
			h.answer(io.ErrUnexpectedEOF)
			h.done = nil
			return true
		}
		s.note(h.who, h.Name+": its session ends while the commit waits, and others see it")
		s.count("a session ends while its commit waits", 1)
		s.take(h)
		_ = h.Commit()
		h.answer(io.ErrUnexpectedEOF)
		return true
	}
	happens := func(what string) { s.count(what, 1); s.note("standby", what) }
	now := time.Now()
	switch {
	case b.phase == follows:
		if !s.chance(b.rng, b.rate) {
			return false
		}
		s.m.CutOff(b.rng.IntN(s.m.Tail() + 1))
		b.phase, b.until = cutOff, now.Add(time.Duration(b.rng.IntN(2)*b.rng.IntN(int(3*simLease))))
		happens("the standby is cut off")
	case now.Before(b.until):
		return false
	case b.phase == cutOff && b.rng.IntN(4) == 0:
		b.follow(s)
	case b.phase == cutOff:
		s.m.Promote()
		b.phase, b.route, b.until = two, b.rng.IntN(3), now
		b.overs++
		happens("the standby takes over")
		if b.rng.IntN(3) > 0 {
			b.until = now.Add(time.Duration(b.rng.IntN(int(6 * simLease))))
			happens("the old primary lives on")
		}
		s.forget()
	default:
		b.end(s)
	}
	return true
}

// take takes a commit from those that wait.
func (s *simulation) take(h *hung) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.standby.hung)
	s.standby.hung = slices.DeleteFunc(s.standby.hung, func(x *hung) bool { return x == h })
	return len(s.standby.hung) < n
}

func (h *hung) answer(err error) {
	if h.done != nil {
		h.done <- err
		synctest.Wait()
	}
}

// follow has the standby follow again: what waited is done, and acknowledged.
func (b *standby) follow(s *simulation) {
	s.m.Follow()
	b.phase = follows
	s.note("standby", "follows again")
	for _, h := range slices.Clone(b.hung) {
		s.take(h)
		h.answer(h.Commit())
	}
}

// end is the death of the old primary.
func (b *standby) end(s *simulation) {
	s.m.End()
	b.phase = follows
	b.ends++
	s.note("server", "the old primary is dead")
	s.forget()
	for _, h := range slices.Clone(b.hung) {
		s.take(h)
		h.answer(io.ErrUnexpectedEOF)
	}
	s.breaks()
}

// settle leaves one server.
func (b *standby) settle(s *simulation) {
	switch {
	case b.follows():
	case b.phase == two:
		b.end(s)
	default:
		b.follow(s)
	}
}
