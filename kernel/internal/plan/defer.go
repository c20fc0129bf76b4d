package plan

import (
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/transcript"
)

// toolingNow is what is known of the tools with the messages that are new: which were
// called, and which definitions stood deferred. Without the request's leave none does.
func toolingNow(m *measured) *branch.Tooling {
	was := m.Prev.Tooling.OrNone()
	now := was
	if m.req.Demand == nil && m.req.Defer == nil {
		now.Deferred, now.Offered = nil, nil
	}
	for i := min(m.Align.At, len(m.Msgs)); i < len(m.Msgs); i++ {
		for j := range m.Msgs[i].Parts {
			c := m.Msgs[i].Parts[j].Call
			if c == nil || c.Server || c.Name == "" {
				continue
			}
			if at, ok := slices.BinarySearch(now.Used, c.Name); !ok {
				now.Used = slices.Insert(slices.Clone(now.Used), at, c.Name)
			}
		}
	}
	return &now
}

// waits reports whether the definition of a tool stands deferred.
func (m *measured) waits(name string) bool {
	_, ok := slices.BinarySearch(m.tooling.Deferred, name)
	return ok
}

// StandingTools are those whose definitions stand in the prompt.
func (m *measured) StandingTools() []memkernel.Tool { return without(m.req.Tools, m.tooling.Deferred) }

// without are tools but for some, whose names are sorted.
func without(tools []memkernel.Tool, deferred []string) []memkernel.Tool {
	if len(deferred) == 0 {
		return tools
	}
	return slices.DeleteFunc(slices.Clone(tools), func(t memkernel.Tool) bool {
		_, ok := slices.BinarySearch(deferred, t.Name)
		return ok
	})
}

// hashOf is that of definitions.
func hashOf(tools []memkernel.Tool) (hash string) {
	for i := range tools {
		hash = ids.Hash(hash + tools[i].Raw)
	}
	return hash
}

// countTools counts what of the tools stands in the prompt, uncalibrated.
func (m *measured) countTools() int {
	if len(m.tooling.Deferred) == 0 {
		return m.Count.Tools(m.req.Tools)
	}
	return m.Count.Tools(m.StandingTools()) + cachelayout.DeferSearchTokens
}

// deferTools decides which definitions wait, and reports whether that is another choice
// than the one that stood.
func deferTools(m *measured) bool {
	if m.req.Demand != nil || m.req.Defer == nil {
		return false
	}
	was := m.tooling.Deferred
	in, refused := deferInput(m)
	d := cachelayout.Deferral{Why: "nothing is deferred: " + refused}
	if refused == "" {
		d = cachelayout.PlanDefer(in)
	}
	t := *m.tooling
	t.Deferred, t.Offered = slices.Sorted(slices.Values(d.Names)), namesOf(m.req.Tools)
	m.tooling, m.Deferral = &t, &d
	return !slices.Equal(was, t.Deferred)
}

func namesOf(tools []memkernel.Tool) []string {
	out := make([]string, len(tools))
	for i := range tools {
		out[i] = tools[i].Name
	}
	return out
}

// deferInput is what is known for the decision, or why there is none to make.
func deferInput(m *measured) (in cachelayout.DeferInput, refused string) {
	r := m.req
	w := transcript.WaitingIn(m.Format(), r.Tools, r.ToolChoice)
	switch {
	case len(r.Tools) == 0:
		return in, "the request has no tools"
	case !cachelayout.SearchesTools(r.Model):
		return in, "the model is not known to search for tools"
	case w.Refused != "":
		return in, w.Refused
	case r.Branch != "":
		return in, "a branch is one errand"
	}
	id := m.identity(m.Prev.Proj)
	cold, _ := m.ledger.Cold(r.Price, id, r.Now)
	sent := !m.ledger.LastStart.IsZero()
	whole := m.Planned(m.Prev.Proj) + m.scaledFresh()
	in = cachelayout.DeferInput{Search: m.Scale(cachelayout.DeferSearchTokens), Calls: m.expectedCalls(), Cached: whole,
		Prompt: max(whole, m.Fixed+cachelayout.LowWaterFloor), Start: !sent && !m.answered(), Cold: sent && (cold || m.toolsChanged())}
	ttl := r.Price.TTL(r.TTL)
	expected := m.ledger.Expect(r.Price)
	in.Ratios = expected.Ratios(in.Prompt, ttl)
	in.Output = r.Price.OutputRatio(in.Prompt)
	in.Bound = r.Price.PreservedThinking && !in.Start && m.thinks()
	found, before, last := transcript.FoundTools(m.Format(), m.Msgs), m.session.ToolsBefore(), m.tooling.Offered
	for i := range r.Tools {
		t := &r.Tools[i]
		d := cachelayout.DeferTool{Name: t.Name, Tokens: m.Scale(m.Count.Text(t.Raw)), Keep: w.Keep[i], Deferred: m.waits(t.Name),
			New: last != nil && !slices.Contains(last, t.Name), Found: found[t.Name], Offered: before[t.Name].Offered, Earlier: before[t.Name].Used}
		if d.Keep == "" && (r.Defer.Keep != nil && r.Defer.Keep(t.Name) || t.Name == r.Resolver) {
			d.Keep = "it gives the way back to what is not shown"
		}
		_, d.Used = slices.BinarySearch(m.tooling.Used, t.Name)
		in.Tools = append(in.Tools, d)
	}
	return in, ""
}

// answered reports whether the conversation holds an answer already.
func (m *measured) answered() bool {
	return slices.ContainsFunc(m.Msgs, func(msg memkernel.Message) bool { return msg.Role == memkernel.RoleAssistant })
}

// thinks reports whether the conversation holds thinking that is signed.
func (m *measured) thinks() bool {
	return slices.ContainsFunc(m.Msgs, func(msg memkernel.Message) bool {
		return slices.ContainsFunc(msg.Parts, func(p memkernel.Part) bool {
			return p.Kind == memkernel.PartRedactedThinking || p.Kind == memkernel.PartThinking && p.Signature != ""
		})
	})
}

// toolsChanged reports whether the client changed a definition in front of the prompt: all
// behind it is written anew. Where some wait, one that is new may wait beside them, and
// changes nothing yet.
func (m *measured) toolsChanged() bool {
	last, chain := m.tooling.Offered, m.ledger.Chain
	if last == nil || len(chain) == 0 || chain[0].Region != cachelayout.RegionTools {
		return false
	}
	known := m.StandingTools()
	if len(m.tooling.Deferred) > 0 {
		known = slices.DeleteFunc(slices.Clone(known), func(t memkernel.Tool) bool { return !slices.Contains(last, t.Name) })
	}
	return hashOf(known) != chain[0].Hash
}
