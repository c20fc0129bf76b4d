package consolidation

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/lazyregexp"
)

// What a sentence says without its value is its frame: "The mailer is reviewed on" of
// "The mailer is reviewed on Mondays". Sentences of one frame with values of one kind
// claim things of one subject, in any language, whether or not one of the forms of
// claims fits them. Scopes, conditions and the past are words of the frame, so that
// what holds elsewhere or held before has another. With no value, what is compared is
// whether the sentence is negated.

// leastFrame is how many words a frame has at least; of fewer than sureFrame the heading
// has to be the same. Two characters of a script without spaces count as one.
const leastFrame, sureFrame = 2, 3

// mostValues is how many values a sentence has at most: longer lists are not one claim.
const mostValues = 3

// mostFrame is how many bytes a sentence has at most.
const mostFrame = 200

var (
	// measured are words of what was measured or happened once, not of what holds.
	measured = lazyregexp.New(`(?i)(?:^|[^\p{L}])(?:took|takes|lasted|ran for|was|were|had|passed|passing|failed|fixed|added|covers?|dauerte|war|waren|hatte|decken|tardó|fue|fueron|duró|cubren|était|étaient|durait|era|eran|foi|duurde|было|были|заняло|so far|in a row|streak|consecutive|bisher|hasta ahora)(?:[^\p{L}]|$)|连续|累计|已经|至今|用时|耗时|历时|覆盖|曾|かかった`)
	// edited are words of the day on which a text was written.
	edited = lazyregexp.New(`(?i)(?:^|[^\p{L}])(?:updated?|created|modified|edited|added|generated|written|as of|since|aktualisiert|erstellt|geändert|stand|seit|actualizado|creado|desde|mis à jour|créé|depuis|aggiornato|atualizado|bijgewerkt|обновлено)(?:[^\p{L}]|$)|更新|创建|修改|截至|自从|作成`)
	// guessed are words of values that are not meant exactly, and of mere ideas.
	guessed = lazyregexp.New(`(?i)[~≈<>≤≥±?？]|(?:^|[^\p{L}])(?:(?:about|around|roughly|approx\p{L}*|almost|nearly|etwa|ungefähr|circa|ca\.?|rund|unos|aproximadamente|environ|cerca de|ongeveer|около|примерно) \d|` +
		`(?:up to|at least|at most|maybe|perhaps|might|could|e\.g|for example|vielleicht|mindestens|höchstens|bis zu|z\. ?b|quizás?|tal vez|al menos|hasta|por ejemplo|peut-être|au moins|jusqu'à|par exemple|forse|almeno|talvez|misschien|возможно)(?:[^\p{L}]|$))|大约|左右|可能|也许|至少|最多|例如|比如|約|たぶん`)
	// denied are the words that negate a sentence; "kein" leaves the article that it
	// stands for.
	denied = lazyregexp.New(`(?i)(?:^|[^\p{L}])(?:do(?:es)?n['’]t|do(?:es)? not|(?:is|are|must|should|can|may|will) not|(?:isn|aren|mustn|shouldn|won)['’]t|can(?:not|['’]t)|not|never|no|nicht|nie|niemals|kein(?:e[nmrs]?)?|no|nunca|jamás|ne|n['’]|pas|jamais|aucune?|non|mai|nessun\w?|não|nunca|niet|nooit|geen|не|никогда|нельзя)(?:\s+|$)|从不|绝不|决不|从未|不可以|不要|不得|无需|毋须|不|没有|未|请勿|切勿|勿|ません|ない`)
	// notYet are words by which a negation is of now alone, or only half of it.
	notYet = lazyregexp.New(`(?i)(?:^|[^\p{L}])(?:yet|only|just|but|any ?more|longer|noch|nur|mehr|sondern|todavía|aún|solo|sólo|más|encore|plus|seulement|ancora|più|solo|ainda|só|mais|nog|meer|ещё|еще|больше|только)(?:[^\p{L}]|$)|还没|尚未|只|不仅|不只|まだ|だけ`)
	// owned is who has a thing that has one owner.
	owned = []*lazyregexp.Regexp{
		lazyregexp.New(`^(?P<who>[\p{Lu}][\p{L}'’-]+(?: [\p{Lu}][\p{L}'’-]+)?) (?:owns|leads|runs the team of|is (?:responsible for|in charge of|the owner of|the lead of)|leitet|verantwortet|ist (?:verantwortlich|zuständig) für|es (?:el |la )?responsable de|est responsable d[eu']|è responsabile d\p{L}*|é responsável p\p{L}*|is verantwoordelijk voor|отвечает за) (?P<what>.{3,60})$`),
		lazyregexp.New(`^(?P<what>.{3,60}) (?:is owned by|is led by|wird (?:geleitet|verantwortet) von) (?P<who>[\p{Lu}][\p{L}'’-]+(?: [\p{Lu}][\p{L}'’-]+)?)$`),
		lazyregexp.New(`^Für (?P<what>.{3,60}) ist (?P<who>[\p{Lu}][\p{L}'’-]+(?: [\p{Lu}][\p{L}'’-]+)?) (?:zuständig|verantwortlich)$`),
		lazyregexp.New(`^(?:(?i:the|der|die|el|la|le|il|o|a|de) )?` + roles + ` (?:of|for|von|für|de|del|di|da|do|van) (?P<what>.{3,60}) (?:is|ist|es|est|è|é) (?P<who>[\p{Lu}][\p{L}'’-]+(?: [\p{Lu}][\p{L}'’-]+)?)$`),
		lazyregexp.New(`^(?P<who>[\p{Lu}][\p{L}'’-]+(?: [\p{Lu}][\p{L}'’-]+)?) (?:is|ist|es|est|è|é) (?:(?i:the|der|die|el|la|le|il|o|a|de) )?` + roles + ` (?:of|for|von|für|de|del|di|da|do|van) (?P<what>.{3,60})$`),
		lazyregexp.New(`^(?P<what>[^，,]{2,30}?)的?(?:负责人|負責人|主管|联系人|担当者)(?:是|は)(?P<who>[\p{Han}\p{L}]{2,8})$`),
		lazyregexp.New(`^(?P<who>[\p{Han}\p{L}]{2,8})(?:是|は)(?P<what>[^，,]{2,30}?)(?:的|の)(?:负责人|負責人|主管|联系人|担当者)$`),
		lazyregexp.New(`^За (?P<what>.{3,60}) отвечает (?P<who>[\p{Lu}][\p{L}-]+)$`),
		lazyregexp.New(`^(?P<what>[^，,]{2,30}?)(?:是)?由(?P<who>[\p{Han}\p{L}]{2,8})(?:负责|負責|主管)$`),
		lazyregexp.New(`^(?P<who>[\p{Han}]{2,3})(?:负责|負責|主管)(?P<what>[^，,]{2,30})$`),
	}
)

