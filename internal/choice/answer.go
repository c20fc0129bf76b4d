package choice

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/transcript"
)

// Answer is what a reply makes of an offer: places of options, from 0 on, in the order
// in which it names them. Both are empty where it matches none.
type Answer struct {
	Chosen, Rejected []int
}

// Empty reports whether a reply matched no option.
func (a Answer) Empty() bool { return len(a.Chosen)+len(a.Rejected) == 0 }

// readBytes is how much of a reply is looked at, and sentences how many of its
// sentences: who chooses does so first.
const (
	readBytes = 1200
	sentences = 4
	nameWords = 8 // of a name that a reply gives at most
)

// Answer reads what a person's reply chooses. What they quote is another's, and a reply
// that lists options itself answers with none.
func (o Offer) Answer(reply string) Answer {
	reply = cutBytes(strings.TrimSpace(reply), readBytes)
	if len(o.Options) == 0 || reply == "" {
		return Answer{}
	}
	clause := reply
	if i := strings.IndexAny(reply, ",，、;"); i > 0 && !o.Inline {
		clause = reply[:i]
	}
	for _, s := range [...]string{reply, clause} {
		if i := o.titled(s); i >= 0 && o.leaves() && !o.labels(reply[len(s):]) {
			return Answer{Chosen: []int{i}}
		}
	}
	if all, several := o.titles(reply); several {
		return Answer{Chosen: all}
	}
	if len(labelled(strings.Split(reply, "\n"))) > 0 || o.quoted(reply) {
		return Answer{}
	}
	tokens := scan(transcript.Unquoted(reply))
	late := false
	for n := 0; len(tokens) > 0 && n < sentences; n++ {
		end := slices.IndexFunc(tokens, func(t token) bool { return t.kind == stop || t.kind == asks })
		if end < 0 {
			end = len(tokens)
		}
		if question := end < len(tokens) && tokens[end].kind == asks; !question && end > 0 {
			r := reading{offer: o, text: reply, tokens: tokens[:end], late: late}
			if a, sure := r.read(); sure || !a.Empty() {
				return a
			}
			late = late || r.unknown > 0
		} else if question {
			late = true
		}
		tokens = tokens[min(end+1, len(tokens)):]
	}
	if i := o.proposed(); i >= 0 && Agrees(reply) {
		return Answer{Chosen: []int{i}}
	}
	return Answer{}
}

// proposed returns the one option that the offer's question names by its label, -1 if it names
// none or several: a plain yes chooses it.
func (o Offer) proposed() int {
	tokens := scan(o.Question)
	found := -1
	for i := 1; i < len(tokens) && o.Asks; i++ {
		if !tokens[i-1].is(isOption) && tokens[i-1].kind != hash {
			continue
		}
		label := tokens[i].text
		if tokens[i].kind == number {
			label = itoa(tokens[i].value)
		}
		if place := o.labelPlace(label); place >= 0 && place != found {
			if found >= 0 {
				return -1
			}
			found = place
		}
	}
	return found
}

// leaves reports whether the offer leaves a choice: a question, a word for one beside it.
func (o Offer) leaves() bool {
	return o.Asks || slices.ContainsFunc(scan(o.Question), func(t token) bool { return t.is(isWhich | isOption) })
}

