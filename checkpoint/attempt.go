package checkpoint

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/summary"
)

// callSummary names a tool call in a few words.
type callSummary struct {
	Name string `json:"name"`
	// Params is the call's command, its path, or the start of its input.
	Params string `json:"params,omitempty"`
}

// attempt is a call, reduced to the data by which its result will be judged.
type attempt struct {
	ID string `json:"id"`
	callSummary
	// Target is the object that the call works on. Two calls with the same target have one
	// purpose.
	Target string `json:"target"`
	// Sig is equal for equal calls. Check marks a test or a build.
	Sig   string `json:"sig"`
	Check bool   `json:"check,omitempty"`
	// Read and Edited are the files that it reads and changes if it succeeds.
	Read   []string `json:"read,omitempty"`
	Edited []string `json:"edited,omitempty"`
}

// failure is an attempt that failed. It is kept until an attempt with the same target succeeds or
// too many calls have followed.
type failure struct {
	attempt
	// Error is the line of the result that describes the error best.
	Error string `json:"error,omitempty"`
	// Since counts the calls after the failure.
	Since int `json:"since,omitempty"`
	// After lists the later actions on the failure's target, or the files that these actions
	// changed.
	After []string `json:"after,omitempty"`
}

// The number of calls within which a success still counts as the way out of a failure. A tool
// that works on no file shows little of its purpose, and so does a command without a verb. For
// such a tool or command only the next calls count.
const (
	reach     = 12
	nearReach = 3
	maxAfter  = 3
)

// call notes that a tool was used, and keeps the rest of the call for its result.
func (u *updater) call(tc *memkernel.ToolCall) {
	a := u.attempt(tc)
	t := &u.s.Thread
	t.LastCall = &callSummary{Name: a.Name, Params: a.Params}
	touch(&u.s.Resources.Tools, a.Name, t.Captured, maxTools)
	if tc.ID != "" && !tc.Server {
		t.Pending = capped(append(t.Pending, a), maxPending)
	}
}

func (u *updater) attempt(tc *memkernel.ToolCall) attempt {
	clean := *tc // before paths are cut out of it
	clean.Input = u.mask(tc.Input)
	tc = &clean
	kind, paths := toolcall.Classify(tc.Name, tc.Input)
	read := u.reading(tc.ID)
	name, params := summary.Excerpt(tc.Name, nameRunes), ""
	switch {
	case read.Command != "":
		params = summary.Excerpt(read.Command, gistRunes)
	case len(paths) > 0:
		params = u.gist(paths[0], gistRunes)
	default:
		params = u.gist(tc.Input, gistRunes)
	}
	a := attempt{ID: tc.ID, callSummary: callSummary{Name: name, Params: params}, Target: "tool:" + name, Check: read.Check}
	a.Sig = strconv.FormatUint(keyHash(toolcall.Canonical(tc.Name, tc.Input)), 36)
	switch {
	case kind == toolcall.CallRead && len(paths) > 0:
		a.Read, a.Target = u.names(paths), "read:"+path.Base(paths[0])
	case kind == toolcall.CallEdit && len(paths) > 0:
		a.Edited, a.Target = u.names(paths), "edit:"+path.Base(paths[0])
	case len(read.Paths) > 0:
		a.Edited, a.Target = u.names(read.Paths), "edit:"+path.Base(read.Paths[0])
	case read.Command != "":
		a.Target = "run:" + program(read.Command)
	}
	return a
}

// reading returns the reader's own view of a call.
func (u *updater) reading(id string) summary.Call {
	return made(u.s.Thread.Reader.Pending, id)
}

// made returns the pending call with an id. Of several calls that a script makes it returns the
// first check, or else the first call.
func made(pending []summary.Call, id string) (c summary.Call) {
	for _, p := range pending {
		if p.ID == id && (c.ID == "" || p.Check && !c.Check) {
			c = p
		}
	}
	return c
}

// names makes paths fit to be kept. It drops shell variables, which are not paths.
func (u *updater) names(paths []string) []string {
	var out []string
	for _, p := range paths[:min(len(paths), 20)] {
		if n := u.gist(p, pathRunes); n != "" && n[0] != '$' {
			out = append(out, n)
		}
	}
	return out
}

// program returns the program that a command runs. That is the command's first word that does not
// set a variable, with up to two bare words after it, such as the verb of git or the script of
// npm.
func program(command string) string {
	w := strings.Fields(command)
	for len(w) > 1 && strings.Contains(w[0], "=") {
		w = w[1:]
	}
	if len(w) > 3 && w[1] == "-C" { // git and make: the directory to work in
		w = slices.Delete(w, 1, 3)
	}
	n := 1
	for n < min(len(w), 3) && w[n][0] != '-' && strings.Trim(w[n], "abcdefghijklmnopqrstuvwxyz0123456789:_-") == "" {
		n++
	}
	return strings.Join(w[:n], " ")
}

// sameTarget reports whether two attempts have one purpose. One of the two commands may lack the
// last word of the other, such as the remote of a push.
func sameTarget(a, b string) bool {
	if a == b {
		return true
	}
	v, w := strings.Fields(a), strings.Fields(b)
	n := min(len(v), len(w))
	return strings.HasPrefix(a, "run:") && n >= 2 && slices.Equal(v[:n], w[:n])
}

// touch puts a name at the end of a list.
func touch(list *[]use, name string, seq, max int) {
	if name == "" {
		return
	}
	kept := slices.DeleteFunc(*list, func(u use) bool { return u.Name == name })
	*list = capped(append(kept, use{name, seq}), max)
}

