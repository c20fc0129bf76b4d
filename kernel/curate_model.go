package kernel

import (
	"context"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/summary"
)

// adviceTime bounds the request; the answer is a few lines.
const (
	adviceTime   = time.Minute
	adviceTokens = 4000
	adviceBytes  = 32 << 10
)

// CurateAdvice says what a model was asked, and what became of it.
type CurateAdvice struct {
	// Model is its name, "" if none was asked; Reason is OK, or why the entries stand
	// as they were chosen.
	Model  string         `json:"model"`
	Reason summary.Reason `json:"reason"`
	Detail string         `json:"detail"`
	consolidation.Advised
}

// advise lets a model reword and drop entries, within bounds. Whatever goes wrong, they
// stand as they were chosen.
func (u *upkeep) advise(ctx context.Context, m summary.Model, out *Curated) {
	out.Advice.Refused = []string{}
	if m == nil || len(out.Entries) == 0 {
		return
	}
	a := &out.Advice
	a.Model, a.Reason = m.Name(), summary.ReasonOK
	ctx, cancel := context.WithTimeout(ctx, adviceTime)
	defer cancel()
	answer, err := m.Complete(ctx, summary.Prompt{System: consolidation.AdviceSystem, User: consolidation.AdviceUser(out.Entries), MaxTokens: adviceTokens, Limit: adviceBytes})
	if err != nil {
		e := summary.Explain(err)
		a.Reason, a.Detail = e.Reason, u.masker.Text(e.Error())
		return
	}
	entries, done, err := consolidation.Advise(out.Entries, answer.Text)
	if err != nil {
		a.Reason, a.Detail = summary.ReasonInvalid, u.masker.Text(fmt.Sprint(err))
		return
	}
	out.Entries, a.Advised = entries, *done
	for i := range a.Refused {
		a.Refused[i] = u.masker.Text(a.Refused[i])
	}
}
