package consolidation

import (
	"slices"
	"strings"
	"unicode"

	"github.com/memkernel/memkernel/internal/choice"
	"github.com/memkernel/memkernel/internal/textutil"
)

// Logs that people and agents write by themselves have no captures and few tags. The evidence of
// an entry's worth is then its heading, the statements of its sentences, and later days' need of
// names that it introduced.

// worth is a class of worth that the words around an entry give it.
type worth uint8

const (
	worthNothing worth = iota // nothing is known
	worthPassing              // plans, questions, figures and forms of the day
	worthOutcome              // the outcome of work
	worthReason               // why something was done
	worthLesson
	worthDecision
	worthWish // a wish of the user's
)

// headings name the text below them, in the languages that we were sure of. The first group that
// matches counts, so that a plan is taken for nothing else.
var headings = [...]struct {
	worth
	*textutil.Regexp
}{
	{worthPassing, textutil.LazyRegexp(`(?i)\b(?:next|to-?dos?|tasks?|action items?|follow-?ups?|plan(?:s|ned)?|roadmap|backlog|ideas?|opportunit(?:y|ies)|open|questions?|tomorrow|upcoming|pending|wait(?:ing)?|schedule|agenda|goals?|targets?|baseline|test(?:s|ing)?|statistics|stats|metrics|numbers|links?|references?|sources?|files?|outputs?|artifacts?|commits?|time ?line|weather|status|heartbeats?|related|topics?|themes?|priorit(?:y|ies)|features|template|calendar|meetings today|` +
		`nächste\w*|aufgaben|offen\w*|fragen|ideen|geplant|ziele?|termine|wetter|quellen|dateien|prochain\w*|à faire|questions|idées|objectifs?|météo|sources|fichiers|próxim\w*|pendientes?|tareas|preguntas|objetivos?|enlaces|archivos)\b|下一步|待办|计划|明天|后续|未来|问题列表|待解决|目标|统计|指标|数据|链接|参考|来源|文件|产出|输出|提交|时间|日期|状态|天气|测试|基线|想法|相关|关联|主题|优先级|功能列表|定位`)},
	{worthDecision, textutil.LazyRegexp(`(?i)\b(?:decisions?|decided|agreed|agreements?|chosen|choices?|conclusions?|entscheidung(?:en)?|beschl(?:u|ü)ss(?:e)?|entschieden|fazit|décisions?|décidé|choix|conclusions?|decisiones|decisión|acuerdos?|decidido|conclusi(?:ón|ones))\b|决策|决定|決定|结论|选择|定论`)},
	{worthReason, textutil.LazyRegexp(`(?i)\b(?:rationale|reasons?|reasoning|why|benefits?|advantages?|pros|cons|impact|begründung|gründe?|warum|vorteile|justification|raisons?|pourquoi|avantages|razon(?:es)?|motivos?|ventajas)\b|理由|为什么|优势|好处|价值|意义|影响`)},
	{worthWish, textutil.LazyRegexp(`(?i)\b(?:preferences?|(?:user|human|owner) (?:feedback|wants|said|asked|requests?|wishes)|feedback|vorlieben|wünsche|rückmeldung|préférences?|retours?|preferencias?|deseos)\b|偏好|用户反馈|用户要求|喜好`)},
	{worthLesson, textutil.LazyRegexp(`(?i)\b(?:lessons?|learn(?:ed|t|ings?)?|insights?|take-?aways?|gotchas?|pitfalls?|caveats?|discover(?:y|ies|ed)|findings?|found out|mistakes?|root causes?|causes?|fix(?:es|ed)?|bugs?|solutions?|solved|troubleshooting|workarounds?|what (?:worked|went wrong|broke|failed|helped)|watch out|notes? to self|important|warnings?|key points?|` +
		`erkenntnis(?:se)?|gelernt|ursachen?|lösung(?:en)?|fehler|stolperstein\w*|wichtig\w*|leçons?|appris|apprentissages?|constats?|causes?|solutions?|pièges?|corrections?|lecci(?:ón|ones)|aprend\w*|hallazgos?|causas?|soluci(?:ón|ones)|errores|importante)\b|教训|教訓|经验|收获|洞察|发现|学到|学会|反思|启示|感悟|踩坑|坑点|原因|解决|修复|要点|心得|注意|重要`)},
	{worthOutcome, textutil.LazyRegexp(`(?i)\b(?:what happened|happened|changes?|changed|done|completed|accomplish\w*|achievements?|results?|outcomes?|summary|summaries|highlights?|implement\w*|added|updates?|updated|shipped|released|deployed|progress|work(?:ed on)?|log|notes?|journal|events?|problems?|issues?|` +
		`passiert|geschehen|erledigt|geändert|änderungen|ergebnis(?:se)?|zusammenfassung|gemacht|notizen|fait|changements?|résultats?|résumé|réalisé|notes|hecho|cambios?|resultados?|resumen|logros|notas)\b|完成|成果|总结|实现|进展|变更|更新|结果|亮点|工作|记录|笔记|核心|关键`)},
}

