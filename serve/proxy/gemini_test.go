package proxy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/serve/proxy"
)

// bills keeps what a proxy was billed.
type bills struct {
	mu  sync.Mutex
	all []proxy.Billed
}

func (b *bills) take(one proxy.Billed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, one)
}

// Parallel calls of one function, with ids and without, keep their results in order through
// cuts; what the model thought stays with its call, byte for byte; and the server, which
// takes nothing that the API would not, refuses nothing.
func TestGeminiParallelCalls(t *testing.T) {
	for name, id := range map[string]string{"with ids": `"id":"c%d",`, "without": ""} {
		t.Run(name, func(t *testing.T) {
			b := &bills{}
			s := newStage(t, fakemodel.Options{Script: script, Window: 24_000}, proxy.Options{ContextWindow: 24_000, Billed: b.take}, nil)
			with := func(n int) string {
				if id == "" {
					return ""
				}
				return fmt.Sprintf(id, n)
			}
			var msgs []string
			for i := range 24 {
				msgs = append(msgs, gemini.user(fmt.Sprintf("look at both of %d", i)))
				s.post(gemini.at(i%2 == 0), gemini.body(msgs, false)).planned(t)
				msgs = append(msgs, fmt.Sprintf(`{"role":"model","parts":[{"text":"both","thought":true},{"functionCall":{%s"name":"Bash","args":{"command":"cat a"}},"thoughtSignature":"QUFB%d"},{"functionCall":{%s"name":"Bash","args":{"command":"cat a"}}}]}`, with(2*i), i, with(2*i+1)),
					fmt.Sprintf(`{"role":"user","parts":[{"functionResponse":{%s"name":"Bash","response":{"output":%q}}},{"functionResponse":{%s"name":"Bash","response":{"lines":%q}}}]}`, with(2*i), big(fmt.Sprintf("p%d", i), 500), with(2*i+1), big(fmt.Sprintf("q%d", i), 500)))
				s.post(gemini.at(i%3 == 0), gemini.body(msgs, false)).planned(t)
				msgs = append(msgs, gemini.said(fmt.Sprintf("step %d is done", i)))
			}
			s.settle()
			seen := s.model.Requests()
			last := string(seen[len(seen)-1].Body)
			for i, r := range seen {
				if err := r.Pairs(); r.Refused || err != nil {
					t.Fatalf("request %d: refused %v, %v", i, r.Refused, err)
				}
			}
			if !strings.Contains(s.log.String(), "cut=high_water") {
				t.Error("nothing was cut")
			}
			if strings.Contains(last, "gemini-call-") || !strings.Contains(last, msgs[len(msgs)-3]) || strings.Contains(last, "p0/file010") {
				t.Errorf("the last request holds an id of ours, or not the last call with its bytes, or what left")
			}
			if len(b.all) != len(seen) {
				t.Fatalf("%d calls were billed of %d", len(b.all), len(seen))
			}
			read := 0
			for i, one := range b.all {
				if want := seen[i].Usage; one.Model != "gemini-3-flash" || one.Usage.InputTotal() != want.Input() || one.Usage.CacheReadTokens != want.Read || one.Usage.OutputTokens != want.Output {
					t.Fatalf("call %d: billed %+v for %s, want %+v", i, one.Usage, one.Model, want)
				}
				read += one.Usage.CacheReadTokens
			}
			if read == 0 {
				t.Error("nothing was read from the cache")
			}
		})
	}
}

