package fakemodel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// segment is one piece of a request, in the order in which a model reads it.
type segment struct {
	// Where names the place of the segment: "tools[0]", "system[1]", "messages[4].content[0]".
	Where string
	// Bytes are the sent bytes, without a cache_control member.
	Bytes []byte
	// Marked reports whether the segment has a cache_control. Hour reports whether the
	// cache_control sets a lifetime of an hour.
	Marked, Hour bool
	// Call is the id of the tool call in the segment. Result is the id of the tool call whose
	// result the segment holds.
	Call, Result string
	// thought is the signature of reasoning.
	thought string
	// role and text are the only parts that a script sees.
	role, text string
	// extra is the number of tokens of the definitions that a search found. They are not in Bytes.
	// found are the names of these definitions.
	extra int
	found []string
	// offers are the tools that a client's own search found. Later calls may use them.
	offers []string
}

func (s segment) tokens() int { return (len(s.Bytes)+3)/4 + s.extra }

// Request is a request for an answer.
type Request struct {
	N        int
	At       time.Time
	Path     string
	Header   http.Header
	Body     []byte
	Model    string
	Stream   bool
	Segments []segment
	Refused  bool
	// Unbound reports whether the request was refused because the prefix of its reasoning had
	// changed.
	Unbound bool
	// Removed are the reasoning items that were withheld from the model. They are in no segment.
	Removed []removal
	Usage   Usage

	tools []string
	defs  []toolDef
	found []string // tools that searches found
	api   api
	// thought is the signature of the answer's reasoning, "" if the answer has no reasoning.
	thought string
}

// Tokens returns the size of the input.
func (r Request) Tokens() int { return tokensOf(r.Segments, len(r.Segments)) }

// Parts returns the place at which r no longer repeats before, an earlier request: the place of the
// first segment of before that r does not have at the same position with the same bytes. Parts
// returns "" if r begins with all segments of before.
func (r Request) Parts(before Request) string {
	for i, s := range before.Segments {
		if i >= len(r.Segments) || !bytes.Equal(s.Bytes, r.Segments[i].Bytes) {
			return s.Where
		}
	}
	return ""
}

// Pairs returns an error unless each tool call has exactly one result after it, and each result has
// a call before it. Providers refuse other requests.
func (r Request) Pairs() error {
	open := map[string]string{}
	for _, s := range r.Segments {
		if s.Call != "" {
			if _, twice := open[s.Call]; twice {
				return fmt.Errorf("%s: call %s stands twice without a result between", s.Where, s.Call)
			}
			open[s.Call] = s.Where
		}
		if s.Result != "" {
			if _, ok := open[s.Result]; !ok {
				return fmt.Errorf("%s: result of %s without its call", s.Where, s.Result)
			}
			delete(open, s.Result)
		}
	}
	for id, where := range open {
		return fmt.Errorf("%s: call %s has no result", where, id)
	}
	return nil
}

func (r Request) turn(n int) Turn {
	t := Turn{N: n, Model: r.Model, Tools: r.tools, Request: r}
	for i := len(r.Segments) - 1; i >= 0; i-- {
		switch s := r.Segments[i]; {
		case s.Result != "":
			t.Results = append([]string{s.text}, t.Results...)
		case s.role == "user":
			t.User = strings.TrimSuffix(s.text+"\n"+t.User, "\n")
		default:
			return t
		}
	}
	return t
}

// read reads the body of a request.
func read(a api, body []byte) (Request, error) {
	var head struct {
		Model    string            `json:"model"`
		Stream   bool              `json:"stream"`
		Tools    []json.RawMessage `json:"tools"`
		Messages []json.RawMessage `json:"messages"`
		Input    []json.RawMessage `json:"input"`
		Contents []json.RawMessage `json:"contents"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return Request{}, fmt.Errorf("the body is no request: %w", err)
	}
	if a == (responses{}) {
		head.Messages = head.Input
	}
	g, isGemini := a.(gemini)
	if isGemini {
		head.Messages, head.Tools, head.Stream = head.Contents, g.functions(head.Tools), g.streams
	}
	if len(head.Messages) == 0 {
		return Request{}, fmt.Errorf("messages: at least one message is required")
	}
	r := Request{Body: body, Model: head.Model, Stream: head.Stream, api: a}
	if isGemini {
		r.Model = g.model
	}
	r.defs = readDefs(head.Tools)
	for _, t := range head.Tools {
		if a == (responses{}) {
			r.tools = append(r.tools, responsesToolNames(t)...)
		} else {
			r.tools = append(r.tools, toolName(t))
		}
	}
	r.Segments = toolSegments(r.defs)
	more, err := a.segments(body, head.Messages)
	for i := range more {
		r.tools = append(r.tools, more[i].offers...)
	}
	r.Segments = append(r.Segments, more...)
	r.expand()
	if err == nil && a == (anthropic{}) {
		if rule := r.breaksRule(); rule != "" {
			err = errors.New(rule)
		}
	}
	return r, err
}

func toolName(raw json.RawMessage) string {
	var t struct {
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if json.Unmarshal(raw, &t) != nil {
		return ""
	}
	return t.Name + t.Function.Name
}

// segmentOf returns raw without its marker. It keeps the order of members, so that a test notices a
// client that reorders them.
func segmentOf(where string, raw json.RawMessage) segment {
	var members struct {
		CacheControl json.RawMessage `json:"cache_control"`
	}
	s := segment{Where: where, Bytes: compact(raw)}
	if json.Unmarshal(raw, &members) == nil && members.CacheControl != nil {
		s.Marked, s.Bytes = true, without(raw, "cache_control")
		s.Hour = bytes.Contains(members.CacheControl, []byte(`"1h"`))
	}
	return s
}

func compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// without returns a JSON object in compact form, without the named member.
func without(raw json.RawMessage, name string) []byte {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.Token() // the brace: raw is an object that was parsed before
	b := []byte{'{'}
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return raw
		}
		if key == name {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		k, _ := json.Marshal(key)
		b = append(append(append(b, k...), ':'), compact(value)...)
	}
	return append(b, '}')
}
