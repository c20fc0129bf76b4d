package transcript

import (
	"strings"

	"github.com/memkernel/memkernel"
)

// claudeAssembler joins the records of a Claude Code file. File order rules:
// parent ids lead nowhere after a compaction, so they are used for two things
// only, naming old sidechains and finding forks.
type claudeAssembler struct {
	s      *Session
	byID   map[string]int    // record id to message index
	groups map[string]int    // branch and message id to message index
	calls  map[string]bool   // branch and call id, to drop repeated lines
	sides  map[string]string // record id to branch, for sidechains without agent id
	askers map[string]int    // branch and parent to the plain user message that answers it
	side   string            // branch of the last sidechain record
}

func (a *claudeAssembler) add(rec *Record) {
	switch rec.Kind {
	case KindMessage, KindCompaction, KindMicrocompaction:
	default:
		return
	}
	if _, dup := a.byID[rec.ID]; dup && rec.ID != "" {
		a.s.note("duplicate-record", rec, "record %s is in the file twice, the first one counts", rec.ID)
		return
	}
	branch := a.branch(rec)
	l := a.s.line(branch)
	if branch == "" {
		a.s.adopt(rec.x)
	} else if a.s.ID == "" {
		a.s.adopt(rec.x)
	}
	switch rec.Kind {
	case KindCompaction:
		a.remember(rec.ID, -1)
		l.bounds = append(l.bounds, bound{pos: len(l.order), keep: a.kept(l, rec.x)})
		a.closeGroups(branch)
	case KindMicrocompaction:
		a.remember(rec.ID, -1)
		l.micros = append(l.micros, micro{pos: len(l.order), ids: rec.x.cleared})
	case KindMessage:
		rec.Message.Branch = branch
		a.message(rec, l)
	}
}

func (a *claudeAssembler) remember(id string, i int) {
	if id != "" {
		a.byID[id] = i
	}
}

// branch names the sidechain of a record, "" for the main line.
func (a *claudeAssembler) branch(rec *Record) string {
	b := rec.x.branch
	if b != unknownBranch {
		return b
	}
	switch {
	case rec.Parent == "":
		b = rec.ID
	case a.sides[rec.Parent] != "":
		b = a.sides[rec.Parent]
	case a.side != "":
		b = a.side
	default:
		b = rec.ID
	}
	a.sides[rec.ID], a.side = b, b
	return b
}

// closeGroups forgets the open messages of a branch: an id that comes back
// after a compaction is another message.
func (a *claudeAssembler) closeGroups(branch string) {
	prefix := branch + "\x00"
	for k := range a.groups {
		if strings.HasPrefix(k, prefix) {
			delete(a.groups, k)
		}
	}
}

func (a *claudeAssembler) message(rec *Record, l *line) {
	m, x := rec.Message, rec.x
	if m.Role == memkernel.RoleAssistant && m.Origin == "" && m.Model != "" {
		a.s.Model = m.Model
	}
	a.dropRepeated(rec)
	group := m.Branch + "\x00" + x.group
	if i, ok := a.groups[group]; ok && x.group != "" {
		a.remember(rec.ID, i)
		a.join(i, m)
		return
	}
	if x.fork {
		a.fork(rec, l)
	}
	if x.group != "" {
		if _, taken := a.byID[x.group]; !taken {
			m.Key = x.group
			a.byID[x.group] = len(a.s.Messages)
		}
		a.groups[group] = len(a.s.Messages)
	}
	i := a.s.push(*m, flags{unsent: x.unsent, hostSkip: x.hostSkip})
	a.remember(rec.ID, i)
}

// join adds another line of a message to it. The message stays where its first
// line stood, so results that were written between its lines follow it.
func (a *claudeAssembler) join(i int, m *memkernel.Message) {
	into := &a.s.Messages[i]
	into.Parts = append(into.Parts, m.Parts...)
	into.Raw = ""
	if m.Usage != nil {
		into.Usage = m.Usage
	}
	if m.Time.After(into.Time) {
		into.Time = m.Time
	}
}

// dropRepeated takes out calls that the file holds already: hosts copy records
// under new ids when they resume a session.
func (a *claudeAssembler) dropRepeated(rec *Record) {
	m := rec.Message
	if m.Role != memkernel.RoleAssistant {
		return
	}
	kept := m.Parts[:0:len(m.Parts)]
	for i, p := range m.Parts {
		if p.Call != nil && p.Call.ID != "" {
			key := m.Branch + "\x00" + p.Call.ID
			if a.calls[key] {
				a.s.Notes = append(a.s.Notes, Note{Rule: "duplicate-call", Line: rec.Line, Message: -1, Key: m.Key,
					Text: "call " + p.Call.ID + " is in the file twice, the first one counts", Removed: []memkernel.Part{m.Parts[i]}})
				continue
			}
			a.calls[key] = true
		}
		kept = append(kept, p)
	}
	m.Parts = kept
}

// fork looks whether this plain user message answers the same record as an
// earlier one. Then the user went back, and what came in between is an arm of
// its own. Parallel tool calls share parents too, but are no plain messages.
func (a *claudeAssembler) fork(rec *Record, l *line) {
	key := rec.Message.Branch + "\x00" + rec.Parent
	first, seen := a.askers[key]
	a.askers[key] = len(a.s.Messages)
	if !seen {
		return
	}
	pos := -1
	for at, i := range l.order {
		if i == first {
			pos = at
		}
	}
	if pos < 0 {
		return
	}
	branch := "fork:" + a.s.Messages[first].Key
	for _, i := range l.order[pos:] {
		a.s.Messages[i].Branch = branch
	}
	a.s.lines[branch] = l.split(pos)
	a.s.names = append(a.s.names, branch)
	a.closeGroups(rec.Message.Branch)
	a.s.note("fork", rec, "the user went back here; the arm left behind is branch %s", branch)
}

// kept finds the positions of the messages that a partial compaction keeps.
func (a *claudeAssembler) kept(l *line, x *extra) (keep []int) {
	if x.keepHead == "" && len(x.keepIDs) == 0 {
		return nil
	}
	head, okHead := a.byID[x.keepHead]
	tail, okTail := a.byID[x.keepTail]
	ids := map[int]bool{}
	for _, id := range x.keepIDs {
		if i, ok := a.byID[id]; ok {
			ids[i] = true
		}
	}
	for at, i := range l.order {
		if ids[i] || okHead && okTail && i >= head && i <= tail {
			keep = append(keep, at)
		}
	}
	return keep
}

func (a *claudeAssembler) finish() {}
