package choice

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/textutil"
)

// Asked is the end of an agent's text, which a person's next message may answer.
type Asked struct {
	// Text holds the sentences that ask a question. If there are none, Text holds the last
	// sentences of the agent's text. Text is word for word and bounded.
	Text string
	// Question reports whether Text asks a question.
	Question bool
	// Options are the labels and titles of the list that the text offers, "A. Redis".
	Options []string
}

// The largest lengths, in characters, of the parts of a decision: the question, all its options,
// one option, and the reply. A longer reply is not an answer.
const (
	QuestionRunes = 180
	optionsRunes  = 200
	optionRunes   = 60
	ReplyRunes    = 180
)

// textBytes is the length of the end of a text that is examined. maxOptions is the largest number
// of options in a list. replyLines is the largest number of lines in a reply.
const (
	textBytes  = 16 << 10
	maxOptions = 12
	replyLines = 4
)

// answersMark separates a question from its answer in the text of a decision.
const answersMark = " → "

// Ask returns the question in the last two paragraphs of an agent's text, or the last paragraph if
// they hold no question.
func Ask(text string) Asked {
	lines := readable(textutil.Tail(text, textBytes))
	a := Asked{Options: options(lines)}
	last, looked := "", 0
	for i := len(lines) - 1; i >= 0 && looked < 2; i-- {
		t := unmarked(lines[i])
		if t == "" || inList(lines[i]) && (looked > 0 || !asking(t) || len(a.Options) > 0) {
			continue
		}
		if looked++; asking(t) {
			a.Text, a.Question = focused(lines, i), true
			return a
		}
		if last == "" {
			last = t
		}
	}
	a.Text = cut(last, QuestionRunes)
	return a
}

// inList reports whether a line is an item, a row of a table or a labelled line.
func inList(line string) bool {
	t, bullet := unbulleted(line)
	return bullet || strings.HasPrefix(t, "|") || label.MatchString(unmarked(t))
}

// focused returns the question of line i. It returns the whole line if that fits. Otherwise it
// returns the last sentence that asks, with as many of the sentences before it as fit. A question
// of a few words ("Shall I?") always keeps the sentence before it.
func focused(lines []string, i int) string {
	q := unmarked(lines[i])
	if utf8.RuneCountInString(q) > QuestionRunes {
		s := sentences(q)
		last := len(s) - 1
		for last > 0 && !asking(s[last]) {
			last--
		}
		q = s[last]
		for last--; last >= 0 && utf8.RuneCountInString(s[last]+q) < QuestionRunes; last-- {
			q = s[last] + " " + q
		}
	}
	if n := utf8.RuneCountInString(q); n < shortQuestion || n < pointingQuestion && points.MatchString(q) && len(sentences(q)) == 1 {
		if s := before(lines[:i]); s != "" && utf8.RuneCountInString(s+q) < QuestionRunes {
			q = s + " " + q
		}
	}
	if r := []rune(q); len(r) > QuestionRunes {
		q = string(r[len(r)-QuestionRunes+1:]) // a long question asks at its end
		if _, rest, ok := strings.Cut(q, " "); ok {
			q = rest
		}
		q = "…" + q
	}
	return q
}

// before returns the last sentence or title before a question, which names the question's
// subject. It returns "" if the text before the question is a list or announces one.
func before(lines []string) string {
	i := len(lines) - 1
	for i > 0 && strings.TrimSpace(lines[i]) == "" {
		i--
	}
	if i < 0 || inList(lines[i]) {
		return ""
	}
	t := unmarked(lines[i])
	if strings.HasSuffix(t, ":") {
		return ""
	}
	if s := last(sentences(t), t); len(s) >= shortQuestion {
		return s
	}
	return "" // such as "Done."
}

// shortQuestion is the length, in characters, below which a question can't be understood without
// the text before it. pointingQuestion is that length for a question that points at the text.
const shortQuestion, pointingQuestion = 24, 80

// points matches words for a thing that only the text before a question names.
var points = textutil.LazyRegexp(`(?i)\b(?:this|that|these|those|it|them|any of|all of|following|dies\w*|das|ce(?:la|ci)|ça|es[ot]e?)\b|这|那|它|これ|それ|この|その|이대로|이렇게`)

// label matches the label of an option and the text after it: "2. Redis", "(b) Redis", "Option 2:
// Redis".
var label = textutil.LazyRegexp(`^((?:\p{L}+ )?#?[(\[（]?(\d{1,2}|[A-Za-zА-Яа-я])[.)\]:：、．）]+)\s*(\S.*)$`)

