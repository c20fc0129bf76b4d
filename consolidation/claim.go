package consolidation

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/markdownstore"
)

// claim is one statement of an entry about a subject, in a form that can be compared with other
// claims.
type claim struct {
	// subject has the words that name the subject, sorted. said is the value as it is written.
	subject string
	// key is equal for subjects with the same words, in any order and number.
	key   string
	value value
	said  string
	file  *File
	entry *Entry
	line  int
	// label reports whether the subject is a label, which means something else
	// under another heading.
	label bool
	// loose reports that the words of a whole sentence are the subject.
	loose bool
	// text is the line of the claim.
	text string
}

var (
	// labelled is "**Label**: value" or "Label = value".
	labelled = textutil.LazyRegexp(`^[*_]{0,3}([\p{L}][^:：=*|]{0,60}?)[*_]{0,3}\s*[:：=]\s*[*_]{0,3}\s*(.{1,90})$`)
	// stated matches "The port of X is 5432" as a whole sentence, in a few languages.
	stated = textutil.LazyRegexp(`^(?:(?i:the|our|my|der|die|das|le|la|el)\s+)?([\p{L}\d][^.:;!?]{1,60}?)\s+(?:is|are|=|ist|sind|est|es|è|é)\s+(?:now\s+|set to\s+|at\s+|on\s+)?(.{1,60})$`)
	// statedHan is the form of stated for Chinese, where nothing is between the words.
	statedHan = textutil.LazyRegexp(`^([\p{Han}\p{L}\d ]{2,30}?)(?:是|为|為)\s*(.{1,40})$`)
	// attributed matches sentences that name an attribute, such as "X runs on port 5432".
	attributed = textutil.LazyRegexp(`(?i)^(.{2,60}?)\s+(?:(?:runs|listens|is running|is listening|lives|sits|is served|is reachable|läuft|lauscht|écoute|escucha)\s+)?(?:on|at|auf|sur|en)\s+(?:the\s+)?(port|version|branch|host|region)\s+([^\s,;()]{1,40})[.,;]?(?:\s+(.*))?$`)
	// versioned matches "uses Go 1.26", with any subject.
	versioned = textutil.LazyRegexp(`^(?:(?:(?i:we|i|it|the (?:project|service|server|team|app|machine)|this (?:project|machine))|[\p{Lu}][\p{L}-]*)\s+)?(?i:uses?|runs?(?: on)?|is on|are on|requires?|needs?|targets?)\s+([\p{Lu}][\p{L}.+#-]{1,20})\s+v?(\d+(?:\.\d+)+)$`)
	// placed matches "X lives in Y", where only one Y is possible.
	placed = textutil.LazyRegexp(`^(.{2,40}?)\s+(lives in|is based in|works at|works for|was born on|launches on|starts on|ends on|is due on|expires on|ships on|goes live on|(?:is|are) (?:scheduled|set|planned) for|takes? place on|happens? on|runs? on|runs? at|(?:uses|runs) version)\s+(.{2,40})$`)
	// owned matches "X owns Y" and "X is responsible for Y". A thing has only one owner.
	owned = textutil.LazyRegexp(`^(\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?) (?:owns|maintains|leads|(?:is|ist|es|est|è|é) (?:the owner of|responsible for|in charge of|responsable (?:de|del|du)|responsabile (?:di|del|della)|responsável (?:por|pelo|pela))) (.{3,60})$`)
	// ownedBy is the form of owned with the thing first.
	ownedBy = textutil.LazyRegexp(`^(?:Für (.{3,60}?) ist (\p{Lu}[\p{L}-]+) (?:zuständig|verantwortlich)|(.{2,40}?)由([\p{Han}\p{L}]{2,8})(?:负责|維護|维护|負責)|(.{3,60}?) is (?:owned|maintained|led) by (\p{Lu}[\p{L}'’-]+))$`)
	// ledBy matches "The lead of X is Y". leaderOf is the form of ledBy with the person first.
	ledBy    = textutil.LazyRegexp(`^(?:(?i:the|der|die|el|la|le|il|o|a|de) )?` + roles + ` (?:of|for|von|für|de|del|di|da|do|van) (.{3,60}) (?:is|ist|es|est|è|é) (\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?)$|^([^，,]{2,30}?)的?(?:负责人|負責人|主管|联系人|担当者)(?:是|は)([\p{Han}\p{L}]{2,8})$`)
	leaderOf = textutil.LazyRegexp(`^(\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?) (?:is|ist|es|est|è|é) (?:(?i:the|der|die|el|la|le|il|o|a|de) )?` + roles + ` (?:of|for|von|für|de|del|di|da|do|van) (.{3,60})$|^([\p{Han}\p{L}]{2,8})(?:是|は)([^，,]{2,30}?)(?:的|の)(?:负责人|負責人|主管|联系人|担当者)$`)
	// hasOne finds heads of columns that name such a person.
	hasOne = textutil.LazyRegexp(`(?i)^(?:who|wer|quién|quien|qui|chi|quem|wie|кто|谁|誰|` + roles + `)$|负责人|負責人|主管|联系人|担当`)
	// replaced are words by which an entry states that it replaces another, or
	// that something changed.
	replaced = textutil.LazyRegexp(`(?i)\b(?:supersed\w*|replac\w*|instead of|no longer|not any ?more|used to|formerly|previously|deprecated|obsolete|outdated|was (?:\S+ ){0,4}(?:now|until|before)|now (?:on|at|is)|moved? (?:from|to)|chang\w* (?:from|to)|switch\w* (?:from|to)|migrat\w*|upgrad\w*|renam\w*|bumped|raised|lowered|corrected|correction|instead|ersetzt|nicht mehr|früher|statt|geändert|remplac\w*|ne plus|auparavant|anciennement|reemplaz\w*|ya no|antes|cambiad\w*|sostitu\w*|não mais|substitu\w*)\b|→|->|=>|~~|不再|改为|改為|已改|取代|替代|替换|曾经|更新为|升级|升級|置き換え|変更|заменен|больше не|раньше|대체|변경`)
)

