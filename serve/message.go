package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// protocol is the version of the protocol that doc/rpc.md describes. It rises with a change that
// an older client would misread.
const protocol = 1

// response answers a request.
type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// notification is a message that the server sends unasked.
type notification struct {
	JSONRPC string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

func answer(id string, result any, err *Error) *response {
	if id == "" {
		id = "null"
	}
	r := &response{JSONRPC: "2.0", ID: json.RawMessage(id), Error: err}
	if err == nil {
		r.Result = result
	}
	return r
}

// parsed is a call or, without an id, a notification.
type parsed struct {
	// id is the JSON of the id, "" for a notification.
	id     string
	method string
	params json.RawMessage
	// err is the error of an invalid message.
	err *Error
}

// parse parses a message. If it is invalid, its error is the answer to it.
func parse(text []byte) parsed {
	raw := bytes.TrimSpace(text)
	if !json.Valid(raw) {
		return parsed{id: "null", err: NewError("NOT_JSON", "the line is not a JSON value", "send one JSON-RPC message per line, in UTF-8, without line breaks in it")}
	}
	var members map[string]json.RawMessage
	if raw[0] != '{' || json.Unmarshal(raw, &members) != nil {
		return parsed{id: "null", err: invalid("the message is not an object")}
	}
	var p parsed
	if id, ok := members["id"]; ok {
		if p.id = strings.TrimSpace(string(id)); p.id != "null" && !strings.Contains(`"-0123456789`, p.id[:1]) {
			p.id = "null"
			p.err = invalid("the id is no string, number or null")
			return p
		}
	}
	var version string
	switch {
	case json.Unmarshal(members["jsonrpc"], &version) != nil || version != "2.0":
		p.err = invalid(`the member jsonrpc is not "2.0"`)
	case json.Unmarshal(members["method"], &p.method) != nil || p.method == "":
		p.err = invalid("the message names no method")
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch name {
		case "jsonrpc", "id", "method", "params":
		case "result", "error":
			p.err = invalid("the message is an answer, and the server asked nothing")
		default:
			p.err = invalid(fmt.Sprintf("a message has no member %q", name))
		}
	}
	p.params = members["params"]
	if p.err != nil && p.id == "" {
		p.id = "null" // an invalid request may not be a notification either
	}
	return p
}

// encode encodes a message on a line. The message is a response or a notification. A response that
// can't be encoded becomes an error.
func encode(v any) []byte {
	line, err := textutil.JSON(v)
	if r, ok := v.(*response); ok && err != nil {
		return encode(answer(string(r.ID), nil, NewError("INTERNAL", "the answer can't be written: "+err.Error(), "")))
	}
	return append(line, '\n')
}
