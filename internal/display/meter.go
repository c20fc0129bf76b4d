package display

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Meter is a line that shows how far a slow verb is: how much of it is done, in per cent,
// and how much of it in a second. It is drawn over and over, and wiped at the end. A nil
// Meter draws nothing.
type Meter struct {
	mu          sync.Mutex
	w           io.Writer
	now         func() time.Time
	patience    time.Duration
	begun, last time.Time
	what        string
	shown       bool
	stop        chan struct{}
}

// meterEvery is how often the line is drawn anew.
const meterEvery = 100 * time.Millisecond

// NewMeter draws on a terminal that can go back in a line, and nothing at all of what is
// done before its patience ends.
func NewMeter(w io.Writer, patience time.Duration, now func() time.Time) *Meter {
	return &Meter{w: Bare(w), now: now, patience: patience}
}

// Show says how many of all are done of what, units by name: "replaying", 3, 10, "call".
// Another what begins anew.
func (m *Meter) Show(what string, done, all int, unit string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if m.what != what {
		m.what, m.begun, m.last = what, now, time.Time{}
	}
	took := now.Sub(m.begun)
	if took < m.patience || !m.last.IsZero() && now.Sub(m.last) < meterEvery && done < all {
		return
	}
	line := fmt.Sprintf("%s: %s of %s", what, Thousands(done), Plural(all, unit))
	if all > 0 {
		line += fmt.Sprintf(", %d %%", 100*done/all)
	}
	if s := took.Seconds(); s > 0 && done > 0 {
		line += fmt.Sprintf(", %.3g a second", float64(done)/s)
	}
	m.draw(line, now)
}

func (m *Meter) draw(line string, now time.Time) {
	fmt.Fprint(m.w, "\r\x1b[K"+Clip(line, Columns-1))
	m.last, m.shown = now, true
}

// Work shows for how long something takes that can't be counted, until Done.
func (m *Meter) Work(what string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	m.what, m.begun = what, m.now()
	stop := make(chan struct{})
	m.stop = stop
	m.mu.Unlock()
	tick := func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if now := m.now(); m.stop == stop && now.Sub(m.begun) >= m.patience {
			m.draw(fmt.Sprintf("%s: %d s", what, int(now.Sub(m.begun).Seconds())), now)
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

// Done wipes the line. What is shown then begins anew.
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
	m.what, m.shown = "", false
}
