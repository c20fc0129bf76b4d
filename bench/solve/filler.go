package solve

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// dice makes texts from a seed.
type dice struct{ *rand.Rand }

func roll(seed, stream uint64) dice { return dice{rand.New(rand.NewPCG(seed, stream))} }

func (d dice) of(list ...string) string { return list[d.IntN(len(list))] }
func (d dice) hex(n int) string {
	s := fmt.Sprintf("%016x", d.Uint64())
	return s[:n]
}
func (d dice) node() string {
	return fmt.Sprintf("%s-%d%s", d.of("fra", "iad", "hnd", "gru", "ams"), d.IntN(90)+10, d.of("a", "b", "c", "d"))
}
func (d dice) name() string {
	return d.of("pool", "lease", "queue", "ledger", "batch", "cache", "index", "relay", "quota", "shard", "token", "audit") +
		d.of("", "Size", "Limit", "Retry", "Window", "Depth", "Hold", "Span")
}

// kinds lists the kinds of tool results, each with the file extension of its kind.
var kinds = []struct {
	name, ending string
	line         func(d dice, w *words, n int) string
}{
	{"log", "log", func(d dice, _ *words, n int) string {
		return fmt.Sprintf("2026-11-%02dT%02d:%02d:%02d.%03dZ %-5s %s request=%s node=%s status=%d took=%dms", n/900%28+1, n/60%24, n%60, d.IntN(60), d.IntN(1000),
			d.of("INFO", "INFO", "INFO", "DEBUG", "WARN"), d.of("gateway", "worker", "store", "billing"), d.hex(10), d.node(), 200+d.IntN(4)*100, d.IntN(4000))
	}},
	{"json", "json", func(d dice, _ *words, n int) string {
		return fmt.Sprintf(`{"n": %d, "request": "%s", "node": "%s", "bytes": %d, "tags": ["%s", "%s"]}`, n, d.hex(10), d.node(), d.IntN(1<<20), d.name(), d.name())
	}},
	{"table", "tsv", func(d dice, _ *words, n int) string {
		return fmt.Sprintf("%d\t%s\t%s\t%d.%02d", n, d.hex(10), d.node(), d.IntN(9999), d.IntN(100))
	}},
	{"listing", "txt", func(d dice, _ *words, n int) string {
		return fmt.Sprintf("-rw-r--r-- 1 build build %8d Nov %2d %02d:%02d src/%s/%s_%s.go", d.IntN(1<<18), n%28+1, d.IntN(24), d.IntN(60), d.name(), d.name(), d.hex(4))
	}},
	{"code", "go", func(d dice, _ *words, n int) string {
		a := d.name()
		switch n % 6 {
		case 0:
			return fmt.Sprintf("\n// %s_%s bounds the %s of a %s.\nconst %s_%s = %d", a, d.hex(4), d.name(), d.name(), a, d.hex(4), d.IntN(900))
		case 1:
			return fmt.Sprintf("func (s *Store) %s%s(ctx context.Context, id string) (*%s, error) {", strings.ToUpper(a[:1]), a[1:]+d.hex(3), d.name())
		case 2:
			return fmt.Sprintf("\tif got := s.%s[id]; got != nil && got.%s > %d {", a, d.name(), d.IntN(500))
		case 3:
			return fmt.Sprintf("\t\treturn nil, fmt.Errorf(\"%s %%s: %s is over %d\", id)\n\t}", a, d.name(), d.IntN(500))
		case 4:
			return fmt.Sprintf("\ts.%s.Add(%d)", a, d.IntN(64))
		}
		return fmt.Sprintf("\treturn s.%s(ctx, id)\n}", a)
	}},
	{"prose", "md", func(d dice, w *words, n int) string {
		s := ""
		if n%9 == 0 {
			s = fmt.Sprintf("\n## %s %d\n\n", d.name(), n)
		}
		return s + w.filler[d.IntN(len(w.filler))] + " " + w.filler[d.IntN(len(w.filler))] + fmt.Sprintf(" (%s, %d)", d.name(), d.IntN(1000))
	}},
}

// text returns a tool result of a kind, with at least size bytes. It inserts the task's own lines
// (put) at random places.
func (d dice) text(kind int, w *words, size int, put ...string) string {
	var lines []string
	for n, got := 0, 0; got < size; n++ {
		l := kinds[kind].line(d, w, n)
		lines, got = append(lines, l), got+len(l)+1
	}
	for _, p := range put {
		at := len(lines)/4 + d.IntN(len(lines)/2+1)
		lines = append(lines[:at], append([]string{p}, lines[at:]...)...)
	}
	return strings.Join(lines, "\n") + "\n"
}

// size returns a size for a tool result, in bytes. Many sizes are small, and some are large.
func (d dice) size(scale float64) int {
	n := 600 + d.IntN(3000)
	switch d.IntN(10) {
	case 0, 1, 2, 3, 4:
		n = 6_000 + d.IntN(10_000)
	case 5, 6:
		n = 16_000 + d.IntN(18_000)
	}
	return int(float64(n) * scale)
}

// command returns a command that a user asks to run.
func (d dice) command() string {
	id := d.hex(5)
	return d.of("kubectl logs deploy/api-"+id+" --since=1h", "git show "+id+d.hex(3), "ls -lR build/"+id, "curl -s localhost:8080/debug/"+id, "psql -c 'table jobs_"+id+"'", "./scripts/report.sh "+id)
}
