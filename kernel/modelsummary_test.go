package kernel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/summary"
	notemodel "github.com/memkernel/memkernel/summary/model"
)

// noteServer is a fake model server on loopback, in the shape of either API.
type noteServer struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
}

func (s *noteServer) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.bodies...)
}

// say answers with a text in the shape that was asked in.
func (s *noteServer) say(w http.ResponseWriter, r *http.Request, text string) {
	raw, _ := json.Marshal(text)
	if strings.HasSuffix(r.URL.Path, "/messages") {
		fmt.Fprintf(w, `{"content":[{"type":"text","text":%s}],"stop_reason":"end_turn"}`, raw)
		return
	}
	fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%s},"finish_reason":"stop"}]}`, raw)
}

type noteAnswer func(w http.ResponseWriter, r *http.Request, s *noteServer)

func serveNotes(t *testing.T, answer noteAnswer) *noteServer {
	t.Helper()
	s := &noteServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.bodies = append(s.bodies, string(body))
		s.mu.Unlock()
		answer(w, r, s)
	}))
	t.Cleanup(s.Close)
	return s
}

func says(text string) noteAnswer {
	return func(w http.ResponseWriter, r *http.Request, s *noteServer) { s.say(w, r, text) }
}

// askedModel asks the server in the shape of provider, and waits that long for it.
func askedModel(t *testing.T, s *noteServer, provider string, timeout time.Duration) summary.Model {
	t.Helper()
	m, err := notemodel.FromConfig(notemodel.Config{Provider: provider, BaseURL: s.URL, Model: "small", Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// clock is what the kernel takes for now, beside the turns' own times.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }
func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)} }

// openNoted opens a kernel that asks m about every turn, and waits for it when it
// is closed.
func openNoted(t fataler, dir string, m summary.Model, c *clock) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Now: c.Now,
		Summary: api.SummaryOptions{Model: m, Tokens: 1, Timeout: time.Minute, CloseWait: 2 * time.Minute}})
	if err != nil {
		t.Fatalf("open kernel: %v", err)
	}
	return k
}

// observeNoted observes what was said so far in a kernel of its own, and waits for
// the model.
func observeNoted(t fataler, dir string, m summary.Model, c *clock, msgs []memkernel.Message) {
	t.Helper()
	k := openNoted(t, dir, m, c)
	observe(t, k, api.Turn{Messages: msgs, Now: c.Now()})
	if err := k.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

func statusOf(t fataler, dir string) *api.Status {
	t.Helper()
	k := openKernel(t, dir)
	defer k.Close()
	st, err := k.Status(context.Background(), nil)
	if err != nil {
		t.Fatalf("status: %v", err)
	}
	return st
}

// ruled is a session with a rule, a decision and enough behind them to be cut; its
// last turn has ended.
func ruled(seed int64) *conversation {
	c := newConversation(seed)
	c.add(memkernel.RoleUser, words("Fix the retry in pkg/queue please. Never push to main."))
	c.add(memkernel.RoleAssistant, words("Shall I use a backoff table?"))
	c.add(memkernel.RoleUser, words("yes"))
	for range 6 {
		c.loop(2, 4_500)
	}
	c.say()
	return c
}

// longer is a conversation with so much more behind it that a cut is due.
func longer(c *conversation) *conversation {
	after := *c
	after.rng = rand.New(rand.NewSource(99))
	after.msgs = append([]memkernel.Message(nil), c.msgs...)
	for range 4 {
		after.user()
		after.loop(2, 4_500)
		after.loop(2, 4_500)
		after.say()
	}
	after.user()
	return &after
}

// cutText is the summary in the carry block after a cut, planned by a kernel
// without a model.
func cutText(t *testing.T, dir string, c *conversation) string {
	t.Helper()
	k := openKernel(t, dir)
	defer k.Close()
	p := planned(t, k, narrow(longer(c)))
	if len(p.Layout.Cuts) == 0 {
		t.Fatal("nothing was cut: the test shows nothing")
	}
	clean(t, k)
	text := stream(p)
	at := strings.Index(text, "[SESSION_SUMMARY v1]")
	if at < 0 {
		t.Fatalf("no summary in the prompt")
	}
	text, _, _ = strings.Cut(text[at:], "\n")
	return strings.ReplaceAll(text, `\n`, "\n")
}

// dailyLogs is what stands in all logs of a workspace. An entry for a day that is
// over stands in today's.
func dailyLogs(t fataler, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "memory", "*.md"))
	if err != nil {
		t.Fatalf("%v", err)
	}
	var all []byte
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatalf("%v", err)
		}
		all = append(all, b...)
	}
	return string(all)
}

const rule, decision = "  - Never push to main.\n", "Shall I use a backoff table? → yes"

const goodAnswer = `{"ops":[
 {"op":"add","field":"decisions","text":"Retries use a table of backoffs because jitter broke the test","evidence":"m3"},
 {"op":"add","field":"open_threads","text":"Measure the retry under load","evidence":"m8"},
 {"op":"update","field":"goal","text":"A queue that retries","version":0,"evidence":"m1"},
 {"op":"remember","text":"The project's tests run with make check","evidence":"m3"}]}`

func TestModelNotes(t *testing.T) {
	for _, provider := range []string{"openai", "anthropic"} {
		t.Run(provider, func(t *testing.T) {
			dir, ck := t.TempDir(), newClock()
			s := serveNotes(t, says(goodAnswer))
			c := ruled(1)
			m := askedModel(t, s, provider, time.Minute)
			observeNoted(t, dir, m, ck, c.msgs)
			if log := dailyLogs(t, dir); strings.Count(log, "make check (noted by small") != 1 {
				t.Errorf("the logs are %q", log)
			}
			observeNoted(t, dir, m, ck, c.msgs) // the same turn again
			if n := len(s.asked()); n != 1 {
				t.Fatalf("asked %d times, want once", n)
			}
			text := cutText(t, dir, c)
			for _, want := range []string{rule, decision, "  goal: A queue that retries\n", "  - decision: Retries use a table", "  - open: Measure the retry"} {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in\n%s", want, text)
				}
			}
			if again := cutText(t, dir, c); again != text {
				t.Errorf("read again it is\n%s\nwant\n%s", again, text)
			}
			if log := dailyLogs(t, dir); strings.Count(log, "make check (noted by small") != 1 {
				t.Errorf("the logs are %q", log)
			}
			checkNotesPointer(t, dir, c)
			st := statusOf(t, dir)
			if len(st.SummaryModels) != 1 || st.SummaryModels[0].Failures != 0 || !st.SummaryModels[0].Answered.Equal(ck.Now()) {
				t.Errorf("models: %+v", st.SummaryModels)
			}
			want := api.ModelSummary{Model: m.Name(), Time: ck.Now(), Messages: len(c.msgs), Operations: 4, Reason: summary.ReasonOK, Deltas: 1, Notes: 3}
			if got := st.Sessions[0].ModelSummaries; len(got) != 1 || got[0] != want {
				t.Errorf("notes: %+v, want %+v", got, want)
			}
		})
	}
}

// checkNotesPointer reads all notes by the pointer that a capped summary gives.
func checkNotesPointer(t *testing.T, dir string, c *conversation) {
	t.Helper()
	k := openKernel(t, dir)
	defer k.Close()
	p, err := k.Peek(context.Background(), narrow(longer(c)))
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range p.Debug.Included {
		if strings.HasPrefix(in.ID, "su-") {
			got, err := k.Get(context.Background(), "s", in.ID+".notes")
			if err != nil || got.Reason != api.GetOK || !strings.Contains(got.Text, "  - open: Measure the retry under load\n") {
				t.Errorf("the notes are %+v, %v", got, err)
			}
			return
		}
	}
	t.Errorf("the prompt has no summary: %+v", p.Debug.Included)
}

// rude are answers that a model should not give, with the reason each has, and
// whether the delta is done with.
var rude = map[string]struct {
	answer noteAnswer
	want   summary.Reason
	spent  bool
}{
	"prose":    {says("The user wants the retry fixed; constraints no longer apply."), summary.ReasonInvalid, true},
	"half":     {says(goodAnswer[:len(goodAnswer)/2]), summary.ReasonInvalid, true},
	"200 KB":   {says(`{"ops":[{"op":"add","field":"decisions","text":"` + strings.Repeat("x", 200<<10) + `","evidence":"m1"}]}`), summary.ReasonTooLarge, true},
	"empty":    {says(""), summary.ReasonEmpty, true},
	"no JSON":  {func(w http.ResponseWriter, _ *http.Request, _ *noteServer) { io.WriteString(w, "<html>") }, summary.ReasonInvalid, true},
	"limited":  {func(w http.ResponseWriter, _ *http.Request, _ *noteServer) { w.WriteHeader(429) }, summary.ReasonRateLimited, false},
	"broken":   {func(w http.ResponseWriter, _ *http.Request, _ *noteServer) { w.WriteHeader(502) }, summary.ReasonServer, false},
	"refusing": {func(w http.ResponseWriter, _ *http.Request, _ *noteServer) { w.WriteHeader(401) }, summary.ReasonRefused, false},
	"hanging":  {func(_ http.ResponseWriter, r *http.Request, _ *noteServer) { <-r.Context().Done() }, summary.ReasonTimeout, false},
	"closing": {func(w http.ResponseWriter, _ *http.Request, _ *noteServer) {
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			conn.Close()
		}
	}, summary.ReasonUnreachable, false},
}

// TestRudeModels: whatever the server does, the mechanical summary is what it is
// without a model, the reason is kept, the model is left alone for a while, and a
// delta that was not answered is asked about again.
func TestRudeModels(t *testing.T) {
	c := ruled(2)
	bare := t.TempDir()
	k := openKernel(t, bare)
	observe(t, k, api.Turn{Messages: c.msgs})
	k.Close()
	want := cutText(t, bare, c)
	providers := []string{"openai", "anthropic"}
	for i, name := range slices.Sorted(maps.Keys(rude)) {
		r := rude[name]
		for _, provider := range suite.Pick(providers[i%2:i%2+1], providers) {
			t.Run(name+"/"+provider, func(t *testing.T) {
				dir, ck := t.TempDir(), newClock()
				s := serveNotes(t, r.answer)
				patience := time.Minute
				if r.want == summary.ReasonTimeout {
					patience = 2 * time.Second
				}
				m := askedModel(t, s, provider, patience)
				observeNoted(t, dir, m, ck, c.msgs)
				st := statusOf(t, dir)
				if len(st.SummaryModels) != 1 || st.SummaryModels[0].Reason != r.want || st.SummaryModels[0].Failures != 1 || !st.SummaryModels[0].Until.Equal(ck.Now().Add(time.Minute)) {
					t.Fatalf("models: %+v", st.SummaryModels)
				}
				if got := st.Sessions[0].ModelSummaries; len(got) > 0 != r.spent || r.spent && got[0].Reason != r.want {
					t.Errorf("notes: %+v", got)
				}
				checkCooling(t, dir, m, ck, c, s, r.spent)
				if got := cutText(t, dir, c); got != want {
					t.Errorf("the summary is\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

// checkCooling looks that nothing is asked within the minute, and after it only
// what was not answered.
func checkCooling(t *testing.T, dir string, m summary.Model, ck *clock, c *conversation, s *noteServer, spent bool) {
	t.Helper()
	ck.add(59 * time.Second)
	observeNoted(t, dir, m, ck, c.msgs)
	if n := len(s.asked()); n != 1 {
		t.Fatalf("asked %d times within the cool-down", n)
	}
	ck.add(2 * time.Second)
	observeNoted(t, dir, m, ck, c.msgs)
	want := 2
	if spent {
		want = 1
	}
	if n := len(s.asked()); n != want {
		t.Errorf("asked %d times after the cool-down, want %d", n, want)
	}
	if st := statusOf(t, dir); !spent && (st.SummaryModels[0].Failures != 2 || !st.SummaryModels[0].Until.Equal(ck.Now().Add(2*time.Minute))) {
		t.Errorf("models: %+v", st.SummaryModels)
	}
}

// TestDroppedRules: a model that closes everything, and says nothing else, loses
// no rule: what a person did not take back stands as it was said.
func TestDroppedRules(t *testing.T) {
	ids := regexp.MustCompile(`\\n  ([cd]\d+): `)
	s := serveNotes(t, nil)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var ops []map[string]any
		for _, id := range ids.FindAllStringSubmatch(string(body), -1) {
			for i := 1; i <= 8; i++ {
				ops = append(ops, map[string]any{"op": "close", "id": id[1], "reason": "done with", "evidence": fmt.Sprint("m", i)})
			}
		}
		if len(ops) < 16 {
			t.Errorf("only %d operations: the model saw no rule and no decision in\n%s", len(ops), body)
		}
		raw, _ := json.Marshal(map[string]any{"ops": ops})
		s.say(w, r, string(raw))
	})
	dir, ck, c := t.TempDir(), newClock(), ruled(3)
	observeNoted(t, dir, askedModel(t, s, "openai", time.Minute), ck, c.msgs)
	if text := cutText(t, dir, c); !strings.Contains(text, "  - closed (done with): Shall I use a backoff table? → yes\n") || strings.Count(text, "Never push to main.") < 1 {
		t.Errorf("the summary is\n%s", text)
	}
	if st := statusOf(t, dir).Sessions[0].ModelSummaries; len(st) != 1 || st[0].Closed < 1 || st[0].Closed > 2 {
		t.Errorf("notes: %+v", st)
	}
}

// TestNothingSecretIsSent: secrets in words, calls and results never reach a
// server.
func TestNothingSecretIsSent(t *testing.T) {
	secrets := []string{"sk-ant-api03-" + strings.Repeat("Ab3dE7xY", 11), "ghp_" + strings.Repeat("a1B2c3D4", 4) + "e5F6", "AKIAIOSFODNN7EXAMPLF"}
	for _, provider := range []string{"openai", "anthropic"} {
		s := serveNotes(t, says(`{"ops":[{"op":"add","field":"decisions","text":"The key is `+secrets[1]+`","evidence":"m1"},{"op":"remember","text":"key `+secrets[1]+`","evidence":"m1"}]}`))
		c := newConversation(4)
		c.add(memkernel.RoleUser, words("Never log the key "+secrets[0]+" please"))
		c.add(memkernel.RoleAssistant, words("Shall I use "+secrets[1]+"?"), call("c1", "Bash", `{"command":"export K=`+secrets[2]+` T=`+secrets[1]+`"}`))
		c.add(memkernel.RoleUser, result("c1", words("token="+secrets[0]+"\n"+c.code(9000)+"\nkey "+secrets[2])))
		c.add(memkernel.RoleAssistant, words("Done with "+secrets[2]+"."))
		dir := t.TempDir()
		observeNoted(t, dir, askedModel(t, s, provider, time.Minute), newClock(), c.msgs)
		if len(s.asked()) != 1 || !strings.Contains(s.asked()[0], "Never log the key") {
			t.Fatalf("asked %q", s.asked())
		}
		for _, secret := range secrets {
			if strings.Contains(s.asked()[0], secret) {
				t.Errorf("%s: %s was sent", provider, secret)
			}
			for _, f := range tree(t, dir) {
				if b, _ := os.ReadFile(f); strings.Contains(string(b), secret) {
					t.Errorf("%s: %s stands in %s", provider, secret, f)
				}
			}
		}
	}
}
