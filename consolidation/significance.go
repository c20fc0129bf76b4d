package consolidation

import (
	"path"
	"strings"

	"github.com/memkernel/memkernel/internal/lazyregexp"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/transcript"
)

// IsIdentity reports whether a file is about what an agent is.
func IsIdentity(file string) bool {
	name := path.Base(strings.ReplaceAll(file, `\`, "/"))
	return name == "SOUL.md" || name == "IDENTITY.md"
}

// important matches the words by which people state that something matters to
// them, in the languages that we were sure of.
var important = lazyregexp.New(`(?i)(?:^|[^\p{L}])(?:` +
	`important(?:ly)?|crucial|critical|essential|always|never(?: again| ever)?|must(?: not|n'?t)?|from now on|make sure|i (?:really )?(?:want|need|insist|care|hate|love|prefer)|` +
	`don'?t (?:ever|forget)|remember|non-?negotiable|` +
	`wichtig|unbedingt|niemals|nie wieder|ab jetzt|ab sofort|ich will|ich möchte|merk dir|vergiss nicht|` +
	`siempre|nunca|importante|a partir de ahora|quiero que|no olvides|recuerda|` +
	`toujours|jamais|essentiel|désormais|à partir de maintenant|je veux|n'oublie pas|` +
	`sempre|mai più|d'ora in poi|voglio|ricorda|nunca mais|a partir de agora|quero que|` +
	`важно|всегда|никогда|обязательно|запомни|viktigt?|alltid|aldri(?:g)?|` +
	`altijd|nooit|belangrijk|ważne|zawsze|nigdy|önemli|her zaman|asla` +
	`)(?:[^\p{L}]|$)|重要|必须|必須|务必|一定要|千万|总是|总要|永远|绝不|从不|记住|記住|今后|以后都|大事|必ず|絶対|いつも|二度と|覚えて|중요|반드시|항상|절대|기억해`)

// Important reports whether somebody says in plain words that something matters. What
// they quote is another's.
func Important(words string) bool { return important.MatchString(transcript.Unquoted(words)) }

// DaysOf counts on how many days the logs of a snapshot hold each entry, by its
// [Key]. An entry of fewer than three words holds nothing that could be used
// again.
func (s *Snapshot) DaysOf() map[string]int {
	days := map[string]map[string]bool{}
	for i := range s.Files {
		f := &s.Files[i]
		if f.Tier != markdownstore.TierDated || f.archived() {
			continue
		}
		for key := range Sayings(f.Entries) {
			if days[key] == nil {
				days[key] = map[string]bool{}
			}
			days[key][f.Date] = true
		}
	}
	out := make(map[string]int, len(days))
	for key, d := range days {
		out[key] = len(d)
	}
	return out
}

// Sayings returns the keys of entries that have content.
func Sayings(entries []Entry) map[string]bool {
	out := map[string]bool{}
	for i := range entries {
		if key := Key(entries[i].Plain); strings.Count(key, " ") >= 2 {
			out[key] = true
		}
	}
	return out
}

// TagEntry writes tags into a text that is about to become an entry: into each item
// of a list, else into its first line.
func TagEntry(text string, tags Tags) string {
	if len(tags) == 0 {
		return text
	}
	parts := strings.SplitAfter(text, "\n")
	tagged := false
	for i, l := range parts {
		if mark := bullet.FindString(l); strings.TrimSpace(mark) != "" && mark[0] != ' ' && mark[0] != '\t' {
			parts[i], tagged = addTags(l, tags), true
		}
	}
	if tagged {
		return strings.Join(parts, "")
	}
	lead := len(text) - len(strings.TrimLeft(text, "\r\n"))
	return text[:lead] + addTags(text[lead:], tags)
}
