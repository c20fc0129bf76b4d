package consolidation

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/ledger"
	"github.com/memkernel/memkernel/markdownstore"
)

// These patterns match the headings whose facts belong in USER.md, TOOLS.md and IDENTITY.md. These
// three files are the owning files.
var (
	aboutUser  = textutil.LazyRegexp(`(?i)(?:^|[^\p{L}])(?:user|human|owner|operator|opérateur|preferences?|préférences|person(?:al)?|family|familie|contact|benutzer|usuario|utilisateur)(?:[^\p{L}]|$)|用户|主人|偏好|个人`)
	aboutTools = textutil.LazyRegexp(`(?i)(?:^|[^\p{L}])(?:tools?|tooling|infra(?:structure)?|servers?|hosts?|ssh|docker|ports?|deploy(?:ment)?s?|environment|database|vps|network|cli|setup|werkzeuge?|outils?|herramientas)(?:[^\p{L}]|$)|工具|环境|配置|部署|基础设施`)
	aboutAgent = textutil.LazyRegexp(`(?i)(?:^|[^\p{L}])(?:identity|who i am|about me|self|persona|identité|identität|identidad)(?:[^\p{L}]|$)|身份|自我`)
)

// owner returns the path of the file that a moved fact goes to. It is an owning file only if that
// file exists and has room. Otherwise it is a topic file below memory/, which the headings in trail
// or the entry's tags name.
func (r *pruner) owner(e *Entry, trail []string) string {
	heading := strings.Join(slices.DeleteFunc(slices.Clone(trail), func(h string) bool { return firstDate(h) != "" }), " ")
	said, tags := "", Tags(nil)
	if e != nil {
		said, tags = e.Plain, e.Tags
	}
	switch {
	case (tags.has(identity) || aboutAgent.MatchString(heading)) && r.takes("IDENTITY.md"):
		return "IDENTITY.md"
	case (aboutUser.MatchString(heading) || tags.has(human) && cuesOf(said)&cuePerson != 0) && r.takes("USER.md"):
		return "USER.md"
	case aboutTools.MatchString(heading) && r.takes("TOOLS.md"):
		return "TOOLS.md"
	}
	return r.topic(e, trail)
}

// takes reports whether more text may be added to an owning file.
func (r *pruner) takes(name string) bool {
	f := r.snap.File(name)
	return f != nil && f.Err == nil && !f.Doc.Binary && !r.endsOpen(name) && utf8.RuneCountInString(f.Doc.Raw+arranged(r.gifts.of[name])) < r.OwnerChars
}

// topics has the topic file for each tag. It serves the facts whose headings name no topic, such as
// the facts under a date.
var topics = map[tag]string{decision: "decisions", lesson: "lessons", surprise: "surprises", human: "wishes", identity: "identity"}

// topic returns the path of a topic file below memory/. It records the title with which a new file
// begins.
func (r *pruner) topic(e *Entry, trail []string) string {
	name, title := "", ""
	for _, h := range trail {
		if firstDate(h) != "" && strings.Trim(isoDate.ReplaceAllString(h, ""), " -—–:()[]") == "" {
			continue
		}
		if name = topicName(h); name != "" {
			title = titleOf(h)
			break
		}
	}
	if about := r.about(e); name == "" && about != "" {
		return about
	}
	if name == "" {
		name = "notes"
		if e != nil && len(e.Tags) > 0 {
			name = topics[e.Tags[0]]
		}
		title = strings.ToUpper(name[:1]) + name[1:] // one of our own names
	}
	to := r.spelled("memory/" + name + ".md")
	for n := 2; r.endsOpen(to); n++ {
		to = r.spelled("memory/" + name + "-" + itoa(n) + ".md")
	}
	if r.titles[to] == "" {
		r.titles[to] = title
	}
	return to
}

// about returns the topic file whose whole name is in an entry, "" if there is none. Of several it
// returns the one with the longest name.
func (r *pruner) about(e *Entry) string {
	if e == nil {
		return ""
	}
	said, best, longest := words(e.Plain), "", 0
	for _, f := range r.snap.Files {
		if c, own := markdownstore.Classify(f.Path); !own || c.Kind != markdownstore.KindTopic || f.Err != nil || f.Doc.Binary || f.UTF16 || f.archived() {
			continue
		}
		name := words(strings.TrimSuffix(path.Base(f.Path), ".md"))
		if ledger.Gist(strings.Join(name, " ")) != "" && shareOf(name, said) == 1 && len(name) > longest && !r.endsOpen(f.Path) {
			best, longest = f.Path, len(name)
		}
	}
	return best
}

