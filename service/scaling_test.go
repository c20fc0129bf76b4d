//go:build unix

package service_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/client"
	"github.com/memkernel/memkernel/client/protocol"
	"github.com/memkernel/memkernel/internal/longturns"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/service/internal/fleet"
	"github.com/memkernel/memkernel/service/internal/pgtest"
	"github.com/memkernel/memkernel/service/postgres"
	"github.com/memkernel/memkernel/transcript"
)

// scalingInstances are how many services are on the database, scalingTokens what a session's
// host holds, in scalingTurns turns.
var scalingInstances = []int{1, 2, 4}

const scalingTokens, scalingTurns = 100_000, 60

// far is a session that goes to services by HTTP, to one for its turn and to the next for
// the next one.
type far struct {
	at       []*client.Session
	messages []json.RawMessage
	turns    int
}

func newFar(b *testing.B, f *fleet.Fleet, key string, urls []string) *far {
	b.Helper()
	s := &far{}
	for _, url := range urls {
		c, err := client.Connect(b.Context(), f.Client(url))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { c.Close() })
		s.at = append(s.at, c.Session(key, client.SessionOptions{Model: longturns.Model, Private: true}))
	}
	return s
}

func (s *far) step(ctx context.Context, question, answer []json.RawMessage) (plan time.Duration, err error) {
	at := s.at[s.turns%len(s.at)]
	s.turns++
	s.messages = append(s.messages, question...)
	begun := time.Now()
	p, err := at.Plan(ctx, s.messages, nil)
	plan = time.Since(begun)
	if err != nil {
		return 0, err
	}
	s.messages = append(s.messages, answer...)
	o, err := at.ObserveTurn(ctx, s.messages, &protocol.TurnParams{PlanID: p.PlanID})
	if err == nil && o.Outcome != string(api.Committed) {
		err = fmt.Errorf("the turn was not committed: %s", o.Outcome)
	}
	return plan, err
}

// onServer is a server that waits for its disk.
func onServer(b *testing.B, settings ...string) *pgtest.Server {
	b.Helper()
	s, err := pgtest.New(append([]string{"max_connections=200"}, settings...)...)
	if err != nil {
		b.Skipf("no PostgreSQL: %v", err)
	}
	b.Cleanup(s.Close)
	return s
}

// services runs so many of them on a database.
func services(b *testing.B, dsn string, n int) (f *fleet.Fleet, urls []string, pids []int) {
	b.Helper()
	f, err := fleet.New(program(b), b.TempDir(), dsn, 15*time.Second)
	if err != nil {
		b.Fatal(err)
	}
	for range n {
		m := f.Machine()
		if err := m.Start(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { m.End(syscall.SIGTERM) })
		urls, pids = append(urls, m.URL()), append(pids, m.PID())
	}
	return f, urls, pids
}

// BenchmarkScaling is a turn, plan and observe, of a session whose host holds 100,000
// tokens, through services over HTTP and a database on this machine's loopback, against the
// same turn in process with files, at 1, 2 and 4 services that take its turns one after the
// other. balanced is the same through a load balancer that knows no sessions: plan and observe go
// to different services, to which the host has to hand in all. stays is a session on each of them, all at
// once. returns is a session that has stayed on one and comes back to it after a turn on the other, a new
// one each time. All wait for the disk. Statements, round trips and bytes are those between
// services and database, counted on the wire in turns of a session of their own, as large.
func BenchmarkScaling(b *testing.B) {
	for _, n := range scalingInstances {
		b.Run(fmt.Sprintf("services=%d/moves", n), func(b *testing.B) { scalingMoves(b, n, false) })
	}
	for _, n := range scalingInstances[1:] {
		b.Run(fmt.Sprintf("services=%d/balanced", n), func(b *testing.B) { scalingMoves(b, n, true) })
	}
	for _, n := range scalingInstances {
		b.Run(fmt.Sprintf("services=%d/stays", n), func(b *testing.B) { scalingStays(b, n) })
	}
	b.Run("services=2/returns", scalingReturns)
}

// balancer sends each request to the next of some services.
func balancer(b *testing.B, urls []string) string {
	b.Helper()
	var all []*httputil.ReverseProxy
	for _, u := range urls {
		at, err := url.Parse(u)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, httputil.NewSingleHostReverseProxy(at))
	}
	var next atomic.Uint64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all[next.Add(1)%uint64(len(all))].ServeHTTP(w, r)
	}))
	b.Cleanup(s.Close)
	return s.URL
}

