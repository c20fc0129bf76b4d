package markdownstore

import (
	"slices"
	"strings"
	"unicode"

	"github.com/memkernel/memkernel/internal/textutil"
)

// A label at the beginning, or brackets at the end, mark a statement that is no longer valid. Words that
// may be about the subject of the statement (obsolete, deprecated, replaced by) are not marks.
var (
	saysSuperseded  = textutil.LazyRegexp(`(?i)^[*_\[(]*(?:superseded|überholt|已被取代|已作废)[*_\])]*\s*[:：]|[(\[（【](?:now\s+)?(?:superseded\b|überholt\b|已被[^)）\]】]*(?:取代|替代)|已作废)[^)）\]】]*[)）\]】][.。*_\s]*$`)
	strickenThrough = textutil.LazyRegexp(`^[*_ ]*~~[^~]+~~[*_ .。]*(?:[(（][^)）]{0,60}[)）])?[*_ .。]*$`)
	itemLead        = textutil.LazyRegexp(`^\s*(?:(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$))?(?:\[[ xX]\][ \t]+)?(?:\[?\d{1,2}:\d{2}(?::\d{2})?\]?\s+)?`)
	htmlNote        = textutil.LazyRegexp(`<!--.*?-->`)
)

// SaysSuperseded reports whether a line is marked as no longer valid, because the whole line is
// struck through or has a mark.
func SaysSuperseded(line string) bool {
	if low := strings.ToLower(line); !slices.ContainsFunc(marks, func(m string) bool { return strings.Contains(low, m) }) {
		return false // the expressions are slow
	}
	line = strings.TrimSpace(htmlNote.ReplaceAllString(line, ""))
	line = line[len(itemLead.FindString(line)):]
	return strickenThrough.MatchString(line) || saysSuperseded.MatchString(line)
}

// Each line that SaysSuperseded accepts holds one of marks.
var marks = []string{"~~", "superseded", "überholt", "已"}

// formerly matches the phrases after which a sentence names the old value, and the old value up to the
// next punctuation. In the matches of arrow and inStrike the old value comes before the new one.
var (
	formerly = textutil.LazyRegexp(`(?i)(?:\b(?:instead of|rather than|in place of|no longer|formerly|previously|used to be|was[:：]|moved from|changed from|switched from|migrated from|anstatt|anstelle von|statt|nicht mehr|früher|vorher|zuvor|bisher|au lieu d[e'’]|plutôt que|anciennement|auparavant|en vez de|en lugar de|ya no|invece di|em vez de|não mais)(?:\s|$)|[(（]was\s|(?:вместо|больше не|раньше)\s|不再(?:是|用|使用|为|在)?|而不是|原来(?:是|用)?|之前(?:是|用)?|取代了?|代替了?)\s*([^,;.!?:，；。！？、：()（）\n]*(?:\.\d[^,;.!?:，；。()（）\n]*)*)`)
	// An arrow often shows a flow and no change. It means a change only between two numbers, or
	// between two single values after a colon or a verb.
	arrow    = textutil.LazyRegexp(`(?i)(?:[:：=]|\b(?:is|are|was|from|at|on|ist|von|um|est|es|de))[ \t]*([^\s,;:，；：()（）]+)[ \t]*(?:→|⇒|->|=>)[ \t]*[^\s→⇒>]+[ \t]*(?:$|[.,;(（，。；\n])|([^\s,;:，；：()（）]*\d[^\s,;:，；：()（）]*)[ \t]*(?:→|⇒|->|=>)[ \t]*[^\s→⇒>]*\d`)
	inStrike = textutil.LazyRegexp(`~~([^~]+)~~`)
)

// mostFormer is the largest number of words that name an old value.
const mostFormer = 6

// Replacement describes a new statement and the old statement that it replaces.
type Replacement struct {
	now, former []string
	// ends reports whether the statement says that the old one is no longer valid and may name no new
	// value.
	ends bool
}

// ending matches phrases that end a statement without a new value.
var ending = textutil.LazyRegexp(`(?i)\b(?:no longer|nicht mehr|ya no|não mais)\b|больше не|不再`)

// ReplacementOf parses a statement that names both the new value and the old value: "5433 instead
// of 5432", "5433 (was: 5432)", "5432 → 5433", "~~5432~~ 5433". ok is false for any other
// statement.
func ReplacementOf(text string) (r Replacement, ok bool) {
	if strings.Contains(text, "<!--") {
		text = htmlNote.ReplaceAllString(text, "")
	}
	at := [2]int{-1, -1}
	low := strings.ToLower(text)
	for i, re := range [...]*textutil.Regexp{inStrike, arrow, formerly} {
		if !slices.ContainsFunc(cues[i], func(c string) bool { return strings.Contains(low, c) }) {
			continue // the expressions are slow
		}
		if m := re.FindStringSubmatchIndex(text); m != nil {
			at = [2]int{m[2], m[3]}
			if len(m) > 4 && m[2] < 0 {
				at = [2]int{m[4], m[5]}
			}
			break
		}
	}
	if at[0] < 0 {
		return r, false
	}
	former := text[at[0]:at[1]]
	if i := strings.Index(former, " to "); i > 0 { // changed from X to Y
		former = former[:i]
	}
	r.former = contentWords(former)
	r.now = contentWords(text[:at[0]] + " " + text[at[0]+len(former):])
	r.ends = ending.MatchString(text[:at[0]])
	return r, len(r.former) > 0 && len(r.former) <= mostFormer
}

