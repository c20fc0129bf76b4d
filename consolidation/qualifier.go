package consolidation

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/markdownstore"
)

// The words by which an exception, a condition or a restriction begins, in the languages that we
// were sure of. The words of exceptions restrict anywhere. The words of openings restrict only at
// the beginning of a sentence: "Not on Fridays."
const (
	exceptions = `unless|except(?: (?:for|on|in|at|if|when|where|that))?|with the exception of|other than|apart from|as long as|so long as|provided(?: that)?|only (?:if|when|on|in|for|after|before|with|while|during|where)|but (?:not|never|only)|not (?:on|in|for|if|when|during|before|after|while)|until|` +
		`außer|ausgenommen|mit ausnahme|es sei denn|sofern|solange|nur (?:wenn|am|an|im|in|bei|für|nach|vor|mit|während)|aber (?:nicht|nie|nur)|nicht (?:am|an|im|in|bei|für|wenn|während|vor|nach)|jedoch nicht|` +
		`salvo|excepto|a menos que|a no ser que|siempre (?:que|y cuando)|solo (?:si|cuando|en|los|para|después)|sólo (?:si|cuando|en|los|para)|pero (?:no|nunca|solo)|no (?:los|en|durante|cuando|si)|` +
		`sauf|hormis|excepté|à moins (?:que|de)|à condition|tant que|seulement (?:si|quand|le|les|en|pour|après)|uniquement (?:si|quand|le|les|en|pour)|mais (?:pas|jamais|seulement)|pas (?:le|les|en|pendant|si|quand)|` +
		`tranne|eccetto|a meno che|purché|solo (?:se|quando|il|in|per|dopo)|ma (?:non|mai|solo)|non (?:il|in|durante|quando|se)|` +
		`exceto|a menos que|a não ser que|desde que|contanto que|somente (?:se|quando|em|para)|apenas (?:se|quando|em|para)|mas (?:não|nunca|só)|` +
		`behalve|tenzij|mits|uitgezonderd|zolang|alleen (?:als|op|in|voor|na)|maar (?:niet|nooit|alleen)|niet (?:op|in|voor|als|tijdens)|` +
		`кроме|за исключением|если не|если только|только (?:если|когда|в|по|для|после)|но не|не (?:в|по|для|если|когда)`
	openings      = `but|however|otherwise|exceptions?|though|although|instead|this (?:does|do|is|applies|holds)(?: not|n't)?|that (?:does|doesn't|is not|isn't)|jedoch|allerdings|sonst|andernfalls|ausnahmen?|das gilt|gilt nicht|sin embargo|excepciones|excepción|de lo contrario|esto no|cependant|exceptions? :|sinon|cela ne|tuttavia|eccezioni|eccezione|altrimenti|questo non|porém|exceções|exceção|caso contrário|isto não|echter|uitzonderingen|uitzondering|anders|dit geldt|однако|исключение|исключения|иначе|это не`
	hanExceptions = `除非|除了|除外|例外|只有|仅在|仅限|仅当|僅在|但不|但是|但在|前提是|只要|ただし|但し|除き|除く|場合を除|限り|に限る|のみ`
)

var (
	excepts    = textutil.LazyRegexp(`(?i)(?:^|[^\p{L}])(?:` + exceptions + `)(?:[^\p{L}]|$)|` + hanExceptions)
	qualifying = textutil.LazyRegexp(`(?i)^[^\p{L}]*(?:(?:` + exceptions + `|` + openings + `)(?:[^\p{L}]|$)|` + hanExceptions + `|不过|否则|不適用|不适用)`)
	// only matches the words by which a heading restricts all text below it.
	only = textutil.LazyRegexp(`(?i)(?:^|[^\p{L}])(?:only|never|not|nur|nie|nicht|keine?|solo|sólo|nunca|seulement|uniquement|jamais|mai|somente|apenas|alleen|nooit|niet|только|никогда|не)(?:[^\p{L}]|$)|仅|僅|只|禁止|不要|不得|のみ|だけ`)
)

// qualifies reports whether a text restricts the text before it. Such a text says nothing alone,
// and the text before it means something else without it.
func qualifies(text string) bool { return qualifying.MatchString(text) }

// restricts reports whether a heading or a lead limits when or whether the text below it holds.
func restricts(text string) bool { return only.MatchString(text) || excepts.MatchString(text) }

// governed returns an entry with the text of its file that governs it: the lead of its list or
// the heading above, if they restrict it, and an item, a nested block or a paragraph right after
// it that does so. The result is nil for an entry that only restricts another entry.
func governed(f *File, i int) *Entry {
	e := &f.Entries[i]
	if qualifies(e.Plain) && i > 0 && sameTrail(&f.Entries[i-1], e) {
		return nil
	}
	text := e.Plain
	for j := i + 1; j < len(f.Entries) && sameTrail(e, &f.Entries[j]) && qualifies(f.Entries[j].Plain); j++ {
		text = strings.TrimRight(text, " ;,")
		text += ending(text) + " " + f.Entries[j].Plain
	}
	lead := leadOf(f, i)
	if n := len(e.Trail); lead == "" && n > 0 {
		if h := strings.TrimRight(oneLine(e.Trail[n-1]), " :："); restricts(h) && !impliesTag(h) {
			lead = h + ":"
		}
	}
	if lead != "" {
		text = lead + " " + text
	}
	if text == e.Plain {
		return e
	}
	whole := *e
	whole.Plain = text
	return &whole
}

// ending returns the sign that a text lacks to end a sentence.
func ending(text string) string {
	if text = strings.TrimRight(text, " *_`)\"'"); strings.HasSuffix(text, ".") || strings.HasSuffix(text, "。") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, ":") {
		return ""
	}
	return "."
}

func sameTrail(a, b *Entry) bool { return a.Path == b.Path && slices.Equal(a.Trail, b.Trail) }

// leadOf returns the paragraph that introduces the list of an item and restricts it, "" if no
// paragraph does.
func leadOf(f *File, i int) string {
	if f.Entries[i].Kind != markdownstore.UnitItem {
		return ""
	}
	for j := i - 1; j >= 0 && sameTrail(&f.Entries[j], &f.Entries[i]); j-- {
		e := &f.Entries[j]
		if e.Kind == markdownstore.UnitItem {
			continue
		}
		if lead := strings.TrimSpace(e.Plain); leads(lead) && restricts(lead) && !impliesTag(lead) {
			return lead
		}
		return ""
	}
	return ""
}

// impliesTag reports whether a label only repeats a tag.
func impliesTag(label string) bool { return saysDecision(label) || saysLesson.MatchString(label) }