// options returns the last labelled list of at least two lines in a text. It returns nil if that
// list has more than maxOptions options.
func options(lines []string) []string {
	var out, list []string
	next := ""
	for _, l := range append(lines, "") {
		t, _ := unbulleted(l)
		m := label.FindStringSubmatch(unmarked(t))
		if m == nil {
			continue
		}
		switch first := strings.ContainsAny(m[2], "1aAаА") && utf8.RuneCountInString(m[2]) == 1; {
		case m[2] == next:
			list = append(list, m[1]+" "+cut(titleOf(m[3]), optionRunes))
		case first:
			list = []string{m[1] + " " + cut(titleOf(m[3]), optionRunes)}
		default:
			continue
		}
		if n, err := strconv.Atoi(m[2]); err == nil {
			next = strconv.Itoa(n + 1)
		} else {
			r, _ := utf8.DecodeRuneInString(m[2])
			next = string(r + 1)
		}
		if len(list) > 1 {
			out = list
		}
	}
	if len(out) > maxOptions {
		return nil
	}
	return out
}

// titleOf returns the statement of a line without its explanation.
func titleOf(line string) string {
	end := len(line)
	for _, sep := range [...]string{": ", " — ", " – ", " - ", " -- ", " | ", ". ", "; ", "。", "：", "；", "—"} {
		if i := strings.Index(line, sep); i > 0 {
			end = min(end, i)
		}
	}
	if strings.Count(line[:end], "`")%2 > 0 {
		end = len(line) // the mark is in code
	}
	return strings.TrimRight(strings.TrimSpace(line[:end]), ".:;。?？")
}

// Answered returns the decision that an agent's question and a person's reply make: both word for
// word, and the options if the question or the reply points at them. It returns false if the reply is
// not an answer. A reply of more than a few words is an answer only if it begins like one, names a
// label, has words of choosing or repeats one of the question's words. An offer without a question
// mark is answered by a label, or by a yes or no that repeats one of its words. A reply that asks,
// doubts or reports is not an answer. A reply that only agrees is none either, if the question leaves
// open what is chosen or only asks to go on.
func (a Asked) Answered(reply string) (string, bool) {
	reply = strings.TrimSpace(reply)
	if a.Text == "" || reply == "" || utf8.RuneCountInString(reply) > ReplyRunes || strings.Count(reply, "\n") >= replyLines || strings.Contains(reply, "```") {
		return "", false
	}
	labels, rest := a.labels(reply), Bare(reply)
	begins := len(rest) < len(reply)
	agrees := begins && !labels && !strings.ContainsAny(reply, "0123456789") && len(strings.Fields(rest)) < agreeWords && textutil.Columns(rest) <= 2*agreeWords
	chooses := Chooses(rest) || a.shares(rest)
	switch {
	case Wonders(reply), asking(reply) && !begins && !labels, reporting.MatchString(rest):
		return "", false
	case idle.MatchString(a.Text) && !labels, passing.MatchString(a.Text) && !begins && !labels && !Chooses(reply), chore.MatchString(rest) && !labels && len(strings.Fields(rest)) <= choreWords:
		return "", false // the person names the next task
	case agrees && (either.MatchString(a.Text) || len(a.Options) == 0 && passing.MatchString(a.Text)):
		return "", false
	case begins && !labels && weak.MatchString(reply) && !agrees && !(chooses && !either.MatchString(a.Text) || a.shares(rest)),
		!begins && !labels && !chooses && 2*textutil.Columns(reply)-utf8.RuneCountInString(reply) > pointingRunes:
		return "", false // the person goes on to something else
	case a.Question, labels && utf8.RuneCountInString(reply) <= labelRunes, begins && (labels || a.shares(reply)):
	default:
		return "", false
	}
	text := a.Text
	if labels || strings.HasSuffix(text, ":") || !begins && utf8.RuneCountInString(reply) <= pointingRunes || agrees && points.MatchString(text) {
		text += a.offered()
	}
	return text + answersMark + strings.Join(strings.Fields(reply), " "), true
}

// offered returns the options as a continuation of the question.
func (a Asked) offered() string {
	if list := cut(strings.Join(a.Options, "; "), optionsRunes); list != "" {
		return " " + list
	}
	return ""
}

// pointingRunes is the largest length of a reply that may point at an option without its label
// ("the second"). Wide characters count three times, since a script without spaces says the same in
// fewer characters. labelRunes is the largest length of a label alone ("#12").
// choreWords is the largest number of words of a reply that only asks for a step of the moment.
const pointingRunes, labelRunes, choreWords = 40, 3, 5

