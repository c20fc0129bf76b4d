package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
)

// Shown text is what a part says, whatever its kind.
func TestShownText(t *testing.T) {
	parts := []memkernel.Part{
		{Kind: memkernel.PartText, Text: "said"},
		{Kind: memkernel.PartThinking, Text: "thought"},
		{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{Name: "Bash", Input: `{"command":"ls"}`}},
		{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{Content: []memkernel.Part{{Kind: memkernel.PartText, Text: "listed"}}}},
	}
	c := &call{Msgs: []memkernel.Message{{Parts: parts}}}
	c.Hosts = []pagevm.HostMessage{{Segments: []pagevm.Segment{{Kind: pagevm.ItemHost, Page: "run", Parts: 4}, {Kind: pagevm.ItemResult, Page: "ev", Part: 3, Parts: 1}}}}
	for id, want := range map[string]string{"run": "said Bash {\"command\":\"ls\"} listed", "ev": "listed"} {
		if got := strings.Join(strings.Fields(shownText(c, 0, &pagevm.Page{ID: id})), " "); got != want {
			t.Errorf("%s says %q, want %q", id, got, fmt.Sprint(want))
		}
	}
}
