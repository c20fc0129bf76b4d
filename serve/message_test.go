package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/memkernel/memkernel/kernel/api"
)

// TestStreamGoesOn: what is no message, or longer than one may be, is answered in its place, and
// the stream goes on with the next line.
func TestStreamGoesOn(t *testing.T) {
	_, c := piped(t, &Options{LineBytes: 5 << 20}, nil)
	long := `{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":["` + strings.Repeat("x", 5<<20) + `"]}}}`
	wrong := `{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[1 2],"dialect":"pi"}}}`
	for _, x := range []struct{ line, code string }{
		{`{"jsonrpc":"2.0","id":1,"method":"search","params":{"query":"` + strings.Repeat("x", maxText) + `"}}`, "LINE_TOO_LONG"},
		{`{"jsonrpc":"2.0","id":1,"method":"search","params":{"query":"` + strings.Repeat("x", api.MaxQuestion+1) + `"}}`, "QUERY_TOO_LONG"},
		{`{"jsonrpc":"2.0","id":1,"method":"pages","params":{"session_key":"` + strings.Repeat("x", mostSmall) + `"}}`, "LINE_TOO_LONG"},
		{`{"jsonrpc":"2.0","id":1,"params":{"method":"plan","session_key":"` + strings.Repeat("x", mostSmall) + `"},"method":"pages"}`, "LINE_TOO_LONG"},
		{`{"jsonrpc":"2.0","id":1,"params":{"session_key":"` + strings.Repeat("x", mostSmall) + `","method":"pages"},"method":"remember"}`, "INVALID_PARAMS"},
		{`{"jsonrpc":"2.0","id":1,"method":"remember","params":{"text":"` + strings.Repeat("x", maxText) + `"}}`, "LINE_TOO_LONG"},
		{`{"jsonrpc":"2.0","id":1,"method":"remember","params":{"text":` + strings.Repeat("[", 11_000), "NOT_JSON"},
		{`{"jsonrpc":"2.0","id":1,"method" : "\u0070ages" ,"params":{"session_key":"` + strings.Repeat("x", mostSmall) + `"}}`, "LINE_TOO_LONG"},
		{wrong, "NOT_JSON"}, {long, "LINE_TOO_LONG"}, {strings.Replace(long, `["`, `[1 2,"`, 1), "LINE_TOO_LONG"}, {"]", "NOT_JSON"}, {"{", "NOT_JSON"}, {`"`, "NOT_JSON"},
		{`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":["`, "NOT_JSON"},
		{`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[7],"dialect":"anthropic"}}}`, "INVALID_PARAMS"},
		{"\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"no.such"}`, "UNKNOWN_METHOD"},
	} {
		c.send("%s\n \t \n\n{\"jsonrpc\":\"2.0\",\"id\":\"next\",\"method\":\"pages\"}", x.line)
		got := map[any]reply{}
		for range 2 {
			r := c.receive()
			got[r.ID] = r
		}
		if r := got["next"]; r.Error != nil || r.ID == nil {
			t.Errorf("%.80s: then %+v", x.line, got)
		}
		delete(got, "next")
		for r := range maps.Values(got) {
			if r.Error == nil || r.Error.Data.Code != x.code {
				t.Errorf("%.80s: %+v", x.line, r)
			}
		}
	}
}

// TestHeldOnce: messages that are handed in again are those that are held, and the new copies
// are let go of before anything is planned.
func TestHeldOnce(t *testing.T) {
	s := newShelf(1 << 20)
	key := heldKey{session: "s"}
	hand := func(n int) (*conversation, *held) {
		c := &conversation{Dialect: "anthropic"}
		for i := range n {
			c.Messages = append(c.Messages, json.RawMessage(fmt.Sprintf(`{"role":"user","content":"%d"}`, i)))
		}
		h, err := s.receive(key, c)
		if err != nil {
			t.Fatal(err)
		}
		return c, h
	}
	_, h := hand(3)
	first := slices.Clone(h.intake.Values())
	s.put(h)
	c, h := hand(4)
	if c.Messages != nil {
		t.Error("the call holds what it handed in")
	}
	for i, v := range first {
		if got := h.intake.Values()[i]; unsafe.StringData(got) != unsafe.StringData(v) {
			t.Errorf("message %d is held anew", i)
		}
	}
}

// TestAnswerThatIsNone: what can't be written is an error in its place.
func TestAnswerThatIsNone(t *testing.T) {
	bad := &planned{Items: []item{{Message: `{"a":1} x`}}}
	body := &planned{Body: json.RawMessage(`{`)}
	for i, r := range []any{bad, body, make(chan int), &mark{"b", 1}} {
		var got struct {
			ID    int
			Error *Error
		}
		b := encode(answer(strconv.Itoa(i), r, nil))
		if err := json.Unmarshal(b, &got); err != nil || got.ID != i || (got.Error == nil) != (i == 3) || got.Error != nil && got.Error.Data.Code != "INTERNAL" {
			t.Errorf("%v: %s", err, b)
		}
	}
}

// slowReader is the other end of a connection, as slow as it likes.
type slowReader struct {
	net.Conn
	got bytes.Buffer
	// patience is how often more time was given, writes how often something came.
	patience, writes int
	largest          int
	dead             bool
	closed           bool
}

func (s *slowReader) SetWriteDeadline(time.Time) error {
	s.patience++
	return nil
}

func (s *slowReader) Write(p []byte) (int, error) {
	if s.dead {
		return 0, os.ErrDeadlineExceeded
	}
	s.writes++
	s.largest = max(s.largest, len(p))
	return s.got.Write(p)
}

func (s *slowReader) Close() error {
	s.closed = true
	return nil
}

// TestSlowReader: who reads a large answer slowly is given the time again for each piece, and
// one that has stopped reading is let go of.
func TestSlowReader(t *testing.T) {
	large := `{"a":"` + strings.Repeat("x", 1<<20) + `"}`
	p := &planned{Body: json.RawMessage(large), Items: []item{{Message: verbatim(large)}}}
	r := &slowReader{}
	c := newConn(New(nil, nil), strings.NewReader(""), r)
	c.write(answer("1", p, nil))
	if r.largest > writePiece || r.writes < 2<<20/writePiece || r.patience < r.writes || r.closed || !json.Valid(r.got.Bytes()) || bytes.Count(r.got.Bytes(), []byte("\n")) != 1 {
		t.Errorf("%d writes of up to %d bytes, time for %d, closed %v", r.writes, r.largest, r.patience, r.closed)
	}
	r.dead = true
	c.write(answer("2", p, nil))
	if !r.closed || !c.failed {
		t.Error("who reads no more is waited for")
	}
}
