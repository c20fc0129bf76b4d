package choice

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Option is something that an agent offered.
type Option struct {
	// Label is what it is called by, "2" or "B"; where it has none, its place in figures.
	Label string `json:"label"`
	// Text is what is offered as one line, with its label as it was written, bounded.
	Text string `json:"text"`
	// Title is the name in it.
	Title string `json:"title,omitempty"`
}

// Offer is what an agent's text leaves to a person.
type Offer struct {
	// Question is what the text ends on: its question, else its last line.
	Question string
	// Asks reports whether it is a question, or a question comes right before the options.
	Asks bool
	// Options are what can be chosen, none if there are fewer than two.
	Options []Option
	// Inline reports whether they are the two sides of a question and have no labels.
	Inline bool
}

// The lengths of what is kept of an offer, in characters, and the most options.
const (
	OptionRunes   = 160
	QuestionRunes = 180
	titleRunes    = 80
	maxOptions    = 12
)

// textBytes is how much of a text is looked at, from its end.
const textBytes = 16 << 10

// Offered reads the options of an agent's text: labelled lines, headings and table rows;
// else lists, headings or rows without labels where the text asks which; else what is
// within its question.
func Offered(text string) Offer {
	lines := readable(tailBytes(text, textBytes))
	groups := labelled(lines)
	o := Offer{}
	var g group
	if len(groups) > 0 {
		g = groups[len(groups)-1]
	}
	o.Question, o.Asks = question(lines, g)
	in, where := inline(lines, o.Question)
	switch {
	case len(in) > 0 && (len(groups) == 0 || where > g.to):
		o.Options = in
	case len(groups) > 1 && haveRivals(lines, groups):
	case g.size() > 1:
		o.Options = g.options(lines)
		o.Asks = o.Asks || Asking(g.items[g.size()-1].body) // "(a) wait, or (b) go?"
	default:
		if g = unlabelled(lines); g.size() > 1 && asksWhich(lines, g) {
			o.Question, o.Asks = question(lines, g)
			o.Options = g.options(lines)
		} else if in = sides(lines); len(in) > 0 {
			o.Options, o.Inline = in, true
		}
	}
	o.Question = focused(o.Question)
	if len(o.Options) > maxOptions {
		o.Options = nil // a list of that length is no choice
	}
	return o
}

// letters reports whether the options are called by letters.
func (o Offer) letters() bool {
	return len(o.Options) > 0 && o.Options[0].Label != "" && digit([]rune(o.Options[0].Label)[0]) < 0
}

// labelPlace returns the place of the option that a label names, -1 if there is none. Letters
// are found by figures, too, as their places.
func (o Offer) labelPlace(label string) int {
	r := []rune(label)
	for i := range o.Options {
		own := []rune(o.Options[i].Label)
		switch {
		case o.Options[i].Label == "":
		case strings.EqualFold(string(own), label),
			len(r) == 1 && len(own) == 1 && letterPlace(r[0]) > 0 && letterPlace(r[0]) == letterPlace(own[0]),
			o.letters() && label == itoa(i+1):
			return i
		}
	}
	return -1
}

// readable returns the lines of a text that speak: what is in code or quoted is empty.
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

// item is a line that begins an option.
type item struct {
	line int
	// label is its label, lead the label as written with what names it, body the rest.
	label, lead, body string
	place             int
	indent            int
	// kind tells apart lists side by side: figures, letters, with a word for
	// what is offered or without, headings by their level.
	kind string
	// head reports whether it is a heading, or a line that is bold as a whole: paragraphs belong to it.
	head bool
}

// group are options of one kind in their order; lines up to to are theirs.
type group struct {
	items []item
	from  int
	to    int
}

func (g group) size() int { return len(g.items) }

// labelled returns the groups of labelled lines that may be offers, in the order in which
// they begin. A list within an option of another belongs to that.
func labelled(lines []string) []group {
	var groups []group
	open := map[string]int{}
	for i, l := range lines {
		it, ok := labelOf(l)
		if !ok {
			continue
		}
		it.line = i
		at, begun := open[it.kind]
		switch {
		case begun && groups[at].items[groups[at].size()-1].place == it.place-1:
			groups[at].items = append(groups[at].items, it)
			groups[at].to = i
		case it.place == 1:
			open[it.kind] = len(groups)
			groups = append(groups, group{items: []item{it}, from: i, to: i})
		}
	}
	var out []group
	for _, g := range groups {
		if g.size() < 2 || g.questions() || slices.ContainsFunc(groups, func(o group) bool { return o.size() > 1 && within(g, o) }) {
			continue
		}
		g.to = g.end(lines)
		out = append(out, g)
	}
	return out
}