// titled returns the option whose title a reply repeats, beside words that mean nothing; -1 if
// none or several.
func (o Offer) titled(reply string) int {
	found := -1
	for i := range o.Options {
		title, _, _ := strings.Cut(o.Options[i].Title, " (")
		if t := core(title); t != "" && t == core(reply) || normal(o.Options[i].Title) == normal(reply) {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

// titles returns the options whose titles a reply names, several and nothing else; none of them
// where it contains more.
func (o Offer) titles(reply string) (places []int, several bool) {
	rest := normal(reply)
	order := span(0, len(o.Options))
	slices.SortStableFunc(order, func(a, b int) int { return len(o.Options[b].Title) - len(o.Options[a].Title) })
	for _, i := range order {
		title := core(o.Options[i].Title)
		if at := strings.Index(rest, title); utf8.RuneCountInString(title) > 2 && at >= 0 {
			rest, places = rest[:at]+"\n"+rest[at+len(title):], append(places, i)
		}
	}
	if len(places) < 2 || !o.leaves() {
		return nil, false
	}
	slices.Sort(places)
	if slices.ContainsFunc(scan(rest), func(t token) bool {
		return t.kind == asks || t.kind == other || t.kind == number || t.kind == word && !t.is(isFill|isAnd|isPick|isYes|isBoth)
	}) {
		return nil, true
	}
	return places, true
}

// labels reports whether a text names an option by its label.
func (o Offer) labels(text string) bool {
	return slices.ContainsFunc(scan(text), func(t token) bool {
		return t.kind == number && o.labelPlace(itoa(t.value)) >= 0 && !o.letters() || t.upper && t.letter() > 0 && o.letters() && o.labelPlace(t.text) >= 0
	})
}

// core returns a text without the words at its ends that mean nothing.
func core(s string) string {
	tokens := scan(s)
	idle := func(t token) bool { return t.kind == stop || t.kind == comma || t.is(isFill|isPick|isYes) }
	for len(tokens) > 0 && idle(tokens[0]) {
		tokens = tokens[1:]
	}
	for len(tokens) > 0 && idle(tokens[len(tokens)-1]) {
		tokens = tokens[:len(tokens)-1]
	}
	if len(tokens) == 0 {
		return ""
	}
	return strings.Join(strings.Fields(normal(s[tokens[0].at:tokens[len(tokens)-1].end])), " ")
}

// quoted reports whether a reply repeats an option's words to speak of it.
func (o Offer) quoted(reply string) bool {
	low := strings.Join(strings.Fields(normal(reply)), " ")
	return slices.ContainsFunc(o.Options, func(p Option) bool {
		title := strings.TrimSuffix(normal(p.Title), "…")
		i := strings.Index(low, title)
		return i >= 0 && len(strings.Fields(title)) > 3 && utf8.RuneCountInString(low[i+len(title):]) > 20
	})
}

// reading is one sentence of a reply on its way to an answer.
type reading struct {
	offer  Offer
	text   string
	tokens []token
	// late reports whether something else was said before.
	late bool

	at      int
	answer  Answer
	picked  bool // a verb of choosing precedes
	keyed   bool // so does a word for what is offered, right before
	negated bool
	agreed  bool
	unknown int
	// names are the words that may be an option's, in the segment that was read last.
	names []token
}

// read returns the answer of the sentence. sure reports whether nothing that follows may change
// it, also where it is empty.
func (r *reading) read() (Answer, bool) {
	for r.at < len(r.tokens) {
		t := r.tokens[r.at]
		if places, n := r.selector(); n > 0 {
			if !r.take(places) {
				return Answer{}, true
			}
			r.at += n
			continue
		}
		done, sure := r.step(t)
		if sure {
			return Answer{}, true
		}
		if done {
			break
		}
		r.at++
	}
	if !r.answer.Empty() {
		return r.answer, true
	}
	return r.named(), false
}

// step passes over what is no selector. done reports whether what follows adds to the choice,
// sure whether there is none.
func (r *reading) step(t token) (done, sure bool) {
	chosen := !r.answer.Empty()
	keyed := r.keyed
	r.keyed = false
	switch {
	case t.kind == comma:
		if chosen && !r.selectsNext() {
			next := r.next(1)
			return true, next.kind == number || next.upper && next.letter() > 0 // "A now, B later"
		}
		if !chosen && r.unknown > 0 {
			if n := r.next(1); (n.is(isBut | isFill | isYes | isAnd)) && !r.named().Empty() {
				return true, false
			}
			r.late, r.names, r.picked, r.unknown = true, nil, false, 0
		}
		r.negated = false
	case t.kind == hash:
		r.keyed = true
	case t.is(isKill):
		return false, true
	case t.is(isOr) && !t.is(isFill|isAnd) || t.is(isOr) && chosen:
		return false, chosen || r.selectsNext()
	case t.is(isBoth|isAll) && chosen: // "1 and 2, both"
	case t.is(isNeg):
		if len(r.answer.Chosen) > 0 && !r.selectsNext() {
			if !r.endsDenied(t) {
				return false, true
			}
			r.answer = Answer{Rejected: r.answer.Chosen}
			return true, false
		}
		r.negated = true
	case t.is(isHedge) && !t.is(isYes|isFill|isPick|isBut|isAnd|isOr|isOption):
		return false, true
	case t.is(isAnd) && chosen:
		if !r.selectsNext() {
			return true, false
		}
	case t.is(isPick) && !chosen:
		r.picked = true
	case t.is(isBut):
		if len(r.answer.Chosen) > 0 || chosen && !r.selectsNext() || len(r.names) > 0 && !t.is(isFill) {
			return true, !chosen && r.offer.labels(r.text[t.end:])
		}
		r.negated = r.negated && !chosen
	case t.is(isPick):
		if len(r.answer.Chosen) > 0 && !t.is(isFill) {
			return true, false
		}
	case t.is(isOption):
		r.keyed = true
	case t.is(isYes | isFill):
		r.agreed = r.agreed || t.is(isYes)
		r.keyed = keyed && t.is(isFill)
	case t.is(isAnd|isOr|isWhich|isLead|isMany) && !chosen:
	case t.is(isOrdinal) && len(r.names) > 0: // "the parser first"
	case chosen:
		return true, !r.picked // "option 2 is too slow" chooses nothing
	default:
		if t.kind == word && !t.is(selects) || t.kind == number {
			r.names = append(r.names, t)
		}
		r.unknown++
		r.picked = false
	}
	return false, false
}

// endsDenied reports whether t is a denial that follows what it denies and ends the sentence,
// as in Japanese and Korean.
func (r *reading) endsDenied(t token) bool {
	first, _ := utf8.DecodeRuneInString(t.text)
	return unicode.In(first, unicode.Hiragana, unicode.Katakana, unicode.Hangul) &&
		!slices.ContainsFunc(r.tokens[r.at+1:], func(t token) bool { return t.kind != comma && !t.is(isFill|isPick) })
}

// selectsNext reports whether a selector follows, behind words that mean nothing.
func (r *reading) selectsNext() bool {
	at, keyed, negated := r.at, r.keyed, r.negated
	defer func() { r.at, r.keyed, r.negated = at, keyed, negated }()
	for r.at++; r.at < len(r.tokens); r.at++ {
		if _, n := r.selector(); n > 0 {
			return true
		}
		t := r.tokens[r.at]
		switch {
		case t.is(isOption), t.kind == hash:
			r.keyed = true
		case !t.is(isFill | isAnd | isNeg | isPick | isBut | isYes):
			return false
		}
	}
	return false
}

// take puts places into the answer. It refuses where something precedes them that
// may turn them into something else.
func (r *reading) take(places []int) bool {
	if !r.picked && (r.unknown > 0 || (r.late || !r.offer.leaves()) && !r.keyed) {
		return false
	}
	for _, p := range places {
		if p < 0 || p >= len(r.offer.Options) {
			return false
		}
	}
	list := &r.answer.Chosen
	if r.negated {
		list = &r.answer.Rejected
	}
	for _, p := range places {
		if !slices.Contains(r.answer.Chosen, p) && !slices.Contains(r.answer.Rejected, p) {
			*list = append(*list, p)
		}
	}
	r.names, r.unknown = nil, 0
	return true
}

// named finds the option by its name: every word that counts is in one
// option, and one of them in no other's title.
func (r *reading) named() Answer {
	if !r.offer.leaves() || r.late || len(r.names) == 0 || len(r.names) > nameWords || r.unknown > len(r.names) {
		return Answer{}
	}
	found := -1
	for i, o := range r.offer.Options {
		own := 0
		fits := true
		for _, t := range r.names {
			if !holds(o.Title+" "+o.Text, t.text, false) {
				fits = false
				break
			}
			for _, exactly := range [...]bool{true, false} {
				if holds(o.Title, t.text, exactly) && !slices.ContainsFunc(r.offer.others(i), func(other Option) bool { return holds(other.Title, t.text, exactly) }) {
					own++
				}
			}
		}
		if !fits || own == 0 {
			continue
		}
		if found >= 0 {
			return Answer{}
		}
		found = i
	}
	switch {
	case found < 0:
		return Answer{}
	case r.negated:
		return Answer{Rejected: []int{found}}
	}
	return Answer{Chosen: []int{found}}
}

func (o Offer) others(i int) []Option { return slices.Delete(slices.Clone(o.Options), i, i+1) }

// holds reports whether a text has a word, exactly or in another form of it.
func holds(text, name string, exactly bool) bool {
	text = normal(text)
	if r, _ := utf8.DecodeRuneInString(name); wide(r) {
		return utf8.RuneCountInString(name) > 1 && strings.Contains(text, name)
	}
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isWordRune(r) }) {
		if w == name || folded(w) == folded(name) {
			return true
		}
		if n, long := shared(folded(w), folded(name)); !exactly && n >= 4 && 5*n >= 3*long {
			return true
		}
	}
	return false
}

// shared returns how many characters two words begin with alike, and how long the longer is.
func shared(a, b string) (n, long int) {
	v, w := []rune(a), []rune(b)
	for n < min(len(v), len(w)) && v[n] == w[n] {
		n++
	}
	return n, max(len(v), len(w))
}

// Agrees reports whether a reply agrees and chooses nothing: "yes", "go ahead".
func Agrees(reply string) bool {
	tokens := scan(transcript.Unquoted(cutBytes(strings.TrimSpace(reply), readBytes)))
	agrees := false
	for _, t := range tokens {
		switch {
		case t.kind == stop || t.kind == comma:
			if agrees {
				return true
			}
		case t.is(isYes):
			agrees = true
		case t.is(isFill):
		case t.is(isBut):
			return agrees
		default:
			return false
		}
	}
	return agrees
}

// Settles reports whether a reply begins as an answer does: with assent or refusal, a verb
// of choosing, or what points at an option. Others begin something else.
func Settles(reply string) bool {
	tokens := scan(transcript.Unquoted(cutBytes(strings.TrimSpace(reply), readBytes)))
	for i, t := range tokens {
		switch {
		case t.kind == number && i+2 < len(tokens) && tokens[i+1].kind == stop:
			return false // a list of their own
		case t.kind == number, t.kind == hash, t.is(isYes | isNeg | isPick | isOption | selects):
			return true
		case t.kind == comma, t.kind == stop, t.is(isFill):
		default:
			return false
		}
	}
	return false
}

// quantity reports whether the offer's question asks for a figure, or for something else
// than the options.
func (o Offer) quantity() bool {
	return slices.ContainsFunc(scan(o.asked()), func(t token) bool { return t.is(isMany | isKill) })
}
