package summary

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// Call is a tool call that has no result yet. It holds only the data that is needed to interpret
// the result.
type Call struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Command is the shell command in the one spelling of Command.Text.
	Command string `json:"command,omitempty"`
	// Check reports that the command tests or builds.
	Check bool `json:"check,omitempty"`
	// Piped reports that a pipe may hide the command's status.
	Piped bool `json:"piped,omitempty"`
	// Commit reports whether the command commits.
	Commit bool `json:"commit,omitempty"`
	// Subject is the first line of the commit message.
	Subject string `json:"subject,omitempty"`
	// Branch is the git branch that the command switches to.
	Branch string `json:"branch,omitempty"`
	// Maybe is a branch to which the command may switch. Only its output can confirm the switch.
	Maybe string `json:"maybe,omitempty"`
	// ShowsBranch reports whether the command's output is the branch's name.
	ShowsBranch bool `json:"shows_branch,omitempty"`
	// Paths are the files that the call writes.
	Paths []string `json:"paths,omitempty"`
	// Path is the file that the call names.
	Path string `json:"path,omitempty"`
	// Ask is the question that the call puts to the user. Plan is the gist of the plan that the
	// call submits. Task is the text of the plan item that the call creates.
	Ask string `json:"ask,omitempty"`
	// Questions are the questions of Ask.
	Questions []question `json:"questions,omitempty"`
	Plan      string     `json:"plan,omitempty"`
	Task      string     `json:"task,omitempty"`
	// Lost reports that the conversation continued, or ended, without the call's result.
	Lost bool `json:"lost,omitempty"`
	// Since counts a person's messages after a lost call.
	Since int `json:"since,omitempty"`
	// Session is the host's handle of a running command.
	Session string `json:"session,omitempty"`
}

// Label names the call in a few words. A command is its own label. Other calls are named by tool
// and file.
func (c Call) label() string {
	if c.Command != "" {
		return c.Command
	}
	return oneLine(c.Name+" "+c.Path, pathRunes)
}

// pathKeys are the input fields by which tools name a file. payloadKeys are the input fields that
// make a call with a path a write.
var (
	pathKeys    = [...]string{"file_path", "path", "filePath", "filepath", "file", "filename", "notebook_path", "target_file", "absolute_path", "uri"}
	payloadKeys = [...]string{"content", "contents", "new_string", "newString", "newText", "new_text", "new_str", "new_source",
		"file_text", "insert_text", "edits", "replacement", "diff", "patch", "code_edit", "old_string", "oldText", "old_str"}
)

// call reads a tool call by the shape of its input. Names matter only where shapes don't
// distinguish tools.
func (u *updater) call(tc *memkernel.ToolCall) {
	u.unasked() // the turn continues, so the text was no last word
	inner, _ := toolcall.Unwrap(tc.Name, tc.Input)
	if len(inner) == 0 {
		inner = []toolcall.Inner{{Name: tc.Name}}
	}
	for _, made := range inner {
		u.inner(tc, made)
	}
}

// inner reads one of the calls that tc makes.
func (u *updater) inner(tc *memkernel.ToolCall, made toolcall.Inner) {
	made.Input = u.mask(made.Input) // paths and names come from it too
	c := Call{ID: tc.ID, Name: oneLine(made.Name, nameRunes)}
	scripted := made.Name != tc.Name
	if scripted { // no tool that the host itself calls has this name
		c.Name = oneLine("tools."+made.Name, nameRunes)
	}
	in := toolcall.ArgsOf(made.Input)
	if line, dir := in.Command(); line != "" {
		u.shell(&c, line)
		workedIn(&u.s.Place, dir)
	} else if session := cmp.Or(id(in, "session_id"), id(in, "cell_id")); session != "" && u.resume(c, session) {
		return
	}
	for _, k := range pathKeys {
		if p := in.Text(k); p != "" {
			c.Path = cleanPath(p)
			break
		}
	}
	switch {
	case in == nil:
		c.Paths = patched(made.Input)
	case c.Path != "" && writes(in):
		c.Paths = []string{c.Path}
	case in.Get("input") != "" || in.Get("patch") != "":
		c.Paths = patched(in.Text("input") + in.Text("patch"))
	}
	u.planning(&c, made.Name, in)
	if scripted { // a script prints its results itself, so no text of them is sure to be a person's
		c.Ask, c.Questions, c.Plan = "", nil, ""
	}
	if len(c.Paths) > maxPaths {
		c.Paths = c.Paths[:maxPaths]
	}
	u.pend(c)
}

// pend adds a call that waits for its result.
func (u *updater) pend(c Call) {
	u.s.Pending = slices.DeleteFunc(u.s.Pending, func(o Call) bool { return o.Lost && o.label() == c.label() })
	if u.s.Pending = append(u.s.Pending, c); len(u.s.Pending) > maxPending {
		u.s.Pending = slices.Delete(u.s.Pending, 0, 1)
	}
}

