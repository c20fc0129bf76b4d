package serve

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/serve/tools"
)

// need is the permission that a caller must have for a method.
type need int

// The needs of methods. Each need includes the needs before it.
const (
	// needRead is for methods that change no stored data.
	needRead need = iota + 1
	// NeedWrite changes memory, a session, or data derived from them.
	NeedWrite
	// needOperate is for methods about the server itself. It is the operator's permission.
	needOperate
)

func (n need) String() string {
	return map[need]string{needRead: "read", NeedWrite: "write", needOperate: "operate"}[n]
}

// reach is the data from which a method's answer comes.
type reach int

const (
	// reachNone is for methods that use no stored data.
	reachNone reach = iota + 1
	// reachSession is memory and the session that the call names.
	reachSession
	// reachAll is all sessions.
	reachAll
)

// Asked describes a call for the decision whether the call is allowed. It is made from the
// decoded parameters, so that the decision and the call use the same values.
type Asked struct {
	Method string
	Need   need
	// Whole reports whether the call reaches all sessions, in addition to the sessions that it
	// names.
	Whole bool
	// Sessions are the keys of the sessions that the call names. The first key is the session
	// that the call belongs to.
	Sessions []string
	// Agent is the agent that the call claims to speak for, "" if it names none.
	Agent string
	// Private reports whether the call says that its session is private. A private session also
	// shows past sessions.
	Private bool
	// Blobs reports whether the call names content by its hash. The content may belong to any
	// session.
	Blobs bool
}

func (c *caller) ask(*Asked) {}

func (s *sessionCall) ask(a *Asked) { a.Sessions, a.Private = []string{s.key()}, s.Private }

func (s *sourceCall) ask(a *Asked) {
	s.sessionCall.ask(a)
	a.Agent = s.AgentID
}

func (p *turnCall) ask(a *Asked) {
	p.sourceCall.ask(a)
	a.update(p.Updates)
}

func (p *boundaryCall) ask(a *Asked) {
	p.sourceCall.ask(a)
	a.update(p.Updates)
}

func (p *writeCall) ask(a *Asked) {
	p.sessionCall.ask(a)
	a.update(p.Updates)
	a.Whole = a.Whole || p.Project
}

func (p *searchCall) ask(a *Asked) {
	a.Sessions, a.Private = []string{orDefault(p.SessionKey)}, p.Private
}

func (p *readCall) ask(a *Asked) {
	a.Sessions, a.Private = []string{orDefault(p.SessionKey)}, p.Private
}

func (p *getCall) ask(a *Asked) {
	a.Sessions, a.Blobs = []string{orDefault(p.SessionKey)}, hash.MatchString(p.ID)
}

func (p *usageCall) ask(a *Asked) {
	if p.SessionKey != "" {
		a.Sessions = []string{p.SessionKey}
	}
}

func (p *forgetCall) ask(a *Asked) {
	p.sessionCall.ask(a)
	a.Blobs = slices.ContainsFunc(p.IDs, hash.MatchString)
}

func (p *toolsCall) ask(a *Asked) {
	p.sessionCall.ask(a)
	a.Blobs = namesHash(p.Arguments)
	if !tools.Writes(p.Name) {
		a.Need = needRead
	}
}

// update adds the sessions that the updates belong to, and whether an update is for all sessions.
func (a *Asked) update(updates []journal.Update) {
	for _, u := range updates {
		if u.Session != "" {
			a.Sessions = append(a.Sessions, u.Session)
		}
		a.Whole = a.Whole || u.Scope != memkernel.ScopeSession
	}
}

// hash matches the name of content.
var hash = regexp.MustCompile(`[0-9a-fA-F]{64}`)

// namesHash reports whether any text in a JSON value holds a hash, also in members that a
// reader would pass over.
func namesHash(raw json.RawMessage) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	for {
		t, err := d.Token()
		if err != nil {
			return false
		}
		if s, ok := t.(string); ok && hash.MatchString(s) {
			return true
		}
	}
}

// asked describes a call for the decision.
func asked(m method, args params) Asked {
	out := Asked{Method: m.name, Need: m.need}
	args.ask(&out)
	out.Whole = out.Whole || m.reach == reachAll && len(out.Sessions) == 0
	return out
}
