package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/memkernel/memkernel/internal/display"
)

// meter is a line that shows the progress of a slow verb. The line is redrawn often and wiped at the
// end. A nil meter draws nothing.
type meter struct {
	mu       sync.Mutex
	w        io.Writer
	now      func() time.Time
	patience time.Duration
	// since is the time at which the work began, from which patience counts. last is the time of the
	// last drawing.
	since, last time.Time
	// counting is set if the meter draws counts and no seconds.
	counting, shown bool
	stop            chan struct{}
}

// meterEvery is the time between two drawings of the line.
const meterEvery = 100 * time.Millisecond

// newMeter returns a meter for a terminal that can rewrite a line. The meter draws nothing until
// patience has passed, so that short work prints nothing.
func newMeter(w io.Writer, patience time.Duration, now func() time.Time) *meter {
	return &meter{w: display.Bare(w), now: now, patience: patience}
}

// Show draws that done of all units are finished, as in "replaying", 3, 10, "call".
func (m *meter) Show(what string, done, all int, unit string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if m.since.IsZero() {
		m.since = now
	}
	m.counting = done < all
	if now.Sub(m.since) < m.patience || !m.last.IsZero() && now.Sub(m.last) < meterEvery && done < all {
		return
	}
	line := fmt.Sprintf("%s: %s of %s", what, display.Thousands(done), display.Plural(all, unit))
	if all > 0 {
		line += fmt.Sprintf(", %d %%", 100*done/all)
	}
	m.draw(line, now)
}

func (m *meter) draw(line string, now time.Time) {
	fmt.Fprint(m.w, "\r\x1b[K"+display.Clip(line, display.Columns-1))
	m.last, m.shown = now, true
}

// Work shows the duration of work without counts until Done is called.
func (m *meter) Work(what string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	begun := m.now()
	m.since = begun
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
func (m *meter) Done() {
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
	m.shown, m.counting, m.since, m.last = false, false, time.Time{}, time.Time{}
}