// resume handles a call c that waits for a running command or script: it makes the call of that
// command pending again in place of c. It returns false if no command runs in the session.
func (u *updater) resume(c Call, session string) bool {
	runs := func(r Call) bool { return r.Session == session }
	found := false
	for _, r := range u.s.Running {
		if runs(r) {
			found, r.ID = true, c.ID
			u.pend(r)
		}
	}
	u.s.Running = remove(u.s.Running, runs)
	return found
}

func writes(in toolcall.Args) bool {
	return slices.ContainsFunc(payloadKeys[:], func(k string) bool { return in.Get(k) != "" })
}

// shell fills in the effects of a command line. A patch or a here document that is redirected
// into a file writes it.
func (u *updater) shell(c *Call, line string) {
	c.Paths = append(patched(line), redirected(line)...)
	line = u.mask.source(line, commandWindow)
	sh := parseShell(line)
	c.Command, c.Check, c.Piped = sh.text, sh.check != "", sh.piped
	workedIn(&u.s.Place, sh.dir)
	for _, seg := range sh.segs {
		if subject, ok := commitOf(seg); ok {
			c.Commit, c.Subject = true, oneLine(subject, optionRunes)
		}
		w := seg.words
		relative(&u.s, w)
		if len(w) > 2 && w[0] == "git" && w[1] == "-C" {
			workedIn(&u.s.Place, w[2])
		}
		if sure, maybe := newBranch(w); sure != "" || maybe != "" {
			c.Branch, c.Maybe = oneLine(sure, nameRunes), oneLine(maybe, nameRunes)
		}
	}
	if len(sh.segs) == 1 {
		w := strings.Join(sh.segs[0].words, " ")
		c.ShowsBranch = w == "git branch --show-current" || w == "git rev-parse --abbrev-ref HEAD"
	}
}

// workedIn counts a directory that a command ran in.
func workedIn(p *place, dir string) {
	if dir = cleanPath(dir); !absolute(dir) {
		return
	}
	if i := slices.IndexFunc(p.Dirs, func(d dirCount) bool { return d.Dir == dir }); i >= 0 {
		p.Dirs[i].Count++
		return
	}
	if len(p.Dirs) == maxDirs { // the rarest makes room, the oldest of equals first
		rare := slices.Index(p.Dirs, slices.MinFunc(p.Dirs, byCount))
		p.Dirs = slices.Delete(p.Dirs, rare, rare+1)
	}
	p.Dirs = append(p.Dirs, dirCount{dir, 1})
}

func byCount(a, b dirCount) int { return cmp.Compare(a.Count, b.Count) }

// relative finds the directory of a command by the relative paths that it names. If such a path
// is the end or a middle part of a written file's absolute path, the command ran in the directory
// before that part.
func relative(s *State, w []string) {
	for _, a := range w[min(1, len(w)):] {
		a = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(a, "./"), "..."), "/")
		if strings.HasPrefix(a, "-") || strings.HasPrefix(a, "/") || strings.HasPrefix(a, ".") || !strings.Contains(a, "/") {
			continue
		}
		for _, e := range slices.Backward(s.Artifacts) {
			i := strings.Index(e.Text, "/"+a)
			if end := i + 1 + len(a); i > 0 && (end == len(e.Text) || e.Text[end] == '/') {
				workedIn(&s.Place, e.Text[:i])
				return
			}
		}
	}
}

// patched lists the files of a patch in the "*** Update File:" format.
func patched(s string) []string {
	if !strings.Contains(s, "*** ") {
		return nil
	}
	var out []string
	for line := range textutil.Lines(s) {
		for _, mark := range [...]string{"*** Update File: ", "*** Add File: ", "*** Move to: "} {
			if p, ok := strings.CutPrefix(line, mark); ok && len(out) < maxPaths {
				out = append(out, cleanPath(p))
			}
		}
	}
	return out
}

// redirected lists the file that a here document is written to, as in cat > path <<EOF, in either
// order.
func redirected(line string) []string {
	at := strings.Index(line, "<<")
	if at < 0 {
		return nil
	}
	first := line[strings.LastIndexByte(line[:at], '\n')+1:]
	first, _, _ = strings.Cut(first, "\n")
	if !strings.Contains(first, "cat ") {
		return nil
	}
	w := strings.Fields(strings.ReplaceAll(first, ">>", ">"))
	for i, a := range w {
		p, ok := strings.CutPrefix(a, ">")
		if ok && p == "" && i+1 < len(w) {
			p = w[i+1]
		}
		if p = strings.Trim(p, `"'`); ok && p != "" && !strings.ContainsAny(p, "&$`") && !strings.HasPrefix(p, "/dev/") {
			return []string{cleanPath(p)}
		}
	}
	return nil
}
