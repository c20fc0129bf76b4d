package checkpoint

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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

// headings are the titles of a restore text.
var headings = [...]string{AfterCompaction: "restored after a compaction", NewSession: "from an earlier conversation",
	OnResume: "as this session stood", OtherSession: "from which the user goes on in this one"}

// RestoreOptions set how a restore text is made. A nil pointer means all defaults.
type RestoreOptions struct {
	Occasion Occasion
	// Cap is the most tokens of the text, counted by Count. 0 means RestoreCap.
	Cap int
	// Count returns the tokens of a text. It must be a pure function. If it is nil, three bytes
	// count as a token.
	Count func(string) int
	// Resolver is the tool or command by which the reader fetches the text of an id. Without a
	// resolver, the text counts omitted entries and names no id.
	Resolver string
	// Shown is text that the reader also sees. The restore text leaves out rules and decisions
	// that Shown contains.
	Shown string
	// Source names the source of the text if the source is not a checkpoint on disk. The source
	// must hold the omitted entries.
	Source string
}

// Restore renders a checkpoint as a text from which a model can continue. It begins with what the
// session is for, what the user asked last and what became of it. Its lists show their newest
// entries. The lists get places one after another until the cap is reached. Omitted entries are
// counted, and with a resolver the text ends with the way to read them. Text of users and tools
// never begins a line, so it can't pass for a heading. Equal checkpoints give equal bytes. The
// result is "" only if even the first line is over the cap.
func Restore(c *Checkpoint, opt *RestoreOptions) string {
	var o RestoreOptions
	if opt != nil {
		o = *opt
	}
	o.Cap = cmp.Or(o.Cap, RestoreCap)
	if o.Count == nil {
		o.Count = func(s string) int { return (len(s) + 2) / 3 }
	}
	r := newRestorer(c, o, full)
	if !r.begins() {
		r = newRestorer(c, o, brief)
	}
	for len(r.head) > 0 && o.Count(r.text()) > o.Cap {
		if len(r.parts) > 0 {
			r.parts = r.parts[:len(r.parts)-1] // not even the counts fit
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

// part is one list while it is fitted into the text.
type part struct {
	// kind names a list of which only the part is shown that the text does not say elsewhere.
	kind  string
	title string
	// items are the entries, the first one to be shown at the front. joint shows them on one line.
	items []string
	joint bool
	// turn is the number of entries that the list gets in a round, before the next list. rounds is the
	// number of rounds in which it gets none at first. shown counts the entries that it got.
	turn, rounds, shown int
}

type restorer struct {
	o     RestoreOptions
	id    string
	head  []string
	parts []part
}

func newRestorer(c *Checkpoint, o RestoreOptions, most lengths) *restorer {
	r := &restorer{o: o, id: line(c.Meta.CheckpointID, nameRunes), head: append(heading(c, o), working(c, most)...)}
	for _, p := range lists(c) {
		if p.items = r.unsaid(p); len(p.items) > 0 {
			r.parts = append(r.parts, p)
		}
	}
	return r
}

// begins reports whether the text fits with two entries of each list about the work.
func (r *restorer) begins() bool {
	begun := *r
	begun.parts = slices.Clone(r.parts)
	for i := range begun.parts {
		if p := &begun.parts[i]; p.rounds == 0 {
			p.shown = min(2, len(p.items))
		}
	}
	return r.o.Count(begun.text()) <= r.o.Cap
}

// unsaid returns the items of a list without those that the text says already. Of rules and decisions
// it also leaves out those that [RestoreOptions.Shown] contains. Of the user's messages it leaves out
// those that answer a question or give a rule, since the text has the decision or the rule.
func (r *restorer) unsaid(p part) []string {
	said := strings.Join(r.head, "")
	switch p.kind {
	case "constraints", "decisions":
		said += strings.Join(strings.Fields(r.o.Shown), " ")
	case "thread":
		for _, q := range r.parts {
			if q.kind == "decisions" {
				said += strings.Join(q.items, "")
			}
		}
	default:
		return p.items
	}
	return slices.DeleteFunc(p.items, func(item string) bool {
		text := strings.TrimSuffix(unlisted(item), "…")
		return strings.Contains(said, text) || slices.ContainsFunc(r.parts, func(q part) bool {
			return q.kind == "constraints" && slices.ContainsFunc(q.items, func(rule string) bool {
				return strings.Contains(text, unlisted(rule)) || strings.Contains(unlisted(rule), text)
			})
		})
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
	out := []string{fmt.Sprintf("[%s, %s]\n", name, headings[o.Occasion])}
	if n := m.CompactionCount; n > SpiralCount {
		out = append(out, fmt.Sprintf("Warning: %d compactions in this session. Each one loses more; suggest to the user to go on in a fresh session.\n", n))
	}
	saved, u := "Saved: "+m.CreatedAt.Format("2006-01-02 15:04Z"), m.TokenUsage
	billed := "" // marks a figure as the provider's
	if u.Source == fromProvider {
		billed = " billed"
		if u.Model != "" {
			billed += " for " + line(u.Model, nameRunes)
		}
	}
	switch {
	case u.ContextWindow > 0:
		plural := "s"
		if m.CompactionCount == 1 {
			plural = ""
		}
		saved += fmt.Sprintf(", %s/%s tokens%s, %d compaction%s", thousands(u.InputTokens), thousands(u.ContextWindow), billed, m.CompactionCount, plural)
	case billed != "":
		saved += fmt.Sprintf(", %s tokens%s", thousands(u.InputTokens), billed)
	}
	return append(out, saved+"\n")
}

// lengths are the most runes of the goal, of the user's newest message and of the agent's last words.
type lengths struct{ goal, asked, report int }

// A text has the full lengths if the newest entries of every list about the work fit as well, and
// otherwise the brief lengths.
var full, brief = lengths{goal: 280, asked: 400, report: 720}, lengths{goal: 200, asked: 280, report: 480}

// narrow returns a text as one line, cut to about the tokens that the given number of letters takes. A
// wide character takes more tokens than a letter.
func narrow[T ~string](s T, runes int) string {
	text := line(s, runes)
	return line(text, runes*utf8.RuneCountInString(text)/max(1, textutil.Columns(text)))
}

// ends returns a text as one line. If it is longer than the given number of runes, the line leaves out
// the middle, since agents end with an offer of the next step.
func ends(s freeText, runes int) string {
	whole := line(s, len(s))
	if narrow(whole, runes) == whole {
		return whole
	}
	head, tail, cut := strings.Cut(whole, "… ")
	if most := runes / 3; !cut || utf8.RuneCountInString(tail) > most {
		end := []rune(whole)
		tail = string(end[len(end)-most:])
		if _, words, ok := strings.Cut(tail, " "); ok { // from a word's beginning
			tail = words
		}
	}
	return strings.TrimSuffix(narrow(head, runes-utf8.RuneCountInString(tail)), "…") + "… " + tail
}

// working returns the lines about the work in progress. The goal is the session's first request unless
// a host set another one.
func working(c *Checkpoint, most lengths) []string {
	w := c.Working
	var out []string
	add := func(key, value string) {
		if value != "" {
			out = append(out, key+": "+value+"\n")
		}
	}
	asked := narrow(w.asked(), most.asked)
	if goal := narrow(w.Goal, most.goal); goal != asked {
		add("Goal, as first stated", goal)
	}
	add("Last request", asked)
	if e := c.Thread.KeyExchanges; asked == "" && len(e) > 0 && e[0].Role == roleTask {
		add("Task, by another program", line(e[0].Gist, gistRunes))
	}
	status := line(w.Status, nameRunes)
	if w.SplitTurn {
		status += ", in the middle of a turn"
	}
	if w.LastToolCall != nil {
		status += ", interrupted at " + strings.TrimSpace(line(w.LastToolCall.Name, 60)+" "+line(w.LastToolCall.ParamsSummary, gistRunes))
	}
	add("Status", status)
	add("The agent's last words", ends(w.Report, most.report))
	if next := narrow(w.NextAction, 200); !strings.HasPrefix(next, answerTo) && !strings.HasSuffix(next, ": "+line(w.Topic, topicRunes)) {
		add("Next action", next)
	}
	add("Place", line(w.Place, itemRunes))
	var source []string
	for _, of := range [...][2]string{{"channel ", string(c.Meta.Channel)}, {"agent ", string(c.Meta.AgentID)}, {"transcript ", string(c.Meta.SessionFile)}} {
		if of[1] != "" {
			source = append(source, of[0]+line(of[1], pathRunes))
		}
	}
	add("From", strings.Join(source, ", "))
	return out
}

// lists returns the lists of a checkpoint in the order of the text.
func lists(c *Checkpoint) []part {
	res := &c.Resources
	changed := slices.DeleteFunc(slices.Clone(res.FilesModified), func(n nameText) bool { return slices.Contains(res.FilesUncommitted, n) })
	fresh, freshIn := within(res.FilesUncommitted)
	changed, changedIn := within(changed)
	read, readIn := within(res.FilesRead)
	var asked []freeText
	for _, e := range c.Thread.KeyExchanges {
		if e.Role == roleUser {
			asked = append(asked, e.Gist)
		}
	}
	committed := "Files changed, newest first"
	if len(res.Commits) > 0 {
		committed = "Files changed before the last commit"
	}
	return []part{
		{title: "Open items:\n", items: bullets(c.OpenItems, itemRunes, false), turn: 2},
		{kind: "constraints", title: "Constraints, newest first:\n", items: bullets(c.Constraints, 240, true), turn: 3},
		{kind: "decisions", title: "Decisions, the user's first, each newest first:\n", items: decisionItems(c), turn: 2},
		{title: "Files changed since the last commit" + freshIn + ": ", items: nameItems(fresh), joint: true, turn: 4},
		{title: committed + changedIn + ": ", items: nameItems(changed), joint: true, turn: 3},
		{kind: "thread", title: "Asked before, newest first:\n", items: bullets(asked, gistRunes, true), turn: 3},
		{title: "Commits, newest first:\n", items: bullets(res.Commits, gistRunes, true), turn: 2},
		{title: "Learnings (consider storing them in long-term memory):\n", items: bullets(c.Learnings, 240, true), turn: 1, rounds: lastRounds},
		{title: "Files read" + readIn + ": ", items: nameItems(read), joint: true, turn: 3, rounds: lastRounds},
	}
}

func bullets(list []freeText, runes int, newestFirst bool) []string {
	var out []string
	for _, t := range list {
		out = append(out, "- "+line(t, runes)+"\n")
	}
	if newestFirst {
		slices.Reverse(out)
	}
	return out
}

// shortRunes is the length, in runes, to which the question of a decision and its options are cut
// in a restore text. The answer is always whole.
const shortRunes = 160

// decisionItems lists the decisions of persons, then the decisions of the agent, each newest
// first. An item has the time of day. It also has the day if that is not the checkpoint's day.
func decisionItems(c *Checkpoint) []string {
	var out []string
	said := map[freeText]bool{}
	var persons, agents []decision
	for _, d := range slices.Backward(c.Decisions) {
		if d.By == summary.ByUser {
			persons = append(persons, d)
		} else {
			agents = append(agents, d)
		}
	}
	for _, d := range append(persons, agents...) {
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
		text := line(d.What, decisionRunes)
		if i := strings.LastIndex(text, " → "); i > 0 {
			text = narrow(text[:i], shortRunes) + text[i:]
		}
		out = append(out, "- "+text+when+"\n")
	}
	return out
}

// within returns the paths relative to the directory that shortens them most, and that directory.
// Paths outside of the directory stay as they are.
func within(paths []nameText) (short []nameText, dir string) {
	saved, common := map[string]int{}, ""
	for _, p := range paths {
		d := string(p)
		for i := strings.LastIndexByte(d, '/'); i > 0; i = strings.LastIndexByte(d, '/') {
			d = d[:i]
			if saved[d] += len(d); saved[d] > saved[common] || saved[d] == saved[common] && len(d) > len(common) {
				common = d
			}
		}
	}
	if saved[common] < 2*len(common) || len(common) < 8 {
		return paths, ""
	}
	for _, p := range paths {
		if rest, ok := strings.CutPrefix(string(p), common+"/"); ok {
			p = nameText("…/" + rest)
		}
		short = append(short, p)
	}
	return short, " (… is " + line(common, pathRunes) + ")"
}

func nameItems(list []nameText) []string {
	var out []string
	for _, n := range slices.Backward(list) {
		out = append(out, line(n, 120))
	}
	return out
}

// lastRounds is the round from which every list has its turn.
const lastRounds = 3

// fill gives places to one list after another while room lasts, and returns the lists in the
// order in which they got their places. A list gets no more places once its next entry does not
// fit.
func (r *restorer) fill(room int) (order []int) {
	full := make([]bool, len(r.parts))
	for round, placed := 0, true; placed || round <= lastRounds; round++ {
		placed = false
		for i := range r.parts {
			p := &r.parts[i]
			if round < p.rounds {
				continue
			}
			for range p.turn {
				if full[i] || p.shown == len(p.items) {
					break
				}
				cost := r.o.Count(p.items[p.shown]) + 1
				if p.shown == 0 {
					cost += r.o.Count(p.title) + r.o.Count("  +99 more\n")
				}
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
	left := false
	for i := range r.parts {
		p := &r.parts[i]
		if p.shown > 0 {
			p.write(&b)
		}
		left = left || p.shown < len(p.items)
	}
	switch {
	case !left:
	case r.o.Source != "":
		fmt.Fprintf(&b, "The rest is in %s.\n", line(r.o.Source, nameRunes))
	case r.o.Resolver != "":
		fmt.Fprintf(&b, "The rest: %s %s\n", line(r.o.Resolver, nameRunes), r.id)
	}
	return b.String()
}

func (p *part) write(b *strings.Builder) {
	items, sep := slices.Clone(p.items[:p.shown]), ""
	if p.joint {
		sep = ", "
	}
	left := len(p.items) - p.shown
	if left > 0 {
		more := "+" + strconv.Itoa(left) + " more"
		if !p.joint {
			more = "  " + more + "\n"
		}
		items = append(items, more)
	}
	b.WriteString(p.title + strings.Join(items, sep))
	if p.joint {
		b.WriteByte('\n')
	}
}
