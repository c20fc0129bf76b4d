package kernel_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
)

const shapedCall = "toolu_pack"

// packed is a large result that the model has not seen.
func packed() api.Result {
	var b strings.Builder
	b.WriteString("{\"error\": \"crate 77 has no lid\", \"crates\": [\n")
	for i := range 200 {
		fmt.Fprintf(&b, "  {\"crate\": %d, \"worker\": %d, \"state\": \"packed\", \"lid\": true},\n", i, i%7)
	}
	b.WriteString("  {\"crate\": 977, \"worker\": 3, \"state\": \"open\", \"lid\": false}\n]}")
	return api.Result{SessionKey: "s", Text: b.String(), Resolver: "memkernel get -s s",
		Call: memkernel.ToolCall{ID: shapedCall, Name: "Bash", Input: `{"command":"make pack"}`}}
}

// packedTurn is a turn with the call, as a host has it that shows a text as its result.
func packedTurn(shown string) []memkernel.Message {
	call := packed().Call
	text := func(s string) []memkernel.Part {
		return []memkernel.Part{{Kind: memkernel.PartText, Text: s, Typed: true}}
	}
	return []memkernel.Message{
		{Key: "u0", Role: memkernel.RoleUser, Parts: text("pack the crates")},
		{Key: "u1", Role: memkernel.RoleAssistant, Parts: []memkernel.Part{{Kind: memkernel.PartToolUse, Call: &call}}},
		{Key: "u2", Role: memkernel.RoleUser, Parts: []memkernel.Part{{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: call.ID, Text: true, Content: text(shown)}}}},
		{Key: "u3", Role: memkernel.RoleAssistant, Parts: text("It stopped.")},
	}
}

func shaped(t *testing.T, k *kernel.Kernel) (text, page string) {
	t.Helper()
	text, err := k.Hooks().Shape(context.Background(), packed())
	if err != nil {
		t.Fatal(err)
	}
	if i := strings.LastIndex(text, "ev-"); i >= 0 {
		page = text[i:][:19]
	}
	return text, page
}

// TestShapedTurn: a turn whose result the model saw shaped is learned from as if it had seen the
// whole, and a plan shows what the host has.
func TestShapedTurn(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	text, page := shaped(t, k)
	if page == "" || len(text) > len(packed().Text)/2 {
		t.Fatalf("shaped to %q", text)
	}
	for range 2 {
		observe(t, k, api.Turn{SessionKey: "s", Messages: packedTurn(text)})
	}
	got, err := k.Get(context.Background(), "s", page)
	if err != nil || got.Reason != api.GetOK || got.Text != packed().Text {
		t.Errorf("%s holds %.80q, %v", page, got.Text, err)
	}
	p := mustPlan(t, k, api.PlanRequest{SessionKey: "s", Messages: packedTurn(text), Prompt: "and now?", Resolver: "memory_get"})
	shown := 0
	for _, m := range p.Messages {
		for _, part := range m.Parts {
			if r := part.Result; r != nil && r.CallID == shapedCall && len(r.Content) == 1 && r.Content[0].Text == text {
				shown++
			}
		}
	}
	if shown != 1 {
		t.Errorf("the plan shows the shaped result %d times", shown)
	}
	st, _, err := k.SessionStatus(context.Background(), "s")
	if err != nil || st.Turns != 1 || st.Pages != 5 { // the prompt's, too
		t.Errorf("%d turns and %d pages, %v", st.Turns, st.Pages, err)
	}
}

