//go:build unix

package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/memkernel/memkernel/client"
	"github.com/memkernel/memkernel/client/protocol"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/service/internal/fleet"
	"github.com/memkernel/memkernel/service/internal/pgtest"
	"github.com/memkernel/memkernel/service/postgres"
)

// program is the real one, built once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "memkernel-soak")
	if err != nil {
		return "", err
	}
	built = dir
	return fleet.Build("../cmd/memkernel-server", dir)
})

func command(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the program")
	}
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

const soakMachines, soakSessions = 3, 6

// TestSoak has several processes of serve --listen over one database, a primary with
// a standby that it waits for, while some are killed, some stand still for longer than their
// leases last, the server crashes, and the standby takes over. Clients deliver again what was
// not acknowledged, to whichever machine. Each acknowledged turn is in its session's journal
// once, in order, and nothing else is.
func TestSoak(t *testing.T) {
	bin := command(t)
	span, lease := suite.Pick(6*time.Second, 5*time.Minute), suite.Pick(time.Second, 3*time.Second)
	if s := os.Getenv("MEMKERNEL_SOAK"); s != "" && suite.Long() {
		var err error
		if span, err = time.ParseDuration(s); err != nil || span <= 0 {
			t.Fatalf("MEMKERNEL_SOAK=%s: want a duration, such as 5m", s)
		}
	}
	primary := own(t, "max_connections=100", "synchronous_standby_names=standby", "fsync="+suite.Pick("off", "on"))
	standby, err := primary.Standby("max_connections=100", "fsync="+suite.Pick("off", "on"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(standby.Close)
	f, err := fleet.New(bin, t.TempDir(), pgtest.Either(primary, standby), lease)
	if err != nil {
		t.Fatal(err)
	}
	var machines []*fleet.Machine
	for range soakMachines {
		m := f.Machine()
		if err := m.Start(); err != nil {
			t.Fatal(err)
		}
		machines = append(machines, m)
		t.Cleanup(func() { m.End(syscall.SIGKILL) })
	}
	s := &soak{t: t, f: f, machines: machines, refusals: map[string]int{}}
	ctx, cancel := context.WithTimeout(t.Context(), span)
	defer cancel()
	var talking, troubling sync.WaitGroup
	for i := range soakSessions {
		talking.Go(func() { s.talk(ctx, i) })
	}
	troubling.Go(func() { s.trouble(ctx, primary, standby, span, lease) })
	troubling.Wait()
	talking.Wait()
	for _, m := range machines {
		m.End(syscall.SIGTERM)
	}
	s.settle()
	t.Logf("%v on %d machines with %d sessions, leases of %v: %d turns acknowledged, %d redeliveries (%d found their turn committed), %d machines killed, %d stood still past their leases, %d server crashes, %d failovers; %d lost, %d doubled",
		span, soakMachines, soakSessions, lease, s.total(), s.again.Load(), s.found.Load(), s.kills, s.pauses, s.crashes, s.failovers, s.lost, s.doubled)
	suite.Tell(t, s.kills, s.lost, s.doubled)
	t.Logf("why calls were delivered again: %v", s.refusals)
	if s.total() < 10 || s.kills == 0 || s.pauses == 0 || s.failovers == 0 {
		t.Error("too little happened")
	}
}

type soak struct {
	t        *testing.T
	f        *fleet.Fleet
	machines []*fleet.Machine

	acked        [soakSessions]atomic.Int64
	again, found atomic.Int64
	// results has each turn call a tool, whose result has so many bytes.
	results int
	// public sessions are shown no file that others write, and write none.
	public                            bool
	kills, pauses, crashes, failovers int
	lost, doubled                     int

	mu       sync.Mutex
	refusals map[string]int
}

func (s *soak) total() (n int64) {
	for i := range s.acked {
		n += s.acked[i].Load()
	}
	return n
}

func said(role, text string) json.RawMessage {
	m, _ := json.Marshal(map[string]string{"role": role, "content": text}) // made of strings
	return m
}

// called is a call of a tool and its result of about so many bytes, which nothing else says.
func called(rng *rand.Rand, id string, bytes int) []json.RawMessage {
	var text strings.Builder
	for text.Len() < bytes {
		fmt.Fprintf(&text, "line %x of the log\n", rng.Uint64())
	}
	quoted, _ := json.Marshal(text.String()) // a string
	return []json.RawMessage{
		json.RawMessage(fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"cat log"}}]}`, id)),
		json.RawMessage(fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%s}]}`, id, quoted)),
	}
}

