package meter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/memkernel/memkernel/internal/store"
)

// toldName is the document with the last reported day. It is not the document of a run.
const toldName = "told"

// toldUpTo is the last day that was reported, and the number of its calls.
type toldUpTo struct {
	Day   string `json:"day"`
	Calls int    `json:"calls"`
}

// turn begins another run when a call belongs to a later day than the earlier calls, and reports
// the days that are over. The caller must hold m.mu.
func (m *Meter) turn(began time.Time) {
	began = began.In(m.in)
	day := began.Format(time.DateOnly)
	if day > m.run.Started.In(m.in).Format(time.DateOnly) {
		m.run, m.name = Run{Started: began, Command: m.run.Command}, runName(began)
	}
	if day > m.day {
		m.day = day
		m.failed(m.tell(false))
	}
}

// tell reports the recorded days that were not reported with their present sums. They are the
// days before today. If end is set, tell also reports today's sum so far. If nothing was reported
// before, it reports only the last day.
func (m *Meter) tell(end bool) error {
	if m.Day == nil || m.keep == nil {
		return nil
	}
	runs, err := Runs(m.keep, time.Time{})
	in := m.keep.In(folder)
	var told toldUpTo
	data, bad := in.Get(toldName)
	if bad == nil {
		bad = json.Unmarshal(data, &told)
	}
	if bad != nil && !errors.Is(bad, fs.ErrNotExist) {
		err = errors.Join(err, fmt.Errorf("%s: %w; remove it", in.Where(toldName), bad))
	}
	days, _ := Days(runs, m.in)
	for len(days) > 0 && days[len(days)-1].Name >= m.day && !end {
		days = days[:len(days)-1]
	}
	if told.Day == "" && len(days) > 1 {
		days = days[len(days)-1:]
	}
	before := told
	for _, d := range days {
		if d.Name < told.Day || d.Name == told.Day && d.Calls == told.Calls {
			continue
		}
		m.Day(d, d.Name >= m.day)
		told = toldUpTo{d.Name, d.Calls}
	}
	if told == before {
		return err
	}
	data, bad = json.Marshal(told)
	if bad == nil {
		_, bad = in.Put(store.Unsynced, store.Doc{Name: toldName, Data: append(data, '\n')})
	}
	return errors.Join(err, bad)
}

// failed keeps the first error. The caller must hold m.mu.
func (m *Meter) failed(err error) {
	if err != nil && m.err == nil {
		m.err = err
	}
}
