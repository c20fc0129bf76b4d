package ledger

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/choice"
	"github.com/memkernel/memkernel/transcript"
)

// rejected begins the text of a decision against a tool call.
const rejected = "rejected "

// Settled returns the text of a captured decision if the decision holds beyond the next step. The
// text is a question with its answer, word for word, or the words by which somebody decides.
// Settled returns false for leave to go on, for an answer that names the next task, and for a
// text that can't be understood by itself.
func Settled(text string) (string, bool) {
	text = strings.Join(strings.Fields(text), " ")
	asked, answer, answered := choice.Parts(text)
	own := choice.Bare(answer)
	a := newSentence(own, transcript.Unquoted(own))
	question, option := choice.Picked(asked, answer)
	q := newSentence(question, transcript.Unquoted(question))
	weight := weightOf(own)
	switch {
	case !answered:
		t := newSentence(text, transcript.Unquoted(text))
		return text, lasting(text) || weightOf(text) >= leastAsked && !t.task() && !t.begins("pointing") && !t.has("steps") && !asksIn(text) && !strings.HasPrefix(text, rejected)
	case q.has("steps") && weight < leastReason, a.has("steps") && !lasting(answer):
		return "", false
	case strings.HasPrefix(text, rejected):
		return answer, !choice.Wonders(answer) && !a.task() && a.has("firm", "orders", "lasting", "chooses") && (hasValue(own, a.wide) || weight >= leastReason)
	case lasting(answer):
		return text, true
	case option != "" && weight <= leastReason:
		return text, true
	case choice.Wonders(answer), a.task():
		return "", false
	case option != "":
		return text, true
	case own == "" || choice.Agrees(answer):
		// Its last question proposes how a thing is to be, and not only what to do next.
		all := sentences(q.said)
		return text, all[len(all)-1].has("chooses", "lasting", "decides") && (hasValue("- "+q.said, q.wide) || weightOf(q.said) > leastAsked) && !strings.ContainsAny(answer, "0123456789")
	case len(a.words) > mostAnswer && own == answer && !sharesWord(answer, asked) && !a.has("wishes", "decides", "orders", "unsure"):
		return "", false // it begins something else
	}
	return text, len(own) > 2 && (hasValue("- "+own, a.wide) || weight > 1 || weightOf(asked) >= leastAsked && weight > 0)
}

// Bounds of decisions, our choice. leastReason is the least number of words that name something in an
// answer that does more than permit the next step. leastAsked is the same for a question that an
// answer of one word settles. mostAnswer is the most words of an answer that neither begins with a
// yes, a no or a label nor repeats a word of its question.
const leastReason, leastAsked, mostAnswer = 5, 3, 7

// lasting reports whether a text has a statement that lasts.
func lasting(text string) bool {
	return slices.ContainsFunc(Read(text), func(s Statement) bool { return s.Lasting })
}

// weightOf counts the words of a text that name something.
func weightOf(text string) int {
	gist := Gist(text)
	if strings.ContainsFunc(gist, isWide) {
		return utf8.RuneCountInString(gist) / 3
	}
	return len(strings.Fields(gist))
}

// sharesWord reports whether two texts have a word that names something in common.
func sharesWord(a, b string) bool {
	has := strings.Fields(Gist(b))
	return slices.ContainsFunc(strings.Fields(Gist(a)), func(w string) bool { return slices.Contains(has, w) })
}

// task reports whether a sentence asks for a step of the work, and for no way in which a thing is
// to be.
func (s *sentence) task() bool {
	m := meanings()["tasks"]
	if s.wide {
		at, _ := m.wideAt(s.low)
		return at == 0 || weightOf(s.said) < leastReason && strings.HasSuffix(strings.TrimRight(s.low, "。 "), "て")
	}
	at, _ := m.find(s.core())
	return at == 0 && !s.has("chooses")
}
