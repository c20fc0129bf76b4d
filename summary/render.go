package summary

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/choice"
)

// Cap returns the most tokens that a summary may take of a context window:
// 1,250, or 12 % of a window below 10,000. A person's words have their own room.
func Cap(window int) int { return max(0, min(1250, window*12/100)) }

const noneYet = "none yet"

// The lists of the text, in their order. Lists of the state that have the same name are named
// there.
const (
	kindCorrections = "corrections"
	kindDone        = "done"
	kindOpen        = "open"
	kindFiles       = "files"
)

// Beside is what a prompt shows next to the entries of a summary.
type Beside struct {
	// Said are a person's words that the prompt shows nowhere else, oldest first. The text has each
	// of them once, word for word. They do not count for the limit of the text.
	Said []Said
	// Stands reports whether the prompt shows a message in full. It is nil if no message is
	// shown.
	Stands func(key string) bool
	// Files returns the lines about the files under work, in at most room tokens. If it is nil, the
	// written files are listed.
	Files func(room int) string
}

// Said are the words of one message of a person.
type Said struct {
	// Key is the message's key. Turn counts the messages of persons.
	Key  string
	Turn int
	// Corrects is the turn whose words are corrected by these words. Corrected is the turn whose
	// words correct these. Both are 0 if there is none.
	Corrects, Corrected int
	Text                string
}

// list is one of the summary's lists while it is fitted into the text.
type list struct {
	kind string
	// said are a person's words, oldest first. They are all shown.
	said []string
	// items are the rendered lines of the list, the first to be shown at the front. If flip is
	// set, the shown items are written in the opposite order, oldest first.
	items []string
	flip  bool
	// evicted counts the entries that the state no longer holds.
	evicted int
	shown   int
}

// renderer holds the values that do not change while the text is fitted.
type renderer struct {
	goal, said, state, files string
	lists                    []list
	more                     func(kind string, n int) string
}

// render writes the summary in at most capTokens by count, a person's words not counted. The
// order of the text is the goal, constraints, corrections, decisions, what else was said, what is
// done, what is open, and the files. The newest entries of each list are shown, oldest first. The
// lists take turns. Omitted entries are counted in one line per list, "+N older: get ID". The
// function more returns the ID for a list's name and the number of its omitted entries. It must
// be a pure function. If it is nil or returns "", the line has no pointer. The function count
// must be pure too.
//
// Equal states give equal bytes. An empty list is left out. If the cap is too small even for the
// names of the lists, lists are dropped and the goal is shortened. The result is "" only if the
// header line alone is over the cap.
func render(s State, beside Beside, capTokens int, count func(string) int, more func(kind string, n int) string) string {
	r := newRenderer(s, beside, more)
	least := capTokens / filesShare
	capTokens += r.saidTokens(count)
	if beside.Files != nil {
		r.files = beside.Files(least)
	}
	text := r.text()
	used := count(text)
	if used > capTokens {
		return r.bare(capTokens, count)
	}
	order := r.fill(capTokens-used, count)
	if left := capTokens - count(r.text()); beside.Files != nil && left > least/filesShare {
		r.files = beside.Files(least + left*9/10) // names are counted one by one
	}
	for {
		text = r.text()
		if count(text) <= capTokens || len(order) == 0 {
			return text
		}
		if beside.Files != nil && len(r.files) > 0 {
			if short := beside.Files(least); short != r.files {
				r.files = short
				continue
			}
		}
		r.lists[order[len(order)-1]].shown--
		order = order[:len(order)-1]
	}
}

// filesShare is the divisor of the cap that gives the least room for the files. They also get the
// room that the lists leave. The value was chosen on recorded sessions: with half of the cap the
// text holds the most names of the host's own summaries.
const filesShare = 2

