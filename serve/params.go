package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel/checkpoint"
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
	if length > MaxText {
		return errTooMuchText(MaxText)
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

// sourceCall has the common parameters of the calls of a session that name its source.
type sourceCall struct {
	sessionCall
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