func scalingMoves(b *testing.B, n int, balanced bool) {
	server := onServer(b, "fsync=on")
	wire := listenWire(b, server)
	f, urls, pids := services(b, server.DSN(), n)
	if balanced {
		urls = []string{balancer(b, urls)}
	}
	k, err := kernel.Open(b.Context(), b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { k.Close() })
	in, err := transcript.NewIntake("anthropic")
	if err != nil {
		b.Fatal(err)
	}
	there, here := newFar(b, f, "s", urls), longturns.New(k, in)
	rnd := rand.New(rand.NewSource(1))
	turn := 0
	var plans []time.Duration
	step := func(size int) (far, near time.Duration) {
		turn++
		question, answer := longturns.Turn(rnd, turn, size)
		begun := time.Now()
		plan, err := there.step(b.Context(), question, answer)
		if far = time.Since(begun); err != nil {
			b.Fatal(err)
		}
		plans = append(plans, plan)
		begun = time.Now()
		committed, err := here.Step(question, answer)
		if near = time.Since(begun); err != nil || committed != api.Committed {
			b.Fatal(committed, err)
		}
		return far, near
	}
	for range scalingTurns {
		step(scalingTokens / scalingTurns)
	}
	for range 2 * n {
		step(100)
	}
	var far, near []time.Duration
	plans = nil
	served, stored := processorTime(pids...), processorTime(server.PID())
	for b.Loop() {
		x, y := step(100)
		far, near = append(far, x), append(near, y)
	}
	if turns := float64(len(far)); served > 0 {
		b.ReportMetric((processorTime(pids...)-served).Seconds()*1000/turns, "service-cpu-ms/turn")
		b.ReportMetric((processorTime(server.PID())-stored).Seconds()*1000/turns, "database-cpu-ms/turn")
	}
	b.ReportMetric(p50(far), "service-p50-ms")
	b.ReportMetric(p50(plans), "plan-p50-ms")
	b.ReportMetric(p50(near), "in-process-p50-ms")
	b.ReportMetric(p50(far)/p50(near), "ratio")

	// The same by way of what counts, with services of their own.
	f, urls, _ = services(b, wire.dsn, n)
	if balanced {
		urls = []string{balancer(b, urls)}
	}
	there = newFar(b, f, "counted", urls)
	rnd = rand.New(rand.NewSource(2))
	for i := range scalingTurns {
		question, answer := longturns.Turn(rnd, i, scalingTokens/scalingTurns)
		if _, err := there.step(b.Context(), question, answer); err != nil {
			b.Fatal(err)
		}
	}
	var plan, all counts
	const counted = 24
	for i := range counted {
		question, answer := longturns.Turn(rnd, 100+i, 100)
		at := there.at[there.turns%len(there.at)]
		there.turns++
		there.messages = append(there.messages, question...)
		wire.take()
		p, err := at.Plan(b.Context(), there.messages, nil)
		if err != nil {
			b.Fatal(err)
		}
		of := wire.take()
		plan.add(of)
		all.add(of)
		there.messages = append(there.messages, answer...)
		if _, err := at.ObserveTurn(b.Context(), there.messages, &protocol.TurnParams{PlanID: p.PlanID}); err != nil {
			b.Fatal(err)
		}
		all.add(wire.take())
	}
	b.ReportMetric(float64(plan.trips)/counted, "trips/plan")
	b.ReportMetric(float64(all.statements)/counted, "statements/turn")
	b.ReportMetric(float64(all.trips)/counted, "trips/turn")
	b.ReportMetric(float64(all.sent)/counted/1000, "kB-sent/turn")
	b.ReportMetric(float64(all.received)/counted/1000, "kB-received/turn")
}

// scalingStays has as many sessions at once as services, each on its own.
func scalingStays(b *testing.B, n int) {
	server := onServer(b, "fsync=on")
	f, urls, pids := services(b, server.DSN(), n)
	var all []*far
	for i, url := range urls {
		all = append(all, newFar(b, f, fmt.Sprint("s", i), []string{url}))
	}
	var took [][]time.Duration
	turn := 0
	round := func(size int) {
		turn++
		times := make([]time.Duration, n)
		var wg sync.WaitGroup
		for i, s := range all {
			question, answer := longturns.Turn(rand.New(rand.NewSource(int64(turn*n+i))), turn, size)
			wg.Go(func() {
				begun := time.Now()
				if _, err := s.step(b.Context(), question, answer); err != nil {
					b.Error(err)
				}
				times[i] = time.Since(begun)
			})
		}
		wg.Wait()
		took = append(took, times)
	}
	for range scalingTurns {
		round(scalingTokens / scalingTurns)
	}
	took = nil
	begun, served, stored := time.Now(), processorTime(pids...), processorTime(server.PID())
	for b.Loop() {
		round(100)
	}
	turns := float64(len(took) * n)
	b.ReportMetric(turns/time.Since(begun).Seconds(), "turns/s")
	if served > 0 {
		b.ReportMetric((processorTime(pids...)-served).Seconds()*1000/turns, "service-cpu-ms/turn")
		b.ReportMetric((processorTime(server.PID())-stored).Seconds()*1000/turns, "database-cpu-ms/turn")
	}
	b.ReportMetric(p50(slices.Concat(took...)), "service-p50-ms")
}

