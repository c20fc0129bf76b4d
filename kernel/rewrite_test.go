package kernel_test

import (
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// TestRule6HostRewrite: thinking that a cut made invalid does not come back when the
// host changes what stands in front of it, or takes back what stands behind it.
func TestRule6HostRewrite(t *testing.T) {
	for name, rewrite := range map[string]func(c *conversation, stands func(string) bool){
		"edit late": func(c *conversation, stands func(string) bool) {
			for i := len(c.msgs) - 2; ; i-- {
				if transcript.PlainUser(c.msgs[i]) && stands(c.msgs[i].Key) {
					c.msgs = append([]memkernel.Message(nil), c.msgs...)
					c.msgs[i].Parts = []memkernel.Part{words("edited")}
					return
				}
			}
		},
		"edit": func(c *conversation, stands func(string) bool) {
			for i := range c.msgs {
				if transcript.PlainUser(c.msgs[i]) && stands(c.msgs[i].Key) {
					c.msgs = append([]memkernel.Message(nil), c.msgs...)
					c.msgs[i].Parts = []memkernel.Part{words("edited")}
					return
				}
			}
		},
		"rewind": func(c *conversation, stands func(string) bool) {
			i := len(c.msgs) - 1
			for stands(c.msgs[i].Key) || !transcript.HasResults(c.msgs[i]) {
				i--
			}
			c.msgs = c.msgs[:i+1]
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := memoryKernel(t)
			defer k.Close()
			c := session(93, 14, 5, 1200)
			req := narrow(c)
			req.Model = boundModel
			p := planned(t, k, req)
			gone, stale := goneKeys(p), map[string]bool{}
			if p.Layout.Made == nil || len(gone) == 0 {
				t.Fatal("nothing left")
			}
			for i := range c.msgs {
				stale[c.msgs[i].Key] = true
			}
			rewrite(c, func(key string) bool { return gone[key] == "" })
			req = narrow(c)
			req.Model = boundModel
			q := planned(t, k, req)
			for key := range thinkingKeys(q) {
				if stale[key] {
					t.Errorf("message %s is sent with thinking that a cut made invalid; faults %v", key, q.Faults)
				}
			}
		})
	}
}

// A host that rewinds by truncating its slice, and appends over what stood there,
// has changed nothing of what the kernel knows of another conversation.
func TestHostReusesItsSlice(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := session(71, 3, 2, 1500)
	other := request(c)
	other.Model = "claude-sonnet-4-5"
	whole := mustPlan(t, k, other)
	c.msgs = c.msgs[:len(c.msgs)/2]
	for range 4 {
		c.loop(2, 700)
	}
	for range 2 {
		p := mustPlan(t, k, request(c))
		checkPlan(t, p, c.msgs)
		other.Messages = c.msgs
		q := mustPlan(t, k, other)
		checkPlan(t, q, c.msgs)
		c.loop(1, 500)
	}
	if len(whole.Messages) == 0 {
		t.Fatal("nothing was planned")
	}
}
