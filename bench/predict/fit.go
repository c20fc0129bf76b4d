package predict

import (
	"math"
	"slices"
)

// fit learns, from the calls that were billed so far, how counted growth becomes billed growth.
// Hosts add content that no transcript shows: a little to every call (framing, reminders), and
// sometimes a large piece (files attached again, a changed tool list). The fit ignores large
// pieces:
//
//	growth of a call  = ratio × counted + overhead
//
// The zero fit has ratio 1 and overhead 0.
type fit struct {
	// x and y are counted and billed growth of the newest calls, oldest first.
	x, y  []float64
	known line
}

// line is the result of a fit.
type line struct{ ratio, overhead float64 }

const (
	// fitCalls is the number of newest calls that count.
	fitCalls = 80
	// priorCalls is the weight of the prior, ratio 1 and overhead 0, in calls.
	priorCalls = 2
	// The line stays within bounds whatever the bills are.
	minRatio, maxRatio       = 0.5, 3.0
	minOverhead, maxOverhead = -100.0, 600.0
	// rounds is the number of rounds of reweighting. The first rounds limit the influence of far
	// points, so that every start leads to the same line. The last dropRounds rounds almost drop the
	// points far from that line.
	rounds, dropRounds = 8, 3
	// minMedians is the number of points from which medians are better than the
	// prior.
	minMedians = 8
)

// line returns the line known so far.
func (f *fit) line() line {
	if f.known.ratio == 0 {
		return line{ratio: 1}
	}
	return f.known
}

// add learns the growth of one call: counted tokens, and the tokens billed for them.
func (f *fit) add(counted, billed float64) {
	if counted <= 0 {
		return
	}
	f.x, f.y = append(f.x, counted), append(f.y, billed)
	if len(f.x) > fitCalls {
		f.x, f.y = f.x[1:], f.y[1:]
	}
	f.known = f.robust()
}

// robust returns a weighted least-squares line through the growths, in which points far from the
// previous line weigh less. With few points it starts from the line known so far and uses the
// prior. With more points it starts from the median of the slopes between all pairs of points
// (Theil and Sen). Up to a quarter of outliers does not move this median, and it needs neither a
// prior nor many rounds. Errors grow with size, so each point has its own unit.
func (f *fit) robust() line {
	w := make([]float64, len(f.x))
	if len(f.x) >= minMedians {
		l := f.medians()
		f.weigh(w, l, true)
		return f.solve(w, 0)
	}
	l := f.line()
	for i := range rounds {
		f.weigh(w, l, i >= rounds-dropRounds)
		l = f.solve(w, priorCalls)
	}
	return l
}

// medians returns the line of Theil and Sen.
func (f *fit) medians() line {
	slopes := make([]float64, 0, len(f.x)*len(f.x)/2)
	for i := range f.x {
		for j := range i {
			if d := f.x[i] - f.x[j]; d != 0 {
				slopes = append(slopes, (f.y[i]-f.y[j])/d)
			}
		}
	}
	if len(slopes) == 0 {
		return f.line()
	}
	l := line{ratio: min(max(median(slopes), minRatio), maxRatio)}
	rest := make([]float64, len(f.x))
	for i := range f.x {
		rest[i] = f.y[i] - l.ratio*f.x[i]
	}
	l.overhead = min(max(median(rest), minOverhead), maxOverhead)
	return l
}

// median sorts x and returns its middle value.
func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// weigh gives each point its weight under a line. If drop is set, far points get almost no
// weight.
func (f *fit) weigh(w []float64, l line, drop bool) {
	miss := make([]float64, len(f.x))
	for i := range f.x {
		miss[i] = math.Abs(f.y[i]-l.ratio*f.x[i]-l.overhead) / unit(f.x[i])
	}
	scale := 2 * max(median(slices.Clone(miss)), 0.02)
	for i := range w {
		w[i] = 1 / (unit(f.x[i]) * unit(f.x[i]))
		if miss[i] > scale {
			w[i] *= scale / miss[i]
			if drop {
				w[i] *= scale / miss[i]
			}
		}
	}
}

// unit returns the size by which a growth's error is measured.
func unit(x float64) float64 { return 200 + x }

// solve returns the line of least squares under weights. The prior counts as that many points at
// 1,000 tokens on the line y = x.
func (f *fit) solve(w []float64, prior float64) line {
	const at = 1000.0
	pw := prior / (unit(at) * unit(at))
	s, sx, sy, sxx, sxy := pw, pw*at, pw*at, pw*at*at, pw*at*at
	for i, x := range f.x {
		s, sx, sy = s+w[i], sx+w[i]*x, sy+w[i]*f.y[i]
		sxx, sxy = sxx+w[i]*x*x, sxy+w[i]*x*f.y[i]
	}
	var l line
	if det := s*sxx - sx*sx; det > 0 {
		l.overhead = (sy*sxx - sx*sxy) / det
	}
	l.overhead = min(max(l.overhead, minOverhead), maxOverhead)
	l.ratio = min(max((sxy-l.overhead*sx)/sxx, minRatio), maxRatio)
	return l
}
