package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/sessions"
)

// past is a workspace with a folder of a host's transcripts.
type past struct {
	testing.TB
	dir, host string
	k         *kernel.Kernel
}

func openPast(t *testing.T, o kernel.PastOptions) *past {
	t.Helper()
	return pastIn(t, t.TempDir(), t.TempDir(), o)
}

func pastIn(t *testing.T, dir, host string, o kernel.PastOptions) *past {
	t.Helper()
	o.Enabled = true
	o.Sources = append(o.Sources, sessions.Source{Path: host})
	put(t, host, "notes.jsonl", line("user", "The heron nests behind the old mill."))
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Memory: kernel.MemoryOptions{Sessions: o, Store: markdownstore.Options{Timezone: time.UTC}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return &past{t, dir, host, k}
}

var sessionLines = 0

// line is a line of a Pi transcript, each with an id of its own.
func line(role, text string) string {
	sessionLines++
	return fmt.Sprintf(`{"type":"message","id":"n%d","parentId":"n%d","timestamp":"2026-10-0%dT10:00:00Z","message":{"role":%q,"content":[{"type":"text","text":%q}]}}`+"\n", sessionLines, sessionLines-1, 1+sessionLines%9, role, text)
}

func (p *past) talk(key, text string) {
	p.Helper()
	now := time.Date(2026, 10, 5, 9, 0, 0, 0, time.UTC)
	msgs := []memkernel.Message{{Key: "u1", Role: memkernel.RoleUser, Parts: []memkernel.Part{words(text)}, Time: now},
		{Key: "a1", Role: memkernel.RoleAssistant, Parts: []memkernel.Part{words("Noted, and thank you.")}, Time: now, Model: "claude-opus-4-5"},
		{Key: "u2", Role: memkernel.RoleUser, Parts: []memkernel.Part{words("Go on.")}, Time: now}}
	if _, err := p.k.PlanContext(context.Background(), api.PlanRequest{SessionKey: key, Model: "claude-opus-4-5", Messages: msgs, Now: now}); err != nil {
		p.Fatalf("%v", err)
	}
}

func (p *past) search(req api.SearchRequest) *retrieval.Result {
	p.Helper()
	if req.Now.IsZero() {
		req.Now = time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	}
	res, err := p.k.Search(context.Background(), req)
	if err != nil {
		p.Fatalf("%v", err)
	}
	return res
}

// finds tells in how many past sessions a question has hits.
func (p *past) finds(req api.SearchRequest, want int) *retrieval.Result {
	p.Helper()
	res := p.search(req)
	in := map[string]bool{}
	for _, h := range res.Hits {
		if strings.HasPrefix(h.Path, sessions.Prefix) {
			in[path.Dir(h.Path)] = true
		}
	}
	if len(in) != want {
		p.Errorf("%+v: hits in %v, want %d sessions: %s %s", req, in, want, res.Reason, res.Detail)
	}
	return res
}

func TestPastSessions(t *testing.T) {
	p := openPast(t, kernel.PastOptions{})
	put(t, p.dir, "memory/mill.md", "The old mill was sold.\n")
	p.talk("build", "The stork stands on the chimney of the brewery; the token is ghp_0123456789abcdefghijABCDEFGHIJ012345.")
	if r := reindex(t, p.k); r.Sessions.Conversations != 2 || len(r.Skipped) != 0 {
		t.Fatalf("%+v", r)
	}
	res := p.finds(api.SearchRequest{Query: "stork chimney", Private: true}, 1)
	h := res.Hits[0]
	if h.Source != api.SourceSessions || h.Date != "2026-10-05" || !strings.HasPrefix(h.Citation, "sessions/main/build/0001-2026-10-05.md#L") ||
		!strings.Contains(h.Snippet, "user: The stork") || strings.Contains(h.Snippet, "ghp_0") || h.Parts.Decay >= 1 {
		t.Errorf("%+v", h)
	}
	c, err := p.k.Read(context.Background(), api.ReadRequest{Path: h.Path, From: h.StartLine, Lines: h.EndLine - h.StartLine + 1, Private: true})
	if err != nil || !strings.Contains(c.Text, "user: The stork") {
		t.Errorf("%v %+v", err, c)
	}
	// Both sources, one of them, and the session itself.
	p.finds(api.SearchRequest{Query: "old mill", Private: true}, 1)
	p.finds(api.SearchRequest{Query: "old mill", Private: true, Source: api.SourceMemory}, 0)
	if res := p.finds(api.SearchRequest{Query: "old mill", Private: true, Source: api.SourceSessions}, 1); len(res.Hits) != 1 {
		t.Errorf("%+v", res.Hits)
	}
	p.finds(api.SearchRequest{Query: "stork chimney", Private: true, SessionKey: "build"}, 0)
	p.finds(api.SearchRequest{Query: "heron mill", Private: true, SessionKey: "notes"}, 0)
	if _, err := p.k.Search(context.Background(), api.SearchRequest{Query: "x", Source: "wiki"}); err == nil {
		t.Error("an unknown source is searched")
	}
}

// The summaries that a host's compactions wrote are found, in the kernel's own sessions and in
// transcripts, and marked as the agent's.
func TestPastSummaries(t *testing.T) {
	const opening = "This session is being continued from a previous conversation that ran out of context. Summary:\n"
	p := openPast(t, kernel.PastOptions{})
	put(t, p.host, "claude.jsonl", `{"type":"user","uuid":"a","sessionId":"claude","cwd":"/x","timestamp":"2026-10-03T10:00:00Z","isCompactSummary":true,"message":{"role":"user","content":"`+
		strings.TrimSpace(opening)+` The bittern's gate was repainted by Mira."}}`+"\n")
	now := time.Date(2026, 10, 5, 9, 0, 0, 0, time.UTC)
	msgs := []memkernel.Message{
		{Key: "s", Role: memkernel.RoleUser, Origin: memkernel.OriginSummary, Parts: []memkernel.Part{words(opening + "The curlew's bridge was closed by Otto.")}, Time: now},
		{Key: "u", Role: memkernel.RoleUser, Parts: []memkernel.Part{words("Go on.")}, Time: now}}
	if _, err := p.k.PlanContext(context.Background(), api.PlanRequest{SessionKey: "own", Model: "claude-opus-4-5", Messages: msgs, Now: now}); err != nil {
		t.Fatal(err)
	}
	reindex(t, p.k)
	for q, want := range map[string]string{"who repainted the bittern's gate": "Mira", "who closed the curlew's bridge": "Otto"} {
		res := p.finds(api.SearchRequest{Query: q, Private: true}, 1)
		if len(res.Hits) == 0 || !strings.Contains(res.Hits[0].Text, want) || !strings.HasPrefix(res.Hits[0].Origin, retrieval.WrittenBy) {
			t.Errorf("%s: %+v", q, res.Hits)
		}
		p.finds(api.SearchRequest{Query: q}, 0)
	}
}

// A session of one agent is not found by another, and none by a session that others
// read too.
func TestPastIsolation(t *testing.T) {
	p := openPast(t, kernel.PastOptions{})
	put(t, p.host, "agents/ops/sessions/night.jsonl", line("user", "The owl keeps the night watch at the harbour."))
	p.talk("agent:ops:day", "The gull keeps the day watch at the harbour.")
	p.talk("agent:ops_two:day", "The tern keeps the evening watch at the harbour.")
	reindex(t, p.k)
	ask := api.SearchRequest{Query: "watch at the harbour", Private: true}
	p.finds(ask, 0)
	ask.Agent = "ops"
	res := p.finds(ask, 2)
	ask.Agent = "ops_two"
	p.finds(ask, 1)
	ask.Agent, ask.SessionKey = "", "agent:ops:evening"
	p.finds(ask, 2)
	ask.Private = false
	p.finds(ask, 0)
	ask.Source = api.SourceSessions
	if res := p.finds(ask, 0); res.Reason != retrieval.Denied || !strings.Contains(res.Detail, "shared") {
		t.Errorf("%+v", res)
	}
	for _, req := range []api.ReadRequest{{Private: true}, {Private: true, Agent: "ops_two"}, {Agent: "ops"}, {SessionKey: "agent:ops:x"}} {
		req.Path = res.Hits[0].Path
		if _, err := p.k.Read(context.Background(), req); !errors.Is(err, markdownstore.ErrDenied) {
			t.Errorf("%+v: %v", req, err)
		}
	}
}

// A private session's prompt recalls what was said in others; a shared one's doesn't.
func TestPastInPrompts(t *testing.T) {
	p := openPast(t, kernel.PastOptions{})
	reindex(t, p.k)
	for _, private := range []bool{true, false} {
		c := newConversation(1)
		c.add(memkernel.RoleUser, words("Where does the heron nest?"))
		key := fmt.Sprint("asks-", private)
		plan := mustPlan(t, p.k, api.PlanRequest{SessionKey: key, Model: "claude-opus-4-5", Messages: c.msgs, Now: c.now, Private: private})
		if got := strings.Contains(fmt.Sprint(plan.Messages), "behind the old mill"); got != private {
			t.Errorf("private %v: recalled %v: %+v", private, got, plan.Retrieval)
		}
	}
	clean(t, p.k)
}

func TestPastOff(t *testing.T) {
	p := openPast(t, kernel.PastOptions{})
	reindex(t, p.k)
	off := asItIs(t, p.dir)
	q := &past{t, p.dir, p.host, off}
	q.finds(api.SearchRequest{Query: "heron mill", Private: true}, 0)
	if res := q.finds(api.SearchRequest{Query: "heron", Private: true, Source: api.SourceSessions}, 0); res.Reason != retrieval.Disabled {
		t.Errorf("%+v", res)
	}
	if r := reindex(t, off); r.Removed == 0 {
		t.Error("what was indexed stays indexed")
	}
}

// What was forgotten is not found from that moment on, by no process, and doesn't come
// back.
func TestPastForgotten(t *testing.T) {
	p := openPast(t, kernel.PastOptions{})
	p.talk("build", "The stork stands on the chimney of the brewery.")
	reindex(t, p.k)
	for i, key := range []string{"build", "notes"} {
		out, err := p.k.Forget(context.Background(), api.ForgetRequest{SessionKey: key, Session: true})
		if err != nil || out.Applied || len(out.Transcripts) != 1 {
			t.Fatalf("%v %+v", err, out)
		}
		p.finds(api.SearchRequest{Query: "stork heron", Private: true}, 2-i)
		if out, err = p.k.Forget(context.Background(), api.ForgetRequest{SessionKey: key, Session: true, Apply: true}); err != nil || len(out.Transcripts) != 1 || len(out.Elsewhere) != 0 {
			t.Fatalf("%v %+v", err, out)
		}
	}
	if st, err := p.k.Status(context.Background(), nil); err != nil || st.Memory.Index.Behind || st.Memory.Sessions.Forgotten != 2 {
		t.Errorf("the index still holds them: %v %+v", err, st.Memory)
	}
	data, err := os.ReadFile(filepath.Join(p.host, "notes.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, p.host, "notes.jsonl", string(data)+line("user", "The heron is still there."))
	put(t, p.host, "copy.jsonl", string(data))
	reindex(t, p.k)
	p.finds(api.SearchRequest{Query: "stork heron", Private: true}, 0)
	if _, err := p.k.Forget(context.Background(), api.ForgetRequest{SessionKey: "nobody", Session: true, Apply: true}); err == nil {
		t.Error("a session that nobody knows was forgotten")
	}
}

// A page that is forgotten goes from past sessions too, wherever the same was said.
func TestPastPageForgotten(t *testing.T) {
	p := openPast(t, kernel.PastOptions{})
	const text = "The stork stands on the chimney of the brewery."
	p.talk("build", text)
	put(t, p.host, "twin.jsonl", line("user", text)+line("assistant", "The stork is white, as storks are."))
	reindex(t, p.k)
	p.finds(api.SearchRequest{Query: "stork chimney brewery", Private: true}, 2)
	out, err := p.k.Forget(context.Background(), api.ForgetRequest{SessionKey: "build", Session: false, IDs: []string{pageSaying(t, p.k, "build", text)}, Apply: true})
	if err != nil || len(out.Pages) != 1 {
		t.Fatalf("%v %+v", err, out)
	}
	for range 2 {
		for _, h := range p.finds(api.SearchRequest{Query: "stork chimney brewery", Private: true}, 1).Hits {
			if strings.Contains(h.Text, "brewery") {
				t.Errorf("%+v", h)
			}
		}
		reindex(t, p.k)
	}
}

// pageSaying finds the page that says something.
func pageSaying(t *testing.T, k *kernel.Kernel, session, text string) string {
	t.Helper()
	for part := range 3 {
		for _, m := range []string{"u1", "a1", "u2"} {
			id := kernel.ConversationPage("", m, part)
			if c, err := k.Get(context.Background(), session, id); err == nil && strings.Contains(c.Text, text) {
				return id
			}
		}
	}
	t.Fatal("no page says it")
	return ""
}

func TestSessionKeyOf(t *testing.T) {
	for _, key := range []string{"build", "agent:main:t1", "agent:ops_two:telegram:group:12_3", "agent_x", "a/b"} {
		folder := kernel.SafeKey(key)
		got, err := kernel.SessionKeyOf(folder)
		if want := key; err != nil || strings.HasPrefix(key, "agent:") && got != want || !strings.HasPrefix(key, "agent:") && got != folder {
			t.Errorf("%s in %s: %q, %v", key, folder, got, err)
		}
	}
	if _, err := kernel.SessionKeyOf(kernel.SafeKey("agent:main:" + strings.Repeat("long", 40))); err == nil {
		t.Error("a key that was cut is known again")
	}
}

// A kill while a session is forgotten leaves it forgotten once that was promised.
func TestPastForgetKilled(t *testing.T) {
	suite.EveryWrite(t, "TestPastForgetChild", 20, func(dir string, n int, out []byte) {
		if !strings.Contains(string(out), "indexed") {
			return
		}
		p := pastIn(t, filepath.Join(dir, "work"), filepath.Join(dir, "host"), kernel.PastOptions{})
		tombs, _ := os.ReadFile(filepath.Join(dir, "work", kernel.DefaultStateDir, "transcripts", "forgotten.json"))
		want := 1
		if strings.Contains(string(tombs), "notes") {
			want = 0
		} else if strings.Contains(string(out), "forgotten") {
			t.Errorf("write %d: forgotten without a tombstone", n)
		}
		p.finds(api.SearchRequest{Query: "heron mill", Private: true}, want)
		reindex(t, p.k)
		p.finds(api.SearchRequest{Query: "heron mill", Private: true}, want)
		p.k.Close()
	})
}

func TestPastForgetChild(t *testing.T) {
	dir := suite.Child(t)
	if err := os.MkdirAll(filepath.Join(dir, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := pastIn(t, filepath.Join(dir, "work"), filepath.Join(dir, "host"), kernel.PastOptions{})
	p.talk("notes", "The stork stands on the chimney of the brewery.")
	reindex(t, p.k)
	os.Stdout.WriteString("indexed\n")
	if _, err := p.k.Forget(context.Background(), api.ForgetRequest{SessionKey: "notes", Session: true, Apply: true}); err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString("forgotten\n")
}
