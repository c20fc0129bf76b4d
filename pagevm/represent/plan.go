package represent

import (
	"strings"

	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/internal/lex"
)

// doneShown is how many ticked items a structured plan shows, the last ones.
const doneShown = 3

// Plan makes the structured and pointer representations of a plan: the
// lines that name its goal, its step and what is done and next, by their words
// or by the heading over them; headings and commands; then one line with the goal.
func Plan(id, text, resolver string) []pagevm.Rep {
	text = strings.ToValidUTF8(text, "\uFFFD")
	reps := repChain{left: len(text)}
	f := planFields(text)
	reps.addFields(&pagevm.Fields{Plan: f})
	goal := firstText(text)
	if len(f.Goal) > 0 {
		goal = f.Goal[0]
	}
	reps.add(pagevm.Pointer, "[plan "+lex.OrUnknown(id)+": "+clip(strings.TrimSpace(goal), 160)+"; "+howToRead(resolver, id)+"]")
	return reps.reps
}

func planFields(text string) *pagevm.PlanFields {
	f := &pagevm.PlanFields{}
	var ticked []string
	under := "" // the field that the heading names
	for l := range eachLine(text) {
		name := lineField(l, under)
		if l.heading > 0 {
			under = field(strings.TrimRight(l.text, " :") + ":")
		}
		switch {
		case name == "ticked":
			ticked = append(ticked, l.text)
		case name != "":
			to := planLines(f, name)
			*to = append(*to, l.text)
		case l.heading > 0 && under == "" || imperative(l):
			f.Rules = append(f.Rules, l.text)
		case l.heading == 0 && !blank(l.text):
			f.Left++
		}
	}
	f.DoneLeft = max(len(ticked)-doneShown, 0)
	f.Done = append(f.Done, ticked[f.DoneLeft:]...)
	return f
}

// lineField returns which field of a plan a line belongs to, "" for none.
func lineField(l line, under string) string {
	switch {
	case l.heading > 0 || l.code || blank(l.text):
		return ""
	case strings.HasPrefix(l.item, "[ ]"):
		return "next"
	case strings.HasPrefix(l.item, "[x]"), strings.HasPrefix(l.item, "[X]"):
		return "ticked"
	}
	if name := field(l.text); name != "" {
		return name
	}
	if under == "done" {
		return "ticked"
	}
	return under
}

func planLines(f *pagevm.PlanFields, name string) *[]string {
	switch name {
	case "goal":
		return &f.Goal
	case "step":
		return &f.Step
	case "done":
		return &f.Done
	}
	return &f.Next
}

// firstText returns the first line of a plan that is no heading and no field.
func firstText(text string) string {
	for l := range eachLine(text) {
		if l.heading == 0 && field(l.text) == "" && !blank(l.text) {
			return l.text
		}
	}
	return ""
}

// PlanStep returns the line of a plan that names the current step, "" if none does.
func PlanStep(text string) string {
	for l := range eachLine(text) {
		if l.heading == 0 && field(l.text) == "step" {
			return strings.TrimSpace(strings.TrimLeft(l.text, " \t-*#>_"))
		}
	}
	return ""
}

// field returns which field of a plan a line names: "goal", "step", "done",
// "next", or "".
func field(s string) string {
	t := strings.TrimLeft(s, " \t-*#>_")
	n := strings.IndexAny(t, ":：")
	if n <= 0 || n > 40 {
		return ""
	}
	name := strings.ToLower(strings.Trim(t[:n], "* _"))
	for _, f := range [...]struct{ word, field string }{
		{"goal", "goal"}, {"objective", "goal"}, {"task", "goal"}, {"目标", "goal"}, {"ziel", "goal"}, {"objetivo", "goal"}, {"objectif", "goal"},
		{"step", "step"}, {"current", "step"}, {"status", "step"}, {"now", "step"}, {"当前", "step"}, {"schritt", "step"}, {"paso", "step"},
		{"done", "done"}, {"completed", "done"}, {"已完成", "done"},
		{"next", "next"}, {"todo", "next"}, {"pending", "next"}, {"blocked", "next"}, {"下一步", "next"},
	} {
		if strings.Contains(name, f.word) {
			return f.field
		}
	}
	return ""
}
