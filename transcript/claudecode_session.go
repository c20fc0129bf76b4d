package transcript

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
)

// claudeAssembler joins the records of a Claude Code file, in file order. Parent ids are broken
// after a compaction, so they are used only to name old sidechains and to find forks.
type claudeAssembler struct {
	session *Session
	seen    map[string]bool         // ids of all records
	byID    map[string]int          // record id to message index
	groups  map[string]*claudeGroup // by branch and message id
	calls   map[string]*claudeCall  // by branch and call id
	echoes  map[string]*Record      // by branch, the last record if it repeats an answered call
	sides   map[string]string       // record id to branch, for sidechains without agent id
	askers  map[string]int          // branch and parent to the plain user message that answers it
	side    string                  // branch of the last sidechain record
}

// claudeGroup is a message that further records may extend.
type claudeGroup struct {
	at      int // its place among the messages
	request string
}

// claudeCall is the newest call of an id.
type claudeCall struct {
	memkernel.ToolCall
	time     time.Time
	answered bool
}

func claudeAssemble(l *Session) (add func(*Record), finish func()) {
	a := claudeAssembler{session: l, seen: map[string]bool{}, byID: map[string]int{}, groups: map[string]*claudeGroup{},
		calls: map[string]*claudeCall{}, echoes: map[string]*Record{}, sides: map[string]string{}, askers: map[string]int{}}
	return a.add, nil
}

func (a *claudeAssembler) add(e *Record) {
	defer func() { a.seen[strings.Clone(e.ID)] = true }()
	switch e.Kind {
	case kindMessage, kindCompaction, kindMicrocompaction:
	default:
		return
	}
	if i, dup := a.byID[e.ID]; dup && e.ID != "" {
		a.session.again(e, i, "record")
		return
	}
	own := e.own.(*claudeExtra)
	branch := a.branch(e, own)
	l := a.session.branch(branch)
	if branch == "" || a.session.ID == "" {
		a.session.adopt(&e.about)
	}
	switch e.Kind {
	case kindCompaction:
		a.remember(e.ID, -1)
		l.Bounds = append(l.Bounds, boundary{Pos: len(l.Order), Keep: a.kept(l, own)})
		a.closeGroups(branch)
	case kindMicrocompaction:
		a.remember(e.ID, -1)
		l.Micros = append(l.Micros, micro{Pos: len(l.Order), IDs: own.cleared, Stub: clearedResult})
	case kindMessage:
		e.Message.Branch = branch
		a.message(e, own, l)
	}
}

func (a *claudeAssembler) remember(id string, i int) {
	if id != "" {
		a.byID[id] = i
	}
}

// branch names the sidechain of a record, "" for the main line.
func (a *claudeAssembler) branch(e *Record, own *claudeExtra) string {
	if own.branch != unknownBranch {
		return own.branch
	}
	b := e.ID
	if e.Parent != "" {
		b = cmp.Or(a.sides[e.Parent], a.side, e.ID)
	}
	a.sides[e.ID], a.side = b, b
	return b
}

// closeGroups forgets the open messages of a branch. A message id that occurs again after a
// compaction belongs to another message.
func (a *claudeAssembler) closeGroups(branch string) {
	maps.DeleteFunc(a.groups, func(key string, _ *claudeGroup) bool { return strings.HasPrefix(key, branch+"\x00") })
}

func (a *claudeAssembler) message(e *Record, own *claudeExtra, l *sessionLine) {
	m := e.Message
	if m.Role == memkernel.RoleAssistant && m.Origin == "" && m.Model != "" {
		a.session.Model = m.Model
	}
	a.settleEcho(m)
	if m.Role == memkernel.RoleUser && m.Origin == "" && !HasResults(*m) {
		a.closeGroups(m.Branch) // the next answer is another message, whatever its id
	}
	key := m.Branch + "\x00" + own.group
	if g := a.groups[key]; g != nil && own.group != "" && !a.isOther(g, m, own) {
		into := &a.session.Messages[g.at]
		grew, again := repeatRecord(into, m)
		if again && !grew && slices.ContainsFunc(m.Parts, func(p memkernel.Part) bool { return a.asksAgain(m, p) }) {
			a.echoes[m.Branch] = e
		}
		if !again && (HasCalls(*m) || !slices.ContainsFunc(into.Parts, func(p memkernel.Part) bool { return a.answered(m.Branch, p) != nil })) {
			again = true
			a.dropCopies(e)
			// It stays where its first line was, so results that were written between its
			// lines follow it.
			joinRecord(into, m)
		}
		if again {
			a.remember(e.ID, g.at)
			a.called(m)
			return
		}
	}
	a.dropCopies(e)
	a.called(m)
	if own.fork && a.seen[e.Parent] { // of a record that was never written nothing is known
		a.fork(e, l)
	}
	if own.group != "" {
		if _, taken := a.byID[own.group]; !taken {
			m.Key = own.group
			a.byID[own.group] = len(a.session.Messages)
		}
		a.groups[key] = &claudeGroup{at: len(a.session.Messages), request: own.request}
	}
	i := a.session.push(*m, e.flags)
	a.remember(e.ID, i)
}

