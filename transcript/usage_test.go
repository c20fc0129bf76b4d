package transcript

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
)

// logs are one billed answer each, with room for its usage; line is where that is.
var logs = []struct {
	dialect Dialect
	text    string
	line    int
	strict  bool
}{
	{ClaudeCode, `{"type":"user","uuid":"u","sessionId":"s","timestamp":"2026-03-01T10:00:00Z","message":{"role":"user","content":"hi"}}
{"type":"assistant","uuid":"a","parentUuid":"u","sessionId":"s","timestamp":"2026-03-01T10:00:03Z","message":{"id":"m","role":"assistant","model":"claude-opus-4-6","content":[{"type":"text","text":"yes"}],"usage":%s}}
`, 2, false},
	{Pi, `{"type":"session","version":3,"id":"s","timestamp":"2026-03-01T10:00:00Z","cwd":"/w"}
{"type":"message","id":"u","timestamp":"2026-03-01T10:00:00Z","message":{"role":"user","content":"hi"}}
{"type":"message","id":"a","parentId":"u","timestamp":"2026-03-01T10:00:02Z","message":{"role":"assistant","content":[{"type":"text","text":"yes"}],"usage":%s,"stopReason":"stop"}}
`, 3, false},
	{Codex, `{"timestamp":"2026-03-01T10:00:00Z","type":"session_meta","payload":{"id":"s"}}
{"timestamp":"2026-03-01T10:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}
{"timestamp":"2026-03-01T10:00:02Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"yes"}]}}
{"timestamp":"2026-03-01T10:00:02Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":1},"last_token_usage":%s}}}
`, 4, false},
	{anthropic, `{"model":"claude-opus-4-6","system":"s","messages":[{"role":"user","content":"hi"},
 {"role":"assistant","content":"yes",
  "usage":%s}]}`, 2, true},
	{OpenAI, `{"model":"gpt-5","messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"},
 {"role":"assistant","content":"yes","refusal":null,"usage":%s}]}`, 2, true},
}

// TestUsageInTranscripts hands in every provider's usage in every dialect. One that
// cannot be costs a log the bill alone, and is an error in a request, by line and name.
func TestUsageInTranscripts(t *testing.T) {
	want := memkernel.Usage{InputTokens: 86, CacheReadTokens: 1920, OutputTokens: 300}
	spellings := []string{
		`{"input_tokens":86,"cache_creation_input_tokens":0,"cache_read_input_tokens":1920,"output_tokens":300,"service_tier":"standard"}`,
		`{"prompt_tokens":2006,"completion_tokens":300,"total_tokens":2306,"prompt_tokens_details":{"cached_tokens":1920}}`,
		`{"input_tokens":2006,"input_tokens_details":{"cached_tokens":1920},"output_tokens":300,"output_tokens_details":{"reasoning_tokens":64}}`,
		`{"promptTokenCount":2006,"cachedContentTokenCount":1920,"candidatesTokenCount":236,"thoughtsTokenCount":64,"promptTokensDetails":[]}`,
		`{"prompt_tokens":2006,"prompt_cache_hit_tokens":1920,"prompt_cache_miss_tokens":86,"completion_tokens":300}`,
	}
	answer := func(s *Session) *memkernel.Message { return &s.View(Full)[len(s.View(Full))-1] }
	for _, l := range logs {
		for _, u := range spellings {
			s, err := Load(strings.NewReader(fmt.Sprintf(l.text, u)), "f", &Options{Dialect: l.dialect})
			if err != nil {
				t.Fatalf("%s: %v", l.dialect, err)
			}
			if m := answer(s); m.Usage == nil || *m.Usage != want {
				t.Errorf("%s: %s reads as %+v", l.dialect, u, m.Usage)
			}
		}
		for _, u := range []string{`null`, `{}`} {
			if s, err := Load(strings.NewReader(fmt.Sprintf(l.text, u)), "f", &Options{Dialect: l.dialect}); err != nil || answer(s).Usage != nil || len(s.Notes) > 0 {
				t.Errorf("%s: %s: %v", l.dialect, u, err)
			}
		}
		s, err := Load(strings.NewReader(fmt.Sprintf(l.text, `{"input_tokens":-4,"output_tokens":3}`)), "f", &Options{Dialect: l.dialect})
		var at *LineError
		switch {
		case l.strict && (!errors.As(err, &at) || at.Line != l.line || !strings.Contains(err.Error(), "input_tokens is negative")):
			t.Errorf("%s: %v", l.dialect, err)
		case l.strict:
		case err != nil:
			t.Errorf("%s: %v", l.dialect, err)
		case answer(s).Usage != nil || Text(*answer(s)) != "yes" || len(s.Notes) != 1 || s.Notes[0].Line != l.line || !strings.Contains(s.Notes[0].Text, "input_tokens is negative"):
			t.Errorf("%s: usage %+v, notes %+v", l.dialect, answer(s).Usage, s.Notes)
		}
	}
}

// A log of Claude Code tells what the provider removed of a request's thinking, however many
// records an answer has.
func TestReportedInTranscripts(t *testing.T) {
	record := `{"type":"assistant","uuid":"a%d","parentUuid":"u","sessionId":"s","timestamp":"2026-10-01T10:00:03Z","message":{"id":"m","role":"assistant","model":"claude-sonnet-5-5","content":[{"type":"text","text":"part %d"}],"usage":{"input_tokens":5},"input_transformations":[{"type":"thinking_dropped","path":"messages.1.content.0","reason":"prefix_binding_mismatch"}],"diagnostics":null}}` + "\n"
	log := `{"type":"user","uuid":"u","sessionId":"s","timestamp":"2026-10-01T10:00:00Z","message":{"role":"user","content":"hi"}}` + "\n" + fmt.Sprintf(record, 1, 1) + strings.Replace(fmt.Sprintf(record, 2, 2), `"u","sessionId"`, `"a1","sessionId"`, 1)
	s, err := Load(strings.NewReader(log), "log.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	msgs := s.View(Full)
	if m := msgs[len(msgs)-1]; m.Reported.Of(memkernel.RemovedPrefix) != 1 || m.Usage == nil {
		t.Errorf("%d messages, the last %+v reported %+v", len(msgs), m.Parts, m.Reported)
	}
}
