package economics

import "github.com/memkernel/memkernel/replay"

// Document is the report for programs.
type Document struct {
	Schema   string          `json:"schema"`
	Sessions []SessionFigure `json:"sessions"`
	Rows     []RowFigure     `json:"rows"`
	Points   []PointFigure   `json:"curve"`
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
	Bound       replay.Bound  `json:"bound"`
}

// PointFigure is a point of the curve: medians over the sessions.
type PointFigure struct {
	Policy          string  `json:"policy"`
	Figure          string  `json:"figure"`
	CostRatio       float64 `json:"cost_ratio"`
	ReferenceRecall float64 `json:"reference_recall"`
}

// JSON returns the report as a document of that schema.
func (r *Report) JSON(schema string) Document {
	d := Document{Schema: schema, Sessions: []SessionFigure{}, Rows: []RowFigure{}, Points: []PointFigure{}}
	for i, s := range r.Options.Sessions {
		d.Sessions = append(d.Sessions, SessionFigure{s.Name, r.Recorded[i]})
	}
	for _, w := range r.Rows {
		d.Rows = append(d.Rows, RowFigure{w.Session, w.Regime, w.Room, w.FixedTokens, w.Policy, w.Totals, w.Bound})
	}
	for _, c := range r.curves() {
		for _, p := range c.points {
			d.Points = append(d.Points, PointFigure{c.policy, p.figure, p.cost, p.recall})
		}
	}
	return d
}
