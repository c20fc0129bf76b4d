package ingest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/pagevm"
	"pgregory.net/rapid"
)

// Whatever a conversation goes on with, and whatever that takes the place of, the
// places that take over what was known are those made anew.
func TestPlacesTakenOverEqualPlacesMadeAnew(t *testing.T) {
	id := rapid.SampledFrom([]string{"a", "b", "c"})
	part := rapid.Custom(func(t *rapid.T) memkernel.Part {
		switch rapid.IntRange(0, 2).Draw(t, "part") {
		case 0:
			return memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: id.Draw(t, "call")}}
		case 1:
			return memkernel.Part{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: id.Draw(t, "result")}}
		}
		return memkernel.Part{Kind: memkernel.PartText, Text: "x"}
	})
	message := rapid.Custom(func(t *rapid.T) memkernel.Message {
		return memkernel.Message{Role: rapid.SampledFrom([]memkernel.Role{memkernel.RoleUser, memkernel.RoleAssistant, memkernel.RoleTool, memkernel.RoleSystem}).Draw(t, "role"),
			Parts: rapid.SliceOfN(part, 0, 3).Draw(t, "parts")}
	})
	rapid.Check(t, func(t *rapid.T) {
		msgs := rapid.SliceOfN(message, 0, 14).Draw(t, "msgs")
		kept := rapid.IntRange(0, len(msgs)).Draw(t, "kept")
		gone := rapid.SliceOfN(message, 0, 4).Draw(t, "rewritten")
		places := func(known []pagevm.Place, kept int, msgs []memkernel.Message) []pagevm.Place {
			return (&Batch{before: &branch.State{Places: known}, Absorbed: kept, Msgs: msgs}).Places()
		}
		known := places(nil, 0, slices.Concat(msgs[:kept], gone))
		if d := cmp.Diff(places(nil, 0, msgs), places(known, kept, msgs)); d != "" {
			t.Fatalf("-anew +taken over:\n%s", d)
		}
	})
}
