// Package economics replays recorded sessions under every policy, window and price regime of a
// grid. It writes a table for each window and regime. It also draws the curve of cost against
// recall for each policy with a figure, with a point for each value of the figure.
//
//	sessions × regimes × rooms × policies ─► rows ─► tables
//	sessions × policies with a figure     ─► points ─► curve (SVG)
//
// All results are relative to append-late on the same session, window and prices, because
// sessions differ in size by far more than policies do. A window is either the model's own, or
// the fixed part of the session plus a room. In the second case every session has the same room.
//
// The package sends nothing, and writes only the files of Write and [writeEconomy]. The
// same sessions give the same figures in any order of the runs.
package economics

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memkernel/memkernel/bench/policies"
	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/transcript"
)

// regime is a set of prices and cache rules.
type regime struct {
	Name  string
	Model string
	TTL   time.Duration
	// Window is the whole context window of the regime, in tokens. If Window is 0, the regime is
	// run with a window for each of the rooms.
	Window int
}

// regimes lists the price regimes. The first regimes have windows of common sizes: a Claude model
// with short and with long cache entries, and an OpenAI model that bills cache writes. The newest
// models of both providers have windows of their own: a million tokens, or the number of tokens up
// to which the base price holds. The price book has prices of all these models also for the days of
// older recordings.
func regimes() []regime {
	return []regime{
		{"claude-5m", "claude-opus-4-5", 5 * time.Minute, 0},
		{"claude-1h", "claude-opus-4-5", time.Hour, 0},
		{"openai", "gpt-6.1-sol", 30 * time.Minute, 0},
		{"claude-1m", "claude-opus-5-5", 5 * time.Minute, 1_000_000},
		{"openai-272k", "gpt-6.2-sol", 30 * time.Minute, 272_000},
	}
}

// rooms returns the windows, in tokens above the fixed part.
func rooms() []int { return []int{64_000, 128_000, 200_000} }

// rooms returns the regime's own window if the regime has one. Otherwise it returns the parameter of.
func (g *regime) rooms(of []int) []int {
	if g.Window > 0 {
		return []int{g.Window}
	}
	return of
}

// session is a recorded session with its name.
type session struct {
	Name string
	*transcript.Session
}

// options selects the runs. Zero values mean all runs.
type options struct {
	Sessions []session
	Rooms    []int
	Regimes  []regime
	Policies []string
	// NoCurve leaves the curve out.
	NoCurve bool
	// Rowwise adds a table with a row for each session and policy.
	Rowwise bool
	// Progress is called with the number of finished runs and of all runs. It may be nil.
	Progress func(done, all int)
}

// outcome is the result of one session under one policy, window and regime.
type outcome struct {
	Session, Regime, Policy string
	Room                    int // the whole window if the regime has its own window
	FixedTokens             int
	Totals                  replay.Totals

	result *replay.Result // nil once all policies of the session are aligned
}

// report is the outcome of all runs.
type report struct {
	Options options
	Rows    []outcome // by regime, room, session, policy
	Points  []outcome // of the curve, by policy and session
}

// resolver is the tool that pointers name in a replay.
const resolver = "memory_get"

// job is a session under one window and regime. Its policies are run one after the other, because
// the oracle needs the result of the kernel's run.
type job struct {
	session  int
	regime   regime
	room     int
	policies []string
}

// run replays all sessions, on all processors.
func run(ctx context.Context, opt options) (*report, error) {
	if len(opt.Sessions) == 0 {
		return nil, fmt.Errorf("no sessions to replay")
	}
	opt.setDefaults()
	r := &report{Options: opt}
	var grid []job
	for _, regime := range opt.Regimes {
		for _, room := range regime.rooms(opt.Rooms) {
			for s := range opt.Sessions {
				grid = append(grid, job{s, regime, room, opt.Policies})
			}
		}
	}
	table := len(grid)
	if !opt.NoCurve {
		grid = append(grid, r.curveJobs()...)
	}
	rows, err := runAll(ctx, opt, grid, table)
	for i := range rows {
		if i < table {
			r.Rows = append(r.Rows, rows[i]...)
		} else {
			r.Points = append(r.Points, rows[i]...)
		}
	}
	for s := range opt.Sessions { // the policies of the curve are run separately
		align(r.Points, opt.Sessions[s].Name)
	}
	return r, err
}

// align leaves a call out of all rows of a session if any of their policies could not plan it. All
// rows must still have a result, which align removes.
func align(rows []outcome, session string) {
	var results []*replay.Result
	for i := range rows {
		if rows[i].Session == session {
			results = append(results, rows[i].result)
		}
	}
	replay.Align(results)
	for i := range rows {
		if rows[i].Session == session {
			rows[i].Totals, rows[i].result = rows[i].result.Totals, nil
		}
	}
}