// result settles the call that r answers. It ignores a result without a call.
func (u *updater) result(r *memkernel.ToolResult, before summary.State) {
	t := &u.s.Thread
	i := slices.IndexFunc(t.Pending, func(a attempt) bool { return a.ID == r.CallID })
	if i < 0 {
		return
	}
	if r.Synthetic {
		return // its outcome is unknown
	}
	a := t.Pending[i]
	t.Pending = orNil(slices.Delete(t.Pending, i, i+1))
	read := made(before.Pending, r.CallID)
	switch status, line := read.Outcome(r); {
	case summary.Failed(status):
		u.pass(func(failure) bool { return false }, "")
		t.Failures = slices.DeleteFunc(t.Failures, func(f failure) bool { return f.Sig == a.Sig })
		t.Failures = capped(append(t.Failures, failure{attempt: a, Error: u.complaint(line)}), maxFailures)
	case status == "ok":
		u.worked(a)
	}
}

// complaint returns an error line, "" if the line is a host's notice rather than a tool's
// message. A notice is a line in brackets of either kind (no output, an interruption), a report
// that a parallel call failed, a server's report that it is busy, or a line without a letter. Nothing
// can be learned from such a failure.
func (u *updater) complaint(line string) string {
	line = u.gist(line, errorRunes)
	for _, pair := range [...]string{"()", "[]"} {
		if strings.HasPrefix(line, pair[:1]) && strings.HasSuffix(line, pair[1:]) {
			return ""
		}
	}
	if line == "Sibling tool call errored" || busy.MatchString(line) || !strings.ContainsFunc(line, unicode.IsLetter) {
		return ""
	}
	return line
}

// busy matches the words by which a server asks to come back later.
var busy = textutil.LazyRegexp(`(?i)\brate.?limit|too many requests|\boverloaded\b|\b(?:error|status|code)\W+(?:code\W+)?\(?429\b`)

// worked notes the files of a call that succeeded, and the failures that it resolves.
func (u *updater) worked(a attempt) {
	seq := u.s.Thread.Captured
	for _, p := range a.Read {
		touch(&u.s.Resources.Read, p, seq, maxFiles)
	}
	for _, p := range a.Edited {
		touch(&u.s.Resources.Modified, p, seq, maxFiles)
	}
	did, base := "", a.Target[strings.IndexByte(a.Target, ':')+1:]
	switch {
	case len(a.Edited) > 0:
		did = "changing " + base
	case len(a.Read) > 0:
		did = "reading " + base
	}
	u.pass(func(f failure) bool {
		if !sameTarget(f.Target, a.Target) {
			return false
		}
		if f.Error != "" && (f.Sig != a.Sig || len(f.After) > 0) {
			u.learn(f, a)
		}
		return true
	}, did)
}

// pass checks the open failures against a call. It drops the failures that the call settles, and
// the failures that are too far back. A change of any file may have helped the other failures. A
// reading helps only failures of the file that it reads.
func (u *updater) pass(settles func(failure) bool, did string) {
	var kept []failure
	for _, f := range u.s.Thread.Failures {
		within := reach
		if kind, what, _ := strings.Cut(f.Target, ":"); kind == "tool" || kind == "run" && !strings.Contains(what, " ") {
			within = nearReach
		}
		if f.Since++; f.Since > within || settles(f) {
			continue
		}
		if f.helped(did) {
			f.After = append(slices.Clone(f.After), did)
		}
		kept = append(kept, f)
	}
	u.s.Thread.Failures = kept
}

func (f failure) helped(did string) bool {
	if did == "" || len(f.After) == maxAfter || slices.Contains(f.After, did) {
		return false
	}
	read, reads := strings.CutPrefix(did, "reading ")
	return !reads || strings.HasSuffix(f.Target, ":"+read)
}

// learn records a failure and the call that worked instead.
func (u *updater) learn(f failure, a attempt) {
	text := f.label() + " failed: " + f.Error
	switch {
	case a.Params != f.Params || a.Name != f.Name:
		text += " → " + a.label() + " worked"
	case a.Sig != f.Sig:
		text += " → worked with other input"
	default:
		text += " → worked"
	}
	after := f.After
	if !f.Check && f.Sig != a.Sig { // a change of another file explains nothing about a different call
		after = slices.DeleteFunc(slices.Clone(after), func(did string) bool {
			file, changed := strings.CutPrefix(did, "changing ")
			return changed && !strings.HasSuffix(f.Target, ":"+file)
		})
	}
	if len(after) > 0 {
		text += " after " + strings.Join(after, ", ")
	}
	l := learningCapture{CallID: f.ID, Key: u.m.Key, What: summary.Excerpt(text, lessonRunes), Seq: u.s.Thread.Captured}
	items := slices.DeleteFunc(u.s.Learnings.Items, func(o learningCapture) bool { return o.CallID == l.CallID && o.Key == l.Key })
	u.s.Learnings.Items = capped(append(items, l), maxLearnings)
	took := cost{sumOf(l.What), f.Since}
	costs := slices.DeleteFunc(u.s.Thread.Costs, func(c cost) bool { return c.Sum == took.Sum })
	u.s.Thread.Costs = capped(append(costs, took), maxLearnings)
}

// label names a call. A command is its own label.
func (a attempt) label() string {
	params := summary.Excerpt(a.Params, 80)
	if strings.HasPrefix(a.Target, "run:") {
		return params
	}
	return strings.TrimSpace(a.Name + " " + params)
}
