package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/jsonl"
	"github.com/memkernel/memkernel/internal/textcode"
)

// geminiPlayer plays the records of a session file to the conversation as it was said.
// The file also holds the program's own list of messages, which it replaces as a whole
// ($set) where it resumes, compresses, masks outputs or gives a call up: then messages
// are missing that were said, and others are under new ids, with new times and less
// content. So a message that was a line of the file stays as it was said, under its
// first id, whatever the list does with it; it goes where the user takes it back.
type geminiPlayer struct {
	rows []*geminiRow
	at   map[string]*geminiRow // by every id that a row has had
	// list are the ids of the program's own list; foreign are ids and prints of those in
	// it that nobody said.
	list    []string
	foreign map[string]bool
	// resumed: the program has begun anew, and the list that follows is what it begins with.
	resumed bool
	// compactions counts how often a summary took the place of messages.
	compactions int
	// broken is the first line that could not be read, and why; lost has all of them.
	broken error
	lost   []error
}

// geminiRow is a message.
type geminiRow struct {
	rec  geminiRecord
	back bool // taken back
}

// readGemini plays a file. Lines that can't be read are passed over, as the program
// does; a file of which nothing can be is an error.
func readGemini(r io.Reader, path string) (*geminiPlayer, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	data = []byte(textcode.Text(string(data)))
	p := &geminiPlayer{at: map[string]*geminiRow{}, foreign: map[string]bool{}}
	var whole geminiRecord
	if json.Unmarshal(data, &whole) == nil && whole.Messages != nil {
		for _, m := range whole.Messages {
			p.play(m)
		}
		if slices.ContainsFunc(p.rows, func(r *geminiRow) bool { return r.rec.snapshot() }) {
			p.compactions++
		}
		return p, nil
	}
	read, rec := false, geminiRecord{}
	for v, err := range jsonl.Values(bytes.NewReader(data), len(data), func(v *jsonl.Value) error {
		rec = geminiRecord{}
		if err := json.Unmarshal([]byte(v.Raw), &rec); err != nil || rec.known() {
			return err
		}
		return errors.New("it is no record of a session")
	}) {
		switch {
		case err != nil:
			return nil, err
		case v.Blank():
		case v.Err == nil:
			read = true
			p.play(rec)
		case !v.Cut() || !read: // a last line that is cut off comes again
			p.lost = append(p.lost, fmt.Errorf("%s:%d: %s: %w", path, v.Line, v.Place(), v.Err))
			p.broken = p.lost[0]
		}
	}
	if !read && p.broken == nil && bytes.IndexByte(data, 0) >= 0 {
		p.broken = fmt.Errorf("%s: it holds zero bytes alone, which a crash leaves", path)
	}
	if !read && p.broken != nil {
		return nil, fmt.Errorf("%w: it is cut off, or no session file of Gemini CLI; nothing of it was read, and the next event tries again", p.broken)
	}
	return p, nil
}

// known reports whether a record is one of those that the file is made of.
func (r *geminiRecord) known() bool {
	return r.RewindTo != "" || r.Set != nil || r.SessionID != "" || r.ID != ""
}

func (p *geminiPlayer) play(rec geminiRecord) {
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
	case rec.ID != "":
		p.add(rec)
	}
}

// add takes a message in, or its newer form: the last of an id counts, at the place of
// its first.
func (p *geminiPlayer) add(rec geminiRecord) {
	if r, ok := p.at[rec.ID]; ok {
		rec.ID, rec.Timestamp, rec.rewritten = r.rec.ID, r.rec.Timestamp, r.rec.rewritten
		r.rec = rec
		return
	}
	r := &geminiRow{rec: rec}
	p.rows, p.at[rec.ID] = append(p.rows, r), r
	if rec.isDialogue() {
		p.list = append(p.list, rec.ID)
	}
}

// rewind takes back all from a message on; all, if it is not known.
func (p *geminiPlayer) rewind(id string) {
	from, listed := 0, slices.Index(p.list, id)
	if r, ok := p.at[id]; ok {
		from = slices.Index(p.rows, r)
	} else if listed >= 0 { // a summary: to what followed it
		from = len(p.rows)
		for _, id := range p.list[listed:] {
			if r := p.at[id]; r != nil {
				from = min(from, slices.Index(p.rows, r))
			}
		}
	}
	p.list = p.list[:max(listed, 0)]
	for _, r := range p.rows[from:] {
		p.takeBack(r)
	}
	p.rows = p.rows[:from]
}

// takeBack forgets the ids of a row.
func (p *geminiPlayer) takeBack(r *geminiRow) {
	r.back = true
	for id, of := range p.at {
		if of == r {
			delete(p.at, id)
		}
	}
}

// rewrite reads a list by which the program replaces its own.
func (p *geminiPlayer) rewrite(list []geminiRecord) {
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
		for _, id := range old[n:] { // the call failed, and what it began with is given up
			if r := p.at[id]; r != nil {
				p.takeBack(r)
			}
		}
		p.rows = slices.DeleteFunc(p.rows, func(r *geminiRow) bool { return r.back })
	default:
		p.align(list, len(old) > n && slices.Equal(ids, old[len(old)-n:]))
	}
}

