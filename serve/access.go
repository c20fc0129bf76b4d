package serve

import (
	"bytes"
	"encoding/json"
	"regexp"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// Need is the permission that a caller must have for a method.
type Need int

// The needs of methods. Each need includes the needs before it.
const (
	// NeedRead is for methods that change no stored data.
	NeedRead Need = iota + 1
	// NeedWrite changes memory, a session, or data derived from them.
	NeedWrite
	// NeedOperate is for methods about the server itself. It is the operator's permission.
	NeedOperate
)

func (n Need) String() string {
	return map[Need]string{NeedRead: "read", NeedWrite: "write", NeedOperate: "operate"}[n]
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

// needs has the permission that each method needs and the data that it reaches. Only a caller
// that may do everything may call a method that is missing here.
var needs = map[string]struct {
	need  Need
	reach reach
}{
	"initialize":          {NeedRead, reachNone},
	"shutdown":            {NeedOperate, reachNone},
	"plan":                {NeedWrite, reachSession},
	"peek":                {NeedRead, reachSession},
	"observe_turn":        {NeedWrite, reachSession},
	"observe_tool_result": {NeedWrite, reachSession},
	"start_session":       {NeedWrite, reachSession},
	"end_session":         {NeedWrite, reachSession},
	"flush":               {NeedWrite, reachSession},
	"reset":               {NeedWrite, reachSession},
	"compact":             {NeedWrite, reachSession},
	"checkpoint":          {NeedWrite, reachSession},
	"restore":             {NeedRead, reachSession},
	"flush_turn":          {NeedWrite, reachSession},
	"observe_flush":       {NeedWrite, reachSession},
	"remember":            {NeedWrite, reachSession},
	"memory.list":         {NeedRead, reachSession},
	"memory.update":       {NeedWrite, reachSession},
	"memory.delete":       {NeedWrite, reachSession},
	"memory.undo":         {NeedWrite, reachSession},
	"memory.tool":         {NeedWrite, reachSession},
	"forget":              {NeedWrite, reachSession},
	"retain":              {NeedWrite, reachAll},
	"search":              {NeedRead, reachSession},
	"read":                {NeedRead, reachSession},
	"get":                 {NeedRead, reachSession},
	"write":               {NeedWrite, reachSession},
	"pages":               {NeedRead, reachSession},
	"status":              {NeedRead, reachAll},
	"check":               {NeedRead, reachAll},
	"usage":               {NeedRead, reachAll}, // of one session, that
	"reindex":             {NeedWrite, reachAll},
	"tools.list":          {NeedRead, reachSession},
	"tools.call":          {NeedWrite, reachSession}, // a tool that only reads, less
}

// Asked describes a call for the decision whether the call is allowed. It is made from the
// decoded parameters, so that the decision and the call use the same values.
type Asked struct {
	Method string
	Need   Need
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

func (s *sourceCall) with(out said) said {
	out.agent = s.AgentID
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
	said, row := args.said(), needs[m.name]
	out := Asked{Method: m.name, Need: row.need, Sessions: said.sessions, Agent: said.agent, Private: said.private, Blobs: said.blobs}
	out.Whole = said.whole || row.reach == reachAll && len(said.sessions) == 0
	if out.Need == 0 {
		out.Need, out.Whole = NeedOperate, true
	}
	if p, ok := args.(*toolsCall); ok {
		out.Blobs = namesHash(p.Arguments)
		if d.opt.ToolWrites != nil && !d.opt.ToolWrites(p.Name) {
			out.Need = NeedRead
		}
	}
	return out
}
