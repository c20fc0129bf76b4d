package serve

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/kernel"
)

// piped is a server with a client of its own.
func piped(t *testing.T, opt *Options, extra map[string]method) (*Server, *client) {
	t.Helper()
	k, err := kernel.Open(context.Background(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := New(k, opt)
	for name, m := range extra {
		s.methods[name] = m
	}
	ours, theirs := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.ServeStream(theirs, theirs)
	}()
	t.Cleanup(func() {
		ours.Close()
		s.Stop(context.Background())
		<-done
		k.Close()
	})
	return s, clientOf(t, ours)
}

// waiting is a method that waits for the test, or for the end of the call.
func waiting(entered chan<- string, leave <-chan struct{}) method {
	return define("wait", needRead, reachSession, "", func(c *call, p *sessionCall) (*map[string]string, error) {
		entered <- p.SessionKey
		select {
		case <-leave:
			return &map[string]string{"session": p.SessionKey}, nil
		case <-c.ctx.Done():
			return nil, c.ctx.Err()
		}
	})
}

// TestOrder: calls of a session wait for each other, those of others do not.
func TestOrder(t *testing.T) {
	entered, leave := make(chan string), make(chan struct{})
	_, c := piped(t, nil, map[string]method{"wait": waiting(entered, leave)})
	for i, session := range []string{"a", "a", "b"} {
		c.send(`{"jsonrpc":"2.0","id":%d,"method":"wait","params":{"session_key":%q}}`, i, session)
	}
	if first, second := <-entered, <-entered; first+second != "ab" && first+second != "ba" {
		t.Errorf("%s and %s run side by side", first, second)
	}
	select {
	case s := <-entered:
		t.Errorf("another call of %s began", s)
	default:
	}
	go func() {
		leave <- struct{}{}
		leave <- struct{}{}
	}()
	c.receive()
	c.receive()
	if s := <-entered; s != "a" {
		t.Errorf("then %s", s)
	}
	close(leave)
	if r := c.receive(); r.ID != float64(1) || r.Error != nil {
		t.Errorf("got %+v", r)
	}
}

// TestCancelAndDeadline: both are answered at once, also for a call that waits, and
// say whether it had begun.
func TestCancelAndDeadline(t *testing.T) {
	entered, leave := make(chan string, 9), make(chan struct{})
	_, c := piped(t, nil, map[string]method{"wait": waiting(entered, leave)})
	c.send(`{"jsonrpc":"2.0","id":"running","method":"wait"}`)
	<-entered
	c.send(`{"jsonrpc":"2.0","id":"queued","method":"wait"}`)
	c.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"queued"}}`)
	if r := c.receive(); r.ID != "queued" || r.Error.Code != codes["CANCELLED"] || r.Error.Data.Started {
		t.Errorf("got %+v %+v", r, r.Error)
	}
	c.send(`{"jsonrpc":"2.0","id":"late","method":"wait","params":{"deadline_ms":1}}`)
	if r := c.receive(); r.ID != "late" || r.Error.Code != codes["DEADLINE"] || r.Error.Data.Started {
		t.Errorf("got %+v %+v", r, r.Error)
	}
	c.send(`{"jsonrpc":"2.0","id":"running","method":"restore"}`)
	if r := c.receive(); r.Error == nil || r.Error.Data.Code != "ID_IN_USE" {
		t.Errorf("got %+v", r)
	}
	c.send(`{"jsonrpc":"2.0","id":1,"method":"$/cancelRequest","params":{"id":"running"}}`)
	got := map[any]reply{}
	for range 2 {
		r := c.receive()
		got[r.ID] = r
	}
	if r := got["running"]; r.Error == nil || r.Error.Code != codes["CANCELLED"] || !r.Error.Data.Started {
		t.Errorf("got %+v", r)
	}
	if r := got[float64(1)]; r.Error != nil {
		t.Errorf("got %+v", r)
	}
	for _, bad := range []string{`{}`, `{"id":1,"x":2}`, `[]`} {
		c.send(`{"jsonrpc":"2.0","id":5,"method":"$/cancelRequest","params":%s}`, bad)
		if r := c.receive(); r.Error == nil || r.Error.Code != codes["INVALID_PARAMS"] {
			t.Errorf("%s: got %+v", bad, r)
		}
	}
}

// TestBounds: a call too many is refused, a line too long passed over, and both leave
// the connection as it was.
func TestBounds(t *testing.T) {
	entered, leave := make(chan string, 9), make(chan struct{})
	_, c := piped(t, &Options{InFlight: 2, LineBytes: 70_000}, map[string]method{"wait": waiting(entered, leave)})
	for i := range 2 {
		c.send(`{"jsonrpc":"2.0","id":%d,"method":"wait","params":{"session_key":"%d"}}`, i, i)
		<-entered
	}
	c.send(`{"jsonrpc":"2.0","id":2,"method":"restore"}`)
	if r := c.receive(); r.ID != float64(2) || r.Error == nil || r.Error.Code != codes["BUSY"] {
		t.Errorf("got %+v", r)
	}
	close(leave)
	c.receive()
	c.receive()
	for _, n := range []int{70_000, 200_000} {
		go fmt.Fprintf(c.nc, `{"jsonrpc":"2.0","id":3,"method":"restore","params":{"session_key":"%s"}}`+"\n", strings.Repeat("x", n))
		if r := c.receive(); r.ID != nil || r.Error == nil || r.Error.Code != codes["LINE_TOO_LONG"] {
			t.Errorf("got %+v", r)
		}
	}
	if r := c.call("restore", `{"session_key":"`+strings.Repeat("x", 65_000)+`"}`); r.Error == nil || r.Error.Data.Code != "NO_SESSION" || len(r.Error.Message) > 1000 {
		t.Errorf("got %+v", r)
	}
}

// TestStopCommits: calls that were taken are carried out, further ones refused.
func TestStopCommits(t *testing.T) {
	entered, leave := make(chan string, 9), make(chan struct{})
	s, c := piped(t, nil, map[string]method{"wait": waiting(entered, leave)})
	c.send(`{"jsonrpc":"2.0","id":1,"method":"wait","params":{"session_key":"a"}}`)
	<-entered
	params := strings.Replace(turn("a", 1), `"private":true,`, "", 1)
	c.send(`{"jsonrpc":"2.0","id":2,"method":"observe_turn","params":%s}`, params)
	c.send(`{"jsonrpc":"2.0","id":3,"method":"wait","params":{"session_key":"sign"}}`)
	<-entered // so the one before was taken
	stopped := make(chan error, 1)
	go func() { stopped <- s.Stop(context.Background()) }()
	for !s.ending() {
		runtime.Gosched()
	}
	c.send(`{"jsonrpc":"2.0","id":4,"method":"restore"}`)
	if r := c.receive(); r.Error == nil || r.Error.Code != codes["STOPPING"] {
		t.Errorf("got %+v", r)
	}
	close(leave)
	outcomes := map[any]any{}
	for range 3 {
		r := c.receive()
		outcomes[r.ID] = r.Result["outcome"]
	}
	if outcomes[float64(2)] != "committed" {
		t.Errorf("got %v", outcomes)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestHeldConversationsAreBounded: what does not fit is given up, and said so.
func TestHeldConversationsAreBounded(t *testing.T) {
	s, c := piped(t, &Options{HeldBytes: 1000}, nil)
	base := map[int]string{}
	say := func(i int, conversation string) reply {
		return c.call("observe_tool_result", fmt.Sprintf(`{"session_key":"%d","conversation":%s}`, i, conversation))
	}
	for i := range 5 {
		r := say(i, fmt.Sprintf(`{"dialect":"openai","messages":[{"role":"user","content":%q}]}`, strings.Repeat("x", 400)))
		base[i] = r.Result["conversation"].(map[string]any)["base"].(string)
	}
	if r := say(0, fmt.Sprintf(`{"base":%q,"messages":[]}`, base[0])); r.Error == nil || r.Error.Code != codes["BASE_UNKNOWN"] {
		t.Errorf("the oldest is held: %+v", r)
	}
	if r := say(4, fmt.Sprintf(`{"base":%q,"messages":[]}`, base[4])); r.Error != nil {
		t.Errorf("the newest is not held: %+v", r.Error)
	}
	sum := int64(0)
	for _, h := range s.desk.held.byKey {
		sum += h.bytes
	}
	if s.desk.held.bytes > 1000 || s.desk.held.bytes != sum {
		t.Errorf("%d bytes, %d in %d conversations", s.desk.held.bytes, sum, len(s.desk.held.byKey))
	}
	for _, bad := range []string{`{"dialect":"openai","keep":1,"messages":[]}`, `{"dialect":"openai","messages":[],"keys":["a"]}`, `{"messages":[{"role":"user","content":"x"}]}`} {
		if r := say(9, bad); r.Error == nil || r.Error.Code != codes["INVALID_PARAMS"] {
			t.Errorf("%s: %+v", bad, r)
		}
	}
}

// TestProgress: notifications come before the answer and name the call.
func TestProgress(t *testing.T) {
	_, c := piped(t, nil, nil)
	c.send(`{"jsonrpc":"2.0","id":"r","method":"reindex","params":{"progress":true}}`)
	for {
		r := c.receive()
		if r.ID == "r" {
			break
		}
		if r.Method != "$/progress" {
			t.Errorf("got %+v", r)
		}
	}
}

// TestTools reach the set of the call's session.
func TestTools(t *testing.T) {
	_, c := piped(t, nil, nil)
	for format, has := range map[string]string{"": "inputSchema:", "mcp": "inputSchema:", "anthropic": "input_schema:"} {
		if r := c.call("tools.list", `{"format":"`+format+`"}`); !strings.Contains(fmt.Sprint(r.Result["tools"]), has) {
			t.Errorf("%q: got %+v", format, r)
		}
	}
	r := c.call("tools.call", `{"session_key":"s","private":true,"name":"memory_append","arguments":{"text":"The ferry leaves at ten."}}`)
	if got := fmt.Sprint(r.Result["content"]); !strings.Contains(got, "reason:OK") {
		t.Errorf("got %s", got)
	}
	if r := c.call("tools.call", `{"name":"none"}`); r.Error == nil || r.Error.Code != codes["INVALID_PARAMS"] {
		t.Errorf("got %+v", r)
	}
}

// TestEndedSessionIsLetGo: nothing of it is held, and it can be taken up again.
func TestEndedSessionIsLetGo(t *testing.T) {
	s, c := piped(t, nil, nil)
	r := c.call("observe_turn", turn("e", 1))
	base := r.Result["conversation"].(map[string]any)["base"]
	if r := c.call("end_session", `{"session_key":"e"}`); r.Error != nil || r.Result["conversation"] != nil {
		t.Fatalf("got %+v", r)
	}
	if len(s.desk.held.byKey) > 0 || s.desk.held.bytes != 0 {
		t.Errorf("%d conversations of %d bytes are held", len(s.desk.held.byKey), s.desk.held.bytes)
	}
	if r := c.call("observe_turn", fmt.Sprintf(`{"session_key":"e","conversation":{"base":%q,"messages":[]}}`, base)); r.Error == nil || r.Error.Code != codes["BASE_UNKNOWN"] {
		t.Errorf("got %+v", r)
	}
	if r := c.call("observe_turn", turn("e", 1)); r.Result["outcome"] != "duplicate" {
		t.Errorf("got %+v", r)
	}
}

// TestRequired: without what the clients' types say a call needs nothing comes of it.
func TestRequired(t *testing.T) {
	_, c := piped(t, nil, nil)
	for _, m := range Methods() {
		needs := false
		for k := range m.Params.NumField() {
			needs = needs || m.Params.Field(k).Tag.Get("rpc") == "required"
		}
		if !needs {
			continue
		}
		if got := c.call(m.Name, "{}"); got.Error == nil && (got.Result["reason"] == nil || got.Result["reason"] == "OK") {
			t.Errorf("%s was carried out without what it needs", m.Name)
		}
	}
}
