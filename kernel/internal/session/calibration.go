package session

import (
	"encoding/json"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/internal/store"
)

// calibrations are the real token counts learned for each model. The file is derived data. A
// damaged file is replaced by an empty one.
type calibrations struct {
	state  store.Store
	loaded bool
	newer  bool // a newer version wrote the file, which is left alone
	models map[string]budget.Calibration
}

// CalibrationName is the file in a state directory.
const CalibrationName = "calibration.json"

type calibrationFile struct {
	Version int                           `json:"version"`
	Models  map[string]budget.Calibration `json:"models"`
}

// Of returns the calibration of a model, or the zero Calibration if the model has none. It
// returns an error if the file can't be read now.
func (c *calibrations) Of(model string) (budget.Calibration, error) {
	err := c.load()
	return c.models[model], err
}

// Unfit lists the requests whose system prompt and tools alone did not fit, by model.
func Unfit(state store.Store) map[string]budget.Unfit {
	c := calibrations{state: state}
	_ = c.load() // an unreadable file has no calibrations
	out := map[string]budget.Unfit{}
	for model, cal := range c.models {
		if cal.Unfit != nil {
			out[model] = *cal.Unfit
		}
	}
	return out
}

func (c *calibrations) load() error {
	if c.loaded {
		return nil
	}
	raw, err := c.state.Get(CalibrationName)
	if store.OutOfReach(err) {
		return err
	}
	c.loaded, c.models = true, map[string]budget.Calibration{}
	var f calibrationFile
	if err != nil || json.Unmarshal(raw, &f) != nil {
		return nil
	}
	c.newer = f.Version > 1
	if f.Version == 1 && f.Models != nil {
		c.models = f.Models
	}
	return nil
}

// Learn changes the calibration of a model by learn. If learn reports a change, it writes the
// calibration to the file, together with the calibrations of other models that other sessions and
// processes have learned since.
func (s *Session) Learn(model string, learn func(*budget.Calibration) bool) error {
	c := &s.Calibrations
	cal, err := c.Of(model)
	if err != nil || !learn(&cal) {
		return err
	}
	if s.unit == nil {
		return s.unlocked
	}
	c.loaded = false
	if err := c.load(); err != nil {
		return err
	}
	c.models[model] = cal
	if c.newer {
		return nil
	}
	raw, err := json.Marshal(calibrationFile{Version: 1, Models: c.models})
	if err != nil {
		return err
	}
	_, err = s.unit.State().Put(store.Synced, store.Doc{Name: CalibrationName, Data: raw})
	return err
}
