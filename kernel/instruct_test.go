package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// hostText is a text that the host and not a person wrote.
func hostText(s string) memkernel.Part { return memkernel.Part{Kind: memkernel.PartText, Text: s} }

// handbook is a Markdown text with a heading and rules for each topic. Its first line is unique.
func handbook(title string, topics int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", title)
	for i := range topics {
		fmt.Fprintf(&b, "## %s, topic %d\n\nNever break rule %d of %s.\n\n", title, i, i, title)
		fmt.Fprintf(&b, "%s\n\n", strings.Repeat(fmt.Sprintf("An error of kind %d fails the build and is reported as a failure. ", i), 6))
	}
	return b.String()
}

// inPrompt is how the prompt shows a handbook: how often its title is a line, and how many of the
// headings of its topics it has.
func inPrompt(p *api.ContextPlan, title string, topics int) (titles, headings int) {
	text := strings.ReplaceAll(stream(p), `\n`, "\n")
	for i := range topics {
		if strings.Contains(text, fmt.Sprintf("## %s, topic %d\n", title, i)) {
			headings++
		}
	}
	return strings.Count(text, "# "+title+"\n"), headings
}

// afterCuts plans after each of so many more stretches of work, which force cuts.
func afterCuts(t *testing.T, k *kernel.Kernel, c *conversation, cuts int) *api.ContextPlan {
	t.Helper()
	var p *api.ContextPlan
	for made := 0; made < cuts; {
		for range 6 {
			c.loop(2, 9_000)
		}
		c.grow()
		p = mustPlan(t, k, request(c))
		if v := transcript.Validate(transcript.FormatAnthropic, &transcript.Request{Model: p.Model, Messages: p.Messages}); len(v) > 0 {
			t.Fatalf("invalid request: %+v", v)
		}
		if p.Layout.Made != nil {
			made++
		}
	}
	return p
}

// The developer message that opens a session of Codex, and the rules and skills that follow it,
// are in the prompt after cuts.
func TestDeveloperMessagesStay(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	mode := func(rule string) string {
		return "<collaboration_mode>" + strings.Repeat("You are in a mode of collaboration. ", 25) + "\n" + rule + "\n</collaboration_mode>"
	}
	c := newConversation(1)
	c.add(memkernel.RoleDeveloper, hostText("<permissions instructions>\nCommands run in a sandbox.\n</permissions instructions>"),
		hostText("<skills_instructions>\n"+handbook("Skills of the host", 12)+"</skills_instructions>"))
	c.add(memkernel.RoleUser, hostText("# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\n"+handbook("Rules of the house", 12)), hostText("<environment_context>\n<cwd>/w</cwd>\n</environment_context>"))
	c.user()
	for range 6 {
		c.loop(2, 9_000)
	}
	c.add(memkernel.RoleDeveloper, hostText(mode("Ask before you plan.")))
	c.user()
	c.loop(1, 2_000)
	c.add(memkernel.RoleDeveloper, hostText(mode("Plan without questions.")))
	p := afterCuts(t, k, c, 2)
	for _, title := range []string{"Skills of the host", "Rules of the house"} {
		if titles, headings := inPrompt(p, title, 12); titles != 1 || headings != 12 {
			t.Errorf("%s is shown %d times, with %d of its 12 headings", title, titles, headings)
		}
	}
	text := stream(p)
	for line, want := range map[string]int{"Commands run in a sandbox.": 1, "<cwd>/w</cwd>": 1, "Plan without questions.": 1, "Ask before you plan.": 0} {
		if n := strings.Count(text, line); n != want {
			t.Errorf("%q is shown %d times, want %d", line, n, want)
		}
	}
}