// changedBy are the strings of which a text must hold one if replaced is to match. They are looked
// for first, since replaced is slow.
var changedBy = strings.Fields("supersed replac instead longer more used formerly previously deprecated obsolete outdated was now move chang switch migrat upgrad renam bumped raised lowered correct ersetzt mehr früher statt geändert remplac plus auparavant anciennement reemplaz ya antes cambiad sostitu mais substitu" +
	" → -> => ~~ 不再 改为 改為 已改 取代 替代 替换 曾经 更新为 升级 升級 置き換え 変更 заменен больше раньше 대체 변경")

// roles are the roles of one person in a thing.
const roles = `(?i:owner|lead|leader|head|manager|maintainer|contact|leiter(?:in)?|verantwortliche[rn]?|ansprechpartner(?:in)?|jefe|jefa|responsable|encargad[oa]|chef|cheffe|responsabile|capo|responsável|eigenaar|leider)`

// small are words that name nothing.
var small = map[string]bool{
	"the": true, "a": true, "an": true, "of": true, "for": true, "on": true, "in": true, "at": true, "to": true, "is": true, "are": true, "our": true,
	"my": true, "its": true, "current": true, "currently": true, "default": true, "and": true, "this": true, "that": true, "it": true, "s": true,
	"der": true, "die": true, "das": true, "des": true, "le": true, "la": true, "les": true, "el": true, "de": true, "du": true, "uses": true, "runs": true,
}

// claims lists the claims of a file. Only entries that still hold claim anything. An entry that
// mentions a change claims nothing, since it names the old value too.
func claims(f *File) []claim {
	return slices.DeleteFunc(mayClaim(f), func(c claim) bool { return c.changed() })
}

// changed reports whether the entry of a claim mentions a change.
func (c *claim) changed() bool {
	text := c.entry.Plain + "\n" + strings.Join(c.entry.Trail, " ")
	return holdsAny(strings.ToLower(text), changedBy) && replaced.MatchString(text)
}

