package economics

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/bench/policies"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/transcript"
)

func TestSpread(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		values        []float64
		high          bool
		median, worst float64
		n             int
	}{
		{[]float64{3, 1, 2}, true, 2, 3, 3},
		{[]float64{3, 1, 2}, false, 2, 1, 3},
		{[]float64{4, 1, 2, 3}, true, 2.5, 4, 4},
		{[]float64{nan, 7}, true, 7, 7, 1},
	} {
		if got := spreadOf(c.values, c.high); got != (spread{c.median, c.worst, c.n}) {
			t.Errorf("spreadOf(%v, %v) = %+v", c.values, c.high, got)
		}
	}
	if s := spreadOf([]float64{nan}, true); s.n != 0 || pair(s, signed) != "–" {
		t.Errorf("nothing known: %+v, %s", s, pair(s, signed))
	}
}

func TestFiguresArePrinted(t *testing.T) {
	for got, want := range map[string]string{
		signed(0.587): "−41 %", signed(1.004): "0 %", signed(2.1): "+110 %", signed(math.NaN()): "–", part(0.8714): "87.1 %",
		usd(math.NaN()): "unpriced", usd(1.239): "$1.24",
	} {
		if got != want {
			t.Errorf("printed %q, want %q", got, want)
		}
	}
}

// TestPictureIsXML: the picture parses, and what is off the axes stays inside it.
func TestPictureIsXML(t *testing.T) {
	s := svg([]curve{{replay.Memkernel, []point{{"5k", 0.5, 0.7}, {"<&", 99, 0.01}}}, {replay.Oracle, []point{{"90", 0.4, 0.9}}}}, `a "title" & more`)
	circles := 0
	d := xml.NewDecoder(strings.NewReader(s))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "circle" {
			circles++
		}
	}
	if circles != 3 {
		t.Errorf("%d points drawn, want 3", circles)
	}
	for _, c := range []struct{ recall, cost, x, y float64 }{
		{0.2, 4, svgLeft, svgTop}, {1, 0.25, svgLeft + svgPlotW, svgTop + svgPlotH}, {0.6, 1, svgLeft + svgPlotW/2, svgTop + svgPlotH/2}, {-1, 1e9, svgLeft, svgTop},
	} {
		if x, y := atX(c.recall), atY(c.cost); math.Abs(x-c.x) > 1e-6 || math.Abs(y-c.y) > 1e-6 {
			t.Errorf("(%v, %v) is drawn at (%v, %v), want (%v, %v)", c.recall, c.cost, x, y, c.x, c.y)
		}
	}
}