// spelled returns a path in the spelling that is in use already, if there is one. A file system
// may not distinguish names that differ only in case.
func (r *pruner) spelled(name string) string {
	used := slices.Clone(r.gifts.keys)
	for _, f := range r.snap.Files {
		used = append(used, f.Path)
	}
	if i := slices.IndexFunc(used, func(to string) bool { return strings.EqualFold(to, name) }); i >= 0 {
		return used[i]
	}
	return name
}

// titleOf returns a heading as a title, which is the heading as it is written, without its date.
func titleOf(h string) string {
	t, _, _ := strings.Cut(isoDate.ReplaceAllString(h, " "), "(")
	if t = strings.Trim(oneLine(t), " -—–:：,;[]"); t != "" {
		return t
	}
	return oneLine(h)
}

// mostSlug is the most characters of a file's name, and mostSlugBytes the most bytes. File systems
// allow 255 bytes.
const mostSlug, mostSlugBytes = 40, 200

// reserved has the names below memory/ that have another meaning. devices matches the names that
// Windows reserves.
var (
	reserved = map[string]bool{"observations": true, "working-buffer": true, "session-state": true, "memory": true}
	devices  = textutil.LazyRegexp(`^(?:con|prn|aux|nul|conin|conout|(?:com|lpt)[0-9])$`)
)

// topicName makes a file's name from a heading. The name has the heading's letters and digits in
// any script, with their combining marks, and leaves out a date.
func topicName(h string) string {
	h, _, _ = strings.Cut(isoDate.ReplaceAllString(h, " "), "(")
	var b strings.Builder
	gap, letter := false, false
	for _, c := range strings.ToLower(strings.ToValidUTF8(h, " ")) {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !(letter && (unicode.IsMark(c) || c == '\u200c' || c == '\u200d')) {
			gap, letter = b.Len() > 0, false
			continue
		}
		if gap {
			b.WriteByte('-')
		}
		gap, letter = false, true
		b.WriteRune(c)
	}
	s := strings.Trim(headOf(b.String(), mostSlug, mostSlugBytes), "-")
	if reserved[s] || devices.MatchString(s) || digits.MatchString(s) {
		s += "-notes"
	}
	return s
}

// headOf returns the beginning of a text, with at most n characters as they are read, and at most
// the given number of bytes.
func headOf(s string, n, bytes int) string {
	end := 0
	for g := uniseg.NewGraphemes(s); n > 0 && g.Next(); n-- {
		if _, to := g.Positions(); to > bytes {
			break
		} else {
			end = to
		}
	}
	return s[:end]
}

// digits matches a name that could be read as a date.
var digits = textutil.LazyRegexp(`\d{4}[-_.]?\d{2}|^\d`)

// insert sets the new text of a topic file that only upkeep wrote to: its old text with gifts, the
// newest day first.
func (c *Change) insert(gifts []gift) {
	lines := strings.SplitAfter(strings.TrimRight(strings.ReplaceAll(c.Before, "\r\n", "\n"), "\n")+"\n", "\n")
	for n := 1; len(gifts) > 0; gifts, n = gifts[n:], 1 {
		for n < len(gifts) && slices.Equal(gifts[n].trail, gifts[0].trail) {
			n++
		}
		day, text := gifts[0].day(), arranged(gifts[:n])
		c.added = append(c.added, text)
		at := slices.IndexFunc(lines, func(l string) bool {
			d, ok := strings.CutPrefix(strings.TrimSpace(l), "## ")
			return ok && day != "" && firstDate(d) == d && d <= day
		})
		switch {
		case at < 0:
			lines = append(lines, "\n"+text)
			continue
		case strings.TrimSpace(lines[at]) == "## "+day:
			for at++; at < len(lines) && strings.TrimSpace(lines[at]) == ""; at++ {
			}
			_, text, _ = strings.Cut(text, "\n\n") // the heading is there
		}
		if !isItem(gifts[n-1].text) || at < len(lines) && !bulleted.MatchString(lines[at]) {
			text += "\n"
		}
		lines = slices.Insert(lines, at, text)
	}
	c.Text = strings.TrimRight(strings.Join(lines, ""), "\n") + "\n"
}
