package transcript

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
)

// geminiCLIPlayer plays the records of a session file back to the conversation as it happened. The
// file also holds the program's own list of messages. The program replaces the whole list ($set)
// when it resumes, compresses, masks outputs or gives up a call. A new list lacks earlier messages,
// and has others under new ids, with new times and less content. So a message that was a line of
// the file keeps its content under its first id, whatever the list holds. It is removed only where
// the user takes it back.
type geminiCLIPlayer struct {
	rows []*geminiCLIRecord
	at   map[string]*geminiCLIRecord // by every id that a row has had
	// list are the ids of the program's own list. foreign are the ids and prints of its messages
	// that nobody wrote.
	list    []string
	foreign map[string]bool
	// resumed reports whether the program was started again. The next list is then the start of
	// its history.
	resumed bool
	// hosts are those messages by their ids. line is the line of the record that is being played.
	hosts map[string]*geminiCLIRecord
	line  int
	// bounds are the compactions. arms are the runs of messages that were taken back.
	bounds []geminiCLIBound
	arms   []geminiCLIArm
}

// geminiCLIBound is a compaction after a number of rows. list is the ids of the program's list
// after it, nil for a document, which continues with its rows.
type geminiCLIBound struct {
	at   int
	list []string
}

// geminiCLIArm is a run of rows that was taken back after a number of rows.
type geminiCLIArm struct {
	at, line int
	rows     []*geminiCLIRecord
}

// geminiCLIAssemble plays the records of a file. Their messages are made at its end.
func geminiCLIAssemble(l *Session) (add func(*Record), finish func()) {
	p := &geminiCLIPlayer{at: map[string]*geminiCLIRecord{}, foreign: map[string]bool{}, hosts: map[string]*geminiCLIRecord{}}
	return func(e *Record) {
		l.adopt(&e.about)
		p.line = e.Line
		p.play(*e.own.(*geminiCLIRecord))
	}, func() { p.finish(l) }
}

func (p *geminiCLIPlayer) play(rec geminiCLIRecord) {
	switch {
	case rec.RewindTo != "":
		p.rewind(rec.RewindTo)
	case rec.Set != nil:
		if rec.Set.Messages != nil {
			p.rewrite(rec.Set.Messages)
		}
		p.resumed = rec.Set.SessionID != ""
	case rec.SessionID != "":
		p.resumed = true
		for _, m := range rec.Messages {
			p.play(m)
		}
		if n := slices.IndexFunc(p.rows, func(r *geminiCLIRecord) bool { return r.snapshot() }); n >= 0 && rec.Messages != nil {
			p.bounds = append(p.bounds, geminiCLIBound{at: n})
		}
	case rec.ID != "":
		p.add(rec)
	}
}

// add records a message, or a newer form of it. The newest form replaces the first one at the first
// one's place.
func (p *geminiCLIPlayer) add(rec geminiCLIRecord) {
	if r, ok := p.at[rec.ID]; ok {
		rec.ID, rec.Timestamp, rec.rewritten = r.ID, r.Timestamp, r.rewritten
		*r = rec
		return
	}
	p.rows, p.at[rec.ID] = append(p.rows, &rec), &rec
	if rec.isDialogue() {
		p.list = append(p.list, rec.ID)
	}
}

// rewind takes back all messages from one on, or all messages if it is not known.
func (p *geminiCLIPlayer) rewind(id string) {
	from, listed := 0, slices.Index(p.list, id)
	if r, ok := p.at[id]; ok {
		from = slices.Index(p.rows, r)
	} else if listed >= 0 { // a summary: to the rows after it
		from = len(p.rows)
		for _, id := range p.list[listed:] {
			if r := p.at[id]; r != nil {
				from = min(from, slices.Index(p.rows, r))
			}
		}
	}
	p.list = slices.Clone(p.list[:max(listed, 0)])
	if n := len(p.bounds); n > 0 && p.bounds[n-1].at > from {
		p.bounds[n-1].list = slices.Clip(p.list)
	}
	for _, r := range p.rows[from:] {
		p.takeBack(r)
	}
	p.drop(true)
}

// takeBack forgets the ids of a row.
func (p *geminiCLIPlayer) takeBack(r *geminiCLIRecord) {
	r.back = true
	maps.DeleteFunc(p.at, func(_ string, of *geminiCLIRecord) bool { return of == r })
}

