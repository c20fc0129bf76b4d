package summary

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/transcript"
)

// maxRuleLine is the longest line, in bytes, that can be a rule. Longer lines are prose or pasted
// output.
const maxRuleLine = 400

// maxRulesPerMessage keeps one pasted rule book from filling the list.
const maxRulesPerMessage = 12

// obliges are words that make a line a rule in any place of the line. They are modal verbs and
// set phrases of obligation. A trailing space or a leading one marks a word boundary that is part
// of the entry.
var obliges = [...]string{
	"must", "mustn't", "required", "forbidden", "under no circumstances", // English
	"debe", "debes", "deben", "hay que", "prohibido", "obligatorio", "jamás", // Spanish
	"muss", "müssen", "musst", "darf nicht", "dürfen nicht", "darfst nicht", "niemals", "verboten", // German
	"doit", "doivent", "dois", "il faut", "interdit", "obligatoire", // French
	"deve", "devem", "é preciso", "proibido", "obrigatório", // Portuguese
	"должен", "должна", "должно", "должны", "нельзя", "запрещено", "обязательно", "ни в коем случае", // Russian
}

// orders are words that make a rule only where a clause starts, as an
// imperative does: "never push", but not "I never saw it".
var orders = [...]string{
	"never", "always", "don't", "dont", "don’t", "do not", "avoid", "no more", "only", // English
	"nunca", "siempre", "evita", "evite", "no uses", "no hagas", // Spanish
	"nie", "immer", "vermeide", "bitte nicht", "nur", "kein", "keine", // German
	"jamais", "toujours", "évite", "évitez", "ne", // French
	"sempre", "não use", "não faça", // Portuguese, with nunca, jamais, evite
	"никогда", "всегда", "только", "избегай", // Russian
}

// often are the words of orders that can also tell how often something happens, as in "a cent
// short, always down".
var often = [...]string{"always", "siempre", "immer", "toujours", "sempre", "всегда"}

// wideRules are words that make a rule in scripts without spaces. They count anywhere in a line.
var wideRules = [...]string{
	"必须", "不要", "不得", "禁止", "务必", "切勿", "始终", "绝不", "不准", "不可", "一定要", "只能", "必須", // Chinese
	"必ず", "絶対に", "常に", "なければならない", "なければなりません", "てはいけ", "てはなら", "ないでください", "しないで", // Japanese
}

// polite are words that may precede an order without hiding it.
var polite = [...]string{"please", "and", "but", "so", "also", "just", "por favor", "y", "e", "bitte", "und", "aber", "et", "mais", "mas", "s'il te plaît", "пожалуйста", "и", "а", "но",
	"from now on", "from here on", "going forward", "ab jetzt", "ab sofort", "von jetzt an", "von nun an", "künftig", "de ahora en adelante", "a partir de ahora",
	"desde ahora", "désormais", "dorénavant", "à partir de maintenant", "a partir de agora", "отныне", "впредь", "с этого момента", "теперь"}

// wrapped is the length, in bytes, from which a line is taken to continue in the next: prose that
// was wrapped by an editor.
const wrapped = 50

// rules records the sentences of a person's own words that are permanent rules. Tables, markup,
// questions and text between quotation marks are passed over.
func (u *updater) rules(text string) {
	item, n := false, 0
	para, before := "", 0
	flush := func() {
		for _, s := range sentences(para) {
			if n < maxRulesPerMessage && rule(s.means, item) {
				u.constraint(oneLine(s.text, constraintRunes))
				n++
			}
		}
		para, item, before = "", false, 0
	}
	means := strings.Split(transcript.Unquoted(text), "\n")
	lines(text, func(line string) bool {
		body, starts := unbullet(line)
		within := means[0] != line && transcript.Unquoted(line) == line // a quotation of several lines
		means = means[1:]
		switch {
		case within || len(line) > maxRuleLine || quoted(line) || body == "":
			flush()
		case !starts && before >= wrapped && line[0] != '#':
			para, before = para+" "+unmark(body), len(line)
		default:
			flush()
			para, item, before = unmark(body), starts, len(line)
		}
		return n < maxRulesPerMessage
	})
	flush()
}

// sentence is a sentence. text is the sentence as it was typed, and means is the sentence without
// its quotations.
type sentence struct{ text, means string }

