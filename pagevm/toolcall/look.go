package toolcall

import (
	"slices"
	"strings"
	"unicode"

	"github.com/memkernel/memkernel/internal/textutil"
)

// Look is the object that a call looks at, as far as the call itself shows. A repeated look with
// the same result brought only known content. Any other call may have been run again to act once
// more, or to see the present state.
type Look uint8

const (
	// LookUnknown: the call may or may not change something.
	LookUnknown Look = iota
	// LookAct: the call changes something.
	LookAct
	// LookState: the call shows the present state of something, such as running processes or
	// changes.
	LookState
	// LookContent: the call shows stored content, such as files, search results, pages or
	// records.
	LookContent
	// LookMoving: the call shows content that differs each time, or that a caller polls for, such
	// as the time, processes or random values.
	LookMoving
)

// Files is the object that an edit changes. It is also the object of a command whose effect can't
// be determined.
const Files = "files"

// The words of tool names and commands that show the effect of a call. The words of moving count
// only as a tool's first or last word ("list_time_entries" is a list).
var (
	actWords = textutil.Set("create update delete write send add remove set edit put post insert move rename run exec execute " +
		"start stop kill apply push merge commit checkout close click type press fill submit upload skill ask spawn agent " +
		"notify exit enter book pay cancel approve install uninstall deploy restart toggle save store remember patch schedule " +
		"reply assign mark complete import sync reset clear open navigate evaluate init build test")
	lookWords = textutil.Set("get list ls read search find fetch query view show describe lookup grep glob log logs diff blame " +
		"inspect count recall retrieve browse web explain info outdated doc docs help version tree")
	stateWords  = textutil.Set("status ps images")
	treeWords   = textutil.Set("status diff ls")
	movingWords = textutil.Set("wait poll watch sleep output stdin monitor tail follow time date now clock random uuid progress status")
)

// looksTool returns the look of a call, and the server or the tool that it depends on, by the
// tool's name.
func looksTool(tool string) (Look, string) {
	of := tool
	if rest, ok := strings.CutPrefix(strings.ToLower(tool), "mcp__"); ok {
		of, _, _ = strings.Cut(rest, "__")
		tool = tool[strings.LastIndex(tool, "__")+2:]
	}
	words := nameWords(tool)
	if len(words) == 0 {
		return LookUnknown, of
	}
	switch first := words[0]; {
	case first == "request", first == "task" && len(words) == 1, first == "todowrite": // asks a person or an agent, or plans
		return LookAct, of
	case first == "read" && IsShell(words[len(words)-1]): // what a command printed since
		return LookMoving, of
	}
	if movingWords[words[0]] || movingWords[words[len(words)-1]] {
		return LookMoving, of
	}
	for _, w := range words {
		if actWords[w] {
			return LookAct, of
		}
		if lookWords[w] {
			break
		}
	}
	return LookContent, of
}

// hump matches the place where a word ends in a name such as readFile.
var hump = textutil.LazyRegexp(`(\p{Ll})(\p{Lu})`)