// align finds for the messages of a list what they were before. copied reports whether the
// list is made of the newest lines alone, which may repeat what precedes them
// under other ids.
func (p *geminiPlayer) align(list []geminiRecord, copied bool) {
	listed := map[*geminiRow]bool{}
	for i := range list {
		if r := p.at[list[i].ID]; r != nil {
			listed[r] = true
		}
	}
	var gone []*geminiRow // what was said and is not in the list, under any id
	for _, r := range p.rows {
		if !listed[r] && r.rec.isDialogue() {
			gone = append(gone, r)
		}
	}
	was := make([]*geminiRow, len(list))
	whole := true
	for i, end := len(list)-1, len(gone); i >= 0; i-- {
		rec := &list[i]
		if p.at[rec.ID] != nil && !copied || !rec.isDialogue() {
			continue
		}
		print := rec.print()
		at := end - 1
		for at >= 0 && gone[at].rec.print() != print {
			at--
		}
		if at >= 0 {
			was[i], end = gone[at], at
		} else {
			whole = whole && (!rec.speaks() || p.unsaid(rec))
		}
	}
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
		case len(r.answers()) > 0 && !p.answered(r.answers()):
			r.rewritten = true
			p.rows = append(p.rows, &geminiRow{rec: *r})
			p.at[r.ID] = p.rows[len(p.rows)-1]
		case !p.foreign[r.ID]:
			p.foreign[r.ID], p.foreign[r.print()] = true, true
			if len(gone) > 0 && r.Type == "user" && r.speaks() && !r.setup() {
				p.compactions++
			}
		}
	}
	p.rows = slices.DeleteFunc(p.rows, func(r *geminiRow) bool { return r.back })
}

// unsaid reports whether a message of the program's list is one that nobody said.
func (p *geminiPlayer) unsaid(r *geminiRecord) bool { return r.setup() || p.foreign[r.print()] }

// answered reports whether a row holds the results of these calls.
func (p *geminiPlayer) answered(calls []string) bool {
	have := map[string]bool{}
	for _, r := range p.rows {
		for _, id := range r.rec.answers() {
			have[id] = true
		}
		for _, id := range r.rec.read().done {
			have[id] = true
		}
	}
	return !slices.ContainsFunc(calls, func(id string) bool { return id != "" && !have[id] })
}

// records returns the messages as they were said.
func (p *geminiPlayer) records() []geminiRecord {
	out := make([]geminiRecord, len(p.rows))
	for i, r := range p.rows {
		out[i] = r.rec
	}
	return out
}

// isDialogue reports whether a message is of the conversation rather than from the
// program to its user.
func (r *geminiRecord) isDialogue() bool { return r.Type == "user" || r.Type == "gemini" }

// geminiContent is what a message keeps where it is written again.
type geminiContent struct {
	// words are its texts; calls the ids of the calls in it, or their names; answers those of the
	// calls whose results are in its content, and done those whose results stand with them.
	words                string
	calls, answers, done []string
	// print is all that: all but what tools gave, thoughts and times.
	print string
}

// read returns what a record holds.
func (r *geminiRecord) read() *geminiContent {
	if r.content != nil {
		return r.content
	}
	c := &geminiContent{}
	var b strings.Builder
	var called []string
	for _, p := range geminiParts(r.Content) {
		if !p.Thought {
			b.WriteString(p.Text)
		}
		if p.Call != nil {
			called = append(called, first(p.Call.ID, p.Call.Name))
		}
		if p.Response != nil {
			c.answers = append(c.answers, first(p.Response.ID, p.Response.Name))
		}
	}
	for i := range r.ToolCalls {
		t := &r.ToolCalls[i]
		c.calls = append(c.calls, first(t.ID, t.Name))
		if t.answered() {
			c.done = append(c.done, t.ID)
		}
	}
	if len(c.calls) == 0 {
		c.calls = called
	}
	c.words = strings.TrimSpace(b.String())
	c.print = r.Type + "\x00" + c.words + "\x00" + strings.Join(c.calls, "\x00") + "\x01" + strings.Join(c.answers, "\x00")
	r.content = c
	return c
}

func (r *geminiRecord) words() string     { return r.read().words }
func (r *geminiRecord) answers() []string { return r.read().answers }
func (r *geminiRecord) print() string     { return r.read().print }

// speaks reports whether a record holds more than results.
func (r *geminiRecord) speaks() bool { return r.words() != "" || len(r.read().calls) > 0 }

// setup reports whether r is the message by which the program begins every list.
func (r *geminiRecord) setup() bool { return strings.HasPrefix(r.words(), "<session_context>") }

// snapshot reports whether r is a summary by which the program begins a compressed list.
func (r *geminiRecord) snapshot() bool {
	return r.Type == "user" && strings.HasPrefix(r.words(), "<state_snapshot>")
}