// headed returns the worth that a heading or a label gives to the text below or after it.
func headed(s string) worth {
	if s == "" || len(s) > 120 {
		return worthNothing
	}
	if saysDecision(s) {
		return worthDecision
	}
	if saysLesson.MatchString(s) {
		return worthLesson
	}
	for i := range headings {
		if headings[i].MatchString(s) {
			return headings[i].worth
		}
	}
	return worthNothing
}

// label returns the label of an entry and the rest after the label. A label is the beginning
// before a colon or in bold letters. name is "" if the entry has no label.
func label(plain string) (name, rest string) {
	at := strings.IndexAny(plain, ":：")
	if at <= 0 || at > 60 || strings.HasPrefix(plain[at:], "://") || wordCount(plain[:at]) > 5 || strings.ContainsAny(plain[:at], "`.。") {
		return "", plain
	}
	return strings.Trim(plain[:at], "*_ "), strings.TrimLeft(plain[at:], ":：*_ ")
}

// listLabels returns for each entry the label of its list. The label is the item in which the
// entry is nested, or the line before the list if that line ends with a colon.
func listLabels(entries []Entry) []string {
	out := make([]string, len(entries))
	type open struct {
		indent int
		label  string
	}
	var over []open
	last := 0
	for i := range entries {
		e := &entries[i]
		if i > 0 && !slices.Equal(e.Trail, entries[i-1].Trail) {
			over = nil
		}
		mark := bullet.FindString(firstLine(e.Text))
		indent := len(mark) - len(strings.TrimLeft(mark, " \t"))
		item := strings.TrimSpace(mark) != ""
		if !item {
			indent = -1
			if e.StartLine > last+2 {
				over = nil
			}
		}
		for len(over) > 0 && over[len(over)-1].indent >= indent {
			over = over[:len(over)-1]
		}
		if len(over) > 0 && item {
			out[i] = over[len(over)-1].label
		}
		if t := strings.TrimRight(e.Plain, "*_ "); strings.HasSuffix(t, ":") || strings.HasSuffix(t, "：") {
			over = append(over, open{indent, strings.Trim(t, "*_ :：")})
		} else if indent >= 0 && len(over) > 0 {
			over = append(over, open{indent, over[len(over)-1].label})
		}
		last = e.EndLine
	}
	return out
}

// subject returns the name in code style in the headings above an entry, "" if there is none. The
// text below may only make sense with that name.
func subject(trail []string) string {
	for _, h := range slices.Backward(trail) {
		if len(codeNames(h)) == 0 || headed(h) == worthPassing {
			continue
		}
		for _, sep := range [...]string{": ", "：", " — ", " – ", " - "} {
			if i := strings.LastIndex(h, sep); i >= 0 && len(codeNames(h[i:])) > 0 {
				h = h[i+len(sep):]
			}
		}
		if h = leadMark.ReplaceAllString(strings.Trim(h, "*_ "), ""); len(h) <= 80 {
			return h
		}
	}
	return ""
}

// mostLead is the most words of the label before a list's items.
const mostLead = 8

// leadMark is the place of a label in a list.
var leadMark = textutil.LazyRegexp(`^\s*(?:\d{1,3}[.)]\s+|\*\s+)`)

