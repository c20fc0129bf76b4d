package main

import (
	"fmt"
	"strings"
	"time"
)

// The outputs of commands. All are made up; figures vary with the seed.

// serverLog is n lines of the service's JSON log from a time on. Some bookings
// are slow, and the story that the script tells is among them.
func serverLog(r *rng, n int, from time.Time, story []string) string {
	var b strings.Builder
	at := from
	step := 0
	if len(story) > 0 {
		step = max(1, n/(len(story)+1))
	}
	for i := range n {
		at = at.Add(time.Duration(r.between(3, 900)) * time.Millisecond)
		stamp := at.Format("2006-01-02T15:04:05.000Z")
		if step > 0 && i%step == step-1 && i/step < len(story) {
			fmt.Fprintf(&b, `{"time":%q,%s}`+"\n", stamp, story[i/step])
			continue
		}
		b.WriteString(requestLine(r, stamp))
	}
	return b.String()
}

func requestLine(r *rng, stamp string) string {
	e := &entities[r.n(len(entities))]
	method, path, code := "GET", fmt.Sprintf("/v1/%s/%s_%s", e.plural, e.pkg[:2], r.hex(10)), 200
	if r.chance(28) {
		method, path, code = "POST", "/v1/"+e.plural, 201
	}
	if r.chance(4) {
		code = pick(r, []int{400, 404, 404, 409, 422})
	}
	ms := r.between(2, 44)
	if r.chance(6) {
		ms = r.between(300, 3900)
	}
	return fmt.Sprintf(`{"time":%q,"level":"INFO","msg":"request","method":%q,"path":%q,"code":%d,"bytes":%d,"ms":%d,"trace":%q}`+"\n",
		stamp, method, path, code, r.between(90, 4100), ms, r.hex(16))
}

// testsPass is go test over every package.
func testsPass(r *rng) string {
	var b strings.Builder
	fmt.Fprintf(&b, "?   \t%s/cmd/harborline\t[no test files]\n", module)
	for i := range entities {
		if r.chance(45) {
			fmt.Fprintf(&b, "ok  \t%s/internal/%s\t(cached)\n", module, entities[i].pkg)
		} else {
			fmt.Fprintf(&b, "ok  \t%s/internal/%s\t0.%03ds\n", module, entities[i].pkg, r.between(4, 640))
		}
	}
	fmt.Fprintf(&b, "ok  \t%s/internal/httpapi\t0.%03ds\n?   \t%s/internal/wire\t[no test files]\n", module, r.between(40, 800), module)
	return b.String()
}

// testFails is go test of one package with a failing test.
func testFails(pkg, file, name string, r *rng, messages ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "--- FAIL: %s (0.%02ds)\n", name, r.between(0, 9))
	for _, m := range messages {
		fmt.Fprintf(&b, "    %s:%s\n", file, m)
	}
	fmt.Fprintf(&b, "FAIL\nFAIL\t%s/internal/%s\t0.%03ds\nFAIL\n", module, pkg, r.between(4, 300))
	return b.String()
}

// testVerbose is go test -v of the table tests of some packages.
func testVerbose(r *rng, pkgs ...string) string {
	var b strings.Builder
	for i := range entities {
		e := &entities[i]
		if len(pkgs) > 0 && !contains(pkgs, e.pkg) {
			continue
		}
		name := "Test" + e.name + "Validate"
		fmt.Fprintf(&b, "=== RUN   %s\n=== RUN   %s/valid\n", name, name)
		for _, c := range e.cases {
			fmt.Fprintf(&b, "=== RUN   %s/%s\n", name, strings.ReplaceAll(c.name, " ", "_"))
		}
		fmt.Fprintf(&b, "--- PASS: %s (0.00s)\n    --- PASS: %s/valid (0.00s)\n", name, name)
		for _, c := range e.cases {
			fmt.Fprintf(&b, "    --- PASS: %s/%s (0.00s)\n", name, strings.ReplaceAll(c.name, " ", "_"))
		}
		fmt.Fprintf(&b, "PASS\nok  \t%s/internal/%s\t0.%03ds\n", module, e.pkg, r.between(3, 400))
	}
	return b.String()
}

