package ledger

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/transcript"
)

// Kind is the kind of a statement.
type Kind string

// The kinds.
const (
	Fact       Kind = "fact"       // names something or says how it is
	Rule       Kind = "rule"       // wishes or forbids something
	Decision   Kind = "decision"   // says what was chosen
	Correction Kind = "correction" // says that something is otherwise
	Request    Kind = "request"    // asks for the next step of the work
)

// Statement is a sentence that states something.
type Statement struct {
	Kind Kind
	// Text is the sentence as it was typed. If its subject is in the sentence before, Text has both.
	Text string
	// Lasting reports whether the sentence is meant to last: a rule with a word for that, a
	// decision, or a fact of something that has one value for long.
	Lasting bool
}

// Bounds of a person's message and of its parts, in bytes, our choice. A longer text is a document
// that was pasted. A longer sentence is a description.
const (
	mostMessage   = 32_000
	longMessage   = 4000 // of a longer one only lasting statements are read
	mostSentence  = 400
	leastDocument = 800 // and at least as many headings and items:
	leastMarks    = 5
	mostStatement = 12 // statements of one message
	wrapped       = 50
)

// Read returns the statements of a person's own words, in their order in the text.
func Read(own string) []Statement {
	if len(own) > mostMessage {
		return nil
	}
	var out []Statement
	once := document(own) || command(own)
	for _, p := range paragraphs(own) {
		before := ""
		for _, s := range sentences(p.text) {
			if st, ok := read(s, before); ok && len(out) < mostStatement && (st.Lasting || len(own) < longMessage) {
				st.Lasting = st.Lasting && !once
				if strings.HasSuffix(p.text, s.said) && len(st.Text)+len(p.next) < mostSentence {
					st.Text = strings.TrimSpace(st.Text + " " + p.next)
				}
				out = append(out, st)
			}
			if announces(s.said) && s.has("examples", "reported") {
				return out // a draft, a quotation or data follows
			}
			before = s.said
		}
	}
	return out
}

// announces reports whether a sentence ends with a colon, so that the next line belongs to it.
func announces(said string) bool {
	end, _ := utf8.DecodeLastRuneInString(strings.TrimRight(said, " *_"))
	return end == ':' || end == '：'
}

// document reports whether a text has the form of a document: a plan, a report or a brief, which a
// person pastes for the task at hand.
func document(own string) bool {
	marks := 0
	for line := range strings.Lines(own) {
		t := strings.TrimSpace(line)
		if number, _, ok := strings.Cut(t, ". "); strings.HasPrefix(t, "#") || strings.HasPrefix(t, "- ") || strings.HasPrefix(t, "* ") || ok && strings.Trim(number, "0123456789") == "" {
			marks++
		}
	}
	return len(own) >= leastDocument && marks >= leastMarks
}

// command reports whether a text is a host's command with what it is to do, such as "/review src only".
// "/data is for backups" tells of a folder.
func command(own string) bool {
	first, rest, _ := strings.Cut(own, " ")
	what := newSentence(rest, rest)
	return rest != "" && strings.HasPrefix(first, "/") && strings.Count(first, "/") == 1 && !what.begins("copulas") && !what.begins("lasting")
}

// AsksToRemember reports whether a text consists of words by which people ask to remember
// something that follows.
func AsksToRemember(own string) bool {
	s := newSentence(own, own)
	return len(s.words) < 8 && !asksIn(own) && s.begins("reminds")
}

// sentence is a sentence as it was typed. means is the sentence with its quotations covered.
type sentence struct {
	said, means string
	words       []string // of means
	low         string   // means in small letters
	wide        bool
}

func newSentence(said, means string) sentence {
	low := strings.ToLower(means)
	return sentence{said, means, wordsOf(low), low, strings.ContainsFunc(means, isWide)}
}

// has reports whether the sentence has a phrase of one of the meanings.
func (s *sentence) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return meanings()[name].in(s.words, s.low) })
}