// aboutSubject puts the name from the headings before a text that names nothing itself. If the
// label of the list describes the items, it puts that label before the text instead.
func aboutSubject(text, lead string, trail []string) string {
	if lead != "" && headed(lead) == worthNothing && wordCount(lead) > 1 && wordCount(lead) <= mostLead {
		if strings.HasPrefix(Key(text), Key(lead)) {
			return text // it restricts the text, and precedes it for that
		}
		return leadMark.ReplaceAllString(strings.ReplaceAll(lead, "**", ""), "") + ": " + text
	}
	if s := subject(trail); s != "" && len(codeNames(text)) == 0 {
		return s + ": " + text
	}
	return text
}

// pieced returns the items of an entry that holds several, such as a list that follows its label
// without a blank line. Each item becomes a separate entry.
func pieced(e *Entry) []Entry {
	lines := strings.Split(e.Text, "\n")
	var out []Entry
	from := 0
	for i := 1; i <= len(lines); i++ {
		if i < len(lines) && strings.TrimSpace(bullet.FindString(lines[i])) == "" {
			continue
		}
		text := strings.Join(lines[from:i], "\n")
		body, tags := CutTags(untimed(oneLine(uncommented(text)[len(bullet.FindString(text)):])))
		out = append(out, Entry{Path: e.Path, Kind: e.Kind, Text: text, Plain: body, Trail: e.Trail, Date: e.Date, Dated: e.Dated, ID: e.ID, State: e.State,
			Tags: e.Tags.with(tags...), StartLine: e.StartLine + from, EndLine: e.StartLine + i - 1})
		from = i
	}
	if len(out) < 2 {
		return []Entry{*e}
	}
	return out
}

// marked reports whether the nearest words around an entry mean the same as a tag.
func marked(e *Entry, lead string) bool {
	name, _ := label(e.Plain)
	above := ""
	if len(e.Trail) > 0 {
		above = e.Trail[len(e.Trail)-1]
	}
	return slices.ContainsFunc([]string{name, lead, above}, func(s string) bool { return s != "" && (saysDecision(s) || saysLesson.MatchString(s)) })
}

// around returns the worth of an entry by the words around it. It looks at the entry's own label,
// the label of its list, and then the headings from the nearest on. An entry that a label or
// heading calls a plan or a form has passing worth.
func around(e *Entry, lead string) worth {
	name, _ := label(e.Plain)
	best := worthNothing
	for i, s := range append([]string{name, lead}, reversed(e.Trail)...) {
		switch w := headed(s); {
		case w == worthPassing && (i < 3 || best == worthNothing || best == worthOutcome):
			return worthPassing
		case best == worthNothing:
			best = w
		}
	}
	return best
}

func reversed(s []string) []string {
	out := slices.Clone(s)
	slices.Reverse(out)
	return out
}