func sample(t *testing.T) []session {
	t.Helper()
	s, err := transcript.LoadFile("../../testdata/session.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	return []session{{"one", s}, {"two", s}}
}

// TestReport runs a small grid twice, once on one processor: the report is the same.
func TestReport(t *testing.T) {
	opt := options{Sessions: sample(t), Rooms: []int{64_000}, Regimes: regimes()[:1], Policies: []string{replay.Memkernel, replay.AppendLate, replay.Fullest, replay.Oracle}, NoCurve: true, Rowwise: true}
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	first, err := run(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	second, err := run(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	a, b := first.Markdown("x", now), second.Markdown("x", now)
	if a != b {
		t.Error("two runs give two reports")
	}
	if len(first.Rows) != 8 || first.Rows[3].Policy != replay.Oracle || first.Rows[4].Session != "two" {
		t.Errorf("%d rows", len(first.Rows))
	}
	for _, want := range []string{"Made on 2026-11-21 by `x`", "\n## claude-5m (claude-opus-4-5, cache entries that live 5m0s), fixed part + 64k\n", "| append-late | $", " | 0 % | 0 % |", "2 recorded sessions", "\n| two | fullest | $"} {
		if !strings.Contains(a, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	for _, w := range first.Rows {
		if w.Totals.Violations > 0 {
			t.Errorf("%s: %d violations", w.Policy, w.Totals.Violations)
		}
	}
}

func TestCurvesTakeMedians(t *testing.T) {
	usd := func(v float64) *float64 { return &v }
	row := func(session, policy string, cost, recall float64) outcome {
		return outcome{Session: session, Policy: policy, Totals: replay.Totals{NetCostUSD: usd(cost), ReferenceRecall: recall}}
	}
	r := &report{Points: []outcome{row("a", replay.AppendLate, 2, 0.9), row("b", replay.AppendLate, 4, 0.9),
		row("a", "sliding-16k", 1, 0.2), row("b", "sliding-16k", 6, 0.4), row("a", "oracle-90", 1, 0.9), row("b", "oracle-90", 1, 0.92)}}
	got := r.curves()
	if len(got) != 2 || got[0].policy != policies.Sliding || len(got[0].points) != 1 || got[0].points[0].cost != 1 || math.Abs(got[0].points[0].recall-0.3) > 1e-9 || got[1].points[0].cost != 0.375 {
		t.Errorf("%+v", got)
	}
}

func TestWrite(t *testing.T) {
	usd := 1.0
	r := &report{Options: options{Sessions: []session{{Name: "a"}}, Policies: []string{replay.AppendLate}, Regimes: regimes()[:1], Rooms: []int{64_000}}}
	r.Points = []outcome{{Session: "a", Policy: replay.AppendLate, Totals: replay.Totals{NetCostUSD: &usd}}, {Session: "a", Policy: "turns-5", Totals: replay.Totals{NetCostUSD: &usd}}}
	dir := t.TempDir()
	if err := r.Write(dir, "x", time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{markdownFile, pictureFile} {
		if st, err := os.Stat(filepath.Join(dir, name)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := r.Write(filepath.Join(dir, "none"), "x", time.Now()); err == nil {
		t.Error("a missing folder is no error")
	}
}

// Calls that a policy can't plan stop no report: they are counted by reason, the same for every
// policy of a session, and are in no figure. A call that is larger than the window is planned, since
// the input of its newest pair is trimmed.
func TestReportOfUnplannedCalls(t *testing.T) {
	text := `{"model":"claude-opus-4-5","messages":[{"role":"assistant","content":"hello"},{"role":"user","content":"go on"},{"role":"assistant","content":"one moment"},
		{"role":"assistant","content":"done"},{"role":"user","content":"write"},
		{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Write","input":{"file_path":"a","content":"` + strings.Repeat("a word of its own ", 6000) + `"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]},{"role":"assistant","content":"long"},{"role":"user","content":"thanks"},{"role":"assistant","content":"bye"}]}`
	short := `{"model":"claude-opus-4-5","messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"hello"}]}`
	var sessions []session
	for name, text := range map[string]string{"odd": text, "one": short} {
		s, err := transcript.Load(strings.NewReader(text), name, nil)
		if err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, session{name, s})
	}
	opt := options{Sessions: sessions, Rooms: []int{20_000}, Regimes: regimes()[:1], NoCurve: true,
		Policies: []string{replay.Memkernel, replay.AppendLate, replay.Fullest, replay.Oracle}}
	r, err := run(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range r.Rows {
		o := w.Totals
		if w.Session == "odd" && (o.Calls != 4 || o.Unplanned["no_messages"] != 1 || o.Unplanned["answered"] != 1 || len(o.Unplanned) != 2) {
			t.Errorf("%s: %d calls, %v", w.Policy, o.Calls, o.Unplanned)
		}
		if w.Session == "one" && len(o.Unplanned) != 0 {
			t.Errorf("%s: %v", w.Policy, o.Unplanned)
		}
	}
	md := r.Markdown("x", time.Now())
	if want := "Calls of odd that are in no figure: 1 `answered`, 1 `no_messages`\n"; !strings.Contains(md, want) || strings.Contains(md, "Calls of one") {
		t.Errorf("the report lacks %q", want)
	}
}

// The curve's policies are run apart, and count the same calls all the same.
func TestCurveIsAligned(t *testing.T) {
	usd := 1.0
	result := func(left ...replay.Unplanned) *replay.Result {
		r := &replay.Result{Unplanned: left}
		for i := range 3 {
			if len(left) == 0 || i != left[0].Index {
				r.Calls = append(r.Calls, replay.Call{Index: i, CostUSD: &usd, NetCostUSD: &usd, Input: 10})
			}
		}
		return r
	}
	rows := []outcome{{Session: "a", result: result()}, {Session: "b", result: result()}, {Session: "a", result: result(replay.Unplanned{Index: 1, Reason: "does_not_fit"})}}
	align(rows, "a")
	if o := rows[0].Totals; o.Calls != 2 || o.InputTokens != 20 || *o.NetCostUSD != 2 || o.Unplanned["does_not_fit"] != 1 {
		t.Errorf("%+v", o)
	}
	if rows[0].result != nil || rows[1].result == nil || rows[2].result != nil {
		t.Error("the wrong session was aligned")
	}
}

// The measurement has every choice in both windows. doc/economics.md shows it, and
// has a row for each policy.
func TestMeasuredEconomy(t *testing.T) {
	data, err := os.ReadFile("testdata/economy.json")
	if err != nil {
		t.Fatal(err)
	}
	m := &economy{}
	if err := json.Unmarshal(data, m); err != nil {
		t.Fatal(err)
	}
	o := economyOptions()
	if len(m.Rows) != len(o.Rooms)*len(o.Policies) || m.Sessions == 0 || m.Calls == 0 || m.Made == "" || m.Command == "" {
		t.Fatalf("%+v: make bench-economy SESSIONS=… measures it", m)
	}
	doc, err := os.ReadFile("../../doc/economics.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := "\n" + economyMarkdown(m) + "\n"; !strings.Contains(string(doc), want) {
		t.Errorf("doc/economics.md does not hold\n%s", want)
	}
	for _, p := range replay.Policies() {
		if !strings.Contains(string(doc), "\n| "+p+" |") {
			t.Errorf("doc/economics.md has no row of %s", p)
		}
	}
	for n := range o.Rooms {
		rows := m.Rows[n*len(o.Policies) : (n+1)*len(o.Policies)]
		// Each costs more than the one before it, and shows more.
		for i := 2; i < len(rows); i++ {
			if a, b := rows[i-1], rows[i]; !(a.RoomTokens == b.RoomTokens && a.CostUSD < b.CostUSD && a.ReferenceRecall < b.ReferenceRecall) {
				t.Errorf("%s and %s are no frontier: %+v %+v", a.Economy, b.Economy, a, b)
			}
		}
	}
}

// On the sample, too, who pays more is shown more; and where nobody has to cut, keep
// does not.
func TestEconomyOfTheSample(t *testing.T) {
	o := economyOptions()
	o.Sessions = sample(t)[:1]
	o.Rooms, o.Policies = suite.Some(o.Rooms, 1), nil
	for _, e := range cachelayout.Economies() {
		o.Policies = append(o.Policies, replay.Memkernel+"-"+string(e))
	}
	r, err := run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	m, err := r.Economy("x", time.Now())
	if err == nil {
		err = writeEconomy(m, dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	for n, window := range o.Rooms {
		rows := m.Rows[n*len(o.Policies):]
		save, balanced, keep := rows[0], rows[1], rows[2]
		if !(save.CostUSD < balanced.CostUSD && balanced.CostUSD < keep.CostUSD) || balanced.CostRatio != 1 {
			t.Errorf("%d: cost %v, %v, %v", window, save.CostUSD, balanced.CostUSD, keep.CostUSD)
		}
		// save keeps at least 16,000 tokens, which is what balanced keeps of this sample.
		if !(save.ReferenceRecall <= balanced.ReferenceRecall && balanced.ReferenceRecall < keep.ReferenceRecall) {
			t.Errorf("%d: shown %v, %v, %v", window, save.ReferenceRecall, balanced.ReferenceRecall, keep.ReferenceRecall)
		}
		if window == 1_000_000 && (keep.Cuts > 0 || keep.ReferenceRecall < 1) {
			t.Errorf("%+v", keep)
		}
	}
	written, err := os.ReadFile(filepath.Join(dir, economyFile))
	if err != nil || !strings.Contains(string(written), `"economy": "keep"`) {
		t.Errorf("%s, %v", written, err)
	}
}

// A regime with a window of its own has that one, whatever the rooms.
func TestOwnWindow(t *testing.T) {
	s, err := transcript.Load(strings.NewReader(`{"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"hello"}]}`), "short", nil)
	if err != nil {
		t.Fatal(err)
	}
	var own []regime
	for _, g := range regimes() {
		if g.Window > 0 {
			own = append(own, g)
		}
	}
	r, err := run(context.Background(), options{Sessions: []session{{"short", s}}, Rooms: []int{64_000, 128_000}, Regimes: append(own, regimes()[0]), NoCurve: true,
		Policies: []string{replay.Memkernel, replay.AppendLate, replay.Oracle}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]int{}
	for _, w := range r.Rows {
		if got[w.Regime] = append(got[w.Regime], w.Room); w.Totals.CostUSD == nil || *w.Totals.CostUSD == 0 {
			t.Errorf("%s costs %v", w.Regime, w.Totals.CostUSD)
		}
	}
	want := map[string][]int{"claude-1m": {1_000_000, 1_000_000, 1_000_000}, "openai-272k": {272_000, 272_000, 272_000}, "claude-5m": {64_000, 64_000, 64_000, 128_000, 128_000, 128_000}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("windows %v, want %v", got, want)
	}
	md := r.Markdown("x", time.Now())
	for _, want := range []string{"## claude-1m (claude-opus-5-5, cache entries that live 5m0s), a window of 1000k", "## openai-272k (gpt-6.2-sol, cache entries that live 30m0s), a window of 272k"} {
		if !strings.Contains(md, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
}
