package transcript

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
)

func loadSample(t *testing.T, name string) *Session {
	t.Helper()
	s, err := LoadFile("testdata/"+name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func wantSketch(t *testing.T, what string, msgs []memkernel.Message, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.TrimLeft(want, "\n"), sketch(msgs)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func rules(notes []Note) (out []string) {
	for _, n := range notes {
		out = append(out, n.Rule)
	}
	return out
}

func TestClaudeCode(t *testing.T) {
	s := loadSample(t, "claude-code.jsonl")
	if s.Dialect != ClaudeCode || s.ID != "s-1" || s.Cwd != "/home/ann/kettle" || s.Model != "claude-opus-4-6" {
		t.Errorf("session is %q %q %q %q", s.Dialect, s.ID, s.Cwd, s.Model)
	}
	if diff := cmp.Diff([]string{"fork", "duplicate-record", "unknown-record"}, rules(s.Notes)); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	wantSketch(t, "host", s.View(Host), `
user: Why does the kettle "boil" twice?
assistant: (Look at boil.go.) call t1 call t2
user: result t1=[Old tool result content cleared]
user: result t2=boil.go
[image attached below]
user(meta): <system-reminder>be brief</system-reminder>
assistant: It has two switches.
user: Remove the right one.
assistant: () Done. <other>
`)
	full := s.View(Full)
	wantSketch(t, "full", full[2:3], "user: result t1=func Boil() {}\n")
	if diff := cmp.Diff([]string{"ag7", "fork:u5"}, s.names); diff != "" {
		t.Errorf("branches (-want +got):\n%s", diff)
	}
	wantSketch(t, "sidechain", s.ViewBranch(Host, "ag7"), "user: Count the switches.\nassistant: Two.\n")
	arm := s.ViewBranch(Full, "fork:u5")
	wantSketch(t, "arm", arm[len(arm)-2:], "user: Remove one.\nassistant: Removed the left one.\n")
	if s.ViewBranch(Host, "nobody") != nil {
		t.Error("an unknown branch has messages")
	}
}

func TestClaudeCodeDetails(t *testing.T) {
	s := loadSample(t, "claude-code.jsonl")
	full := s.View(Full)
	want := memkernel.Usage{InputTokens: 3, CacheWrite5mTokens: 200, CacheWrite1hTokens: 700, OutputTokens: 61}
	if m := full[1]; m.Key != "msg_1" || m.Raw != "" || *m.Usage != want {
		t.Errorf("grouped message: key %q, raw %q, usage %+v", m.Key, m.Raw, *m.Usage)
	}
	if in := full[1].Parts[1].Call.Input; in != `{"file_path":"/home/ann/kettle/boil.go", "limit":10}` {
		t.Errorf("input = %s", in)
	}
	if img := full[3].Parts[0].Result.Content[1].Media; img.Width != 2 || img.Height != 3 {
		t.Errorf("image is %dx%d, want 2x3", img.Width, img.Height)
	}
	if u := full[5].Usage; u.CacheWrite5mTokens != 30 || u.InputTotal() != 935 {
		t.Errorf("usage without lifetimes = %+v", *u)
	}
	if p := full[7].Parts[2]; p.Kind != memkernel.PartOther || p.Raw != `{"type":"hologram","depth":3}` {
		t.Errorf("unknown block = %+v", p)
	}
	var calls []string
	for _, c := range Calls(full) {
		calls = append(calls, full[c.Index].Key+" "+c.Start.Format(time.TimeOnly)+" "+c.End.Format(time.TimeOnly))
	}
	if diff := cmp.Diff([]string{"msg_1 10:00:01 10:00:06", "msg_2 10:00:07 10:00:09", "msg_4 10:02:00 10:04:00"}, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	synthetic := 0
	for _, m := range s.Messages {
		if m.Origin == memkernel.OriginSynthetic {
			synthetic++
		}
	}
	if synthetic != 1 {
		t.Errorf("%d synthetic messages, want 1: nothing is lost", synthetic)
	}
}

func TestClaudeCodeCompacted(t *testing.T) {
	s := loadSample(t, "claude-code-compacted.jsonl")
	wantSketch(t, "host", s.View(Host), `
user(summary): Summary: a kettle.
user: Remove the right one.
assistant: () Done. <other>
user: Go on.
`)
	full := s.View(Full)
	wantSketch(t, "full", full[len(full)-2:], "assistant: () Done. <other>\nuser: Go on.\n")
}

// TestClaudeCodeOldSidechain: without agent ids the parents name the chain,
// and a file that is one sidechain shows it.
func TestClaudeCodeOldSidechain(t *testing.T) {
	s := load(t, `{"type":"user","uuid":"x1","parentUuid":null,"isSidechain":true,"message":{"role":"user","content":"a"}}
{"type":"assistant","uuid":"x2","parentUuid":"x1","isSidechain":true,"message":{"id":"m","role":"assistant","content":[{"type":"text","text":"b"}]}}
`, nil)
	wantSketch(t, "view", s.View(Host), "user: a\nassistant: b\n")
	if diff := cmp.Diff([]string{"x1"}, s.names); diff != "" {
		t.Errorf("branches (-want +got):\n%s", diff)
	}
}

// TestClaudeCodeSharedParents: parallel results share a parent and are no fork.
func TestClaudeCodeSharedParents(t *testing.T) {
	s := load(t, `{"type":"user","uuid":"u","parentUuid":null,"message":{"role":"user","content":"go"}}
{"type":"assistant","uuid":"a","parentUuid":"u","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"n","input":{}}]}}
{"type":"user","uuid":"r1","parentUuid":"a","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"1"}]}}
{"type":"user","uuid":"r2","parentUuid":"a","isMeta":true,"message":{"role":"user","content":"meta"}}
{"type":"user","uuid":"r3","parentUuid":"a","message":{"role":"user","content":"hello"}}
`, nil)
	if len(s.names) != 0 || len(s.View(Host)) != 5 {
		t.Errorf("branches %v, %d messages", s.names, len(s.View(Host)))
	}
}

// TestClaudeCodeQueued: what a person types while the agent works is an attachment, and is the
// person's as any other prompt. Notices and other agents' messages come in the same way.
func TestClaudeCodeQueued(t *testing.T) {
	s := load(t, `{"type":"user","uuid":"u","parentUuid":null,"message":{"role":"user","content":"go"}}
{"type":"assistant","uuid":"a","parentUuid":"u","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"n","input":{}}]}}
{"type":"user","uuid":"r","parentUuid":"a","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"1"}]}}
{"type":"attachment","uuid":"q1","parentUuid":"r","attachment":{"type":"queued_command","prompt":"Never push to main.","commandMode":"prompt","origin":{"kind":"human"}}}
{"type":"attachment","uuid":"q2","parentUuid":"q1","attachment":{"type":"queued_command","prompt":[{"type":"text","text":"See this"}],"commandMode":"prompt"}}
{"type":"attachment","uuid":"q3","parentUuid":"q2","attachment":{"type":"queued_command","prompt":"a peer's","commandMode":"prompt","isMeta":true,"origin":{"kind":"peer"}}}
{"type":"attachment","uuid":"q4","parentUuid":"q3","attachment":{"type":"queued_command","prompt":"a task ended","commandMode":"task-notification"}}
{"type":"attachment","uuid":"q5","parentUuid":"q4","attachment":{"type":"task_reminder","content":[]}}
{"type":"assistant","uuid":"b","parentUuid":"q5","message":{"id":"n","role":"assistant","content":[{"type":"text","text":"Fine."}]}}
`, nil)
	msgs := s.View(Host)
	wantSketch(t, "view", msgs[len(msgs)-5:], "user: Never push to main.\nuser: See this\nuser(meta): a peer's\nuser(meta): a task ended\nassistant: Fine.\n")
	var typed []string
	for i := range msgs {
		if text, _ := Typed(msgs[i]); text != "" {
			typed = append(typed, text)
		}
	}
	if d := cmp.Diff([]string{"go", "Never push to main.", "See this"}, typed); d != "" {
		t.Errorf("a person typed (-want +got):\n%s", d)
	}
	if len(s.names) != 0 {
		t.Errorf("branches %v", s.names)
	}
}

func TestPiTree(t *testing.T) {
	s := loadSample(t, "pi-v3.jsonl")
	if s.ID != "p-1" || s.Model != "claude-opus-4-6" || s.Cwd != "/home/ann/teapot" {
		t.Errorf("session is %q %q %q", s.ID, s.Model, s.Cwd)
	}
	wantSketch(t, "host", s.View(Host), `
user(summary): The conversation history before this point was compacted into the following summary:

<summary>
A teapot without paint.
</summary>
user: Blue, please.
assistant: Blue it is.
user(meta): It rains.
`+"user: Ran `ls`\n```\nteapot\n```\n\nCommand exited with code 1\n")
	full := s.View(Full)
	if len(full) != 9 || full[1].Parts[0].Signature != "c2ln" || full[1].Parts[1].Call.Input != `{"command":"paint red"}` {
		t.Errorf("full view has %d messages, second %+v", len(full), full[1])
	}
	if r := full[2].Parts[0].Result; full[2].Role != memkernel.RoleTool || !r.IsError || r.Name != "bash" || r.CallID != "c1" {
		t.Errorf("result = %+v", r)
	}
	wantSketch(t, "arm", s.ViewBranch(Host, "fork:e5")[4:], "user: Then green.\n")
}

// TestCopilotSession: a rewound turn is off the main line, a compaction replaces what was
// before it, and a helper's words are on a branch of their own.
func TestCopilotSession(t *testing.T) {
	s := loadSample(t, "copilot.jsonl")
	if s.ID != "5a0e0c1d-0000-4000-8000-000000000042" || s.Model != "gpt-5.5" || s.Cwd != "/home/mo/pier" || len(s.System) != 1 || len(s.Skipped) != 0 {
		t.Errorf("session is %q %q %q, %d skipped", s.ID, s.Model, s.Cwd, len(s.Skipped))
	}
	wantSketch(t, "host", s.View(Host), `
user(summary): The pier has 17 lanterns; no list of broken ones.
user: thanks, and the ropes?
`)
	full := s.View(Full)
	wantSketch(t, "full", full[3:6], `
assistant: It has 17 lanterns.
user: which ones are broken?
assistant: call call_2
`)
	if u := full[1].Usage; u == nil || u.InputTotal() != 900 || full[3].Usage.CacheReadTokens != 900 || full[1].Parts[1].Call.Input != `{"command":"wc -l lanterns.txt"}` || full[1].Parts[0].Signature != "b3BhcXVl" {
		t.Errorf("the first answer is %+v", full[1])
	}
	if own, _ := Typed(full[0]); own != "how many lanterns has the pier?" {
		t.Errorf("the person typed %q", own)
	}
	if r := full[6].Parts[0].Result; !r.IsError || r.CallID != "call_2" {
		t.Errorf("result = %+v", r)
	}
	if got := s.names; len(got) != 2 {
		t.Errorf("branches are %q", got)
	}
}

// TestGeminiCLISession: a rewound turn is off the main line, and a compression replaces what
// was before it, in the host's view alone. What the program wrote in the user's name is nobody's.
func TestGeminiCLISession(t *testing.T) {
	s := loadSample(t, "gemini-cli.jsonl")
	if s.ID != "7b1d2e90-0000-4000-8000-000000000017" || s.Model != "gemini-3.8-pro" || len(s.Skipped) != 0 || len(s.Notes) != 0 {
		t.Errorf("session is %q %q, %d skipped, notes %v", s.ID, s.Model, len(s.Skipped), s.Notes)
	}
	wantSketch(t, "host", s.View(Host), `
user(meta): <session_context>
This is the Gemini CLI.
</session_context>
user(summary): <state_snapshot>
<overall_goal>Care for 17 lanterns.</overall_goal>
</state_snapshot>
assistant: Got it. Thanks for the additional context!
user: Thanks. And the ropes? <hook_context>Ask for the harbour master.</hook_context>
assistant: I have not seen them.
`)
	full := s.View(Full)
	wantSketch(t, "full", full[1:9], `
user: How many lanterns has the pier?
assistant: (Counting
The list is in lanterns.txt.) I count them. call run_1
tool: result run_1=17 lanterns.txt
assistant: The pier has 17 lanterns.
user: Which ones are broken?
assistant: call read_2
tool: result read_2=File not found.
assistant: There is no list of them.
`)
	wantSketch(t, "arm", s.ViewBranch(Full, s.names[0])[5:], "user: Paint them green.\nassistant: Which green?\n")
	if u := full[4].Usage; u == nil || u.CacheReadTokens != 1200 || u.InputTotal() != 1300 || full[2].Usage.OutputTokens != 27 {
		t.Errorf("billed %+v and %+v", full[2].Usage, u)
	}
	if got := s.Compactions(); !cmp.Equal(got, []int{9}) || !full[7].Parts[0].Result.IsError {
		t.Errorf("compactions %v, the failed call %+v", got, full[7])
	}
	typed := ""
	for _, m := range full {
		own, _ := Typed(m)
		typed += own
	}
	if want := "How many lanterns has the pier?Which ones are broken?Thanks. And the ropes?"; typed != want {
		t.Errorf("the person typed %q", typed)
	}
	old := loadSample(t, "gemini-cli-old.json")
	wantSketch(t, "a document", old.View(Host)[2:], `
tool: result run_1=17 lanterns.txt
assistant: The pier has 17 lanterns.
user: Which ones are broken?
assistant: There is no list of them.
`)
}

func TestPiLinear(t *testing.T) {
	s := loadSample(t, "pi-v1.jsonl")
	wantSketch(t, "host", s.View(Host)[1:], "user: three\nassistant: four\n")
	wantSketch(t, "full", s.View(Full), "user: one\nassistant: two\nuser: three\nassistant: four\n")
}

// TestPiLostParent: a skipped line must not cost what came before it.
func TestPiLostParent(t *testing.T) {
	data, err := os.ReadFile("testdata/pi-v3.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	lines[4] = "{broken\n"
	s := load(t, strings.Join(lines, ""), &Options{SkipBroken: true})
	if full := s.View(Full); Text(full[0]) != "Paint the teapot." || len(full) != 8 {
		t.Errorf("%d messages, first %q", len(full), Text(full[0]))
	}
	if !cmp.Equal(rules(s.Notes), []string{"lost-parent"}) || len(s.Skipped) != 1 {
		t.Errorf("notes %v, skipped %v", s.Notes, s.Skipped)
	}
}

func TestCodex(t *testing.T) {
	s := loadSample(t, "codex.jsonl")
	if s.ID != "x-1" || s.Model != "gpt-5.5" || len(s.System) != 1 || s.System[0].Text != "You mend lamps." {
		t.Errorf("session is %q %q %v", s.ID, s.Model, s.System)
	}
	wantSketch(t, "host", s.View(Host), `
user: Mend the lamp.
developer: Sandbox is on.
user(summary): <other>
user: And the green shade?
`)
	full := s.View(Full)
	wantSketch(t, "full", full[2:], `
user: Mend the lamp.
assistant: (Look first.) Looking. call k1 call k2
tool: result k1=lamp.txt
tool: result k2=Done
assistant: Mended.
user: And the green shade?
`)
	m := full[3]
	if *m.Usage != (memkernel.Usage{InputTokens: 400, CacheReadTokens: 600, OutputTokens: 50}) {
		t.Errorf("usage = %+v", *m.Usage)
	}
	if u := full[6].Usage; u == nil || u.InputTokens != 100 {
		t.Errorf("second usage = %+v", u)
	}
	if !m.Parts[3].Call.Custom || m.Parts[2].Call.Input != `{"cmd":"ls"}` || full[2].Turn != "tu1" || full[1].Origin != memkernel.OriginMeta {
		t.Errorf("calls %+v %+v, turn %q", m.Parts[2].Call, m.Parts[3].Call, full[2].Turn)
	}
	arm := s.ViewBranch(Host, s.names[0])
	wantSketch(t, "rolled back", arm[len(arm)-2:], "user: And the shade?\nassistant: What shade?\n")
}

// TestCodexEarly: bare items without payload, and a compaction that holds only
// a summary.
func TestCodexEarly(t *testing.T) {
	s := load(t, `{"id":"y","timestamp":"2025-05-01T00:00:00Z","instructions":null}
{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ho"}]}
{"timestamp":"2025-05-01T00:00:01Z","type":"compacted","payload":{"message":"they greeted"}}
{"type":"message","role":"user","content":[{"type":"input_text","text":"on"}]}
`, nil)
	wantSketch(t, "host", s.View(Host), "user: hi\nuser(summary): they greeted\nuser: on\n")
	wantSketch(t, "full", s.View(Full), "user: hi\nassistant: ho\nuser: on\n")
}

func TestRequests(t *testing.T) {
	a := loadSample(t, "anthropic.json")
	if len(a.Tools) != 1 || a.Tools[0].Name != "get" || len(a.System) != 1 || a.Model != "claude-opus-4-6" {
		t.Errorf("anthropic: tools %v, system %v, model %q", a.Tools, a.System, a.Model)
	}
	o := loadSample(t, "openai.json")
	if len(o.Tools) != 1 || o.Tools[0].Name != "get" || o.System[0].Text != "You are terse." {
		t.Errorf("openai: tools %v, system %v", o.Tools, o.System)
	}
	wantSketch(t, "openai", o.View(Host), "user: Look. <image>\nassistant: (Hm.) call c1 call c2\ntool: result c1=one\ntool: result c2=two\nassistant: Seen.\n")
	if img := o.Messages[0].Parts[1].Media; img.Width != 3 || img.Height != 2 || img.Type != "image/gif" {
		t.Errorf("image = %s %dx%d", img.Type, img.Width, img.Height)
	}
}

// TestCompactions: each compaction precedes a message of the full view.
func TestCompactions(t *testing.T) {
	const lines = `{"type":"user","uuid":"u1","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"one"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","timestamp":"2026-01-01T00:00:01Z","message":{"id":"m1","role":"assistant","model":"claude-opus-4-6","content":[{"type":"text","text":"yes"}]}}
{"type":"system","subtype":"compact_boundary","uuid":"b1","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:02Z","compactMetadata":{"trigger":"auto","preTokens":10}}
{"type":"user","uuid":"c1","parentUuid":"b1","sessionId":"s","isCompactSummary":true,"timestamp":"2026-01-01T00:00:02Z","message":{"role":"user","content":"summary"}}
{"type":"user","uuid":"u2","parentUuid":"c1","sessionId":"s","timestamp":"2026-01-01T00:00:03Z","message":{"role":"user","content":"two"}}
`
	s, err := Load(strings.NewReader(lines), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Compactions(); len(got) != 1 || got[0] != 2 {
		t.Errorf("compactions at %v of %d messages, want 2", got, len(s.View(Full)))
	}
	r := s.Rewrites()
	if len(r) != 1 || r[0].At != 2 {
		t.Fatalf("the past was changed at %+v, want 2", r)
	}
	wantSketch(t, "sent from there on", r[0].Messages, "user(summary): summary\n")
	none, err := Load(strings.NewReader(lines[:strings.IndexByte(lines, '\n')+1]), "", nil)
	if err != nil || len(none.Compactions())+len(none.Rewrites()) != 0 {
		t.Errorf("without a compaction: %v, %v", none.Compactions(), err)
	}
}

// TestRewrites: the last change with what came behind it is the Host view, in every
// dialect that records changes; an earlier one is the Host view of that moment.
func TestRewrites(t *testing.T) {
	for name, at := range map[string][]int{"claude-code-compacted.jsonl": {7, 8}, "pi-v3.jsonl": {6}, "pi-v1.jsonl": {3}, "codex.jsonl": {7}, "claude-code.jsonl": {7}} {
		s := loadSample(t, name)
		full, got := s.View(Full), []int(nil)
		var last []memkernel.Message
		for _, r := range s.Rewrites() {
			got, last = append(got, r.At), append(slices.Clone(r.Messages), full[r.At:]...)
		}
		if diff := cmp.Diff(at, got); diff != "" {
			t.Errorf("%s: positions (-want +got):\n%s", name, diff)
		}
		wantSketch(t, name, last, sketch(s.View(Host)))
	}
	wantSketch(t, "before the compaction", loadSample(t, "claude-code-compacted.jsonl").Rewrites()[0].Messages, `
user: Why does the kettle "boil" twice?
assistant: (Look at boil.go.) call t1 call t2
user: result t1=[Old tool result content cleared]
user: result t2=boil.go
[image attached below]
user(meta): <system-reminder>be brief</system-reminder>
assistant: It has two switches.
user: Remove the right one.
`)
}

// ViewBranch returns one branch under a view, nil for an unknown branch. An abandoned arm includes
// the past that it shares with the main line.
func (s *Session) ViewBranch(v View, branch string) []memkernel.Message {
	l := s.lines[branch]
	if l == nil {
		return nil
	}
	if v == Full {
		return s.full(l)
	}
	return s.host(l)
}

// A summary of OpenCode's replaces all messages before it.
func TestOpenCodeSummary(t *testing.T) {
	s, err := LoadFile("testdata/opencode.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	wantSketch(t, "all", s.View(Full), "user: Mend the net, please Called the Read tool [net.md]\nassistant: (The net may be torn.) call call_1 call call_2\n"+
		"tool: result call_1=torn at the third knot result call_2=knot: not found\nassistant: The third knot is torn.\nuser: Now tie it.\n")
	wantSketch(t, "sent", s.View(Host), "user(summary): Goal: mend the net. The third knot is torn.\nuser: Now tie it.\n")
}