func scalingReturns(b *testing.B) {
	server := onServer(b, "fsync=on")
	f, urls, _ := services(b, server.DSN(), 2)
	var stays, returns []time.Duration
	for session := 0; b.Loop(); session++ {
		s := newFar(b, f, fmt.Sprint("s", session), urls)
		both := s.at
		rnd := rand.New(rand.NewSource(int64(session)))
		step := func(turn, size, service int) time.Duration {
			question, answer := longturns.Turn(rnd, turn, size)
			s.at = both[service : service+1]
			plan, err := s.step(b.Context(), question, answer)
			if err != nil {
				b.Fatal(err)
			}
			return plan
		}
		for i := range scalingTurns {
			step(i, scalingTokens/scalingTurns, 0)
		}
		stays = append(stays, step(scalingTurns, 100, 0))
		step(scalingTurns+1, 100, 1)
		returns = append(returns, step(scalingTurns+2, 100, 0))
	}
	b.ReportMetric(p50(stays), "stays-plan-p50-ms")
	b.ReportMetric(p50(returns), "returns-plan-p50-ms")
}

// processorTime is what processes, and those that they began, have used, 0 where the system
// doesn't tell as Linux does.
func processorTime(pids ...int) (sum time.Duration) {
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range all {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		var pid, parent int
		var used [4]int64 // its own, and that of those that have ended
		_, rest, ok := strings.Cut(string(data), ") ")
		f := strings.Fields(rest)
		if !ok || len(f) < 15 {
			continue
		}
		fmt.Sscan(string(data), &pid)
		fmt.Sscan(f[1], &parent)
		for i := range used {
			fmt.Sscan(f[11+i], &used[i])
		}
		if slices.Contains(pids, pid) || slices.Contains(pids, parent) {
			sum += time.Duration(used[0]+used[1]+used[2]+used[3]) * (time.Second / 100)
		}
	}
	return sum
}

// p50 is the median in milliseconds.
func p50(d []time.Duration) float64 {
	d = slices.Clone(d)
	slices.Sort(d)
	return float64(d[len(d)/2]) / float64(time.Millisecond)
}

// counts are what went between services and database.
type counts struct{ statements, trips, sent, received int64 }

func (c *counts) add(o counts) {
	c.statements, c.trips = c.statements+o.statements, c.trips+o.trips
	c.sent, c.received = c.sent+o.sent, c.received+o.received
}

// wire stands between services and a database, and counts what it passes on.
type wire struct {
	dsn                               string
	statements, trips, sent, received atomic.Int64
}

func (w *wire) take() counts {
	return counts{w.statements.Swap(0), w.trips.Swap(0), w.sent.Swap(0), w.received.Swap(0)}
}

func listenWire(b *testing.B, server *pgtest.Server) *wire {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	to, err := pgx.ParseConfig(server.DSN())
	if err != nil {
		b.Fatal(err)
	}
	w := &wire{dsn: strings.Replace(server.DSN(), fmt.Sprint("port=", to.Port), fmt.Sprint("port=", l.Addr().(*net.TCPAddr).Port), 1)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // it was closed
			}
			s, err := net.Dial("tcp", net.JoinHostPort(to.Host, fmt.Sprint(to.Port)))
			if err != nil {
				c.Close()
				continue
			}
			go func() { w.pass(s, c); s.Close() }()
			go func() {
				n := counting{s, &w.received}
				io.Copy(c, n) // until one of them ends
				c.Close()
			}()
		}
	}()
	return w
}

type counting struct {
	io.Reader
	n *atomic.Int64
}

