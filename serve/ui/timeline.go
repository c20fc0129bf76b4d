package ui

import (
	"slices"
	"time"
)

// Timeline is a session or a range of its calls, in as few points as a screen can show. It has
// lists of equal length, with one value per point.
type Timeline struct {
	Schema  string `json:"schema"`
	Session string `json:"session"`
	// From and To are the first and the last call, counted from 1.
	From int `json:"from"`
	To   int `json:"to"`
	// Calls is the number of the session's calls.
	Calls int `json:"calls"`
	// Planned is the number of calls that are planned by now.
	Planned int `json:"planned"`
	// Window is the model's window in tokens.
	Window int `json:"context_window"`
	// First is the first call of each point. Count is the number of calls that the point covers.
	First []int       `json:"first"`
	Count []int       `json:"count"`
	Time  []time.Time `json:"time"`
	// Regions has the tokens of a prompt by region. The values are means over the calls of a
	// point.
	Regions []series `json:"regions"`
	// Kinds has the same tokens by the kind of content.
	Kinds []series `json:"kinds"`
	// Cache has the same tokens by the kind of bill.
	Cache []series `json:"cache"`
	// HighWater is the size at which a cut is made.
	HighWater []int `json:"high_water_tokens"`
	// Predicted is the planned input of calls in the state folder, and Billed their billed input.
	// They are null for other calls.
	Predicted []*int `json:"predicted_input_tokens"`
	Billed    []*int `json:"billed_input_tokens"`
	// Cost is the cost of a point's calls, answers included. It is null where a price is unknown.
	Cost []*float64 `json:"cost_usd"`
	// Running is the cost of all calls up to the end of the point. It is null where a price is
	// unknown.
	Running []*float64 `json:"running_usd"`
	// Without is the cost of all calls up to the end of the point under append-late. It is null
	// where a price is unknown.
	Without []*float64 `json:"without_usd"`
	// Marks are the events.
	Marks []mark `json:"marks"`
	// LeftOut is the number of marks that the list leaves out because there are too many.
	LeftOut int `json:"marks_left_out"`
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
	Before int    `json:"before_tokens"`
	After  int    `json:"after_tokens"`
}

// The kinds of a mark, the most interesting kinds first.
const (
	markCut        = "cut"
	markCompaction = "compaction"
	markUnplanned  = "unplanned"
	markFault      = "fault"
	markCold       = "cold"
)

const (
	// mostPoints bounds the points that are handed out.
	mostPoints = 1200
	// mostMarks bounds the marks that are handed out.
	mostMarks = 300
)

var cacheNames = [...]string{"read", "write", "uncached"}

// timeline sums up the rows of the calls `from` to `to`, counted from 1, in at most the given
// number of points.
func timeline(rows []row, all, from, to, points int) *Timeline {
	out := &Timeline{Schema: "memkernel/ui_timeline/v1", Calls: all, Planned: len(rows), Marks: []mark{}}
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
		running, without = sum(running, rows[i].whole()), sum(without, rows[i].withoutSum())
	}
	for p := range size {
		part := rows[from-1+p*stride : min(from-1+(p+1)*stride, to)]
		cost := new(float64)
		for i := range part {
			cost, without = sum(cost, part[i].whole()), sum(without, part[i].withoutSum())
		}
		running = sum(running, cost)
		out.point(p, part, from+p*stride)
		out.Cost, out.Running, out.Without = append(out.Cost, cost), append(out.Running, running), append(out.Without, without)
	}
	out.mark(rows, from, to)
	return out
}

// whole returns the cost of a call, answer included: the bill if it is known, else 0 if it was
// not planned, else the estimate.
func (w *row) whole() *float64 {
	if w.real != nil {
		return w.real.BilledUSD
	}
	if w.reason != "" {
		return new(float64)
	}
	return sum(w.cost, w.answer)
}

// withoutSum returns the call's cost without memkernel: the estimate in its record, or the cost
// under append-late.
func (w *row) withoutSum() *float64 {
	if w.real != nil {
		return w.real.Without()
	}
	if w.reason != "" {
		return new(float64)
	}
	return w.without
}

// series makes the lists.
func (t *Timeline) series(size int) {
	make1 := func(names []string) (out []series) {
		for _, n := range names {
			out = append(out, series{n, make([]int, size)})
		}
		return out
	}
	t.Regions, t.Kinds, t.Cache = make1(regionNames[:]), make1(kindNames[:]), make1(cacheNames[:])
	t.First, t.Count, t.HighWater, t.Time = make([]int, size), make([]int, size), make([]int, size), make([]time.Time, size)
	t.Predicted, t.Billed = make([]*int, size), make([]*int, size)
	t.Cost, t.Running, t.Without = []*float64{}, []*float64{}, []*float64{}
}

// point fills in the means of one point.
func (t *Timeline) point(p int, part []row, first int) {
	t.First[p], t.Count[p], t.Time[p] = first, len(part), part[0].time
	n, billed := 0, 0
	var predicted, recorded int
	for i := range part {
		w := &part[i]
		if w.billed > 0 {
			billed++
			predicted, recorded = predicted+w.predicted, recorded+w.billed
		}
		if w.reason != "" {
			continue
		}
		n++
		for r := range w.regions {
			t.Regions[r].Tokens[p] += w.regions[r]
		}
		for k := range w.kinds {
			t.Kinds[k].Tokens[p] += w.kinds[k]
		}
		for c, v := range [...]int{w.read, w.write, w.plain} {
			t.Cache[c].Tokens[p] += v
		}
		t.HighWater[p] += w.highWater
	}
	for _, all := range [][]series{t.Regions, t.Kinds, t.Cache} {
		for i := range all {
			all[i].Tokens[p] /= max(n, 1)
		}
	}
	t.HighWater[p] /= max(n, 1)
	if billed > 0 {
		predicted, recorded = predicted/billed, recorded/billed
		t.Predicted[p], t.Billed[p] = &predicted, &recorded
	}
}

// mark lists the events. If there are too many, it leaves out the least interesting ones.
func (t *Timeline) mark(rows []row, from, to int) {
	by := map[string][]mark{}
	for i := from - 1; i < to; i++ {
		w := &rows[i]
		if w.cut != "" {
			by[markCut] = append(by[markCut], mark{i + 1, markCut, w.cut, w.before, w.after})
		}
		if w.compaction {
			by[markCompaction] = append(by[markCompaction], mark{i + 1, markCompaction, "the host compacted its history", 0, 0})
		}
		if w.reason != "" {
			by[markUnplanned] = append(by[markUnplanned], mark{i + 1, markUnplanned, w.reason, 0, 0})
		}
		if w.cold && w.cut == "" && i > 0 {
			by[markCold] = append(by[markCold], mark{i + 1, markCold, "the cache had expired", 0, 0})
		}
		if w.faults > 0 {
			by[markFault] = append(by[markFault], mark{i + 1, markFault, w.fault, 0, 0})
		}
	}
	for _, kind := range []string{markCut, markCompaction, markUnplanned, markFault, markCold} {
		list := by[kind]
		if room := mostMarks - len(t.Marks); len(list) > room {
			t.LeftOut += len(list) - room
			step := float64(len(list)) / float64(max(room, 1))
			var some []mark
			for i := range room {
				some = append(some, list[int(float64(i)*step)])
			}
			list = some
		}
		t.Marks = append(t.Marks, list...)
	}
	slices.SortStableFunc(t.Marks, func(a, b mark) int { return a.Call - b.Call })
}
