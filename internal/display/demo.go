package display

import (
	"strings"

	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/retrieval"
)

// Demo is what the verb demo shows.
type Demo struct {
	// Files counts the notes.
	Files   int
	Answers []Answer
	Plan    *Plan
}

// Answer is a question with the result of its search.
type Answer struct {
	Question string
	Result   *retrieval.Result
}

// Tour writes a first look at memory and plans, for a reader who knows neither.
func Tour(s *Sheet, d *Demo) {
	s.Para(0, "", "A tour on an invented sample: {%d} notes of a ferry company, and a working day of its coding agent. The sample lies in a temporary folder until the tour ends.", d.Files)
	s.section("Ask the notes", "")
	for _, a := range d.Answers {
		s.Line("  {}", a.Question)
		if len(a.Result.Hits) == 0 {
			s.Line("    {}", a.Result.Detail)
			continue
		}
		h, mark := &a.Result.Hits[0], newMarker(a.Question, s.Style)
		for _, l := range Wrap(address(h.Path, h.StartLine)+"  "+strings.TrimPrefix(strings.Join(strings.Fields(h.Text), " "), "- "), s.Columns()-4) {
			s.raw("    " + mark.text(l))
		}
	}
	s.tourPlan(d.Plan)
	s.section("Go on", "")
	step := s.Table(2, []int{28, 50})
	step(inked{Bold, "memkernel demo --explain"}, "the same model call, token by token")
	step(inked{Bold, "memkernel search QUESTION"}, "ask the notes of the folder that you are in")
	step(inked{Bold, "memkernel remember TEXT"}, "write a note")
	step(inked{Bold, "memkernel init"}, "give your coding agents this memory")
}

// tourPlan says what a plan keeps, shortens and leaves out, and what that saves.
func (s *Sheet) tourPlan(out *Plan) {
	plan := out.Made
	var fixed, rules, files, kept, messages, brief, from, results, summary int
	for i := range plan.Debug.Included {
		switch r := &plan.Debug.Included[i]; {
		case r.Kind == "system":
			fixed += r.Tokens
		case fromMemory(r):
			rules, files = rules+r.Tokens, files+1
		case r.Kind == "carry":
			summary += r.Tokens
		case r.Kind == "retrieval":
		case r.Level == pagevm.Full:
			kept, messages = kept+r.Tokens, messages+1
		default:
			brief, from, results = brief+r.Tokens, from+r.FullTokens, results+1
		}
	}
	_, _, gone := pageCounts(plan)
	whole, planned := uncut(plan), plan.Budgets.PlannedInputTokens
	s.section(s.Say("Plan a prompt: request {%d} of the day, from the agent to its model", out.Call), "")
	s.Line("  The conversation has grown to {} tokens, and the model takes {}.", whole, plan.Budgets.ContextWindow)
	table := s.Table(0, []int{-9, 2, s.Columns() - 11})
	row := func(tokens int, form string, values ...any) { table(tokens, "", s.Say(form, values...)) }
	row(fixed, "kept: the agent's instructions and tools")
	row(rules, "kept: rules and facts of AGENTS.md, MEMORY.md and the like, {file}", files)
	row(kept, "kept word for word: {message} and results of the work at hand", messages)
	row(brief, "shortened: {long result}, of {} tokens in all", results, from)
	row(summary, "added: a summary of {message} that are left out", gone)
	row(plan.Retrieval.Tokens, "added: {note} found for the newest question", plan.Retrieval.Items)
	row(planned, "are sent; the agent can read the rest again, word for word, by a tool")
	one, all := out.Model.TierFor(planned), out.Model.TierFor(whole)
	if one.Write5m == nil || one.Read == nil || all.Write5m == nil || all.Read == nil {
		return
	}
	cents := func(n int, price *float64) float64 { return float64(n) * *price / 1e6 }
	s.Para(2, "", "This request costs ${%.2f}, and the next one ${%.2f} or more, because the provider keeps what it has read. The whole conversation would cost ${%.2f} and ${%.2f}.",
		cents(planned, one.Write5m), cents(planned, one.Read), cents(whole, all.Write5m), cents(whole, all.Read))
}

// ExplainedIn returns the terms that [Explain] uses, in the order of their first use.
func ExplainedIn() []string {
	return []string{"token", "window", "reserve", "fixed part", "region", "page", "level", "pointer", "carry", "working set", "recall", "bootstrap file",
		"cut", "high water, low water", "generation", "cold, warm cache", "breakpoint", "fault", "thrash index"}
}
