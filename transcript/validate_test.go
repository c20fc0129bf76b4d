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
	call, answer := assistant(callOfID("1")), user(resultOf("1", "x"))
	server := memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: "s", Server: true}}
	compacted := memkernel.Part{Kind: memkernel.PartOther, Raw: `{"type":"compaction","content":"c"}`}
	system := memkernel.Message{Role: memkernel.RoleSystem, Parts: []memkernel.Part{textPart("s")}}
	rsn := memkernel.Part{Kind: memkernel.PartThinking, Signature: "e", Raw: `{"type":"reasoning","encrypted_content":"e"}`}
	thought := keyed("k", assistant(thinkPart("s"), callOfID("1")))
	tail := func(m ...memkernel.Message) []memkernel.Message { return m }
	for _, tc := range []struct {
		name string
		p    Format
		req  Request
		want []string
	}{
		{"sound", FormatAnthropic, Request{Messages: tail(ask, call, answer)}, nil},
		{"no result", FormatAnthropic, Request{Messages: tail(ask, call, last)}, []string{"pair-adjacent"}},
		{"results later", FormatAnthropic, Request{Messages: tail(ask, call, last, assistant(textPart("b")), answer)}, []string{"pair-adjacent", "no-orphan"}},
		{"answered twice", FormatAnthropic, Request{Messages: tail(ask, call, answer, answer)}, []string{"pair-adjacent"}},
		{"id twice", FormatAnthropic, Request{Messages: tail(ask, call, answer, call, answer)}, []string{"pair-adjacent"}},
		{"text first", FormatAnthropic, Request{Messages: tail(ask, call, user(textPart("b"), resultOf("1", "x")))}, []string{"results-first"}},
		{"orphan", FormatAnthropic, Request{Messages: tail(user(resultOf("9", "x")))}, []string{"no-orphan"}},
		{"server tool open", FormatAnthropic, Request{Messages: tail(ask, assistant(server), last)}, []string{"server-tool"}},
		{"assistant first", FormatAnthropic, Request{Messages: tail(assistant(textPart("b")), last)}, []string{"role"}},
		{"compaction first", FormatAnthropic, Request{Messages: tail(assistant(compacted), last)}, nil},
		{"compaction later", FormatAnthropic, Request{Messages: tail(ask, assistant(compacted), last)}, []string{"compaction"}},
		{"compaction twice", FormatAnthropic, Request{Messages: tail(assistant(compacted, compacted), last)}, []string{"compaction"}},
		{"system after user", FormatAnthropic, Request{Source: anthropic, Messages: tail(ask, system)}, nil},
		{"system after assistant", FormatAnthropic, Request{Source: anthropic, Messages: tail(ask, assistant(textPart("b")), system)}, []string{"role"}},
		{"unknown role", FormatAnthropic, Request{Messages: tail(ask, memkernel.Message{Role: "bard", Parts: []memkernel.Part{textPart("b")}}, last)}, []string{"role"}},
		{"prefill", FormatAnthropic, Request{Messages: tail(ask, assistant(textPart("b")))}, []string{"no-prefill"}},
		{"five markers", FormatAnthropic, Request{Messages: tail(ask), Markers: make([]Marker, 5)}, []string{"cache-markers"}},
		{"hour behind minutes", FormatAnthropic, Request{Messages: tail(ask), Markers: []Marker{{Message: MarkerSystem, Part: LastPart, TTL: "5m"}, {Message: 0, Part: LastPart, TTL: "1h"}}}, []string{"cache-markers"}},
		{"hour before minutes", FormatAnthropic, Request{Messages: tail(ask), Markers: []Marker{{Message: 0, Part: LastPart, TTL: "5m"}, {Message: MarkerSystem, Part: LastPart, TTL: "1h"}}}, nil},
		{"marker on thinking", FormatAnthropic, Request{Messages: tail(ask, thought, answer), Markers: []Marker{{Message: 1, Part: 0, TTL: ""}}}, []string{"cache-markers"}},
		{"marker outside", FormatAnthropic, Request{Messages: tail(ask), Markers: []Marker{{Message: 3, Part: LastPart, TTL: ""}}}, []string{"cache-markers"}},
		{"empty message", FormatAnthropic, Request{Messages: tail(ask, assistant(), last)}, []string{"non-empty"}},
		{"empty text", FormatAnthropic, Request{Messages: tail(user(textPart(" ")))}, []string{"non-empty"}},
		{"tool gone", FormatAnthropic, Request{Tools: []memkernel.Tool{{Name: "other"}}, Messages: tail(ask, call, answer)}, []string{"non-empty"}},

		{"chat sound", FormatOpenAI, Request{Messages: tail(system, ask, call, tool(resultOf("1", "x")), last)}, nil},
		{"chat unanswered", FormatOpenAI, Request{Messages: tail(ask, call, last)}, []string{"calls-answered"}},
		{"chat orphan", FormatOpenAI, Request{Messages: tail(ask, tool(resultOf("9", "x")))}, []string{"no-orphan-tool"}},
		{"chat begins with tool", FormatOpenAI, Request{Messages: tail(system, tool(resultOf("9", "x")))}, []string{"window-start", "no-orphan-tool"}},

		{"responses sound", FormatResponses, Request{Messages: tail(ask, assistant(rsn, callOfID("1")), tool(resultOf("1", "x")))}, nil},
		{"responses unanswered", FormatResponses, Request{Messages: tail(ask, call)}, []string{"call-output"}},
		{"responses stray", FormatResponses, Request{Messages: tail(ask, answer)}, []string{"call-output"}},
		{"reasoning alone", FormatResponses, Request{Messages: tail(ask, assistant(rsn), last)}, []string{"reasoning-group"}},

		{"gemini sound", FormatGemini, Request{Messages: tail(ask, call, answer)}, nil},
		{"gemini missing response", FormatGemini, Request{Messages: tail(ask, call, last)}, []string{"response-follows-call"}},
		{"gemini begins with model", FormatGemini, Request{Messages: tail(call, answer)}, []string{"call-follows-user"}},
		{"gemini ends with model", FormatGemini, Request{Messages: tail(ask, assistant(textPart("b")))}, []string{"call-follows-user"}},
		{"gemini signature", FormatGemini, Request{Model: "gemini-3-pro", Messages: tail(ask, call, answer)}, []string{"thought-signature"}},
		{"unknown provider", "parrot", Request{}, []string{"provider"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, v := range Validate(tc.p, &tc.req) {
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
