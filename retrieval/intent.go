package retrieval

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/memkernel/memkernel/internal/textutil"
)

// intent holds the properties of an answer that the form of its question implies.
type intent struct {
	// when reports whether the answer is a time.
	when bool
	// several reports whether the answer is more than one thing, likely from several places.
	several bool
	// present reports whether the question is about the present state.
	present bool
	// past reports whether the question is about an earlier state.
	past bool
}

// Forms of questions in English, Spanish, German and Chinese. Questions in other languages have
// no known intent and are ranked by their words alone.
var (
	asksWhen = textutil.LazyRegexp(`(?i)^\W*(?:and |so )?when\b|\b(?:what|which) (?:day|date|month|year|time)\b|^\W*(?:desde |hasta )?cuándo\b|^\W*cuando\b|^\W*(?:seit |bis )?wann\b|什么时候|何时|哪[一]?[天年月日]|几[月号]`)
	// The perfect tense with a plural asks for events of any time.
	asksSeveral = textutil.LazyRegexp(`(?i)\bhow (?:many|often)\b|^\W*what (?:are|were)\b|\b(?:kind|type|sort)s? of\b|\ball\b|\bboth\b|^\W*(?:what|which|where|who)\b.*\b(?:has|have)\b` +
		`|\bcuáles\b|\bcuánt[oa]s\b|^\W*qué\s+\p{L}+s\b|\bwelche[nr]?\s+\p{L}+(?:en|er|e)\b|\bwie (?:viele|oft)\b|\bwas alles\b|哪些|多少次|几次|分别|都有`)
	// asksDone matches questions about an event that is over.
	asksDone    = textutil.LazyRegexp(`(?i)\b(?:did|was|were|had|has|have|haben|hat|war|waren|wurden?|fue|fueron|hicimos)\b|了`)
	asksPresent = textutil.LazyRegexp(`(?i)\b(?:now|nowadays|currently|at present|these days|right now|latest|newest|most recent|still|anymore|any more)\b|\b(?:ahora|actualmente|todavía)\b|(?:^|\s)últim[oa]s?\b|\b(?:jetzt|derzeit|aktuell(?:e[nrs]?)?|momentan|inzwischen|noch immer|neueste[nrs]?)\b|现在|目前|最新|如今|还是`)
)

// asksPast matches questions about an earlier state. "When was X founded" and "who was X created
// by" ask about the present state. asksMade recognizes them by the participle at their end.
var (
	asksPast = textutil.LazyRegexp(`(?i)\b(?:originally|original|formerly|former|previously|previous|initially|used? to (?:be|have|do|run|live|work|use)|back then|at first|in the past)\b|\bbefore\W*$|\b(?:was|were|did|had)\b.*\bbefore\b` +
		`|\b(?:antes|originalmente|anteriormente)\b|\bsolía|\b(?:früher|ursprünglich|vorher|zuvor|damals|ehemals)\b|\b(?:avant|auparavant|anciennement)\b|以前|之前|原来|最初|当初|曾经|过去`)
	asksWas = textutil.LazyRegexp(`(?i)\b(?:what|who|which|where|how \p{L}+)\b.{0,30}\b(?:was|were) (?:the|our|my|your|his|her|their)\b|\b(?:wer|was|wo|wie) war(?:en)?\b|\b(?:cuál|cuáles|qué|quién|dónde) (?:era|eran|fue)\b`)
	// asksMade matches questions that end with a participle, such as "founded" or "created by".
	asksMade = textutil.LazyRegexp(`(?i)(?:ed|en|born|known|made|built|held|sung|taught|again)(?: (?:by|in|at|to|with|on|for|from))?\W*$`)
)

