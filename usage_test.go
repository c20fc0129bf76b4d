package memkernel_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel"
)

// TestUsageOfProviders reads objects as providers, gateways and hosts write them.
func TestUsageOfProviders(t *testing.T) {
	type u = memkernel.Usage
	for _, tt := range []struct {
		name, json string
		want       memkernel.Usage
	}{
		{"messages api", `{"input_tokens":12,"cache_creation_input_tokens":2048,"cache_read_input_tokens":31000,"cache_creation":{"ephemeral_5m_input_tokens":48,"ephemeral_1h_input_tokens":2000},"output_tokens":503,"server_tool_use":{"web_search_requests":1,"input_tokens":9},"service_tier":"standard","inference_geo":"us","iterations":[{"input_tokens":5}]}`,
			u{12, 31000, 48, 2000, 503}},
		{"messages api, nothing cached", `{"input_tokens":2095,"output_tokens":503}`, u{2095, 0, 0, 0, 503}},
		{"messages api, nulls", `{"input_tokens":2095,"cache_creation_input_tokens":null,"cache_read_input_tokens":null,"cache_creation":null,"output_tokens":503,"server_tool_use":null,"service_tier":null}`,
			u{2095, 0, 0, 0, 503}},
		{"messages api, all cached", `{"input_tokens":0,"cache_read_input_tokens":31000,"output_tokens":1}`, u{0, 31000, 0, 0, 1}},
		{"messages api, writes without a lifetime", `{"input_tokens":5,"cache_creation_input_tokens":900,"output_tokens":1}`, u{5, 0, 900, 0, 1}},
		{"messages api, writes of which the lifetime of some is told", `{"input_tokens":5,"cache_creation_input_tokens":900,"cache_creation":{"ephemeral_1h_input_tokens":600},"output_tokens":1}`, u{5, 0, 300, 600, 1}},
		{"chat completions", `{"prompt_tokens":2006,"completion_tokens":300,"total_tokens":2306,"prompt_tokens_details":{"cached_tokens":1920,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":64,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}`,
			u{86, 1920, 0, 0, 300}},
		{"chat completions, nulls", `{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29,"prompt_tokens_details":null,"completion_tokens_details":null}`, u{19, 0, 0, 0, 10}},
		{"responses api", `{"input_tokens":328,"input_tokens_details":{"cached_tokens":128},"output_tokens":52,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":380}`, u{200, 128, 0, 0, 52}},
		{"responses api, nothing cached", `{"input_tokens":328,"input_tokens_details":{"cached_tokens":0},"output_tokens":52,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":380}`, u{328, 0, 0, 0, 52}},
		{"responses api, all cached", `{"input_tokens":128,"input_tokens_details":{"cached_tokens":128},"output_tokens":52}`, u{0, 128, 0, 0, 52}},
		{"gemini", `{"promptTokenCount":4000,"cachedContentTokenCount":3000,"candidatesTokenCount":90,"thoughtsTokenCount":200,"toolUsePromptTokenCount":50,"totalTokenCount":4340,"promptTokensDetails":[{"modality":"TEXT","tokenCount":4000}]}`,
			u{1050, 3000, 0, 0, 290}},
		{"gemini, as its python library says", `{"cache_tokens_details":null,"cached_content_token_count":3000,"candidates_token_count":90,"prompt_token_count":4000,"thoughts_token_count":null,"tool_use_prompt_token_count":null,"total_token_count":4090,"traffic_type":null}`,
			u{1000, 3000, 0, 0, 90}},
		{"deepseek", `{"prompt_tokens":100,"completion_tokens":9,"total_tokens":109,"prompt_tokens_details":{"cached_tokens":64},"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}`, u{36, 64, 0, 0, 9}},
		{"deepseek, of early days", `{"completion_tokens":9,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}`, u{36, 64, 0, 0, 9}},
		{"a gateway that fills both names", `{"prompt_tokens":100,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":0},"prompt_cache_hit_tokens":64}`, u{36, 64, 0, 0, 9}},
		{"a gateway that fills the members of all", `{"prompt_tokens":100,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":64},"input_tokens":0,"output_tokens":0,"input_tokens_details":null,"cache_read_input_tokens":0}`, u{36, 64, 0, 0, 9}},
		{"a gateway to claude", `{"prompt_tokens":1000,"completion_tokens":9,"total_tokens":1009,"cache_creation_input_tokens":200,"cache_read_input_tokens":300,"prompt_tokens_details":{"cached_tokens":300,"cache_creation_tokens":200}}`, u{500, 300, 200, 0, 9}},
		{"the same tokens in both ways of counting", `{"prompt_tokens":1000,"input_tokens":500,"cache_creation_input_tokens":200,"cache_read_input_tokens":300,"output_tokens":9}`, u{500, 300, 200, 0, 9}},
		{"openrouter", `{"prompt_tokens":1000,"completion_tokens":9,"cost":0.01,"is_byok":false,"prompt_tokens_details":{"cached_tokens":300,"cache_write_tokens":200}}`, u{500, 300, 200, 0, 9}},
		{"moonshot", `{"prompt_tokens":1000,"completion_tokens":9,"total_tokens":1009,"cached_tokens":768}`, u{232, 768, 0, 0, 9}},
		{"codex", `{"input_tokens":1000,"cached_input_tokens":600,"output_tokens":50,"reasoning_output_tokens":9,"total_tokens":1050}`, u{400, 600, 0, 0, 50}},
		{"OpenCode", `{"total":61675,"input":675,"output":128,"reasoning":37,"cache":{"read":59008,"write":1864}}`, u{675, 59008, 1864, 0, 128}},
		{"pi", `{"input":4,"output":9,"cacheRead":100,"cacheWrite":700,"cacheWrite1h":600,"totalTokens":813,"cost":{"input":0.1,"output":0.2,"total":0.3}}`, u{4, 100, 100, 600, 9}},
		{"gemini cli", `{"input":4000,"output":90,"cached":3000,"thoughts":200,"tool":0,"total":4290}`, u{1000, 3000, 0, 0, 290}},
		{"our own", `{"input_tokens":4,"cache_read_tokens":100,"cache_write_5m_tokens":7,"cache_write_1h_tokens":8,"output_tokens":9}`, u{4, 100, 7, 8, 9}},
		{"whole numbers as json allows", `{"input_tokens":1e3,"output_tokens":20.0}`, u{1000, 0, 0, 0, 20}},
		{"large", `{"prompt_tokens":1000000000000,"prompt_tokens_details":{"cached_tokens":999999999999}}`, u{1, 999999999999, 0, 0, 0}},
		{"empty", ` { } `, u{}},
		{"nothing but nulls", `{"prompt_tokens":null,"completion_tokens":null}`, u{}},
		{"nothing", ` null `, u{}},
	} {
		var got memkernel.Usage
		if err := json.Unmarshal([]byte(tt.json), &got); err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v, want %+v", tt.name, got, err, tt.want)
		}
	}
}

