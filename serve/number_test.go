package serve

import (
	"strings"
	"testing"
)

// Whole numbers of parameters are taken as JSON writes them, and no others; what is handed
// over as it is keeps its bytes.
func TestWholeNumbers(t *testing.T) {
	ws := shortDir(t)
	started(t, daemon(ws))
	c := connect(t, ws)
	const head = `{"session_key":"n","private":true,"model":"claude-sonnet-4-6","form":"body","format":"anthropic","conversation":{"dialect":"anthropic","messages":[{"role":"user","content":"hi"},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"x","input":{"a":1.0,"b":1e3}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"1e3"}]}]},`
	for numbers, ok := range map[string]bool{
		`"context_window":200000,"max_tokens":1000,"deadline_ms":60000`:              true,
		`"context_window":2e5,"max_tokens":1000.0,"deadline_ms":6.0E+4`:              true,
		`"context_window":200000.0,"reserve":8e3,"max_tokens":1e3,"ttl_seconds":3e2`: true,
		`"context_window":200000.5`:                                                  false,
		`"context_window":"2e5"`:                                                     false,
		`"max_tokens":1e300`:                                                         false,
		`"max_tokens":-5`:                                                            false,
		`"max_tokens":300000,"context_window":200000`:                                false,
		`"context_window":-1`:                                                        false,
		`"reserve":-1`:                                                               false,
		`"overflow":{"input_tokens":5,"limit_tokens":-9}`:                            false,
		`"max_tokens":1000,"economy":0.7`:                                            true,
		`"max_tokens":1000,"economy":1`:                                              true,
		`"max_tokens":1000,"economy":"keep"`:                                         true,
		`"max_tokens":1000,"economy":"0.3"`:                                          true,
		`"economy":1.5`:                                                              false,
		`"economy":"much"`:                                                           false,
		`"economy":{}`:                                                               false,
	} {
		r := c.call("peek", head+numbers+"}")
		if (r.Error == nil) != ok {
			t.Errorf("%s: %+v", numbers, r)
		}
		body, _ := r.Result["body"].(map[string]any)
		if n, _ := body["max_tokens"].(float64); ok && n != 1000 && strings.Contains(numbers, "max_tokens") {
			t.Errorf("%s: the body is %v", numbers, body)
		}
	}
	var p planCall
	if _, err := decodeStrict([]byte(head+`"context_window":1e5,"reserve":1.0}`), &p); err != nil || p.ContextWindow != 100_000 || p.Reserve != 1 {
		t.Errorf("%v %+v", err, p)
	}
	if raw := string(p.Conversation.Messages[1]); !strings.Contains(raw, `{"a":1.0,"b":1e3}`) {
		t.Errorf("the messages became %s", raw)
	}
}
