package proxy_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/proxy"
)

// A plan that hangs keeps nobody waiting: what the newest plan sent goes out with what is
// new, and so does what can't wait for its turn behind it. The next plan repeats it.
func TestDeadlineExtends(t *testing.T) {
	for name, a := range map[string]clientAPI{"anthropic": caching(anthropic), "openai": openai, "responses": responses} {
		s := newStage(t, fakemodel.Options{}, proxy.Options{ContextWindow: 14_000, Reserve: 7_000}, nil)
		msgs := s.turns(a, 10, "X-Memkernel-Session", "s") // and a cut
		first := s.proxy
		wait := make(chan struct{})
		goOn := sync.OnceFunc(func() { close(wait) })
		t.Cleanup(goOn)
		s.start(slow{s.k, wait}, proxy.Options{Deadline: 20 * time.Millisecond})
		msgs = append(msgs, a.user("and now?"))
		check := func(want string) {
			t.Helper()
			if r := s.post(a.path, a.body(msgs, false), "X-Memkernel-Session", "s"); r.outcome() != want {
				t.Errorf("%s: outcome %q, want %q", name, r.outcome(), want)
			}
		}
		check("passed; reason=deadline") // this proxy has sent no plan
		goOn()
		s.settle()
		proxy.Adopt(s.proxy, first)
		hang := make(chan struct{})
		over := sync.OnceFunc(func() { close(hang) })
		t.Cleanup(over)
		s.start(slow{s.k, hang}, proxy.Options{Deadline: 20 * time.Millisecond})
		proxy.Adopt(s.proxy, first)
		check("extended; reason=deadline; body=written")
		msgs = append(msgs, a.said("this"), a.user("and then?"))
		check("extended; reason=busy; body=written")
		seen := s.model.Requests()
		n := len(seen)
		if at := seen[n-1].Parts(seen[n-2]); at != "" {
			t.Errorf("%s: what was sent parts at %s", name, at)
		}
		if whole, sent := len(a.body(msgs, false)), len(seen[n-1].Body); sent > whole*3/4 {
			t.Errorf("%s: %d bytes of %d went out: the cut was lost", name, sent, whole)
		}
		over()
		s.settle()
	}
}

// patient is a planner that is late so many times, and keeps how long it was given.
type patient struct {
	*kernel.Kernel
	late  int
	given []time.Duration
}

func (p *patient) PlanContext(ctx context.Context, r api.PlanRequest) (*api.ContextPlan, error) {
	d, _ := ctx.Deadline()
	p.given = append(p.given, time.Until(d).Round(time.Hour))
	if p.late--; p.late >= 0 {
		return nil, context.DeadlineExceeded
	}
	return p.Kernel.PlanContext(ctx, r)
}

// A plan that is not ready in time gives the next one of its conversation longer, so that
// it is made at last.
func TestDeadlineGrows(t *testing.T) {
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, nil)
	p := &patient{Kernel: s.k, late: 4}
	s.start(p, proxy.Options{Deadline: 10 * time.Hour})
	for range 6 {
		s.post(anthropic.path, anthropic.body([]string{anthropic.user("hello")}, false))
		s.settle()
	}
	const h = time.Hour
	if want := []time.Duration{10 * h, 20 * h, 40 * h, 40 * h, 40 * h, 10 * h}; !slices.Equal(p.given, want) {
		t.Errorf("given %v, want %v", p.given, want)
	}
}

