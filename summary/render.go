package summary

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Cap returns the most tokens that a summary may take of a context window:
// 1,200, or 12 % of a window below 10,000.
func Cap(window int) int { return max(0, min(1200, window*12/100)) }

const noneYet = "none yet"

// list is one of the summary's lists while it is fitted into the text.
type list struct {
	kind string
	// items are the rendered lines of the list, newest first.
	items []string
	// evicted counts the entries that the state no longer holds.
	evicted int
	shown   int
}

// renderer holds the values that do not change while the text is fitted.
type renderer struct {
	goal  string
	state string
	lists [4]list
	more  func(kind string, n int) string
}

// render writes the summary in at most capTokens by count. Goal and state come first, then the
// newest entries of each list. The lists take turns. Omitted entries are counted in one line per
// list, "+N older: get ID". The function more returns the ID for a list's name and the number of
// its omitted entries. It must be a pure function. If it is nil or returns "", the line has no
// pointer. The function count must be pure too. If it is nil, three bytes count as a token.
//
// Equal states give equal bytes. For a fresh session every key reads "none yet". If the cap is
// too small even for the bare keys, keys are dropped from the end and the goal is shortened. The
// result is "" only if the header line alone is over the cap.
func render(s State, capTokens int, count func(string) int, more func(kind string, n int) string) string {
	if count == nil {
		count = func(s string) int { return (len(s) + 2) / 3 }
	}
	r := newRenderer(s, more)
	text := r.text()
	used := count(text)
	if used > capTokens {
		return r.bare(capTokens, count)
	}
	order := r.fill(capTokens-used, count)
	for {
		text = r.text()
		if count(text) <= capTokens || len(order) == 0 {
			return text
		}
		r.lists[order[len(order)-1]].shown--
		order = order[:len(order)-1]
	}
}

// List returns one of the lists in full, newest first, in the form of the text. The pointers in
// [RenderNoted] should lead to it. List returns "" for an unknown kind.
func List(s State, kind string) string {
	r := newRenderer(s, nil)
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

func newRenderer(s State, more func(string, int) string) *renderer {
	repo := s.repo()
	r := &renderer{goal: goalLine(s), state: stateLines(s, repo), more: more}
	r.lists = [4]list{
		{kind: kindConstraints, items: bullets(s.Constraints), evicted: s.Evicted.Constraints},
		{kind: kindDecisions, items: bullets(s.Decisions), evicted: s.Evicted.Decisions},
		{kind: kindThreads, evicted: s.Evicted.Threads},
		{kind: kindArtifacts, evicted: s.Evicted.Artifacts},
	}
	for _, e := range s.OpenThreads() {
		r.lists[2].items = append(r.lists[2].items, "  - "+e.Text+"\n")
	}
	for _, e := range slices.Backward(s.Artifacts) {
		item := "  - file: " + within(e.Text, repo) + "\n    why: " + e.Why + "\n"
		r.lists[3].items = append(r.lists[3].items, item)
	}
	return r
}

func bullets(entries []Entry) []string {
	var out []string
	for _, e := range slices.Backward(entries) {
		out = append(out, "  - "+e.Text+"\n")
	}
	return out
}

func goalLine(s State) string {
	switch {
	case s.Goal.Text == "":
		return "goal: " + noneYet + "\n"
	case s.Request.ID == s.Goal.ID:
		return "goal: " + s.Goal.Text + "\n"
	}
	return "goal: " + s.Goal.Text + " | now: " + s.Request.Text + "\n"
}

// stateLines returns the keys of state that are known, in their fixed order.
func stateLines(s State, repo string) string {
	var b strings.Builder
	add := func(key, value string) {
		if value != "" {
			b.WriteString("  " + key + ": " + value + "\n")
		}
	}
	add("repo", repo)
	add("branch", s.Place.Branch)
	add("step", s.Step())
	add("last_check", s.LastCheck.line())
	if s.LastCommand.Text != s.LastCheck.Text {
		add("last_command", s.LastCommand.line())
	}
	add("last_error", s.LastError.Text)
	if b.Len() == 0 {
		return "state: " + noneYet + "\n"
	}
	return "state:\n" + b.String()
}

func (c Command) line() string {
	if c.Text == "" {
		return ""
	}
	return c.Text + " → " + c.Status
}

// repo returns the directory of the work. That is the directory that the host named, else the
// directory in which most commands ran, else the deepest directory that holds two thirds of the
// written files.
func (s State) repo() string {
	if s.Place.Dir != "" {
		return s.Place.Dir
	}
	best := DirCount{}
	for _, d := range s.Place.Dirs {
		if d.Count > best.Count {
			best = d
		}
	}
	if best.Dir != "" {
		return best.Dir
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

// turns is the order in which the lists get the next place. Threads and constraints come first.
// Decisions get two places for each file.
var turns = [...]int{2, 0, 1, 3, 1}

// fill gives places to the lists in the order of turns, newest entries first, while budget lasts.
// It returns the lists in the order in which they got their places. A list gets no more places
// once its next entry does not fit.
func (r *renderer) fill(budget int, count func(string) int) (order []int) {
	var full [4]bool
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
		if r.lists[i].kind == kindDecisions {
			b.WriteString(r.state)
		}
		r.writeList(&b, &r.lists[i])
	}
	return b.String()
}

func (r *renderer) writeList(b *strings.Builder, l *list) {
	hidden := len(l.items) - l.shown + l.evicted
	if len(l.items) == 0 && hidden == 0 {
		b.WriteString(l.kind + ": " + noneYet + "\n")
		return
	}
	b.WriteString(l.kind + ":\n")
	for _, item := range l.items[:l.shown] {
		b.WriteString(item)
	}
	if hidden == 0 {
		return
	}
	b.WriteString("  +" + strconv.Itoa(hidden) + " older")
	if r.more != nil {
		if id := oneLine(r.more(l.kind, hidden), nameRunes); id != "" {
			b.WriteString(": get " + id)
		}
	}
	b.WriteByte('\n')
}

// bare returns the summary for a cap that the keys and pointers do not fit in: header and goal,
// with the state if that fits. The goal is as long as the cap allows.
func (r *renderer) bare(capTokens int, count func(string) int) string {
	for _, text := range [...]string{header + "\n" + r.goal + r.state, header + "\n" + r.goal} {
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
