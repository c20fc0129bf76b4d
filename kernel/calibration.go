package kernel

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/branch"
)

// calibrations are what was learned about each model's real token counts. The
// file is derived: a damaged one is started anew.
type calibrations struct {
	state store.Store

	mu     sync.Mutex // guards what follows
	loaded bool
	newer  bool // a newer version wrote the file: it is left alone
	models map[string]budget.Calibration
}

// calibrationName is the file in a state directory.
const calibrationName = "calibration.json"

type calibrationFile struct {
	Version int                           `json:"version"`
	Models  map[string]budget.Calibration `json:"models"`
}

// of is what is known of a model, the zero Calibration if nothing.
func (c *calibrations) of(model string) budget.Calibration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load()
	return c.models[model]
}

func (c *calibrations) load() {
	if c.loaded {
		return
	}
	c.loaded, c.models = true, map[string]budget.Calibration{}
	raw, err := c.state.Get(calibrationName)
	var f calibrationFile
	if err != nil || json.Unmarshal(raw, &f) != nil {
		return
	}
	c.newer = f.Version > 1
	if f.Version == 1 && f.Models != nil {
		c.models = f.Models
	}
}

// set replaces what is known of a model and writes it down, beside what other
// sessions and processes have learned of other models since.
func (c *calibrations) set(model string, cal budget.Calibration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loaded = false
	c.load()
	c.models[model] = cal
	if c.newer {
		return nil
	}
	raw, err := json.Marshal(calibrationFile{Version: 1, Models: c.models})
	if err != nil {
		return err
	}
	_, err = c.state.Put(store.Synced, store.Doc{Name: calibrationName, Data: raw})
	return err
}

// plausible tells whether a prompt that we counted may have been so large. It may
// well be larger: some hosts do not show us their system prompt and tools.
func plausible(actual, counted int) bool {
	const maxHidden = 200_000
	return 5*actual >= 2*counted && actual <= 10*counted+maxHidden
}

// learn takes what the provider billed for a planned call: it trains the model's
// calibration, and anchors the line on the measured prompt. It gives the row to log.
func (s *session) learn(t Turn, m cachelayout.Model) (*UsageRow, *Fault) {
	key := lineKey{t.Branch, t.Model}
	l := s.lines[key]
	if t.Usage == nil || l == nil || l.Plan == "" || l.Plan != t.PlanID || l.Billed == t.PlanID {
		return nil, nil
	}
	if actual, counted := t.Usage.InputTotal(), l.Planned+l.LedgerFixed(); !plausible(actual, counted) {
		return nil, &Fault{Code: FaultUsageIgnored, Detail: fmt.Sprintf("%d tokens were reported for a prompt of about %d", actual, counted)}
	}
	row := usageRow(t, l, m)
	cal := s.calib.of(t.Model)
	cal.Observe(budget.Count{Tokens: l.Proj.Tokens(), Kind: budget.Estimated}, len(l.Proj.Items), t.Usage.InputTotal()-l.LedgerFixed())
	n := *l
	n.Billed = t.PlanID
	n.Overflow = l.Overflow.Billed(l.Proj.Tokens(), t.Usage.InputTotal()-l.LedgerFixed())
	n.Anchor = branch.Anchor{Total: t.Usage.InputTotal(), Carry: len(l.Proj.Carry), Items: len(l.Proj.Items),
		Generation: l.Proj.Generation, Fixed: l.LedgerFixed()}
	s.lines[key] = &n
	if err := s.calib.set(t.Model, cal); err != nil {
		return &row, &Fault{Code: FaultNotRecorded, Detail: err.Error()}
	}
	return &row, nil
}
