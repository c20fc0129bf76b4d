package consolidation

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/memkernel/memkernel/kernel/health"
)

// contradictions reports every pair that [CheckContradictions] looks for.
//
// A claim is a subject and a value in a plain form: "Label: value", "X is 5", "X runs on port
// 5432", "X lives in Y", "X owns Y", a row of a table, the box of a task. A whole sentence is a
// claim too. Its value is a number with its unit, a day of the week, a state, or whether the
// sentence affirms or denies. The other words of the sentence are the subject. Two claims
// disagree if they name one subject in the same words, their values are of one kind (number and
// unit, version, date, weekday, time of day, address, telephone, state, name, product of a class),
// and neither only adds detail to the other. Claims of different settings (staging, production) never disagree.
// Claims in quotation marks never disagree with anything. The same goes for claims under a
// heading of past facts, and for claims next to words of doubt, of the past, or of an example.
// The claims that hold today are
//
//   - all claims of a file about how things are, or only the claims of its newest
//     section if its sections are dated;
//   - the claims of the newest log, if no curated file claims anything newer.
//
// A change over time is not a contradiction. Two logs never disagree. An entry that states that
// it replaces another never disagrees. The same goes for an entry that is struck through, and for
// an entry that a newer entry names as replaced. Of two dated curated files the newer file is
// right. The older file's claim is reported as superseded, in a note.
func (a *auditor) contradictions() {
	var bySubject groups[string, claim]
	who := peopleIn(a.snap)
	for _, f := range a.snap.Files {
		for _, c := range claims(f) {
			bySubject.add(who.key(&c), c)
		}
	}
	told := map[[2]place]bool{}
	for _, k := range bySubject.keys {
		all, values := bySubject.of[k], map[string]bool{}
		for _, c := range all {
			if c.Label {
				values[c.Value.Text] = true
			}
		}
		if len(all) > 1 && len(values) < fieldValues {
			a.compare(current(slices.DeleteFunc(all, func(c claim) bool { return c.changed() })), told)
		}
	}
}

// fieldValues is from how many values a label is the field of a form that several things fill in,
// our choice.
const fieldValues = 3

// place is a line of a file.
type place struct {
	path string
	line int
}

// people are the names by which files speak of the user.
type people map[string]bool

// peopleIn finds the user's name, which is the first label for a name in USER.md.
func peopleIn(s *Snapshot) people {
	out := people{"human": true, "owner's": true, "user's": true}
	for _, name := range s.names() {
		out[name] = true
	}
	return out
}

// names returns the first word of the user's name in USER.md.
func (s *Snapshot) names() []string {
	f := s.File("USER.md")
	if f == nil {
		return nil
	}
	for _, c := range claims(f) {
		if c.Value.Kind == "name" && slices.Equal(c.Subject, []string{"name", "user"}) {
			return words(c.Said)[:1]
		}
	}
	return nil
}

// key is the key of a claim, with the same word for all names of the user.
func (p people) key(c *claim) string {
	named := c.Claim
	named.Subject = slices.Clone(c.Subject)
	for i, w := range named.Subject {
		if p[w] {
			named.Subject[i] = "user"
		}
	}
	slices.Sort(named.Subject)
	named.Subject = slices.Compact(named.Subject)
	return named.Key()
}

// current returns the claims that hold today. These are the undated claims of each curated file,
// the claims of the file's newest date, and the claims of the newest log.
func current(cs []claim) []claim {
	newest, lastLog := map[string]string{}, ""
	for i := range cs {
		c := &cs[i]
		switch {
		case !c.file.Evergreen():
			lastLog = max(lastLog, c.entry.Date)
		case c.entry.Dated:
			newest[c.file.Path] = max(newest[c.file.Path], c.entry.Date)
		}
	}
	cs = slices.DeleteFunc(cs, func(c claim) bool {
		if !c.file.Evergreen() {
			return c.entry.Date != lastLog
		}
		return c.entry.Dated && c.entry.Date < newest[c.file.Path]
	})
	slices.SortStableFunc(cs, func(x, y claim) int { return cmp.Compare(order(x.file), order(y.file)) })
	return cs
}

// compare reports each claim that disagrees with an earlier one, once.
func (a *auditor) compare(cs []claim, told map[[2]place]bool) {
	for i := 1; i < len(cs); i++ {
		for j := range i {
			pair := [2]place{{cs[j].file.Path, cs[j].line}, {cs[i].file.Path, cs[i].line}}
			if conflict(&cs[j], &cs[i]) {
				if !told[pair] {
					told[pair] = true
					a.disagreement(&cs[j], &cs[i])
				}
				break
			}
		}
	}
}

// conflict reports whether c, of a curated file, and d contradict each other.
func conflict(c, d *claim) bool {
	if !c.file.Evergreen() || !c.Overrules(&d.Claim) && !d.Overrules(&c.Claim) {
		return false
	}
	if c.scope() != d.scope() {
		return false
	}
	if x, y := Key(c.Aside), Key(d.Aside); x != y && x != "" && y != "" {
		return false
	}
	if (c.Whole || d.Whole) && !sureOf(c, d) {
		return false
	}
	if d.file.Evergreen() {
		// Of two curated files the newer may be right, but nothing shows it.
		return c.entry != d.entry
	}
	if c.Value.Unit == unitTask && d.Value.Text == "progress:open" {
		return false // done since
	}
	return !c.entry.Dated || d.entry.Date >= c.entry.Date
}

// sureOf reports whether whole sentences that differ in a value alone may be compared. If two
// sentences are next to each other, both may be true when they differ in a day, an hour, an
// address or a count.
func sureOf(c, d *claim) bool {
	if c.Recurs && c.Value.Kind == "version" {
		return false // a chapter of a book
	}
	if c.file != d.file {
		return true
	}
	if !slices.Equal(c.entry.Trail, d.entry.Trail) {
		return false
	}
	return c.Value.Kind == "state" || c.Value.Kind == "version" || c.Value.Kind == "number" && c.Value.Unit != "" || d.line > c.line+1 || c.line > d.line+1
}

func (a *auditor) disagreement(c, d *claim) {
	if c.file.Evergreen() && d.file.Evergreen() && c.entry.Dated && d.entry.Dated && c.entry.Date != d.entry.Date {
		old, now := c, d
		if d.entry.Date < c.entry.Date {
			old, now = d, c
		}
		a.tell(health.Note, health.Lines(old.file.Path, old.line, old.line), fmt.Sprintf("says %q of %s, superseded by %s:%d of %s, which says %q of %s", a.excerpt(old.Said), old.entry.Date, now.file.Path, now.line, now.entry.Date, a.excerpt(now.Said), a.excerpt(about(c))),
			"strike it through (~~…~~), or say in the newer one what it replaces", health.Lines(now.file.Path, now.line, now.line))
		return
	}
	a.tell(health.Warning, health.Lines(d.file.Path, d.line, d.line), fmt.Sprintf("says %q, but %s:%d says %q, both of %s", a.excerpt(d.Said), c.file.Path, c.line, a.excerpt(c.Said), a.excerpt(about(c))),
		"correct the one that is wrong; if one replaces the other, say so in it (\"replaces …\")", health.Lines(c.file.Path, c.line, c.line))
}

// about names a claim's subject.
func about(c *claim) string {
	if c.Value.Unit == unitTask {
		return fmt.Sprintf("the task %q", c.entry.Plain)
	}
	return fmt.Sprintf("%q", c.About)
}
