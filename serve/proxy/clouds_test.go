package proxy_test

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/serve/proxy"
)

// echo is an upstream that remembers every request to the byte.
type echo struct {
	mu   sync.Mutex
	got  []string // method, path, query and body
	auth []string
}

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.got = append(e.got, r.Method+" "+r.URL.RequestURI()+"\n"+string(body))
	e.auth = append(e.auth, r.Header.Get("Authorization"))
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{"ok": true}`)
}

// TestPassesByteForByte sends what the proxy can't see whole, or may not change.
func TestPassesByteForByte(t *testing.T) {
	up := &echo{}
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, up)
	list := `[ {"role":"user", "content":"go on"} ]`
	anth := `{"max_tokens":100, "model":"claude-sonnet-4-6", "tools":[{"name":"Bash","input_schema":{"type":"object"}}],`
	cloud := `{"anthropic_version":"bedrock-2023-05-31", "max_tokens":100, "tools":[{"name":"Bash","input_schema":{"type":"object"}}],"messages":` + list + `}`
	const sigv4 = "AWS4-HMAC-SHA256 Credential=AKID/20261123/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=00ff"
	for _, tt := range []struct{ name, path, body, auth, reason string }{
		{"previous response", "/v1/responses", `{"model":"gpt-5", "previous_response_id":"resp_1", "input":` + list + `}`, "", "server_history"},
		{"previous response and a string", "/v1/responses", `{"model":"gpt-5", "previous_response_id":"resp_1", "input":"go  on"}`, "", "string_input"},
		{"conversation", "/v1/responses", `{"model":"gpt-5","conversation":{"id":"conv_1"}, "input":` + list + `}`, "", "server_history"},
		{"string", "/v1/responses", `{ "model":"gpt-5", "input":"go\u0020on" }`, "", "string_input"},
		{"new thread", "/v1/messages", anth + `"thread":{"type":"create"},"messages":` + list + `}`, "", "server_history"},
		{"thread", "/v1/messages?beta=true", anth + `"thread":{"type":"continue","previous_message_id":"msg_1"}, "messages":` + list + `}`, "", "server_history"},
		{"container", "/v1/messages", anth + `"container":"container_1", "messages":` + list + `}`, "", "server_history"},
		{"container with skills", "/v1/messages", anth + `"container":{ "id":"container_1","skills":[]}, "messages":` + list + `}`, "", "server_history"},
		{"Bedrock, signed", "/model/us.anthropic.claude-sonnet-4-6-v1:0/invoke", cloud, sigv4, "signed"},
		{"Bedrock, signed stream", "/model/us.anthropic.claude-sonnet-4-6-v1:0/invoke-with-response-stream", cloud, sigv4, "signed"},
		{"signed by query", "/v1/messages?X-Amz-Signature=00ff", small, "", "signed"},
		{"Bedrock, another's model", "/model/amazon.nova-pro-v1:0/invoke", `{"messages":` + list + `, "inferenceConfig":{}}`, "Bearer key", "unreadable"},
		{"Bedrock, Converse", "/model/us.anthropic.claude-sonnet-4-6-v1:0/converse", `{"messages":[{"role":"user","content":[{"text":"hi"}]}] }`, "Bearer key", ""},
		{"Vertex, Gemini", "/v1/projects/p/locations/l/publishers/google/models/gemini-3-flash:generateContent", `{"contents":[ {"role":"user","parts":[{"text":"hi"}]}]}`, "Bearer key", ""},
		{"Vertex, count", "/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict", `{"model":"claude-sonnet-4-6","messages":` + list + `}`, "Bearer key", ""},
		{"Vertex, Mistral", "/v1/projects/p/locations/l/publishers/mistralai/models/m:rawPredict", `{"model":"m","messages":` + list + `}`, "Bearer key", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			up.got, up.auth = nil, nil
			r := s.post(tt.path, tt.body, "Authorization", tt.auth, "X-Memkernel-Session", "s")
			if want := "POST " + tt.path + "\n" + tt.body; !slices.Equal(up.got, []string{want}) || up.auth[0] != tt.auth {
				t.Errorf("sent %q with %q, want %q", up.got, up.auth, want)
			}
			want := "passed; reason=" + tt.reason
			if tt.reason == "" {
				want = ""
			}
			if r.outcome() != want || r.body != `{"ok": true}` {
				t.Errorf("outcome %q, want %q: %s", r.outcome(), want, r.body)
			}
		})
	}
}

// clouds is Anthropic's API as Bedrock and Vertex have it, in front of a fake model.
func clouds(model http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body["model"] != nil || body["anthropic_version"] == nil {
			http.Error(w, "model: Extra inputs are not permitted", http.StatusBadRequest)
			return
		}
		delete(body, "anthropic_version")
		body["model"] = json.RawMessage(`"claude-sonnet-4-6"`)
		framed := strings.HasSuffix(r.URL.Path, "-stream")
		if framed || strings.HasSuffix(r.URL.Path, ":streamRawPredict") {
			body["stream"] = json.RawMessage("true")
		}
		data, err := json.Marshal(body)
		if err != nil {
			panic(err) // of raw messages that were read
		}
		inner := httptest.NewRequest(http.MethodPost, "/v1/messages", bytes.NewReader(data))
		rec := httptest.NewRecorder()
		model.ServeHTTP(rec, inner)
		if !framed || rec.Code != http.StatusOK {
			w.Header().Set("Content-Type", rec.Header().Get("Content-Type"))
			w.WriteHeader(rec.Code)
			w.Write(rec.Body.Bytes())
			return
		}
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		for line := range strings.Lines(rec.Body.String()) {
			if event, ok := strings.CutPrefix(strings.TrimSpace(line), "data:"); ok {
				w.Write(frame(strings.TrimSpace(event)))
			}
		}
	})
}

// frame is one message of an event stream, with a header and without checksums.
func frame(event string) []byte {
	header := append([]byte{byte(len(":event-type"))}, ":event-type\x07\x00\x05chunk"...)
	payload := fmt.Appendf(nil, `{"bytes":%q,"p":"abcd"}`, base64.StdEncoding.EncodeToString([]byte(event)))
	out := binary.BigEndian.AppendUint32(nil, uint32(12+len(header)+len(payload)+4))
	out = binary.BigEndian.AppendUint32(out, uint32(len(header)))
	out = append(append(append(out, 0, 0, 0, 0), header...), payload...)
	return append(out, 0, 0, 0, 0)
}

// TestClouds plans and observes the Messages API at Bedrock with a bearer key, and at Vertex.
func TestClouds(t *testing.T) {
	const id = "us.anthropic.claude-sonnet-4-6-v1:0"
	vertex := "/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-6@20260217:"
	for name, paths := range map[string][2]string{
		"bedrock": {"/model/" + id + "/invoke", "/model/" + id + "/invoke-with-response-stream"},
		"vertex":  {vertex + "rawPredict", vertex + "streamRawPredict"},
	} {
		t.Run(name, func(t *testing.T) {
			model := fakemodel.New(fakemodel.Options{Script: script})
			s := newStage(t, fakemodel.Options{}, proxy.Options{}, clouds(model))
			a := anthropic
			a.path, a.streams = paths[0], paths[1]
			a.head = strings.Replace(a.head, `"model":"claude-sonnet-4-6"`, `"anthropic_version":"x-2023"`, 1)
			s.turns(a, 12, "Authorization", "Bearer key", "X-Memkernel-Session", "s")
			st, _ := s.own(http.MethodGet, "/status")
			if st.Planned != 24 {
				t.Errorf("status: %+v", st)
			}
			if log := s.log.String(); strings.Count(log, "outcome=committed") != 12 || strings.Contains(log, "not observed") {
				t.Errorf("%d turns were committed: %s", strings.Count(log, "outcome=committed"), log)
			}
			for _, r := range model.Requests() {
				if r.Refused {
					t.Fatalf("refused: %+v", r)
				}
			}
		})
	}
}

// TestEventStreamBroken: what is no event stream is no whole answer, and passes.
func TestEventStreamBroken(t *testing.T) {
	whole := append(frame(`{"type":"message_start","message":{"usage":{"input_tokens":3}}}`), frame(`{"type":"message_stop"}`)...)
	for _, data := range [][]byte{nil, {0}, whole[:40], append([]byte{255, 255, 255, 255}, whole[4:]...), append(slices.Clone(whole[:4]), append([]byte{255, 255, 255, 255}, whole[8:]...)...), []byte(strings.Repeat("x", 300))} {
		s := newStage(t, fakemodel.Options{}, proxy.Options{}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
			w.Write(data)
		}))
		got := s.post("/model/anthropic.claude-sonnet-4-6/invoke-with-response-stream", `{"anthropic_version":"x","max_tokens":100,"system":"s","messages":[{"role":"user","content":"hi"}],"tools":[]}`, "X-Memkernel-Session", "s")
		s.settle()
		if got.body != string(data) || got.status != http.StatusOK || strings.Contains(s.log.String(), "committed") {
			t.Errorf("status %d, %q: %s", got.status, got.body, s.log)
		}
	}
}

// TestWebSocket upgrades a connection through the proxy and sends frames both ways.
func TestWebSocket(t *testing.T) {
	sent := make(chan string, 1)
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, err := httputil.DumpRequest(r, false)
		if err != nil {
			t.Error(err)
		}
		sent <- string(d)
		c, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		fmt.Fprintf(rw, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]))
		rw.Flush()
		for { // each text frame comes back as it was, unmasked
			head := make([]byte, 6)
			if _, err := io.ReadFull(rw, head); err != nil || head[0] == 0x88 {
				return
			}
			text := make([]byte, head[1]&0x7f)
			if _, err := io.ReadFull(rw, text); err != nil {
				return
			}
			for i := range text {
				text[i] ^= head[2+i%4]
			}
			rw.Write(append([]byte{0x81, byte(len(text))}, text...))
			rw.Flush()
		}
	}))
	c, err := net.Dial("tcp", s.front.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET /v1/realtime?model=gpt-5 HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer key\r\nX-Memkernel-Session: s\r\n\r\n", s.front.Listener.Addr())
	r := bufio.NewReader(c)
	res, err := http.ReadResponse(r, nil)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols || res.Header.Get("Sec-WebSocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" {
		t.Fatalf("%v, %v", res, err)
	}
	dump := <-sent
	if !strings.HasPrefix(dump, "GET /v1/realtime?model=gpt-5 ") || !strings.Contains(dump, "Authorization: Bearer key\r\n") || strings.Contains(dump, "Memkernel") {
		t.Errorf("the upstream got %s", dump)
	}
	for _, text := range []string{`{"type":"response.create"}`, "second"} {
		mask := []byte{1, 2, 3, 4}
		masked := []byte(text)
		for i := range masked {
			masked[i] ^= mask[i%4]
		}
		c.Write(slices.Concat([]byte{0x81, 0x80 | byte(len(text))}, mask, masked))
		back := make([]byte, 2+len(text))
		if _, err := io.ReadFull(r, back); err != nil || string(back[2:]) != text {
			t.Fatalf("%q, %v", back, err)
		}
	}
	c.Write([]byte{0x88, 0x80, 0, 0, 0, 0})
	if _, err := r.ReadByte(); err != io.EOF {
		t.Errorf("the end of the connection does not reach the client: %v", err)
	}
	if st, _ := s.own(http.MethodGet, "/status"); len(st.Passed) != 1 || st.Passed[0].Reason != "path" {
		t.Errorf("status: %+v", st.Passed)
	}
}

// TestResponsesOverWebSocket: who tries a WebSocket for responses is told at once to ask by POST.
func TestResponsesOverWebSocket(t *testing.T) {
	up := answering(responsesOK)
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, up)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.front.URL+"/v1/responses", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if st := s.proxy.Status(); res.StatusCode != http.StatusUpgradeRequired || !strings.Contains(string(text), "by POST") || st.Planned+len(st.Passed)+st.Refused != 0 || len(up.bodies) != 0 {
		t.Errorf("status %d, %q, %+v", res.StatusCode, text, st)
	}
}
