package turn

import (
	"cmp"
	"context"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
)

// heard returns the part of a turn that concerns the working state, apart from its messages.
func heard(t *api.Turn) workstate.Heard {
	h := workstate.Heard{From: t.Source}
	if t.Usage != nil {
		h.Bill = &checkpoint.Usage{Tokens: t.Usage.InputTotal(), Model: t.Model, At: t.Now.UTC().Truncate(time.Second)}
	}
	return h
}

// markdownAfter updates the Markdown records after a turn, or in the middle of a turn when the
// window fills.
func markdownAfter(ctx context.Context, s *session.Session, w *intake, t api.Turn, o *api.Observation) []fault.Fault {
	if t.More || o.Outcome == api.Conflict || t.Branch != "" || !s.Life.HasMarkdown() || !t.Private && !s.Branches.Newest("", t.Model).Private {
		return nil
	}
	end := w.turnEnd()
	ended := o.Outcome == api.Committed || o.AdvancementKey != "" && (o.Outcome == api.OpenTurn || end == len(w.Msgs))
	reading, err := readingAfter(s, w, t)
	if err != nil {
		return []fault.Fault{{Code: fault.Net, Cause: "calibration", Detail: err.Error()}}
	}
	return s.Life.AfterTurn(ctx, &workstate.Turn{Key: o.AdvancementKey, Msgs: w.Msgs, From: turnStart(w.Msgs, end), To: end, Ended: ended, Reading: reading, Now: t.Now})
}

// readingAfter returns the least size of the next call. This is the billed size of the last call
// plus its answer and the later messages. Without a bill it is the plan's size plus the later
// messages.
func readingAfter(s *session.Session, w *intake, t api.Turn) (checkpoint.Reading, error) {
	l := s.Branches.Newest(t.Branch, t.Model)
	r := checkpoint.Reading{Window: cmp.Or(l.Window, w.model.ContextWindow)}
	ratio := 1.0
	cal, err := s.Calibrations.Of(t.Model)
	if err != nil {
		return r, err
	}
	if w.Count.Kind == budget.Estimated && cal.Trusted() {
		ratio, _ = cal.Factor()
	}
	count := func(from int) int {
		return int(float64(w.TokensFrom(from)) * ratio)
	}
	seen := len(l.Proj.Seen)
	if r.Tokens = count(0); seen > 0 && seen <= len(w.Hosts) {
		r.Tokens = l.Whole() + count(seen)
	}
	if u := t.Usage; u != nil && (seen == 0 && u.InputTotal() > 0 || plausible(u.InputTotal(), r.Tokens)) {
		behind := len(w.Msgs) // the first message after the model's last
		for behind > 0 && w.Msgs[behind-1].Role != memkernel.RoleAssistant {
			behind--
		}
		answer := max(u.OutputTokens, count(behind-1)-count(behind)) // streaming hosts record stubs
		r.Tokens = u.InputTotal() + answer + count(behind)
	}
	return r, nil
}
