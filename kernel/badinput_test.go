package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/transcript"
)

// planned plans req and holds the plan against everything that must be true.
func planned(t fataler, k *kernel.Kernel, req api.PlanRequest) *api.ContextPlan {
	t.Helper()
	p := mustPlan(t, k, req)
	msgs, _ := transcript.Repair(req.Messages, false)
	checkPlan(t, p, msgs)
	return p
}

// body renders a plan as the request that would be sent.
func body(t *testing.T, p *api.ContextPlan) string {
	t.Helper()
	b, _, err := transcript.Render(p.Format, &transcript.Request{Model: p.Model, Messages: p.Messages, Markers: p.Markers})
	if err != nil {
		t.Fatalf("render: %v", err)
	}
	if !json.Valid(b) || !utf8.Valid(b) {
		t.Fatal("the rendered request is not valid JSON")
	}
	return string(b)
}

func get(t *testing.T, k *kernel.Kernel, id string) *api.Content {
	t.Helper()
	c, err := k.Get(context.Background(), "s", id)
	if err != nil || c.Reason != api.GetOK {
		t.Fatalf("get %s: %v, %v", id, c, err)
	}
	return c
}

// pageOf is the page of a call's result, by the plan that shows it.
func pageOf(t *testing.T, k *kernel.Kernel, p *api.ContextPlan, call string) *api.Content {
	t.Helper()
	for _, row := range p.Debug.Included {
		if row.Kind != string(pagevm.Evidence) {
			continue
		}
		if c := get(t, k, row.ID); c.Page.CallID == call {
			return c
		}
	}
	t.Fatalf("no page of call %s", call)
	return nil
}

// clean wants nothing wrong on disk.
func clean(t *testing.T, k *kernel.Kernel) {
	t.Helper()
	if findings, err := k.Check(context.Background()); err != nil || len(findings) > 0 {
		t.Fatalf("check says %v, %v", findings, err)
	}
}

func result(call string, content ...memkernel.Part) memkernel.Part {
	return memkernel.Part{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: call, Content: content, Text: len(content) == 1}}
}

func call(id, name, input string) memkernel.Part {
	return memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: id, Name: name, Input: input}}
}

// recordLines is a session as Claude Code writes it, a record per line.
func recordLines(t *testing.T, c *conversation) []string {
	t.Helper()
	var lines []string
	parent := "null"
	for i := range c.msgs {
		m := &c.msgs[i]
		var parts []json.RawMessage
		for j := range m.Parts {
			parts = append(parts, transcript.AppendPart(nil, transcript.FormatAnthropic, m.Role, &m.Parts[j]))
		}
		content, err := json.Marshal(parts)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf(`{"parentUuid":%s,"sessionId":"s","type":%q,"uuid":%q,"timestamp":%q,"message":{"id":"msg_%d","model":%q,"role":%q,"content":%s}}`,
			parent, m.Role, m.Key, m.Time.Format(time.RFC3339Nano), i, model, m.Role, content))
		parent = fmt.Sprintf("%q", m.Key)
	}
	return lines
}

func loadLines(t *testing.T, lines []string, end string, skip bool) (*transcript.Session, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, end)+end), 0o600); err != nil {
		t.Fatal(err)
	}
	return transcript.LoadFile(path, &transcript.Options{SkipBroken: skip})
}

// TestBrokenLines: a broken line is an error with file and line, or skipped by
// choice and reported; what depended on it is healed by name.
func TestBrokenLines(t *testing.T) {
	c := session(20, 2, 2, 900)
	for name, line := range map[string]string{"torn": `{"type":"user","uuid":"x","message":{"ro`, "no JSON": "hello", "zeros": `{"type":"user",` + "\x00\x00\x00", "a list": "[1]"} {
		t.Run(name, func(t *testing.T) {
			lines := recordLines(t, c)
			lines[2] = line // the results of the first calls
			_, err := loadLines(t, lines, "\n", false)
			if err == nil || !strings.Contains(err.Error(), "session.jsonl") || !strings.Contains(err.Error(), "3") {
				t.Fatalf("refused with %v, want file and line", err)
			}
			s, err := loadLines(t, lines, "\n", true)
			if err != nil || len(s.Skipped) != 1 || s.Skipped[0].Line != 3 {
				t.Fatalf("skipped %v, %v", s.Skipped, err)
			}
			k := memoryKernel(t)
			defer k.Close()
			req := request(c)
			req.Messages = s.View(transcript.Host)
			if p := planned(t, k, req); !hasFault(p, "missing_result") {
				t.Errorf("calls lost their results, faults are %v", p.Faults)
			}
		})
	}
}

