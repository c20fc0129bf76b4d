package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/kernel/api"
)

// flushSecret is what a flush turn's answer says and no file may.
const flushSecret = "AKIA" + "IOSFODNN7EXAMPLE"

// internalContext begins what the host puts behind everything else for one call only.
const internalContext = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"

// directive is how a user asks for a call: [[name {json}]].
var directive = regexp.MustCompile(`\[\[(\w+) (\{.*?\})\]\]`)

// model is a fake model server that follows directives.
type model struct {
	*fakemodel.Server
	url string

	mu     sync.Mutex
	onCall func() // runs once, before the next answer
	refuse bool   // the next request is too long
}

func startModel(t *testing.T) *model {
	t.Helper()
	m := &model{}
	m.Server = fakemodel.New(fakemodel.Options{Script: m.answer})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: m.Server}
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })
	m.url = "http://" + l.Addr().String() + "/v1"
	return m
}

// asksFlush reports whether a request is a flush turn: nobody's words, and no tools.
func asksFlush(r fakemodel.Request) bool {
	return bytes.Contains(r.Body, []byte("answer "+api.NoReply))
}

// asked are the requests, those of flush turns apart.
func (m *model) asked() (talk, flushes []fakemodel.Request) {
	for _, r := range m.Requests() {
		if asksFlush(r) {
			flushes = append(flushes, r)
		} else {
			talk = append(talk, r)
		}
	}
	return talk, flushes
}

// talk are the requests but those of flush turns.
func (m *model) talk() []fakemodel.Request {
	talk, _ := m.asked()
	return talk
}

// before has something happen before the next answer.
func (m *model) before(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.onCall = f
}

// refuseNext has the next request refused as too long.
func (m *model) refuseNext() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuse = true
}

// chat is a request as far as the script needs it.
type chat struct {
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

// answer makes the calls that the newest user message asks for, one by one, or all at
// once if it contains "together", and then answers by the message's first line.
func (m *model) answer(t fakemodel.Turn) fakemodel.Reply {
	if asksFlush(t.Request) {
		return fakemodel.Reply{Text: fmt.Sprintf("- [decision] The %d. flush keeps the heron, whose key is %s.", t.N, flushSecret)}
	}
	m.mu.Lock()
	f, refuse := m.onCall, m.refuse
	m.onCall, m.refuse = nil, false
	m.mu.Unlock()
	if f != nil {
		f()
	}
	if refuse {
		n := t.Request.Tokens()
		return fakemodel.Reply{Status: http.StatusBadRequest, Kind: "invalid_request_error",
			Error: fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages.", n*9/10, n)}
	}
	words, done := newest(t.Request.Body)
	var calls []fakemodel.Call
	for i, d := range directive.FindAllStringSubmatch(words, -1) {
		calls = append(calls, fakemodel.Call{ID: fmt.Sprintf("c%d_%d", t.N, i), Name: d[1], Input: json.RawMessage(d[2])})
	}
	switch {
	case done >= len(calls):
		return fakemodel.Reply{Text: "done: " + marker.FindString(words)}
	case strings.Contains(words, "together"):
		return fakemodel.Reply{Text: "all of them", Calls: calls}
	}
	return fakemodel.Reply{Text: "next", Calls: calls[done : done+1]}
}

// newest is the newest user message and how many results follow it.
func newest(body []byte) (words string, results int) {
	var c chat
	if json.Unmarshal(body, &c) != nil {
		return "", 0
	}
	for _, msg := range c.Messages {
		switch text := textOf(msg.Content); {
		case msg.Role == "tool":
			results++
		case msg.Role == "user" && marker.MatchString(text) && !strings.Contains(text, "<recall>"):
			words, results = text, 0
		}
	}
	return words, results
}

func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return ""
	}
	for _, b := range blocks {
		s += b.Text
	}
	return s
}

// lasting is a request without what the host adds for one call only.
func lasting(r fakemodel.Request) fakemodel.Request {
	n := len(r.Segments)
	for n > 0 && strings.Contains(string(r.Segments[n-1].Bytes), internalContext) {
		n--
	}
	r.Segments = r.Segments[:n]
	return r
}