// lasts reports whether the sentence has a word like "always" or "from now on". In a report of an
// action, and in an afterthought ("a cent short, always down"), such a word tells how often.
func (s *sentence) lasts() bool {
	if !s.has("lasting") {
		return false
	}
	m := meanings()
	clauses := 0
	for c := range s.clauses() {
		clauses++
		at, n := m["lasting"].find(c.words)
		if wide, _ := m["lasting"].wideAt(c.low); s.wide && wide >= 0 {
			return true
		}
		if at < 0 {
			continue
		}
		if i, _ := m["often"].find(c.words[at : at+n]); i < 0 {
			return true
		}
		reports, _ := m["oneself"].find(c.words[:at])
		steady, _ := m["steady"].find(c.words[at : at+n])
		if reports < 0 && (clauses == 1 || len(c.words) > 2 || steady < 0) {
			return true
		}
	}
	return false
}

// begins reports whether the sentence begins with a phrase of a meaning.
func (s *sentence) begins(name string) bool {
	p := meanings()[name]
	if at, _ := p.wideAt(s.low); s.wide && at == 0 {
		return true
	}
	at, _ := p.find(s.words)
	core, _ := p.find(s.core())
	return at == 0 || core == 0
}

// core returns the words from the first one on that is more than a lead ("ok, please", "also").
func (s *sentence) core() []string {
	words := s.words
	for at, n := meanings()["leads"].find(words); at == 0 && n < len(words); at, n = meanings()["leads"].find(words) {
		words = words[n:]
	}
	return words
}

// read returns the statement of a sentence. ok is false if it states nothing. before is the
// sentence before it.
func read(s sentence, before string) (st Statement, ok bool) {
	length := len(s.words)
	if s.wide {
		length = max(length, utf8.RuneCountInString(s.said)/2)
	}
	asks := asksIn(s.said)
	polite := asks && s.has("lasting") && (strings.HasPrefix(s.low, "can you") || strings.HasPrefix(s.low, "could you"))
	order := s.begins("orders")
	if core := s.core(); !s.wide && len(core) > 2 && !order {
		if at, _ := meanings()["clauses"].find(core[1:2]); at == 0 && !s.begins("oneself") && !s.begins("possessives") && !s.begins("lasting") {
			return Statement{}, false // an order to look at something
		}
	}
	if firstRune(s.said) == '[' || length < 2 || length == 2 && !order && !s.begins("lasting") || len(s.said) > mostSentence || asks && !polite || s.begins("questions") || s.has("examples", "reported") {
		return Statement{}, false
	}
	b := s.bind()
	lasting, passing, valued, refused := s.lasts(), s.has("passing"), hasValue(s.said, s.wide), s.refuses()
	st.Text = s.said
	switch {
	case s.has("supposing") && !(lasting && !b.points && s.has("orders")) && !(s.begins("wishes") && s.begins("oneself")):
		return Statement{}, false
	case b.momentary && !lasting:
		return Statement{}, false
	case refused > 0 && (valued || length-refused > 1 && s.contrasts(refused)), s.has("corrects") && (valued || s.has("settings")) && !b.points:
		st.Kind, st.Lasting = Correction, !passing
	case (s.has("decides") || s.begins("options")) && (valued || length > 4):
		st.Kind, st.Lasting = Decision, !passing && !s.has("unsure") && s.names()
	case lasting && (!b.points || s.begins("lasting")):
		st.Kind, st.Lasting = Rule, !passing || s.has("orders")
	case b.fact && !s.has("unsure"):
		if b.points {
			if before == "" || len(before)+len(s.said) > mostSentence {
				return Statement{}, false
			}
			st.Text = before + " " + s.said
		}
		st.Kind, st.Lasting = Fact, !passing && (b.owned || valued && s.plain())
	case !b.points && s.declares():
		if st.Kind = Fact; s.has("firm", "orders", "wishes") {
			st.Kind = Rule
		}
		owned := b.owned || s.begins("possessives") || valued && s.has("settings")
		st.Lasting = !passing && (owned && !s.has("unsure") || st.Kind == Rule && s.firm(valued))
	case order, s.has("orders", "wishes") && !b.points && length > 4 && (valued || s.has("orders", "firm")):
		if !order && s.begins("oneself") && !s.begins("wishes") {
			return Statement{}, false
		}
		st.Kind, st.Lasting = Rule, !passing && s.firm(valued)
	default:
		return Statement{}, false
	}
	st.Lasting = st.Lasting && (s.has("reminds") && st.Kind == Fact || !s.atHand(st.Kind))
	if !st.Lasting && (s.sees() && (st.Kind == Rule || st.Kind == Correction) || st.Kind == Rule && s.step()) {
		st.Kind = Request
	}
	return st, true
}

