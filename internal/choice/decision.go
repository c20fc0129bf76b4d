package choice

import (
	"slices"
	"strings"
)

// How much of a decision each part takes at most, in characters: the question, all
// options that it names, the person's words.
const (
	askedRunes  = 90
	pickedRunes = OptionRunes
	wordsRunes  = 120
)

// The marks of a decision's text.
const (
	answersMark  = " → "
	choseMark    = "chose "
	rejectedMark = "rejected "
	userMark     = " (user: "
	agentMark    = "agent: "
)

// Decision returns what an answer settles, as one line: the question, what was chosen or
// rejected in the agent's words, and the person's own.
//
//	Which store? → chose Option 2: Postgres — many writers (user: 2, but pooled)
func (o Offer) Decision(a Answer, words string) string {
	var b strings.Builder
	if q := o.asked(); q != "" {
		b.WriteString(q + answersMark)
	}
	n := len(a.Chosen) + len(a.Rejected)
	list := func(mark string, places []int) {
		for i, p := range places {
			text := o.Options[p].Text
			if n > 2 {
				text = o.Options[p].short()
			}
			if i == 0 {
				b.WriteString(mark)
			} else {
				b.WriteString("; ")
			}
			b.WriteString(Cut(text, max(pickedRunes/n, 30)))
		}
	}
	list(choseMark, a.Chosen)
	if len(a.Chosen) > 0 && len(a.Rejected) > 0 {
		b.WriteString(", ")
	}
	list(rejectedMark, a.Rejected)
	if words = Cut(words, wordsRunes); words != "" {
		b.WriteString(userMark + words + ")")
	}
	return b.String()
}

// short returns an option's label and title.
func (o Option) short() string {
	if i := strings.Index(o.Text, o.Title); i >= 0 && o.Title != "" {
		return o.Text[:i+len(o.Title)]
	}
	return o.Text
}

// asked returns the sentence in which the offer asks, "" if none does.
func (o Offer) asked() string {
	if !o.Asks {
		return ""
	}
	for _, s := range slices.Backward(splitSentences(o.Question)) {
		if Asking(s) {
			return Cut(s, askedRunes)
		}
	}
	return Cut(strings.TrimRight(o.Question, ":："), askedRunes)
}

// Words returns the person's own in the text of a decision, "" if it has none: what else
// is in it are an agent's.
func Words(decision string) string {
	if i := strings.LastIndex(decision, userMark); i >= 0 {
		return strings.TrimSuffix(decision[i+len(userMark):], ")")
	}
	i := strings.LastIndex(decision, answersMark)
	if strings.HasPrefix(decision, agentMark) || i < 0 {
		return ""
	}
	if rest := decision[i+len(answersMark):]; !strings.HasPrefix(rest, choseMark) && !strings.HasPrefix(rest, rejectedMark) {
		return rest
	}
	return ""
}

// Said returns the text of a decision that an agent stated.
func Said(statement string) string { return agentMark + statement }
