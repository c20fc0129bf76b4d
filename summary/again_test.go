package summary_test

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/summary"
)

// A host that takes its newest message back, for another try, has the rest read
// again onto what is kept: no decision is there twice.
func TestReadAgain(t *testing.T) {
	var msgs []memkernel.Message
	say := func(key string, r memkernel.Role, text string) {
		msgs = append(msgs, memkernel.Message{Key: key, Role: r, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: text, Typed: r == memkernel.RoleUser}}})
	}
	say("m1", memkernel.RoleUser, "Fix the retry in pkg/queue please.")
	say("m2", memkernel.RoleAssistant, "Shall I use a table?")
	say("m3", memkernel.RoleUser, "yes")
	say("m4", memkernel.RoleAssistant, "Shall I drop the old one?")
	say("m5", memkernel.RoleUser, "yes")
	once := summary.UpdateMasked(summary.State{}, msgs, strings.Clone)
	again := summary.UpdateMasked(once, msgs[:4], strings.Clone)
	if len(once.Decisions) != 2 || len(again.Decisions) != 2 {
		t.Errorf("%d decisions, read again %d, want 2: %+v", len(once.Decisions), len(again.Decisions), again.Decisions)
	}
}
