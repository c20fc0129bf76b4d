package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/memkernel/memkernel/summary"
)

// failing is a model whose every request fails alike.
func failing(e *summary.ModelError) stubModel {
	return func(context.Context, summary.Prompt) (string, error) { return "", e }
}

// TestCooldownsEscalate: a minute, doubled with every failure up to six hours; a
// server's word counts if it asks for more, up to that; one answer ends it all.
func TestCooldownsEscalate(t *testing.T) {
	dir, ck, c := t.TempDir(), newClock(), ruled(15)
	limited := &summary.ModelError{Reason: summary.ReasonRateLimited, Err: context.DeadlineExceeded}
	for i := range 12 {
		observeNoted(t, dir, failing(limited), ck, c.msgs)
		st := statusOf(t, dir).SummaryModels[0]
		want := min(time.Minute<<i, 6*time.Hour)
		if st.Failures != i+1 || st.Until.Sub(ck.Now()) != want {
			t.Fatalf("failure %d: %+v, want %v from %v on", i+1, st, want, ck.Now())
		}
		ck.add(want)
	}
	for asked, want := range map[time.Duration]time.Duration{7 * time.Hour: 6 * time.Hour, time.Second: 6 * time.Hour} {
		e := *limited
		e.RetryAfter = asked
		observeNoted(t, dir, failing(&e), ck, c.msgs)
		if st := statusOf(t, dir).SummaryModels[0]; st.Until.Sub(ck.Now()) != want {
			t.Errorf("asked for %v: %+v", asked, st)
		}
		ck.add(want)
	}
	observeNoted(t, dir, stubModel(func(context.Context, summary.Prompt) (string, error) { return `{"ops":[]}`, nil }), ck, c.msgs)
	if st := statusOf(t, dir).SummaryModels[0]; st.Failures != 0 || !st.Until.IsZero() || st.Reason != summary.ReasonRateLimited {
		t.Errorf("after an answer: %+v", st)
	}
}

// TestDamagedCooldowns: a file that can't be read costs one request, one of a newer
// version is left alone.
func TestDamagedCooldowns(t *testing.T) {
	for name, text := range map[string]string{"garbage": "\x00{", "newer": `{"version":2,"models":[]}`, "newer still": `{"version":2,"models":{}}`} {
		t.Run(name, func(t *testing.T) {
			dir, ck, c := t.TempDir(), newClock(), ruled(16)
			path := filepath.Join(dir, ".memkernel", "summary-model.json")
			os.Mkdir(filepath.Dir(path), 0o700)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			observeNoted(t, dir, failing(&summary.ModelError{Reason: summary.ReasonServer, Err: context.Canceled}), ck, c.msgs)
			after, err := os.ReadFile(path)
			if kept := string(after) == text; err != nil || kept != (name != "garbage") {
				t.Errorf("the file is %q, %v", after, err)
			}
		})
	}
}
