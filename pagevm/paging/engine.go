package paging

import (
	"fmt"

	"github.com/memkernel/memkernel/pagevm"
)

// Config holds the settings of an engine.
type Config struct {
	Policy Policy `json:"policy"`
	// Budget is the largest size of a prompt, in tokens.
	Budget int `json:"budget"`
	// Fixed is the size of the part of the prompt that is not paged (Listing 1's fixed region),
	// in tokens.
	Fixed int `json:"fixed,omitempty"`
}

// Engine runs one policy over the sessions of one workspace. Make it with New.
type Engine struct {
	Table
	observer
	cfg Config

	// Buffers that live as long as the engine, so that a turn in steady state
	// allocates nothing.
	heap    []pagevm.Step
	climber climber
	order   []int32
	outside *Prompt // the turn's, if somebody else assembled it
}

// New makes an empty engine.
func New(cfg Config) (*Engine, error) {
	if err := cfg.Policy.check(); err != nil {
		return nil, fmt.Errorf("paging: %w", err)
	}
	if cfg.Budget <= 0 || cfg.Fixed < 0 || cfg.Fixed > cfg.Budget {
		return nil, fmt.Errorf("paging: budget %d with a fixed region of %d tokens: give a budget over 0 that holds the fixed region", cfg.Budget, cfg.Fixed)
	}
	e := &Engine{Table: newTable(cfg.Policy), cfg: cfg}
	e.observer.table = &e.Table
	return e, nil
}

// Config returns the settings of the engine.
func (e *Engine) Config() Config { return e.cfg }

// Totals returns the counts since New.
func (e *Engine) Totals() Totals { return e.totals }
