package transcript

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
)

func keyed(key string, m memkernel.Message) memkernel.Message {
	m.Key = key
	return m
}

func TestValidate(t *testing.T) {
	ask, last := user(textPart("a")), user(textPart("z"))
	call, answer := assistant(callPart("1")), user(resultPart("1", "x"))
	server := memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: "s", Server: true}}
	compacted := memkernel.Part{Kind: memkernel.PartOther, Raw: `{"type":"compaction","content":"c"}`}
	system := memkernel.Message{Role: memkernel.RoleSystem, Parts: []memkernel.Part{textPart("s")}}
	rsn := memkernel.Part{Kind: memkernel.PartThinking, Signature: "e", Raw: `{"type":"reasoning","encrypted_content":"e"}`}
	thought := keyed("k", assistant(thinkPart("s"), callPart("1")))
	tail := func(m ...memkernel.Message) []memkernel.Message { return m }
	for _, tc := range []struct {
		name string
		p    Provider
		req  Request
		opt  *ValidateOptions
		want []string
	}{
		{"sound", ProviderAnthropic, Request{Messages: tail(ask, call, answer)}, nil, nil},
		{"no result", ProviderAnthropic, Request{Messages: tail(ask, call, last)}, nil, []string{"pair-adjacent"}},
		{"results later", ProviderAnthropic, Request{Messages: tail(ask, call, last, assistant(textPart("b")), answer)}, nil, []string{"pair-adjacent", "no-orphan"}},
		{"answered twice", ProviderAnthropic, Request{Messages: tail(ask, call, answer, answer)}, nil, []string{"pair-adjacent"}},
		{"id twice", ProviderAnthropic, Request{Messages: tail(ask, call, answer, call, answer)}, nil, []string{"pair-adjacent"}},
		{"text first", ProviderAnthropic, Request{Messages: tail(ask, call, user(textPart("b"), resultPart("1", "x")))}, nil, []string{"results-first"}},
		{"orphan", ProviderAnthropic, Request{Messages: tail(user(resultPart("9", "x")))}, nil, []string{"no-orphan"}},
		{"server tool open", ProviderAnthropic, Request{Messages: tail(ask, assistant(server), last)}, nil, []string{"server-tool"}},
		{"assistant first", ProviderAnthropic, Request{Messages: tail(assistant(textPart("b")), last)}, nil, []string{"role"}},
		{"compaction first", ProviderAnthropic, Request{Messages: tail(assistant(compacted), last)}, nil, nil},
		{"compaction later", ProviderAnthropic, Request{Messages: tail(ask, assistant(compacted), last)}, nil, []string{"compaction"}},
		{"compaction twice", ProviderAnthropic, Request{Messages: tail(assistant(compacted, compacted), last)}, nil, []string{"compaction"}},
		{"system after user", ProviderAnthropic, Request{Source: Anthropic, Messages: tail(ask, system)}, nil, nil},
		{"system after assistant", ProviderAnthropic, Request{Source: Anthropic, Messages: tail(ask, assistant(textPart("b")), system)}, nil, []string{"role"}},
		{"unknown role", ProviderAnthropic, Request{Messages: tail(ask, memkernel.Message{Role: "bard", Parts: []memkernel.Part{textPart("b")}}, last)}, nil, []string{"role"}},
		{"prefill", ProviderAnthropic, Request{Messages: tail(ask, assistant(textPart("b")))}, nil, []string{"no-prefill"}},
		{"prefill allowed", ProviderAnthropic, Request{Messages: tail(ask, assistant(textPart("b")))}, &ValidateOptions{Prefill: true}, nil},
		{"thinking kept", ProviderAnthropic, Request{Messages: tail(ask, thought, answer)}, &ValidateOptions{Reference: tail(thought)}, nil},
		{"thinking lost", ProviderAnthropic, Request{Messages: tail(ask, call, answer)}, &ValidateOptions{Reference: tail(thought)}, []string{"thinking-open-loop"}},
		{"thinking lost in a closed loop", ProviderAnthropic, Request{Messages: tail(ask, call, answer, assistant(textPart("b")), last)}, &ValidateOptions{Reference: tail(thought)}, nil},
		{"thinking after a cut", ProviderAnthropic, Request{Messages: tail(ask, thought, answer)}, &ValidateOptions{Changed: true, PreservedThinking: true}, []string{"thinking-all-or-none-after-cut"}},
		{"thinking after a cut, dropped", ProviderAnthropic, Request{Messages: tail(ask, thought, answer)}, &ValidateOptions{Changed: true, PreservedThinking: true, DropBlocks: true}, nil},
		{"thinking before a cut", ProviderAnthropic, Request{Messages: tail(ask, thought, answer)}, &ValidateOptions{Changed: true, PreservedThinking: true, ChangedFrom: 2}, nil},
		{"five markers", ProviderAnthropic, Request{Messages: tail(ask), Markers: make([]Marker, 5)}, nil, []string{"cache-markers"}},
		{"automatic takes one", ProviderAnthropic, Request{Messages: tail(ask), Markers: make([]Marker, 4)}, &ValidateOptions{AutomaticMarker: true}, []string{"cache-markers"}},
		{"hour behind minutes", ProviderAnthropic, Request{Messages: tail(ask), Markers: []Marker{{Message: MarkerSystem, Part: LastPart, TTL: "5m"}, {Message: 0, Part: LastPart, TTL: "1h"}}}, nil, []string{"cache-markers"}},
		{"hour before minutes", ProviderAnthropic, Request{Messages: tail(ask), Markers: []Marker{{Message: 0, Part: LastPart, TTL: "5m"}, {Message: MarkerSystem, Part: LastPart, TTL: "1h"}}}, nil, nil},
		{"marker on thinking", ProviderAnthropic, Request{Messages: tail(ask, thought, answer), Markers: []Marker{{Message: 1, Part: 0, TTL: ""}}}, nil, []string{"cache-markers"}},
		{"marker outside", ProviderAnthropic, Request{Messages: tail(ask), Markers: []Marker{{Message: 3, Part: LastPart, TTL: ""}}}, nil, []string{"cache-markers"}},
		{"empty message", ProviderAnthropic, Request{Messages: tail(ask, assistant(), last)}, nil, []string{"non-empty"}},
		{"empty text", ProviderAnthropic, Request{Messages: tail(user(textPart(" ")))}, nil, []string{"non-empty"}},
		{"tool gone", ProviderAnthropic, Request{Tools: []memkernel.Tool{{Name: "other"}}, Messages: tail(ask, call, answer)}, nil, []string{"non-empty"}},

		{"chat sound", ProviderOpenAI, Request{Messages: tail(system, ask, call, tool(resultPart("1", "x")), last)}, nil, nil},
		{"chat unanswered", ProviderOpenAI, Request{Messages: tail(ask, call, last)}, nil, []string{"calls-answered"}},
		{"chat orphan", ProviderOpenAI, Request{Messages: tail(ask, tool(resultPart("9", "x")))}, nil, []string{"no-orphan-tool"}},
		{"chat begins with tool", ProviderOpenAI, Request{Messages: tail(system, tool(resultPart("9", "x")))}, nil, []string{"window-start", "no-orphan-tool"}},
		{"deepseek", ProviderDeepSeek, Request{Messages: tail(ask, assistant(thinkPart("reasoning_content"), textPart("b")), last, assistant(textPart("c")), last)}, nil, []string{"reasoning-content"}},

		{"responses sound", ProviderResponses, Request{Messages: tail(ask, assistant(rsn, callPart("1")), tool(resultPart("1", "x")))}, nil, nil},
		{"responses unanswered", ProviderResponses, Request{Messages: tail(ask, call)}, nil, []string{"call-output"}},
		{"responses stray", ProviderResponses, Request{Messages: tail(ask, answer)}, nil, []string{"call-output"}},
		{"reasoning alone", ProviderResponses, Request{Messages: tail(ask, assistant(rsn), last)}, nil, []string{"reasoning-group"}},
		{"reasoning lost", ProviderResponses, Request{Messages: tail(ask, keyed("k", call), answer)}, &ValidateOptions{Reference: tail(keyed("k", assistant(rsn, callPart("1"))))}, []string{"reasoning-group"}},
		{"order", ProviderResponses, Request{Messages: tail(keyed("b", ask), keyed("a", last))}, &ValidateOptions{Reference: tail(keyed("a", last), keyed("b", ask))}, []string{"item-order"}},
		{"reasoning after a cut", ProviderResponses, Request{Messages: tail(ask, assistant(rsn, textPart("b")), last)}, &ValidateOptions{Changed: true, PreservedThinking: true}, []string{"reasoning-after-cut"}},

		{"gemini sound", ProviderGemini, Request{Messages: tail(ask, call, answer)}, nil, nil},
		{"gemini missing response", ProviderGemini, Request{Messages: tail(ask, call, last)}, nil, []string{"response-follows-call"}},
		{"gemini begins with model", ProviderGemini, Request{Messages: tail(call, answer)}, nil, []string{"call-follows-user"}},
		{"gemini ends with model", ProviderGemini, Request{Messages: tail(ask, assistant(textPart("b")))}, nil, []string{"call-follows-user"}},
		{"gemini signature", ProviderGemini, Request{Model: "gemini-3-pro", Messages: tail(ask, call, answer)}, nil, []string{"thought-signature"}},
		{"unknown provider", "parrot", Request{}, nil, []string{"provider"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, v := range Validate(tc.p, &tc.req, tc.opt) {
				if !slices.Contains(got, v.Rule) {
					got = append(got, v.Rule)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTailDistance: 20 positions look-back, runs of calls or results as one.
func TestTailDistance(t *testing.T) {
	build := func(n int, part func(i int) memkernel.Part) []memkernel.Message {
		msgs := []memkernel.Message{user(textPart("a"))}
		var parts []memkernel.Part
		for i := range n {
			parts = append(parts, part(i))
		}
		return append(msgs, user(parts...))
	}
	text := func(int) memkernel.Part { return textPart("b") }
	result := func(i int) memkernel.Part { return resultPart(string(rune('a'+i)), "x") }
	for _, tc := range []struct {
		name string
		msgs []memkernel.Message
		bad  bool
	}{
		{"19 behind", build(19, text), false},
		{"20 behind", build(20, text), true},
		{"a run of results", build(25, result), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req := &Request{Messages: tc.msgs, Markers: []Marker{{Message: 1, Part: LastPart, TTL: ""}}}
			found := false
			for _, v := range Validate(ProviderAnthropic, req, &ValidateOptions{PreviousTail: &Marker{Message: 0, Part: 0, TTL: ""}}) {
				found = found || v.Rule == "cache-markers"
			}
			if found != tc.bad {
				t.Errorf("cache-markers violated = %v, want %v", found, tc.bad)
			}
		})
	}
}