func TestLineEndsDoNotMatter(t *testing.T) {
	c := session(21, 2, 2, 900)
	var plans []string
	for _, end := range []string{"\n", "\r\n"} {
		s, err := loadLines(t, recordLines(t, c), end, false)
		if err != nil {
			t.Fatal(err)
		}
		k := memoryKernel(t)
		req := request(c)
		req.Messages = s.View(transcript.Host)
		plans = append(plans, stream(planned(t, k, req)))
		k.Close()
	}
	if diff := cmp.Diff(plans[0], plans[1]); diff != "" || plans[0] == "" {
		t.Errorf("CRLF changes the request:\n%s", diff)
	}
}

// TestMalformedConversations: what a provider would reject is repaired by name,
// the repair is the same in the next plan and after reopening, and what was taken
// out is listed and can be read.
func TestMalformedConversations(t *testing.T) {
	const lost = "LOST-AND-FOUND"
	at := func(c *conversation, i int, m memkernel.Message) {
		m.Time = c.msgs[i].Time
		c.msgs = append(c.msgs[:i:i], append([]memkernel.Message{m}, c.msgs[i:]...)...)
	}
	user := func(key string, parts ...memkernel.Part) memkernel.Message {
		return memkernel.Message{Key: key, Role: memkernel.RoleUser, Parts: parts}
	}
	tests := []struct {
		name  string
		fault fault.Code
		spoil func(c *conversation)
	}{
		{"orphaned result", "orphan_result", func(c *conversation) { at(c, 3, user("x", result("call_nowhere", words(lost)))) }},
		{"orphaned result in front", "orphan_result", func(c *conversation) { at(c, 0, user("x", result("call_nowhere", words(lost)))) }},
		{"result beside words", "orphan_result", func(c *conversation) { at(c, 4, user("x", result("call_nowhere", words(lost)), words("and this"))) }},
		{"result twice", "duplicate_result", func(c *conversation) {
			id := c.msgs[2].Parts[0].Result.CallID
			at(c, 3, user("x", result(id, words(lost))))
		}},
		{"call never answered", "missing_result", func(c *conversation) { c.msgs = append(c.msgs[:2:2], c.msgs[3:]...) }},
		{"result too late", "moved_result", func(c *conversation) {
			late := c.msgs[2]
			c.msgs = append(c.msgs[:2:2], c.msgs[3:]...)
			at(c, 5, late)
		}},
		{"call id used again", "duplicate_call_id", func(c *conversation) {
			id := c.msgs[2].Parts[0].Result.CallID
			n := len(c.msgs) - 1
			at(c, n, memkernel.Message{Key: "y", Role: memkernel.RoleAssistant, Parts: []memkernel.Part{call(id, "Read", `{"file_path":"b.go"}`)}})
			at(c, n+1, user("z", result(id, words("second answer"))))
		}},
		{"call sent twice", "duplicate_call", func(c *conversation) {
			m := c.msgs[1]
			m.Key = "y"
			at(c, 2, m)
		}},
		{"message id used again", "duplicate_key", func(c *conversation) { at(c, 4, user(c.msgs[0].Key, words("once more"))) }},
		{"message without content", "empty_message", func(c *conversation) { at(c, 4, user("x")) }},
		{"text without characters", "empty_text", func(c *conversation) { at(c, 4, user("x", words("  \n"), words("go on"))) }},
		{"thinking in a user message", "stray_block", func(c *conversation) {
			at(c, 4, user("x", words("go on"), memkernel.Part{Kind: memkernel.PartThinking, Text: lost, Signature: "s"}))
		}},
		{"begins with the assistant", "leading_assistant", func(c *conversation) { c.msgs = c.msgs[1:] }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			k := openKernel(t, dir)
			c := session(22, 2, 2, 900)
			tt.spoil(c)
			p := planned(t, k, request(c))
			if tt.fault != "" && !hasFault(p, tt.fault) {
				t.Fatalf("faults are %v, want %s", p.Faults, tt.fault)
			}
			c.say()
			c.user()
			q := planned(t, k, request(c))
			if !strings.HasPrefix(stream(q), stream(p)) {
				t.Error("the next plan repairs it in another way")
			}
			k.Close()
			k = openKernel(t, dir)
			defer k.Close()
			r := planned(t, k, request(c))
			if diff := cmp.Diff(stream(q), stream(r)); diff != "" {
				t.Errorf("a reopened kernel repairs it in another way:\n%s", diff)
			}
			clean(t, k)
			for _, p := range []*api.ContextPlan{p, q, r} {
				readable(t, k, p, c.msgs, lost)
			}
		})
	}
}