func contains(of []string, s string) bool {
	for _, x := range of {
		if x == s {
			return true
		}
	}
	return false
}

// race is the report of the race detector.
func race(r *rng, pkg string, frames ...string) string {
	var b strings.Builder
	addr := "0x00c000" + r.hex(6)
	section := func(title string) {
		fmt.Fprintf(&b, "%s\n", title)
		for _, f := range frames {
			fn, at, _ := strings.Cut(f, " ")
			fmt.Fprintf(&b, "  %s/internal/%s.%s()\n      %s/%s +0x%s\n", module, pkg, fn, workdir, at, r.hex(3))
		}
		b.WriteByte('\n')
	}
	b.WriteString("==================\nWARNING: DATA RACE\n")
	section(fmt.Sprintf("Write at %s by goroutine %d:", addr, r.between(18, 60)))
	section(fmt.Sprintf("Previous read at %s by goroutine %d:", addr, r.between(61, 99)))
	for range 2 {
		section(fmt.Sprintf("Goroutine %d (running) created at:", r.between(18, 99)))
	}
	b.WriteString("==================\n")
	return b.String()
}

// profile is the top of a CPU profile.
func profile(r *rng, names []string) string {
	var b strings.Builder
	total := r.between(5200, 9400)
	fmt.Fprintf(&b, "Type: cpu\nDuration: 30.14s, Total samples = %.2fs (%.2f%%)\nShowing nodes accounting for %.2fs, 84.1%% of %.2fs total\n      flat  flat%%   sum%%        cum   cum%%\n",
		float64(total)/1000, float64(total)/301.4, float64(total)*0.841/1000, float64(total)/1000)
	sum, flat := 0.0, total/4
	for i, n := range names {
		pct := float64(flat) / float64(total) * 100
		sum += pct
		cum := flat + r.between(20, 900)
		fmt.Fprintf(&b, "%9.2fs %5.2f%% %5.2f%% %9.2fs %5.2f%%  %s\n", float64(flat)/1000, pct, sum, float64(cum)/1000, float64(cum)/float64(total)*100, n)
		flat = flat * r.between(62, 92) / 100
		_ = i
	}
	return b.String()
}

// ciLog is a pipeline's log: steps, downloads, tests and a verdict.
func ciLog(r *rng, failing string) string {
	var b strings.Builder
	at := time.Date(2026, 3, 9, 13, 40, 2, 0, time.UTC)
	line := func(step, text string) {
		at = at.Add(time.Duration(r.between(20, 1900)) * time.Millisecond)
		fmt.Fprintf(&b, "%s [%s] %s\n", at.Format("15:04:05.000"), step, text)
	}
	line("checkout", "HEAD is now at "+r.hex(7))
	line("setup", "go1.25.6 linux/amd64 found in tool cache")
	for _, m := range []string{"example.org/pgdriver v5.7.1", "example.org/ulid v2.1.0", "example.org/metrics v1.20.2", "example.org/yaml v3.2.0", "example.org/mailer v0.9.4", "example.org/otel v1.38.0"} {
		line("setup", "go: downloading "+m)
	}
	for i := range entities {
		line("vet", "go vet "+module+"/internal/"+entities[i].pkg)
	}
	for _, l := range strings.Split(strings.TrimSpace(testVerbose(r)), "\n") {
		line("test", l)
	}
	for _, l := range strings.Split(failing, "\n") {
		line("test", l)
	}
	line("post", "job finished with exit code 1")
	return b.String()
}