var (
	// choosing matches words by which people choose, prefer or refuse.
	choosing = textutil.LazyRegexp(`(?i)\b(?:let'?s|instead|rather|prefer|should(?:n'?t)?|don'?t|do not|only|keep (?:it|the|this|that|them|both|our|my|your|using|to)|use|drop|skip|leave|avoid|never|always|without|separate\w*|i(?:'d| would)|want|need(?:s)? to|make (?:it|that|this|them|sure)|` +
		`lass uns|lieber|stattdessen|statt|nur|kein\w*|behalt\w*|nimm|soll\w*|plutôt|garde\w*|seulement|sans|mejor|solo|sin|deja\w*|usa\w*)\b|(?:^|[.,;!] ?)just |にして|にしよう|いいな|でいい|がいい|ではなく|じゃなく|だけ|不要|只|改成|改为|改為|而不是|采用|使用|말고|하지 ?마`)
	// reporting begins words that report a state or an event, or that name another task.
	reporting = textutil.LazyRegexp(`(?i)^(?:\.{2,}|…|i(?:'ve|'m| have| did| tried| got| checked| hope)\b|(?:it|that|this) (?:still|does|did|work|is|has)|still\b|seems?\b|we have\b|works?\b|done\b|also\b|btw\b|by the way\b|next\b|another\b|let'?s (?:move|look|start|go on|continue)\b)`)
	// idle matches offers to go on with anything.
	idle = textutil.LazyRegexp(`(?i)\b(?:anything else|what(?:'s| is| would you like| do you want| should (?:we|i))\b[^?]{0,20}\bnext|(?:ready|on) (?:for|to) (?:the )?next|what(?:'s| is) your (?:concern|question|worry)|sonst noch etwas|autre chose|algo más)\b|还有什么|他に何か`)
	// either matches questions with alternatives, which a yes leaves open.
	either = textutil.LazyRegexp(`(?i)[ ,](?:or|oder|ou|o bien) (?:would|should|want|is|wait|stop|move|are|lieber|plutôt|prefer)|还是|還是|それとも|아니면`)
	// passing matches questions that ask to go on, or for leave to take a step of the moment.
	passing = textutil.LazyRegexp(`(?i)(?:^|\b(?:to|should i|shall i|may i|can i|we|soll ich|je|ich)\b) ?(?:now |also |then |just )*(?:continue|proceed|go (?:on|ahead)|carry on|keep going|move on|commit|push|test (?:it|this|that)|verify|check|look into|weitermachen|fortfahren|committen|continuer|continuar)\b|继续吗|提交吗|コミット(?:まで進め)?ますか|進めますか|계속할까요|커밋할까요`)
	// chore begins short replies that only ask for a step of the moment.
	chore = textutil.LazyRegexp(`(?i)^(?:just |please |now |and )*(?:commit|push|continue|proceed|go on|merge|test|check|fix (?:it|this|that)|review|run it)\b|コミットして|プッシュして|PRあげて|続けて|提交|머지하|커밋하`)
	// weak begins words that accept a text and may go on to something else.
	weak = textutil.LazyRegexp(`(?i)^(?:ok(?:ay)?|sure|vale|好的?)\b`)
)

// Chooses reports whether a person's words choose, prefer or refuse something.
func Chooses(words string) bool { return choosing.MatchString(words) }

// named matches a figure or a single letter in a reply.
var named = textutil.LazyRegexp(`(?:^|[^\p{L}\p{N}])(\d{1,2}|\p{L})(?:[^\p{L}\p{N}]|$)`)

// labels reports whether a reply names an option by its label.
func (a Asked) labels(reply string) bool {
	return slices.ContainsFunc(a.Options, func(o string) bool { return names(reply, o) })
}

// names reports whether a reply names an option by its label. A small letter does so only if the
// reply is little else.
func names(reply, option string) bool {
	own := label.FindStringSubmatch(option)
	return own != nil && slices.ContainsFunc(named.FindAllStringSubmatch(strings.ReplaceAll(reply, " ", "  "), -1), func(m []string) bool {
		return own[2] == m[1] || strings.EqualFold(own[2], m[1]) && (len(reply) < 4 || m[1] != strings.ToLower(m[1]))
	})
}

// offer matches an option in a list that [Asked.Answered] wrote.
var offer = textutil.LazyRegexp(`(?:^|[?？:：;。.] )((?:\p{L}+ )?#?[(\[（]?(?:\d{1,2}|[A-Za-zА-Яа-я])[.)\]:：、．）]+ [^;]*[^;. ][^;]*)`)

