package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/pagevm"
)

// calibrations are what was learned about each model's real token counts. The
// file is derived: a damaged one is started anew.
type calibrations struct {
	path string

	mu     sync.Mutex // guards models and loaded
	loaded bool
	models map[string]budget.Calibration
}

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
	raw, err := os.ReadFile(c.path)
	var f calibrationFile
	if err == nil && json.Unmarshal(raw, &f) == nil && f.Version == 1 {
		c.models = f.Models
	}
}

// set replaces what is known of a model and writes it down.
func (c *calibrations) set(model string, cal budget.Calibration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load()
	c.models[model] = cal
	raw, err := json.Marshal(calibrationFile{Version: 1, Models: c.models})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return err
	}
	return atomicfile.WriteFile(c.path, raw, 0o600)
}

// learn takes what the provider billed for a planned call: it trains the model's
// calibration, and anchors the line on the measured prompt.
func (s *session) learn(t Turn) error {
	key := lineKey{t.Branch, t.Model}
	l := s.lines[key]
	if t.Usage == nil || l == nil || l.planID == "" || l.planID != t.PlanID {
		return nil
	}
	cal := s.calib.of(t.Model)
	cal.Observe(budget.Count{Tokens: l.proj.Tokens(), Kind: budget.Estimated}, len(l.proj.Items), t.Usage.InputTotal()-l.ledgerFixed())
	n := *l
	n.anchor = anchor{Total: t.Usage.InputTotal(), Carry: len(l.proj.Carry), Items: len(l.proj.Items),
		Generation: l.proj.Generation, Fixed: l.ledgerFixed()}
	s.lines[key] = &n
	if err := s.logUsage(t, l); err != nil {
		return err
	}
	return s.calib.set(t.Model, cal)
}

// ledgerFixed is the size of tools and system in the line's last request.
func (l *line) ledgerFixed() int {
	fixed := len(l.ledger.Chain) - len(l.proj.Carry) - len(l.proj.Items)
	if fixed <= 0 || fixed > len(l.ledger.Chain) {
		return 0
	}
	return l.ledger.Chain[fixed-1].Tokens
}

// usageRow is a line of usage.jsonl: what was planned against what was billed.
type usageRow struct {
	Plan    string          `json:"plan"`
	Model   string          `json:"model"`
	Planned int             `json:"planned_input_tokens"`
	Usage   memkernel.Usage `json:"usage"`
}

// logUsage appends to usage.jsonl, which is a report and not state.
func (s *session) logUsage(t Turn, l *line) error {
	raw, err := json.Marshal(usageRow{Plan: t.PlanID, Model: t.Model, Planned: l.planned + l.ledgerFixed(), Usage: *t.Usage})
	if err != nil {
		return err
	}
	j, err := pagevm.OpenJournal(filepath.Join(s.dir, "usage.jsonl"), nil)
	if err != nil {
		return fmt.Errorf("log usage: %w", err)
	}
	_, err = j.Append(false, pagevm.Record{Op: "usage", ID: t.PlanID, Time: t.Now, Body: raw})
	return errors.Join(err, j.Close())
}