// sees reports whether a clause of the sentence tells what happens before the person's eyes.
func (s *sentence) sees() bool {
	for c := range s.clauses() {
		if (c.begins("oneself") || c.begins("pointing")) && c.has("events") {
			return true
		}
	}
	return false
}

// step reports whether a wish is for the next step of the work: it begins with a task ("let's check
// the logs"), is a guess, or names nothing ("I'd prefer that").
func (s *sentence) step() bool {
	if !s.wide && len(s.core()) < 4 && s.has("pointing") || s.begins("unsure") {
		return true
	}
	rules, first := s.lasts() || s.has("orders", "limits", "firm"), true
	for c := range s.clauses() {
		if !rules && first && c.begins("tasks") {
			return true
		}
		core := c.core()
		if at, n := meanings()["proposes"].find(core); at == 0 && !rules {
			task := strings.Join(core[n:], " ")
			if does := newSentence(task, task); does.begins("tasks") || does.begins("steps") {
				return true
			}
		}
		first = first && len(core) == 0
	}
	return false
}

// atHand reports whether a statement of a kind is a part of the work at hand: of an argument, a
// report of how it is going, or an order for the next step.
func (s *sentence) atHand(k Kind) bool {
	from := 0
	if !s.wide {
		from = s.refuses()
	}
	if at, _ := meanings()["blames"].find(s.words[from:]); at == 0 || s.begins("blames") {
		return true
	}
	switch k {
	case Fact:
		clauses := slices.Collect(s.clauses()) // one after the first may ask for a step of the work: "…, have a look"
		return slices.ContainsFunc(clauses[min(1, len(clauses)):], func(c *sentence) bool { return c.begins("tasks") }) ||
			s.begins("tasks") && !s.has("names") || s.has("feels", "events") || s.begins("argues") || s.begins("exists")
	case Decision:
		return s.begins("argues") && s.has("unsure")
	case Correction:
		return s.begins("tasks") || s.begins("argues") || s.has("events", "unsure") || s.begins("corrects") && s.has("momentary") && !s.has("settings")
	}
	if s.begins("tasks") && !s.lasts() && !s.has("limits") {
		return true
	}
	named := s.wide || len(s.core()) > 3 || !s.has("pointing") || s.begins("lasting") // its subject is
	return !s.has("orders") && (!named || s.has("feels", "events", "unsure"))
}

// leastNorm is the least number of words of a sentence that says how a thing must be, our choice.
const leastNorm = 8

// names reports whether a choice names what was chosen by more than a label, such as "option 2".
func (s *sentence) names() bool {
	core := s.core()
	for _, label := range []string{"decides", "options"} {
		if at, n := meanings()[label].find(core); at >= 0 {
			core = slices.Concat(core[:at], core[at+n:])
		}
	}
	return s.wide || slices.ContainsFunc(strings.Fields(Gist(strings.Join(core, " "))), func(w string) bool { return utf8.RuneCountInString(w) > 2 })
}

// firm reports whether a wish binds beyond the next step: it has a value or an order, or says how
// some thing must be.
func (s *sentence) firm(valued bool) bool {
	core := s.core()
	m := meanings()
	if at, _ := m["wants"].find(core); !s.wide && !valued && (at == 0 || strings.Count(Gist(strings.Join(core, " ")), " ") < 2) {
		return false // it says of nothing what it must be
	}
	if s.has("limits") && (s.begins("orders") || s.begins("wishes")) {
		return true
	}
	at, _ := m["reports"].find(s.words) // by the negation of its verb ("may not") it only reports
	tells := s.begins("unsure") || at >= 0 && at+1 < len(s.words) && s.words[at+1] == "not"
	return s.has("firm") && !tells && !s.has("hasty") && (valued || s.has("orders") || len(s.words) >= leastNorm && s.plain() && !s.has("unsure"))
}