// A text that contains none of these literals can't match the corresponding expression above.
var (
	whenLiterals = []string{"when", "what day", "what date", "what month", "what year", "what time",
		"which day", "which date", "which month", "which year", "which time", "cuándo", "cuando", "wann", "什么时候", "何时", "哪", "几"}
	severalLiterals = []string{"how many", "how often", "what are", "what were", "kind of", "kinds of", "type of", "types of",
		"sort of", "sorts of", "all", "both", "has", "have", "cuáles", "cuánt", "qué", "welche", "wie viele", "wie oft", "was alles",
		"哪些", "多少次", "几次", "分别", "都有"}
	pastLiterals = []string{"origin", "former", "previous", "initially", "use to", "used to", "back then", "at first", "in the past", "before", "was", "were", "antes", "solía", "anterior", "früher", "ursprünglich",
		"vorher", "zuvor", "damals", "ehemals", "avant", "auparavant", "anciennement", "war", "era", "fue", "以前", "之前", "原来", "最初", "当初", "曾经", "过去"}
	presentLiterals = []string{"now", "currently", "at present", "these days", "latest", "newest", "most recent", "still",
		"anymore", "any more", "ahora", "actualmente", "todavía", "últim", "jetzt", "derzeit", "aktuell", "momentan", "inzwischen",
		"noch immer", "neueste", "现在", "目前", "最新", "如今", "还是"}
)

func intentOf(text string) intent {
	lower := folded(text)
	asks := func(needs []string, form *textutil.Regexp) bool {
		return holdsAny(lower, needs) && form.MatchString(text)
	}
	w := asks(whenLiterals, asksWhen)
	return intent{when: w, several: !w && (asks(severalLiterals, asksSeveral) || plural(text)), present: asks(presentLiterals, asksPresent), past: holdsAny(lower, pastLiterals) && past(text)}
}

// folded returns a text in the form in which the literals are searched: in small letters, and with
// s for the long s, as case-insensitive expressions compare them.
func folded(text string) string {
	return strings.ReplaceAll(strings.ToLower(text), "ſ", "s")
}

// holdsAny reports whether a text holds any of the literals.
func holdsAny(text string, literals []string) bool {
	return slices.ContainsFunc(literals, func(l string) bool { return strings.Contains(text, l) })
}

// past reports whether a text is a question about an earlier state.
func past(text string) bool {
	return asksPast.MatchString(text) || asksWas.MatchString(text) && !asksMade.MatchString(text)
}

// timeTexts lists words of time that passages use, by language.
var timeTexts = map[string]string{
	"en": "yesterday today tomorrow tonight last next ago week weekend month year day since recently monday tuesday wednesday thursday friday saturday sunday " +
		"january february march april june july august september october november december",
	"es": "ayer hoy mañana anoche pasado pasada próximo próxima semana mes año hace desde lunes martes miércoles jueves viernes sábado domingo " +
		"enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
	"de": "gestern heute morgen letzte letzten nächste woche monat jahr tag seit kürzlich montag dienstag mittwoch donnerstag freitag samstag sonntag " +
		"januar februar märz mai juni juli oktober dezember",
	"": "昨天 今天 明天 前天 上周 下周 这周 本周 上月 下月 本月 去年 今年 明年 前年 星期 周一 周二 周三 周四 周五 周六 周日 月份",
}

// timeWords returns the hashes of the words of time and of the years 1950 to 2099.
var timeWords = sync.OnceValue(func() map[uint32]bool {
	out := map[uint32]bool{}
	a := analyzers.Lend()
	defer analyzers.Give(a)
	take := func(terms []byte) {
		for _, t := range appendHashes(nil, terms) {
			out[t] = true
		}
	}
	for lang, text := range timeTexts {
		if lang != "" {
			take(a.AppendIndexAs(nil, text, lang))
			continue
		}
		take([]byte(text)) // pairs of characters are terms without stemming
	}
	for year := 1950; year < 2100; year++ {
		take([]byte(strconv.Itoa(year)))
	}
	return out
})

// plural reports whether a plural noun is between an English question word and
// the verb.
func plural(text string) bool {
	words := strings.Fields(strings.ToLower(text))
	if len(words) < 2 || !strings.Contains(" what which who where ", " "+words[0]+" ") {
		return false
	}
	for _, w := range words[1:min(len(words), 5)] {
		if strings.Contains(" is was does did do can could should will would has had shall may might ", " "+w+" ") {
			return false
		}
		if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.ContainsAny(w, "'’") && !strings.ContainsAny(w[len(w)-2:len(w)-1], "sui") {
			return true
		}
	}
	return false
}
