package display

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
)

// fromMemory reports whether a row shows a file of the workspace.
func fromMemory(r *api.Included) bool {
	return slices.Contains([]pagevm.Type{pagevm.Bootstrap, pagevm.Preference, pagevm.Plan}, pagevm.Type(r.Kind))
}

// memoryRows returns the parts of the plan that come from the workspace's files.
func memoryRows(plan *api.ContextPlan) []api.Included {
	return slices.DeleteFunc(slices.Clone(plan.Debug.Included), func(r api.Included) bool { return !fromMemory(&r) })
}

// memoryLine sums up the parts that memory adds, or returns "" if memory adds no parts.
func memoryLine(plan *api.ContextPlan) string {
	var parts []string
	files, tokens := memoryRows(plan), 0
	for i := range files {
		tokens += files[i].Tokens
	}
	if len(files) > 0 {
		parts = append(parts, Say("{file} ({} tokens)", len(files), tokens))
	}
	if r := &plan.Retrieval; r.Items > 0 {
		parts = append(parts, Say("{item} recalled ({} tokens)", r.Items, r.Tokens))
	}
	return strings.Join(parts, ", ")
}

// leftOut returns the hits that were not recalled.
func leftOut(plan *api.ContextPlan) []api.Excluded {
	return slices.DeleteFunc(slices.Clone(plan.Debug.Excluded), func(r api.Excluded) bool { return r.Kind != cachelayout.RegionRetrieval })
}

// memory lists the parts that memory adds to the prompt, and the hits that were left out. Without
// memory it writes nothing.
func (s *explanation) memory() {
	plan := s.plan
	r := &plan.Retrieval
	files, left := memoryRows(plan), leftOut(plan)
	if len(files) == 0 && len(left) == 0 && r.Items == 0 && r.Reason == "DISABLED" {
		return
	}
	s.section("Memory", fmt.Sprintf("%s, search %s", r.Reason, r.Mode))
	if r.Detail != "" {
		s.text("detail", r.Detail)
	}
	row := s.Table(2, []int{12, 41, 1, 12, -10})
	for _, f := range files {
		row(inked{Gray, f.Kind}, f.Note, "", level(f.Level.String()), f.Tokens)
	}
	tokens := Thousands(r.Tokens)
	for i, c := range r.Citations {
		if i < len(r.Origins) && r.Origins[i] != "" {
			c += " " + r.Origins[i]
		}
		row(inked{Gray, "recalled"}, c, "", level("full"), tokens)
		tokens = ""
	}
	row = s.Table(2, []int{12, 41, 1, s.Columns() - 56})
	for _, r := range first(s.Sheet, left) {
		row(inked{Gray, "left out"}, r.ID, "", inked{Gray, r.Reason})
	}
	s.more(len(left))
}
