package consolidation

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel/internal/choice"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/ledger"
	"github.com/memkernel/memkernel/transcript"
)

// The text that a flush wrote of a session was captured by a machine. It is judged by evidence,
// and not by its kind of capture. A decision must have its subject and its outcome in the text. A
// lesson must have a remedy that others can use, and the failure must have been costly or have
// come up again. A rule must be readable by itself.

// costlyCalls is the number of calls between a failure and its remedy from which the failure is a
// lesson even if it came up once.
const costlyCalls = 5

// flushed matches the beginning of the text that a flush wrote of a session. It has the session's
// key. The captures come after it.
var flushed = textutil.LazyRegexp(`^Session (\S.*?), (?:cp_\d+|by what was captured of it|by its host's summary):$`)

// sessionsOf returns for each entry of a file the key of its session if a flush wrote the entry,
// else "". A flush's list is one block.
func sessionsOf(entries []*Entry) []string {
	out := make([]string, len(entries))
	now, next := "", 0
	for i, e := range entries {
		if m := flushed.FindStringSubmatch(e.Text); m != nil {
			now, next = m[1], e.EndLine+1
			continue
		}
		if e.StartLine != next {
			now = ""
		}
		out[i], next = now, e.EndLine+1
	}
	return out
}

// earning is the worth of a machine's capture. It has the capture's text as a fact, and the
// reasons why the fact matters. A capture without tags is not worth a place in memory.
type earning struct {
	Text string
	Tags Tags
}

// saidMark begins a line of a log that quotes a person and may hold for the moment only.
const saidMark = "[said]"

// earned judges a capture. again reports whether a failure came up in another session.
func earned(plain string, tags Tags, again func(sign string) bool) earning {
	if f, ok := failureOf(plain); ok {
		// Others can learn from it if the tool named the fault of the call, and the remedy is another
		// call that can be made.
		m := worked.FindStringSubmatch(f.remedy)
		teaches := m != nil && m[1] != f.what && !cut(m[1]) && !cut(f.what) && !mishaps.MatchString(f.how) && !looking.MatchString(f.what) && !looking.MatchString(m[1]) && wordCount(f.how) >= 2
		if !teaches || f.calls < costlyCalls && !again(f.sign()) {
			return earning{}
		}
		got := earning{code(f.what) + " fails (" + strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(f.how, "Error:"), "error:")) + "); " + code(m[1]) + " works", makeTags(lesson)}
		if f.calls >= costlyCalls {
			got.Tags = makeTags(lesson, surprise)
		}
		return got
	}
	if strings.HasPrefix(plain, "[open] ") || !tags.has(decision) && strings.HasPrefix(plain, "changed ") {
		return earning{Tags: tags.only(identity), Text: plain}
	}
	text, ok := ledger.Settled(plain)
	if !ok || !tags.has(decision) {
		return earning{}
	}
	return earning{text, tags.only(human, identity).with(decision)}
}

// Captured returns a capture of a session as an item of a day's log, with the tags that it earns.
// kind is decision, lesson, identity or open. calls is how many calls a lesson took. A capture of
// worth whose [Key] is in before, the entries of earlier days, is reusable.
func Captured(kind, text string, calls int, before map[string]bool) string {
	if calls >= costlyCalls {
		text += fmt.Sprintf(" (%d calls later)", calls)
	}
	var got Tags
	if kind == string(decision) || kind == string(lesson) {
		got = makeTags(decision)
		if _, reply, _ := choice.Parts(text); important(reply) {
			got = got.with(human)
		}
		got = earned(text, got, func(string) bool { return false }).Tags
	}
	if len(got) > 0 && before[Key(text)] {
		got = got.with(lesson)
	}
	mark := got.String()
	if kind == "open" || kind == string(identity) {
		mark = "[" + kind + "]"
	}
	return "- " + strings.TrimSpace(mark+" "+text)
}

// Stated returns a person's statement as an item of a day's log. A statement that may hold for the
// moment only gets no tag, but a mark.
func Stated(st ledger.Statement) string {
	mark := saidMark
	switch {
	case st.Lasting && st.Kind == ledger.Decision:
		mark = makeTags(decision, human).String()
	case st.Lasting:
		mark = makeTags(human).String()
	}
	return "- " + mark + " " + oneLine(st.Text)
}

var statedTags = textutil.LazyRegexp(`^- (?:\[[a-z]+\] )+`)

// StatedIn returns the words of an item that [Stated] made, "" for any other line.
func StatedIn(line string) string {
	if tags := statedTags.FindString(line); tags != "" {
		return line[len(tags):]
	}
	return ""
}

// only returns the tags of t that are also in some.
func (t Tags) only(some ...tag) Tags {
	return slices.DeleteFunc(slices.Clone(t), func(x tag) bool { return !slices.Contains(some, x) })
}

// failure is a learning in the form that package checkpoint writes. It has the call, the call's
// error, and the call that worked.
type failure struct {
	what, how, remedy string
	calls             int
}

var (
	learned = textutil.LazyRegexp(`^(?:\[\w+\] )*(.+?) failed: (.+?) → (.+?)(?: \((\d+) calls later\))?$`)
	// worked matches a remedy that names the call that was made instead.
	worked = textutil.LazyRegexp(`^(.+?) worked(?: after .+)?$`)
)

func failureOf(plain string) (failure, bool) {
	m := learned.FindStringSubmatch(plain)
	if m == nil {
		return failure{}, false
	}
	f := failure{what: m[1], how: m[2], remedy: m[3]}
	f.calls, _ = strconv.Atoi(m[4])
	return f, true
}