// roles are what somebody is of a thing that has one of them.
const roles = `(?i:owner|lead|leader|head|manager|maintainer|contact|leiter(?:in)?|verantwortliche[rn]?|ansprechpartner(?:in)?|jefe|jefa|responsable|encargad[oa]|dueñ[oa]|chef|cheffe|responsabile|capo|responsável|dono|eigenaar|leider)`

// hasOne finds heads of columns that name such a person.
var hasOne = lazyregexp.New(`^(?i:who|wer|quién|quien|qui|chi|quem|wie|кто|谁|誰)$|^` + roles + `$|负责人|負責人|主管|联系人|担当`)

// frameWords are words that a frame can do without: articles and the verbs that only
// join a subject with its value.
var frameWords = wordSet(`the a an our my its their this that is are be been being now we i you it they he she currently
	does do did has have will of s t
	der die das des dem den ein eine einen einem einer eines jede jeder jedes jeden jedem ist sind wird werden wir ich es sie er am im
	el la los las un una unos unas se es está están son del al lo su
	le les l un une des du est sont ce cette nous on il elle
	il lo gli i uno è sono del della o os as um uma é são do da dos das
	het een de zijn wordt we in`)

// classes name what kind of thing something is; beside its name they say nothing.
var classes = wordSet(`service server dienst servicio servizio serviço сервис`)

func wordSet(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(s) {
		out[w] = true
	}
	return out
}

