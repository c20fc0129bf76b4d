package web

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/service/token"
	"github.com/memkernel/memkernel/sessions"
)

// refusal returns why a token's rights do not allow a call, or "" if they do. It does not check the
// tenant, because a call can reach only the workspace and the state of the token's own tenant.
func (d *Door) refusal(t *token.Token, a serve.Asked) string {
	switch {
	case a.Need > serve.NeedWrite:
		return "this is for who runs the server"
	case a.Need == serve.NeedWrite && t.Access != token.Write:
		return "the token may read only"
	case !t.Limited():
		return ""
	case a.Whole:
		return "the token is for some sessions, and this reaches all"
	case a.Blobs:
		return "the token is for some sessions, and content that is named by its hash may be any's: name a page"
	case a.Private && d.o.PastSessions && t.Prefix != "":
		return "the token is for some sessions, and a private one finds what was said in others"
	case t.Agent != "" && a.Agent != "" && a.Agent != t.Agent:
		return fmt.Sprintf("the token is for the agent %q", t.Agent)
	}
	for _, key := range a.Sessions {
		switch {
		case !strings.HasPrefix(key, t.Prefix):
			return fmt.Sprintf("the token is for sessions that begin with %q", t.Prefix)
		case t.Agent != "" && cmp.Or(sessions.AgentOf(key), sessions.DefaultAgent) != t.Agent:
			return fmt.Sprintf("the token is for sessions of the agent %q, such as agent:%s:one", t.Agent, t.Agent)
		}
	}
	return ""
}
