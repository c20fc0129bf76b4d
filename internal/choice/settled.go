package choice

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/lazyregexp"
)

// Settled returns what the text of a captured decision settles, to be read by itself: what
// was asked and what came of it, or the words that decide. It is false where one of the
// two is not in the text: a "yes" to "this", a figure out of a list, a question, a refused call
// without a word, a commit, a list of steps.
func Settled(text string) (string, bool) {
	text = strings.Join(strings.Fields(text), " ")
	if said, ok := strings.CutPrefix(text, agentMark); ok {
		return said, specific(said, leastSaid)
	}
	if work.MatchString(text) {
		return "", false
	}
	asked, answer, ok := parts(text)
	switch {
	case strings.HasPrefix(text, rejectedMark) && !strings.Contains(asked, "?"):
		return answer, ok && orders(answer) // a call was refused: the words alone decide
	case !ok:
		return text, specific(text, leastSaid-1)
	case strings.HasPrefix(answer, choseMark), strings.HasPrefix(answer, rejectedMark):
		return picked(asked, answer)
	}
	return replied(asked, answer)
}

// leastSaid is how many words with a meaning a statement has by itself, and leastNamed
// one that names something by the way in which code and figures are written.
const leastSaid, leastNamed = 4, 2

// work are captures of what was done or is to be done, which decide nothing.
var work = lazyregexp.New(`^(?:commit(?: [0-9a-f]{4,40})?: |plan \(\d+\): )`)

// parts are the question of a decision and its answer. The answer may hold the mark as well.
func parts(text string) (asked, answer string, ok bool) {
	for _, mark := range [...]string{answersMark + choseMark, answersMark + rejectedMark, answersMark} {
		i := strings.Index(text, mark)
		if mark == answersMark {
			i = strings.LastIndex(text, mark)
		}
		if i >= 0 {
			return text[:i], strings.TrimSpace(text[i+len(answersMark):]), true
		}
	}
	return text, "", false
}

var (
	// optionLabel is the place of an option in its list, and recommended what an agent
	// says of it.
	optionLabel = lazyregexp.New(`(?i)^(?:\p{L}+ )?[(\[]?(?:\d{1,2}|[a-z])[.):：]+\s+`)
	recommended = lazyregexp.New(`(?i)\s*\((?:recommended|empfohlen|recommandée?|recomendad[oa]|推荐)\)|\s*✅[\sA-Z]*:?`)
)

// picked is what was chosen of options, under what it was chosen for.
func picked(asked, answer string) (string, bool) {
	words := ""
	if i := strings.LastIndex(answer, userMark); i >= 0 {
		answer, words = answer[:i], strings.TrimSuffix(answer[i+len(userMark):], ")")
	}
	what, chosen := strings.CutPrefix(answer, choseMark)
	what = strings.TrimPrefix(what, rejectedMark)
	what = strings.TrimSpace(recommended.ReplaceAllString(optionLabel.ReplaceAllString(what, ""), ""))
	subject, named := subjectOf(asked)
	least := leastSaid
	if named {
		least = 1
	}
	if what == "" || !specific(what, least) && !named || !named && selfish.MatchString(what) {
		return "", false
	}
	if !chosen {
		what = answer
	}
	if named {
		what = subject + " " + what
	}
	if words != "" && orders(words) {
		what = strings.TrimRight(what, " ") + userMark + words + ")"
	}
	return what, true
}

// selfish is an agent's own way of working: no choice about the work.
var selfish = lazyregexp.New(`(?:^|[\s(])(?:I|I'll|ich|je|yo)(?:[\s,]|$)|我来|本次会话|this session`)

// subjectOf is what a question asks for, as what stands before an answer; false if it
// asks for nothing by name ("Which approach?").
func subjectOf(q string) (string, bool) {
	s := lastSentence(strings.TrimSpace(q))
	for _, re := range askedFor {
		if m := re.FindStringSubmatch(s); m != nil {
			name := strings.TrimSpace(m[1] + strings.TrimRight(strings.Join(m[2:], ""), " ?？"))
			return capital(strings.TrimSpace(name)) + ":", content(name, isOption|isWhich) > 0 && !points(name)
		}
	}
	return s + " →", content(s, isOption|isWhich) > 0 && specific(strings.TrimRight(s, "?？"), 1)
}