// TestUsageThatCannotBe holds that the error names the member.
func TestUsageThatCannotBe(t *testing.T) {
	for _, tt := range []struct {
		json string
		says []string
	}{
		{`{"input_tokens":-1}`, []string{"input_tokens", "negative"}},
		{`{"input_tokens":5,"cache_read_input_tokens":-3}`, []string{"cache_read_input_tokens", "negative"}},
		{`{"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":-3}}`, []string{"prompt_tokens_details.cached_tokens", "negative"}},
		{`{"input_tokens":5,"cache_creation":{"ephemeral_1h_input_tokens":-3}}`, []string{"cache_creation.ephemeral_1h_input_tokens", "negative"}},
		{`{"prompt_tokens":"12"}`, []string{"prompt_tokens", `"12"`}},
		{`{"prompt_tokens":12.5}`, []string{"prompt_tokens", "12.5"}},
		{`{"prompt_tokens":[12]}`, []string{"prompt_tokens", "[12]"}},
		{`{"completion_tokens":true}`, []string{"completion_tokens", "true"}},
		{`{"prompt_tokens":1e400}`, []string{"prompt_tokens", "more tokens"}},
		{`{"output_tokens":9223372036854775808}`, []string{"output_tokens", "more tokens"}},
		{`{"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":11}}`, []string{"prompt_tokens is 10", "prompt_tokens_details.cached_tokens", "11"}},
		{`{"input_tokens":10,"input_tokens_details":{"cached_tokens":11}}`, []string{"input_tokens is 10", "input_tokens_details.cached_tokens"}},
		{`{"promptTokenCount":10,"cachedContentTokenCount":11}`, []string{"promptTokenCount is 10", "cachedContentTokenCount"}},
		{`{"cachedContentTokenCount":11}`, []string{"cachedContentTokenCount"}},
		{`{"prompt_tokens":10,"cache_read_input_tokens":6,"cache_creation_input_tokens":6}`, []string{"prompt_tokens is 10", "12"}},
		{`{"prompt_tokens":100,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":37}`, []string{"prompt_tokens is 100", "prompt_cache_miss_tokens"}},
		{`{"prompt_tokens":100,"prompt_cache_hit_tokens":64,"prompt_tokens_details":{"cached_tokens":65}}`, []string{"prompt_cache_hit_tokens", "prompt_tokens_details.cached_tokens", "64", "65"}},
		{`{"prompt_tokens":100,"input_tokens":99}`, []string{"prompt_tokens is 100", "input_tokens is 99"}},
		// Of the Messages API or of the Responses API? Nobody can tell.
		{`{"input_tokens":100,"input_tokens_details":{"cached_tokens":40},"cache_read_input_tokens":40}`, []string{"input_tokens_details.cached_tokens", "cache_read_input_tokens"}},
		{`{"input_tokens":100,"input_tokens_details":{"cached_tokens":40},"cache_creation_input_tokens":30}`, []string{"input_tokens_details.cached_tokens", "cache_creation_input_tokens"}},
		{`{"input_tokens":100,"input_tokens_details":{"cached_tokens":40},"cache_read_tokens":41}`, []string{"input_tokens_details.cached_tokens is 40", "cache_read_tokens is 41"}},
		{`{"input_tokens":5,"cache_creation_input_tokens":10,"cache_creation":{"ephemeral_5m_input_tokens":11}}`, []string{"cache_creation_input_tokens", "10", "11"}},
		{`{"inputTokens":5,"outputTokens":7}`, []string{`"inputTokens", "outputTokens"`, "input_tokens"}},
		{`[1]`, []string{"not an object"}},
		{`"12"`, []string{"not an object"}},
		{`12`, []string{"not an object"}},
	} {
		got := memkernel.Usage{InputTokens: 77}
		err := json.Unmarshal([]byte(tt.json), &got)
		if err == nil {
			t.Errorf("%s reads as %+v", tt.json, got)
			continue
		}
		for _, s := range append(tt.says, "usage: ") {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%s: %v: want %q in it", tt.json, err, s)
			}
		}
	}
}

