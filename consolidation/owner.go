package consolidation

import (
	"path"
	"regexp"
	"strings"
	"unicode"
)

// What an owning file takes, by the heading that a fact stands under or by what it
// says.
var (
	aboutUser  = regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:user|human|owner|operator|opérateur|preferences?|préférences|person(?:al)?|family|familie|contact|benutzer|usuario|utilisateur)(?:[^\p{L}]|$)|用户|主人|偏好|个人`)
	aboutTools = regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:tools?|tooling|infra(?:structure)?|servers?|hosts?|ssh|docker|ports?|deploy(?:ment)?s?|environment|database|vps|network|cli|setup|werkzeuge?|outils?|herramientas)(?:[^\p{L}]|$)|工具|环境|配置|部署|基础设施`)
	aboutAgent = regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:identity|who i am|about me|self|persona|identité|identität|identidad)(?:[^\p{L}]|$)|身份|自我`)
)

// owner is the file that a fact belongs to. An owning file must exist, be among
// Owners and have room; else a topic file below memory/ takes it, by the heading that
// it stood under, or by its tag.
func (r *pruner) owner(e *Entry, trail []string) string {
	heading := ""
	for _, h := range trail {
		if firstDate(h) == "" {
			heading += " " + h
		}
	}
	said := ""
	if e != nil {
		said = e.Plain
	}
	switch {
	case e != nil && e.Tags.Has(Identity) && r.takes("IDENTITY.md"), aboutAgent.MatchString(heading) && r.takes("IDENTITY.md"):
		return "IDENTITY.md"
	case aboutUser.MatchString(heading) && r.takes("USER.md"), e != nil && e.Tags.Has(Human) && speaksOfUser.MatchString(said) && r.takes("USER.md"):
		return "USER.md"
	case aboutTools.MatchString(heading) && r.takes("TOOLS.md"):
		return "TOOLS.md"
	}
	return topic(e, trail)
}

// takes tells whether an owning file can be given more.
func (r *pruner) takes(name string) bool {
	f := r.File(name)
	if f == nil || f.Err != nil || f.Doc.Binary {
		return false
	}
	for _, o := range r.Owners {
		if o == name {
			return len([]rune(f.Doc.Raw))+len([]rune(r.added[name])) < r.OwnerChars
		}
	}
	return false
}

// topics are the files of facts whose heading says nothing: curated sections have
// dates for headings.
var topics = map[Tag]string{Decision: "decisions", Lesson: "lessons", Surprise: "surprises", Human: "wishes", Identity: "identity"}

// topic is a file below memory/.
func topic(e *Entry, trail []string) string {
	for _, h := range trail {
		if firstDate(h) != "" && strings.Trim(isoDate.ReplaceAllString(h, ""), " -—–:()[]") == "" {
			continue
		}
		if s := topicName(h); s != "" {
			return "memory/" + s + ".md"
		}
	}
	name := "notes"
	if e != nil {
		for _, t := range AllTags() {
			if e.Tags.Has(t) {
				name = topics[t]
				break
			}
		}
	}
	return "memory/" + name + ".md"
}

// mostSlug is how long a file's name gets, in characters.
const mostSlug = 40

// reserved are names below memory/ that mean something else.
var reserved = map[string]bool{"observations": true, "working-buffer": true, "session-state": true, "memory": true}

// topicName makes a file's name of a heading: its letters and digits, without a date.
func topicName(h string) string {
	h, _, _ = strings.Cut(isoDate.ReplaceAllString(h, " "), "(")
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(h) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte('-')
		}
		gap = false
		b.WriteRune(r)
	}
	out := []rune(b.String())
	s := strings.Trim(string(out[:min(len(out), mostSlug)]), "-")
	switch {
	case reserved[s], digits.MatchString(s):
		s += "-notes"
	}
	if s == "-notes" || path.Base(s) == "." {
		return ""
	}
	return s
}

// digits is a name that could be read as a date.
var digits = regexp.MustCompile(`\d{4}[-_.]?\d{2}|^\d`)
