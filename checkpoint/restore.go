package checkpoint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/summary"
)

// RestoreCap is the most tokens that a restore text takes.
const RestoreCap = 700

// SpiralCount is the number of compactions of one session above which each further compaction is
// likely to lose details that the earlier compactions kept.
const SpiralCount = 3

// Beside returns the line by which a new conversation learns which session was at work in the
// workspace before it. It contains nothing of that session's work.
func Beside(key string, at time.Time) string {
	command := "memkernel restore --session " + line(key, nameRunes)
	if strings.ContainsFunc(key, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.:/", r)
	}) {
		command = "memkernel restore --session KEY" // which a shell would not read as one word
	}
	return fmt.Sprintf("%s %s, last at %s. This conversation is a new one and has its own task; to go on with that session, if the user asks: %s]",
		BesideMark, line(key, nameRunes), at.UTC().Format("2006-01-02 15:04Z"), command)
}

// BesideMark is the beginning of the line that [Beside] returns.
const BesideMark = "[Another session was at work in this workspace:"

// goingOn matches the words by which people ask, in a new conversation, to continue the earlier
// work. The last group of words counts only as a whole message.
var goingOn = textutil.LazyRegexp(`(?i)\bwhere (?:were we|was i|are we at|did (?:we|i) (?:stop|leave))\b|\bleft off\b|\bwhat (?:were we|was i) (?:doing|working on)\b|\bpick up where\b|\bcarry on from\b|\bresume (?:our|the work|my)\b|\bcatch me up\b|\b(?:last|previous) session\b|` +
	`wo waren wir|aufgehört haben|letzten? sitzung|où en (?:étions|était)|dernière session|dónde (?:estábamos|lo dejamos)|última sesión|做到哪|` +
	`^\W*(?:(?:please )?(?:continue|go on|carry on|resume|keep going)|(?:mach )?weiter|continuez|poursuis|continúa|sigue|继续)[\W。！]*$`)

// mostGoingOn is the longest message, in bytes, that only asks to continue.
const mostGoingOn = 160

// GoesOn reports whether the first message of a conversation asks to continue an earlier one:
// "where were we?", "continue".
func GoesOn(message string) bool { return len(message) <= mostGoingOn && goingOn.MatchString(message) }

// Section is a part of a restore text. The origin, the size of the context and the warning are
// always included.
type Section string

// The sections in the order of the text.
const (
	SectionWorking   Section = "working"
	SectionGoal      Section = "goal"
	SectionOpenItems Section = "open_items"
	// SectionConstraints are the rules that the user set.
	SectionConstraints Section = "constraints"
	SectionDecisions   Section = "decisions"
	SectionThread      Section = "thread"
	SectionFiles       Section = "resources"
	SectionLearnings   Section = "learnings"
)

var allSections = []Section{SectionGoal, SectionWorking, SectionOpenItems, SectionConstraints, SectionDecisions, SectionThread, SectionFiles, SectionLearnings}

// Occasion is the place at which a restore text is shown.
type Occasion int

const (
	// AfterCompaction shows the text in the session that wrote the checkpoint, after a
	// compaction.
	AfterCompaction Occasion = iota
	// NewSession shows the text at the beginning of a later conversation of the same session.
	NewSession
	// OnResume shows the text in the conversation of the checkpoint when the conversation is
	// resumed.
	OnResume
	// OtherSession shows the text in a session that continues from the checkpoint of another
	// session.
	OtherSession
)

// heading returns the title of a restore text.
func (o Occasion) heading() string {
	switch o {
	case NewSession:
		return "from an earlier conversation"
	case OnResume:
		return "as this session stood"
	case OtherSession:
		return "from which the user goes on in this one"
	}
	return "restored after a compaction"
}

// RestoreOptions set how a restore text is made. A nil pointer means all defaults.
type RestoreOptions struct {
	Occasion Occasion
	// Cap is the most tokens of the text, counted by Count. 0 means RestoreCap.
	Cap int
	// Count returns the tokens of a text. It must be a pure function. If it is nil, three bytes
	// count as a token.
	Count func(string) int
	// Sections are the wanted sections. nil means all sections.
	Sections []Section
	// Resolver is the tool or command by which the reader fetches the text of an id. Without a
	// resolver, the text counts omitted entries and names no id.
	Resolver string
	// More returns the id under which the reader can fetch a whole section, of which n entries
	// are left out. The id should lead to [SectionText]. More must be a pure function. If it is
	// nil or returns "", the text names the checkpoint's own id.
	More func(s Section, n int) string
	// Shown is text that the reader also sees. The restore text leaves out rules and decisions
	// that Shown contains.
	Shown string
	// Source names the source of the text if the source is not a checkpoint on disk. The source
	// must hold the omitted entries.
	Source string
}