// spellings write usage as those who bill it do.
var spellings = map[string]func(u memkernel.Usage) string{
	"messages": func(u memkernel.Usage) string {
		return fmt.Sprintf(`{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation":{"ephemeral_5m_input_tokens":%d,"ephemeral_1h_input_tokens":%d},"output_tokens":%d}`,
			u.InputTokens, u.CacheWrite5mTokens+u.CacheWrite1hTokens, u.CacheReadTokens, u.CacheWrite5mTokens, u.CacheWrite1hTokens, u.OutputTokens)
	},
	"chat": func(u memkernel.Usage) string {
		return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}`, u.InputTokens+u.CacheReadTokens, u.OutputTokens, u.CacheReadTokens)
	},
	"deepseek": func(u memkernel.Usage) string {
		return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"prompt_cache_hit_tokens":%d,"prompt_cache_miss_tokens":%d}`, u.InputTokens+u.CacheReadTokens, u.OutputTokens, u.CacheReadTokens, u.InputTokens)
	},
	"responses": func(u memkernel.Usage) string {
		return fmt.Sprintf(`{"input_tokens":%d,"output_tokens":%d,"input_tokens_details":{"cached_tokens":%d}}`, u.InputTokens+u.CacheReadTokens, u.OutputTokens, u.CacheReadTokens)
	},
	"gemini": func(u memkernel.Usage) string {
		return fmt.Sprintf(`{"promptTokenCount":%d,"cachedContentTokenCount":%d,"candidatesTokenCount":%d}`, u.InputTokens+u.CacheReadTokens, u.CacheReadTokens, u.OutputTokens)
	},
	"ours": func(u memkernel.Usage) string {
		b, _ := json.Marshal(u)
		return string(b)
	},
}

