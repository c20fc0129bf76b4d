package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memkernel/memkernel/internal/jsonl"
)

const (
	// maxLine is the longest line that is read as a message.
	maxLine = 16 << 20 // 16 MiB
	// hangupGrace is how long calls may run after the client has closed its end.
	hangupGrace = 30 * time.Second
	// largestID is the largest number that the SDK returns unchanged as the id of an answer.
	largestID = 1 << 53
)

// stream is the connection to a client: every line is a message. Any other line gets an error as its
// answer, and the next line is read.
type stream struct {
	from     io.Reader
	messages chan jsonrpc.Message // closed at the end of the input
	err      error                // why the input ended, nil at its end; set before messages is closed
	closed   chan struct{}
	close    func() error

	mu     sync.Mutex // guards the fields below and writing
	to     io.Writer
	calls  map[jsonrpc.ID]bool // calls without an answer
	silent chan struct{}       // closed once no call is without an answer, nil if nothing waits
}

// refusal is the answer to a message that is no request.
type refusal struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   *jsonrpc.Error  `json:"error"`
}

func newStream(r io.Reader, w io.Writer) *stream {
	s := &stream{from: r, to: w, messages: make(chan jsonrpc.Message), closed: make(chan struct{}), calls: map[jsonrpc.ID]bool{}}
	s.close = sync.OnceValue(func() error {
		close(s.closed)
		if c, ok := r.(io.Closer); ok {
			return c.Close() // a read that waits returns
		}
		return nil
	})
	return s
}

// Connect implements sdk.Transport.
func (s *stream) Connect(context.Context) (sdk.Connection, error) {
	go s.read()
	return s, nil
}

// SessionID implements sdk.Connection. A stream is one session without a name.
func (s *stream) SessionID() string { return "" }

// Close implements sdk.Connection. It does not close the output, which belongs to the caller.
func (s *stream) Close() error { return s.close() }

// Read implements sdk.Connection.
func (s *stream) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-s.messages:
		switch {
		case ok:
			return m, nil
		case s.err != nil:
			return nil, s.err
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.closed:
	}
	return nil, io.EOF
}

// Write implements sdk.Connection.
func (s *stream) Write(_ context.Context, m jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.write(text)
	if r, ok := m.(*jsonrpc.Response); ok {
		delete(s.calls, r.ID)
		if len(s.calls) == 0 && s.silent != nil {
			close(s.silent)
			s.silent = nil
		}
	}
	return err
}

// write writes a line. The caller must hold mu.
func (s *stream) write(text []byte) error {
	_, err := s.to.Write(append(text, '\n'))
	return err
}

// read passes on all messages of the input. At its end it waits for the answers, so that a
// client which writes its calls and closes its end gets all of them.
func (s *stream) read() {
	defer close(s.messages)
	in := bufio.NewReaderSize(s.from, 64<<10)
	for {
		var line []byte
		size, err := jsonl.NextLine(in, maxLine, func(part []byte) { line = append(line, part...) })
		if size > maxLine {
			s.refuse(invalid("the line is longer than 16 MiB: it was skipped", nil))
		} else {
			s.line(line)
		}
		if err == io.EOF {
			s.settle()
			return
		}
		if err != nil {
			s.err = err
			return
		}
	}
}

// settle returns when every call has its answer, or after hangupGrace.
func (s *stream) settle() {
	s.mu.Lock()
	if len(s.calls) == 0 {
		s.mu.Unlock()
		return
	}
	silent := make(chan struct{})
	s.silent = silent
	s.mu.Unlock()
	late := time.NewTimer(hangupGrace)
	defer late.Stop()
	select {
	case <-silent:
	case <-s.closed:
	case <-late.C:
	}
}

// line passes on the messages of a line. Several values in one line are several messages.
func (s *stream) line(text []byte) {
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var value json.RawMessage
		if err := d.Decode(&value); err == io.EOF {
			return
		} else if err != nil {
			no := invalid("the line is no JSON: one JSON-RPC message a line is expected, in UTF-8", nil)
			no.Error.Code = jsonrpc.CodeParseError
			s.refuse(no)
			return
		}
		m, no := s.message(value)
		s.pass(m)
		s.refuse(no)
	}
}

// pass hands a message to the SDK. nil is none.
func (s *stream) pass(m jsonrpc.Message) {
	if m == nil {
		return
	}
	select {
	case s.messages <- m:
	case <-s.closed:
	}
}

// refuse writes a refusal. nil is none.
func (s *stream) refuse(no *refusal) {
	if no == nil {
		return
	}
	text, _ := json.Marshal(no) // plain data
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.write(text) // the SDK's next write meets the same error
}

// invalid returns the answer to a message that is not a request. id is nil if the message has no
// id that can be returned.
func invalid(why string, id json.RawMessage) *refusal {
	return &refusal{"2.0", id, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: why}}
}

// message reads one message, and counts it if it is a call. It returns a refusal in place of a
// message for which the SDK would end the connection or give no answer. It drops an answer to an
// unknown request. If both ends refused such answers, they would never stop.
func (s *stream) message(raw json.RawMessage) (jsonrpc.Message, *refusal) {
	var f map[string]json.RawMessage
	if raw[0] != '{' || json.Unmarshal(raw, &f) != nil {
		return nil, invalid("the message is no object", nil)
	}
	id, given := f["id"]
	known := validID(id)
	var version, method string
	_ = json.Unmarshal(f["jsonrpc"], &version)
	named := json.Unmarshal(f["method"], &method) == nil && method != ""
	_, result := f["result"]
	_, failed := f["error"]
	m, err := jsonrpc.DecodeMessage(raw)
	switch {
	case !named && (result || failed):
		if err != nil {
			return nil, nil
		}
		return m, nil
	case given && !known && !(string(id) == "null" && strings.HasPrefix(method, "notifications/")):
		return nil, invalid("the id has to be a string or an integer below 2^53", nil)
	case version != "2.0":
		return nil, invalid(`the member jsonrpc has to be "2.0"`, id)
	case !named:
		return nil, invalid("the message names no method", id)
	case err != nil:
		return nil, invalid(err.Error(), id)
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && method != "subscriptions/listen" { // which is open until the client leaves
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.calls[r.ID] {
			return nil, invalid("the id is that of a call without an answer yet", nil) // whose answer this one must not seem
		}
		s.calls[r.ID] = true
	}
	return m, nil
}

// validID reports whether the SDK returns an id unchanged in its answer.
func validID(raw json.RawMessage) bool {
	var v any
	_ = json.Unmarshal(raw, &v) // an id that is missing is none
	switch v := v.(type) {
	case string:
		return true
	case float64:
		return v == math.Trunc(v) && math.Abs(v) < largestID
	}
	return false
}