func (o *RestoreOptions) orDefault() RestoreOptions {
	var d RestoreOptions
	if o != nil {
		d = *o
	}
	if d.Cap == 0 {
		d.Cap = RestoreCap
	}
	if d.Count == nil {
		d.Count = func(s string) int { return (len(s) + 2) / 3 }
	}
	if d.Sections == nil {
		d.Sections = allSections
	}
	return d
}

// Restore renders a checkpoint as a text from which a model can continue. Its lists show their
// newest entries. The lists get places one after another until the cap is reached. Omitted
// entries follow as "+N more: ID", and with a resolver the text ends with the way to resolve an
// ID. Text of users and tools never begins a line, so it can't pass for a heading. Equal
// checkpoints give equal bytes. The result is "" only if even the first line is over the cap.
func Restore(c *Checkpoint, opt *RestoreOptions) string {
	o := opt.orDefault()
	r := newRestorer(c, o)
	for len(r.head) > 0 && o.Count(r.text()) > o.Cap {
		if len(r.parts) > 0 {
			r.parts = r.parts[:len(r.parts)-1] // not even the pointers fit
			continue
		}
		r.head = r.head[:len(r.head)-1]
	}
	if len(r.head) == 0 {
		return ""
	}
	order := r.fill(o.Cap - o.Count(r.text()))
	for len(order) > 0 && o.Count(r.text()) > o.Cap {
		r.parts[order[len(order)-1]].shown--
		order = order[:len(order)-1]
	}
	return r.text()
}

// SectionText returns a section in full, newest first.
func SectionText(c *Checkpoint, s Section) string {
	r := newRestorer(c, (&RestoreOptions{Sections: []Section{s}}).orDefault())
	var b strings.Builder
	switch s {
	case SectionGoal:
		b.WriteString(strings.Join(goal(c), ""))
	case SectionWorking:
		b.WriteString(strings.Join(working(c), ""))
	}
	for i := range r.parts {
		r.parts[i].shown = len(r.parts[i].items)
		r.parts[i].write(&b, nil)
	}
	return b.String()
}

// part is one list while it is fitted into the text.
type part struct {
	section Section
	title   string
	// items are the entries, the first one to be shown at the front. flip shows the chosen
	// entries in the opposite order. joint shows them on one line.
	items       []string
	flip, joint bool
	// turn is how many entries the list gets before the next list has its turn. shown counts the
	// entries that it got.
	turn, shown int
}

type restorer struct {
	o     RestoreOptions
	id    string
	head  []string
	parts []part
}

func newRestorer(c *Checkpoint, o RestoreOptions) *restorer {
	r := &restorer{o: o, id: line(c.Meta.CheckpointID, nameRunes), head: heading(c, o)}
	for _, s := range allSections {
		if !slices.Contains(o.Sections, s) {
			continue
		}
		switch s {
		case SectionGoal:
			r.head = append(r.head, goal(c)...)
		case SectionWorking:
			r.head = append(r.head, working(c)...)
		}
		for _, p := range sectionParts(c, s) {
			if p.items = r.unsaid(s, p.items); len(p.items) > 0 {
				p.section = s
				r.parts = append(r.parts, p)
			}
		}
	}
	r.head = append(r.head, from(c)...)
	return r
}

// unsaid returns the items of a section that the text does not say before them, and for rules and
// decisions that its reader does not see elsewhere. It also leaves out an exchange in which a
// rule was given, since the rule itself is in the text.
func (r *restorer) unsaid(s Section, items []string) []string {
	if s != SectionConstraints && s != SectionDecisions && s != SectionThread {
		return items
	}
	said := strings.Join(r.head, "")
	if s != SectionThread {
		said += strings.Join(strings.Fields(r.o.Shown), " ")
	}
	var rules []string
	for _, p := range r.parts {
		if p.section == SectionConstraints {
			rules = append(rules, p.items...)
		}
	}
	return slices.DeleteFunc(items, func(item string) bool {
		text := unlisted(item)
		if _, gist, ok := strings.Cut(text, ": "); ok && s == SectionThread {
			text = gist
		}
		return strings.Contains(said, text) || slices.ContainsFunc(rules, func(rule string) bool { return strings.Contains(text, unlisted(rule)) })
	})
}

// unlisted returns the words of an item of a list, without the time of a decision.
func unlisted(item string) string {
	item = strings.TrimSpace(strings.TrimPrefix(item, "- "))
	if at := strings.LastIndex(item, " ("); at > 0 && strings.HasSuffix(item, ")") && len(item)-at <= len(" (01-02 15:04)") {
		return item[:at]
	}
	return item
}

// line makes a text of a checkpoint, which anyone may have written, one line.
func line[T ~string](s T, runes int) string { return summary.Excerpt(string(s), runes) }

