package proxy_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/proxy"
)

// flushes tells flush turns from the client's requests.
func flushes(all []fakemodel.Request) (asked []fakemodel.Request) {
	for _, r := range all {
		if strings.Contains(string(r.Body), api.NoReply) {
			asked = append(asked, r)
		}
	}
	return asked
}

// TestFlushTurns: where it is wanted, and only there, the model is asked once before a cut
// what should outlive it, by the client's way. What it answers stands in the day's log,
// masked and as the agent's; the client's answers and later requests hold nothing of it,
// and a model that fails changes nothing.
func TestFlushTurns(t *testing.T) {
	secret := "AKIA" + "IOSFODNN7EXAMPLE"
	for name, a := range map[string]clientAPI{"anthropic": anthropic, "chat": openai, "responses": responses} {
		for how, reply := range map[string]*fakemodel.Reply{
			"writes": {Text: "- [decision] The plan has many parts, the key is " + secret + "."},
			"fails":  {Status: http.StatusTooManyRequests, Kind: "rate_limit_error", Error: "slow down, " + secret},
			"off":    nil,
		} {
			if name != "anthropic" && how != "writes" && !suite.Long() {
				continue
			}
			t.Run(name+" "+how, func(t *testing.T) {
				s := newStage(t, fakemodel.Options{Script: func(turn fakemodel.Turn) fakemodel.Reply {
					if len(turn.Tools) == 0 && reply != nil {
						return *reply
					}
					return script(turn)
				}}, proxy.Options{FlushTurns: reply != nil, ContextWindow: 20_000}, nil)
				s.turns(a, 16, "X-Memkernel-Session", "one", "Authorization", "Bearer of-the-client", "X-Api-Key", "k", "Anthropic-Version", "2023-06-01")
				asked := flushes(s.model.Requests())
				st, err := s.k.Status(t.Context(), nil)
				if err != nil || len(st.Sessions) != 1 || st.Sessions[0].Turns != 16 {
					t.Fatal(fmt.Sprintf("%+v", st.Sessions), err)
				}
				if cuts := st.Sessions[0].Lines[0].Cuts; (reply == nil) != (len(asked) == 0) || len(asked) > 2*(cuts+1) {
					t.Fatalf("asked %d times, and cut %d times", len(asked), cuts)
				}
				for _, r := range asked {
					if r.Path != a.path || r.Header.Get("Authorization") != "Bearer of-the-client" || r.Header.Get("X-Memkernel-Session") != "" || r.Stream || !strings.Contains(string(r.Body), "of the plan") {
						t.Errorf("asked at %s with %v:\n%.2000s", r.Path, r.Header, r.Body)
					}
				}
				logs, _ := filepath.Glob(filepath.Join(s.dir, "memory", "*.md"))
				var text string
				for _, f := range logs {
					data, _ := os.ReadFile(f)
					text += string(data)
				}
				if wrote := strings.Contains(text, "The plan has many parts") && strings.Contains(text, "<!-- mk:fa-"); wrote != (how == "writes") || strings.Contains(text, secret) {
					t.Errorf("the logs say\n%s", text)
				}
				if told := strings.Contains(s.log.String(), "flush: 1 entry to memory/"); told != (how == "writes") || strings.Contains(s.log.String(), secret) || strings.Contains(s.log.String(), "of-the-client") {
					t.Errorf("the proxy's log says\n%s", s.log)
				}
				if failed := strings.Contains(s.log.String(), "the upstream answered with status 429"); failed != (how == "fails") {
					t.Errorf("the proxy's log says\n%s", s.log)
				}
				for _, r := range s.model.Requests() {
					if strings.Contains(string(r.Body), "What of this session should be remembered") && len(flushes([]fakemodel.Request{r})) == 0 {
						t.Errorf("request %d shows the flush turn", r.N)
					}
				}
			})
		}
	}
}