// within reports whether a group is within an option of another.
func within(g, o group) bool {
	deeper := g.items[0].indent > o.items[0].indent || o.items[0].head && !g.items[0].head || strings.Contains(o.items[0].kind, "word") && !strings.Contains(g.items[0].kind, "word")
	if !deeper || g.from <= o.from {
		return false
	}
	for i, it := range o.items {
		next := it.line + 1<<20
		if i+1 < len(o.items) {
			next = o.items[i+1].line
		} else if g.items[0].indent <= o.items[0].indent && !o.items[0].head {
			break
		}
		if g.from > it.line && g.to < next {
			return true
		}
	}
	return false
}

// questions reports whether it is a list of questions, which offers nothing.
func (g group) questions() bool {
	n := 0
	for _, it := range g.items {
		if Asking(it.body) {
			n++
		}
	}
	return 2*n > g.size()
}

// haveRivals reports whether several groups each follow a question: which one a reply
// means can't be determined.
func haveRivals(lines []string, groups []group) bool {
	n := 0
	for _, g := range groups {
		for i := g.from - 1; i >= 0; i-- {
			if t := strings.TrimSpace(lines[i]); t != "" {
				if Asking(t) {
					n++
				}
				break
			}
		}
	}
	return n > 1
}

// labelOf reads the label that a line begins with.
func labelOf(line string) (item, bool) {
	it := item{indent: indentOf(line)}
	t := strings.TrimSpace(line)
	level := 0
	for strings.HasPrefix(t, "#") && level < 6 {
		t, level = t[1:], level+1
	}
	if level > 0 && !strings.HasPrefix(t, " ") {
		return it, false
	}
	t = strings.TrimSpace(t)
	cells := strings.HasPrefix(t, "|")
	t = strings.TrimSpace(strings.TrimLeft(t, "|"))
	for _, m := range [...]string{"- [ ] ", "- ", "* ", "+ ", "• ", "· "} {
		if rest, ok := strings.CutPrefix(t, m); ok {
			t = strings.TrimSpace(rest)
			break
		}
	}
	bold := strings.HasPrefix(t, "**") && strings.HasSuffix(t, "**") && strings.Count(t, "**") == 2
	t = unmarked(t)
	tokens := reader{text: cutBytes(t, 200), lx: lexical()}
	kind, n, ok := tokens.label(&it)
	if !ok {
		return it, false
	}
	end := tokens.out[n-1].end
	body := strings.TrimLeft(t[end:], " \t")
	sep := false
	for body != "" {
		r, w := utf8.DecodeRuneInString(body)
		if !strings.ContainsRune(".)]:：）】、–—-|．", r) {
			break
		}
		if r == '.' && len(body) > w && body[w] != ' ' && body[w] != ')' || r == '-' && len(body) > w && body[w] != ' ' {
			break
		}
		if r == '|' && !cells {
			break
		}
		body, sep = strings.TrimLeft(body[w:], " \t"), true
	}
	worded := strings.Contains(kind, "word")
	closed := strings.HasPrefix(t, "(") || strings.HasPrefix(t, "[") || strings.HasPrefix(t, "（") || strings.HasPrefix(t, "【") || strings.ContainsAny(t[:end], "①②③④⑤⑥⑦⑧⑨\u20e3")
	if !sep && !closed && (!worded || body != "" && !strings.HasPrefix(body, "(") && level == 0 && !bold) {
		return it, false
	}
	if body == "" && !worded {
		return it, false
	}
	it.lead, it.body = strings.TrimSpace(t[:len(t)-len(body)]), body
	it.head = level > 0 || bold
	if level > 0 {
		kind += " heading" + itoa(level)
	}
	if cells {
		it.body = row(body)
		kind += " row"
	}
	it.kind = kind + " " + itoa(it.indent/2)
	return it, true
}

