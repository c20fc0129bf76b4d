package replay

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
)

// testBook holds one model for each kind of cache, at round prices: 10 dollars for a
// million tokens of input, 12.5 and 20 written, 1 read, 50 out.
func testBook(t testing.TB) *cachelayout.Book {
	t.Helper()
	const rows = `{"version": 1, "rows": [
	 {"id": "marked", "provider": "anthropic", "tokenizer": "bytes", "cache": "anthropic", "ttls": ["5m", "1h"], "context_window": 1000000,
	  "tiers": [{"above_tokens": 0, "input": 10, "output": 50, "write_5m": 12.5, "write_1h": 20, "read": 1}]},
	 {"id": "auto", "provider": "openai", "tokenizer": "bytes", "cache": "openai-auto", "ttls": ["5m"], "step_tokens": 1, "context_window": 1000000,
	  "tiers": [{"above_tokens": 0, "input": 10, "output": 50, "read": 1}]}]}`
	b, err := cachelayout.DefaultBook().Overlay(strings.NewReader(rows), "test")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// script writes a session by hand. Every message has the number of tokens that it
// names, whatever its text.
type script struct {
	msgs   []memkernel.Message
	tokens []int
	now    time.Time
	calls  int
}

func newScript() *script { return &script{now: time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)} }

func (s *script) wait(d time.Duration) *script { s.now = s.now.Add(d); return s }

func (s *script) say(role memkernel.Role, tokens int, parts ...memkernel.Part) *script {
	s.msgs = append(s.msgs, memkernel.Message{Key: fmt.Sprintf("k%d", len(s.msgs)), Role: role, Time: s.now, Parts: parts})
	s.tokens = append(s.tokens, tokens)
	return s
}

func (s *script) user(tokens int, text string) *script {
	return s.wait(time.Minute).say(memkernel.RoleUser, tokens, textPart(text))
}

// answer is the model's at the time of the message before.
func (s *script) answer(tokens int, text string) *script {
	return s.say(memkernel.RoleAssistant, tokens, textPart(text))
}

// tool is an answer with one call, and the call's result a minute later.
func (s *script) tool(name, input string, tokens int, result string) *script {
	s.calls++
	id := fmt.Sprintf("call%d", s.calls)
	s.say(memkernel.RoleAssistant, 10, memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: id, Name: name, Input: input}})
	return s.wait(time.Minute).say(memkernel.RoleUser, tokens, memkernel.Part{Kind: memkernel.PartToolResult,
		Result: &memkernel.ToolResult{CallID: id, Text: true, Content: []memkernel.Part{textPart(result)}}})
}

func textPart(s string) memkernel.Part { return memkernel.Part{Kind: memkernel.PartText, Text: s} }

// record makes the recording. Tokens of 0 are counted.
func (s *script) record(t testing.TB, opt Options) *Recording {
	t.Helper()
	opt.Prices = testBook(t)
	if opt.Model == "" {
		opt.Model = "marked"
	}
	if opt.TTL == 0 {
		opt.TTL = 5 * time.Minute
	}
	r, err := RecordMessages(s.msgs, nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Items {
		if s.tokens[i] > 0 {
			r.Items[i].Tokens = s.tokens[i]
		}
	}
	return r
}

func replayed(t testing.TB, r *Recording, policy string) *Result {
	t.Helper()
	if policy == Memkernel || strings.HasPrefix(policy, Memkernel+"-") {
		r.Opt.Scratch = t.TempDir()
	}
	out, err := r.Run(context.Background(), policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// usage is what a call reads, writes and costs in millionths of a dollar, gross and
// net.
type usage struct {
	read, write, uncached int
	cost, net             float64
}

func usages(r *Result) []usage {
	var out []usage
	for _, c := range r.Calls {
		out = append(out, usage{c.Read, c.Write, c.Uncached, millionths(c.CostUSD), millionths(c.NetCostUSD)})
	}
	return out
}

func millionths(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return math.Round(*p*1e6*1000) / 1000
}

func compareUsages(t *testing.T, got, want []usage) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d calls, want %d: %+v", len(got), len(want), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("call %d: %+v, want %+v", i+1, got[i], want[i])
		}
	}
}