// nameWords returns the lower-cased words of a name in any spelling.
func nameWords(name string) []string {
	return strings.FieldsFunc(strings.ToLower(hump.ReplaceAllString(name, "$1 $2")), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// These programs are judged without a second word. Mute programs show nothing, and change nothing
// that other calls look at. Prefixes run the words after them.
var (
	contentPrograms = textutil.Set("cat head tail nl bat less more type Get-Content sed awk grep egrep fgrep zgrep rg ag ack find fd ls tree wc stat " +
		"file diff cmp sort uniq cut tr jq yq column xxd od strings curl wget which basename dirname realpath readlink md5sum sha256sum")
	movingPrograms = textutil.Set("date ps top htop uptime w who watch sleep uuidgen mktemp shuf jobs pwd ping free vmstat iostat")
	mutePrograms   = textutil.Set("cd echo printf true : export test [")
	prefixPrograms = textutil.Set("sudo time nice nohup command xargs timeout env")
)

// looksShell returns the look of a command line that edits no file, and the objects that it depends
// on. A command with LookMoving decides. If there is none, the command with the lowest Look does.
func looksShell(line string, cmds []simpleCommand, whole bool) (l Look, of []string) {
	whole = whole && !strings.Contains(line, "$(") && !strings.Contains(line, "`")
	l = LookMoving
	for i := range cmds {
		k, on := looksCommand(&cmds[i])
		switch {
		case mutePrograms[cmds[i].words[0]]:
			continue
		case k == LookMoving:
			return k, nil
		case k < l:
			l, of = k, nil
		}
		if k == l {
			of = append(of, on...)
		}
	}
	switch {
	case !whole:
		return LookUnknown, append(of, Files)
	case l == LookUnknown:
		of = append(of, Files)
	case l == LookMoving: // nothing but mute programs
		l = LookAct
	}
	return l, of
}

// looksCommand returns the look of one command and the objects that it depends on. The program
// decides, or else the first known verb among the command's words.
func looksCommand(c *simpleCommand) (Look, []string) {
	words := c.words
	for len(words) > 1 && (prefixPrograms[words[0]] || strings.Contains(words[0], "=")) {
		timed := words[0] == "timeout"
		words = words[1:]
		for len(words) > 1 && (strings.HasPrefix(words[0], "-") || timed) {
			timed = timed && strings.HasPrefix(words[0], "-")
			words = words[1:]
		}
	}
	program := words[0]
	switch {
	case movingPrograms[program], program == "tail" && flagged(words, "-f", "-F", "--follow"):
		return LookMoving, nil
	case program == "find" && flagged(words, "-delete", "-exec", "-execdir"), program == "sed" && flagged(words, "-i", "--in-place"),
		(program == "curl" || program == "wget") && flagged(words, sending...):
		return LookUnknown, []string{program}
	case contentPrograms[program]:
		return LookContent, nil
	}
	return looksVerb(program, words)
}

// sending lists the options with which curl and wget do more than show a page.
var sending = []string{"-X", "--request", "-d", "--data", "--data-raw", "--json", "-F", "--form", "-T", "-o", "-O", "--output"}

// looksVerb returns the look of a command by the first known verb among its first operands, as in
// "kubectl -n web get pods" and "gh pr view 12".
func looksVerb(program string, words []string) (Look, []string) {
	if flagged(words, "--help") {
		return LookContent, []string{program}
	}
	ops := operands(words)
	ops = ops[:min(len(ops), 3)]
	if slices.Contains(ops, "watch") || slices.Contains(ops, "wait") {
		return LookMoving, nil
	}
	for _, op := range ops {
		switch {
		case actWords[op], op == "fetch", op == "pull":
			return LookUnknown, []string{program}
		case !lookWords[op] && !stateWords[op]:
		case flagged(words, "-w", "--watch", "-f", "--follow"):
			return LookMoving, nil
		case treeWords[op]:
			return LookState, []string{program, Files}
		default:
			return LookState, []string{program}
		}
	}
	return LookUnknown, []string{program}
}

func flagged(words []string, flags ...string) bool {
	for _, w := range words[1:] {
		for _, f := range flags {
			if w == f || strings.HasPrefix(f, "--") && strings.HasPrefix(w, f+"=") {
				return true
			}
		}
	}
	return false
}

// CanonicalResult returns a result without the text that a host writes anew on every run of a
// call: the ids and times in Codex's heading. nothing reports whether the call found nothing: an
// empty output, or a search without a match.
func CanonicalResult(text string) (said string, nothing bool) {
	head, body, ok := strings.Cut(text, "Output:\n")
	if !ok || !headed(head) {
		return text, isEmptyResult(text)
	}
	var b strings.Builder
	for l := range strings.Lines(head) {
		if !strings.HasPrefix(l, "Chunk ID: ") && !strings.HasPrefix(l, "Wall time") {
			b.WriteString(l)
		}
	}
	if strings.HasPrefix(head, "Script ") {
		body = runMarks.ReplaceAllString(body, "")
	}
	return b.String() + "Output:\n" + body, isEmptyResult(body)
}

// runMarks are the ids and times in the result of a command that a script prints as JSON.
var runMarks = textutil.LazyRegexp(`"(?:chunk_id":"[^"]*"|wall_time_seconds":[0-9.]+),?`)

// headed reports whether a result begins with Codex's heading.
func headed(head string) bool {
	return textutil.Begins(head, []string{"Chunk ID: ", "Wall time: ", "Exit code: ", "Script "}) && strings.Count(head, "\n") <= 6
}

// isEmptyResult reports whether text is one of the texts that known agents write for an empty
// result.
func isEmptyResult(text string) bool {
	if text = strings.Trim(text, " \t\r\n()."); len(text) > 200 {
		return false // longer than any of them in any case of its letters
	}
	switch strings.ToLower(text) {
	case "", "no output", "no matches", "no matches found", "no files found", "no results", "no results found", "bash completed with no output":
		return true
	}
	return false
}
