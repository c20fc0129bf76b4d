package proxy

import (
	"math"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/transcript"
)

// imageTokens is about the cost of a picture or a page.
const imageTokens = 1600

// scale weighs requests to a model in estimated tokens. Content that is in two requests must
// weigh the same in both, because the bill of one request gives the tokens of the other.
type scale struct {
	seen     *budget.Cache
	counter  budget.Counter
	thinking bool // of earlier turns is part of the prompt
}

func (a *account) scaleOf(model string) *scale {
	known, _ := a.prices.Lookup(model, time.Time{})
	c, err := budget.ForModel(known.Tokenizer, model)
	if err != nil {
		return nil // the book checks its tokenizers
	}
	return &scale{a.counted, c, budget.KeepsThinking(model)}
}

// request weighs a request of a client with other messages.
func (s *scale) request(b *transcript.Body, msgs []memkernel.Message) int {
	n := s.parts(b.System)
	for _, t := range b.Tools {
		n += s.text(t.Raw)
	}
	for i := range msgs {
		n += s.parts(msgs[i].Parts)
	}
	return n
}

func (s *scale) text(t string) int { return s.seen.Count(s.counter, t).Tokens }

func (s *scale) parts(parts []memkernel.Part) (n int) {
	for i := range parts {
		switch p := &parts[i]; {
		case p.Kind == memkernel.PartThinking || p.Kind == memkernel.PartRedactedThinking:
			if s.thinking {
				n += s.text(p.Text) + budget.HiddenThinking(s.counter.Name(), p.Text, p.Signature)
			}
		case p.Call != nil:
			n += s.text(p.Call.Name) + s.text(budget.ToolInput(s.counter.Name(), p.Call.Input))
		case p.Result != nil:
			n += s.parts(p.Result.Content)
		case p.Media != nil:
			n += imageTokens
		case p.Kind == memkernel.PartOther:
			n += s.text(p.Raw)
		default:
			n += s.text(p.Text)
		}
	}
	return n
}

// growth returns the size of the client's own request divided by the size of the sent request. It
// is 1 if the sizes are equal, or if the plan added more than it removed.
func (a *account) growth(e *exchange) float64 {
	if e.grows > 0 {
		return e.grows
	}
	e.grows = 1
	if e.body == nil || e.out.messages == nil {
		return 1
	}
	s := a.scaleOf(e.body.Model)
	if s == nil {
		return 1
	}
	if whole, out := s.request(e.body, e.body.Messages), s.sent(e); out > 0 && whole > out {
		e.grows = float64(whole) / float64(out)
	}
	return e.grows
}

// sent weighs the sent request.
func (s *scale) sent(e *exchange) int {
	if e.out.messages == nil {
		return s.request(e.body, e.body.Messages)
	}
	return s.request(e.body, e.out.messages)
}

// sizes returns the estimated tokens of the client's own request, and the billed tokens of the
// sent request.
func (a *account) sizes(e *exchange, u *memkernel.Usage) (whole, sent int) {
	switch {
	case u != nil && u.InputTotal() > 0:
		sent = u.InputTotal()
	case e.out.plan != nil:
		sent = e.out.plan.Budgets.PlannedInputTokens
	case e.body != nil:
		if s := a.scaleOf(e.body.Model); s != nil {
			sent = s.sent(e)
		}
	}
	return grown(sent, a.growth(e)), sent
}

func grown(n int, by float64) int { return int(math.Round(float64(n) * by)) }