var (
	// outcomes are the words by which a sentence states an outcome. causes are the words by which
	// it states a reason.
	outcomes = textutil.LazyRegexp(`(?i)\b(?:fixed|solved|added|rewrote|rewritten|dropped|drops|changed|missing|returns?|refuse[sd]?|verified|switched|moved|migrated|replaced|removed|renamed|deployed|released|shipped|launched|installed|configured|enabled|disabled|upgraded|merged|works?|working|needs?|requires?|supports?|is|are|fails?|failed|broke|turns out|runs?|lives?|uses?|is now|are now|no longer|instead of|` +
		`behoben|gelöst|abgeschaltet|eingerichtet|geändert|hinzugefügt|fehlte?|umgestellt|ersetzt|entfernt|verschoben|installiert|aktiviert|funktioniert|braucht|benötigt|läuft|ist|sind|corrigé|résolu|remplacé|supprimé|déplacé|installé|activé|fonctionne|nécessite|tourne|est|sont|corregido|resuelto|reemplazado|eliminado|movido|instalado|activado|funciona|necesita|requiere)\b|修复|解决|改为|替换|迁移|部署|发布|支持|需要|使用|无需|导致|不再|提升|降低|新增|去掉|改成`)
	causes = textutil.LazyRegexp(`(?i)\b(?:because|since|so that|due to|therefore|caused by|which means|otherwise|must|unless|only (?:when|if|after|for)|before|when|muss|müssen|erst wenn|bevor|wenn|sobald|doit|il faut|avant de|quand|lorsque|debe|hay que|antes de|cuando|weil|damit|deshalb|ursache|wegen|sonst|parce que|car|donc|afin de|à cause|porque|para que|por eso|debido a|así que)\b|因为|所以|由于|因此|以便|否则|必须|只有|之前|→`)
	// defines matches a name in code style and its definition.
	defines = textutil.LazyRegexp("^\\W*`[^`]{4,60}`(?: \\+ `[^`]{4,60}`)*[*_]*(?:: | — | – | - |：|——).{12,}")
	// learning are the words by which a sentence states a lesson.
	learning = textutil.LazyRegexp(`(?i)(?:^|[^\p{L}])(?:i learned|we learned|learned that|lesson|turns out|turned out|the trick (?:is|was)|the (?:fix|root cause|cause|problem|culprit|reason) (?:is|was)|remember to|note to self|next time|always|never|make sure|must be|only works|doesn't work|does not work|` +
		`gelernt|stellte sich heraus|hat sich herausgestellt|die ursache|das problem (?:ist|war)|die lösung|nächstes mal|j'ai appris|il s'avère|la cause|le problème (?:est|était)|la solution|la prochaine fois|aprendí|aprendimos|resulta que|resultó|la causa|el problema (?:es|era)|la solución|la próxima vez)(?:[^\p{L}]|$)|原来|问题在于|原因是|关键是|关键在于|学到|记住|教训`)
	// wishing are verbs that state a wish.
	wishing = textutil.LazyRegexp(`(?i)\b(?:prefers?|wants?|would rather|likes?|dislikes?|hates?|loves|insists?|asked (?:for|to|that|me)|requested|expects?|bevorzugt|möchte|will|mag|wünscht|préfère|veut|aime|souhaite|déteste|demande|prefiere|quiere|le gusta|odia|pidió)\b|喜欢|想要|希望|要求|不喜欢|偏好|习惯`)
	// routine is text that every day has: counts of tests, hashes, states of a run.
	routine = textutil.LazyRegexp(`(?i)^\W*\d+\s*(?:→|->|/|=>)\s*\d+|\b\d+/\d+\b|\b\d+ (?:→ \d+ )?(?:new )?(?:tests?|tests? pass\w*|files?|lines|commits?|insertions|deletions)\b|\b(?:zero|no) (?:regressions?|failures|errors)\b|\ball (?:tests? )?(?:pass|green)\w*|\bcommitted\b|\bpushed\b|^\W*(?:commit|generated|status|date|time|duration|author|version|tags?|type|priority|branch)\b\W|^[*_]*(?:总结时间|状态|时间|日期|生成|作者|提交|版本|阶段|耗时|时长)|^\W*[✅❌☑✔⏳🔄]|全部通过|测试通过|个测试|^\W*\[[^\]]*\]\([^)]*\)\W*$|^\W*https?://\S+$|^\W*[\w./-]+\.\w{1,4}\W*$`)
	// suggested matches the beginning of a suggestion.
	suggested = textutil.LazyRegexp(`(?i)^\W*(?:consider|could|should (?:i|we|be)|might|maybe|need to|needs to be|try to|think about|look into|explore|investigate|continue|plan to|will|going to|proposer?|proposal|erwägen|vielleicht|prüfen|envisager|peut-être|considerar|quizás|revisar)\b|^\W*(?:考虑|可考虑|需要|建议|可以考虑|继续|持续|尝试|探索|研究|计划|准备|将)`)
	// naming are names as code and figures write them.
	naming = textutil.LazyRegexp("`[^`]{3,60}`" + `|\b[a-z]\w*[A-Z]\w+|\b\w+_\w+\b|\b[\w-]+\.(?:go|py|js|ts|md|json|ya?ml|toml|sh|sql|rs|com|io|org|dev)\b|--[a-z][\w-]+|\b[A-Z][\w-]+\b|\d`)
)

// predicate matches the beginning of a sentence about an unnamed subject, which has a verb in the
// place of the subject.
var predicate = textutil.LazyRegexp(`(?i)^\W*(?:fills|solves|supports|completes|builds|enables|follows|followed|complements|provides|covers|closes|mirrors|allows|adds|makes|improves|reduces|prevents|extends|handles|keeps|natural|minimal|clean|simple|backward[- ]compatible|zero|no) [\w-]`)