func (c counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// pass passes on what a client says, message by message: E runs a statement and Q some text,
// and both Q and S want an answer. The first message has no type.
func (w *wire) pass(to io.Writer, from io.Reader) {
	head := make([]byte, 5)
	for first := true; ; first = false {
		h := head
		if first {
			h = head[1:]
		}
		if _, err := io.ReadFull(from, h); err != nil {
			return
		}
		body := make([]byte, int(binary.BigEndian.Uint32(head[1:]))-4)
		if _, err := io.ReadFull(from, body); err != nil {
			return
		}
		if !first {
			switch head[0] {
			case 'E':
				w.statements.Add(1)
			case 'Q':
				w.statements.Add(1)
				w.trips.Add(1)
			case 'S':
				w.trips.Add(1)
			}
		}
		w.sent.Add(int64(len(h) + len(body)))
		if _, err := to.Write(slices.Concat(h, body)); err != nil {
			return
		}
	}
}

// growthSizes are how many sessions the database has.
var growthSizes = []int{10, 1_000, 10_000}

// BenchmarkScalingGrowth fills a database with sessions, each of a planned turn with a tool
// result of 6 kB, and plans turns of another one at 10, 1,000 and 10,000 of them. The server
// waits for no disk, so that it takes minutes; x-smallest compares with the plan at 10.
func BenchmarkScalingGrowth(b *testing.B) {
	server := onServer(b, "synchronous_commit=off")
	db, err := pgx.Connect(b.Context(), server.DSN())
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close(context.Background())
	var kernels []*kernel.Kernel
	dir := b.TempDir()
	for i := range runtime.GOMAXPROCS(0) {
		st, err := postgres.Open(b.Context(), postgres.Options{DSN: server.DSN(), Root: "shop"})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { st.Close() })
		k, err := kernel.Open(b.Context(), dir, &kernel.Options{Store: st, StateDir: filepath.Join(b.TempDir(), fmt.Sprint(i))})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { k.Close() })
		kernels = append(kernels, k)
	}
	turn := func(k *kernel.Kernel, key string, rnd *rand.Rand, in *transcript.Intake, n int) (time.Duration, error) {
		question, answer := longturns.Turn(rnd, n, 1500)
		s := longturns.New(k, in)
		if err := s.Take(question); err != nil {
			return 0, err
		}
		begun := time.Now()
		p, err := k.PlanContext(context.Background(), api.PlanRequest{SessionKey: key, Model: longturns.Model, Private: true, Messages: in.Messages()})
		took := time.Since(begun)
		if err == nil {
			err = s.Take(answer)
		}
		if err == nil {
			_, err = k.ObserveTurn(context.Background(), api.Turn{SessionKey: key, Model: longturns.Model, Private: true, Messages: in.Messages(), PlanID: p.ID})
		}
		return took, err
	}
	intake := func() *transcript.Intake {
		in, err := transcript.NewIntake("anthropic")
		if err != nil {
			b.Fatal(err)
		}
		return in
	}
	value := func(q string) (n int64) {
		if err := db.QueryRow(b.Context(), q).Scan(&n); err != nil {
			b.Fatal(err)
		}
		return n
	}
	empty := value(`SELECT pg_database_size(current_database())`)
	have, smallest := atomic.Int64{}, 0.0
	for _, size := range growthSizes {
		if size > 1_000 && os.Getenv("MEMKERNEL_BENCH_LARGE") == "" {
			continue
		}
		var wg sync.WaitGroup
		for _, k := range kernels {
			wg.Go(func() {
				for {
					n := have.Add(1)
					if n > int64(size) {
						have.Add(-1)
						return
					}
					if _, err := turn(k, fmt.Sprint("filled-", n), rand.New(rand.NewSource(n)), intake(), 1); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		if _, err := db.Exec(b.Context(), `VACUUM ANALYZE`); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("sessions=%d", size), func(b *testing.B) {
			key, rnd, in := fmt.Sprint("asked-", size, "-", b.N), rand.New(rand.NewSource(int64(size))), intake()
			var warm, first []time.Duration
			for n := range 10 {
				if _, err := turn(kernels[0], key, rnd, in, n); err != nil {
					b.Fatal(err)
				}
			}
			for n := 0; b.Loop(); n++ {
				d, err := turn(kernels[0], key, rnd, in, 10+n)
				if err != nil {
					b.Fatal(err)
				}
				warm = append(warm, d)
			}
			for n := range 12 {
				d, err := turn(kernels[0], fmt.Sprint(key, "-", n), rnd, intake(), 1)
				if err != nil {
					b.Fatal(err)
				}
				first = append(first, d)
			}
			begun := time.Now()
			if _, err := kernels[0].Status(b.Context(), nil); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(time.Since(begun).Seconds()*1000, "status-ms")
			b.ReportMetric(p50(warm), "plan-p50-ms")
			b.ReportMetric(p50(first), "first-plan-p50-ms")
			if size == growthSizes[0] {
				smallest = p50(warm)
			}
			b.ReportMetric(p50(warm)/smallest, "x-smallest")
			b.ReportMetric(float64(value(`SELECT pg_database_size(current_database())`)-empty)/float64(size)/1000, "kB/session")
			b.ReportMetric(float64(value(`SELECT count(*) FROM memkernel.log`)+value(`SELECT count(*) FROM memkernel.documents`))/float64(size), "rows/session")
		})
	}
}
