package proxy

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/transcript"
)

func bodyOf(t *testing.T, f transcript.Format, members, first string) *transcript.Body {
	t.Helper()
	list := "messages"
	if f == transcript.FormatResponses {
		list = "input"
	}
	b, err := new(transcript.BodyReader).Read(f, "", fmt.Appendf(nil, `{"model":"m",%s%q:[{"role":"user","content":%q}]}`, members, list, first))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestIdentify(t *testing.T) {
	const id = "0a1b2c3d-0000-4000-8000-000000000000"
	for _, tt := range []struct {
		name    string
		format  transcript.Format
		members string
		header  string
		want    string // "" for a hash
		agent   string // of the client
	}{
		{"header", transcript.FormatAnthropic, `"metadata":{"user_id":"session_aaaaaaaaa"},`, "mine", "mine", ""},
		{"session in the user id", transcript.FormatAnthropic, `"metadata":{"user_id":"user_ff_account__session_` + id + `"},`, "", "claude:" + id, ""},
		{"session in JSON", transcript.FormatAnthropic, `"metadata":{"user_id":"{\"device_id\":\"d\",\"session_id\":\"` + id + `\"}"},`, "", "claude:" + id, ""},
		{"a user", transcript.FormatAnthropic, `"metadata":{"user_id":"kim"},`, "", "", ""},
		{"cache key of a session", transcript.FormatResponses, `"prompt_cache_key":"` + id + `",`, "", id, ""},
		{"cache key of an application", transcript.FormatOpenAI, `"prompt_cache_key":"app",`, "", "", ""},
		{"nothing", transcript.FormatOpenAI, ``, "", "", ""},
		{"a session of Codex", transcript.FormatResponses, `"prompt_cache_key":"` + id + `",`, "", "codex:" + id, "codex_cli_rs/0.171.0 (Debian 12; x86_64)"},
		{"another use of Codex", transcript.FormatResponses, `"prompt_cache_key":"` + id + `",`, "", "codex:" + id, "codex_exec/0.169.0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{}
			h.Set("User-Agent", tt.agent)
			if tt.header != "" {
				h.Set(headerSession, tt.header)
			}
			a := identify(h, bodyOf(t, tt.format, tt.members, "one"))
			b := identify(h, bodyOf(t, tt.format, tt.members, "two"))
			switch {
			case tt.want != "" && (a.session != tt.want || !a.exact || b.session != a.session):
				t.Errorf("%+v, %+v", a, b)
			case tt.want == "" && (a.exact || a.session == b.session):
				t.Errorf("two conversations have one key: %+v, %+v", a, b)
			}
		})
	}
}

// The main conversation goes on after its client compacted it; one beside it that
// looks alike is found out when the main one is met again.
func TestLines(t *testing.T) {
	var l lines
	at := func(root, fixed string, tools bool) string {
		return l.of(identity{session: "s", exact: true, root: root + "-------------", fixed: fixed}, tools).branch
	}
	for i, step := range []struct {
		root, fixed string
		tools       bool
		side        bool
	}{
		{"title", "t", false, false}, // the first call of all
		{"main", "m", true, false},   // takes its place
		{"title", "t", false, true},
		{"agent", "a", true, true}, // another speaker
		{"main", "m", true, false},
		{"compacted", "m", true, false}, // the same speaker, a new beginning
		{"compacted", "m", true, false},
		{"twin", "m", true, false}, // looks like a compaction
		{"compacted", "m", true, false},
		{"twin", "m", true, true}, // and was none
		{"compacted", "m2", true, false},
	} {
		if got := at(step.root, step.fixed, step.tools); (got != "") != step.side {
			t.Errorf("step %d, %s: branch %q", i, step.root, got)
		}
	}
	for i := range 3 * maxLines {
		l.of(identity{session: fmt.Sprint(i)}, true)
	}
	if len(l.known) > maxLines || len(l.mains) > maxLines {
		t.Errorf("%d lines, %d sessions are remembered", len(l.known), len(l.mains))
	}
}

// TestSourceHeaders: a request's own headers name where its session comes from, in its
// checkpoints, and are not sent on.
func TestSourceHeaders(t *testing.T) {
	h := http.Header{}
	h.Set("X-Memkernel-Session-File", "/chats/7.jsonl")
	h.Set("X-Memkernel-Channel", "telegram")
	h.Set("X-Memkernel-Agent", "main")
	if got, want := sourceOf(h), (checkpoint.Source{File: "/chats/7.jsonl", Channel: "telegram", Agent: "main"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