// telling scores how much a text says by itself. It counts whether the text names something, has
// an outcome, and has a reason. A text with a score below 2 is not a fact.
func telling(s string) int {
	n := 0
	if naming.MatchString(strings.TrimLeft(s[min(1, len(s)):], "*_")) {
		n++
	}
	if outcomes.MatchString(s) {
		n++
	}
	if causes.MatchString(s) || defines.MatchString(s) {
		n++
	}
	return n
}

// pointer is a link, of either spelling.
var pointer = textutil.LazyRegexp(`\[\[[^\]]*\]\]|\[[^\]]*\]\([^)]*\)`)

// passing reports whether an entry is of use for its day only. Such an entry is routine, a
// question, a task, a form's field, or only links.
func passing(plain string) bool {
	if strings.Contains(plain, "](") || strings.Contains(plain, "[[") {
		if len(words(pointer.ReplaceAllString(plain, " "))) == 0 {
			return true
		}
	}
	t := strings.TrimRight(plain, "*_ ")
	return routine.MatchString(plain) || suggested.MatchString(plain) || strings.HasSuffix(t, "?") || strings.HasSuffix(t, "？") || strings.HasSuffix(t, ":") || strings.HasSuffix(t, "：")
}

// longSaying is the length in bytes from which an entry is read sentence by sentence.
const longSaying = 120

// leaning matches the beginning of a sentence that needs the sentence before it.
var leaning = textutil.LazyRegexp(`(?i)^(?:it|they|he|she|this|that|these|those|there|so|but|then|er|sie|es|das|dies\w*|dann|aber|il|elle|ils|elles|ce|cela|ça|él|ella|ellos|esto|eso|pero)\b|^(?:它|他|她|这|那|但)`)

// sayings returns the statements of an entry. An item that is short enough is one statement. Long
// prose gives its sentences, each with the previous sentence if it needs that one.
func sayings(plain string, item bool) []string {
	all := sentencesOf(plain)
	if len(all) < 2 || len(plain) < longSaying || item && len(plain) <= mostFact {
		return []string{plain}
	}
	var out []string
	for i, s := range all {
		if i > 0 && leaning.MatchString(s) && len(all[i-1])+len(s) < mostFact {
			s = all[i-1] + " " + s
		}
		out = append(out, s)
	}
	return out
}

// stated returns the worth of a sentence when nothing around the sentence reveals it.
func (c *curator) stated(s string) worth {
	switch {
	case c.wishes(s):
		return worthWish
	case choice.Decides(s):
		return worthDecision
	case learning.MatchString(s) && telling(s) >= 2:
		return worthLesson
	}
	return worthNothing
}

// henceforth are the words by which a wish holds for more than once.
var henceforth = textutil.LazyRegexp(`(?i)\b(?:from now on|in (?:the )?future|every time|always|never|künftig|in zukunft|ab jetzt|von nun an|immer|désormais|à l'avenir|toujours|a partir de ahora|en adelante|siempre)\b|以后|今后|所有|每次|一律`)

// wishes reports whether a sentence states a wish of the user.
func (c *curator) wishes(s string) bool {
	if !wishing.MatchString(s) {
		return false
	}
	if speaksOfUser.MatchString(s) || henceforth.MatchString(s) {
		return true
	}
	for _, w := range words(s)[:min(3, len(words(s)))] {
		if c.users[w] {
			return true
		}
	}
	return false
}

// sentencesOf cuts a text at the ends of its sentences.
func sentencesOf(s string) []string {
	var out []string
	start := 0
	for i, r := range s {
		end := i + len(string(r))
		wide := strings.ContainsRune("。！？", r)
		if !wide && (!strings.ContainsRune(".!?", r) || end < len(s) && s[end] != ' ') || r == '.' && i > 1 && s[i-2] == ' ' {
			continue
		}
		if t := strings.TrimSpace(s[start:end]); t != "" {
			out = append(out, t)
		}
		start = end
	}
	if t := strings.TrimSpace(s[start:]); t != "" {
		out = append(out, t)
	}
	return out
}