// sentences cuts a paragraph at full stops, but not at full stops in a quotation.
func sentences(para string) []sentence {
	if len(para) < 4 {
		return nil
	}
	means := transcript.Unquoted(para)
	var out []sentence
	start := 0
	add := func(end int) {
		if t := strings.TrimSpace(para[start:end]); t != "" {
			out = append(out, sentence{t, strings.TrimSpace(means[start:end])})
		}
		start = end
	}
	for i, r := range means {
		end := i + utf8.RuneLen(r)
		if r == '。' || r == '！' || (r == '.' || r == '!' || r == '?') && strings.HasPrefix(means[end:], " ") && i-start > 3 && !abbreviated(means[:i]) {
			add(end)
		}
	}
	add(len(para))
	return out
}

// abbreviated reports whether the word that s ends on is one letter or holds a
// full stop itself, as in "e.g" or "z. B".
func abbreviated(s string) bool {
	w := s[strings.LastIndexByte(s, ' ')+1:]
	return utf8.RuneCountInString(w) < 2 || strings.Contains(w, ".") && len(w) < 5
}

// quoted reports whether a line is a quotation, a table row, markup, a comment
// or JSON, or indented like code.
func quoted(line string) bool {
	t := strings.TrimLeft(line, " ")
	return t == "" || strings.HasPrefix(t, "//") || strings.HasPrefix(t, "/*") || strings.Contains(t, `":`) ||
		strings.ContainsRune(">|<$❯⏺⎿\t", firstRune(t)) || len(line)-len(t) >= 8
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// rule reports whether a line is a rule. In a list item the words in orders count anywhere, since
// an item is a clause of its own.
func rule(body string, item bool) bool {
	if asks(body) {
		return false
	}
	low := strings.ToLower(body)
	for _, w := range wideRules {
		if strings.Contains(low, w) {
			return true
		}
	}
	for _, w := range obliges {
		if wordAt(low, w, func(string, string) bool { return true }) {
			return true
		}
	}
	for _, w := range orders {
		begins := func(before, after string) bool { return clauseStart(before) && !afterthought(w, before, after) }
		if wordAt(low, w, begins) && (item || len(low) > len(w)+3) {
			return true
		}
	}
	return false
}

// afterthought reports whether a word of orders only tells how often something happens. It does
// so if it follows a comma and only one word follows it, as in "a cent short, always down".
func afterthought(w, before, after string) bool {
	return slices.Contains(often[:], w) && strings.HasSuffix(strings.TrimRight(before, " "), ",") && len(strings.Fields(after)) < 2
}

// wordAt reports whether w is in s as whole words at a place for which ok returns true.
func wordAt(s, w string, ok func(before, after string) bool) bool {
	for from := 0; ; {
		i := strings.Index(s[from:], w)
		if i < 0 {
			return false
		}
		i += from
		prev, _ := utf8.DecodeLastRuneInString(s[:i])
		next, _ := utf8.DecodeRuneInString(s[i+len(w):])
		if (i == 0 || !wordRune(prev)) && (i+len(w) == len(s) || !wordRune(next)) && ok(s[:i], s[i+len(w):]) {
			return true
		}
		from = i + len(w)
	}
}

func wordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-'
}

// clauseStart reports whether a clause starts after the text before. A clause starts at the
// line's start, after punctuation, and after a polite word that itself starts a clause.
func clauseStart(before string) bool {
	t := strings.TrimRight(before, " *_`\"'")
	if t == "" {
		return true
	}
	if last, _ := utf8.DecodeLastRuneInString(t); strings.ContainsRune(".,;:!()–—、，。", last) {
		return true
	}
	for _, w := range polite {
		if rest, ok := strings.CutSuffix(t, w); ok && (rest == "" || !wordRune(lastRune(rest))) {
			return true
		}
	}
	return false
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// constraint records a rule once. A repeated rule becomes the newest.
func (u *updater) constraint(text string) {
	i := slices.IndexFunc(u.s.Constraints, func(e Entry) bool { return strings.EqualFold(e.Text, text) })
	e := u.entry("c", "", text)
	if i >= 0 {
		e.ID = u.s.Constraints[i].ID
		u.s.Constraints = slices.Delete(u.s.Constraints, i, i+1)
	}
	u.s.Constraints = push(u.s.Constraints, e, maxConstraints, &u.s.Evicted.Constraints)
}
