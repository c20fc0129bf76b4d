package picoclaw_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/integrations/picoclaw"
	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

const (
	session = "agent:main:telegram:42"
	// kept is what every block contains that replaces what has left.
	kept = "Context kept by memkernel"
)

func (h *host) open(t *testing.T, dir string) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Open(context.Background(), dir, picoclaw.KernelOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	h.mgr = picoclaw.New(k, &picoclaw.Options[message]{History: h.history, FixedTokens: 500, Resolver: "memory_get",
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	return k
}

// Forty turns with tools, in the quick suite fourteen, twice restarted, in a window that holds a
// tenth of them.
func TestFortyTurns(t *testing.T) {
	dir := t.TempDir()
	h, model := newHost(t, 5_000, fakemodel.Options{Script: reads, Window: 5_000})
	h.tool = files(8)
	k := h.open(t, dir)
	turns := suite.Pick(14, 40)
	for n := range turns {
		if n == turns/3 || n == turns*3/4 {
			k.Close()
			k = h.open(t, dir)
		}
		h.turn(session, fmt.Sprintf("question-%03d: what do the next two files say?", n))
	}
	requests := model.Requests()
	if len(requests) < 3*turns {
		t.Fatalf("%d requests of %d turns", len(requests), turns)
	}
	breaks := 0
	for i, r := range requests {
		if r.Refused {
			t.Errorf("request %d is larger than the window", i)
		}
		if err := r.Pairs(); err != nil {
			t.Errorf("request %d: %v", i, err)
		}
		if i > 0 && r.Parts(requests[i-1]) != "" {
			breaks++
		}
	}
	cuts := lineCuts(t, k)
	if cuts == 0 || breaks != cuts {
		t.Errorf("the prefix broke %d times, %d cuts were made", breaks, cuts)
	}
	t.Logf("%d requests, %d cuts, %d refused", len(requests), cuts, h.retries)
	h.nothingLost(t, k)
}

func lineCuts(t *testing.T, k *kernel.Kernel) int {
	t.Helper()
	st, _, err := k.SessionStatus(context.Background(), session)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, l := range st.Lines {
		n += l.Cuts
	}
	return n
}

// nothingLost looks for everything that the host has recorded in what the next plan
// shows or names.
func (h *host) nothingLost(t *testing.T, k *kernel.Kernel) {
	t.Helper()
	if found, err := k.Check(context.Background()); err != nil || len(found) > 0 {
		t.Fatalf("check: %v %v", err, found)
	}
	in, err := transcript.NewIntake(transcript.OpenAI)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range h.record[session] {
		if err := in.Append([]string{jsonOf(t, m)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := k.Peek(context.Background(), api.PlanRequest{SessionKey: session, ContextWindow: h.window, FixedTokens: 500, Resolver: "memory_get",
		Format: transcript.FormatOpenAI, Messages: in.Messages(), Prompt: "and now?"})
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, m := range plan.Messages {
		all.WriteString(textOf(m))
	}
	for _, r := range plan.Reduced {
		c, err := k.Get(context.Background(), session, r.Page)
		if err != nil || c.Reason != api.GetOK {
			t.Fatalf("page %s of %s: %v %v", r.Page, r.Key, err, c)
		}
		all.WriteString(c.Text)
	}
	for i, m := range h.record[session] {
		if m.Content != "" && !strings.Contains(all.String(), strings.TrimSpace(m.Content)) {
			t.Errorf("message %d (%s %.40q) is neither shown nor restored", i, m.Role, m.Content)
		}
	}
}

func textOf(m memkernel.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text)
		if p.Result != nil {
			for _, c := range p.Result.Content {
				b.WriteString(c.Text)
			}
		}
	}
	return b.String()
}

// A message that is shown in full is the value that the host handed in, with what its
// JSON doesn't hold.
func TestHostsOwnValues(t *testing.T) {
	h, _ := newHost(t, 64_000, fakemodel.Options{Script: reads})
	h.tool = files(3)
	h.open(t, t.TempDir())
	h.turn(session, "what do the files say?")
	got := h.assemble(session)
	want := h.record[session]
	if len(got) != len(want) || got[1].Shown != "kept in memory" || got[2].Sender != "read_file" || got[1].ToolCalls[0].Function.Name != "read_file" {
		t.Errorf("history is\n%+v\nthe host recorded\n%+v", got, want)
	}
}

// The host's provider refuses a call as too long in the middle of a tool loop.
func TestRefusedCall(t *testing.T) {
	h, model := newHost(t, 32_000, fakemodel.Options{Script: reads, Window: 12_000})
	h.tool = files(60)
	k := h.open(t, t.TempDir())
	for n := range 12 {
		h.turn(session, fmt.Sprintf("question-%03d: and these?", n))
	}
	if h.retries == 0 {
		t.Fatal("no call was refused: the test shows nothing")
	}
	for i, r := range model.Requests() {
		if err := r.Pairs(); err != nil {
			t.Errorf("request %d: %v", i, err)
		}
	}
	t.Logf("%d refused of %d", h.retries, len(model.Requests()))
	h.nothingLost(t, k)
}

func TestClear(t *testing.T) {
	h, _ := newHost(t, 64_000, fakemodel.Options{Script: reads})
	h.tool = files(3)
	dir := t.TempDir()
	k := h.open(t, dir)
	h.turn(session, "remember the walrus")
	if err := h.mgr.Clear(context.Background(), session); err != nil {
		t.Fatal(err)
	}
	h.record[session] = nil
	if got := h.assemble(session); len(got) != 0 {
		t.Fatalf("history after a clear: %+v", got)
	}
	h.turn(session, "a new matter")
	for range 2 {
		got := h.assemble(session)
		if !isHeldIn(h.record[session], got) || slices.ContainsFunc(got, func(m message) bool { return strings.Contains(m.Content, "walrus") }) {
			t.Fatalf("history after a clear: %+v", got)
		}
		k.Close()
		k = h.open(t, dir)
	}
	st, _, err := k.SessionStatus(context.Background(), session)
	if err != nil || st.Turns < 2 {
		t.Errorf("%d turns are committed, %v: want both", st.Turns, err)
	}
	// A session that nobody knows can be cleared, too.
	if err := h.mgr.Clear(context.Background(), "never seen"); err != nil {
		t.Error(err)
	}
}

// A host that aborts a turn puts the history that it was given into its record, with
// what only a kernel writes.
func TestRecordWithOurBlock(t *testing.T) {
	dir := t.TempDir()
	h, model := newHost(t, 16_000, fakemodel.Options{Script: reads})
	h.tool = files(40)
	k := h.open(t, dir)
	for n := range 20 {
		h.turn(session, fmt.Sprintf("question-%03d: what now?", n))
	}
	shown := h.assemble(session)
	if !strings.Contains(shown[0].Content, kept) {
		t.Fatal("nothing was cut: the test shows nothing")
	}
	h.record[session] = shown
	k.Close()
	h.open(t, dir)
	h.turn(session, "go on")
	last := model.Requests()[len(model.Requests())-1]
	if n := strings.Count(string(last.Body), kept); n > 1 {
		t.Errorf("the block stands %d times", n)
	}
	if err := last.Pairs(); err != nil {
		t.Error(err)
	}
}

// Where the kernel can't plan, the host has all that was said.
func TestWithoutKernel(t *testing.T) {
	h, _ := newHost(t, 64_000, fakemodel.Options{Script: reads})
	h.tool = files(3)
	k := h.open(t, t.TempDir())
	h.turn(session, "what do the files say?")
	k.Close()
	if got := h.assemble(session); len(got) != len(h.record[session]) {
		t.Errorf("history of %d messages, %d were said", len(got), len(h.record[session]))
	}
	bad := message{Role: "", Content: "?"}
	err := h.mgr.Ingest(context.Background(), picoclaw.IngestRequest[message]{SessionKey: session, Message: bad})
	if err == nil || !strings.Contains(err.Error(), session) {
		t.Errorf("a message without a role: %v", err)
	}
	if got := h.assemble(session); len(got) != len(h.record[session]) {
		t.Errorf("history of %d messages, %d were said", len(got), len(h.record[session]))
	}
}

// The process was killed in a tool loop, before it passed on what it had recorded.
func TestKilledInALoop(t *testing.T) {
	dir := t.TempDir()
	h, model := newHost(t, 64_000, fakemodel.Options{Script: reads})
	h.tool = files(3)
	k := h.open(t, dir)
	h.turn(session, "what do the files say?")
	h.assemble(session)
	h.keep(session, message{Role: "user", Content: "and now the others"})
	h.record[session] = append(h.record[session],
		message{Role: "assistant", ToolCalls: []call{{ID: "lost-1", Type: "function", Function: &function{Name: "read_file", Arguments: "{}"}}}},
		message{Role: "tool", ToolCallID: "lost-1", Content: "read before the end"},
		message{Role: "assistant", ToolCalls: []call{{ID: "lost-2", Type: "function", Function: &function{Name: "read_file", Arguments: "{}"}}}})
	k.Close()
	k = h.open(t, dir)
	h.turn(session, "go on")
	last := model.Requests()[len(model.Requests())-1]
	if err := last.Pairs(); err != nil {
		t.Error(err)
	}
	if body := string(last.Body); !strings.Contains(body, "read before the end") || !strings.Contains(body, "and now the others") {
		t.Errorf("what was recorded is not sent: %s", body)
	}
	h.turn(session, "and on")
	all := model.Requests()
	for i := len(all) - 5; i < len(all); i++ { // the two turns after the kill
		if at := all[i].Parts(all[i-1]); at != "" {
			t.Errorf("request %d parts from the one before at %s", i, at)
		}
	}
	h.nothingLost(t, k)
}

// More sessions than are held, all at once: each keeps its own conversation.
func TestManySessions(t *testing.T) {
	h, _ := newHost(t, 64_000, fakemodel.Options{})
	k := h.open(t, t.TempDir())
	record := sync.Map{}
	h.mgr = picoclaw.New(k, &picoclaw.Options[message]{MaxSessions: 2, History: func(key string) []message {
		said, _ := record.Load(key)
		out, _ := said.([]message)
		return slices.Clone(out)
	}})
	var all sync.WaitGroup
	for n := range 6 {
		all.Go(func() {
			key := fmt.Sprintf("chat-%d", n)
			var said []message
			for i := range 8 {
				got, err := h.mgr.Assemble(context.Background(), picoclaw.AssembleRequest{SessionKey: key, Budget: 64_000})
				if err != nil || !isHeldIn(said, got.History) || len(got.History) != len(said) {
					t.Errorf("%s: history %+v of %+v (%v)", key, got, said, err)
				}
				for _, m := range []message{{Role: "user", Content: fmt.Sprintf("%s says %d", key, i)}, {Role: "assistant", Content: "ok"}} {
					said = append(said, m)
					record.Store(key, slices.Clone(said))
					if err := h.mgr.Ingest(context.Background(), picoclaw.IngestRequest[message]{SessionKey: key, Message: m}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	st, err := k.Status(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range st.Sessions {
		if s.Turns != 8 {
			t.Errorf("session %s: %d turns are committed", s.Key, s.Turns)
		}
	}
}

func TestCompactSaysWhy(t *testing.T) {
	h, _ := newHost(t, 64_000, fakemodel.Options{Script: reads})
	h.tool = files(3)
	h.open(t, t.TempDir())
	ctx := context.Background()
	err := h.mgr.Compact(ctx, picoclaw.CompactRequest{SessionKey: session, Reason: picoclaw.Proactive, Budget: 64_000})
	if err == nil || !strings.Contains(err.Error(), session) {
		t.Errorf("compaction of nothing: %v", err)
	}
	h.turn(session, "hello")
	if err := h.mgr.Compact(ctx, picoclaw.CompactRequest{SessionKey: session, Reason: picoclaw.Summarize}); err != nil {
		t.Errorf("the end of a turn: %v", err)
	}
	h.tool = files(40)
	for n := range 8 {
		h.turn(session, fmt.Sprintf("question-%03d", n))
	}
	before := sizeOf(h.assemble(session))
	if err := h.mgr.Compact(ctx, picoclaw.CompactRequest{SessionKey: session, Reason: picoclaw.Summarize, Manual: true}); err != nil {
		t.Errorf("a compaction that the user asked for: %v", err)
	}
	if after := sizeOf(h.assemble(session)); 10*after > 9*before {
		t.Errorf("%d bytes after a compaction, %d before", after, before)
	}
}

func sizeOf(history []message) int {
	n := 0
	for _, m := range history {
		n += len(m.Content)
	}
	return n
}

func jsonOf(t *testing.T, m message) string {
	t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// isHeldIn reports whether all that was said is in a history, behind what else may.
func isHeldIn(said, history []message) bool {
	n := len(history) - len(said)
	return n >= 0 && slices.EqualFunc(said, history[n:], func(a, b message) bool { return a.Role == b.Role && a.Content == b.Content })
}