// drop removes the rows that were taken back. With keep they stay as an arm of the session.
func (p *geminiCLIPlayer) drop(keep bool) {
	before := make([]int, len(p.rows)+1) // how many rows stay before one
	var kept, gone []*geminiCLIRecord
	for i, r := range p.rows {
		if r.back {
			gone = append(gone, r)
		} else {
			kept = append(kept, r)
		}
		before[i+1] = len(kept)
	}
	for i := range p.bounds {
		p.bounds[i].at = before[p.bounds[i].at]
	}
	for i := range p.arms {
		p.arms[i].at = before[p.arms[i].at]
	}
	if keep && len(gone) > 0 {
		p.arms = append(p.arms, geminiCLIArm{before[slices.Index(p.rows, gone[0])], p.line, gone})
	}
	p.rows = kept
}

// rewrite reads a list by which the program replaces its own.
func (p *geminiCLIPlayer) rewrite(list []geminiCLIRecord) {
	var ids []string
	for i := range list {
		if list[i].ID != "" && list[i].isDialogue() {
			ids = append(ids, list[i].ID)
		}
	}
	old := p.list
	p.list = ids
	switch n := len(ids); {
	case len(p.rows) == 0:
		p.list = nil
		for _, rec := range list {
			if rec.rewritten = true; rec.ID != "" {
				p.add(rec)
			}
		}
	case !p.resumed && n < len(old) && slices.Equal(ids, old[:n]):
		for _, id := range old[n:] { // the call failed, and its messages are given up
			if r := p.at[id]; r != nil {
				p.takeBack(r)
			}
		}
		p.drop(true)
	default:
		p.align(list, len(old) > n && slices.Equal(ids, old[len(old)-n:]))
	}
}

// align finds the earlier form of each message of a list. copied reports whether the list consists
// only of the newest lines, which may repeat earlier lines under other ids.
func (p *geminiCLIPlayer) align(list []geminiCLIRecord, copied bool) {
	listed := map[*geminiCLIRecord]bool{}
	for i := range list {
		if r := p.at[list[i].ID]; r != nil {
			listed[r] = true
		}
	}
	var gone []*geminiCLIRecord // rows that are in the list under none of their ids
	for _, r := range p.rows {
		if !listed[r] && r.isDialogue() {
			gone = append(gone, r)
		}
	}
	was := make([]*geminiCLIRecord, len(list))
	whole := true
	for i, end := len(list)-1, len(gone); i >= 0; i-- {
		rec := &list[i]
		if p.at[rec.ID] != nil && !copied || !rec.isDialogue() {
			continue
		}
		print := rec.holds().print
		at := end - 1
		for at >= 0 && gone[at].holds().print != print {
			at--
		}
		if at >= 0 {
			was[i], end = gone[at], at
		} else {
			whole = whole && (!rec.speaks() || p.unsaid(rec))
		}
	}
	compacted := false
	for i := range list {
		switch r, now := &list[i], p.at[list[i].ID]; {
		case !r.isDialogue() || r.ID == "":
		case now != nil && copied && whole && was[i] != nil:
			now.back = true
			p.at[r.ID] = was[i]
		case now != nil && copied && whole && p.unsaid(r):
			p.takeBack(now)
		case now != nil: // as it was said
		case was[i] != nil:
			p.at[r.ID] = was[i]
		case len(r.holds().answers) > 0 && !p.answered(r.holds().answers):
			r.rewritten = true
			row := *r
			p.rows, p.at[r.ID] = append(p.rows, &row), &row
		case !p.foreign[r.ID]:
			p.foreign[r.ID], p.foreign[r.holds().print] = true, true
			r.rewritten, p.hosts[r.ID] = true, r
			if len(gone) > 0 && r.Type == "user" && r.speaks() && !r.setup() {
				r.summary, compacted = true, true
			}
		}
	}
	p.drop(false)
	if compacted {
		p.bounds = append(p.bounds, geminiCLIBound{len(p.rows), slices.Clone(p.list)})
	}
}

// unsaid reports whether a message of the program's list was made by the program.
func (p *geminiCLIPlayer) unsaid(r *geminiCLIRecord) bool {
	return r.setup() || p.foreign[r.holds().print]
}