// queryPlan is what the database says about a slow query.
func queryPlan(r *rng, table, index string) string {
	rows := r.between(180_000, 420_000)
	ms := float64(r.between(2900, 4300)) / 1.7
	if index != "" {
		return fmt.Sprintf(` Limit  (cost=0.42..58.11 rows=50 width=214) (actual time=0.061..0.388 rows=50 loops=1)
   Buffers: shared hit=54
   ->  Index Scan using %s on %s  (cost=0.42..%d.71 rows=%d width=214) (actual time=0.059..0.377 rows=50 loops=1)
         Index Cond: (sailing_id = $1)
         Buffers: shared hit=54
 Planning Time: 0.%03d ms
 Execution Time: 0.%03d ms
`, index, table, rows/900, rows/800, r.between(90, 400), r.between(380, 520))
	}
	return fmt.Sprintf(` Limit  (cost=%d.18..%d.31 rows=50 width=214) (actual time=%.3f..%.3f rows=50 loops=1)
   Buffers: shared hit=%d read=%d
   ->  Sort  (cost=%d.18..%d.64 rows=%d width=214) (actual time=%.3f..%.3f rows=50 loops=1)
         Sort Key: created_at DESC
         Sort Method: top-N heapsort  Memory: 48kB
         ->  Seq Scan on %s  (cost=0.00..%d.40 rows=%d width=214) (actual time=0.019..%.3f rows=%d loops=1)
               Filter: (sailing_id = $1)
               Rows Removed by Filter: %d
 Planning Time: 0.%03d ms
 Execution Time: %.3f ms
`, rows/11, rows/11, ms, ms+.02, r.between(800, 2000), rows/64, rows/11, rows/11, rows/900, ms, ms+.01, table, rows/13, rows/900, ms-9, rows/880, rows, r.between(90, 400), ms+1.2)
}

// rowsOf is a table of the database client.
func rowsOf(r *rng, n int) string {
	var b strings.Builder
	b.WriteString("     id       |  route  |      departs_at      | seats | sold | lane | lane_sold \n")
	b.WriteString("--------------+---------+----------------------+-------+------+------+-----------\n")
	routes := []string{"TRD-KRS", "BOO-MSK", "HVN-LYN", "SVK-HAL", "ALT-OKS", "FLO-MAL"}
	for range n {
		seats := pick(r, []int{120, 180, 240, 399})
		fmt.Fprintf(&b, " sa_%s | %s | 2026-0%d-%02d %02d:%02d:00+00 | %5d | %4d | %4d | %9d\n", r.hex(10), pick(r, routes), r.between(3, 6), r.between(1, 28), r.between(5, 22), 15*r.n(4),
			seats, r.between(seats/2, seats+3), pick(r, []int{1800, 2400, 3600}), r.between(300, 2400))
	}
	fmt.Fprintf(&b, "(%d rows)\n", n)
	return b.String()
}

// bench is the output of go test -bench.
func bench(r *rng, pkg string, names []string, scale int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "goos: linux\ngoarch: amd64\npkg: %s/internal/%s\ncpu: 8-core\n", module, pkg)
	for _, n := range names {
		for range 5 {
			ns := scale * r.between(92, 110) / 100
			fmt.Fprintf(&b, "Benchmark%s-8 \t%8d\t%9d ns/op\t%8d B/op\t%6d allocs/op\n", n, 1_500_000_000/ns, ns, ns/3, ns/240)
		}
		scale = scale * r.between(60, 170) / 100
	}
	fmt.Fprintf(&b, "PASS\nok  \t%s/internal/%s\t%d.%03ds\n", module, pkg, r.between(14, 40), r.n(1000))
	return b.String()
}

// goroutines is a dump of what a stuck process was doing.
func goroutines(r *rng, n int) string {
	var b strings.Builder
	kinds := []struct{ state, fn, at string }{
		{"chan receive, 4 minutes", "internal/notice.(*Sender).round.func1", "internal/notice/sender.go:48"},
		{"select, 2 minutes", "internal/notice.(*Sender).Run", "internal/notice/sender.go:33"},
		{"IO wait", "net/http.(*conn).serve", "net/http/server.go:2102"},
		{"semacquire, 11 minutes", "internal/booking.(*Store).Insert", "internal/booking/store.go:51"},
		{"select", "database/sql.(*DB).connectionOpener", "database/sql/sql.go:1261"},
	}
	for range n {
		k := pick(r, kinds)
		fmt.Fprintf(&b, "goroutine %d [%s]:\n%s(0xc000%s, {0x%s, 0xc0%s})\n\t%s/%s +0x%s\ncreated by net/http.(*Server).Serve in goroutine 1\n\tnet/http/server.go:3454 +0x485\n\n",
			r.between(7, 4000), k.state, k.fn, r.hex(6), r.hex(6), r.hex(8), workdir, k.at, r.hex(3))
	}
	return b.String()
}
