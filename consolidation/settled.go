package consolidation

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/choice"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/ledger"
)

// readable returns the text of a captured decision if it can be read by itself: the question and
// its answer, word for word, or the words that decide. It returns false for a "yes" to "this", a
// question, a call refused without a word, a commit, and a list of steps.
func readable(text string) (string, bool) {
	text = strings.Join(strings.Fields(text), " ")
	asked, answer, answered := choice.Parts(text)
	refused := strings.HasPrefix(text, refusedMark)
	switch {
	case work.MatchString(text):
		return "", false
	case !answered:
		return text, !refused && specific(text, leastNamed)
	case orders(answer) && refused:
		return answer, true
	case orders(answer):
		return text, true
	case refused, choice.Wonders(answer):
		return "", false
	}
	if wordCount(answer) > mostAnswer && choice.Bare(answer) == answer && !takesUp(answer, asked) {
		return "", false // it begins something else
	}
	n, least := content(text), leastSaid
	if r, _ := utf8.DecodeRuneInString(answer); unicode.IsUpper(r) && wordCount(answer) == 1 {
		n += leastNamed // the answer is a name
	}
	switch {
	case points(asked) || points(answer):
		least += leastNamed
	case codeLike.MatchString(text), content(answer) < leastNamed && choice.Asking(asked):
		least = leastNamed
	}
	return text, n >= least
}

// mostAnswer is the most words of an answer that neither begins with a yes, a no or a label nor
// repeats a word of its question.
const mostAnswer = 5

// takesUp reports whether an answer has a word or a figure of its question.
func takesUp(answer, asked string) bool {
	has := words(asked)
	return slices.ContainsFunc(append(contents(answer), numbers(words(answer))...), func(w string) bool { return slices.Contains(has, w) })
}

// refusedMark begins the text of a decision against a tool call.
const refusedMark = "rejected "

// leastSaid is the least number of words with a meaning that a statement must have. leastNamed is
// the least number for a statement with a name written as code or a figure.
const leastSaid, leastNamed = 4, 2

// work matches captures of work that was or is to be done, which decide nothing.
var work = textutil.LazyRegexp(`^(?:commit(?: [0-9a-f]{4,40})?: |plan \(\d+\): )`)

// codeLike matches names that are written like code, paths or figures.
var codeLike = textutil.LazyRegexp("`[^`]+`" + `|[a-z]\w*[A-Z_]\w*|\w+\(\)|\w+[./]\w{2,}|--?[a-z]{2,}|\d+\.\d+|:\d{2,5}`)

// points reports whether a text refers to something outside of it.
func points(s string) bool { return cuesOf(s)&cuePointing != 0 }

// contents returns the words of a text that name something. In scripts without spaces these are
// its characters.
func contents(s string) []string {
	return slices.DeleteFunc(words(s), func(w string) bool {
		r, _ := utf8.DecodeRuneInString(w)
		return !ideograph(r) && (utf8.RuneCountInString(w) < 4 || ledger.Weightless(w) || startOf(w)&cueIdle != 0)
	})
}

// content counts the words of a text that name something.
func content(s string) int { return (weight(contents(s)) + 1) / 2 }

// specific reports whether a text can be understood without the text before it.
func specific(s string, least int) bool {
	if startOf(s)&cueBegins != 0 && !strings.HasPrefix(s, "`") || choice.Asking(s) {
		return false
	}
	if codeLike.MatchString(s) {
		least = min(least, leastNamed)
	} else if points(s) {
		least += 2
	}
	return content(s) >= least
}

// orders reports whether a person's words are an order by themselves.
func orders(words string) bool {
	if choice.Asking(words) || choice.Wonders(words) || cuesOf(words)&cueOrders == 0 {
		return false
	}
	return specific(choice.Bare(words), leastSaid-1) && (!points(words) || codeLike.MatchString(words))
}