// isOther reports whether a record with the id of an open message belongs to another message. It
// does if another request produced it, or if it holds a different call under the id of an answered
// call.
func (a *claudeAssembler) isOther(g *claudeGroup, m *memkernel.Message, own *claudeExtra) bool {
	return g.request != "" && own.request != "" && g.request != own.request || slices.ContainsFunc(m.Parts, func(p memkernel.Part) bool {
		c := a.answered(m.Branch, p)
		return c != nil && !sameCall(&c.ToolCall, p.Call) && !sameCall(p.Call, &c.ToolCall)
	})
}

// answered returns the newest call with the id of a part that is a call, nil unless the branch has
// a result for it.
func (a *claudeAssembler) answered(branch string, p memkernel.Part) *claudeCall {
	if c := a.calls[branch+"\x00"+callOf(&p)]; isCall(&p) && c != nil && c.answered {
		return c
	}
	return nil
}

// asksAgain reports whether p, a part of a message that repeats an earlier one, is a call that
// already has a result and another time. Such a call is a new call only if a second result follows.
func (a *claudeAssembler) asksAgain(m *memkernel.Message, p memkernel.Part) bool {
	c := a.answered(m.Branch, p)
	return c != nil && (m.Time.IsZero() || !c.time.Equal(m.Time))
}

// settleEcho adds the message that was held back as a repetition, if m holds a result for one of
// its calls.
func (a *claudeAssembler) settleEcho(m *memkernel.Message) {
	was := a.echoes[m.Branch]
	if delete(a.echoes, m.Branch); was == nil || !HasResults(*m) {
		return
	}
	if slices.ContainsFunc(was.Message.Parts, func(p memkernel.Part) bool {
		return isCall(&p) && slices.ContainsFunc(m.Parts, func(r memkernel.Part) bool { return isResult(&r) && r.Result.CallID == p.Call.ID })
	}) {
		a.called(was.Message)
		a.remember(was.ID, a.session.push(*was.Message, was.flags))
	}
}

// called records the calls and the results of a message.
func (a *claudeAssembler) called(m *memkernel.Message) {
	for i := range m.Parts {
		p := &m.Parts[i]
		key := m.Branch + "\x00" + callOf(p)
		c := a.calls[key]
		switch {
		case isCall(p) && c != nil && sameCall(&c.ToolCall, p.Call) && !c.answered:
			c.ToolCall = *p.Call
		case isCall(p):
			a.calls[key] = &claudeCall{ToolCall: *p.Call, time: m.Time}
		case isResult(p) && c != nil:
			c.answered = true
		}
	}
}

// dropCopies removes calls that the file already holds. Hosts copy records under new ids when they
// resume a session. A call with the same id but another input or time is another call, since some
// servers restart the numbers of calls in each answer.
func (a *claudeAssembler) dropCopies(e *Record) {
	m := e.Message
	kept := m.Parts[:0:len(m.Parts)]
	for _, p := range m.Parts {
		c := a.calls[m.Branch+"\x00"+callOf(&p)]
		if isCall(&p) && p.Call.ID != "" && c != nil && c.time.Equal(m.Time) && (!c.answered || !m.Time.IsZero()) && c.Input == p.Call.Input && c.Name == p.Call.Name {
			a.session.Notes = append(a.session.Notes, Note{Rule: "duplicate-call", Line: e.Line, Message: -1, Key: m.Key,
				Text: "call " + p.Call.ID + " is in the file twice, the first one counts", Removed: []memkernel.Part{p}})
			continue
		}
		kept = append(kept, p)
	}
	m.Parts = kept
}

// fork checks whether this plain user message has the same parent as an earlier one. If it does,
// the user went back, and the messages in between become a branch. Parallel tool calls also share
// parents, but they are no plain messages.
func (a *claudeAssembler) fork(e *Record, l *sessionLine) {
	key := e.Message.Branch + "\x00" + e.Parent
	first, seen := a.askers[key]
	a.askers[key] = len(a.session.Messages)
	if !seen {
		return
	}
	pos := slices.Index(l.Order, first)
	if pos < 0 {
		return
	}
	branch := "fork:" + a.session.Messages[first].Key
	a.session.fork(l, pos, branch)
	a.closeGroups(e.Message.Branch)
	a.session.note("fork", e, "the user went back here; the arm left behind is branch %s", branch)
}

// kept finds the positions of the messages that a partial compaction keeps.
func (a *claudeAssembler) kept(l *sessionLine, own *claudeExtra) (keep []int) {
	if own.keepHead == "" && len(own.keepIDs) == 0 {
		return nil
	}
	head, okHead := a.byID[own.keepHead]
	tail, okTail := a.byID[own.keepTail]
	ids := map[int]bool{}
	for _, id := range own.keepIDs {
		if i, ok := a.byID[id]; ok {
			ids[i] = true
		}
	}
	for at, i := range l.Order {
		if ids[i] || okHead && okTail && i >= head && i <= tail {
			keep = append(keep, at)
		}
	}
	return keep
}
