package economics

import "github.com/memkernel/memkernel/replay"

// Document is the report for programs.
type Document struct {
	Schema   string          `json:"schema"`
	Sessions []SessionFigure `json:"sessions"`
	Rows     []RowFigure     `json:"rows"`
	Points   []PointFigure   `json:"curve"`
	// Distances say where the kernel's cost above the oracle and the bound comes from.
	Distances []DistanceFigure `json:"distances"`
}

// SessionFigure is what is recorded of a session.
type SessionFigure struct {
	Session  string          `json:"session"`
	Recorded replay.Recorded `json:"recorded"`
}

// RowFigure is one session under one policy, window and regime.
type RowFigure struct {
	Session     string        `json:"session"`
	Regime      string        `json:"regime"`
	RoomTokens  int           `json:"room_tokens"`
	FixedTokens int           `json:"fixed_tokens"`
	Policy      string        `json:"policy"`
	Totals      replay.Totals `json:"totals"`
	Parts       replay.Parts  `json:"parts"`
	Bound       replay.Bound  `json:"bound"`
}

// DistanceFigure is a distance in one session, window and regime.
type DistanceFigure struct {
	Session    string `json:"session"`
	Regime     string `json:"regime"`
	RoomTokens int    `json:"room_tokens"`
	replay.Distance
}

// PointFigure is a point of the curve: medians over the sessions.
type PointFigure struct {
	Policy          string  `json:"policy"`
	Figure          string  `json:"figure"`
	CostRatio       float64 `json:"cost_ratio"`
	ReferenceRecall float64 `json:"reference_recall"`
}

// roomAbove returns the window above the fixed part.
func (r *Report) roomAbove(w *Row) int {
	if r.regime(w.Regime).Window > 0 {
		return w.Room - w.FixedTokens
	}
	return w.Room
}

// JSON returns the report as a document of that schema.
func (r *Report) JSON(schema string) Document {
	d := Document{Schema: schema, Sessions: []SessionFigure{}, Rows: []RowFigure{}, Points: []PointFigure{}, Distances: []DistanceFigure{}}
	for i, s := range r.Options.Sessions {
		d.Sessions = append(d.Sessions, SessionFigure{s.Name, r.Recorded[i]})
	}
	for _, w := range r.Rows {
		d.Rows = append(d.Rows, RowFigure{w.Session, w.Regime, r.roomAbove(&w), w.FixedTokens, w.Policy, w.Totals, w.Parts, w.Bound})
	}
	for _, c := range r.cells() {
		ours := r.of(c, replay.Memkernel)
		for _, s := range r.Options.Sessions {
			for _, x := range r.distances(c, s.Name) {
				d.Distances = append(d.Distances, DistanceFigure{s.Name, c.regime, r.roomAbove(ours[s.Name]), x})
			}
		}
	}
	for _, c := range r.curves() {
		for _, p := range c.points {
			d.Points = append(d.Points, PointFigure{c.policy, p.figure, p.cost, p.recall})
		}
	}
	return d
}
