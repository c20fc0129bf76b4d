package choice

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/lazyregexp"
)

// unlabelled returns the last list, table or row of headings whose parts may be chosen by
// their place or name.
func unlabelled(lines []string) group {
	var best group
	for _, g := range [...]group{headings(lines), bullets(lines), rows(lines)} {
		if g.size() > 1 && g.to >= best.to && !g.questions() {
			best = g
		}
	}
	return best
}

// bullets returns the last run of list items at one depth.
func bullets(lines []string) group {
	var runs []group
	for i, l := range lines {
		body, ok := unbulleted(l)
		if !ok {
			if n := len(runs); n > 0 && strings.TrimSpace(l) != "" && indentOf(l) <= runs[n-1].items[0].indent {
				runs = append(runs, group{items: []item{{indent: -1}}}) // ends the run
			}
			continue
		}
		it := item{line: i, indent: indentOf(l), body: unmarked(body)}
		switch n := len(runs); {
		case n > 0 && runs[n-1].items[0].indent == it.indent:
			runs[n-1].items = append(runs[n-1].items, it)
		case n == 0 || runs[n-1].items[0].indent != it.indent && (runs[n-1].items[0].indent < 0 || it.indent < runs[n-1].items[0].indent):
			runs = append(runs, group{items: []item{it}, from: i})
		}
	}
	for _, g := range slices.Backward(runs) {
		if g.size() > 1 && g.items[0].indent >= 0 {
			return g.placed(lines)
		}
	}
	return group{}
}

// headings returns the headings of one level that come last.
func headings(lines []string) group {
	byLevel := map[int]group{}
	var best group
	for i, l := range lines {
		t := strings.TrimSpace(l)
		level := len(t) - len(strings.TrimLeft(t, "#"))
		if level == 0 || level > 6 || !strings.HasPrefix(t[level:], " ") {
			continue
		}
		g := byLevel[level]
		if g.size() == 0 {
			g.from = i
		}
		g.items = append(g.items, item{line: i, body: unmarked(t[level:]), head: true})
		byLevel[level] = g
		if g.size() > 1 {
			best = g
		}
	}
	if best.size() > 1 {
		return best.placed(lines)
	}
	return best
}

// rows returns the rows of the last table, without its head.
func rows(lines []string) group {
	var g group
	var head []string
	for i, l := range lines {
		t := strings.TrimSpace(l)
		if !strings.HasPrefix(t, "|") {
			continue
		}
		if strings.Trim(t, "|-: ") == "" {
			g, head = group{}, nil
			if i > 0 {
				head = cellsOf(lines[i-1])
			}
			continue
		}
		cells := cellsOf(l)
		if len(cells) == 0 || cells[0] == "" || g.size() > 0 && g.items[g.size()-1].line != i-1 {
			continue
		}
		if g.size() == 0 {
			g.from = i
		}
		body := cells[0]
		var more []string
		for j, c := range cells[1:] {
			if c != "" && j+1 < len(head) && head[j+1] != "" {
				c = head[j+1] + " " + c
			}
			if c != "" {
				more = append(more, c)
			}
		}
		if len(more) > 0 {
			body += ": " + strings.Join(more, "; ")
		}
		g.items = append(g.items, item{line: i, body: body})
	}
	if head == nil {
		return group{}
	}
	return g.placed(lines)
}

// placed gives the items of a group their places for labels.
func (g group) placed(lines []string) group {
	for i := range g.items {
		g.items[i].place, g.items[i].label = i+1, itoa(i+1)
	}
	if g.size() > 0 {
		g.to = g.end(lines)
	}
	return g
}

func cellsOf(line string) []string {
	t := strings.Trim(strings.TrimSpace(line), "|")
	var out []string
	for c := range strings.SplitSeq(t, "|") {
		out = append(out, unmarked(c))
	}
	return out
}

// row returns the rest of a table's row as one text.
func row(rest string) string {
	var out []string
	for _, c := range cellsOf(rest) {
		if c != "" {
			out = append(out, c)
		}
	}
	return strings.Join(out, "; ")
}

// asksWhich reports whether a question beside a group asks for a choice.
func asksWhich(lines []string, g group) bool {
	q, _ := question(lines, g)
	return slices.ContainsFunc(scan(q), func(t token) bool { return t.is(isWhich) })
}