// List returns one of the lists in full, or all notes and closings, in the form of the text. The
// pointers in [RenderNoted] should lead to it. List returns "" for an unknown kind, and for notes
// that can't be read.
func List(s State, kind string, notes func() (Notes, error)) string {
	if kind == kindNotes {
		n, err := notes()
		if err != nil {
			return ""
		}
		return n.all()
	}
	r := newRenderer(s, Beside{}, nil)
	for i := range r.lists {
		if l := &r.lists[i]; l.kind == kind {
			l.shown = len(l.items)
			var b strings.Builder
			r.writeList(&b, l)
			return b.String()
		}
	}
	return ""
}

// The places of the lists in a renderer.
const (
	atConstraints = iota
	atCorrections
	atDecisions
	atDone
	atOpen
	atFiles
	lists
)

func newRenderer(s State, beside Beside, more func(string, int) string) *renderer {
	repo := s.repo()
	r := &renderer{more: more, lists: make([]list, lists)}
	if where := s.Where(); where != "" {
		r.state = "state: " + where + "\n"
	}
	for i, kind := range [...]string{kindConstraints, kindCorrections, kindDecisions, kindDone, kindOpen, kindFiles} {
		r.lists[i].kind, r.lists[i].flip = kind, i < atOpen
	}
	shown := r.place(s, &beside)
	r.goal = goalLine(s, shown) + r.goal
	add := func(at int, text string) { r.lists[at].items = append(r.lists[at].items, "  - "+text+"\n") }
	for _, e := range slices.Backward(s.Constraints) {
		if !shown(e.Key, e.Text) || beside.stands(e.Key) {
			add(atConstraints, e.Text) // rules are told again
		}
	}
	for _, e := range slices.Backward(done(s)) {
		if at := placeOf(e); at == atDone && asked(s, e) {
			continue
		} else if !shown(e.Key, e.Text) || e.Kind == kindCommit || e.short() && beside.stands(e.Key) {
			add(at, e.Text)
		}
	}
	for _, e := range s.OpenThreads() {
		add(atOpen, e.Text)
	}
	if beside.Files == nil {
		for _, e := range slices.Backward(s.Artifacts) {
			add(atFiles, within(e.Text, repo))
		}
		r.lists[atFiles].evicted = s.Evicted.Artifacts
	}
	r.lists[atConstraints].evicted, r.lists[atDecisions].evicted, r.lists[atOpen].evicted = s.Evicted.Constraints, s.Evicted.Decisions, s.Evicted.Threads
	return r
}

// The sources of entries that decide their list.
const (
	kindReply     = "reply"
	kindRejection = "rejection"
	kindReport    = "report"
)

// done returns the decisions and the reports of a state in the order of their time.
func done(s State) []Entry {
	all := slices.Concat(s.Decisions, s.Reports)
	slices.SortStableFunc(all, func(a, b Entry) int { return a.order() - b.order() })
	return all
}

// order is the number in an entry's id, which grows with every entry.
func (e Entry) order() int {
	n, _ := strconv.Atoi(strings.TrimLeft(e.ID, "abcdefghijklmnopqrstuvwxyz"))
	return n
}

// placeOf returns the list of an entry.
func placeOf(e Entry) int {
	switch e.Kind {
	case kindRejection:
		return atCorrections
	case kindCommit, kindReport:
		return atDone
	}
	return atDecisions
}

// Commits reports whether an entry names a commit.
func (e Entry) Commits() bool { return e.Kind == kindCommit }

// shortAnswer is the length, in bytes, up to which an answer says nothing without its question.
const shortAnswer = 20

// short reports whether an entry holds a short answer to a question.
func (e Entry) short() bool {
	_, answer, ok := choice.Parts(e.Text)
	return ok && e.Kind == kindReply && len(answer) <= shortAnswer
}

// asked reports whether a report is no more than the question of a decision.
func asked(s State, report Entry) bool {
	return report.Kind == kindReport && slices.ContainsFunc(s.Decisions, func(d Entry) bool {
		return strings.Contains(strings.ReplaceAll(d.Text, ";", ""), strings.TrimSuffix(strings.ReplaceAll(report.Text, ";", ""), "…"))
	})
}

func (b *Beside) stands(key string) bool { return b.Stands != nil && key != "" && b.Stands(key) }