// askedFor are questions by which agents ask for one of several, in the languages in which
// the name of what they ask for stands as it is said elsewhere.
var askedFor = [...]*lazyregexp.Regexp{
	lazyregexp.New(`(?i)^(?:which|what) (.+?) (?:do you (?:want|prefer|like)|would you (?:like|prefer)|(?:should|shall) (?:we|i) (?:use|choose|pick|go with|take)|to use|sounds (?:good|best|right)|is (?:best|better|right)|works best)( for .+| in .+)?\?$`),
	lazyregexp.New(`(?i)^welche[rsnm]? (.+?) (?:möchtest du|möchten sie|willst du|wollen sie|bevorzugst du|bevorzugen sie|soll(?:en)? (?:ich|wir) (?:nehmen|verwenden|wählen)|ist (?:dir|ihnen) lieber)\?$`),
	lazyregexp.New(`(?i)^¿?(?:qué|cuál) (.+?) (?:prefieres|prefiere|quieres|quiere|usamos|elegimos|debemos usar|deberíamos usar)( para .+)?\?$`),
	lazyregexp.New(`(?i)^quel(?:le)?s? (.+?) (?:préférez-vous|préfères-tu|voulez-vous|veux-tu|choisissez-vous|choisis-tu|devons-nous utiliser)( pour .+)?\s?\?$`),
	lazyregexp.New(`^(?:你|您)?(?:想|要|更)?(?:选择|选用|用|选|喜欢|倾向于?)(?:哪个|哪种|哪一种|什么)([\p{Han}\w ]+?)[?？]$`),
}

// granted are questions that ask for leave: what stands behind them is what is to be.
var granted = [...]*lazyregexp.Regexp{
	lazyregexp.New(`(?i)^(?:(?:so|ok|okay|then|and),? )?(?:should|shall) (?:we|i) (?:also )?(.+?)\?$`),
	lazyregexp.New(`(?i)^soll(?:en|te|ten)? (?:ich|wir) (.+?)\?$`),
	lazyregexp.New(`(?i)^(?:devons-nous|dois-je|faut-il|devrait-on|peut-on) (.+?)\s?\?$`),
	lazyregexp.New(`(?i)^¿(?:debemos|deberíamos|debería|podemos|puedo) (.+?)\?$`),
	lazyregexp.New(`^(?:我们|咱们|我)?(?:是否|要不要|应该|需要|可以|要)(?:要|应该|把)?(.+?)(?:吗|呢)?[?？]$`),
}

// helpOffered is leave for a piece of work, of which more has to be said.
var helpOffered = lazyregexp.New(`(?i)^(?:(?:so|ok|okay|then|and),? )?(?:do you want (?:me|us) to|want me to|would you like (?:me|us) to|can (?:i|we)|may i|is it ok(?:ay)? to|are you ok(?:ay)? if we) (.+?)\?$`)

// Stands reports whether a sentence can be understood without what stood before it, and
// says enough.
func Stands(s string) bool {
	return specific(s, leastSaid) && !selfish.MatchString(s) && (!points(s) || written.MatchString(s))
}

// onward are the words for going on with the work: leave for these decides nothing of it.
var onward = lazyregexp.New(`(?i)^(?:start|begin|continue|proceed|go|commit|push|merge|check|look|run|review|test|try|help|fortfahren|anfangen|weiter\w*|commencer|continuer|empezar|continuar|seguir)(?:[^\p{L}]|$)|^(?:继续|开始|提交)`)

// replied is what a reply in a person's own words settles.
func replied(asked, words string) (string, bool) {
	sentences := splitSentences(asked)
	own := strings.TrimSpace(assent.ReplaceAllString(words, ""))
	switch agrees := Agrees(words); {
	case agrees && content(own, 0) >= 2 && (!points(own) || written.MatchString(own)) && !onward.MatchString(own):
		if said := statedIn(sentences); specific(said, leastSaid+2) {
			return said + userMark + words + ")", true
		}
		if orders(words) {
			return own, true
		}
		return agreed(sentences)
	case agrees && content(words, 0) < leastSaid:
		return agreed(sentences)
	case Asking(words) || Chat(words):
		return "", false
	case !Asking(asked) && specific(asked, leastSaid+2) && !strings.HasSuffix(asked, ":") && content(words, 0) >= 2 && !doubts(words):
		return asked + userMark + words + ")", true
	case orders(words):
		return strings.TrimSpace(assent.ReplaceAllString(words, "")), true
	}
	return "", false
}

// assent is how a reply begins that agrees and goes on.
var assent = lazyregexp.New(`(?i)^(?:(?:\(?\d{1,2}[.)]?|\(?[a-z][.)]|but|aber|pero|mais|yes|yeah|yep|ok|okay|sure|ja|oui|sí|si|vale|好的?|行|是的?)[,，.!。\s]+)+`)