// more waits until each session has n turns more.
func (s *soak) more(ctx context.Context, n int64) {
	s.t.Helper()
	var want [soakSessions]int64
	for i := range want {
		want[i] = s.acked[i].Load() + n
	}
	for i := range want {
		for s.acked[i].Load() < want[i] {
			if s.t.Failed() || ctx.Err() != nil {
				s.t.FailNow()
			}
			pause(ctx, 20*time.Millisecond)
		}
	}
}

// one is a machine that serves.
func (s *soak) one(rng *rand.Rand) *fleet.Machine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.machines[rng.IntN(len(s.machines))]
}

// deliver calls f with a client of one machine after the other, until it goes well. It ends
// when nothing has gone well for so long that something must be wrong.
func (s *soak) deliver(rng *rand.Rand, what string, f func(context.Context, *client.Client) error) bool {
	begun := time.Now()
	for tries := 0; ; tries++ {
		o := s.one(rng).Client()
		o.Retries, o.Timeout = -1, 10*time.Second
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		c, err := client.Connect(ctx, o)
		if err == nil {
			err = f(ctx, c)
			c.Close()
		}
		cancel()
		if err == nil {
			return true
		}
		s.again.Add(1)
		s.refused(err)
		if time.Since(begun) > 2*time.Minute {
			s.t.Errorf("%s: not acknowledged for two minutes: %v", what, err)
			return false
		}
		time.Sleep(time.Duration(20+rng.IntN(100)) * time.Millisecond)
	}
}