// mayClaim lists the claims of a file, and those of entries that mention a change. That is looked
// for last: it takes longest.
func mayClaim(f *File) []claim {
	if f.Shadowed || f.Err != nil || f.Kind == markdownstore.KindBuffer || f.Kind == markdownstore.KindRoutine || f.archived() {
		return nil
	}
	var out []claim
	for i := range f.Entries {
		e := &f.Entries[i]
		if e.State == StateSuperseded || len(e.Supersedes) > 0 || e.Kind == markdownstore.UnitQuote {
			continue
		}
		out = append(out, claimsOf(f, e)...)
	}
	return out
}

func claimsOf(f *File, e *Entry) []claim {
	switch {
	case e.State != StateNone:
		return taskClaim(f, e)
	case slices.ContainsFunc(e.Trail, past):
		return nil
	case e.Kind == markdownstore.UnitTable:
		return tableClaims(f, e)
	}
	found := entryClaims(f, e)
	if !e.Dated {
		found = append(found, wholeClaims(f, e)...)
	}
	return found
}

// past reports whether the text under a heading is about past facts or examples.
func past(heading string) bool {
	return slices.ContainsFunc(words(heading), func(w string) bool { return lexicon().bygone[w] }) || holdsAny(heading, lexicon().bygoneHan)
}

// wholeClaims reads the sentences of an entry. The lines of the entry are read as one text,
// except that each item is a text of its own.
func wholeClaims(f *File, e *Entry) []claim {
	if slices.ContainsFunc(e.Trail, turns) {
		return nil
	}
	var out []claim
	body := strings.Split(uncommented(e.Text), "\n")
	for i := 0; i < len(body); {
		n := e.StartLine + i
		text := strings.TrimSpace(bullet.ReplaceAllString(body[i], ""))
		for i++; i < len(body) && bullet.FindString(body[i]) == ""; i++ {
			text += " " + strings.TrimSpace(body[i])
		}
		text = untagged(text)
		for sentence := range cutAt(text, ". ", "; ", "! ", "。", "；", "！") {
			for _, c := range statements(strings.TrimRight(sentence, ".!。！ ")) {
				c.file, c.entry, c.line = f, e, n
				c.label = strings.ContainsAny(sentence, ":：=")
				c.text = text
				out = append(out, c)
			}
		}
	}
	return out
}

// untagged returns a line without its time and its tags, which may be in any order.
func untagged(s string) string {
	s, _ = CutTags(untimed(s))
	return untimed(s)
}

// turns reports whether a heading turns the text under it into its opposite.
func turns(heading string) bool {
	return slices.ContainsFunc(words(heading), func(w string) bool {
		return lexicon().negator[w] || w == "avoid" || w == "don" || strings.HasSuffix(lexicon().side[w], ":no") || strings.HasSuffix(lexicon().side[w], ":off")
	}) || holdsAny(heading, lexicon().negatorsHan) || strings.Contains(heading, "禁")
}