// Picked returns a question without its options, and the option that an answer names by its label,
// or "".
func Picked(asked, answer string) (question, option string) {
	question = asked
	for at := 0; at < len(asked); {
		m := offer.FindStringSubmatchIndex(asked[at:])
		if m == nil {
			break
		}
		question = asked[:min(len(question), at+m[2])]
		if o := asked[at+m[2] : at+m[3]]; names(answer, o) {
			return question, o
		}
		at += m[3]
	}
	return question, ""
}

// sharedRunes is the smallest length of a word that counts if a reply repeats it. Shorter words
// are in too many texts. A figure counts from two digits on.
const sharedRunes = 6

// shares reports whether a reply repeats a word of the agent's text.
func (a Asked) shares(reply string) bool {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	asked := words(a.Text)
	return slices.ContainsFunc(words(reply), func(w string) bool {
		return (utf8.RuneCountInString(w) >= sharedRunes || len(w) > 1 && strings.Trim(w, "0123456789") == "") && slices.Contains(asked, w)
	})
}

var (
	// doubting begins words that take back, wonder or wait.
	doubting = textutil.LazyRegexp(`(?i)^(?:(?:but|and|well)[, ]+)?(?:actually,? maybe|maybe|hang on|wait|hold on|hm+|lol|oh|what|why|how|can you|could you|explain|not sure|moment|warte|vielleicht|espera|quizás|attends|peut-être|等等|也许)(?:[^\p{L}]|$)|https?://\S+$|…$`)
	// answering begins words that agree, refuse or name an option by its label.
	answering = textutil.LazyRegexp(`(?i)^(?:(?:\(?\d{1,2}[.)]?|\(?[a-z][.)]|yes|yeah|yep|ok|okay|sure|go ahead|do it|please do|no|nope|nah|ja|nein|oui|non|sí|si|vale|好的?|行|是的?)[,，.!。\s]+)+`)
)

// Bare returns a person's words without the yes, the no or the label that they begin with.
func Bare(words string) string { return strings.TrimSpace(answering.ReplaceAllString(words+" ", "")) }

// Agrees reports whether words only answer, so that they hold nothing to search for. Such words
// are a yes, a no or a label and few other words, without a question, a path, a flag or a figure.
func Agrees(words string) bool {
	words = strings.TrimSpace(words)
	return len(strings.Fields(words)) <= agreeWords && !strings.ContainsAny(words, "?？؟`/_#@=-0123456789") && Bare(words) != words
}

// agreeWords is the largest number of words in a text that only answers.
const agreeWords = 3

// Wonders reports whether a person's words begin with a question or a doubt, or ask to wait.
func Wonders(words string) bool {
	line, _, _ := strings.Cut(strings.TrimSpace(words), "\n")
	s := sentences(line)
	return len(s) > 0 && asking(s[0]) || doubting.MatchString(line)
}

// Parts returns the question of a decision and the person's reply. It returns false if the
// text has no reply.
func Parts(text string) (asked, answer string, ok bool) {
	i := strings.LastIndex(text, answersMark)
	if i < 0 || strings.HasPrefix(text, agentMark) {
		return text, "", false
	}
	return text[:i], strings.TrimSpace(text[i+len(answersMark):]), true
}

// agentMark begins the text of a decision that an agent stated, as earlier versions kept it.
const agentMark = "agent: "

// ByAgent reports whether the text of a decision is an agent's statement alone.
func ByAgent(text string) bool { return strings.HasPrefix(text, agentMark) }

// readable returns the lines of a text, with code and quotations left empty.
func readable(text string) []string {
	out := strings.Split(strings.ReplaceAll(text, "\r", ""), "\n")
	mark := begunIn(out, len(text) > textBytes-utf8.UTFMax)
	for i, l := range out {
		t := strings.TrimLeft(l, " ")
		switch {
		case mark == "" && (strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~")):
			mark = t[:3]
			if strings.Count(t, mark) > 1 {
				mark = ""
			}
			out[i] = ""
		case mark != "":
			if strings.HasPrefix(t, mark) {
				mark = ""
			}
			out[i] = ""
		case strings.HasPrefix(t, ">"):
			out[i] = ""
		}
	}
	return out
}

// begunIn returns the mark of the code block that a text's first line is in, if its start
// was cut off.
func begunIn(lines []string, cut bool) string {
	first, n := "", 0
	for _, l := range lines {
		if t := strings.TrimSpace(l); strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") {
			if n++; n == 1 {
				first = t
			}
		}
	}
	if !cut || n%2 == 0 || len(first) != 3 {
		return ""
	}
	return first
}
