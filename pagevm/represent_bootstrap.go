package pagevm

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// RepresentBootstrap makes the structured representation of a bootstrap file
// (AGENTS.md, SOUL.md, TOOLS.md, a section of a system prompt): its headings,
// the sections on session startup and red lines verbatim, and every line that
// commands something, verbatim. name is the file's name.
func RepresentBootstrap(name, text string) []Rep {
	reps := repChain{left: len(text)}
	keep := bootstrapLines(text)
	b := append(make([]byte, 0, len(text)/2), "[extract of "...)
	b = append(append(b, orUnknown(name)...), "]\n"...)
	reps.add(Structured, string(keptLines(b, text, keep)))
	return reps.reps
}

// RepresentPlan makes the structured and pointer representations of a plan:
// lines that name the goal, the step and what is done and next, headings and
// list items that are open; then one line with the goal.
func RepresentPlan(id, text, resolver string) []Rep {
	reps := repChain{left: len(text)}
	reps.add(Structured, string(keptLines(nil, text, func(l line) bool {
		return l.heading > 0 || strings.HasPrefix(l.item, "[ ]") || field(l.text) != "" || imperative(l)
	})))
	goal := ""
	for l := range eachLine(text) {
		if f := field(l.text); f == "goal" || goal == "" && f == "" && l.heading == 0 && !blank(l.text) {
			goal = strings.TrimSpace(l.text)
			if f == "goal" {
				break
			}
		}
	}
	reps.add(Pointer, "[plan "+orUnknown(id)+": "+clip(goal, 160)+"; "+howToRead(resolver, id)+"]")
	return reps.reps
}

// PlanStep is the line of a plan that names the current step, "" if none does.
func PlanStep(text string) string {
	for l := range eachLine(text) {
		if l.heading == 0 && field(l.text) == "step" {
			return strings.TrimSpace(strings.TrimLeft(l.text, " \t-*#>_"))
		}
	}
	return ""
}

// RepresentConstraint makes the structured representation of a rule: its
// commanding lines and headings. A rule of a few lines has none: it is as
// short as it can be.
func RepresentConstraint(text string) []Rep {
	reps := repChain{left: len(text)}
	reps.add(Structured, string(keptLines(nil, text, func(l line) bool { return l.heading > 0 || imperative(l) || modal(l.text) })))
	return reps.reps
}

// RepresentPreference makes the representations of a remembered preference.
// source is its provenance (file and lines) and stands in every level.
func RepresentPreference(id, source, text, resolver string, opt *RepOptions) []Rep {
	o := opt.withDefaults()
	reps := repChain{left: len(text)}
	head := "[from " + orUnknown(source) + "]\n"
	s := scanText(text, kindProse)
	p := s.pick(max(int(o.Ratio*float64(len(text)))-len(head), o.QuoteBytes/8), 18)
	if len(text) >= o.MinBytes {
		reps.add(Compressed, string(s.excerpt([]byte(head), p.chosen, false)))
	}
	reps.add(Structured, string(s.excerpt([]byte(head), p.head(4, min(o.QuoteBytes/3, len(text)/3)), true)))
	reps.add(Pointer, "[preference "+orUnknown(id)+" from "+orUnknown(source)+"; "+howToRead(resolver, id)+"]")
	return reps.reps
}

// bootstrapLines decides line by line what a bootstrap file must keep. It
// follows headings, since whole sections stay.
func bootstrapLines(text string) func(line) bool {
	names := [...]string{"session startup", "red lines"}
	if !hasSection(text, names[:]) {
		// Older workspaces named the two sections so.
		names = [...]string{"every session", "safety"}
	}
	depth := 0 // of the section that is kept whole
	return func(l line) bool {
		if l.heading > 0 {
			if depth > 0 && l.heading <= depth {
				depth = 0
			}
			if depth == 0 && isSection(l.text, names[:]) {
				depth = l.heading
			}
			return true
		}
		return depth > 0 || !l.code && (imperative(l) || modal(l.text))
	}
}

func hasSection(text string, names []string) bool {
	for l := range eachLine(text) {
		if l.heading > 0 && isSection(l.text, names) {
			return true
		}
	}
	return false
}

// isSection compares a heading with names, without its marks and symbols.
func isSection(heading string, names []string) bool {
	h := strings.TrimFunc(heading, func(r rune) bool { return !unicode.IsLetter(r) })
	for _, n := range names {
		if len(h) >= len(n) && strings.EqualFold(h[:len(n)], n) {
			return true
		}
	}
	return false
}

// line is one line of a Markdown text.
type line struct {
	text string // without its line break
	// heading is the depth of a heading, 0 if it is none.
	heading int
	// item is the text of a list item without its mark, "" if it is none.
	item string
	// code tells that the line stands in a fenced block.
	code       bool
	start, end int
}

// eachLine walks the lines of a Markdown text.
func eachLine(text string) func(yield func(line) bool) {
	return func(yield func(line) bool) {
		fence := ""
		for pos := 0; pos < len(text); {
			end := len(text)
			if n := strings.IndexByte(text[pos:], '\n'); n >= 0 {
				end = pos + n
			}
			l := line{text: strings.TrimSuffix(text[pos:end], "\r"), start: pos, end: end}
			pos = end + 1
			t := strings.TrimLeft(l.text, " \t")
			switch {
			case fence != "":
				l.code = true
				if strings.HasPrefix(t, fence) {
					fence = ""
				}
			case strings.HasPrefix(t, "```"), strings.HasPrefix(t, "~~~"):
				l.code, fence = true, t[:3]
			default:
				l.heading, l.item = headingDepth(l.text), listItem(t)
			}
			if !yield(l) {
				return
			}
		}
	}
}