func cut(s string) bool { return strings.HasSuffix(s, "…") }

// sign returns a text that is equal for equal failures, whatever files and figures they name.
func (f failure) sign() string {
	program := strings.Fields(f.what)
	return Key(strings.Join(program[:min(2, len(program))], " ") + ": " + figures.ReplaceAllString(f.how, ""))
}

// code returns a command in Markdown's form for code.
func code(s string) string {
	if strings.Contains(s, "`") {
		return s
	}
	return "`" + s + "`"
}

var (
	figures = textutil.LazyRegexp(`[\w./-]*\d[\w./:-]*|/[\w./-]+`)
	// mishaps are errors about the moment, the code in hand, or a slip of the pen. Later readers
	// learn nothing from them.
	mishaps = textutil.LazyRegexp(`(?i)string(?:s)? to (?:be )?replace|replace_all|old_(?:string|str|text)|exact text|has not been read|been modified since|unexpectedly modified|no changes to make|read it first|exceeds maximum|no such file|cannot find the (?:file|path)|(?:file|path|directory|module|session|pane|branch|ref)[^.]{0,40}(?:does not exist|not found)|can't find|cannot find|can't read|cannot (?:change to|stat|access|open)|did not match any|unknown revision|not a (?:directory|git repository)|already exists|` +
		`interrupted|cancell?ed|aborted|declined|rejected|doesn't want|chunk id|unmatched|unterminated|unbalanced|syntax ?error|parse error|parsing|not allowed in a regex|regex parse|unexpected (?:token|character|end|eof)|invalid (?:json|tool|input|argument|parameter)|inputvalidation|404|not found \(http|exit(?:ed)?(?: with)?(?: status| code)|error task failed|lifecycle script|^-*\s*fail\b|build failed|setup failed|between tests|assert|expect(?:ed|\()|undefined|undeclared|cannot use|not used|unused|type error|typeerror|referenceerror|attributeerror|nameerror|traceback|panic|` +
		`\w\.\w+:\d+|downloading|sibling tool|timed out|deadline|temporar|try again|rate limit|overloaded|econn|lock file|index\.lock`)
	// looking matches calls that search. An empty result or a wrong pattern is not a failure of
	// such a call.
	looking = textutil.LazyRegexp(`^(?:\w+ )?(?:rg|grep|egrep|ag|find|ls|cat|head|tail|sed|awk|jq|wc|tree|stat|git (?:grep|log|show|diff|blame)|echo|cd|for|while|Read|Glob|Grep|Search|WebFetch|WebSearch|Edit|MultiEdit|Write|edit|write|read|apply_patch|str_replace\S*)(?:\s|$)`)
)

// failures counts in how many sessions the failures of a workspace's logs came up.
func (s *Snapshot) failures() map[string]int {
	seen, out := map[[2]string]bool{}, map[string]int{}
	for _, f := range s.Files {
		if !strings.Contains(f.Doc.Raw, " failed: ") || f.archived() {
			continue
		}
		of := sessionsOf(f.Entries)
		for j, e := range f.Entries {
			if fl, ok := failureOf(e.Plain); ok && of[j] != "" && !seen[[2]string{fl.sign(), of[j]}] {
				seen[[2]string{fl.sign(), of[j]}] = true
				out[fl.sign()]++
			}
		}
	}
	return out
}

// IsIdentity reports whether a file describes an agent.
func IsIdentity(file string) bool {
	name := path.Base(strings.ReplaceAll(file, `\`, "/"))
	return name == "SOUL.md" || name == "IDENTITY.md"
}

// important reports whether a text says in plain words that something matters. A quotation is
// another's words.
func important(words string) bool { return cuesOf(transcript.Unquoted(words))&cueImportant != 0 }

// DaysOf returns for each entry, by its [Key], on how many days the logs of a snapshot hold it.
// An entry of fewer than three words has nothing that could be used again.
func (s *Snapshot) DaysOf() map[string]int {
	last, days := map[string]string{}, map[string]int{}
	for _, f := range s.Files {
		if f.Date == "" || f.archived() {
			continue
		}
		for j := range f.Entries {
			if key := Key(f.Entries[j].Plain); strings.Count(key, " ") >= 2 && last[key] != f.Date {
				last[key] = f.Date
				days[key]++
			}
		}
	}
	return days
}

// Remembered returns a text that an agent wants kept in a file, with the tags written into it. The
// text is the agent's unless the tags call it a person's words.
func Remembered(path, text string, tags Tags) string {
	text = asAgent(text)
	if !tags.Said() {
		text = ByAgent(path, text)
	}
	return tagEntry(text, makeTags(tags...))
}

// tagEntry writes tags into a text that is about to become an entry. In a list it writes them
// into each item, else into the first line.
func tagEntry(text string, tags Tags) string {
	if len(tags) == 0 {
		return text
	}
	parts := strings.SplitAfter(text, "\n")
	tagged := false
	for i, l := range parts {
		if mark := bullet.FindString(l); strings.TrimSpace(mark) != "" && mark[0] != ' ' && mark[0] != '\t' {
			parts[i], tagged = addTags(l, tags, ""), true
		}
	}
	if tagged {
		return strings.Join(parts, "")
	}
	lead := len(text) - len(strings.TrimLeft(text, "\r\n"))
	return text[:lead] + addTags(text[lead:], tags, "")
}