// place puts a person's words into the lists that they belong to. The returned function reports
// whether the prompt shows the text of an entry, in a message or in these words.
func (r *renderer) place(s State, beside *Beside) (shown func(key, text string) bool) {
	rules, rejected, replies := map[string]bool{}, map[string]bool{}, map[string]string{}
	for _, e := range s.Constraints {
		rules[e.Key] = true
	}
	for _, e := range s.Decisions {
		if question, _, ok := choice.Parts(e.Text); ok && (e.Kind == kindReply || e.Kind == kindRejection) {
			replies[e.Key] = question + " → "
			rejected[e.Key] = e.Kind == kindRejection
		}
	}
	words := map[string]string{}
	for _, w := range beside.Said {
		words[w.Key] += " " + strings.Join(strings.Fields(w.Text), " ")
		line := strconv.Itoa(w.Turn) + w.mark() + ": " + replies[w.Key] + indented(w.Text) + "\n"
		at := atDecisions
		switch {
		case w.Key == s.Goal.Key:
			r.goal += "goal, turn " + line
			continue
		case w.Corrects > 0 || w.Corrected > 0 || rejected[w.Key]:
			at = atCorrections
		case replies[w.Key] != "":
		case rules[w.Key]:
			at = atConstraints
		default:
			r.said += "  " + line
			continue
		}
		r.lists[at].said = append(r.lists[at].said, "  - "+line)
	}
	if r.said != "" {
		r.said = "said, by turn:\n" + r.said
	}
	return func(key, text string) bool {
		if said, ok := words[key]; ok {
			_, answer, ok := choice.Parts(text)
			return strings.Contains(said, strings.TrimSuffix(text, "…")) || ok && strings.Contains(said, strings.TrimSuffix(answer, "…"))
		}
		return beside.stands(key)
	}
}

// mark returns the words that join a correction to what it corrects.
func (w *Said) mark() string {
	switch {
	case w.Corrects > 0:
		return " (corrects " + strconv.Itoa(w.Corrects) + ")"
	case w.Corrected > 0:
		return " (corrected in " + strconv.Itoa(w.Corrected) + ")"
	}
	return ""
}

// indented keeps the lines of a text from beginning a line of the summary.
func indented(text string) string {
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && hidden(r) {
			return -1
		}
		return r
	}, disarm(text))
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
}

// saidTokens counts the words of persons.
func (r *renderer) saidTokens(count func(string) int) int {
	n := 0
	for i := range r.lists {
		for _, line := range r.lists[i].said {
			n += count(line)
		}
	}
	if r.said != "" {
		n += count(r.said)
	}
	if strings.HasPrefix(r.goal, "goal, turn ") {
		n += count(r.goal)
	}
	return n
}

// goalLine returns the goal and the newest request, unless the prompt shows them.
func goalLine(s State, shown func(key, text string) bool) string {
	goal, now := s.Goal.Text, s.Request.Text
	if goal == "" {
		return "goal: " + noneYet + "\n"
	}
	var parts []string
	if !shown(s.Goal.Key, goal) {
		parts = append(parts, "goal: "+goal)
	}
	if now != "" && s.Request.ID != s.Goal.ID && !shown(s.Request.Key, now) {
		parts = append(parts, "now: "+now)
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, " | ") + "\n"
}

// Where returns where the work is, and how the last check ended, unless it is still failing.
func (s State) Where() string {
	var parts []string
	if repo := s.repo(); repo != "" {
		parts = append(parts, "in "+repo)
	}
	if s.Place.Branch != "" {
		parts = append(parts, "branch "+s.Place.Branch)
	}
	if s.LastCheck.Text != "" && !s.isFailing(s.LastCheck.Text) {
		parts = append(parts, "last check "+s.LastCheck.Text+" → "+s.LastCheck.Status)
	}
	return strings.Join(parts, "; ")
}