// binding describes the subject and the value of a sentence.
type binding struct {
	// fact reports whether something of one's own, or with a name, is bound to a value. owned
	// reports whether it is of one's own, or has one value for long.
	fact, owned bool
	// points reports whether the subject only points at something. momentary reports whether the
	// subject is another one at another hour.
	points, momentary bool
}

// mostSubject is the most words of a subject, our choice.
const mostSubject = 8

// bind looks for the first clause of a sentence that states a fact.
func (s *sentence) bind() (b binding) {
	before := 0
	for clause := range s.clauses() {
		c := clause.binding()
		c.points = c.points && before < 3
		if before += len(clause.words) + strings.Count(clause.low, "的"); before == len(clause.words) || c.fact {
			b = c
		}
		if b.fact {
			return b
		}
	}
	return b
}

// clauses cuts a sentence at its commas and dashes.
func (s *sentence) clauses() iter.Seq[*sentence] {
	return func(yield func(*sentence) bool) {
		for rest := s.means; rest != ""; {
			end, next := len(rest), len(rest)
			for _, mark := range [...]string{", ", "; ", " - ", " — ", " – ", "，", "、", ": "} {
				if i := strings.Index(rest, mark); i > 0 && i < end {
					end, next = i, i+len(mark)
				}
			}
			at := len(s.means) - len(rest)
			if end == len(s.means) {
				yield(s)
				return
			}
			clause := newSentence(s.said[at:at+end], rest[:end])
			if !yield(&clause) {
				return
			}
			rest = rest[next:]
		}
	}
}

// binding looks for the first binding of a clause.
func (s *sentence) binding() (b binding) {
	m := meanings()
	subject, value, strong := s.low, "", false
	if at, n := m["introduces"].find(s.words); at == 0 && hasValue(s.said, s.wide) || s.wide && strings.HasPrefix(s.low, "我叫") {
		return binding{fact: strings.IndexFunc(strings.Join(s.words[n:], " "), unicode.IsLetter) >= 0, owned: true}
	}
	if s.wide {
		at, n := -1, 0
		for _, name := range []string{"names", "copulas"} {
			if i, w := m[name].wideAt(s.low); i > 0 && (at < 0 || i < at) {
				at, n, strong = i, w, name == "names"
			}
		}
		if at > 0 {
			subject, value = s.low[:at], s.low[at+n:]
		}
		i, w := m["pointing"].wideAt(subject)
		b.points = i == 0 && utf8.RuneCountInString(subject[w:]) < 2
	} else {
		at, n := len(s.words), 0
		for _, name := range []string{"names", "copulas"} {
			if i, w := m[name].find(s.words); i > 0 && (i < at || i == at && w > n) {
				at, n, strong = i, w, name == "names"
			}
		}
		subject, value = strings.Join(s.words[:at], " "), strings.Join(s.words[at+n:], " ")
		i, w := m["pointing"].find(s.words[:at])
		last, _ := m["pointing"].find(s.words[max(at-1, 0):at])
		b.points = i == 0 && (at-w < 2 || at == len(s.words)) || last == 0 && at < len(s.words)
		if at > mostSubject {
			return b
		}
	}
	if at := strings.IndexAny(s.low, "=→"); at > 0 && value == "" {
		subject, value, strong = s.low[:at], s.low[at:], true
	}
	settled := says("settings", subject)
	b.momentary = value != "" && says("momentary", subject) && !settled
	if s.has("roles") && !b.momentary {
		b.fact, b.owned = s.wide || strings.ContainsFunc(s.said, unicode.IsUpper), true
		return b
	}
	if value == "" {
		return b
	}
	said := s.said[max(len(s.said)-len(value), 0):] // as it was typed, but for signs between words
	ws := strings.Fields(value)
	b.owned = settled || says("possessives", subject) || says("possessives", strings.Join(ws[:min(len(ws), 3)], " "))
	valued := hasValue(said, s.wide)
	b.fact = b.owned && (strong || valued || hasValue("- "+s.said[:max(len(s.said)-len(value), 0)], s.wide)) || strong && valued || valued && !b.momentary
	return b
}