// Unfinished returns the lines of a restore text that name calls with an unknown outcome.
func Unfinished(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimLeft(line, "- "), summary.LostPrefix) {
			out = append(out, strings.TrimRight(line, "\n"))
		}
	}
	return strings.Join(out, "\n")
}

func heading(c *Checkpoint, o RestoreOptions) []string {
	m := c.Meta
	name := "Checkpoint " + line(m.CheckpointID, nameRunes)
	if o.Occasion == OtherSession {
		name = "Working state of session " + line(m.SessionKey, nameRunes)
	} else if o.Source != "" {
		name = "Working state by " + line(o.Source, nameRunes)
	}
	out := []string{fmt.Sprintf("[%s, %s]\n", name, o.Occasion.heading())}
	if n := m.CompactionCount; n > SpiralCount {
		out = append(out, fmt.Sprintf("Warning: %d compactions in this session. Each one loses more; suggest to the user to go on in a fresh session.\n", n))
	}
	saved, u := "Saved: "+m.CreatedAt.Format("2006-01-02 15:04Z"), m.TokenUsage
	switch {
	case u.ContextWindow > 0:
		plural := "s"
		if m.CompactionCount == 1 {
			plural = ""
		}
		saved += fmt.Sprintf(", %s/%s tokens%s, %d compaction%s", thousands(u.InputTokens), thousands(u.ContextWindow), u.billed(), m.CompactionCount, plural)
	case u.Source == FromProvider:
		saved += fmt.Sprintf(", %s tokens%s", thousands(u.InputTokens), u.billed())
	}
	return append(out, saved+"\n")
}

// billed returns the words that mark a figure as the provider's, "" for an estimate.
func (u TokenUsage) billed() string {
	if u.Source != FromProvider {
		return ""
	}
	if u.Model == "" {
		return " billed"
	}
	return " billed for " + line(u.Model, nameRunes)
}

// from returns where the session was held.
func from(c *Checkpoint) []string {
	var parts []string
	add := func(what string, n Name, runes int) {
		if n != "" {
			parts = append(parts, what+" "+line(n, runes))
		}
	}
	add("channel", c.Meta.Channel, nameRunes)
	add("agent", c.Meta.AgentID, nameRunes)
	add("transcript", c.Meta.SessionFile, pathRunes)
	if len(parts) == 0 {
		return nil
	}
	return []string{"From: " + strings.Join(parts, ", ") + "\n"}
}

// goal returns the goal of the work if it differs from the current task.
func goal(c *Checkpoint) []string {
	if g := line(c.Working.Goal, topicRunes); g != "" && g != line(c.Working.Topic, topicRunes) {
		return []string{"Goal: " + g + "\n"}
	}
	return nil
}

func working(c *Checkpoint) []string {
	w := c.Working
	var out []string
	add := func(key, value string) {
		if value != "" {
			out = append(out, key+": "+value+"\n")
		}
	}
	add("Working on", line(w.Topic, topicRunes))
	if w.Step != w.NextAction {
		add("Step", line(w.Step, 200))
	}
	status := line(w.Status, nameRunes)
	if w.SplitTurn {
		status += ", in the middle of a turn"
	}
	if w.LastToolCall != nil {
		status += ", interrupted at " + strings.TrimSpace(line(w.LastToolCall.Name, 60)+" "+line(w.LastToolCall.ParamsSummary, gistRunes))
	}
	add("Status", status)
	add("Next action", line(w.NextAction, 200))
	return out
}

func sectionParts(c *Checkpoint, s Section) []part {
	switch s {
	case SectionOpenItems:
		return []part{{title: "Open items:\n", items: bullets(c.OpenItems, itemRunes, false)}}
	case SectionConstraints:
		return []part{{title: "Constraints, newest first:\n", items: bullets(c.Constraints, 240, true), turn: 2}}
	case SectionDecisions:
		return []part{{title: "Decisions, the user's first, each newest first:\n", items: decisionItems(c), turn: 2}}
	case SectionThread:
		return []part{{title: "Thread: newest exchanges\n", items: exchangeItems(c), flip: true}}
	case SectionFiles:
		changed, in := within(c.Resources.FilesModified)
		read, from := within(c.Resources.FilesRead)
		return []part{
			{title: "Files modified, newest first" + in + ": ", items: nameItems(changed), joint: true, turn: 2},
			{title: "Files read" + from + ": ", items: nameItems(read), joint: true},
			{title: "Tools used: ", items: nameItems(c.Resources.ToolsUsed), joint: true},
		}
	case SectionLearnings:
		return []part{{title: "Learnings (consider storing them in long-term memory):\n", items: bullets(c.Learnings, 240, true)}}
	}
	return nil
}

func bullets(list []Text, runes int, newestFirst bool) []string {
	var out []string
	for _, t := range list {
		out = append(out, "- "+line(t, runes)+"\n")
	}
	if newestFirst {
		slices.Reverse(out)
	}
	return out
}

