package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/serve/tools"
)

// caller has the parameters that every call may have.
type caller struct {
	// DeadlineMS is how long the call may take, in milliseconds. 0 is the server's default.
	DeadlineMS int64 `json:"deadline_ms"`
}

func (c *caller) lane() string { return "" }

func (c *caller) handed() *conversation { return nil }

func (c *caller) deadline() time.Duration { return time.Duration(c.DeadlineMS) * time.Millisecond }

// params are the parameters of a method.
type params interface {
	// lane returns the session whose earlier calls this call must wait for. "" means that the
	// call waits for no other call.
	lane() string
	// deadline returns how long the call may take. It returns 0 if the call has no deadline.
	deadline() time.Duration
	// handed returns the conversation that is handed in, or nil if the call has no conversation.
	handed() *conversation
	// ask notes the data that the call reaches.
	ask(*Asked)
}

// decode reads a call's parameters strictly: a member that the method doesn't have is an error.
func decode(p *parsed, into params) *Error {
	method, raw := p.method, bytes.TrimSpace(p.params)
	if len(raw) == 0 {
		return nil
	}
	if most, ok := mostOf[method]; ok && len(raw) > most {
		return errTooMuchText(most)
	}
	known := "the parameters of " + method + " are " + strings.Join(memberNames(reflect.TypeOf(into).Elem()), ", ")
	if raw[0] != '{' {
		return badParams(known, "%s: the parameters are not an object", method)
	}
	d, err := decodeStrict(raw, into)
	if err != nil {
		return badParams(known, "%s: %s", method, strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); err != io.EOF {
		return badParams(known, "%s: there is something behind the parameters", method)
	}
	if into.deadline() < 0 {
		return badParams("give how long the call may take, in milliseconds", "%s: deadline_ms is negative", method)
	}
	length := len(raw)
	if c := into.handed(); c != nil {
		for _, m := range c.Messages {
			length -= len(m)
		}
	}
	if length > maxText {
		return errTooMuchText(maxText)
	}
	return nil
}

// decodeStrict decodes the members that the type has, and refuses others. Whole numbers may have
// any JSON form, such as 1e3 and 1000.0.
func decodeStrict(raw []byte, into any) (*json.Decoder, error) {
	for {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		err := d.Decode(into)
		var wrong *json.UnmarshalTypeError
		if !errors.As(err, &wrong) {
			return d, err
		}
		literal, ok := strings.CutPrefix(wrong.Value, "number ")
		n, errn := strconv.ParseFloat(literal, 64)
		from, to := int(wrong.Offset)-len(literal), int(wrong.Offset)
		if !ok || errn != nil || n != math.Trunc(n) || math.Abs(n) >= 1<<53 || !strings.ContainsAny(literal, ".eE") ||
			from < 0 || to > len(raw) || string(raw[from:to]) != literal {
			return d, err
		}
		raw = slices.Concat(raw[:from], strconv.AppendInt(nil, int64(n), 10), raw[to:])
	}
}

// memberNames returns the JSON members of a struct, including the members of embedded structs.
func memberNames(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			out = append(out, memberNames(f.Type)...)
		case name != "" && name != "-":
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// sessionCall has the common parameters of the calls of a session.
type sessionCall struct {
	caller
	// SessionKey names the session. "" is the session "default".
	SessionKey string `json:"session_key"`
	// Now is the time of the call. Default: the server's time.
	Now time.Time `json:"now"`
	// Private means that the session belongs to one person, so that MEMORY.md and USER.md may be
	// shown.
	Private bool `json:"private"`
}

// sourceCall has the parameters that name a session's source.
type sourceCall struct {
	// SessionFile, Channel and AgentID say where the conversation comes from. Later checkpoints
	// of the session name this source.
	SessionFile string `json:"session_file"`
	Channel     string `json:"channel"`
	AgentID     string `json:"agent_id"`
}

func (s *sourceCall) source() checkpoint.Source {
	return checkpoint.Source{File: s.SessionFile, Channel: s.Channel, Agent: s.AgentID}
}

func (s *sessionCall) lane() string { return "session " + s.key() }

// key returns the session's key. Without a key it returns the kernel's default key.
func (s *sessionCall) key() string { return orDefault(s.SessionKey) }

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

func (p *turnCall) ask(a *Asked) {
	p.sessionCall.ask(a)
	a.update(p.Updates)
}

func (p *boundaryCall) ask(a *Asked) {
	p.sessionCall.ask(a)
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
	if s, ok := args.(interface{ source() checkpoint.Source }); ok {
		out.Agent = s.source().Agent
	}
	out.Whole = out.Whole || m.reach == reachAll && len(out.Sessions) == 0
	return out
}