// declares reports whether a clause of the sentence says how something is that has a name, a value,
// or is the person's own.
func (s *sentence) declares() bool {
	for c := range s.clauses() {
		length := len(c.words)
		if c.wide {
			length = utf8.RuneCountInString(c.said) / 2
		}
		if length > 3 && c.plain() && (hasValue("- "+c.said, c.wide) || c.has("settings", "possessives")) {
			return true
		}
	}
	return false
}

// plain reports whether the sentence says how something is: it is no order for the next step, and
// no report of an event.
func (s *sentence) plain() bool {
	m := meanings()
	if s.has("events", "hasty") {
		return false
	}
	if s.wide {
		rest := strings.TrimRight(s.low, "。.!！ ")
		for at, n := m["leads"].wideAt(rest); at == 0; at, n = m["leads"].wideAt(rest) {
			rest = strings.TrimLeft(rest[n:], "，,、 ")
		}
		at, _ := m["tasks"].wideAt(rest)
		return at != 0 && !slices.ContainsFunc([]string{"て", "ください", "お願い", "お願いします", "頼む", "해줘", "주세요", "줘", "봐", "吧", "一下", "下"}, func(end string) bool { return strings.HasSuffix(rest, end) })
	}
	words := s.core()
	if at, _ := m["tasks"].find(words); at == 0 || len(words) < 3 {
		return false
	}
	if at, _ := m["oneself"].find(words); at == 0 {
		return false
	}
	return s.has("names", "copulas") || slices.ContainsFunc(words[1:], func(w string) bool { return len(w) > 3 && strings.HasSuffix(w, "s") })
}

// says reports whether a text has a phrase of a meaning.
func says(meaning, text string) bool { return meanings()[meaning].in(wordsOf(text), text) }

// refuses returns the number of words (of bytes, in a script without spaces) of a refusal before a
// comma, with which the sentence begins. It is 0 if there is none.
func (s *sentence) refuses() int {
	p := meanings()["refuses"]
	if s.wide {
		if at, n := p.wideAt(s.low); at == 0 && strings.ContainsAny(s.low[n:min(len(s.low), n+3)], "，,、。 ") {
			return n
		}
		return 0
	}
	at, n := p.find(s.words)
	if at != 0 || n == len(s.words) {
		return 0
	}
	end := strings.Index(s.low, s.words[n-1]) + len(s.words[n-1])
	if rest := strings.TrimLeft(s.low[end:], " "); rest == "" || !strings.ContainsRune(",.;!-—", firstRune(rest)) {
		return 0
	}
	return n
}

// contrasts reports whether the sentence names an alternative to the thing that it refuses.
func (s *sentence) contrasts(refused int) bool {
	p := meanings()["contrasts"]
	if s.wide {
		return p.in(nil, s.low[refused:])
	}
	return p.in(s.words[refused:], "")
}

// asksIn reports whether a sentence is a question.
func asksIn(s string) bool {
	t := strings.TrimRight(s, " )\"'*_")
	return slices.ContainsFunc([]string{"?", "？", "؟", "か。", "ですか", "ますか"}, func(end string) bool { return strings.HasSuffix(t, end) })
}

// hasValue reports whether a text has a word that identifies something: a name, a path, an address,
// a number, or a quoted word.
func hasValue(text string, wide bool) bool {
	german := says("german", text) // which writes all nouns with a capital
	for i, w := range strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || isWide(r) || strings.ContainsRune("，。、；：！？（）「」『』《》", r)
	}) {
		w = strings.Trim(w, ".,;:!?()[]{}…—–*_'’")
		if w == "" {
			continue
		}
		first, n := utf8.DecodeRuneInString(w)
		rest := w[n:]
		switch {
		case first == 'I' && strings.IndexAny(rest, "'’") == 0: // I'm, I'd
		case wide && len(w) > 1 && unicode.IsLetter(first):
			return true
		case strings.ContainsFunc(w, unicode.IsDigit), strings.ContainsAny(rest, "/\\@_:"), strings.ContainsAny(rest, ".-") && unicode.IsLetter(first):
			return true
		case strings.ContainsAny(w, "`\"“”«»„"):
			return true
		case strings.ContainsFunc(rest, unicode.IsUpper), i > 0 && unicode.IsUpper(first) && rest != "" && !german:
			return true
		}
	}
	return wide && (strings.ContainsAny(text, "「『《“\"`") || katakana(text))
}

