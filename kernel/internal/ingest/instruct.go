package ingest

import (
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// This file decides which texts of a conversation instruct the agent: messages of the roles system
// and developer, invoked skills, files of rules, accepted plans, lists of tasks, and messages of
// other agents. The name of an instruction is the same for each of its versions.

// leastNote is the size in bytes from which a text of the host is a note, so that an equal text
// shows it again. It is our choice.
const leastNote = 400

var (
	// hostElement matches the element of a Codex developer message, of which the newest is valid.
	hostElement = textutil.LazyRegexp(`^<([a-z]+[_ ](?:instructions|mode|spec|context))\b`)
	// skillPath matches the path of a skill that Codex shows. skillDir matches Claude Code's line
	// with the folder of a skill.
	skillPath = textutil.LazyRegexp(`^<skill>(?s:.{0,200})<path>([^<]+)</path>`)
	skillDir  = textutil.LazyRegexp(`^Base directory for this skill: (\S.*)`)
	// shownFile matches the name of a file of instructions in a reminder of Claude Code. calledRead
	// matches the call by which Claude Code reports that it read a file for the user.
	shownFile  = textutil.LazyRegexp(`(?m)^Contents of (\S.*?)(?: \(.*\))?:$`)
	calledRead = textutil.LazyRegexp(`Called the Read tool with the following input: \{"file_path":"([^"]+)"`)
	// createdTask matches the result of Claude Code's TaskCreate.
	createdTask = textutil.LazyRegexp(`^Task #(\w+) created`)
)

// ruleFiles are the names of files with rules for agents. ruleFolders hold such files.
var (
	ruleFiles = textutil.Set("agents.md agents.override.md claude.md claude.local.md gemini.md skill.md soul.md " +
		"copilot-instructions.md constitution.md conventions.md .cursorrules .windsurfrules .clinerules")
	ruleFolders = []string{".cursor/rules/", ".claude/rules/", ".clinerules/", ".windsurf/rules/"}
)

// ruleFile reports whether a path names a file with rules for agents.
func ruleFile(p string) bool {
	p = strings.ToLower(strings.ReplaceAll(p, `\`, "/"))
	base := path.Base(p)
	return ruleFiles[base] || strings.HasSuffix(base, "rules.md") || strings.HasSuffix(base, ".instructions.md") ||
		slices.ContainsFunc(ruleFolders, func(dir string) bool { return strings.Contains(p, dir) })
}

// instructionOf returns the name of the instruction in a text part of a message, "" if there is
// none. Any other long text of the host is a note, of which only the newest copy counts. For a note
// ends is true, since it need not stay.
func instructionOf(m *memkernel.Message, i int) (name string, ends bool) {
	p := &m.Parts[i]
	if p.Kind != memkernel.PartText || p.Typed && !strings.HasPrefix(p.Text, planAccepted) {
		return "", false
	}
	text := strings.TrimSpace(p.Text)
	if m.Role == memkernel.RoleSystem || m.Role == memkernel.RoleDeveloper {
		return "host " + firstMatch(hostElement, text, text), false
	}
	if m.Role != memkernel.RoleUser || m.Origin == memkernel.OriginSummary {
		return "", false
	}
	if name = userInstruction(m, i, text); name == "" && len(text) >= leastNote && (text[0] == '<' || m.Origin == memkernel.OriginMeta) {
		return noteName(text), true
	}
	return name, false
}

func noteName(text string) string { return "note " + Hash(text) }

// userInstruction is instructionOf for a text that the host wrote in the user's name.
func userInstruction(m *memkernel.Message, i int, text string) string {
	switch {
	case strings.HasPrefix(text, planAccepted):
		return planName
	case strings.HasPrefix(text, "Base directory for this skill: "):
		return fileName(firstMatch(skillDir, text, "") + "/SKILL.md")
	case strings.HasPrefix(text, "<skill>"):
		return fileName(firstMatch(skillPath, text, text))
	case strings.HasPrefix(text, "# AGENTS.md instructions"), strings.HasPrefix(text, "<user_instructions>"):
		return "rules " + firstLine(text)
	case strings.HasPrefix(text, "<environment_context>"):
		return "host environment"
	case strings.HasPrefix(text, "<teammate-message"):
		return noteName(text)
	case strings.HasPrefix(text, "<system-reminder>"):
		return reminderInstruction(m, i, text)
	case m.Origin == memkernel.OriginMeta && len(text) >= leastNote && text[0] != '<':
		return noteName(text)
	}
	return ""
}

// reminderInstruction returns the name of the instruction in a reminder of Claude Code.
func reminderInstruction(m *memkernel.Message, i int, text string) string {
	switch {
	case strings.Contains(text, "# claudeMd"), strings.Contains(text, "Codebase and user instructions are shown below"):
		return "rules claudeMd"
	case strings.Contains(text, "Result of calling the Read tool:"):
		before := text
		if i > 0 {
			before = m.Parts[i-1].Text + text
		}
		if file := firstMatch(calledRead, before, ""); ruleFile(file) || strings.EqualFold(path.Ext(file), ".md") {
			return fileName(file)
		}
	}
	if file := firstMatch(shownFile, text, ""); ruleFile(file) {
		return fileName(file)
	}
	return ""
}

// The text with which Claude Code passes a plan to a new session, the text with which it reports a
// plan's approval, and the heading of the plan in the latter text.
const (
	planAccepted = "Implement the following plan:"
	planApproved = "User has approved your plan"
	planHeading  = "## Approved Plan:"
)

// The names of the instructions that a session has at most one of.
const (
	planName  = "plan"
	tasksName = "tasks"
)

// taskLists are the tools whose input is the whole list of tasks. planTools show a plan to the
// person. skillTools return the text of a skill.
var (
	taskLists  = textutil.Set("todowrite todo_write write_todos update_plan")
	planTools  = textutil.Set("exitplanmode exit_plan_mode")
	skillTools = textutil.Set("skill activate_skill load_skill")
)

// instruction sets the instruction that a run of parts holds.
func instruction(s *pagevm.Segment, m *memkernel.Message, parts []memkernel.Part) {
	if s.Instruction, s.Ends = instructionOf(m, s.Part); s.Instruction == planName {
		s.Mixed = true // a person's words may come with the plan
	}
	others := 0
	for i := range parts {
		switch c := parts[i].Call; {
		case c != nil && taskLists[strings.ToLower(c.Name)]:
			s.Instruction = tasksName
		case c != nil && planIn(c.Name, c.Input):
			s.Instruction = planName
		case !Thinking(&parts[i]):
			others++
		}
	}
	s.Mixed = s.Mixed || m.Role == memkernel.RoleAssistant && others > 0
}

// hostText reports whether parts are a single text that the host wrote, or a plan.
func hostText(role memkernel.Role, parts []memkernel.Part) bool {
	name, _ := instructionOf(&memkernel.Message{Role: role, Parts: parts}, 0)
	return name != "" && len(parts) == 1
}

// planIn reports whether a call shows a plan to the person. An approval of such a plan repeats it.
func planIn(tool, input string) bool {
	return planTools[strings.ToLower(tool)] && len(toolcall.ArgsOf(input).Get("plan")) >= leastNote
}

// resultInstruction returns the name of the instruction that a result holds. The result ends
// reports that the instruction is done.
func resultInstruction(call *toolcall.Call, r *memkernel.ToolResult) (name string, ends bool) {
	if r.IsError || r.Opaque {
		return "", false
	}
	text, tool := ResultText(r), strings.ToLower(call.Name)
	switch {
	case skillTools[tool] && len(text) >= leastNote:
		return "skill " + call.Canonical(), false
	case planTools[tool] && strings.HasPrefix(text, planApproved) && !planIn(call.Name, call.Input):
		return planName, false
	case tool == "taskcreate":
		if id := firstMatch(createdTask, text, ""); id != "" {
			return "task " + id, false
		}
	case tool == "taskupdate":
		args := toolcall.ArgsOf(call.Input)
		if status := args.Get("status"); status == `"completed"` || status == `"deleted"` {
			return "task " + strings.Trim(args.Get("taskId"), `"`), true
		}
	case call.Kind == toolcall.CallRead && ruleFile(call.Path()):
		if call.Replaces == nil {
			return "file " + call.Canonical(), false
		}
		return fileName(call.Path()), false
	}
	return "", false
}

// fileName is the name of the instructions in a file.
func fileName(p string) string {
	return "file " + path.Clean(strings.ReplaceAll(strings.TrimSpace(p), `\`, "/"))
}

// approval returns the representations of the approval of a plan that the call shows.
func approval(call *toolcall.Call, text string, reps []pagevm.Rep) []pagevm.Rep {
	head, _, found := strings.Cut(text, planHeading)
	if !found || !planIn(call.Name, call.Input) || !strings.HasPrefix(text, planApproved) {
		return reps
	}
	short := head + "[the plan is in the call above]"
	return []pagevm.Rep{{Level: pagevm.Structured, Hash: Hash(short), Text: short}}
}

func firstMatch(r *textutil.Regexp, text, otherwise string) string {
	if m := r.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	if otherwise == "" {
		return ""
	}
	return Hash(otherwise)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
