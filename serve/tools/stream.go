package tools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
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
)

// stream is the connection to a client. Every line is a message. Any other line gets an error as
// its answer, because the SDK would end the connection. At the end of the input the stream waits
// for the answers, so that a client which writes its calls and closes its end gets all of them.
type stream struct {
	sdk.Connection
	from io.Reader

	mu     sync.Mutex // guards the fields below and writing
	to     io.Writer
	open   int // calls without an answer
	silent *sync.Cond
}

// Connect implements sdk.Transport.
func (s *stream) Connect(ctx context.Context) (_ sdk.Connection, err error) {
	in, pipe := io.Pipe()
	go func() { pipe.CloseWithError(s.pass(pipe)) }()
	s.Connection, err = (&sdk.IOTransport{Reader: in, Writer: output{s}, MaxLineLength: -1}).Connect(ctx)
	return s, err
}

// Write implements sdk.Connection.
func (s *stream) Write(ctx context.Context, m jsonrpc.Message) error {
	err := s.Connection.Write(ctx, m)
	if _, ok := m.(*jsonrpc.Response); ok {
		s.count(-1)
	}
	return err
}

// Close implements sdk.Connection. It does not close the output, which belongs to the caller.
func (s *stream) Close() error {
	err := s.Connection.Close()
	if c, ok := s.from.(io.Closer); ok {
		err = c.Close() // a read that waits returns
	}
	s.abandon()
	return err
}

// count adds n to the number of calls without an answer.
func (s *stream) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open += n
	s.silent.Broadcast()
}

// abandon ends the wait for answers.
func (s *stream) abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = 0
	s.silent.Broadcast()
}

// pass passes on all messages of the input.
func (s *stream) pass(to io.Writer) error {
	in := bufio.NewReaderSize(s.from, 64<<10)
	for {
		var line []byte
		size, err := jsonl.NextLine(in, maxLine, func(part []byte) { line = append(line, part...) })
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
		m, bad := jsonrpc.DecodeMessage(line)
		var f struct{ Result, Error json.RawMessage }
		_ = json.Unmarshal(line, &f)
		switch {
		case size > maxLine:
			s.refuse(jsonrpc.CodeInvalidRequest, "the line is longer than 16 MiB: it was skipped")
		case len(line) == 0:
		case !json.Valid(line):
			s.refuse(jsonrpc.CodeParseError, "the line is no JSON: one JSON-RPC message a line is expected, in UTF-8")
		case bad != nil && f.Result == nil && f.Error == nil: // both ends would refuse each other's answers for ever
			s.refuse(jsonrpc.CodeInvalidRequest, bad.Error())
		case bad == nil:
			if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && r.Method != "subscriptions/listen" { // which is open until the client leaves
				s.count(1)
			}
			if _, err := to.Write(append(line, '\n')); err != nil {
				return err // the connection is closed
			}
		}
		if err == io.EOF {
			late := time.AfterFunc(hangupGrace, s.abandon)
			defer late.Stop()
			s.mu.Lock()
			defer s.mu.Unlock()
			for s.open > 0 {
				s.silent.Wait()
			}
		}
		if err != nil {
			return err
		}
	}
}

// refuse answers a line that is no message.
func (s *stream) refuse(code int64, why string) {
	text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": jsonrpc.Error{Code: code, Message: why}}) // plain data
	_, _ = output{s}.Write(append(text, '\n'))                                                                             // the SDK's next write meets the same error
}

// output writes frames one by one.
type output struct{ *stream }

func (o output) Write(frame []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.to.Write(frame)
}

func (output) Close() error { return nil }