func (o *options) setDefaults() {
	if len(o.Rooms) == 0 {
		o.Rooms = rooms()
	}
	if len(o.Regimes) == 0 {
		o.Regimes = regimes()
	}
	if len(o.Policies) == 0 {
		o.Policies = replay.Policies()
	}
}

// runAll runs jobs on all processors, and returns their rows in the order of the jobs. It aligns the
// rows of each of the first jobs, whose number is whole.
func runAll(ctx context.Context, opt options, grid []job, whole int) ([][]outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	rows := make([][]outcome, len(grid))
	var next, done atomic.Int64
	var wg sync.WaitGroup
	var report sync.Mutex
	for range min(runtime.GOMAXPROCS(0), len(grid)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(grid) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				out, err := grid[i].run(ctx, opt.Sessions[grid[i].session])
				if err != nil {
					cancel(err)
					return
				}
				if i < whole {
					align(out, opt.Sessions[grid[i].session].Name)
				}
				rows[i] = out
				if n := int(done.Add(1)); opt.Progress != nil {
					report.Lock()
					opt.Progress(n, len(grid))
					report.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return rows, nil
}

func (j job) run(ctx context.Context, s session) ([]outcome, error) {
	var out []outcome
	var ours *replay.Result
	for _, policy := range j.policies {
		res, err := j.policy(ctx, s, policy, ours)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		if policy == replay.Memkernel {
			ours = res
		}
		row := outcome{Session: s.Name, Regime: j.regime.Name, Room: j.room, Policy: policy, FixedTokens: res.FixedTokens, result: res}
		out = append(out, row)
	}
	return out, nil
}

func (j job) policy(ctx context.Context, s session, policy string, ours *replay.Result) (*replay.Result, error) {
	scratch, err := os.MkdirTemp("", "memkernel-economics-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	opt := replay.Options{RoomTokens: j.room, FixedAuto: true, Model: j.regime.Model, TTL: j.regime.TTL, Resolver: resolver,
		View: transcript.Full, Scratch: scratch, Rival: ours}
	if j.regime.Window > 0 {
		opt.RoomTokens, opt.ContextWindow = 0, j.regime.Window
	}
	return replay.Run(ctx, s.Session, policy, opt)
}

// figures holds, for each policy, the figures at which the curve has points.
var figures = []struct {
	policy  string
	figures []string
}{
	{replay.Memkernel, []string{"5k", "10k", "15k", "20k", "30k", "45k", "60k"}},
	{replay.AppendLate, []string{"5k", "10k", "20k", "40k", "60k"}},
	{policies.Turns, []string{"2", "5", "10", "20"}},
	{policies.Sliding, []string{"16k", "32k", "64k", "96k"}},
	{policies.CacheTTL, []string{"5", "10", "20", "35", "50"}},
	{policies.ClearTools, []string{"3", "10", "20", "40"}},
	{replay.Oracle, []string{"30", "50", "60", "70", "80", "90", "95", "99"}},
}

// curveRoom is the room of the curve. The curve uses the first regime.
const curveRoom = 128_000

// curveJobs lists the runs of the curve, and the runs of append-late that they are compared with.
func (r *report) curveJobs() []job {
	names := []string{replay.AppendLate}
	for _, f := range figures {
		for _, n := range f.figures {
			names = append(names, f.policy+"-"+n)
		}
	}
	var out []job
	for s := range r.Options.Sessions {
		for part := range slices.Chunk(names, 6) {
			out = append(out, job{s, r.Options.Regimes[0], curveRoom, part})
		}
	}
	return out
}

// curve is the line of a policy in the picture.
type curve struct {
	policy string
	points []point
}

// point is the result of a policy with one figure. It has the median cost relative to append-late
// and the median share of references shown.
type point struct {
	figure       string
	cost, recall float64
}

// curves groups the points by policy.
func (r *report) curves() []curve {
	late := map[string]*outcome{}
	by := map[string][]*outcome{}
	for i := range r.Points {
		w := &r.Points[i]
		if by[w.Policy] = append(by[w.Policy], w); w.Policy == replay.AppendLate {
			late[w.Session] = w
		}
	}
	var out []curve
	for _, f := range figures {
		c := curve{policy: f.policy}
		for _, n := range f.figures {
			var cost, shown []float64
			for _, w := range by[f.policy+"-"+n] {
				if l := late[w.Session]; l != nil {
					cost, shown = append(cost, over(net(w), net(l))), append(shown, w.Totals.ReferenceRecall)
				}
			}
			if p := (point{n, spreadOf(cost, true).median, spreadOf(shown, false).median}); !math.IsNaN(p.cost + p.recall) {
				c.points = append(c.points, p)
			}
		}
		if len(c.points) > 0 {
			out = append(out, c)
		}
	}
	return out
}
