package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/transcript"
)

// row is a call of a session: the content and the cost of its prompt, and its record.
type row struct {
	time    time.Time
	index   int // among all calls of the session, from 0
	regions [len(regionNames)]int
	read    int
	write   int
	plain   int
	// cost is the call's cost with the answer included. without is the same without memkernel. Both
	// come from the session's record, or else from the replay and from append-late. They are 0 for a
	// call that was not planned, and nil until they are known.
	cost, without *float64
	cut           string
	cold          bool
	compaction    bool // the host's own
	faults        int
	fault         string // the codes, in words
	reason        string // why it was not planned, "" if it was
}

// regionNames are the parts of a prompt in its order.
var regionNames = [...]string{cachelayout.RegionTools, cachelayout.RegionSystem, cachelayout.RegionCarry, cachelayout.RegionWorkingSet, cachelayout.RegionRetrieval, cachelayout.RegionNewest}

// stage is a level of a page, with the first call at which the page had that level.
type stage struct {
	Call  int
	Level pagevm.Level
	Why   string
}

// track is a recorded session that a kernel plans again call by call in a temporary folder. Its
// plans are the same as the plans of memkernel replay.
type track struct {
	path string
	o    *Options
	dir  string // its folder

	mu       sync.Mutex
	session  *transcript.Session
	pages    map[string]string // the ids of the pages by the ids of their calls
	steps    *replay.Recording
	host     *float64       // the bill of the host's own calls, nil if it is unknown
	kernel   *kernel.Kernel // that plans the session, nil until the first call is planned
	ends     []int          // the message that answers each call
	rows     []row
	lives    map[string][]stage
	snaps    []int // calls before which a copy of the folder was made
	total    int
	done     bool
	err      error
	size     int64
	modified time.Time

	cursor cursor
	stop   context.CancelFunc
	ended  chan struct{}
}

// snapshots is the approximate number of copies of a session's state that are kept. From a copy
// any call of the session can soon be planned again.
const snapshots = 24

// leastStride is the least number of calls between two copies.
const leastStride = 16

