package choice

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/lazyregexp"
)

// Settled returns the text of a captured decision if it can be read by itself: the question and
// its answer, word for word, or the words that decide. It is false for a "yes" to "this", a
// question, a refused call without a word, a commit, a list of steps.
func Settled(text string) (string, bool) {
	text = strings.Join(strings.Fields(text), " ")
	if said, ok := strings.CutPrefix(text, agentMark); ok {
		return text, specific(said, leastSaid)
	}
	asked, answer, answered := parts(text)
	refused := strings.HasPrefix(text, refusedMark)
	switch {
	case work.MatchString(text):
		return "", false
	case !answered:
		return text, !refused && specific(text, leastSaid-1)
	case orders(answer) && refused:
		return answer, true
	case orders(answer):
		return text, true
	case refused, Wonders(answer):
		return "", false
	}
	const idle = isOption | isPoint | isPick | isWhich | isBut | isAnd | isNeg
	n, least := content(text, idle), leastSaid
	if r, _ := utf8.DecodeRuneInString(answer); unicode.IsUpper(r) && !Settles(answer) {
		n += leastNamed // the answer is a name
	}
	switch {
	case points(asked) || points(answer):
		least += leastNamed
	case written.MatchString(text), (content(answer, idle) == 0 || agrees(answer)) && strings.ContainsAny(asked, "?？؟"):
		least = leastNamed
	}
	return text, n >= least
}

// refusedMark begins the text of a decision against a tool call.
const refusedMark = "rejected "

// leastSaid is how many words with a meaning a statement has by itself, and leastNamed
// one that names something by the way in which code and figures are written.
const leastSaid, leastNamed = 4, 2

// work are captures of what was done or is to be done, which decide nothing.
var work = lazyregexp.New(`^(?:commit(?: [0-9a-f]{4,40})?: |plan \(\d+\): )`)

// selfish is an agent's own way of working: no choice about the work.
var selfish = lazyregexp.New(`(?:^|[\s(])(?:I|I'll|ich|je|yo)(?:[\s,]|$)|我来|本次会话|this session`)

// Stands reports whether a sentence can be understood without what stood before it, and
// says enough.
func Stands(s string) bool {
	return specific(s, leastSaid) && !selfish.MatchString(s) && (!points(s) || written.MatchString(s))
}

// assent is how a reply begins that agrees and goes on.
var assent = lazyregexp.New(`(?i)^(?:(?:\(?\d{1,2}[.)]?|\(?[a-z][.)]|but|aber|pero|mais|yes|yeah|yep|ok|okay|sure|ja|oui|sí|si|vale|好的?|行|是的?)[,，.!。\s]+)+`)

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

// orders reports whether a person's words say by themselves how something is to be.
func orders(words string) bool {
	if Asking(words) || Chat(words) || Wonders(words) || !ordering().MatchString(words) {
		return false
	}
	return specific(assent.ReplaceAllString(words, ""), leastSaid) && (!points(words) || written.MatchString(words))
}
