package ui

import "time"

// timelineJSON is a session or a range of its calls, in as few points as a screen can show. It has
// lists of equal length, with one value per point.
type timelineJSON struct {
	Schema  string `json:"schema"`
	Session string `json:"session"`
	// From and To are the first and the last call, counted from 1.
	From int `json:"from"`
	To   int `json:"to"`
	// Calls is the number of the session's calls.
	Calls int `json:"calls"`
	// Planned is the number of calls that are planned by now.
	Planned int `json:"planned"`
	// First is the first call of each point. Count is the number of calls that the point covers.
	First []int       `json:"first"`
	Count []int       `json:"count"`
	Time  []time.Time `json:"time"`
	// Regions has the tokens of a prompt by region. The values are means over the calls of a
	// point.
	Regions []series `json:"regions"`
	// Cache has the same tokens by the kind of bill.
	Cache []series `json:"cache"`
	// Cost is the cost of a point's calls, answers included. It is null where a price is unknown.
	Cost []*float64 `json:"cost_usd"`
	// Running is the cost of all calls up to the end of the point. It is null where a price is
	// unknown.
	Running []*float64 `json:"running_usd"`
	// Without is the cost of all calls up to the end of the point without memkernel: the estimate of
	// the session's record, or the cost under append-late in a replay. It is null where a price is
	// unknown.
	Without []*float64 `json:"without_usd"`
	// Marks are the events.
	Marks []mark `json:"marks"`
}

// series is a named list.
type series struct {
	Name   string `json:"name"`
	Tokens []int  `json:"tokens"`
}

// mark is an event at a call.
type mark struct {
	Call int `json:"call"`
	// Kind is cut, compaction (the host's own), cold, fault or unplanned.
	Kind string `json:"kind"`
	// Detail is the reason of the cut, or the codes of the faults.
	Detail string `json:"detail"`
}

const (
	// mostPoints bounds the points that are handed out.
	mostPoints = 1200
	// mostMarks bounds the marks that are handed out.
	mostMarks = 300
)

var cacheNames = [...]string{"read", "write", "uncached"}

// timeline sums up the rows of the calls `from` to `to`, counted from 1, in at most the given
// number of points.
func timeline(rows []row, all, from, to, points int) *timelineJSON {
	out := &timelineJSON{Schema: "memkernel/ui_timeline/v1", Calls: all, Planned: len(rows)}
	if to <= 0 || to > len(rows) {
		to = len(rows)
	}
	from = min(max(from, 1), max(to, 1))
	out.From, out.To = from, to
	n := max(to-from+1, 0)
	points = min(max(points, 1), mostPoints)
	stride := max((n+points-1)/points, 1)
	size := (n + stride - 1) / stride
	out.series(size)
	running, without := new(float64), new(float64)
	for i := range min(from-1, len(rows)) {
		running, without = sum(running, rows[i].cost), sum(without, rows[i].without)
	}
	for p := range size {
		part := rows[from-1+p*stride : min(from-1+(p+1)*stride, to)]
		cost := new(float64)
		for i := range part {
			cost, without = sum(cost, part[i].cost), sum(without, part[i].without)
		}
		running = sum(running, cost)
		out.point(p, part, from+p*stride)
		out.Cost, out.Running, out.Without = append(out.Cost, cost), append(out.Running, running), append(out.Without, without)
	}
	out.mark(rows, from, to)
	return out
}

// series makes the lists.
func (t *timelineJSON) series(size int) {
	make1 := func(names []string) (out []series) {
		for _, n := range names {
			out = append(out, series{n, make([]int, size)})
		}
		return out
	}
	t.Regions, t.Cache = make1(regionNames[:]), make1(cacheNames[:])
	t.First, t.Count, t.Time = make([]int, size), make([]int, size), make([]time.Time, size)
	t.Cost, t.Running, t.Without = []*float64{}, []*float64{}, []*float64{}
}

// point fills in the means of one point.
func (t *timelineJSON) point(p int, part []row, first int) {
	t.First[p], t.Count[p], t.Time[p] = first, len(part), part[0].time
	n := 0
	for i := range part {
		w := &part[i]
		if w.reason != "" {
			continue
		}
		n++
		for r := range w.regions {
			t.Regions[r].Tokens[p] += w.regions[r]
		}
		for c, v := range [...]int{w.read, w.write, w.plain} {
			t.Cache[c].Tokens[p] += v
		}
	}
	for _, all := range [][]series{t.Regions, t.Cache} {
		for i := range all {
			all[i].Tokens[p] /= max(n, 1)
		}
	}
}

// mark lists the events. If there are too many, it lists evenly spaced ones.
func (t *timelineJSON) mark(rows []row, from, to int) {
	all := []mark{}
	for i := from - 1; i < to; i++ {
		w := &rows[i]
		if w.cut != "" {
			all = append(all, mark{i + 1, "cut", w.cut})
		}
		if w.compaction {
			all = append(all, mark{i + 1, "compaction", "the host compacted its history"})
		}
		if w.reason != "" {
			all = append(all, mark{i + 1, "unplanned", w.reason})
		}
		if w.cold && w.cut == "" && i > 0 {
			all = append(all, mark{i + 1, "cold", "the cache had expired"})
		}
		if w.faults > 0 {
			all = append(all, mark{i + 1, "fault", w.fault})
		}
	}
	t.Marks = all[:min(len(all), mostMarks)]
	for i := range t.Marks {
		t.Marks[i] = all[i*len(all)/len(t.Marks)]
	}
}