// TestUsageIsReadBack writes any usage in every spelling, among members that nobody
// knows, and expects it back.
func TestUsageIsReadBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := func(name string) int { return rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 1<<38)).Draw(rt, name) }
		u := memkernel.Usage{InputTokens: n("input"), CacheReadTokens: n("read"), OutputTokens: n("output")}
		name := rapid.SampledFrom([]string{"messages", "chat", "deepseek", "responses", "gemini", "ours"}).Draw(rt, "spelling")
		if name == "messages" || name == "ours" {
			u.CacheWrite5mTokens, u.CacheWrite1hTokens = n("5m"), n("1h")
		}
		var m map[string]any
		d := json.NewDecoder(bytes.NewReader([]byte(spellings[name](u))))
		d.UseNumber()
		if err := d.Decode(&m); err != nil {
			rt.Fatal(err)
		}
		m["x_"+rapid.String().Draw(rt, "unknown")] = rapid.SampledFrom([]any{nil, -5, "text", []int{-1}, map[string]int{"input_tokens": -1}}).Draw(rt, "value")
		for k, v := range m {
			if v == json.Number("0") && rapid.Bool().Draw(rt, "null") {
				m[k] = nil
			}
		}
		raw, _ := json.Marshal(m)
		var got memkernel.Usage
		if err := json.Unmarshal(raw, &got); err != nil || got != u {
			rt.Fatalf("%s: %s reads as %+v, %v; want %+v", name, raw, got, err, u)
		}
	})
}

// FuzzUsage holds that whatever is read can be a bill, and is the same when written.
func FuzzUsage(f *testing.F) {
	for _, spell := range spellings {
		f.Add([]byte(spell(memkernel.Usage{InputTokens: 3, CacheReadTokens: 5, OutputTokens: 7})))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var u, again memkernel.Usage
		if json.Unmarshal(data, &u) != nil {
			return
		}
		if min(u.InputTokens, u.CacheReadTokens, u.CacheWrite5mTokens, u.CacheWrite1hTokens, u.OutputTokens) < 0 {
			t.Fatalf("%s reads as %+v", data, u)
		}
		raw, _ := json.Marshal(u)
		if err := json.Unmarshal(raw, &again); err != nil || again != u {
			t.Fatalf("%s was read as %+v, and what was written of it as %+v, %v", data, u, again, err)
		}
	})
}

// TestUsageOfStreams reads the events of streams, as lines and as JSON.
func TestUsageOfStreams(t *testing.T) {
	type u = memkernel.Usage
	for _, tt := range []struct {
		name   string
		events []string
		want   memkernel.Usage
	}{
		{"messages api", []string{`event: message_start`, `data: {"type":"message_start","message":{"type":"message","usage":{"input_tokens":5,"cache_creation_input_tokens":900,"output_tokens":1}}}`, `data: {"type":"message_delta","usage":{"output_tokens":40}}`, `data: {"type":"message_stop"}`},
			u{5, 0, 900, 0, 40}},
		{"messages api, nulls at the end", []string{`{"type":"message_start","message":{"usage":{"input_tokens":5,"cache_read_input_tokens":70,"output_tokens":1}}}`, `{"type":"message_delta","usage":{"input_tokens":6,"cache_read_input_tokens":null,"output_tokens":9}}`},
			u{6, 70, 0, 0, 9}},
		{"chat completions", []string{`data: {"choices":[{"delta":{"content":"\"usage\": none"}}],"usage":null}`, `data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":64}}}`, `data: [DONE]`},
			u{36, 64, 0, 0, 9}},
		{"responses api", []string{`{"type":"response.created","response":{"status":"in_progress","usage":null}}`, `{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":328,"input_tokens_details":{"cached_tokens":128},"output_tokens":52}}}`},
			u{200, 128, 0, 0, 52}},
		{"gemini", []string{`{"candidates":[],"usageMetadata":{"promptTokenCount":4000,"cachedContentTokenCount":3000,"candidatesTokenCount":1}}`, `{"usageMetadata":{"promptTokenCount":4000,"candidatesTokenCount":90,"thoughtsTokenCount":200}}`},
			u{1000, 3000, 0, 0, 290}},
		{"a gateway that says its message in words", []string{`{"message":"ok","usage":{"input_tokens":3,"output_tokens":1}}`}, u{3, 0, 0, 0, 1}},
	} {
		var s memkernel.StreamUsage
		for _, e := range tt.events {
			s.Add([]byte(e))
		}
		if got, err := s.Usage(); err != nil || got == nil || *got != tt.want {
			t.Errorf("%s: %+v, %v, want %+v", tt.name, got, err, tt.want)
		}
	}
	var s memkernel.StreamUsage
	s.Add([]byte(`{"delta":{"text":"hello"}}`))
	if got, err := s.Usage(); got != nil || err != nil {
		t.Errorf("a stream without usage: %+v, %v", got, err)
	}
	s.Add([]byte(`{"usage":{"input_tokens":-1}}`))
	if _, err := s.Usage(); err == nil {
		t.Error("a negative figure passes")
	}
}