// An answer is read as an object, as a list of pieces and as a stream of events; one that
// breaks off commits nothing.
func TestGeminiAnswers(t *testing.T) {
	pieces := []string{
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true}]},"index":0}],"usageMetadata":{"promptTokenCount":50,"totalTokenCount":50}}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"the heron "}]},"index":0}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"cluster"}]},"index":0}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"","thoughtSignature":"QQ=="}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":50,"cachedContentTokenCount":30,"candidatesTokenCount":4,"thoughtsTokenCount":3,"totalTokenCount":57}}`,
	}
	whole := `{"candidates":[{"content":{"role":"model","parts":[{"text":"the heron cluster"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":50,"cachedContentTokenCount":30,"candidatesTokenCount":4,"thoughtsTokenCount":3}}`
	sse := "data: " + strings.Join(pieces, "\r\n\r\ndata: ") + "\r\n\r\n"
	want := memkernel.Usage{InputTokens: 20, CacheReadTokens: 30, OutputTokens: 7}
	for name, tt := range map[string]struct {
		path, kind, body string
		observed         bool
	}{
		"object":            {gemini.path, "application/json", whole, true},
		"list":              {"/v1beta/models/gemini-3-flash:streamGenerateContent", "application/json; charset=UTF-8", "[" + strings.Join(pieces, "\n,\r\n") + "\n]", true},
		"events":            {gemini.streams, "text/event-stream", sse, true},
		"list broken off":   {"/v1beta/models/gemini-3-flash:streamGenerateContent", "application/json", "[" + strings.Join(pieces[:3], ","), false},
		"events broken off": {gemini.streams, "text/event-stream", "data: " + strings.Join(pieces[:3], "\n\ndata: ") + "\n\n", false},
		"blocked":           {gemini.path, "application/json", `{"promptFeedback":{"blockReason":"SAFETY"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := &bills{}
			up := &recorder{answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tt.kind)
				w.Write([]byte(tt.body))
			}}
			s := newStage(t, fakemodel.Options{}, proxy.Options{Billed: b.take}, up)
			r := s.post(tt.path, gemini.body([]string{gemini.user("which one?")}, false))
			if r.planned(t); r.body != tt.body {
				t.Errorf("the client got %q", r.body)
			}
			s.settle()
			if got := strings.Contains(s.log.String(), "outcome=committed"); got != tt.observed {
				t.Errorf("observed %v: %s", got, s.log)
			}
			if tt.observed && (len(b.all) != 1 || b.all[0].Usage != want) {
				t.Errorf("billed %+v", b.all)
			}
			if up.uris[0] != tt.path {
				t.Errorf("went to %s", up.uris[0])
			}
		})
	}
}

// What has a meaning that can't be seen passes with the client's bytes.
func TestGeminiDoubt(t *testing.T) {
	const ok = `{"candidates":[{"content":{"role":"model","parts":[{"text":"done"}]},"finishReason":"STOP"}]}`
	up := answering(ok)
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, up)
	user := `{"role":"user","parts":[{"text":"hi"}]}`
	tools := `"tools":[{"functionDeclarations":[{"name":"Bash"}]}],`
	for name, tt := range map[string]struct{ body, reason string }{
		"cached content":   {`{` + tools + `"cachedContent":"cachedContents/x","contents":[` + user + `]}`, "server_history"},
		"cached, snake":    {`{` + tools + `"cached_content":"cachedContents/x","contents":[` + user + `]}`, "server_history"},
		"both spellings":   {`{` + tools + `"systemInstruction":{"parts":[{"text":"a"}]},"system_instruction":{"parts":[{"text":"b"}]},"contents":[` + user + `]}`, "unreadable"},
		"candidates":       {`{` + tools + `"generationConfig":{"candidateCount":2},"contents":[` + user + `]}`, "many_choices"},
		"probe":            {`{` + tools + `"generationConfig":{"maxOutputTokens":1},"contents":[` + user + `]}`, "probe"},
		"data, no tools":   {`{"generationConfig":{"responseMimeType":"application/json"},"contents":[` + user + `]}`, "side_call"},
		"question":         {`{"contents":[` + user + `]}`, "one_shot"},
		"unknown part":     {`{` + tools + `"contents":[{"role":"user","parts":[{"hologram":{}}]}]}`, "unknown_block"},
		"two in one part":  {`{` + tools + `"contents":[{"role":"user","parts":[{"text":"a","fileData":{"fileUri":"u"}}]}]}`, "unknown_block"},
		"unknown role":     {`{` + tools + `"contents":[{"role":"wizard","parts":[{"text":"a"}]}]}`, "unknown_block"},
		"answer in pieces": {`{` + tools + `"contents":[` + user + `,{"role":"model","parts":[{"functionCall":{"name":"Bash","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"Bash","response":{},"willContinue":true}}]}]}`, "unknown_block"},
		"medium of none":   {`{` + tools + `"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png"}}]}]}`, "unknown_block"},
		"prefill":          {`{` + tools + `"contents":[` + user + `,{"role":"model","parts":[{"text":"{"}]}]}`, "prefill"},
		"nothing":          {`{` + tools + `"contents":[]}`, "unreadable"},
		"no parts":         {`{` + tools + `"contents":[{"role":"user","text":"hi"}]}`, "unreadable"},
		"a text":           {`{"contents":"hi"}`, "unreadable"},
		"wrapped":          {`{"model":"gemini-3-flash","project":"p","request":{"contents":[` + user + `]}}`, "unreadable"},
		"no JSON":          {`{"contents": hello`, "unreadable"},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.post(gemini.path, tt.body)
			if got, _ := up.last(); got != tt.body || r.body != ok {
				t.Errorf("the upstream got %q, the client %q", got, r.body)
			}
			if r.outcome() != "passed; reason="+tt.reason {
				t.Errorf("outcome %q", r.outcome())
			}
		})
	}
}

// Parts that the provider makes, media, texts of nothing and two contents of one role in a
// row go out as the client wrote them, and an unchanged request byte for byte.
func TestGeminiKeepsBytes(t *testing.T) {
	up := answering(`{"candidates":[{"content":{"role":"model","parts":[{"text":"done"}]},"finishReason":"STOP"}]}`)
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, up)
	msgs := []string{
		`{"role":"user","parts":[{"text":"<session_context> today </session_context>"}]}`,
		`{ "parts":[{"text":"what is on it?"},{"inline_data":{"mime_type":"image/png","data":"iVBORw0KGgo="}},{"fileData":{"fileUri":"files/1","mimeType":"video/mp4"},"videoMetadata":{"fps":1}}],"role":"user"}`,
		`{"role":"model","parts":[{"text":"let me see","thought":true,"thoughtSignature":"Qg=="},{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}},{"text":"\u0061 heron"},{"text":"","thoughtSignature":"Qw=="}]}`,
		`{"role":"user","parts":[{"text":"and now?"}]}`,
	}
	for n := range 2 {
		body := gemini.body(msgs[:2*n+2], false)
		s.post(gemini.path, body).planned(t)
		s.settle()
		if got, _ := up.last(); got != body {
			t.Errorf("the upstream got %s", got)
		}
	}
}

// A count is of what would be sent; the wrapped form passes.
func TestGeminiCount(t *testing.T) {
	s := newStage(t, fakemodel.Options{Script: script}, proxy.Options{ContextWindow: 20_000}, nil)
	msgs := append(s.turns(gemini, 20), gemini.user("and now?"))
	const path = "/v1beta/models/gemini-3-flash:countTokens"
	r := s.post(path, fmt.Sprintf(`{"contents":[%s]}`, strings.Join(msgs, ",")))
	r.planned(t)
	var n struct{ TotalTokens int }
	if err := json.Unmarshal([]byte(r.body), &n); err != nil || n.TotalTokens == 0 || n.TotalTokens > len(gemini.body(msgs, false))/4*3/4 {
		t.Errorf("%v: %s", err, r.body)
	}
	for _, path := range []string{path, "/v1beta/models/gemini-3-pro:countTokens"} {
		if r := s.post(path, `{"contents":[`+gemini.user("of another")+`]}`); r.outcome() != "passed; reason=fragment" {
			t.Errorf("outcome %q", r.outcome())
		}
	}
}

// A request that is refused as too long is planned below the limit.
func TestGeminiOverflow(t *testing.T) {
	s := newStage(t, fakemodel.Options{Script: script, Window: 12_000}, proxy.Options{ContextWindow: 200_000}, nil)
	var msgs []string
	for i := range 12 {
		msgs = append(msgs, gemini.user(fmt.Sprintf("step %d", i)), gemini.call("x", "cat"), gemini.result("", big(fmt.Sprintf("p%d", i), 1500)), gemini.said("ok"))
	}
	r := s.post(gemini.at(true), gemini.body(append(msgs, gemini.user("and now?")), true))
	s.settle()
	seen := s.model.Requests()
	if r.status != 200 || len(seen) != 2 || !seen[0].Refused || seen[1].Refused || !strings.Contains(r.outcome(), "planned; cut=forced") {
		t.Fatalf("status %d, outcome %q, %d requests\n%s", r.status, r.outcome(), len(seen), s.log)
	}
}