// repo returns the directory of the work. That is the directory that the host named, else the
// directory in which most commands ran, else the deepest directory that holds two thirds of the
// written files.
func (s State) repo() string {
	if s.Place.Dir != "" {
		return s.Place.Dir
	}
	if len(s.Place.Dirs) > 0 {
		return slices.MaxFunc(s.Place.Dirs, byCount).Dir
	}
	return commonDir(s.Artifacts)
}

// commonDir returns the deepest directory, at least two levels down, that holds at least two
// thirds of the files. It returns "" if there is no such directory or only one file.
func commonDir(files []Entry) string {
	count := map[string]int{}
	best := ""
	for _, f := range files {
		dir := f.Text
		for strings.HasPrefix(dir, "/") {
			dir = dir[:strings.LastIndexByte(dir, '/')]
			if strings.Count(dir, "/") < 2 {
				break
			}
			if count[dir]++; count[dir]*3 >= len(files)*2 && len(files) > 1 && len(dir) > len(best) {
				best = dir
			}
		}
	}
	return best
}

// within returns a path as seen from dir.
func within(p, dir string) string {
	if rest, ok := strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/"); ok && dir != "" && rest != "" {
		return rest
	}
	return p
}

// turns is the order in which the lists get the next place.
var turns = [...]int{atOpen, atConstraints, atCorrections, atDecisions, atDone, atFiles, atDecisions, atDone}

// fill gives places to the lists in the order of turns, newest entries first, while budget lasts.
// It returns the lists in the order in which they got their places. A list gets no more places
// once its next entry does not fit.
func (r *renderer) fill(budget int, count func(string) int) (order []int) {
	var full [lists]bool
	for {
		placed := false
		for _, i := range turns {
			l := &r.lists[i]
			if full[i] || l.shown == len(l.items) {
				continue
			}
			cost := count(l.items[l.shown])
			if cost > budget {
				full[i] = true
				continue
			}
			budget -= cost
			l.shown++
			placed = true
			order = append(order, i)
		}
		if !placed {
			return order
		}
	}
}

// text writes the summary with the entries shown now.
func (r *renderer) text() string {
	var b strings.Builder
	b.WriteString(header + "\n" + r.goal)
	for i := range r.lists {
		switch i {
		case atDone:
			b.WriteString(r.said)
		case atOpen:
			b.WriteString(r.state)
		}
		r.writeList(&b, &r.lists[i])
	}
	b.WriteString(r.files)
	return b.String()
}

func (r *renderer) writeList(b *strings.Builder, l *list) {
	hidden := len(l.items) - l.shown + l.evicted
	if len(l.items) == 0 && len(l.said) == 0 && hidden == 0 {
		return
	}
	items := slices.Clone(l.items[:l.shown])
	if hidden > 0 {
		items = append(items, older(l.kind, hidden, r.more))
	}
	if l.flip {
		slices.Reverse(items)
	}
	b.WriteString(l.kind + ":\n" + strings.Join(l.said, "") + strings.Join(items, ""))
}

// older returns the line that counts the omitted entries of a list.
func older(kind string, n int, more func(kind string, n int) string) string {
	id := ""
	if more != nil {
		id = oneLine(more(kind, n), nameRunes)
	}
	if id != "" {
		id = ": get " + id
	}
	return "  +" + strconv.Itoa(n) + " older" + id + "\n"
}

// bare returns the summary for a cap that the lists' names and pointers do not fit in: header and
// goal with a person's words, then with less of them. The goal is as long as the cap allows.
func (r *renderer) bare(capTokens int, count func(string) int) string {
	words := r.said
	for i := range r.lists {
		words += strings.Join(r.lists[i].said, "")
	}
	for _, text := range [...]string{header + "\n" + r.goal + words + r.state, header + "\n" + r.goal + words, header + "\n" + r.goal} {
		if count(text) <= capTokens {
			return text
		}
	}
	for n := utf8.RuneCountInString(r.goal) * 3 / 4; n > len("goal: "); n = n * 3 / 4 {
		if text := header + "\n" + oneLine(r.goal, n) + "\n"; count(text) <= capTokens {
			return text
		}
	}
	if text := header + "\n"; count(text) <= capTokens {
		return text
	}
	return ""
}