// What a client has counted is planned where it goes on from a conversation that was
// planned, and passes where it can't be recognised as one: files, definitions, prompts.
func TestCountsOfFragments(t *testing.T) {
	up := answering(`{"input_tokens":7}`)
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, up)
	if err := os.WriteFile(filepath.Join(s.dir, "MEMORY.md"), []byte("# Memory\n\n- The staging cluster is called heron.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, user := anthropic, anthropic.user("what is the staging cluster called?")
	const count = "/v1/messages/count_tokens"
	passes := func(path, body string, header ...string) {
		t.Helper()
		r := s.post(path, body, header...)
		if got, _ := up.last(); got != body || r.outcome() != "passed; reason=fragment" {
			t.Errorf("%s: outcome %q, the upstream got %q", body, r.outcome(), got)
		}
	}
	conversation := a.body([]string{user}, false)
	passes(count, conversation) // nobody knows that it is one
	up.answer = answering(anthropicOK).answer
	s.post(a.path, conversation).planned(t)
	s.post(a.path, conversation, "X-Memkernel-Session", "named").planned(t)
	s.settle()
	up.answer = answering(`{"input_tokens":7}`).answer
	for i, text := range []string{"# staging\n\nThe cluster is called heron.", "foo", "package main\n", "{\"a\":1}", "什么集群"} {
		passes(count, a.body([]string{a.user(text)}, false))
		passes(count, fmt.Sprintf(`{"model":"claude-sonnet-4-6","messages":[{"role":"user","content":%q}]}`, text))
		passes(count, fmt.Sprintf(`{"model":"claude-sonnet-4-6","tools":[{"name":"T%d","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"foo"}]}`, i))
		passes("/v1/responses/input_tokens", fmt.Sprintf(`{"model":"gpt-5","input":[{"role":"user","content":%q}]}`, text))
	}
	for _, body := range []string{conversation, a.body([]string{user, a.said("heron"), a.user("thanks")}, false),
		strings.Replace(conversation, `"system":"You are a tester.",`, "", 1)} { // clients leave out what they count by itself
		for _, header := range [][]string{nil, {"X-Memkernel-Session", "named"}} {
			s.post(count, body, header...).planned(t)
			if got, _ := up.last(); !strings.Contains(got, "called heron") {
				t.Errorf("what is counted is not what would be sent: %s", got)
			}
		}
	}
	passes(count, conversation, "X-Memkernel-Session", "another")
	passes(count, strings.Replace(conversation, "claude-sonnet-4-6", "claude-opus-4-6", 1))
	r := responses
	up.answer = answering(`{"id":"r","object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"heron"}]}]}`).answer
	s.post(r.path, r.body([]string{r.user("which cluster?")}, false)).planned(t)
	s.settle()
	s.post("/v1/responses/input_tokens", r.body([]string{r.user("which cluster?"), r.said("heron"), r.user("sure?")}, false)).planned(t)
	for _, path := range []string{"/v1beta/models/gemini-3-pro:batchGenerateContent", "/v1/embeddings", "/v1/messages/batches", "/v1/responses/compact"} {
		if r := s.post(path, conversation); r.outcome() != "" {
			t.Errorf("%s: outcome %q", path, r.outcome())
		}
	}
}

// A question that a program asks beside conversations, or without one, gets nothing of
// memory and leaves nothing behind, unless it is asked to be planned.
func TestOneShots(t *testing.T) {
	const session = `"metadata":{"user_id":"user_a_account__session_0a1b2c3d-0000-4000-8000-000000000000"},`
	model := `"model":"claude-sonnet-4-6","max_tokens":50,`
	ask := func(members, text string) string {
		return fmt.Sprintf(`{%s%s"messages":[{"role":"user","content":%q}]}`, model, members, text)
	}
	system, tools := `"system":"Answer briefly.",`, `"tools":[{"name":"Bash","input_schema":{"type":"object"}}],`
	for name, tt := range map[string]struct {
		body   string
		reason string // "" if it is planned
	}{
		"quota":                {ask("", "quota"), "one_shot"},
		"health":               {ask("", "ping"), "one_shot"},
		"title":                {ask(system+session, "Please write a 5-10 word title: fix the heron cluster"), "one_shot"},
		"topic":                {ask(session, "is this a new topic? heron"), "one_shot"},
		"check of one token":   {strings.Replace(ask("", "hi"), "50", "1", 1), "probe"},
		"with tools":           {ask(tools, "what of heron?"), ""},
		"of a chat":            {ask(system, "what of heron?"), ""},
		"of a user":            {ask(`"metadata":{"user_id":"kim"},`, "what of heron?"), ""},
		"of an agent":          {ask(system+tools+session, "what of heron?"), ""},
		"a chat's second turn": {fmt.Sprintf(`{%s"messages":[{"role":"user","content":"heron?"},{"role":"assistant","content":"yes"},{"role":"user","content":"and now?"}]}`, model), ""},
		"instructed inside":    {fmt.Sprintf(`{%s"messages":[{"role":"user","content":"heron?"},{"role":"system","content":"Be brief."}]}`, model), ""},
	} {
		for _, mode := range []string{"by itself", "by header"} {
			t.Run(name+" "+mode, func(t *testing.T) {
				up := answering(anthropicOK)
				s := newStage(t, fakemodel.Options{}, proxy.Options{}, up)
				if err := os.WriteFile(filepath.Join(s.dir, "MEMORY.md"), []byte("# Memory\n\n- The staging cluster is called heron.\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				var header []string
				if mode == "by header" {
					header = []string{"X-Memkernel-Session", "mine"}
				}
				r := s.post("/v1/messages", tt.body, header...)
				s.settle()
				got, _ := up.last()
				if tt.reason == "" || mode != "by itself" && tt.reason == "one_shot" {
					if r.planned(t); !strings.Contains(got, "is called heron") {
						t.Errorf("memory is missing: %s", got)
					}
					return
				}
				if got != tt.body || r.outcome() != "passed; reason="+tt.reason {
					t.Errorf("outcome %q, the upstream got %s", r.outcome(), got)
				}
				if _, err := os.Stat(filepath.Join(s.dir, ".memkernel", "sessions")); err == nil {
					t.Error("a session was begun")
				}
			})
		}
	}
}

// A system message that ends a request stays at its end, to the byte, with what the
// kernel adds before it; later it is in the middle, and the user's words before it
// are the turn's.
func TestSystemMessageEndsARequest(t *testing.T) {
	const note = `{"role":"system","content":"<env>\nPlatform: linux, caf\u00e9 \/ 你好\n</env>"}`
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, nil)
	if err := os.WriteFile(filepath.Join(s.dir, "MEMORY.md"), []byte("# Memory\n\n- The staging cluster is called heron.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	developer := openai
	developer.head = `"model":"gpt-5","tools":[{"type":"function","function":{"name":"Bash","parameters":{"type":"object"}}}],`
	for name, tt := range map[string]struct {
		api  clientAPI
		note string
	}{
		"anthropic": {anthropic, note}, "openai": {developer, strings.Replace(note, "system", "developer", 1)},
		"responses": {responses, strings.Replace(note, `{"role":"system"`, `{"type":"message","role":"developer"`, 1)},
	} {
		a := tt.api
		msgs := []string{a.user("what is the staging cluster called?"), tt.note}
		from := len(s.model.Requests())
		s.post(a.path, a.body(msgs, false), "X-Memkernel-Session", name).planned(t)
		s.settle()
		msgs = append(msgs, a.call("c1", "ls"), a.result("c1", "heron"))
		s.post(a.path, a.body(msgs, false), "X-Memkernel-Session", name).planned(t)
		s.settle()
		msgs = append(msgs, a.said("heron"), a.user("and again?"), tt.note)
		s.post(a.path, a.body(msgs, false), "X-Memkernel-Session", name).planned(t)
		s.settle()
		seen := s.model.Requests()[from:]
		for i, r := range seen {
			valid(t, name, a, a.body(msgs, false), r)
			text := tt.note[strings.Index(tt.note, "<env>"):strings.Index(tt.note, `"}`)]
			if n := strings.Count(string(r.Body), text); n != 1+i/2 {
				t.Errorf("%s, request %d: the system message stands %d times: %s", name, i, n, r.Body)
			}
			if end := strings.LastIndex(string(r.Body), text); i != 1 && strings.Contains(string(r.Body)[end:], `"user"`) {
				t.Errorf("%s, request %d: something follows the system message: %s", name, i, r.Body)
			}
			if !strings.Contains(string(r.Body), "is called heron") {
				t.Errorf("%s, request %d: memory is missing: %s", name, i, r.Body)
			}
			if i > 0 {
				if at := r.Parts(seen[i-1]); at != "" {
					t.Errorf("%s, request %d parts at %s", name, i, at)
				}
			}
		}
		st, err := s.k.Status(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range st.Sessions {
			if x.Key == name && x.Turns != 2 {
				t.Errorf("%s: %d turns were committed", name, x.Turns)
			}
		}
	}
}
