package represent

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
)

// Who only called tools has no line of their own: what they called is counted.
func TestSpansHaveNoEmptyLines(t *testing.T) {
	var us []Utterance
	for i := range 12 {
		us = append(us, Utterance{Role: memkernel.RoleUser, Text: fmt.Sprintf("Please look at why the retry of orders_relay_%d fails since the last release; it is urgent.\nThe log of node %d has more.", i, 7*i)},
			Utterance{Role: memkernel.RoleAssistant, Tools: []string{"Read", "TodoWrite"}}, Utterance{Role: memkernel.RoleUser, Text: "\n"},
			Utterance{Role: memkernel.RoleAssistant, Text: fmt.Sprintf("The queue %d is drained before the worker stops, so the retry never runs.\nI moved it to stop_%d.go.", i, i)})
	}
	text := Span("sp-1", us)
	if empty := regexp.MustCompile(`(?m)^(user|assistant)[^:\n]*:\n(\[…\]\n)?(user|assistant|\z)`).FindString(text); empty != "" {
		t.Errorf("it has the line %q in\n%s", empty, text)
	}
	if !strings.Contains(text, "48 messages, 24 tool calls") {
		t.Errorf("the calls are not counted:\n%s", text)
	}
}