// The plan that the user approved, a file of rules that the user named, an invoked skill, the
// newest list of tasks and the orders of another agent are in the prompt after cuts, once each.
func TestInstructionsOfAClaudeCodeSessionStay(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(2)
	answered := func(name, input, text string) {
		id := fmt.Sprint("i", len(c.msgs))
		c.add(memkernel.RoleAssistant, call(id, name, input))
		c.add(memkernel.RoleUser, result(id, hostText(text)))
	}
	todo := func(task string) {
		answered("TodoWrite", fmt.Sprintf(`{"todos":[{"content":%q,"status":"in_progress"}]}`, task), "Todos have been modified successfully.")
	}
	rules := "<system-reminder>\nResult of calling the Read tool: " + handbook("Import rules", 10) + "\n</system-reminder>"
	c.add(memkernel.RoleUser, hostText("<system-reminder>\n# claudeMd\nContents of /w/CLAUDE.md (project instructions):\n\n"+handbook("Project memory", 8)+"\n</system-reminder>"), words("Follow @docs/import.md and plan the importer."),
		hostText("<system-reminder>\nCalled the Read tool with the following input: {\"file_path\":\"/w/docs/import.md\"}\n</system-reminder>"), hostText(rules))
	plan := handbook("Plan of the importer", 10)
	answered("ExitPlanMode", fmt.Sprintf(`{"plan":%q}`, plan), "User has approved your plan. You can now start coding.\n\n## Approved Plan:\n"+plan)
	todo("write the first parser")
	answered("Skill", `{"skill":"review"}`, "Launching skill: review")
	c.add(memkernel.RoleUser, hostText("Base directory for this skill: /w/.claude/skills/review\n\n"+handbook("Review skill", 8)))
	for range 6 {
		c.loop(2, 9_000)
	}
	todo("write the last parser")
	c.add(memkernel.RoleUser, hostText(`<teammate-message teammate_id="lead">Leave the exporter alone.</teammate-message>`))
	answered("Read", `{"file_path":"/w/.claude/skills/review/SKILL.md"}`, handbook("Review skill", 8))
	p := afterCuts(t, k, c, 2)
	for title, topics := range map[string]int{"Project memory": 8, "Import rules": 10, "Plan of the importer": 10, "Review skill": 8} {
		if titles, headings := inPrompt(p, title, topics); titles != 1 || headings != topics {
			t.Errorf("%s is shown %d times, with %d of its %d headings", title, titles, headings, topics)
		}
	}
	text := stream(p)
	for line, want := range map[string]int{"User has approved your plan": 1, `"content":"write the last parser"`: 1, `"content":"write the first parser"`: 0, "Leave the exporter alone.": 1} {
		if n := strings.Count(text, line); n != want {
			t.Errorf("%q is shown %d times, want %d", line, n, want)
		}
	}
}

// A note that the host shows again and again is in the prompt once after a cut, as are the user's
// words in the same messages.
func TestARepeatedNoteStaysOnce(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(3)
	note := "<system-reminder>\n" + strings.Repeat("The listing of connected servers follows, as it was at the start. ", 60) + "\n</system-reminder>"
	for i := range 3 {
		c.add(memkernel.RoleUser, hostText(note), words(fmt.Sprintf("Please do step %d of my list.", i)))
		c.loop(1, 2_000)
		c.say()
	}
	p := afterCuts(t, k, c, 1)
	if n := strings.Count(stream(p), "system-reminder>\\nThe listing"); n > 1 {
		t.Errorf("the note is shown %d times", n)
	}
}

// Instructions do not take the prompt over: in a small window the newest stay, and the oldest leave.
func TestInstructionsAreBounded(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(4)
	for i := range 60 {
		c.add(memkernel.RoleUser, hostText(fmt.Sprintf("Base directory for this skill: /w/skills/s%d\n\n%s", i, handbook(fmt.Sprintf("Skill %d", i), 20))))
		c.say()
	}
	p := afterCuts(t, k, c, 1)
	if _, headings := inPrompt(p, "Skill 59", 20); headings != 20 {
		t.Errorf("%d of 20 headings of the newest skill are shown", headings)
	}
	if titles, _ := inPrompt(p, "Skill 0", 20); titles != 0 {
		t.Error("the oldest skill is shown")
	}
}
