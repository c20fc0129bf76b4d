package summary

import (
	"testing"

	"github.com/memkernel/memkernel"
)

func TestRestates(t *testing.T) {
	for _, tt := range []struct {
		was, now string
		want     bool
	}{
		{"The port of `leaseWindow-bc0` is `3773` from now on.", "The port of `leaseWindow-bc0` is `8101` from now on.", true},
		{"从现在起 `queue-1a` 的端口是 `3773`。", "从现在起 `queue-1a` 的端口是 `8101`。", true},
		{"Порт `queue-1a` теперь `3773`.", "Порт `queue-1a` теперь `8101`.", true},
		{"deploys of harbor_api go to eu-west-1", "deploys of harbor_api go to eu-central-1", true},
		{"the limit in config.yaml is 20 MB", "the limit in config.yaml is 64 MB", true},
		{"The port of `leaseWindow-bc0` is `3773` from now on.", "The port of `leaseHold-daa` is `8101` from now on.", false},
		{"The port of `leaseWindow-bc0` is `3773` from now on.", "The port of `leaseWindow-bc0` is `3773` from now on.", false},
		{"Please read the first 20 lines of it", "Please read the first 40 lines of it", false}, // of what?
		{"fix the bug in parser.go and then run it", "fix the typo in parser.go and then run it", false},
		{"yes", "no", false},
		{"", "", false},
	} {
		if got := Restates(tt.was, tt.now); got != tt.want {
			t.Errorf("%q, then %q: %v", tt.was, tt.now, got)
		}
	}
}

// The goal is what holds: said again with another value, it is the newer.
func TestGoalSaidAgain(t *testing.T) {
	var msgs []memkernel.Message
	for _, text := range []string{"The port of queue_relay has to become 3773 on all nodes of the cluster.", "Look at the logs of last night first.", "The port of queue_relay has to become 8101 on all nodes of the cluster."} {
		msgs = append(msgs, memkernel.Message{Role: memkernel.RoleUser, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: text, Typed: true}}},
			memkernel.Message{Role: memkernel.RoleAssistant, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "Done."}}})
	}
	if s := UpdateMasked(State{}, msgs[:4], unmasked); s.Goal.Text != msgs[0].Parts[0].Text {
		t.Errorf("goal %q", s.Goal.Text)
	}
	if s := UpdateMasked(State{}, msgs, unmasked); s.Goal.Text != msgs[4].Parts[0].Text {
		t.Errorf("goal %q", s.Goal.Text)
	}
}
