package document

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
)

// Economy is the cost and the recall of a kernel under each [cachelayout.Economy], measured on
// recorded sessions.
type Economy struct {
	// Made is the day of the measurement. Command is the command line that made the measurement.
	Made    string `json:"made"`
	Command string `json:"command"`
	// Sessions and Calls count the replayed sessions and calls. Regime names the prices.
	Sessions int          `json:"sessions"`
	Calls    int          `json:"calls"`
	Regime   string       `json:"regime"`
	Rows     []EconomyRow `json:"rows"`
}

// EconomyRow is one economy in one window, over all sessions.
type EconomyRow struct {
	// RoomTokens is the size of the window without the fixed part. Economy is the setting, or
	// append-late, which is not a setting but a comparison.
	RoomTokens int    `json:"room_tokens"`
	Economy    string `json:"economy"`
	// CostUSD is the whole bill for the answers and all input, including the fixed part and
	// summary calls. CostRatio is CostUSD divided by the CostUSD of balanced.
	CostUSD   float64 `json:"cost_usd"`
	CostRatio float64 `json:"cost_ratio"`
	// ActionsReady is the share of tool calls for which the prompt held all of the input that had
	// been seen before. WorstReady is the lowest such share of a session. BlindEdits is the share
	// of edits of a line that had been seen before but was not in the prompt.
	ActionsReady float64 `json:"actions_ready"`
	WorstReady   float64 `json:"worst_ready"`
	BlindEdits   float64 `json:"blind_edits"`
	// ReferenceRecall is the share of all references that was shown. WorstRecall is the lowest
	// such share of a session.
	ReferenceRecall float64 `json:"reference_recall"`
	WorstRecall     float64 `json:"worst_recall"`
	Cuts            int     `json:"cuts"`
}

// EconomyFile is the file of the embedded measurement, which `mkbench economics --economy --write` makes.
const EconomyFile = "economy.json"

//go:embed economy.json
var economy []byte

// MeasuredEconomy returns the measurement that this program was built with.
func MeasuredEconomy() (*Economy, error) {
	e := &Economy{}
	if err := json.Unmarshal(economy, e); err != nil {
		return nil, fmt.Errorf("%s: %w", EconomyFile, err)
	}
	return e, nil
}

// Near returns the rows of the measured window that is nearest to the given window in tokens.
func (e *Economy) Near(window int) (rows []EconomyRow) {
	best := math.Inf(1)
	for _, w := range e.Rows {
		switch d := math.Abs(math.Log(float64(w.RoomTokens) / float64(max(window, 1)))); {
		case d < best:
			best, rows = d, []EconomyRow{w}
		case d == best:
			rows = append(rows, w)
		}
	}
	return rows
}
