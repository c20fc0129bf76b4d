package display

import (
	"fmt"
	"strings"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
)

// fromMemory reports whether a row shows a file of the workspace.
func fromMemory(r *api.Included) bool {
	switch r.Kind {
	case string(pagevm.Bootstrap), string(pagevm.Preference), string(pagevm.Plan):
		return true
	}
	return false
}

// memoryRows returns the parts of the plan that come from the workspace's files.
func memoryRows(plan *api.ContextPlan) []api.Included {
	var out []api.Included
	for i := range plan.Debug.Included {
		if fromMemory(&plan.Debug.Included[i]) {
			out = append(out, plan.Debug.Included[i])
		}
	}
	return out
}

// memoryLine sums up the parts that memory adds, or returns "" if memory adds no parts.
func memoryLine(plan *api.ContextPlan) string {
	var parts []string
	files, tokens := memoryRows(plan), 0
	for i := range files {
		tokens += files[i].Tokens
	}
	if len(files) > 0 {
		parts = append(parts, fmt.Sprintf("%s (%s tokens)", Plural(len(files), "file"), Thousands(tokens)))
	}
	if r := &plan.Retrieval; r.Items > 0 {
		parts = append(parts, fmt.Sprintf("%s recalled (%s tokens)", Plural(r.Items, "item"), Thousands(r.Tokens)))
	}
	return strings.Join(parts, ", ")
}

// leftOut returns the hits that were not recalled.
func leftOut(plan *api.ContextPlan) []api.Excluded {
	var out []api.Excluded
	for _, r := range plan.Debug.Excluded {
		if r.Kind == api.RegionRetrieval {
			out = append(out, r)
		}
	}
	return out
}

// memory lists the parts that memory adds to the prompt, and the hits that were left out. Without
// memory it writes nothing.
func (s *sheet) memory() {
	plan := s.out.Plan
	r := &plan.Retrieval
	files, left := memoryRows(plan), leftOut(plan)
	if len(files) == 0 && len(left) == 0 && r.Items == 0 && r.Reason == "DISABLED" {
		return
	}
	s.section("Memory", fmt.Sprintf("%s, search %s", r.Reason, r.Mode))
	if r.Detail != "" {
		s.text("detail", r.Detail, "")
	}
	for _, f := range files {
		s.memoryRow(f.Kind, f.Note, f.Level.String(), f.Tokens)
	}
	for i, c := range r.Citations {
		tokens := -1
		if i == 0 {
			tokens = r.Tokens
		}
		if i < len(r.Origins) && r.Origins[i] != "" {
			c += " " + r.Origins[i]
		}
		s.memoryRow("recalled", c, "full", tokens)
	}
	s.leftRows(left)
}

// memoryRow writes the row of a file or place. If tokens is negative, that column is empty.
func (s *sheet) memoryRow(kind, name, level string, tokens int) {
	count := ""
	if tokens >= 0 {
		count = Thousands(tokens)
	}
	s.line("  ", s.Paint(Gray, Left(kind, 12)), Left(Clip(name, 41), 42), s.level(level, 12), Right(count, 10))
}

func (s *sheet) leftRows(rows []api.Excluded) {
	shown := rows
	if !s.all && len(rows) > maxRows {
		shown = rows[:maxRows]
	}
	for _, r := range shown {
		s.line("  ", s.Paint(Gray, Left("left out", 12)), Left(Clip(r.ID, 41), 42), s.Paint(Gray, Clip(r.Reason, s.Columns()-56)))
	}
	s.more(len(rows), len(shown))
}