// newTrack begins to plan a transcript. Callers must call Close.
func newTrack(path string, o *Options) (*track, error) {
	dir, err := os.MkdirTemp("", "memkernel-ui-")
	if err != nil {
		return nil, fmt.Errorf("make a folder to plan %s in: %w", path, err)
	}
	t := &track{path: path, o: o, dir: dir, lives: map[string][]stage{}, ended: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	t.stop = stop
	go func() {
		defer close(t.ended)
		t.follow(ctx)
	}()
	return t, nil
}

// Close ends the track and removes the track's folder.
func (t *track) Close() {
	t.stop()
	<-t.ended
	t.cursor.mu.Lock()
	defer t.cursor.mu.Unlock()
	t.cursor.leave()
	t.begin()
	os.RemoveAll(t.dir)
}

// load reads the transcript if it has changed, and returns the track's error if it has not.
func (t *track) load() error {
	st, err := os.Stat(t.path)
	if t.steps != nil && (err != nil || st.Size() == t.size && st.ModTime().Equal(t.modified)) {
		return t.err
	}
	if err != nil {
		return fmt.Errorf("read session: %w", err)
	}
	session, err := transcript.LoadFile(t.path, &transcript.Options{Name: t.path, SkipBroken: true})
	if err != nil {
		return fmt.Errorf("read session: %w", err)
	}
	steps, err := replay.Record(session, t.options())
	if err != nil {
		return fmt.Errorf("read session %s: %w", t.path, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.steps != nil && (steps.Opt.Model != t.steps.Opt.Model || steps.Opt.FixedTokens != t.steps.Opt.FixedTokens || len(steps.Calls) < len(t.rows)) {
		t.begin() // it is another session by now
	}
	t.session, t.steps, t.err, t.done, t.size, t.modified = session, steps, nil, false, st.Size(), st.ModTime()
	old := t.rows[:t.total]
	t.rows, t.ends = slices.Clone(old), nil
	for n := range len(steps.Calls) {
		if t.ends = append(t.ends, steps.End(n)); n >= len(old) {
			t.rows = append(t.rows, row{time: steps.Calls[n].Start, index: steps.Index(n), compaction: steps.AfterCompaction(n)})
		}
	}
	t.bill()
	return nil
}

// begin forgets all plans.
func (t *track) begin() {
	if t.kernel != nil {
		t.kernel.Close()
	}
	os.RemoveAll(t.main())
	t.kernel, t.rows, t.total, t.lives, t.snaps = nil, nil, 0, map[string][]stage{}, nil
}

// main is the folder of the kernel that plans all calls.
func (t *track) main() string { return filepath.Join(t.dir, "main") }

// bill sums up the host's own bill. Callers must hold the lock.
func (t *track) bill() {
	msgs := t.session.View(transcript.Full)
	t.host = nil
	for _, c := range transcript.Calls(msgs) {
		m := &msgs[c.Index]
		if u := m.Usage; u != nil {
			price, _ := t.o.Prices.Lookup(m.Model, c.Start)
			if usd := price.Cost(u.CacheReadTokens, u.CacheWrite5mTokens, u.CacheWrite1hTokens, u.InputTokens, u.OutputTokens); usd != nil {
				t.host = sum(cmp.Or(t.host, new(float64)), usd)
			}
		}
	}
}

// options returns the options of every replay of the session.
func (t *track) options() replay.Options {
	return replay.Options{ContextWindow: t.o.Window, Economy: t.o.Economy, Resolver: t.o.Resolver, FixedAuto: true, View: transcript.Full, Prices: t.o.Prices}
}

// idle is the time after which an unchanged session is checked again.
const idle = time.Second

// follow plans the present calls, and then those that are written to the transcript later.
func (t *track) follow(ctx context.Context) {
	for ctx.Err() == nil {
		err := t.load()
		if err == nil && !t.done {
			err = t.plan(ctx)
		}
		if ctx.Err() == nil {
			t.mu.Lock()
			t.err, t.done = err, true
			t.mu.Unlock()
		}
		select {
		case <-ctx.Done():
		case <-time.After(idle):
		}
	}
}

// plan plans every call that is not planned yet. It then notes the pages of the results, and the
// cost of all calls under append-late.
func (t *track) plan(ctx context.Context) error {
	if t.kernel == nil {
		k, err := openScratch(ctx, t.main(), t.steps)
		if err != nil {
			return err
		}
		t.mu.Lock()
		t.kernel = k
		t.mu.Unlock()
	}
	if err := t.walk(ctx); err != nil {
		return err
	}
	if err := t.name(ctx); err != nil {
		return err
	}
	return t.append(ctx)
}

// openScratch opens the kernel that plans a session, in a folder of its own.
func openScratch(ctx context.Context, dir string, steps *replay.Recording) (*kernel.Kernel, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder to plan in: %w", err)
	}
	k, err := kernel.Open(ctx, dir, steps.Kernel())
	if err != nil {
		return nil, fmt.Errorf("open a kernel to plan with: %w", err)
	}
	return k, nil
}

// walk plans every call that is not planned yet.
func (t *track) walk(ctx context.Context) error {
	steps := t.steps
	stride := max(leastStride, len(steps.Calls)/snapshots)
	for n := t.total; n < len(steps.Calls); n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if n > 0 && n%stride == 0 && !slices.Contains(t.snaps, n) {
			if err := os.CopyFS(t.snapshot(n), os.DirFS(t.main())); err != nil {
				return fmt.Errorf("copy the state of a session: %w", err)
			}
			t.mu.Lock()
			t.snaps = append(t.snaps, n)
			t.mu.Unlock()
		}
		plan, err := t.kernel.PlanContext(ctx, steps.Request(n))
		w := t.rows[n]
		if err != nil {
			u, one := steps.Refused(n, err)
			if !one {
				return fmt.Errorf("plan call %d: %w", steps.Index(n)+1, err)
			}
			w.reason, w.cost, w.without = u.Reason, new(float64), new(float64)
		} else {
			w.fill(plan, steps, n)
		}
		t.mu.Lock()
		t.rows[n], t.total = w, n+1
		if plan != nil {
			t.live(n, plan)
		}
		t.mu.Unlock()
	}
	return nil
}

// name notes which pages the results of calls are.
func (t *track) name(ctx context.Context) error {
	kept, err := t.kernel.Kept(ctx, session)
	if none := (*api.NoSessionError)(nil); err != nil && !errors.As(err, &none) {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pages = map[string]string{}
	for i := 0; err == nil && i < len(kept.Pages); i++ {
		t.pages[kept.Pages[i].CallID] = kept.Pages[i].ID
	}
	return nil
}

// mark adds to an item its call, and what the plans did to it.
func (t *track) mark(it *said, said *talk, n int) {
	p := &said.pieces[n]
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.steps == nil {
		return
	}
	if said.msgs[p.msg].Role == memkernel.RoleAssistant {
		at, ok := slices.BinarySearchFunc(t.ends, p.msg, cmp.Compare)
		if ok && at < t.total {
			it.Call = at + 1
			if p.first {
				it.Cut = t.rows[at].cut
			}
		}
	}
	if call := said.msgs[p.msg].Parts; p.kind == "call" {
		it.Page = t.pages[call[p.part].Call.ID]
		if all := t.lives[it.Page]; len(all) > 0 {
			it.Level, it.Since = all[len(all)-1].Level.String(), all[len(all)-1].Call
		}
	}
}

func (t *track) snapshot(n int) string { return filepath.Join(t.dir, "at-"+strconv.Itoa(n)) }

// fill fills the row of a call from its plan.
func (w *row) fill(plan *api.ContextPlan, steps *replay.Recording, n int) {
	for _, r := range plan.Regions {
		if i := slices.Index(regionNames[:], r.Name); i >= 0 {
			w.regions[i] += r.Tokens
		}
	}
	b := &plan.Layout.Bill
	w.read, w.write, w.plain = b.ReadTokens, b.Write5mTokens+b.Write1hTokens, b.UncachedTokens
	w.cold, w.faults = plan.Layout.Cold, len(plan.Faults)
	var codes []string
	for i := range plan.Faults {
		if code := strings.ReplaceAll(string(plan.Faults[i].Code), "_", " "); !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	w.fault = strings.Join(codes, ", ")
	w.cost = sum(b.CostUSD, steps.AnswerUSD(n, b.Total()))
	if c := plan.Layout.Made; c != nil {
		w.cut = c.Reason
	}
}

// live records the pages that changed their level.
func (t *track) live(n int, plan *api.ContextPlan) {
	cut := "what came new"
	if c := plan.Layout.Made; c != nil {
		cut = "cut: " + c.Reason
	}
	note := func(id string, level pagevm.Level, why string) {
		all := t.lives[id]
		if len(all) == 0 || all[len(all)-1].Level != level {
			if len(all) == 0 && level == pagevm.Full {
				why = "it came new"
			}
			t.lives[id] = append(all, stage{Call: n + 1, Level: level, Why: why})
		}
	}
	for i := range plan.Debug.Included {
		in := &plan.Debug.Included[i]
		if in.Kind != cachelayout.RegionTools && in.Kind != cachelayout.RegionSystem && in.Kind != "anchor" {
			note(in.ID, in.Level, cut)
		}
	}
	for i := range plan.Reduced {
		if r := &plan.Reduced[i]; r.Level == pagevm.Gone {
			note(r.Page, r.Level, cut)
		}
	}
}

// append fills in the calls' cost under append-late.
func (t *track) append(ctx context.Context) error {
	res, err := replay.Run(ctx, t.session, replay.AppendLate, t.options())
	if err != nil {
		return fmt.Errorf("replay %s: %w", replay.AppendLate, err)
	}
	by := make(map[int]*float64, len(res.Calls))
	for i := range res.Calls {
		by[res.Calls[i].Index] = sum(res.Calls[i].CostUSD, res.Calls[i].OutputCostUSD)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for n := range t.rows {
		if t.rows[n].reason == "" {
			t.rows[n].without = by[t.rows[n].index]
		}
	}
	return nil
}

// sum returns the sum of costs, nil if one of the costs is unknown.
func sum(costs ...*float64) *float64 {
	all := 0.0
	for _, c := range costs {
		if c == nil {
			return nil
		}
		all += *c
	}
	return &all
}

// cursor is a kernel at some call of a session. It can plan the next calls. For an earlier call it
// begins at a copy of the session's state.
type cursor struct {
	mu     sync.Mutex
	kernel *kernel.Kernel
	dir    string
	at     int              // calls before it are planned
	plan   *api.ContextPlan // of the call before at
}

// leave closes its resources. Callers must hold the lock.
func (c *cursor) leave() {
	if c.kernel != nil {
		c.kernel.Close()
		c.kernel, c.plan = nil, nil
	}
	os.RemoveAll(c.dir)
}

// show plans call n again. Callers must hold the cursor's lock.
func (t *track) show(ctx context.Context, n int) (*api.ContextPlan, error) {
	c := &t.cursor
	from := 0
	t.mu.Lock()
	steps, total := t.steps, t.total
	for _, s := range t.snaps {
		if s <= n {
			from = max(from, s)
		}
	}
	t.mu.Unlock()
	switch {
	case steps == nil:
		return nil, errNotYet
	case n >= len(steps.Calls) || n < 0:
		return nil, fmt.Errorf("the session has %d calls, there is no call %d", len(steps.Calls), n+1)
	case n > total:
		return nil, errNotYet
	case c.plan != nil && c.at == n+1:
		return c.plan, nil
	}
	if c.kernel == nil || c.at > n || c.at < from {
		c.leave()
		c.dir, c.at = filepath.Join(t.dir, "cursor"), from
		if from > 0 {
			if err := os.CopyFS(c.dir, os.DirFS(t.snapshot(from))); err != nil {
				return nil, fmt.Errorf("copy the state of a session: %w", err)
			}
		}
		var err error
		if c.kernel, err = openScratch(ctx, c.dir, steps); err != nil {
			return nil, err
		}
	}
	for ; c.at <= n; c.at++ {
		req := steps.Request(c.at)
		req.Table = c.at == n
		var err error
		if c.plan, err = c.kernel.PlanContext(ctx, req); err != nil {
			if _, one := steps.Refused(c.at, err); !one || c.at == n {
				return nil, fmt.Errorf("plan call %d: %w", c.at+1, err)
			}
		}
	}
	return c.plan, nil
}

// session is the key of the session that is planned in a scratch folder.
const session = replay.Session
