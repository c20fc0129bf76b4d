package kernel_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// lastCall cuts a view off before its last model call: what that call was sent.
func lastCall(msgs []memkernel.Message) ([]memkernel.Message, transcript.Call, bool) {
	calls := transcript.Calls(msgs)
	for i := len(calls) - 1; i >= 0; i-- {
		if c := calls[i]; c.Index > 0 && msgs[c.Index-1].Role != memkernel.RoleAssistant {
			return msgs[:c.Index], c, true
		}
	}
	return nil, transcript.Call{}, false
}

// TestSharedTranscripts plans the last call of every recorded session beside the
// repository, in both views, at several windows, with and without a fixed part
// and a resolver.
func TestSharedTranscripts(t *testing.T) {
	files, _ := filepath.Glob("../../shared/data/transcripts/*/*.jsonl")
	files = suite.Some(files, 4)
	if len(files) == 0 {
		t.Skip("no ../shared/data/transcripts beside the repository")
	}
	sizes := []struct{ window, fixed int }{{64_000, 0}, {128_000, 0}, {200_000, 0}, {128_000, 40_000}, {200_000, 40_000}}
	run := 0
	for _, f := range files {
		s, err := transcript.LoadFile(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, view := range []transcript.View{transcript.Host, transcript.Full} {
			for _, size := range sizes {
				for _, resolver := range []string{"", "memory_get"} {
					// 20 ways to plan a session; the quick suite takes 1 or 2 each, in turn, of some sessions.
					if run++; run%29 != 0 && !suite.Long() {
						continue
					}
					name := fmt.Sprintf("%s/%s/%d+%d/%s", filepath.Base(f), view, size.window, size.fixed, resolver)
					t.Run(name, func(t *testing.T) { planShared(t, s, view, size.window, size.fixed, resolver) })
				}
			}
		}
	}
}

func planShared(t *testing.T, s *transcript.Session, view transcript.View, window, fixed int, resolver string) {
	msgs, call, ok := lastCall(s.View(view))
	if !ok {
		t.Fatal("no call to plan")
	}
	k := memoryKernel(t)
	defer k.Close()
	req := api.PlanRequest{SessionKey: s.ID, Model: s.Model, ContextWindow: window, FixedTokens: fixed, Messages: msgs,
		Now: call.Start, Resolver: resolver}
	if s.Dialect == transcript.Codex {
		req.Format = transcript.FormatResponses
	}
	p, err := k.Peek(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	checkPlanAs(t, p.Format, p, msgs)
}
