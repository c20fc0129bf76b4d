package serve

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestUsageAsItCame observes turns with usage as providers write it, and reads the bills
// back. Members that nobody knows are taken inside usage and nowhere else.
func TestUsageAsItCame(t *testing.T) {
	ws := shortDir(t)
	started(t, daemon(ws))
	c := connect(t, ws)
	talk := func(n int, usage, more string) (string, string) {
		said := fmt.Sprintf(`"session_key":"u%d","private":true,"model":"claude-sonnet-4-6"`, n)
		words := `{"role":"user","content":"` + strings.Repeat("a long question ", 300) + `"}`
		return `{` + said + `,"conversation":{"dialect":"openai","messages":[` + words + `]}}`,
			`{` + said + `,"plan_id":"%s","usage":` + usage + more + `,"conversation":{"dialect":"openai","messages":[` + words + `,{"role":"assistant","content":"yes"}]}}`
	}
	observe := func(n int, usage, more string) reply {
		plan, turn := talk(n, usage, more)
		id, _ := c.call("plan", plan).Result["plan_id"].(string)
		return c.call("observe_turn", fmt.Sprintf(turn, id))
	}
	for n, usage := range []string{
		`{"input_tokens":100,"cache_creation_input_tokens":200,"cache_read_input_tokens":700,"cache_creation":{"ephemeral_5m_input_tokens":50,"ephemeral_1h_input_tokens":150},"output_tokens":9,"server_tool_use":null,"service_tier":"standard","new":{"of":["tomorrow"]}}`,
		`{"prompt_tokens":1000,"completion_tokens":9,"total_tokens":1009,"prompt_tokens_details":{"cached_tokens":700,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}`,
		`{"input_tokens":1000,"input_tokens_details":{"cached_tokens":700},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":1009}`,
		`{"promptTokenCount":1e3,"cachedContentTokenCount":700,"candidatesTokenCount":9,"totalTokenCount":1009}`,
		`{"prompt_tokens":1000,"prompt_cache_hit_tokens":700,"prompt_cache_miss_tokens":300,"completion_tokens":9}`,
		`{"input_tokens":300,"cache_read_tokens":700,"output_tokens":9}`,
	} {
		if r := observe(n, usage, ""); r.Error != nil || r.Result["outcome"] != "committed" || r.Result["faults"] != nil {
			t.Fatalf("%s: %+v %v", usage, r.Result, r.Error)
		}
		var st struct {
			Total struct{ Billed map[string]int }
		}
		raw, _ := json.Marshal(c.call("usage", fmt.Sprintf(`{"session_key":"u%d"}`, n)).Result)
		if err := json.Unmarshal(raw, &st); err != nil || st.Total.Billed["input_tokens"] != 1000 || st.Total.Billed["cache_read_tokens"] != 700 {
			t.Errorf("%s was billed as %s, %v", usage, raw, err)
		}
		if n == 0 && (st.Total.Billed["cache_write_1h_tokens"] != 150 || st.Total.Billed["cache_write_5m_tokens"] != 50) {
			t.Errorf("writes by lifetime: %v", st.Total.Billed)
		}
	}
	for usage, says := range map[string]string{
		`{"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":11}}`: "prompt_tokens_details.cached_tokens",
		`{"input_tokens":-1}`:            "input_tokens is negative",
		`{"tokens":1}`:                   `"tokens"`,
		`12`:                             "not an object",
		`{"input_tokens":1},"usages":{}`: "usages",
	} {
		r := observe(90, usage, "")
		if r.Error == nil || r.Error.Code != -32602 || !strings.Contains(r.Error.Message, says) {
			t.Errorf("%s: %+v", usage, r.Error)
		}
	}
	for _, none := range []string{`null`, `{}`, `{"prompt_tokens":null}`} {
		if r := observe(91, none, `,"advancement_key":"k"`); r.Error != nil || r.Result["faults"] != nil {
			t.Errorf("%s: %+v %v", none, r.Error, r.Result["faults"])
		}
	}
}