// frameClaims reads a sentence as a frame and a value, for each kind of value that it
// has once; without a value that can be compared, as a statement or its negation.
func frameClaims(s string) []claim {
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune("`*_\"“”„«»", r) {
			return -1
		}
		return r
	}, strings.TrimRight(s, ".!。 "))
	if len(s) > mostFrame || strings.ContainsAny(s, ":：=|→") && !strings.Contains(s, "://") && labelled.MatchString(s) || guessed.MatchString(s) {
		return nil
	}
	if c, ok := ownerClaim(s); ok {
		return []claim{c}
	}
	values := valuesIn(s)
	if len(values) > mostValues {
		return nil
	}
	var out []claim
	for i, at := range values {
		if slices.IndexFunc(values, func(o found) bool { return o.kind == at.kind }) != i {
			continue // of several the frame is one's for the other
		}
		if at.kind == kindDuration && measured.MatchString(s) || at.kind == kindDate && edited.MatchString(s) {
			continue
		}
		v, rest := at.value, s
		if at.kind == kindWeekday {
			v, rest = daysOf(values, s)
		} else if slices.ContainsFunc(values[i+1:], func(o found) bool { return o.kind == at.kind }) {
			continue
		} else {
			rest = s[:at.from] + " " + s[at.to:]
		}
		if at.kind != kindState && denied.MatchString(rest) {
			continue
		}
		out = appendFrame(out, rest, v, s[at.from:at.to])
	}
	return appendPolarity(out, s, values)
}

// appendFrame adds the claim of a frame, if it is long enough to name something.
func appendFrame(out []claim, rest string, v value, said string) []claim {
	ws := frameOf(rest)
	n := weightOf(ws)
	if n < leastFrame {
		return out
	}
	return append(out, claim{subject: strings.Join(ws, " "), frame: true, value: v, said: strings.TrimSpace(said), short: n < sureFrame && v.kind != kindPolarity})
}

// appendPolarity adds whether a sentence is negated.
func appendPolarity(out []claim, s string, values []found) []claim {
	if slices.ContainsFunc(values, func(at found) bool { return at.kind == kindState }) || notYet.MatchString(s) || strings.HasPrefix(s, "(") {
		return out
	}
	if len(values) == 0 && weightOf(frameOf(s)) < sureFrame {
		return out // a remark
	}
	at := denied.FindAllStringIndex(s, -1)
	if len(at) > 0 && strings.HasPrefix(strings.ToLower(s), "no ") {
		return out // of a thing that is not there, which is not what is there
	}
	switch len(at) {
	case 0:
		return appendFrame(out, s, value{kind: kindPolarity, text: "yes"}, s)
	case 1, 2:
		if len(at) == 2 && !strings.HasPrefix(strings.TrimLeft(strings.ToLower(s[at[0][0]:]), " '’"), "n") { // "ne … pas" alone is one
			return out
		}
		rest := s
		for i := len(at) - 1; i >= 0; i-- {
			rest = rest[:at[i][0]] + " " + rest[at[i][1]:]
		}
		return appendFrame(out, rest, value{kind: kindPolarity, text: "no"}, s)
	}
	return out
}

// frameOf returns the words of a frame, in order. The ending of English verbs and
// plurals is left out: "needs" is "need" where it is negated.
func frameOf(s string) []string {
	ws := slices.DeleteFunc(words(s), func(w string) bool { return frameWords[w] })
	if named := slices.DeleteFunc(slices.Clone(ws), func(w string) bool { return classes[w] }); len(named) > 0 {
		ws = named
	}
	for i, w := range ws {
		if len(w) > 3 && w[len(w)-1] == 's' && w[len(w)-2] < utf8.RuneSelf {
			ws[i] = w[:len(w)-1]
		}
	}
	return ws
}

// weightOf counts words; two characters of a script without spaces count as one.
func weightOf(ws []string) int {
	n := 0
	for _, w := range ws {
		if n += 2; utf8.RuneCountInString(w) == 1 && ideograph([]rune(w)[0]) {
			n--
		}
	}
	return n / 2
}

// ownerClaim reads who has a thing that has one owner.
func ownerClaim(s string) (claim, bool) {
	for _, re := range owned {
		m := re.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		who, what := m[re.SubexpIndex("who")], m[re.SubexpIndex("what")]
		ws := frameOf(what)
		v := value{kind: kindName, text: strings.ToLower(who)}
		if weightOf(ws) == 0 || frameWords[v.text] || strings.ContainsAny(what, ",;，、") || holdsAny(" "+strings.ToLower(s)+" ", []string{" also ", " and ", " auch ", " und ", " también ", " y ", " aussi ", " et ", "也", "和"}) {
			return claim{}, false
		}
		return claim{subject: "owner of " + strings.Join(ws, " "), frame: true, value: v, said: who}, true
	}
	return claim{}, false
}