// cues holds, for inStrike, arrow and formerly, the strings of which each match has one.
var cues = [...][]string{{"~~"}, {"→", "⇒", "->", "=>"},
	{"instead of", "rather than", "in place of", "no longer", "formerly", "previously", "used to be", "was:", "was：", "(was", "（was", "moved from", "changed from", "switched from", "migrated from",
		"statt", "anstelle", "nicht mehr", "früher", "vorher", "zuvor", "bisher", "au lieu", "plutôt", "ancienne", "auparavant", "en vez", "en lugar", "ya no", "invece", "em vez", "não mais",
		"вместо", "больше не", "раньше", "不再", "而不是", "原来", "之前", "取代", "代替"}}

// Former returns the words of the old value, in lower case.
func (r Replacement) Former() []string { return r.former }

// mentioned reports whether a text, in lower case, has the words of the old value.
func (r Replacement) mentioned(low string) bool {
	return !slices.ContainsFunc(r.former, func(w string) bool { return !strings.Contains(low, w) })
}

// Replaces reports whether other is the statement that r replaces. other must end with its value. The
// value must follow a verb or a colon, or hold a digit. Every content word of other must be in r, and
// some of these words only in the old value. r must have a word that other lacks, unless r says that
// other is no longer valid. r must not be much longer than other.
func (r Replacement) Replaces(other string) bool {
	if !r.mentioned(strings.ToLower(other)) || SaysSuperseded(other) {
		return false
	}
	whole := other
	other = htmlNote.ReplaceAllString(other, "")
	words := contentWords(other)
	if len(words) == 0 || len(r.now) > 2*len(words)+6 || !slices.Contains(r.former, words[len(words)-1]) || !states.MatchString(other) && !strings.ContainsAny(strings.Join(r.former, ""), "0123456789") {
		return false
	}
	shared, old := 0, 0
	for _, w := range words {
		switch {
		case slices.Contains(r.now, w):
			shared++
		case slices.Contains(r.former, w):
			old++
		default:
			return false
		}
	}
	news := slices.ContainsFunc(r.now, func(w string) bool { return !slices.Contains(words, w) && !slices.Contains(changing, w) })
	if slices.ContainsFunc(r.former, func(w string) bool { return !slices.Contains(words, w) }) || shared == 0 || old == 0 || !news && !r.ends {
		return false
	}
	_, changed := ReplacementOf(whole) // looked for last: it takes longest
	return !changed
}

// states matches a statement that gives its subject a value, by a verb or a colon.
var states = textutil.LazyRegexp(`(?i)(?:^|[\s，])(?:is|are|was|has|have|runs?|uses?|listens|lives|stands|set|costs?|ist|sind|wird|hat|läuft|nutzt|steht|est|sont|a|es|está|son|tiene|usa|è|é|sono|стоит|работает|использует|находится)\s|[:：]\s*[^\s*_]|[是为在用有]`)

// changing holds words that only say that something has changed.
var changing = []string{"now", "instead", "since", "from", "moved", "changed", "switched", "migrated", "jetzt", "nun", "ab", "seit", "maintenant", "désormais", "ahora", "现", "在", "改", "теперь", "was"}

// idle holds words that do not describe the subject of a statement.
var idle = []string{"the", "a", "an", "is", "are", "was", "be", "of", "on", "at", "in", "to", "for", "and", "we", "our", "it", "its", "runs", "run", "uses", "use", "listens", "lives", "stands", "set",
	"der", "die", "das", "den", "dem", "ist", "sind", "wird", "auf", "im", "am", "mit", "läuft", "nutzt", "le", "la", "les", "est", "sur", "à", "en", "el", "los", "es", "está", "il", "è", "o", "é", "是", "为", "的", "在", "用"}

// LastWord returns the last content word of a text, in lower case. [Replacement.Replaces] returns false
// for every text whose last word is not among [Replacement.Former].
func LastWord(text string) string {
	for text = strings.TrimSpace(text); text != ""; {
		at := strings.LastIndexFunc(text, unicode.IsSpace) + 1
		if ws := contentWords(text[at:]); len(ws) > 0 {
			return ws[len(ws)-1]
		}
		text = strings.TrimSpace(text[:at])
	}
	return ""
}

// contentWords returns the words of a text that are not idle, in lower case. In
// scripts without spaces each character is a word.
func contentWords(text string) []string {
	var out []string
	var b strings.Builder
	end := func() {
		if w := strings.Trim(b.String(), ".-_'/:"); w != "" && !slices.Contains(idle, w) {
			out = append(out, w)
		}
		b.Reset()
	}
	text = strings.ToLower(text)
	for i, c := range text {
		switch {
		case c >= 0x2e80 && unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana):
			end()
			b.WriteRune(c)
			end()
		case unicode.IsLetter(c), unicode.IsDigit(c), unicode.IsMark(c):
			b.WriteRune(c)
		case strings.ContainsRune(".-_'/:", c) && b.Len() > 0 && i+1 < len(text) && text[i+1] != ' ':
			b.WriteRune(c)
		default:
			end()
		}
	}
	end()
	return out
}
