package summary

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/choice"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/ledger"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/transcript"
)

// The words for the outcome of a command.
const (
	statusOK      = "ok"
	statusFailed  = "failed"
	statusStarted = "running"
	statusStopped = "interrupted"

	statusRejected = "rejected"
)

// Failed reports whether a status means a failure.
func Failed(status string) bool { return strings.HasPrefix(status, statusFailed) }

// result settles the calls that r answers. It ignores results of calls that are not pending.
func (u *updater) result(r *memkernel.ToolResult) {
	answered := make([]Call, 0, 1)
	for i, c := range u.s.Pending {
		if c.ID == r.CallID {
			u.s.Pending[i].Lost = c.Lost || r.Synthetic
			answered = append(answered, c)
		}
	}
	if r.Synthetic {
		return
	}
	u.s.Pending = remove(u.s.Pending, func(c Call) bool { return c.ID == r.CallID })
	for i, c := range answered {
		u.settle(c, r, textAbout(r, i, len(answered)))
	}
}

// settle records how a call ended.
func (u *updater) settle(c Call, r *memkernel.ToolResult, text string) {
	if said, ok := transcript.Refusal(c.Name, r); ok {
		u.rejection(c, u.mask.source(said, userWindow))
		return
	}
	out, first, last := c.read(r, text, u.mask)
	if out == statusStarted {
		keepRunning(&u.s, c, first)
	}
	if c.Command != "" {
		u.commanded(c, out, first, last)
	}
	if Failed(out) || out == statusStopped {
		return
	}
	for _, p := range c.Paths {
		u.artifact(p)
	}
	switch {
	case c.Task != "":
		u.taskCreated(c.Task, first)
	case !isDialog(c.Name): // other tools don't ask the user
	case c.Plan != "":
		if strings.Contains(first, "approved your plan") {
			u.decided("plan", "approved the plan: "+c.Plan)
		}
	case c.Ask != "":
		u.answered(c, first)
	}
}

// resultText returns a result's text.
func resultText(r *memkernel.ToolResult) string { return textAbout(r, 0, 1) }

// textAbout returns the text of a result that is about call i of the n calls that it answers.
// Several blocks are joined. If the result has a block for each of n calls after its heading, the
// other calls' blocks are left out.
func textAbout(r *memkernel.ToolResult, i, n int) string {
	if r.Opaque {
		return ""
	}
	var blocks []string
	for j := range r.Content {
		if p := &r.Content[j]; p.Kind == memkernel.PartText {
			blocks = append(blocks, p.Text)
		}
	}
	if len(blocks) > 1 && strings.HasPrefix(blocks[0], scriptMark) {
		if n > 1 && len(blocks) == n+1 {
			blocks = []string{blocks[0], blocks[i+1]}
		}
		for j := range blocks {
			blocks[j] = printed(blocks[j])
		}
	}
	return strings.Join(blocks, "\n")
}

// scriptMark begins the heading of a script's result.
const scriptMark = "Script "

// printed returns the text of a command's result that a script printed as JSON.
func printed(block string) string {
	in := toolcall.ArgsOf(block)
	code, session := in.Get("exit_code"), in.Get("session_id")
	switch {
	case code != "":
		block = "Process exited with code " + code + "\n"
	case session != "":
		block = runningMark + session + "\n"
	default:
		return block
	}
	return strings.TrimPrefix(block, "\n") + "Output:\n" + in.Text("output")
}

// rejection records a person's words with which the person refused a call. The words are the
// newest request as well. A refusal without a word, with a question, or with another task decides
// nothing that lasts.
func (u *updater) rejection(c Call, said string) {
	if said == "" {
		return
	}
	u.s.Request = u.entry("r", "", gist(said, requestRunes))
	u.rules(ledger.Read(said))
	switch {
	case choice.Wonders(said):
	case len(c.Questions) == 1 && isDialog(c.Name):
		u.decided(kindReply, c.Questions[0].Text+" → "+oneLine(said, 2*replyRunes))
	case choice.Chooses(said):
		what := c.Name + " " + cmp.Or(c.Command, c.Path, c.Plan)
		u.decided(kindRejection, "rejected "+oneLine(what, questionRunes)+" → "+oneLine(said, 2*replyRunes))
	}
}

// outcome returns how a call ended. It reads the host's verdict, or the exit status that hosts
// write into the first or last lines of a result.
func outcome(r *memkernel.ToolResult, first, last string) string {
	code, found := exitCode(textutil.Head(first, 400))
	if !found {
		code, found = exitCode(textutil.Tail(last, 200))
	}
	switch {
	case strings.HasPrefix(first, scriptMark+"failed"):
		return statusFailed
	case found && code != 0:
		return statusFailed + " (exit " + strconv.Itoa(code) + ")"
	case r.IsError && interrupted(first, last):
		return statusStopped
	case r.IsError:
		return statusFailed
	case !found && sessionOf(first) != "":
		return statusStarted
	}
	return statusOK
}

// interrupted reports whether the text is a host's notice that a person stopped a call. The
// notice is one bracketed line or the last line.
func interrupted(first, last string) bool {
	t := strings.TrimSpace(first)
	return strings.HasPrefix(t, "[") && strings.HasSuffix(t, "]") && !strings.Contains(t, "\n") ||
		lastLine(last) == "Command aborted"
}