// found is a value and where it stands in a sentence.
type found struct {
	value
	from, to int
}

// finder finds values of one kind.
type finder struct {
	re   *lazyregexp.Regexp
	read func(m []string) (value, bool)
}

var phoneForm = lazyregexp.New(`\+\d[\d ()/-]{5,}\d|\b\d{2,5}[ /-]\d[\d -]{2,}\d\b`)

// phone reads a number that is written as people write those of telephones.
func phone(s string) (value, bool) {
	digits := strings.Map(func(r rune) rune {
		if !unicode.IsDigit(r) {
			return -1
		}
		return r
	}, s)
	return value{kind: kindPhone, text: digits}, len(digits) >= leastPhone && len(digits) <= mostPhone
}

// leastPhone is how many digits a phone number has at least, mostPhone at most (ITU-T E.164).
const leastPhone, mostPhone = 7, 15

// finders are in the order in which they take what they find.
var finders = []finder{
	{lazyregexp.New(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`), func(m []string) (value, bool) {
		return value{kind: kindAddress, text: strings.ToLower(m[0]), unit: "e-mail"}, true
	}},
	{lazyregexp.New(`[a-zA-Z][a-zA-Z0-9+.-]*://\S+`), func([]string) (value, bool) { return value{kind: kindOther}, true }},
	{lazyregexp.New(`(?i)\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\b\d{1,2}\.\s?\d{1,2}\.\d{4}|\d{4}年\d{1,2}月\d{1,2}日|\b\d{1,2}(?:st|nd|rd|th|\.)?\s(?:de\s)?\p{L}{3,10}\.?(?:\sde)?\s\d{4}|\b\p{L}{3,9}\s\d{1,2},?\s\d{4}`), func(m []string) (value, bool) {
		d, ok := dateValue(strings.ToLower(m[0]))
		return value{kind: kindDate, text: d}, ok
	}},
	{lazyregexp.New(`\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b`), func(m []string) (value, bool) { return value{kind: kindAddress, text: m[0]}, true }},
	{lazyregexp.New(`\b(?:[01]?\d|2[0-3]):[0-5]\d\b`), func(m []string) (value, bool) {
		return value{kind: kindClock, text: strings.TrimPrefix(m[0], "0")}, true
	}},
	{phoneForm, func(m []string) (value, bool) { return phone(m[0]) }},
	{lazyregexp.New(`(?i)(\d+(?:[.,]\d+)?)\s?(\p{L}{1,12}|%)`), func(m []string) (value, bool) { return quantity(m[1], m[2]) }},
	{lazyregexp.New(`(?i)(versi[oó]ne?|versão|versie|版本|バージョン|версия|версии)(?:\s|号|是|为|:)*v?(\d+(?:\.\d+)*)`), func(m []string) (value, bool) { return value{kind: kindVersion, text: m[2], unit: "numbered"}, true }},
	{lazyregexp.New(`\bv?(\d{1,4}(?:\.\d{1,5}){1,3})\b`), func(m []string) (value, bool) { return value{kind: kindVersion, text: m[1]}, true }},
	{lazyregexp.New(`(?i)(\bports?\b|\bpuerto\b|\bporta\b|\bpoort\b|порт\p{L}?|端口|ポート|\b(?:tele)?phone\b|\btelefon\p{L}*|\btel[eé]fono\b|\btéléphone\b|电话|電話|\blimit\b|\btimeout\b|\bretries\b|\bworkers\b|\breplicas\b)(?:\s+(?:is|of|to|ist|auf|es|de|est|è|é|на)|是|为|:|\s)*\s*(\d{2,})\b`), func(m []string) (value, bool) { return value{kind: kindNumber, text: m[2]}, true }},
	{lazyregexp.New(weekdayForm), func(m []string) (value, bool) {
		d, ok := weekday(m[0])
		return value{kind: kindWeekday, text: d}, ok
	}},
	{lazyregexp.New(stateForm), func(m []string) (value, bool) { return stateValue(m[0]) }},
	{lazyregexp.New(`\d+`), func([]string) (value, bool) { return value{kind: kindOther}, true }},
}

// valuesIn finds the values of a sentence that can be compared, in order.
func valuesIn(s string) []found {
	var out []found
	taken := func(from, to int) bool {
		return slices.ContainsFunc(out, func(o found) bool { return from < o.to && o.from < to })
	}
	for _, f := range finders {
		for _, at := range f.re.FindAllStringSubmatchIndex(s, -1) {
			m := make([]string, len(at)/2)
			for i := range m {
				if at[2*i] >= 0 {
					m[i] = s[at[2*i]:at[2*i+1]]
				}
			}
			v, ok := f.read(m)
			if !ok || taken(at[0], at[1]) || !standsApart(s, at[0], at[1]) {
				continue
			}
			from := at[0]
			if n := len(m) - 1; n == 2 && m[1] != "" && m[2] != "" && !unicode.IsDigit(rune(m[1][0])) {
				from = at[4] // the attribute stays in the frame
			}
			out = append(out, found{v, from, at[1]})
		}
	}
	out = slices.DeleteFunc(out, func(o found) bool { return o.kind == kindOther })
	slices.SortFunc(out, func(a, b found) int { return a.from - b.from })
	return out
}

// standsApart reports whether a part of a text begins and ends where words do, as far as they
// are written apart.
func standsApart(s string, from, to int) bool {
	inWord := func(r rune) bool { return unicode.In(r, unicode.L, unicode.N) && !ideograph(r) }
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	first, _ := utf8.DecodeRuneInString(s[from:])
	last, _ := utf8.DecodeLastRuneInString(s[:to])
	behind, _ := utf8.DecodeRuneInString(s[to:])
	return !(inWord(before) && inWord(first)) && !(inWord(last) && inWord(behind))
}

// daysOf makes one value of all weekdays of a sentence, and takes them out of it.
func daysOf(values []found, s string) (value, string) {
	var days []string
	rest := s
	for i := len(values) - 1; i >= 0; i-- {
		if at := values[i]; at.kind == kindWeekday {
			days = append(days, at.text)
			rest = rest[:at.from] + " " + rest[at.to:]
		}
	}
	slices.Sort(days)
	return value{kind: kindWeekday, text: strings.Join(slices.Compact(days), " ")}, rest
}

// tableClaims reads what the rows of a table claim: the value of a cell, of what the
// other cells of its row and the heads of all columns say. Tables of the same columns can
// disagree, in a cell of rows that are the same but for it; the first column names
// what the row is about. Counts and measures go on changing, and claim nothing.
func tableClaims(f *File, e *Entry) []claim {
	var out []claim
	var head []string
	rows := map[string]int{} // how many rows there are of each subject
	n := e.StartLine - 1
	for l := range lines(uncommented(e.Text)) {
		n++
		cells := cellsOf(l)
		switch {
		case len(cells) < 2:
			return nil
		case head == nil:
			head = cells
			continue
		case strings.Trim(l, "|:- \t") == "":
			continue
		case len(cells) != len(head):
			continue
		}
		for i := 1; i < len(cells); i++ {
			v, ok := cellValue(head[i], cells[i])
			others := slices.Delete(slices.Clone(cells), i, i+1)
			if !ok || Key(others[0]) == "" || replaced.MatchString(l) {
				continue
			}
			subject := Key(strings.Join(others, " ")) + " (" + Key(strings.Join(head, " ")) + ")"
			rows[subject+"\x00"+head[i]]++
			out = append(out, claim{subject: subject, frame: true, value: v, said: cells[i], file: f, entry: e, line: n})
			out[len(out)-1].column = head[i]
		}
	}
	return slices.DeleteFunc(out, func(c claim) bool { return rows[c.subject+"\x00"+c.column] > 1 })
}

// cellsOf cuts a row into its cells.
func cellsOf(l string) []string {
	l = strings.TrimSpace(l)
	if !strings.Contains(l, "|") {
		return nil
	}
	cells := strings.Split(strings.Trim(l, "|"), "|")
	for i := range cells {
		cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "*_`")
	}
	return cells
}

// cellValue reads a cell under the head of its column.
func cellValue(head, cell string) (value, bool) {
	v, ok := valueOf(cell)
	switch {
	case ok && v.kind == kindName && hasOne.MatchString(head):
		return v, true
	case !ok || v.kind == kindName || v.kind == kindDate || v.kind == kindState && v.unit == "progress":
		return value{}, false
	case v.kind == kindNumber:
		found := valuesIn(head + " " + cell)
		return v, len(found) == 1 && (found[0].kind == kindNumber || found[0].kind == kindVersion)
	}
	return v, true
}