// TestShapedIsCounted: what a hook kept out of the prompts of calls that were only observed, and what
// the model fetched back of it, is in the sums of what was billed, once.
func TestShapedIsCounted(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	text, page := shaped(t, k)
	msgs := packedTurn(text)
	msgs[3].Usage, msgs[3].Model = &memkernel.Usage{InputTokens: 9000, OutputTokens: 10}, "claude-opus-4-5"
	for range 2 {
		observe(t, k, api.Turn{SessionKey: "s", Messages: msgs})
	}
	call := memkernel.ToolCall{ID: "toolu_get", Name: "Bash", Input: `{"command":"memkernel get -s s ` + page + `"}`}
	part := func(s string) []memkernel.Part {
		return []memkernel.Part{{Kind: memkernel.PartText, Text: s, Typed: true}}
	}
	msgs = append(msgs, memkernel.Message{Key: "u4", Role: memkernel.RoleUser, Parts: part("show me all of it")},
		memkernel.Message{Key: "u5", Role: memkernel.RoleAssistant, Parts: []memkernel.Part{{Kind: memkernel.PartToolUse, Call: &call}}},
		memkernel.Message{Key: "u6", Role: memkernel.RoleUser, Parts: []memkernel.Part{{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: call.ID, Text: true, Content: part(packed().Text)}}}},
		memkernel.Message{Key: "u7", Role: memkernel.RoleAssistant, Parts: part("Here."), Model: "claude-opus-4-5", Usage: &memkernel.Usage{InputTokens: 19_000, OutputTokens: 10}})
	observe(t, k, api.Turn{SessionKey: "s", Messages: msgs})
	r, err := k.Usage(context.Background(), billing.Options{})
	if err != nil || len(r.Total.FirstSight) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if f := r.Total.FirstSight[0]; f.Kind != "json" || f.Results != 1 || f.Tokens < 2500 || f.FetchedTokens <= f.Tokens {
		t.Errorf("%+v", f)
	}
}

// TestShapedKill kills the process before each of its writes: either the model was shown
// nothing, and the host's own result makes the page, or the page is whole.
func TestShapedKill(t *testing.T) {
	suite.EveryWrite(t, "TestShapedKillChild", 3, func(dir string, n int, out []byte) {
		k := openKernel(t, dir)
		defer k.Close()
		shown := packed().Text
		for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
			if id, ok := strings.CutPrefix(s.Text(), "ACK "); ok {
				shown = "the end of it, whole: memkernel get -s s " + id
			}
		}
		observe(t, k, api.Turn{SessionKey: "s", Messages: packedTurn(shown)})
		st, _, err := k.SessionStatus(context.Background(), "s")
		if err != nil || st.Pages != 4 {
			t.Fatalf("killed at %d: %d pages, %v", n, st.Pages, err)
		}
		_, page := shaped(t, k)
		if page != "" {
			t.Fatalf("killed at %d: the call is shaped again", n)
		}
		found, err := k.Check(context.Background())
		if err != nil || len(found) > 0 {
			t.Fatalf("killed at %d: %v, %v", n, found, err)
		}
		if whole := evidenceOf(t, k); whole != packed().Text {
			t.Fatalf("killed at %d: the page holds %.100q", n, whole)
		}
	})
}

// TestShapedKillChild is the process that TestShapedKill kills.
func TestShapedKillChild(t *testing.T) {
	k := openKernel(t, suite.Child(t))
	_, page := shaped(t, k)
	fmt.Printf("ACK %s\n", page)
	k.Close()
}

// evidenceOf is what the page of the call holds.
func evidenceOf(t *testing.T, k *kernel.Kernel) string {
	t.Helper()
	other := t.TempDir()
	k2 := openKernel(t, other)
	defer k2.Close()
	_, page := shaped(t, k2) // a call's page has the same id everywhere
	got, err := k.Get(context.Background(), "s", page)
	if err != nil {
		t.Fatal(err)
	}
	return got.Text
}

// TestShapedForgotten: what was forgotten is not kept again from the shaped text that the host
// still has.
func TestShapedForgotten(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	text, page := shaped(t, k)
	observe(t, k, api.Turn{SessionKey: "s", Messages: packedTurn(text)})
	forget(t, k, true, page)
	p := mustPlan(t, k, api.PlanRequest{SessionKey: "s", Messages: packedTurn(text), Prompt: "and now?"})
	if slices.ContainsFunc(p.Messages, func(m memkernel.Message) bool { return strings.Contains(fmt.Sprint(shapedTexts(m)), "no lid") }) {
		t.Error("the plan shows what was forgotten")
	}
}

func shapedTexts(m memkernel.Message) (out []string) {
	for _, p := range m.Parts {
		if p.Result != nil {
			for _, c := range p.Result.Content {
				out = append(out, c.Text)
			}
		}
	}
	return out
}