// exitStatus matches a host's line about an exit status. A line counts only if it holds nothing
// else, or is a JSON field.
var exitStatus = textutil.LazyRegexp(`(?m)^\s*(?:(?:Exit code:? |Process exited with code |Command exited with code |exit status )(-?\d+)[ \t\r]*$|\{.*?"exit_code": *(-?\d+))`)

// exitCode finds the first exit status in a text.
func exitCode(s string) (code int, found bool) {
	if !strings.Contains(s, "xit") {
		return 0, false
	}
	m := exitStatus.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	code, err := strconv.Atoi(m[1] + m[2])
	return code, err == nil
}

// runningMark precedes the handle of a command that its host left running, cellMark that of a
// script.
const (
	runningMark = "\nProcess running with session ID "
	cellMark    = "\n" + scriptMark + "running with cell ID "
)

// sessionOf returns the handle of a command or script that its host left running.
func sessionOf(first string) string {
	head := textutil.Head(first, 400)
	if !strings.Contains(head, " running with ") {
		return ""
	}
	head = "\n" + head
	for _, mark := range [...]string{runningMark, cellMark} {
		if _, after, ok := strings.Cut(head, mark); ok {
			after, _, _ = strings.Cut(after, "\n")
			return oneLine(after, nameRunes)
		}
	}
	return ""
}

// keepRunning keeps a command that is still running. A later call that waits for the command brings
// its result.
func keepRunning(s *State, c Call, first string) {
	c.Session = sessionOf(first)
	if s.Running = append(s.Running, c); len(s.Running) > maxRunning {
		s.Running = slices.Delete(s.Running, 0, 1)
	}
}

// commanded records a command's end.
func (u *updater) commanded(c Call, out, first, last string) {
	cmd := command{Text: c.Command, Status: out, Key: u.m.Key}
	u.s.LastCommand = cmd
	if c.Check {
		u.checked(cmd, first, last)
	}
	seeBranch(&u.s.Place, c, out, first)
	if !c.Commit {
		return
	}
	if m := ownCommit.FindStringSubmatch(first + "\n" + last); m != nil {
		u.s.Place.Branch = oneLine(m[1], nameRunes)
		u.committed("commit " + m[2] + ": " + oneLine(m[3], optionRunes))
	} else if out == statusOK && c.Subject != "" {
		u.committed("commit: " + c.Subject)
	}
}

// checked keeps the failing checks. A failure stays until a run of the same check succeeds that
// is at least as wide.
func (u *updater) checked(cmd command, first, last string) {
	u.s.LastCheck = cmd
	if cmd.Status == statusStarted || cmd.Status == statusStopped {
		return
	}
	settled := func(e Entry) bool { return e.Text == cmd.Text || cmd.Status == statusOK && covers(cmd.Text, e.Text) }
	if slices.ContainsFunc(u.s.Threads, settled) {
		u.s.Threads = remove(slices.Clone(u.s.Threads), settled)
	}
	if Failed(cmd.Status) {
		e := u.entry("t", "check", cmd.Text)
		e.Why = oneLine(errorLine(first, last), errorRunes)
		u.s.Threads = push(u.s.Threads, e, maxFailing, &u.s.Evicted.Threads)
	}
}

// artifact records a written file. A file that is written again becomes the newest.
func (u *updater) artifact(p string) {
	same := func(a, b string) bool { return a == b }
	u.s.Artifacts = renew(u.s.Artifacts, u.entry("a", "", p), same, maxArtifacts, &u.s.Evicted.Artifacts)
}

// seeBranch reads the git branch from a command or its output. It knows a branch that the command
// created, "On branch X", "## X...origin/X", and the bare name.
func seeBranch(p *place, c Call, out, first string) {
	body := body(first)
	switch {
	case out == statusOK && c.Branch != "":
		p.Branch = c.Branch
		return
	case out == statusOK && c.Maybe != "" && strings.Contains(body, "'"+c.Maybe+"'"):
		p.Branch = c.Maybe
		return
	case out == statusOK && c.ShowsBranch:
		name, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
		if name = oneLine(name, nameRunes); name != "" && !strings.Contains(name, " ") {
			p.Branch = name
		}
		return
	case !strings.Contains(c.Command, "git "):
		return
	}
	for line := range textutil.Lines(body) {
		name, ok := strings.CutPrefix(line, "On branch ")
		if !ok {
			if name, ok = strings.CutPrefix(line, "## "); ok {
				name, _, _ = strings.Cut(name, "...")
			}
		}
		if ok && name != "" && !strings.Contains(name, " ") {
			p.Branch = oneLine(name, nameRunes)
			return
		}
	}
}

// body returns a result without the header that some hosts put before the output.
func body(s string) string {
	if h := textutil.Head(s, 400); strings.Contains(h, "\nOutput:\n") {
		_, s, _ = strings.Cut(s, "\nOutput:\n")
	}
	return s
}

// ownCommit matches git's own report of a commit, "[branch sha] subject".
var ownCommit = textutil.LazyRegexp(`(?m)^\[(\S+)(?: +\S+){0,2} +([0-9a-f]{7,40})\] (.*)$`)

// isDialog reports whether a tool of that name may be the host's own tool for asking the user. A
// tool of an MCP server has the name of its server in front.
func isDialog(tool string) bool {
	return !strings.Contains(tool, "__") && !strings.HasPrefix(tool, "mcp")
}