func headingDepth(s string) int {
	n := 0
	for n < len(s) && s[n] == '#' {
		n++
	}
	if n == 0 || n > 6 || n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return 0
	}
	return n
}

func listItem(t string) string {
	if len(t) > 2 && (t[0] == '-' || t[0] == '*' || t[0] == '+') && t[1] == ' ' {
		return strings.TrimSpace(t[2:])
	}
	n := 0
	for n < len(t) && n < 4 && t[n] >= '0' && t[n] <= '9' {
		n++
	}
	if n > 0 && n+1 < len(t) && (t[n] == '.' || t[n] == ')') && t[n+1] == ' ' {
		return strings.TrimSpace(t[n+2:])
	}
	return ""
}

// keptLines appends the lines that keep accepts, verbatim and in order, with
// a mark for what is left out between them.
func keptLines(b []byte, text string, keep func(line) bool) []byte {
	pos, lines := 0, 0
	flush := func(to int) {
		if gap := text[pos:to]; lines > 0 && len(gap) > 24 {
			b = append(append(append(b, "[… "...), plural(lines, "line")...), "]\n"...)
		} else {
			b = append(b, gap...)
		}
		lines = 0
	}
	for l := range eachLine(text) {
		if !keep(l) {
			if !blank(l.text) {
				lines++
			}
			continue
		}
		flush(l.start)
		b = append(append(b, text[l.start:l.end]...), '\n')
		pos = min(l.end+1, len(text))
	}
	flush(len(text))
	return b
}

// field returns which field of a plan a line names: "goal", "step", "done",
// "next", or "".
func field(s string) string {
	t := strings.TrimLeft(s, " \t-*#>_")
	n := strings.IndexAny(t, ":：")
	if n <= 0 || n > 40 {
		return ""
	}
	name := strings.ToLower(strings.Trim(t[:n], "* _"))
	for _, f := range [...]struct{ word, field string }{
		{"goal", "goal"}, {"objective", "goal"}, {"task", "goal"}, {"目标", "goal"}, {"ziel", "goal"}, {"objetivo", "goal"}, {"objectif", "goal"},
		{"step", "step"}, {"current", "step"}, {"status", "step"}, {"now", "step"}, {"当前", "step"}, {"schritt", "step"}, {"paso", "step"},
		{"done", "done"}, {"completed", "done"}, {"已完成", "done"},
		{"next", "next"}, {"todo", "next"}, {"pending", "next"}, {"blocked", "next"}, {"下一步", "next"},
	} {
		if strings.Contains(name, f.word) {
			return f.field
		}
	}
	return ""
}

// imperative tells a list item that starts with a command: a verb in its base
// form, or a "don't".
func imperative(l line) bool {
	if l.item == "" || l.code {
		return false
	}
	t := strings.TrimLeftFunc(l.item, func(r rune) bool { return !unicode.IsLetter(r) })
	n := strings.IndexFunc(t, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' })
	if n < 0 {
		n = len(t)
	}
	return commandVerbs[strings.ToLower(t[:n])]
}

// modal tells a line that commands by a word of obligation, in any place. In
// languages without spaces the word may stand inside a run.
func modal(s string) bool {
	ascii := true
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if !ascii {
		for _, w := range modalRuns {
			if strings.Contains(s, w) {
				return true
			}
		}
	}
	prev, ne := "", false
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' }) {
		low := strings.ToLower(w)
		if modalWords[low] || prev == "do" && low == "not" || ne && low == "pas" {
			return true
		}
		prev, ne = low, ne || low == "ne"
	}
	return false
}

// Words of obligation and prohibition.
var (
	modalWords = names("must never always don't don’t mustn't shall required forbidden mandatory prohibited important critical " +
		"cannot can't shouldn't should only ensure avoid " +
		"muss müssen musst nie niemals immer verboten zwingend darf dürfen " +
		"debe debes deben nunca siempre prohibido obligatorio jamás " +
		"doit doivent jamais toujours interdit obligatoire " +
		"deve devono mai sempre vietato nunca sempre proibido obrigatório " +
		"должен должны никогда всегда нельзя обязательно запрещено moet nooit altijd")
	modalRuns = []string{"必须", "不要", "禁止", "务必", "永远", "绝不", "不得", "始终", "严禁", "切勿", "不能", "应当", "必須",
		"必ず", "絶対", "決して", "してください", "しないで", "반드시", "금지", "항상", "절대", "하지 마"}
	commandVerbs = names("add address adjust aim answer append apply ask assume attach avoid back be begin break bring build bump call capture check choose " +
		"clean clear close collect commit compare confirm consider consult convert copy create cut decide default define delete deliver describe " +
		"detect disable distill do document don't don’t double drop edit enable encrypt end ensure escalate execute exit explain export extract fail fetch " +
		"figure fill find finish fix flag focus follow format get give go group guard handle help hold identify ignore implement import include " +
		"inform insert inspect install invoke isolate judge keep leave let limit link list load lock log look maintain make mark match merge mention " +
		"minimize mock monitor move name never note notify offer open order organize parse pass pause pick plan prefer prepare preserve prevent " +
		"prioritize proceed provide publish pull push put raise reach react read rebuild recheck record reduce refactor refer refuse reject release " +
		"remember remind remove rename replace reply report request require reset resolve respect respond restart restore retry return reuse " +
		"review revert rewrite rotate route run save scan schedule search see select send separate set share show sign skip specify split start " +
		"state stay stick stop store study suggest summarize surface switch sync take tell test think track treat trust try update upgrade use " +
		"validate verify wait warn watch work wrap write " +
		"lies prüfe nutze verwende schreibe führe lea lee usa utiliza verifica comprueba escribe ejecuta lis utilise vérifie écris exécute")
)