// readable: if the host sent the text, the plan either shows it or lists a page
// by which it can be read.
func readable(t *testing.T, k *kernel.Kernel, p *api.ContextPlan, msgs []memkernel.Message, text string) {
	t.Helper()
	if sent, _ := json.Marshal(msgs); !strings.Contains(string(sent), text) || strings.Contains(stream(p), text) {
		return
	}
	for _, row := range p.Debug.Excluded {
		if c, err := k.Get(context.Background(), "s", row.ID); err == nil && strings.Contains(c.Text, text) {
			return
		}
	}
	t.Errorf("what was taken out can't be read: %+v", p.Debug.Excluded)
}

// TestNothingToPlan: a request with nothing in it is an error that says so, and
// leaves nothing behind.
func TestNothingToPlan(t *testing.T) {
	answered := newConversation(23)
	answered.user()
	answered.say()
	blank := []memkernel.Message{{Key: "a", Role: memkernel.RoleUser}, {Key: "b", Role: memkernel.RoleUser, Parts: []memkernel.Part{words(" ")}}}
	for _, tt := range []struct {
		name string
		msgs []memkernel.Message
		want error
	}{{"no messages", nil, api.ErrNoMessages}, {"only blank ones", blank, api.ErrNoMessages}, {"answered", answered.msgs, api.ErrAnswered}} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			k := openKernel(t, dir)
			defer k.Close()
			req := api.PlanRequest{SessionKey: "s", Model: model, Messages: tt.msgs, Now: answered.now}
			if _, err := k.PlanContext(context.Background(), req); !errors.Is(err, tt.want) {
				t.Errorf("plan: got %v, want %v", err, tt.want)
			}
			if _, err := k.Peek(context.Background(), req); !errors.Is(err, tt.want) {
				t.Errorf("peek: got %v, want %v", err, tt.want)
			}
			for _, f := range tree(t, dir) {
				if b, _ := os.ReadFile(f); len(b) > 0 && filepath.Base(f) != ".gitignore" {
					t.Errorf("%s was written", f)
				}
			}
			if _, err := k.ObserveTurn(context.Background(), api.Turn{SessionKey: "s", Model: model}); !errors.Is(err, api.ErrNoMessages) {
				t.Errorf("observe: got %v", err)
			}
		})
	}
}

// TestClockGoesBack: a negative gap counts as warm, so nothing is cut for it.
func TestClockGoesBack(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := session(29, 3, 3, 9000)
	req := request(c)
	req.ContextWindow = 200_000
	p := planned(t, k, req)
	c.say()
	c.gap(-48 * time.Hour)
	c.user()
	req = request(c)
	req.ContextWindow = 200_000
	q := planned(t, k, req)
	if q.Layout.Cold || q.Layout.Made != nil || !strings.HasPrefix(stream(q), stream(p)) {
		t.Errorf("cold %v, cut %+v", q.Layout.Cold, q.Layout.Made)
	}
	if q.Layout.Bill.ReadTokens == 0 {
		t.Error("nothing is expected to be read from a warm cache")
	}
}

