package kernel_test

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/retrieval"
)

// Where a hook brought what memory holds with the user's words, a proxy that plans the same
// call does not bring it again; of the next turn's words it does.
func TestRecalledByAHook(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "memory/harbour.md", "# Harbour\n\n- The lantern on the mole is lit at 21:30 from May on.\n- The crane is greased every second Tuesday.\n")
	k := openKernel(t, dir)
	defer k.Close()
	if _, err := k.Search(t.Context(), api.SearchRequest{Query: "lantern", Private: true}); err != nil {
		t.Fatal(err)
	}
	block := retrieval.Render([]retrieval.Item{{Citation: "memory/harbour.md:3", Text: "The lantern on the mole is lit at 21:30 from May on."}})
	c := newConversation(3)
	c.add(memkernel.RoleUser, words("When is the lantern on the mole lit?"), words("<system-reminder>\nUserPromptSubmit hook additional context: "+block+"</system-reminder>"))
	req := request(c)
	req.Private = true
	p := planned(t, k, req)
	if n := strings.Count(stream(p), "lit at 21:30"); n != 1 || p.Retrieval.Tokens > 0 || !strings.Contains(p.Retrieval.Detail, "the host brought") {
		t.Errorf("it stands %d times: %+v", n, p.Retrieval)
	}
	c.say()
	c.add(memkernel.RoleUser, words("How often is the crane greased?"))
	req = request(c)
	req.Private = true
	if p = planned(t, k, req); p.Retrieval.Tokens == 0 || !strings.Contains(stream(p), "every second Tuesday") {
		t.Errorf("the next turn: %+v", p.Retrieval)
	}
}
