package serve

import (
	"bytes"
	"encoding/json"
	"regexp"

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

// said describes the data that a call's parameters reach.
type said struct {
	sessions       []string
	agent          string
	private, whole bool
	blobs          bool
}

func (c *caller) said() said { return said{} }

func (s *sessionCall) said() said { return said{sessions: []string{s.key()}, private: s.Private} }

func (s *sourceCall) with(out said) said {
	out.agent = s.AgentID
	return out
}

func (p *planCall) said() said { return p.sourceCall.with(p.sessionCall.said()) }

func (p *turnCall) said() said { return ofUpdates(p.Updates, p.sourceCall.with(p.sessionCall.said())) }

func (p *boundaryCall) said() said {
	return ofUpdates(p.Updates, p.sourceCall.with(p.sessionCall.said()))
}

func (p *flushTurnCall) said() said { return p.sourceCall.with(p.sessionCall.said()) }

func (p *writeCall) said() said {
	out := ofUpdates(p.Updates, p.sessionCall.said())
	out.whole = out.whole || p.Project
	return out
}

func (p *searchCall) said() said {
	return said{sessions: []string{orDefault(p.SessionKey)}, private: p.Private}
}

func (p *readCall) said() said {
	return said{sessions: []string{orDefault(p.SessionKey)}, private: p.Private}
}

func (p *getCall) said() said {
	return said{sessions: []string{orDefault(p.SessionKey)}, blobs: hash.MatchString(p.ID)}
}

func (p *usageCall) said() said {
	if p.SessionKey == "" {
		return said{}
	}
	return said{sessions: []string{p.SessionKey}}
}

func (p *forgetCall) said() said {
	out := p.sessionCall.said()
	for _, id := range p.IDs {
		out.blobs = out.blobs || hash.MatchString(id)
	}
	return out
}

// ofUpdates adds the sessions that the updates belong to, and whether an update is for all
// sessions.
func ofUpdates(updates []journal.Update, out said) said {
	for _, u := range updates {
		if u.Session != "" {
			out.sessions = append(out.sessions, u.Session)
		}
		out.whole = out.whole || u.Scope != memkernel.ScopeSession
	}
	return out
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
func (d *desk) asked(m method, args params) Asked {
	said := args.said()
	out := Asked{Method: m.name, Need: m.need, Sessions: said.sessions, Agent: said.agent, Private: said.private, Blobs: said.blobs}
	out.Whole = said.whole || m.reach == reachAll && len(said.sessions) == 0
	if p, ok := args.(*toolsCall); ok {
		out.Blobs = namesHash(p.Arguments)
		if !tools.Writes(p.Name) {
			out.Need = needRead
		}
	}
	return out
}