// leastNeeded is on how many later days a name must be mentioned again.
const leastNeeded = 2

// codeNames returns the names in a text that are written as code is. They are rare enough to be
// found again.
func codeNames(s string) []string {
	var out []string
	for _, m := range coded.FindAllString(s, -1) {
		n := strings.ToLower(strings.Trim(m, "`()"))
		if i := strings.IndexByte(n, '('); i > 0 {
			n = n[:i]
		}
		if len(n) >= 5 && strings.ContainsFunc(n, unicode.IsLetter) && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

var coded = textutil.LazyRegexp("`[^`\\s]{4,60}`" + `|\b[a-z]+[A-Z]\w+|\b[a-z]+_[a-z_]+\b`)

// needed returns for each name in the logs the days that mention it, in order.
func (s *Snapshot) needed() map[string][]string {
	out := map[string][]string{}
	for i := range s.Files {
		f := &s.Files[i]
		if f.Date == "" || f.archived() || f.Err != nil {
			continue
		}
		for _, n := range codeNames(f.Doc.Raw) {
			if at, ok := slices.BinarySearch(out[n], f.Date); !ok {
				out[n] = slices.Insert(out[n], at, f.Date)
			}
		}
	}
	return out
}

// neededAfter is daysAfter up to c.Day.
func (c *curator) neededAfter(text, day string) int { return daysAfter(c.names, text, day, c.Day) }

// daysAfter returns on how many later days, up to a last one, a name that text introduced on day
// was mentioned again. If the text introduced several names, the highest count wins.
func daysAfter(names map[string][]string, text, day, last string) int {
	most := 0
	for _, n := range codeNames(text) {
		days := names[n]
		if len(days) == 0 || days[0] != day {
			continue
		}
		later := 0
		for _, d := range days {
			if d > day && d <= last {
				later++
			}
		}
		most = max(most, later)
	}
	return most
}

// formFiles is how many files must have a line or a field's label for the line or label to belong
// to a form.
const formFiles = 3

// forms are the parts of a workspace's files that come from a form. lines are lines that several
// files have word for word. fields are labels of fields.
type forms struct{ lines, fields map[string]bool }

// field is a line of a form: a name without spaces, and a value.
var field = textutil.LazyRegexp(`^\s*(?:[-*+]\s+)?[*_]{0,2}([A-Za-z][\w-]{1,30})[*_]{0,2}\s*[:=][*_]{0,2}\s*(\S.{0,60})?$`)

// formsOf finds the forms of the logs.
func (s *Snapshot) formsOf() forms {
	lines, fields := map[string]map[string]bool{}, map[string]map[string]bool{}
	note := func(in map[string]map[string]bool, key, path string) {
		if in[key] == nil {
			in[key] = map[string]bool{}
		}
		in[key][path] = true
	}
	for i := range s.Files {
		f := &s.Files[i]
		if f.Date == "" || f.archived() || f.Err != nil {
			continue
		}
		for j := range f.Entries {
			if of := f.Entries[j].ID; strings.HasPrefix(of, "fl-") {
				continue // a session's captures are no form
			}
			for l := range strings.SplitSeq(f.Entries[j].Text, "\n") {
				if m := field.FindStringSubmatch(l); m != nil {
					note(fields, strings.ToLower(m[1]), f.Path)
				}
				if key := Key(l); key != "" {
					note(lines, key, f.Path)
				}
			}
		}
	}
	return forms{manyOf(lines), manyOf(fields)}
}

func manyOf(in map[string]map[string]bool) map[string]bool {
	out := map[string]bool{}
	for key, at := range in {
		if len(at) >= formFiles {
			out[key] = true
		}
	}
	return out
}

// without returns a text without a form's lines. Labels that reveal the worth of a field are
// kept, however many files have them.
func (f forms) without(text string) string {
	kept := ""
	for l := range strings.SplitSeq(text, "\n") {
		if f.lines[Key(l)] {
			continue
		}
		if m := field.FindStringSubmatch(l); m != nil && (strings.Contains(m[1], "_") || f.fields[strings.ToLower(m[1])]) && headed(m[1]) <= worthPassing {
			continue
		}
		if kept != "" {
			kept += "\n"
		}
		kept += l
	}
	return kept
}
