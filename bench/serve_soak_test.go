package bench

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/longturns"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// soakSessions talk to one daemon at a time, each on a connection of its own.
const soakSessions = 64

// TestSoak lets 64 sessions talk to one daemon for as long as MEMKERNEL_SOAK says, or
// for a minute.
// Every turn must be committed, and be there afterwards; sessions end after some turns
// and others begin, so that what is held can be level, and the heap at the end is compared with
// that after a fifth of the time.
func TestSoak(t *testing.T) {
	if !suite.Long() {
		t.Skip("soaks in the long suite only: make test-long, or make soak")
	}
	span := time.Minute
	if s := os.Getenv("MEMKERNEL_SOAK"); s != "" {
		var err error
		if span, err = time.ParseDuration(s); err != nil || span <= 0 {
			t.Fatalf("MEMKERNEL_SOAK=%s: want a duration, such as 5m", s)
		}
	}
	workspace, dial := daemonOf(t)
	var committed, lost atomic.Int64
	end := time.Now().Add(span)
	var wg sync.WaitGroup
	for i := range soakSessions {
		c := dial()
		wg.Go(func() { soakSession(t, c, i, end, &committed, &lost) })
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	time.Sleep(span / 5)
	early, turns := heap(), committed.Load()
	time.Sleep(time.Until(end) - span/50)
	late := heap()
	wg.Wait()
	t.Logf("%d turns by %d sessions in %v, %d of them in the first fifth; heap %.1f MB then, %.1f MB at the end: %.2f",
		committed.Load(), soakSessions, span, turns, float64(early)/1e6, float64(late)/1e6, float64(late)/float64(early))
	if lost.Load() > 0 {
		t.Errorf("%d turns were not committed", lost.Load())
	}
	k, err := kernel.Open(context.Background(), workspace, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	st, err := k.Status(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	stored := 0
	for _, s := range st.Sessions {
		stored += s.Turns
	}
	if int64(stored) != committed.Load() {
		t.Errorf("%d turns were committed and %d are stored", committed.Load(), stored)
	}
	if late > early*3/2+16<<20 {
		t.Errorf("the heap grew from %d to %d bytes", early, late)
	}
}

// soakSession talks, and is ended and followed by another every twenty turns.
func soakSession(t *testing.T, c *caller, i int, end time.Time, committed, lost *atomic.Int64) {
	rnd := rand.New(rand.NewSource(int64(i)))
	s := &remote{caller: c, key: fmt.Sprintf("soak-%d", i)}
	for n := 1; time.Now().Before(end); n++ {
		question, answer := longturns.Turn(rnd, n, 400)
		outcome, err := s.step(question, answer)
		if err != nil {
			t.Errorf("session %d turn %d: %v", i, n, err)
			return
		}
		if outcome != string(api.Committed) {
			lost.Add(1)
		} else {
			committed.Add(1)
		}
		if n%20 == 0 {
			var done members
			if err := c.call("end_session", members{"session_key": s.key, "private": true}, &done); err != nil {
				t.Errorf("session %d: %v", i, err)
				return
			}
			s.base, s.key = "", fmt.Sprintf("soak-%d-%d", i, n)
		}
	}
}
