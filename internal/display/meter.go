package display

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Meter is a line that shows the progress of a slow verb in per cent, and its rate per second.
// The line is redrawn repeatedly and wiped at the end. A nil Meter draws nothing.
type Meter struct {
	mu       sync.Mutex
	w        io.Writer
	now      func() time.Time
	patience time.Duration
	// since is the time of the first Show, from which patience counts. begun is the start of the
	// time for the shown rate. from is the number of units that were done at that time.
	since, begun, last time.Time
	what               string
	from, done         int
	// counting is set if the meter draws counts and no seconds.
	counting, shown bool
	stop            chan struct{}
}

// meterEvery is the time between two drawings of the line.
const meterEvery = 100 * time.Millisecond

// NewMeter returns a meter that draws on a terminal that can go back in a line. It draws nothing
// until patience has passed, so short work stays silent.
func NewMeter(w io.Writer, patience time.Duration, now func() time.Time) *Meter {
	return &Meter{w: Bare(w), now: now, patience: patience}
}

// Show draws that done of all units are finished, as in "replaying", 3, 10, "call". It starts
// again if the task or the unit changes, or if done falls.
func (m *Meter) Show(what string, done, all int, unit string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if m.since.IsZero() {
		m.since = now
	}
	if name := what + "\x00" + unit; m.what != name || done < m.done {
		if m.from = done; m.what == "" {
			m.from = 0
		}
		m.what, m.begun = name, now
	}
	m.done, m.counting = done, done < all
	if now.Sub(m.since) < m.patience || !m.last.IsZero() && now.Sub(m.last) < meterEvery && done < all {
		return
	}
	line := fmt.Sprintf("%s: %s of %s", what, Thousands(done), Plural(all, unit))
	if all > 0 {
		line += fmt.Sprintf(", %d %%", 100*done/all)
	}
	if took := now.Sub(m.begun); took >= meterEvery && done > m.from {
		line += ", " + perSecond(float64(done-m.from)/took.Seconds()) + " a second"
	}
	m.draw(line, now)
}

// perSecond formats a number with three digits, or more if its integer part has more.
func perSecond(n float64) string {
	if n < 1000 {
		return fmt.Sprintf("%.3g", n)
	}
	return Thousands(int(n))
}

func (m *Meter) draw(line string, now time.Time) {
	fmt.Fprint(m.w, "\r\x1b[K"+Clip(line, Columns-1))
	m.last, m.shown = now, true
}

// Work shows the duration of work without counts until Done is called.
func (m *Meter) Work(what string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	begun := m.now()
	m.what, m.begun, m.since = what, begun, begun
	stop := make(chan struct{})
	m.stop = stop
	m.mu.Unlock()
	tick := func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if now := m.now(); m.stop == stop && !m.counting && now.Sub(begun) >= m.patience {
			m.draw(fmt.Sprintf("%s: %d s", what, int(now.Sub(begun).Seconds())), now)
		}
	}
	tick()
	go func() {
		t := time.NewTicker(time.Second)
		defer t.Stop()
		for {
			select {
			case <-stop:
				return
			case <-t.C:
				tick()
			}
		}
	}()
}

// Done wipes the line. The next Show starts again.
func (m *Meter) Done() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stop != nil {
		close(m.stop)
		m.stop = nil
	}
	if m.shown {
		fmt.Fprint(m.w, "\r\x1b[K")
	}
	m.what, m.shown, m.counting, m.done, m.since, m.last = "", false, false, 0, time.Time{}, time.Time{}
}
