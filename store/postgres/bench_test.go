package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/internal/pgtest"
	"github.com/memkernel/memkernel/internal/store/pgstore"
	"github.com/memkernel/memkernel/kernel"
)

// BenchmarkTurn is a warm plan and its turn, with all that waits for a disk: in files, and in
// PostgreSQL on a socket of this machine, by one machine and by two that take turns.
func BenchmarkTurn(b *testing.B) {
	dsn, stop, err := pgtest.Start("fsync=on")
	if err != nil {
		b.Skipf("no PostgreSQL: %v", err)
	}
	defer stop()
	for _, machines := range []int{0, 1, 2} {
		name := "files"
		if machines > 0 {
			name = fmt.Sprintf("postgres/machines=%d", machines)
		}
		b.Run(name, func(b *testing.B) {
			o := pgstore.Options{DSN: dsn, Root: fmt.Sprint(b.N, time.Now().UnixNano())}
			c := &counter{}
			o.Tracer = c
			dir := b.TempDir()
			var ks []*kernel.Kernel
			if machines == 0 {
				k, err := kernel.Open(context.Background(), dir, nil)
				if err != nil {
					b.Fatal(err)
				}
				defer k.Close()
				ks = append(ks, k)
			}
			for range machines {
				ks = append(ks, machine(b, o, dir))
			}
			talk := newTalk()
			for range 6 {
				talk.ask()
				talk.work(6000)
				talk.observe(b, ks[0], talk.plan(b, ks[0]))
			}
			c.take()
			var planning time.Duration
			statements, trips, turns := 0, 0, 0
			for b.Loop() {
				talk.ask()
				talk.work(6000)
				k := ks[turns%len(ks)]
				begun := time.Now()
				p := talk.plan(b, k)
				planning += time.Since(begun)
				said, waits := c.take()
				talk.observe(b, k, p)
				more, _ := c.take()
				statements += len(said) + len(more)
				trips += waits
				turns++
			}
			b.ReportMetric(float64(planning.Microseconds())/float64(turns)/1000, "ms/plan")
			b.ReportMetric(float64(statements)/float64(turns), "statements/turn")
			b.ReportMetric(float64(trips)/float64(turns), "trips/plan")
			if machines == 0 {
				return
			}
			conn, err := pgx.Connect(context.Background(), dsn)
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close(context.Background())
			var bytes int64
			if err := conn.QueryRow(context.Background(), `SELECT sum(f.size)::bigint FROM memkernel_state.files AS f JOIN memkernel_state.roots AS r ON r.id=f.root WHERE r.name=$1`, o.Root).Scan(&bytes); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(bytes)/float64(turns+6), "bytes/turn")
		})
	}
}
