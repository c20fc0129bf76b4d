package pgstore_test

import (
	"errors"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"testing/synctest"
	"time"

	"github.com/memkernel/memkernel/service/internal/pgstore"
)

// standby is a second server that follows the first. Now and then it is cut off: commits that
// wait for it go on waiting, and what is said to have happened is not what it has. Then it follows
// again, or takes over. The old primary is dead by then, or lives on for a while with
// those who are connected to it, or whom the network leads there.
type standby struct {
	rng   *rand.Rand
	rate  int // of being cut off, per thousand steps
	route int // whom the old primary is reached by
	// async is that nobody waits for it.
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
	two // the old primary lives beside the new one
)

// hung is a commit that waits for the standby.
type hung struct {
	who string
	pgstore.Statement
	done  chan error // nil if nobody waits for the answer
	ended bool       // its session is
}

// begin draws whether there is a standby, from numbers of its own: what else a seed draws stays.
func (s *simulation) begin() {
	rng := rand.New(rand.NewPCG(s.seed, 26))
	if rng.IntN(2) == 0 {
		return
	}
	b := &standby{rng: rng, rate: 1 + rng.IntN(12), async: rng.IntN(4) == 0}
	if s.m.Async = b.async; b.async {
		s.rates.fail = 0 // of its own disk it forgets nothing that was waited for
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

// mayBeLost is whether what was acknowledged at an age may be lost: with a standby that nobody
// waits for, all that was before it took over.
func (s *simulation) mayBeLost(age int) bool {
	return s.standby != nil && s.standby.async && age < s.standby.ends
}

// split is whether there are two primaries, of which one has what is old.
func (s *simulation) split() bool { return s.standby != nil && s.standby.phase == two }

// leadsToOld is for [pgstore.Model.Route].
func (b *standby) leadsToOld(holder string, n int) bool {
	h := fnv.New64a()
	h.Write([]byte(holder))
	r := rand.New(rand.NewPCG(h.Sum64(), uint64(b.overs)))
	switch b.route {
	case 0: // it takes no new connections
		return false
	case 1: // some machines reach it alone
		return r.IntN(2) == 0
	}
	for range n {
		r.Uint64()
	}
	return r.IntN(2) == 0
}

func (b *standby) follows() bool { return b == nil || b.phase == follows }

// hang waits until a commit need not wait for the standby any more, or its connection dies.
func (s *simulation) hang(who string, st pgstore.Statement) error {
	h := &hung{who: who, Statement: st, done: make(chan error, 1)}
	s.note(who, st.Name+" waits for the standby")
	s.mu.Lock()
	s.happened["a commit waits for the standby"]++
	s.standby.hung = append(s.standby.hung, h)
	s.mu.Unlock()
	select {
	case err := <-h.done:
		return err
	case <-st.Context.Done():
	}
	// Who gives up has the waiting cancelled, and then it is there for those who look.
	s.mu.Lock()
	i := slices.Index(s.standby.hung, h)
	if i >= 0 {
		s.standby.hung = slices.Delete(s.standby.hung, i, i+1)
	}
	s.mu.Unlock()
	if i >= 0 {
		_ = st.Commit()
	}
	return st.Context.Err()
}

// arrives has the server do a statement for which nobody waits any more.
func (s *simulation) arrives(l lateStatement) {
	if errors.Is(l.Do(), pgstore.ErrWaits) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.standby.hung = append(s.standby.hung, &hung{who: l.who, Statement: l.Statement})
	}
}

// ended has sessions end that wait for the standby.
func (b *standby) ended(pid uint32) {
	if b == nil {
		return
	}
	for _, h := range b.hung {
		h.ended = h.ended || h.PID == pid
	}
}

// step lets something happen to the servers, or not.
func (b *standby) step(s *simulation) bool {
	if b == nil {
		return false
	}
	s.mu.Lock()
	i := slices.IndexFunc(b.hung, func(h *hung) bool { return h.ended })
	if i < 0 && len(b.hung) > 0 && b.rng.IntN(12) == 0 {
		i = b.rng.IntN(len(b.hung))
	}
	var h *hung
	if i >= 0 {
		h = b.hung[i]
	}
	s.mu.Unlock()
	switch {
	case h == nil:
	case !h.ended && h.done != nil && b.rng.IntN(2) == 0:
		s.note(h.who, h.Name+": the connection dies while the commit waits")
		h.answer(io.ErrUnexpectedEOF)
		h.done = nil
		return true
	default:
		s.note(h.who, h.Name+": the session ends while the commit waits, and what it did is there")
		s.happened["a session ends while its commit waits"]++
		s.take(h)
		_ = h.Commit()
		h.answer(io.ErrUnexpectedEOF)
		return true
	}
	now := time.Now()
	switch {
	case b.phase == follows:
		if !s.chanceOf(b.rng, b.rate) {
			return false
		}
		s.m.CutOff(b.rng.IntN(s.m.Tail() + 1))
		b.phase, b.until = cutOff, now.Add(time.Duration(b.rng.IntN(2)*b.rng.IntN(int(3*simLease))))
		s.note("standby", "is cut off")
		s.happened["the standby is cut off"]++
	case now.Before(b.until):
		return false
	case b.phase == cutOff && b.rng.IntN(4) == 0:
		b.follow(s)
	case b.phase == cutOff:
		s.m.Promote()
		b.phase, b.route, b.until = two, b.rng.IntN(3), now
		b.overs++
		what := "takes over"
		if b.rng.IntN(3) > 0 {
			b.until = now.Add(time.Duration(b.rng.IntN(int(6 * simLease))))
			what += ", and the old primary lives on"
			s.happened["the old primary lives on"]++
		}
		s.note("standby", what)
		s.happened["the standby takes over"]++
		s.forget()
	default:
		b.end(s)
	}
	return true
}

func (s *simulation) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgets++
}

// chanceOf is chance by other numbers.
func (s *simulation) chanceOf(rng *rand.Rand, n int) bool { return !s.calm && rng.IntN(1000) < n }

// take takes a commit from those that wait.
func (s *simulation) take(h *hung) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standby.hung = slices.DeleteFunc(s.standby.hung, func(x *hung) bool { return x == h })
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
	s.breaks(func(st pgstore.Statement) bool { return st.Name != "bucket" && !s.m.Serves(st.PID) })
}

// settle has one server in the end.
func (b *standby) settle(s *simulation) {
	switch {
	case b.follows():
	case b.phase == two:
		b.end(s)
	default:
		b.follow(s)
	}
}

// checkTurns holds the turns that a journal has against those that were acknowledged. Each
// is there once and in order. Where some may be lost, one that is not may have come late, by
// a call that was made twice.
func (s *simulation) checkTurns(h *host, there []string) {
	var lost, want []string
	for _, t := range h.acked {
		if s.mayBeLost(t.age) {
			lost = append(lost, t.what)
		} else {
			want = append(want, t.what)
		}
	}
	kept := slices.DeleteFunc(slices.Clone(there), func(t string) bool { return slices.Contains(lost, t) })
	once := slices.Compact(slices.Sorted(slices.Values(there)))
	if !slices.Equal(kept, want) || len(once) != len(there) {
		s.fault("%s: the journal has the turns %v, and %v were acknowledged", h.key, there, h.acked)
	}
}