// label finds the label among the first tokens of a line, and how many belong to
// it: a word for what is offered and a figure, a letter or a number in words; a figure
// or a letter.
func (t *reader) label(it *item) (kind string, n int, ok bool) {
	for t.has(n) && (t.out[n].kind == comma || t.out[n].kind == hash) && n < 2 {
		n++
	}
	if !t.has(n) {
		return "", 0, false
	}
	word := ""
	if t.out[n].is(isOption) && t.out[n].letter() == 0 {
		word = t.out[n].text
		for n++; t.has(n) && (t.out[n].kind == hash || t.out[n].kind == stop && t.out[n].text == "." || t.out[n].is(isOption) && t.out[n].letter() == 0); n++ {
		}
		if !t.has(n) {
			return "", 0, false
		}
	}
	l := t.out[n]
	switch {
	case l.kind == number && l.value > 0 && l.value < 30:
		it.place, it.label, kind = l.value, itoa(l.value), "figure"
	case l.letter() > 0 && l.end-l.at == len(l.text):
		it.place, it.label, kind = l.letter(), l.text, "letter"
		if l.upper {
			it.label, kind = strings.ToUpper(l.text), "capital"
		}
	case word != "" && (l.is(isOrdinal) || l.is(isNumber)):
		it.place = max(l.ordinal, l.number)
		if l.is(isOrdinal) {
			it.place = l.ordinal
		}
		it.label, kind = itoa(it.place), "figure"
	case l.is(isOrdinal) && t.has(n+1) && t.out[n+1].is(isOption):
		it.place, it.label, kind = l.ordinal, itoa(l.ordinal), "figure"
	default:
		return "", 0, false
	}
	n++
	if word == "" { // "1. lehetőség: …", "1안: …"
		m := n
		for t.has(m) && t.out[m].kind == stop && t.out[m].text == "." {
			m++
		}
		if t.has(m) && t.out[m].is(isOption) && (!t.has(m+1) || t.out[m+1].kind == comma) {
			word, n = t.out[m].text, m+1
		}
	}
	if word != "" {
		kind += " word"
	}
	return kind, n, true
}

// options returns what the items of a group offer.
func (g group) options(lines []string) []Option {
	var out []Option
	for i, it := range g.items {
		title, said := g.said(lines, i)
		o := Option{Label: it.label, Title: Cut(title, titleRunes)}
		text := said
		if it.lead != "" {
			text = strings.TrimSpace(strings.TrimRight(it.lead, " *") + " " + said)
		}
		o.Text = Cut(text, OptionRunes)
		out = append(out, o)
	}
	return out
}

// said returns an option's title and all that is said of it.
func (g group) said(lines []string, i int) (title, text string) {
	it := g.items[i]
	end := g.to + 1
	if i+1 < g.size() {
		end = g.items[i+1].line
	}
	var more []string
	listed := false
	for _, l := range lines[min(it.line+1, end):end] {
		body, bullet := unbulleted(l)
		if body = unmarked(body); body == "" || strings.Trim(body, "-=_* ") == "" {
			if len(more) > 0 && it.head {
				break
			}
			continue
		}
		listed = listed || bullet
		more = append(more, body)
	}
	text = it.body
	if g.size() == i+1 {
		text = strings.TrimRight(text, "?？ ")
	}
	title = text
	if text == "" && len(more) > 0 {
		title, text, more = more[0], more[0], more[1:]
	}
	sep := " "
	if listed {
		sep = "; "
	}
	if rest := strings.Join(more, sep); rest != "" {
		if last, _ := utf8.DecodeLastRuneInString(text); strings.ContainsRune(".!?:;。！？：；,，…", last) {
			text += " " + rest
		} else {
			text += ": " + rest
		}
	}
	return titleOf(title), text
}

// titleOf returns what a line states before it explains that.
func titleOf(line string) string {
	end := len(line)
	for _, sep := range [...]string{": ", " — ", " – ", " - ", " -- ", ". ", "; ", "。", "：", "；", "—", ", ", "，"} {
		if i := strings.Index(line, sep); i > 0 && i < end {
			end = i
		}
	}
	return strings.TrimRight(strings.TrimSpace(line[:end]), ".:;,。")
}

// end returns the last line of a group: those behind its last item that go on with it.
func (g group) end(lines []string) int {
	last := g.items[len(g.items)-1]
	end := last.line
	body := 0
	for i := last.line + 1; i < len(lines); i++ {
		t := strings.TrimSpace(lines[i])
		blank := i > 0 && strings.TrimSpace(lines[i-1]) == ""
		_, bullet := unbulleted(lines[i])
		switch {
		case t == "":
			if body > 0 && last.head {
				return end
			}
			continue
		case strings.HasPrefix(t, "#"), strings.Trim(t, "-=_* ") == "", Asking(t):
			return end
		case indentOf(lines[i]) > last.indent, bullet && (!blank || last.head), !blank, last.head:
			end = i
			body++
		default:
			return end
		}
		if body > 8 {
			return end
		}
	}
	return end
}
