package plan

import (
	"math"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/transcript"
)

// maxRefusedRatio is the ratio of real to counted tokens above which a refusal is attributed to
// content that the host did not show us rather than to our count.
const maxRefusedRatio = 2

// overflowed reports whether this plan answers a refusal.
func (d *decision) overflowed() bool { return d.Refused }

// learnRefusal learns the limits that a refusal implies, before the plan is measured by them.
func learnRefusal(m *measured) error {
	o := m.req.Overflow
	if o == nil {
		m.overflow.Tries = 0
		return nil
	}
	if budget.RefusesThinking(o.Text) {
		return refuseThinking(m)
	}
	figures, err := figuresOf(o)
	if err != nil {
		return err
	}
	m.Refusal = figures
	if answered(m, o, figures) {
		return nil
	}
	m.Refused, m.Learned, m.refusedProj = true, true, m.Prev.Proj
	st := &m.overflow
	if st.Tries++; st.Tries > overflowTries {
		return &api.OverflowError{Tries: st.Tries - 1, Planned: m.Unanchored(m.Prev.Proj), Window: m.Window, Largest: m.LargestItems(m.Prev.Proj.Carry, m.Prev.Proj.Items)}
	}
	learnSizes(m, figures)
	return nil
}

// refuseThinking makes the plan leave out all thinking of earlier turns.
func refuseThinking(m *measured) error {
	if answered(m, m.req.Overflow, &budget.Overflow{}) {
		return nil
	}
	for i := range m.Hosts {
		for j := range m.Hosts[i].Segments {
			m.thinkingRefused = m.thinkingRefused || m.Hosts[i].Segments[j].Bare.Hash != ""
		}
	}
	if !m.thinkingRefused {
		return api.ErrNoThinking
	}
	m.log.faults = append(m.log.faults, fault.Fault{Code: fault.ThinkingRefused, Detail: "the provider refused thinking of earlier turns whose prefix had changed: this request holds none"})
	return nil
}

// takeThinkingOut submits a cut that removes only thinking.
func takeThinkingOut(d *deciding, delta pagevm.Delta, cache pagevm.Cache) {
	wishes := pagevm.Wishes{Cut: &pagevm.CutWish{Reason: pagevm.CutThinking}}
	for _, it := range d.Proj.Carry {
		wishes.Carry = append(wishes.Carry, pagevm.Block{Kind: it.Kind, Page: it.Page, Level: it.Level, Hash: it.Hash, Tokens: it.Tokens})
	}
	proj, dec := d.nextProjection(delta, wishes, cache)
	if dec.Cut != nil {
		d.Proj, d.Made, d.Wishes, d.granted = proj, dec, wishes, cache
	}
}

// figuresOf returns the figures of the text. The host's own figures take precedence.
func figuresOf(o *api.Overflow) (*budget.Overflow, error) {
	f, ok := budget.ParseOverflow(o.Text)
	if !ok && o.Text != "" {
		return nil, api.ErrNoOverflow
	}
	setIf(&f.Input, o.Input)
	setIf(&f.Limit, o.Limit)
	return &f, nil
}

// answered reports whether the newest plan was already made for the refusal.
func answered(m *measured, o *api.Overflow, f *budget.Overflow) bool {
	switch st := &m.Prev.Overflow; {
	case m.Prev.Plan == "":
		return false
	case o.PlanID != "":
		return o.PlanID != m.Prev.Plan
	case f.Input > 0 && f.Input == st.Last:
		return true
	}
	return m.Prev.Unsent && m.Prev.Overflow.Tries > 0
}

