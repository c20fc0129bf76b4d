package hook

import (
	"encoding/json"
	"strings"
	"testing"
)

// A person who resumes a session whose cache has expired is told what the next message costs;
// the model is told nothing of it, and whatever the host writes there fails no hook.
func TestResumedSaysWhatTheNextMessageCosts(t *testing.T) {
	for name, tt := range map[string]struct{ event, want string }{
		"expired":       {`"source":"resume","context_tokens":149773,"prompt_cache_likely_expired":true,"estimated_cache_write_usd":1.1982`, "149773 tokens to it again, for about $1.20."},
		"forked":        {`"source":"fork","context_tokens":31000,"prompt_cache_likely_expired":true`, "31000 tokens to it again."},
		"warm":          {`"source":"resume","context_tokens":149773,"prompt_cache_likely_expired":false,"estimated_cache_write_usd":1.1982`, ""},
		"an older host": {`"source":"resume"`, ""},
		"another shape": {`"source":"resume","context_tokens":"many","prompt_cache_likely_expired":1`, ""},
		"a new session": {`"source":"startup"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, nil)
			out := p.raw(Claude, `{"hook_event_name":"SessionStart","session_id":"s1","cwd":`+quoted(p.dir)+`,`+tt.event+`}`)
			var a struct {
				Message string `json:"systemMessage"`
			}
			if out != "" && json.Unmarshal([]byte(out), &a) != nil {
				t.Fatalf("%q", out)
			}
			if (tt.want == "") != (a.Message == "") || !strings.Contains(a.Message, tt.want) {
				t.Errorf("the person is told %q, want %q", a.Message, tt.want)
			}
			if strings.Contains(contextOf(t, out), "cache") {
				t.Errorf("the model is told %q", contextOf(t, out))
			}
			if log := p.log(); log != "" {
				t.Errorf("problems: %s", log)
			}
		})
	}
}

func quoted(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}