// question returns what a text asks, or ends on: the last line behind a group that asks, the
// one right before it, else the last line that is no item, row or code.
func question(lines []string, g group) (text string, asks bool) {
	last, looked := "", 0
	for i := len(lines) - 1; i >= 0 && looked < 24; i-- {
		t := strings.TrimSpace(lines[i])
		if t == "" {
			continue
		}
		looked++
		if _, bullet := unbulleted(lines[i]); bullet || t[0] == '|' || g.size() > 0 && i >= g.from && i <= g.to {
			continue
		}
		if _, label := labelOf(lines[i]); label {
			continue
		}
		t = unmarked(t)
		if g.size() == 0 || i > g.to {
			if last == "" {
				last = t
			}
			switch {
			case leaves(t) && g.size() > 0:
				return t, true
			case leaves(t):
				return whole(lines, i, t), true
			case g.size() == 0:
				return t, false
			}
			continue
		}
		if leaves(t) {
			return t, true
		}
		if last == "" {
			last = t
		}
		break
	}
	if last == "" {
		for _, l := range slices.Backward(lines) {
			if t := unmarked(l); t != "" {
				return t, Asking(t)
			}
		}
	}
	return last, false
}

// leaves reports whether a line asks, or begins to before a list: "Would you like me to:".
func leaves(line string) bool {
	return Asking(line) || strings.HasSuffix(line, ":") && slices.ContainsFunc(scan(line), func(t token) bool { return t.is(isLead) && !t.is(isFill|isPick|isYes|isWhich) })
}

// whole returns a question that means nothing by itself ("Shall I?") behind what it asks about.
func whole(lines []string, i int, q string) string {
	for _, t := range scan(q) {
		if t.kind == number || t.kind == other || t.kind == word && t.class == 0 {
			return q
		}
	}
	for j := i - 1; j >= 0; j-- {
		t := strings.TrimSpace(lines[j])
		if t == "" {
			continue
		}
		if _, bullet := unbulleted(t); bullet || t[0] == '|' || t[0] == '#' || strings.HasSuffix(t, ":") {
			return q
		}
		return lastSentence(unmarked(t)) + " " + q
	}
	return q
}

// focused returns a question that fits: its last sentence that asks, or its last, with what fits
// of those before it.
func focused(q string) string {
	if utf8.RuneCountInString(q) <= QuestionRunes {
		return q
	}
	s := splitSentences(q)
	last := len(s) - 1
	for i := last; i >= 0; i-- {
		if Asking(s[i]) {
			last = i
			break
		}
	}
	out := s[last]
	for i := last - 1; i >= 0 && utf8.RuneCountInString(s[i])+1+utf8.RuneCountInString(out) <= QuestionRunes; i-- {
		out = s[i] + " " + out
	}
	if room := QuestionRunes - 1 - utf8.RuneCountInString(out); out == s[last] && last > 0 && room >= QuestionRunes/3 {
		out = Cut(s[last-1], room) + " " + out
	}
	return Cut(out, QuestionRunes)
}

// inline finds options within the text's last words: "(1) … or (2) …". Where
// is in which line.
func inline(lines []string, q string) (out []Option, where int) {
	looked := 0
	for i := len(lines) - 1; i >= 0 && looked < 4; i-- {
		t := unmarked(lines[i])
		if t == "" {
			continue
		}
		looked++
		if out = worded(t); len(out) > 1 {
			return out, i
		}
		if out = marked(t); len(out) > 1 {
			return out, i
		}
	}
	return nil, -1
}

// worded returns the parts of a line behind words for what is offered, with labels in their
// order: "Option 1: … Option 2: …".
func worded(line string) []Option {
	tokens := scan(line)
	var at []int
	for i := 0; i+2 < len(tokens); i++ {
		if l := tokens[i+1]; tokens[i].is(isOption) && tokens[i+2].kind == comma && (l.kind == number && l.value == len(at)+1 || l.letter() == len(at)+1 || max(l.number, l.ordinal) == len(at)+1) {
			at = append(at, i)
		}
	}
	if len(at) < 2 {
		return nil
	}
	var out []Option
	for n, i := range at {
		end := len(line)
		if n+1 < len(at) {
			end = tokens[at[n+1]].at
		}
		lead, body := line[tokens[i].at:tokens[i+2].end], trimmedSide(line[tokens[i+2].end:end])
		if n+1 == len(at) {
			body = beforeQuestion(body)
		}
		if body == "" {
			return nil
		}
		label := itoa(n + 1)
		if l := tokens[i+1]; l.letter() > 0 {
			label = line[l.at:l.end]
		}
		out = append(out, Option{Label: label, Title: Cut(titleOf(body), titleRunes), Text: Cut(lead+" "+body, OptionRunes)})
	}
	return out
}

// beforeQuestion returns what precedes the sentence that asks, if something does.
func beforeQuestion(s string) string {
	parts := splitSentences(s)
	for i, p := range parts {
		if i > 0 && Asking(p) {
			return strings.Join(parts[:i], " ")
		}
	}
	return strings.TrimRight(s, "?？ ")
}