// agreed is what a question proposed that was answered by yes: what leave was asked for,
// or what was said before it.
func agreed(sentences []string) (string, bool) {
	for _, s := range sentences {
		if m := helpOffered.FindStringSubmatch(s); m != nil && !onward.MatchString(m[1]) && specific(m[1], leastSaid) {
			return capital(strings.TrimSpace(m[1])), true
		}
		for _, re := range granted {
			if m := re.FindStringSubmatch(s); m != nil && !onward.MatchString(m[1]) && specific(m[1], leastSaid-2) {
				return capital(strings.TrimSpace(m[1])), true
			}
		}
	}
	said := statedIn(sentences)
	return said, specific(said, leastSaid+2)
}

// statedIn are the sentences of a question that ask for nothing, or for something by name.
func statedIn(sentences []string) string {
	var out []string
	for _, s := range sentences {
		if !Asking(s) && !strings.HasSuffix(s, ":") || Asking(s) && len(sentences) > 1 && content(s, 0) >= 2*leastSaid-1 && !points(s) {
			out = append(out, strings.Replace(s, "?", ":", 1))
		}
	}
	return strings.Join(out, " ")
}

var (
	// pointing are words for what stands elsewhere.
	pointing = lazyregexp.New(`(?i)(?:^|[^\p{L}])(?:this|these|those|it|its|it's|them|they|the above|all \d+|both|das|dies|diese[rsmn]?|es|sie|alles|esto|eso|est[ae]s?|estos|ello|ceci|cela|ça|ces|cette|cet)(?:[^\p{L}]|$)|[这那它]`)
	// opening are those that no statement begins with.
	opening = lazyregexp.New(`(?i)^(?:this|that|these|those|it|it's|its|they|the above|das|dies|diese|es|esto|eso|ceci|cela|ça|c'est|here|now|also|but|and|so)(?:[^\p{L}]|$)|^[这那它]`)
	// written are names as code, paths and figures are written.
	written = lazyregexp.New("`[^`]+`" + `|[a-z]\w*[A-Z_]\w*|\w+\(\)|\w+[./]\w{2,}|--?[a-z]{2,}|\d+\.\d+|:\d{2,5}`)
)

// points reports whether a text points at what is not in it.
func points(s string) bool { return pointing.MatchString(s) }

// content counts the words of a text that mean something by themselves, without those of
// some more classes; of scripts without spaces two characters count as one.
func content(s string, but class) int {
	n, wide := 0, 0
	for _, t := range scan(s) {
		w := wideRunes(s[t.at:t.end])
		wide += w
		if (t.kind == word || t.kind == other) && w == 0 && !t.is(isFill|isYes|but) && utf8.RuneCountInString(t.text) >= 4 {
			n++
		}
	}
	return n + (wide+1)/2
}

func wideRunes(s string) (n int) {
	for _, r := range s {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
			n++
		}
	}
	return n
}

// specific reports whether a text can be understood without what stood before it.
func specific(s string, least int) bool {
	if opening.MatchString(s) || Asking(s) {
		return false
	}
	if written.MatchString(s) {
		least = min(least, leastNamed)
	} else if points(s) {
		least += 2
	}
	return content(s, 0) >= least
}

// ordering are words by which people say how something is to be, beside those that choose.
var ordering = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:let's|lets|should|must|never|always|avoid|prefer|instead|only|no need|make sure|ensure|keep|use|don'?t|do not|remove|because|since|already|` +
		`sollten?|immer|nie(?:mals)?|lieber|statt|nur|kein\w*|nicht|weil|verwenden?|nimm|behalte|` +
		`deber?\w*|siempre|nunca|mejor|evita|usa|usar|porque|ya hay|solo|` +
		`il faut|toujours|jamais|évite[rz]?|utilise[rz]?|plutôt|parce que|car|garde[rz]?)(?:[^\p{L}]|$)|应该|必须|不要|别|总是|永远|避免|改用|保持|因为|使用|只|用`)
})

// doubting begin words that take back, wonder or wait.
var doubting = lazyregexp.New(`(?i)^(?:actually,? maybe|maybe|hang on|wait|hold on|hm+|lol|oh|what|why|not sure|moment|warte|vielleicht|espera|quizás|attends|peut-être|等等|也许)(?:[^\p{L}]|$)|https?://\S+$|…$`)

func doubts(words string) bool { return doubting.MatchString(strings.TrimSpace(words)) }

// orders reports whether a person's words say by themselves how something is to be.
func orders(words string) bool {
	if Asking(words) || Chat(words) || doubts(words) || !ordering().MatchString(words) {
		return false
	}
	return specific(assent.ReplaceAllString(words, ""), leastSaid) && (!points(words) || written.MatchString(words))
}

// capital begins a statement that lost its beginning; code stays as it is written.
func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	first, _, _ := strings.Cut(s, " ")
	if !unicode.IsLower(r) || written.MatchString(first) {
		return s
	}
	return string(unicode.ToTitle(r)) + s[n:]
}