// katakana reports whether a text has a word of at least three characters in Katakana, in which
// Japanese writes names of other languages.
func katakana(text string) bool {
	n := 0
	for _, r := range text {
		if n++; !unicode.Is(unicode.Katakana, r) && r != 'ー' {
			n = 0
		}
		if n > 2 {
			return true
		}
	}
	return false
}

// paragraph is a paragraph or a list item. next is the first line after a paragraph that ends with a
// colon, unless that line is a list item. It may be code.
type paragraph struct{ text, next string }

// paragraphs returns the paragraphs and list items of a text, without lines that are code, tables,
// quotations or output of programs. A line that was wrapped goes on in the next. The text ends where
// a copy of a terminal begins.
func paragraphs(text string) (out []paragraph) {
	open, code := false, false
	before := 0
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		item := unlisted(t)
		fence := strings.HasPrefix(t, "```")
		if !code && strings.ContainsAny(t, "%$#❯➜:") && terminal.MatchString(t) {
			return out
		}
		if n := len(out); n > 0 && announces(out[n-1].text) && out[n-1].next == "" && t != "" && !fence && (code || item == t) {
			out[n-1].next = t
		}
		switch {
		case fence:
			open, code = false, !code
		case code || t == "" || foreign(line, t) || foreign(item, item):
			open = false
		case open && item == t && before >= wrapped:
			last := &out[len(out)-1]
			last.text, last.next = last.text+" "+t, ""
		default:
			out, open = append(out, paragraph{text: item}), true
		}
		before = len(t)
	}
	return out
}

// unlisted returns a line without the marks of a list item.
func unlisted(line string) string {
	for {
		mark, n := utf8.DecodeRuneInString(line)
		if !strings.ContainsRune("-*+•", mark) || n == len(line) || line[n] != ' ' && line[n] != '\t' {
			break
		}
		line = strings.TrimLeft(line[n:], " \t")
	}
	if mark, rest, ok := strings.Cut(line, " "); ok && (len(mark) < 4 && strings.HasSuffix(mark, ")") || strings.HasSuffix(mark, ".") && strings.Trim(mark, "0123456789.") == "") {
		return rest
	}
	return line
}

// terminal matches the first lines of a terminal's text: a shell's prompt with a command, or a title
// in a program's help.
var terminal = textutil.LazyRegexp(`^(?:[\w.-]+@[\w.-]+[: ]\S+ ?[%$#]|[~/][\w/.-]* ?[$❯]|[❯➜]) \S|^(?:Usage|Flags|Available Commands):$`)

// foreign reports whether a line is not prose but code, a table, a quotation or a program's output.
func foreign(line, t string) bool {
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") || strings.ContainsRune(">|<$#❯⏺⎿{}[", firstRune(t)) || strings.Count(t, "|") > 1 || strings.HasPrefix(t, "//") || strings.HasPrefix(strings.TrimLeft(t, "0123456789"), " | ") ||
		strings.Contains(t, `":`) || strings.HasSuffix(t, "{") || strings.HasSuffix(t, ";") || slices.ContainsFunc(printed[:], func(begin string) bool { return strings.HasPrefix(strings.ToLower(t), begin) })
}

// printed are beginnings of lines that programs print.
var printed = [...]string{"error:", "error ", "uncaught ", "fatal:", "warning:", "traceback ", "typeerror:", "panic:"}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// sentences cuts a paragraph at the ends of sentences.
func sentences(para string) (out []sentence) {
	means := transcript.Unquoted(para)
	at := 0
	for m := range textutil.Sentences(means) {
		at += strings.Index(means[at:], m)
		out = append(out, newSentence(para[at:at+len(m)], m))
		at += len(m)
	}
	return out
}