// refused counts why; what no program can act on fails the test.
func (s *soak) refused(err error) {
	code := "DEADLINE"
	if e := (*client.Error)(nil); errors.As(err, &e) {
		code = e.Code
	} else if !errors.Is(err, context.DeadlineExceeded) {
		code = err.Error()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusals[code]++; s.refusals[code] < 4 && code != client.CodeClosed && code != "TRY_AGAIN" && code != "DEADLINE" && code != "NOT_READY" && code != "STOPPING" {
		s.t.Errorf("a call was answered with %s: %v", code, err)
	}
}

// talk is one session's turns, each delivered until it is acknowledged.
func (s *soak) talk(ctx context.Context, i int) {
	rng := rand.New(rand.NewPCG(uint64(i), 25))
	key := fmt.Sprint("soak-", i)
	var messages []json.RawMessage
	for n := int64(1); ctx.Err() == nil; n++ {
		messages = append(messages, said("user", fmt.Sprintf("question %d of session %d: %x", n, i, rng.Uint64())))
		var plan string
		if !s.deliver(rng, key, func(ctx context.Context, c *client.Client) error {
			p, err := c.Session(key, client.SessionOptions{Model: model, Private: !s.public}).Plan(ctx, messages, nil)
			if err == nil {
				plan = p.PlanID
			}
			return err
		}) {
			return
		}
		if s.results > 0 {
			messages = append(messages, called(rng, fmt.Sprintf("c%d_%d", i, n), s.results)...)
		}
		messages = append(messages, said("assistant", fmt.Sprintf("answer %d: %s", n, strings.Repeat(fmt.Sprintf("step %x; ", rng.Uint64()), 40))))
		observe := func(ctx context.Context, c *client.Client) error {
			o, err := c.Session(key, client.SessionOptions{Model: model, Private: !s.public}).ObserveTurn(ctx, messages, &protocol.TurnParams{PlanID: plan, AdvancementKey: fmt.Sprint("t", n)})
			switch {
			case err != nil:
				return err
			case o.Outcome == "duplicate":
				s.found.Add(1)
			case o.Outcome != "committed":
				s.t.Errorf("%s turn %d: %s", key, n, o.Outcome)
			}
			if o.Turns != n {
				s.t.Errorf("%s: turn %d was acknowledged as number %d", key, n, o.Turns)
			}
			return nil
		}
		if rng.IntN(8) == 0 { // by two ways at once
			var twin sync.WaitGroup
			other := rand.New(rand.NewPCG(uint64(n), uint64(i)))
			twin.Go(func() { s.deliver(other, key, observe) })
			ok := s.deliver(rng, key, observe)
			twin.Wait()
			if !ok {
				return
			}
		} else if !s.deliver(rng, key, observe) {
			return
		}
		s.acked[i].Store(n)
	}
}

// trouble makes it, and leaves everything running.
func (s *soak) trouble(ctx context.Context, primary, standby *pgtest.Server, span, lease time.Duration) {
	rng := rand.New(rand.NewPCG(5, 25))
	begun, server := time.Now(), primary
	for round := 0; ctx.Err() == nil; round++ {
		m := s.machines[rng.IntN(len(s.machines))]
		what := rng.IntN(5)
		switch {
		case round < 2: // each at least once, however short it is
			what = round * 2
		case s.failovers == 0 && time.Since(begun) > span/3:
			what = 5
		}
		switch {
		case what < 2:
			m.End(syscall.SIGKILL)
			s.kills++
			pause(ctx, time.Duration(rng.Int64N(int64(lease))))
			if err := m.Start(); err != nil {
				s.t.Errorf("a machine that was killed: %v", err)
			}
		case what < 4:
			m.Signal(syscall.SIGSTOP)
			s.pauses++
			pause(context.Background(), lease+lease/2)
			m.Signal(syscall.SIGCONT)
		case what == 4:
			server.Crash()
			s.crashes++
			pause(ctx, time.Duration(rng.Int64N(int64(2*time.Second))))
			if err := server.Start(); err != nil {
				s.t.Errorf("the server does not come back: %v", err)
				return
			}
			if server == primary {
				s.follow(primary)
			}
		default:
			primary.Crash()
			s.failovers++
			if err := standby.Promote(context.Background()); err != nil {
				s.t.Error(err)
				return
			}
			server = standby
		}
		pause(ctx, time.Duration(rng.Int64N(int64(2*time.Second))))
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// follow waits until the standby has all of what the primary came back with: before, a turn
// that waited for it when the primary crashed may be seen there and not be on it.
func (s *soak) follow(primary *pgtest.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		var behind bool
		if err := ask(ctx, primary.DSN(), `SELECT count(*) FILTER (WHERE sync_state='sync') = 0 FROM pg_stat_replication`, &behind); err == nil && !behind {
			return
		}
		pause(ctx, 50*time.Millisecond)
	}
	s.t.Error("the standby does not follow the primary")
}

// settle compares journals with what was acknowledged.
func (s *soak) settle() {
	t := s.t
	st, err := postgres.Open(t.Context(), postgres.Options{DSN: s.f.DSN, Root: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for i := range s.acked {
		committed, pages := journalOf(t, st.State(), fmt.Sprint("soak-", i))
		acked := s.acked[i].Load()
		for n := int64(1); n <= acked; n++ {
			if !slices.Contains(committed, fmt.Sprint(n)) {
				s.lost++
				t.Errorf("session %d: turn %d was acknowledged and is not in the journal", i, n)
			}
		}
		for n, turn := range committed {
			if turn != fmt.Sprint(n+1) {
				s.doubled++
				t.Errorf("session %d: commit %d is of turn %s", i, n+1, turn)
				break
			}
		}
		if slices.Sort(pages); len(slices.Compact(slices.Clone(pages))) != len(pages) {
			s.doubled++
			t.Errorf("session %d: a page is there twice", i)
		}
		if extra := int64(len(committed)) - acked; extra < 0 || extra > 1 {
			t.Errorf("session %d: %d turns are committed, %d were acknowledged", i, len(committed), acked)
		}
	}
	k, err := kernel.Open(t.Context(), s.f.Workspace(), &kernel.Options{Store: st, StateDir: filepath.Join(s.f.Dir, "settled")})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	found, err := k.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range found {
		t.Errorf("check: %+v", at)
	}
}