// answered reports whether a row holds the results of these calls.
func (p *geminiCLIPlayer) answered(calls []string) bool {
	have := map[string]bool{}
	for _, r := range p.rows {
		for _, id := range slices.Concat(r.holds().answers, r.holds().done) {
			have[id] = true
		}
	}
	return !slices.ContainsFunc(calls, func(id string) bool { return id != "" && !have[id] })
}

// finish makes the messages: those of the main line, with the program's compactions, and of
// each arm that was taken back.
func (p *geminiCLIPlayer) finish(l *Session) {
	line, from, bounds := l.lines[""], []int{}, p.bounds
	for _, d := range geminiCLIConversation(p.rows) {
		for ; len(bounds) > 0 && bounds[0].at <= d.row; bounds = bounds[1:] {
			line.Bounds = append(line.Bounds, boundary{Pos: len(line.Order), Lead: p.lead(bounds[0].list)})
		}
		from = append(from, d.row)
		l.push(d.Message, flags{})
	}
	for _, b := range bounds {
		line.Bounds = append(line.Bounds, boundary{Pos: len(line.Order), Lead: p.lead(b.list)})
	}
	for _, a := range p.arms {
		shared, _ := slices.BinarySearch(from, a.at)
		name := fmt.Sprintf("rewound:%d", a.line)
		branch := &sessionLine{Order: slices.Clone(line.Order[:shared])}
		for _, d := range geminiCLIConversation(a.rows) {
			d.Branch = name
			branch.Order = append(branch.Order, l.add(d.Message, flags{}))
		}
		l.arm(name, branch)
	}
}

// lead returns the program's conversation after a compaction, nil for a list of nil.
func (p *geminiCLIPlayer) lead(list []string) []memkernel.Message {
	if list == nil {
		return nil
	}
	var of []*geminiCLIRecord
	for _, id := range list {
		r := cmp.Or(p.at[id], p.hosts[id])
		if r != nil && !slices.Contains(of, r) {
			of = append(of, r)
		}
	}
	out := []memkernel.Message{}
	for _, d := range geminiCLIConversation(of) {
		out = append(out, d.Message)
	}
	return out
}

// isDialogue reports whether a message is of the conversation rather than from the
// program to its user.
func (r *geminiCLIRecord) isDialogue() bool { return r.Type == "user" || r.Type == "gemini" }

// geminiCLIContent is the part of a message that stays when the message is written again.
type geminiCLIContent struct {
	// words are its texts. calls are the ids of its calls, or their names. answers are the calls
	// whose results are in its content. done are the calls whose own records hold their results.
	words                string
	calls, answers, done []string
	// print identifies the message: all of this except results, thoughts and times.
	print string
}

// holds returns the content of a record.
func (r *geminiCLIRecord) holds() *geminiCLIContent {
	if r.read != nil {
		return r.read
	}
	c := &geminiCLIContent{}
	var b strings.Builder
	var called []string
	for _, p := range geminiCLIParts(r.Content) {
		switch {
		case p.Kind == memkernel.PartText:
			b.WriteString(p.Text)
		case p.Call != nil:
			called = append(called, cmp.Or(p.Call.ID, p.Call.Name))
		case p.Result != nil:
			c.answers = append(c.answers, cmp.Or(p.Result.CallID, p.Result.Name))
		}
	}
	for i := range r.ToolCalls {
		t := &r.ToolCalls[i]
		c.calls = append(c.calls, cmp.Or(t.ID, t.Name))
		if t.answered() {
			c.done = append(c.done, t.ID)
		}
	}
	if len(c.calls) == 0 {
		c.calls = called
	}
	c.words = strings.TrimSpace(b.String())
	c.print = r.Type + "\x00" + c.words + "\x00" + strings.Join(c.calls, "\x00") + "\x01" + strings.Join(c.answers, "\x00")
	r.read = c
	return c
}

// speaks reports whether a record holds more than results.
func (r *geminiCLIRecord) speaks() bool { return r.holds().words != "" || len(r.holds().calls) > 0 }

// setup reports whether r is the message by which the program begins every list.
func (r *geminiCLIRecord) setup() bool {
	return strings.HasPrefix(r.holds().words, "<session_context>")
}

// snapshot reports whether r is a summary by which the program begins a compressed list.
func (r *geminiCLIRecord) snapshot() bool {
	return r.Type == "user" && strings.HasPrefix(r.holds().words, "<state_snapshot>")
}