// marked returns the parts of a line behind marks in their order.
func marked(line string) []Option {
	type place struct{ at, end int }
	for _, first := range [...]rune{'1', 'a', 'A', 'а', 'А'} {
		var at []place
		for r := first; ; r++ {
			from := 0
			if len(at) > 0 {
				from = at[len(at)-1].end
			}
			i, end := markAt(line[from:], r)
			if i < 0 {
				break
			}
			at = append(at, place{from + i, from + end})
		}
		if len(at) < 2 {
			continue
		}
		var out []Option
		for i, p := range at {
			end := len(line)
			if i+1 < len(at) {
				end = at[i+1].at
			}
			body := trimmedSide(line[p.end:end])
			if i+1 == len(at) {
				if j := strings.IndexAny(body, "?？"); j >= 0 {
					body = body[:j]
				}
			}
			if body == "" {
				return nil
			}
			label := string(first + rune(i))
			out = append(out, Option{Label: label, Title: Cut(titleOf(body), titleRunes), Text: Cut("("+label+") "+body, OptionRunes)})
		}
		return out
	}
	return nil
}

// markAt finds "(r)" or "r)" in a line.
func markAt(line string, r rune) (at, end int) {
	mark := string(r) + ")"
	for from := 0; ; {
		i := strings.Index(line[from:], mark)
		if i < 0 {
			return -1, -1
		}
		i += from
		end = i + len(mark)
		start := i
		if start > 0 && line[start-1] == '(' {
			start--
		}
		if start == 0 || strings.ContainsRune(" ,;:*", rune(line[start-1])) {
			return start, end
		}
		from = end
	}
}

// trimmedSide returns a part of a sentence without what joins it to the next.
func trimmedSide(s string) string {
	s = strings.Trim(unmarked(s), " ,;:.、，；")
	tokens := scan(s)
	for len(tokens) > 0 && tokens[len(tokens)-1].is(isOr|isAnd) && !tokens[len(tokens)-1].is(isFill) {
		s = strings.TrimRight(s[:tokens[len(tokens)-1].at], " ,;")
		tokens = tokens[:len(tokens)-1]
	}
	return strings.TrimSpace(s)
}

// sideWords is how long one side of a question is at most.
const sideWords = 14

// sides returns the options of a question that has no marks: "X or Y?", "either X or Y".
func sides(lines []string) []Option {
	looked := 0
	for _, l := range slices.Backward(lines) {
		t := unmarked(l)
		if t == "" {
			continue
		}
		if looked++; looked > 2 {
			break
		}
		for _, s := range slices.Backward(splitSentences(t)) {
			if out := sidesOf(s); out != nil {
				return out
			}
		}
	}
	return nil
}

var aside = lazyregexp.New(`\s*[(（][^()（）]*[)）]`)

// listed returns the sides before the last one: several behind commas where each is short.
func listed(left string) []string {
	parts := strings.FieldsFunc(strings.TrimRight(left, " ,，"), func(r rune) bool { return r == ',' || r == '，' || r == '、' })
	if len(parts) == 0 || slices.ContainsFunc(parts, func(p string) bool { return len(strings.Fields(p)) > 4 }) {
		return []string{left}
	}
	return parts
}

func sidesOf(s string) []Option {
	if strings.ContainsAny(s, "(（") {
		s = aside.ReplaceAllString(s, "")
	}
	tokens := scan(s)
	lead, from, or := -1, 0, -1
	for i, t := range tokens {
		switch {
		case t.is(isLead) && or < 0:
			if lead < 0 || t.text == "either" {
				lead, from = i, t.end
			}
		case t.is(isOr) && i > 0 && or >= 0:
			return nil // three sides
		case t.is(isOr) && i > 0 && i+1 < len(tokens) && (!t.is(isFill|isAnd|isOption|isHedge|isNumber) || lead >= 0):
			or = i
		}
	}
	question := Asking(s)
	if or < 0 || !question && (lead < 0 || !strings.Contains(normal(s), "either")) {
		return nil
	}
	if lead < 0 {
		for i := or - 1; i >= 0; i-- {
			if tokens[i].kind == comma {
				from = tokens[i].end
				break
			}
		}
	}
	if from > tokens[or].at {
		return nil
	}
	var out []Option
	right := s[tokens[or].end:]
	if i := strings.IndexAny(right, "?？؟,，;"); i >= 0 {
		right = right[:i]
	}
	for _, side := range append(listed(s[from:tokens[or].at]), right) {
		side = trimmedSide(side)
		n := len(strings.Fields(side))
		ts := scan(side)
		if side == "" || n > sideWords || !slices.ContainsFunc(ts, func(t token) bool { return t.kind != comma && !t.is(isNeg|isFill|isYes) }) {
			return nil
		}
		out = append(out, Option{Title: Cut(side, titleRunes), Text: Cut(side, OptionRunes)})
	}
	return out
}