// TestTooSmallNamesSizes: the error of a window that can't hold even the fixed part
// says what is largest, and how large.
func TestTooSmallNamesSizes(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(30)
	c.user()
	for name, set := range map[string]func(*api.PlanRequest){
		"fixed part": func(r *api.PlanRequest) { r.FixedTokens = 90_000 },
		"system": func(r *api.PlanRequest) {
			r.System = []memkernel.Part{words(strings.Repeat("be kind to people. ", 20_000))}
		},
		"tools": func(r *api.PlanRequest) {
			r.Tools = []memkernel.Tool{{Name: "t", Raw: `{"name":"t","d":"` + strings.Repeat("many words ", 40_000) + `"}`}}
		},
		"newest": func(r *api.PlanRequest) {
			paper := memkernel.Part{Kind: memkernel.PartDocument, Text: strings.Repeat("many words ", 40_000), Media: &memkernel.Media{Type: "text/plain"}}
			r.Messages = []memkernel.Message{{Role: memkernel.RoleUser, Parts: []memkernel.Part{paper}}}
		},
		"reserve": func(r *api.PlanRequest) { r.Reserve = 64_000 },
	} {
		t.Run(name, func(t *testing.T) {
			req := request(c)
			set(&req)
			for _, plan := range []func(context.Context, api.PlanRequest) (*api.ContextPlan, error){k.Peek, k.PlanContext} {
				_, err := plan(context.Background(), req)
				var small *budget.TooSmallError
				if !errors.As(err, &small) || small.Over <= 0 || small.Window != 64_000 || len(small.Largest) == 0 || small.Largest[0].Tokens < 10 && name != "reserve" {
					t.Fatalf("got %v, want a TooSmallError with sizes", err)
				}
				if !strings.Contains(err.Error(), "64000") || !strings.Contains(err.Error(), small.Largest[0].Name) {
					t.Errorf("the error names no sizes: %v", err)
				}
			}
		})
	}
}

// TestOddIds: a host whose messages have no ids, one id for all, or ids that are no
// text is planned like any other, and known again.
func TestOddIds(t *testing.T) {
	for name, id := range map[string]func(i int) string{
		"none":        func(int) string { return "" },
		"the same":    func(int) string { return "x" },
		"like ours":   func(i int) string { return []string{"x", "x#2", "x#3"}[i%3] },
		"not UTF-8":   func(i int) string { return "\xff" + strings.Repeat("\xfe", i) },
		"our own":     func(i int) string { return []string{"memkernel:carry", "prompt:1", "chain:1"}[i%3] },
		"very long":   func(i int) string { return strings.Repeat("k", 5000) + fmt.Sprint(i) },
		"line breaks": func(i int) string { return fmt.Sprintf("a\n%d\x00\"", i) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			stay := memoryKernel(t)
			defer stay.Close()
			c := newConversation(61)
			last := ""
			for i := range suite.Pick(6, 9) {
				c.user()
				c.loop(2, 5000)
				req := request(c)
				req.Messages = nil
				for j, m := range c.msgs {
					m.Key = id(j)
					req.Messages = append(req.Messages, m)
				}
				k := openKernel(t, dir)
				p, q := mustPlan(t, k, req), mustPlan(t, stay, req)
				k.Close()
				// The keys of the plan are the kernel's own where the host's do not do.
				checkPlan(t, p, []memkernel.Message{p.Messages[len(p.Messages)-1]})
				newest := c.msgs[len(c.msgs)-1].Parts[0].Result.Content[0].Text
				if got := newestOf(p).Parts[0].Result.Content[0].Text; got != newest {
					t.Fatalf("turn %d: the newest message is not the last", i)
				}
				if diff := cmp.Diff(stream(q), stream(p)); diff != "" {
					t.Fatalf("turn %d: a reopened kernel sends other bytes:\n%s", i, diff)
				}
				if hasFault(p, "host_rewrite") || p.Layout.Made == nil && !strings.HasPrefix(stream(p), last) {
					t.Fatalf("turn %d does not extend the one before: %v", i, p.Faults)
				}
				last = stream(p)
				c.say()
			}
			clean(t, openKernel(t, dir))
		})
	}
}

// TestOddTimes: what the host's clock says is no reason not to plan or to record.
func TestOddTimes(t *testing.T) {
	for name, at := range map[string]time.Time{"none": {}, "milliseconds for seconds": time.Unix(1_793_696_400_000, 0), "before Christ": time.Date(-44, 3, 15, 0, 0, 0, 0, time.UTC)} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			k := openKernel(t, dir)
			c := session(62, 12, 6, 2500)
			for i := range c.msgs {
				c.msgs[i].Time = at
			}
			p := planned(t, k, narrow(c))
			if hasFault(p, fault.NotRecorded) || p.Layout.Made == nil {
				t.Fatalf("faults are %v, cut %v", p.Faults, p.Layout.Made)
			}
			goesOn(t, k, dir, c, p)
		})
	}
}