// decisionItems lists the decisions of persons, then the decisions of the agent, each newest
// first. An item has the time of day. It also has the day if that is not the checkpoint's day.
func decisionItems(c *Checkpoint) []string {
	var out []string
	said := map[Text]bool{}
	newest := slices.Clone(c.Decisions)
	slices.Reverse(newest)
	slices.SortStableFunc(newest, func(a, b Decision) int {
		switch {
		case a.persons() == b.persons():
			return 0
		case a.persons():
			return -1
		}
		return 1
	})
	for _, d := range newest {
		if said[d.What] {
			continue
		}
		said[d.What] = true
		when := ""
		if !d.When.IsZero() {
			form := "01-02 15:04"
			if d.When.Format("2006-01-02") == c.Meta.CreatedAt.Format("2006-01-02") {
				form = "15:04"
			}
			when = " (" + d.When.Format(form) + ")"
		}
		out = append(out, "- "+line(d.What, decisionRunes)+when+"\n")
	}
	return out
}

func exchangeItems(c *Checkpoint) []string {
	var out []string
	for _, e := range slices.Backward(c.Thread.KeyExchanges) {
		out = append(out, "- "+line(e.Role, 20)+": "+line(e.Gist, gistRunes)+"\n")
	}
	return out
}

// within returns the deepest directory that holds two thirds of the paths, and the paths relative
// to it. Paths outside of the directory stay as they are.
func within(paths []Name) (short []Name, dir string) {
	count, common := map[string]int{}, ""
	for _, p := range paths {
		d := string(p)
		for i := strings.LastIndexByte(d, '/'); i > 0; i = strings.LastIndexByte(d, '/') {
			d = d[:i]
			if count[d]++; count[d]*3 >= len(paths)*2 && len(d) > len(common) {
				common = d
			}
		}
	}
	if count[common] < 2 || len(common) < 8 {
		return paths, ""
	}
	for _, p := range paths {
		if rest, ok := strings.CutPrefix(string(p), common+"/"); ok {
			p = Name("…/" + rest)
		}
		short = append(short, p)
	}
	return short, " (… is " + line(common, pathRunes) + ")"
}

func nameItems(list []Name) []string {
	var out []string
	for _, n := range slices.Backward(list) {
		out = append(out, line(n, 120))
	}
	return out
}

// fill gives places to one list after another while room lasts, and returns the lists in the
// order in which they got their places. A list gets no more places once its next entry does not
// fit.
func (r *restorer) fill(room int) (order []int) {
	full := make([]bool, len(r.parts))
	for placed := true; placed; {
		placed = false
		for i := range r.parts {
			p := &r.parts[i]
			for range max(1, p.turn) {
				if full[i] || p.shown == len(p.items) {
					break
				}
				cost := r.o.Count(p.items[p.shown]) + 1
				if full[i] = cost > room; full[i] {
					break
				}
				room -= cost
				p.shown++
				placed = true
				order = append(order, i)
			}
		}
	}
	return order
}

func (r *restorer) text() string {
	var b strings.Builder
	for _, h := range r.head {
		b.WriteString(h)
	}
	left := 0
	for i := range r.parts {
		r.parts[i].write(&b, r.more)
		left += len(r.parts[i].items) - r.parts[i].shown
	}
	if left > 0 && r.o.Source == "" && r.o.Resolver != "" {
		fmt.Fprintf(&b, "To read any of it in full: %s ID\n", line(r.o.Resolver, nameRunes))
	}
	return b.String()
}

// more returns the words that lead the reader to a whole section, on one line. The result is ""
// if the reader has neither a source nor a resolver.
func (r *restorer) more(s Section, n int) string {
	switch {
	case r.o.Source != "":
		return ": in " + line(r.o.Source, nameRunes)
	case r.o.Resolver != "":
		return ": " + r.moreID(s, n)
	}
	return ""
}

func (r *restorer) moreID(s Section, n int) string {
	if r.o.More != nil {
		if id := line(r.o.More(s, n), nameRunes); id != "" {
			return id
		}
	}
	return r.id
}

func (p *part) write(b *strings.Builder, more func(Section, int) string) {
	items := slices.Clone(p.items[:p.shown])
	if p.flip {
		slices.Reverse(items)
	}
	b.WriteString(p.title)
	left := len(p.items) - p.shown
	if p.joint {
		b.WriteString(strings.Join(items, ", "))
	} else {
		b.WriteString(strings.Join(items, ""))
	}
	switch {
	case left > 0 && p.joint && p.shown > 0:
		b.WriteString(", ")
	case left > 0 && !p.joint:
		b.WriteString("  ")
	}
	if left > 0 {
		b.WriteString("+" + strconv.Itoa(left) + " more" + more(p.section, left))
	}
	if left > 0 || p.joint {
		b.WriteByte('\n')
	}
}