// learnSizes sets the window, and the ratio of the refused prompt's real size to its counted
// size.
func learnSizes(m *measured, f *budget.Overflow) {
	st := &m.overflow
	st.Last = f.Input
	if f.Limit > 0 && f.Limit < m.Window {
		st.Window = f.Limit
	}
	st.Reserve = max(st.Reserve, f.Answer)
	if m.Prev.Unsent {
		return // the refused request is from before the last compaction
	}
	fixed, counted := m.Prev.FixedTokens(), m.Prev.Proj.Tokens()
	if m.Prev.Plan == "" { // the refused request is the host's own prompt
		fixed, counted = m.Fixed, 0
		for i := range m.Hosts {
			counted += m.Hosts[i].Tokens()
		}
	}
	if f.Limit == 0 && m.From == api.WindowUnknown {
		st.Window = fixed + counted // the window is smaller than the refused prompt
	}
	actual := f.Input
	if actual == 0 {
		actual = max(f.Limit, min(m.Window, fixed+counted)) + 1
	}
	if counted <= 0 || actual <= fixed {
		return
	}
	m.RefusedCount, m.RefusedActual = counted, actual-fixed
	switch ratio := float64(actual-fixed) / float64(counted); {
	case ratio <= maxRefusedRatio:
		st.Ratio = math.Max(st.Ratio, ratio)
	case f.Input > 0:
		st.Hidden += actual - fixed - int(float64(counted)*math.Max(1, m.Ratio))
	default:
		st.Ratio = maxRefusedRatio // without figures the largest ratio is assumed
	}
}

// applyRefusals measures the plan by the limits learned from refusals.
func applyRefusals(m *measured) {
	st := m.overflow
	if st.Window > 0 && st.Window < m.Window {
		m.Window, m.From = st.Window, api.WindowRefusal
		if m.req.Reserve == 0 || m.Reserve >= m.Window {
			m.Reserve = budget.DefaultReserve(m.Window)
		}
	}
	if st.Reserve < m.Window/2 {
		m.Reserve = max(m.Reserve, st.Reserve)
	}
	m.Ratio = math.Max(m.Ratio, st.Ratio)
}

// takeBackRefused marks the results that only the refused request showed as new again: the model
// has not seen them, so they may be shown shorter.
func takeBackRefused(m *measured) {
	at := len(m.Hosts)
	for at > 0 && transcript.HasResults(m.Msgs[at-1]) {
		at--
	}
	if !m.Refused || at == len(m.Hosts) || at >= len(m.Prev.Proj.Seen) || m.Align.Rewrite != pagevm.RewriteNone {
		return
	}
	prev := *m.Prev
	prev.Proj = m.Prev.Proj.TakeBack(m.Hosts[:at])
	m.Prev = &prev
	m.Align = pagevm.Align(prev.Proj, m.Hosts)
}

func setIf[T comparable](to *T, v T) {
	var zero T
	if v != zero {
		*to = v
	}
}

// overflowCut requests the cut that a refusal needs. Only the floors can prevent this cut.
func overflowCut(d *deciding) {
	if !d.Cut.Do || d.Cut.Reason != string(pagevm.CutCold) {
		d.Cut.Reason = string(pagevm.CutForced)
	}
	d.Cut.Do, d.Cut.Force = true, true
	d.Cut.TargetTokens = min(d.Cut.Figures.LowWater, d.Hard)
	if d.Refusal.Input == 0 {
		d.Cut.TargetTokens = min(d.Cut.TargetTokens, d.Fixed+int(blindly*float64(d.Conversation(d.refusedProj))))
	}
}

// blindly is the share of a refused conversation that is kept if the provider named no figures.
const blindly = 0.75

// stuck returns an error for a refused prompt that can't be made smaller. The provider would
// refuse the same prompt again.
func stuck(d *deciding) error {
	if !d.Refused || d.Prev.Unsent || len(d.refusedProj.Seen) == 0 || d.Conversation(d.Proj) < d.Conversation(d.refusedProj) {
		return nil
	}
	return &api.OverflowError{Tries: d.overflow.Tries, Planned: d.Unanchored(d.Proj), Window: d.Window, Largest: d.LargestItems(d.Proj.Carry, d.Proj.Items)}
}