// scope returns the settings that a claim is about. These are the settings that the claim's line,
// its headings and its file name.
func (c *claim) scope() string {
	var out []string
	for _, s := range append([]string{c.text, c.file.Path, c.subject}, c.entry.Trail...) {
		for _, w := range words(s) {
			if lexicon().setting[w] {
				out = append(out, w)
			}
		}
		for _, w := range lexicon().settingsHan {
			if strings.Contains(s, w) {
				out = append(out, w)
			}
		}
	}
	for i, w := range out {
		switch w {
		case "prod", "produktion", "producción", "生产", "生產":
			out[i] = "production"
		case "stage":
			out[i] = "staging"
		case "dev", "entwicklung", "desarrollo", "开发", "開発":
			out[i] = "development"
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

// bracketed matches a text in brackets.
var bracketed = textutil.LazyRegexp(`[(（]([^()（）]*)[)）]`)

// aside returns the text in brackets in the line of a claim.
func (c *claim) aside() string {
	var out []string
	for _, m := range bracketed.FindAllStringSubmatch(c.text, -1) {
		out = append(out, m[1])
	}
	return keyOf(strings.Join(out, " "))
}

// taskClaim returns the claim that a task is open or done.
func taskClaim(f *File, e *Entry) []claim {
	if len(words(e.Plain)) < 3 {
		return nil
	}
	side := "progress:" + string(e.State)
	return []claim{{subject: "task: " + Key(e.Plain), key: "task: " + Key(e.Plain), value: value{kindState, side, "task"}, said: string(e.State), file: f, entry: e, line: e.StartLine}}
}

// entryClaims reads the lines of an entry. Each line is read separately, but a list item is read
// as one text.
func entryClaims(f *File, e *Entry) []claim {
	var out []claim
	body := uncommented(e.Text)
	n := e.StartLine - 1
	for l := range lines(body) {
		n++
		if !claimable(l) {
			continue
		}
		text := untagged(strings.TrimSpace(bullet.ReplaceAllString(l, "")))
		for sentence := range sentences(text) {
			if c, ok := sentenceClaim(sentence, e); ok {
				c.file, c.entry, c.line = f, e, n
				c.text = text
				out = append(out, c)
			}
		}
	}
	return out
}

// claimable reports whether any form may fit a line.
func claimable(l string) bool {
	low := " " + strings.ToLower(l)
	return strings.ContainsAny(l, ":：=是为為") || holdsAny(low, owners) || holdsAny(low, attributes) || holdsAny(low, places) || holdsAny(low, copulas)
}

// sentences cuts a line where a full stop, a semicolon or a bracket ends something.
func sentences(s string) func(yield func(string) bool) {
	return cutAt(s, ". ", "; ", "。", "；", " (")
}

// cutAt cuts a text at any of the ends, and yields the parts between.
func cutAt(s string, ends ...string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for rest := s; rest != ""; {
			at := len(rest)
			for _, end := range ends {
				if i := strings.Index(rest, end); i >= 0 && i < at {
					at = i
				}
			}
			part := strings.TrimSpace(rest[:at])
			if part != "" && !yield(part) {
				return
			}
			_, size := utf8.DecodeRuneInString(rest[at:])
			rest = rest[at+size:]
		}
	}
}

// The words without which a form can't fit. They are looked for first, since most sentences then
// need no expression.
var (
	attributes = []string{"port ", "version ", "branch ", "host ", "region "}
	places     = []string{" lives ", " based ", " works ", " born ", " launches ", " starts ", " ends ", " due ", " expires ", " ships ", " goes ", " use", " run", " requires ", " needs ", " targets ",
		" scheduled ", " set ", " planned ", " place ", " happen"}
	owners  = []string{" own", " maintain", " leads ", " led ", " respons", " charge", " zuständig", " verantwortlich", "由"}
	leaders = []string{"owner", "lead", "head", "manager", "maintainer", "contact", "leiter", "verantwortlich", "ansprechpartner", "jefe", "jefa", "respons", "encargad", "chef", "capo", "eigenaar", "leider",
		"负责人", "負責人", "主管", "联系人", "担当者"}
	copulas = []string{" is ", " are ", " = ", " ist ", " sind ", " est ", " es ", " è ", " é "}
)

func holdsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// sentenceClaim reads one sentence by the first form that fits it.
func sentenceClaim(s string, e *Entry) (claim, bool) {
	s = strings.TrimRight(s, ".!。")
	low := strings.ToLower(s)
	if holdsAny(low, attributes) {
		if m := attributed.FindStringSubmatch(s); m != nil {
			return makeClaim(m[1]+" "+m[2]+" "+m[4], m[3], nil)
		}
	}
	if m := ownerOf(s, low); m != nil {
		return makeClaim(m[0]+" owner", m[1], nil)
	}
	if m := versionOf(s); m != nil {
		return makeClaim(m[1]+" version", m[2], nil)
	}
	if len(low) <= mostStated && holdsAny(low, places) {
		if m := placed.FindStringSubmatch(s); m != nil {
			return placedClaim(m[1], m[2], m[3])
		}
	}
	if at := strings.IndexAny(s, ":：="); at >= 0 && len(s)-at <= mostLabelled {
		if m := labelled.FindStringSubmatch(s); m != nil && !strings.HasPrefix(m[2], "//") {
			c, ok := makeClaim(m[1], m[2], labelTrail(e))
			c.label = true
			return c, ok
		}
	}
	return statedClaim(s, low)
}

// mostLabelled is the most bytes of a label's value that valueOf may read, with the marks round it.
// mostStated is the most bytes that placed, stated and statedHan match.
const mostLabelled, mostStated = 120, 4 * 160

// placing maps the verbs of placed to the words that labels use for their claims. For the other
// verbs the verb itself is part of the subject.
var placing = map[string]string{
	"lives in": "home", "is based in": "home", "works at": "employer", "works for": "employer", "was born on": "birthday",
	"launches on": "launch date", "goes live on": "launch date", "starts on": "start date", "ends on": "end date", "is due on": "due date",
	"expires on": "expiry date", "ships on": "ship date", "uses version": "version", "runs version": "version",
}

// placedClaim reads "X lives in Y".
func placedClaim(subject, verb, said string) (claim, bool) {
	attr, ok := placing[verb]
	v, valued := valueOf(said)
	switch {
	case ok:
	case valued && v.kind == kindDate:
		attr = "date"
	case strings.HasSuffix(verb, " on") && valued && v.kind == kindVersion:
		attr = "" // "the database runs on PostgreSQL 15"
	default:
		attr = verb
		if v.kind == kindName {
			return claim{}, false // a thing that runs on Linux may run on a Tuesday
		}
	}
	return makeClaim(subject+" "+attr, said, nil)
}

// labelTrail returns the subject that labels of one word belong to. Labels at the top of USER.md
// belong to the user.
func labelTrail(e *Entry) []string {
	if e.Path == "USER.md" && len(e.Trail) <= 1 {
		return []string{"user"}
	}
	return append([]string{""}, e.Trail...)
}

// ownerOf finds a responsibility, and the person who has it.
func ownerOf(s, low string) []string {
	if holdsAny(low, leaders) {
		if m := ledBy.FindStringSubmatch(s); m != nil {
			return []string{m[1] + m[3], m[2] + m[4]}
		}
		if m := leaderOf.FindStringSubmatch(s); m != nil {
			return []string{m[2] + m[4], m[1] + m[3]}
		}
	}
	if !holdsAny(low, owners) {
		return nil
	}
	if m := owned.FindStringSubmatch(s); m != nil {
		return []string{m[2], m[1]}
	}
	if m := ownedBy.FindStringSubmatch(s); m != nil {
		return []string{m[1] + m[3] + m[5], m[2] + m[4] + m[6]}
	}
	return nil
}

// versionOf matches a sentence that ends with a number against the form "uses Go 1.26".
func versionOf(s string) []string {
	if s == "" || s[len(s)-1] < '0' || s[len(s)-1] > '9' {
		return nil
	}
	return versioned.FindStringSubmatch(s)
}

// statedClaim reads "X is 5". After a name "is" has more than one meaning.
func statedClaim(s, low string) (claim, bool) {
	var m []string
	switch {
	case len(low) > mostStated:
	case holdsAny(low, copulas):
		m = stated.FindStringSubmatch(s)
	case strings.ContainsAny(s, "是为為"):
		m = statedHan.FindStringSubmatch(s)
	}
	if m == nil {
		return claim{}, false
	}
	c, ok := makeClaim(m[1], m[2], nil)
	return c, ok && c.value.kind != kindName
}

// general are labels of versions that don't name a product.
var general = map[string]bool{"release": true, "tag": true, "latest": true, "installed": true, "current": true, "update": true, "status": true, "schema": true, "format": true, "score": true, "rating": true}

// mostSubject is the most words of a subject. Longer texts are sentences.
const mostSubject = 6

// makeClaim makes a claim from a subject and a value. A label of one word ("Port", "Status")
// belongs to the innermost heading.
func makeClaim(subject, said string, trail []string) (claim, bool) {
	v, ok := valueOf(said)
	if !ok {
		return claim{}, false
	}
	names := subjectWords(subject)
	if v.kind == kindNumber && v.unit == "" && versionWord.MatchString(subject) {
		v.kind = kindVersion // 16, compared with 16.2
	}
	if v.kind == kindVersion && v.unit == "" && !slices.Contains(names, "version") && len(names) == 1 && !general[names[0]] {
		names, trail = append(names, "version"), nil // "Go: 1.26" names the product of the version
	}
	if len(names) == 1 && trail != nil {
		above := subjectWords(trail[len(trail)-1])
		if len(above) == 0 || len(above) > mostSubject {
			return claim{}, false
		}
		names = append(names, above...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 || len(names) == 1 && trail == nil && len([]rune(names[0])) < 3 || len(names) > 2*mostSubject {
		return claim{}, false
	}
	subject = strings.Join(names, " ")
	return claim{subject: subject, key: keyOf(subject), value: v, said: strings.Trim(said, "*_ ")}, true
}

// subjectWords returns only the words that name something. A run of a script without spaces is
// one word here, since its single characters are not names.
func subjectWords(s string) []string {
	s = strings.TrimSuffix(strings.TrimSpace(s), "'s")
	var out []string
	glue := false
	for _, w := range words(s) {
		r, _ := utf8.DecodeRuneInString(w)
		switch {
		case ideograph(r) && glue:
			out[len(out)-1] += w
		case small[w]:
			glue = false
			continue
		default:
			out = append(out, w)
		}
		glue = ideograph(r)
	}
	return out
}

var (
	ruleOfTable = textutil.LazyRegexp(`^[\s|:-]+$`)
	// plainColumn matches heads of columns that only announce a value. plainRow matches labels of
	// rows that name nothing.
	plainColumn = textutil.LazyRegexp(`(?i)^(?:value|values|setting|wert|valor|valeur|valore|waarde|значение|值|取值|current|now|details?|info)$`)
	plainRow    = textutil.LazyRegexp(`^[\d\s.#:/年月日-]*$`)
)

// tableClaims reads a table. The heads of the columns name the properties that each row claims of
// its first cell. Tables of ongoing work, such as tasks or runs, claim nothing. The rows of such
// tables are labelled with dates or numbers, or occur twice.
func tableClaims(f *File, e *Entry) []claim {
	rows := strings.Split(uncommented(e.Text), "\n")
	if len(rows) < 3 || !ruleOfTable.MatchString(rows[1]) || !f.Evergreen() || e.Dated {
		return nil
	}
	heads := cells(rows[0])
	labels := map[string]int{}
	for _, r := range rows[2:] {
		if cs := cells(r); len(cs) > 0 {
			labels[keyOf(cs[0])]++
		}
	}
	var out []claim
	for i, r := range rows[2:] {
		cs := cells(r)
		if len(cs) == 0 || len(cs) > len(heads) || plainRow.MatchString(cs[0]) || labels[keyOf(cs[0])] > 1 || replaced.MatchString(r) {
			continue
		}
		for j := 1; j < len(cs); j++ {
			head := heads[j]
			if plainColumn.MatchString(head) {
				head = ""
			}
			c, ok := makeClaim(cs[0]+" "+head, cs[j], nil)
			if !ok || c.value.kind == kindName && !hasOne.MatchString(heads[j]) || strings.HasPrefix(c.value.text, "progress:") || head == "" && len(heads) > 2 {
				continue
			}
			c.file, c.entry, c.line, c.label = f, e, e.StartLine+2+i, true
			c.text = r
			out = append(out, c)
		}
	}
	return out
}

// cells returns the cells of a row, without the pipes.
func cells(row string) []string {
	row = strings.Trim(strings.TrimSpace(row), "|")
	if row == "" {
		return nil
	}
	out := strings.Split(row, "|")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}
