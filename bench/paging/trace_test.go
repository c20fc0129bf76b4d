package paging

import (
	"path/filepath"
	"testing"

	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/transcript"
)

func recorded(t testing.TB) (out []*transcript.Session) {
	files, _ := filepath.Glob("../../../shared/data/transcripts/*/*.jsonl")
	files = suite.Some(files, 5)
	if len(files) == 0 {
		t.Skip("no recorded sessions at ../../../shared/data/transcripts")
	}
	for _, f := range files {
		s, err := transcript.LoadFile(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// TestRecordedSessions: whatever the session and its length, the whole policy has no
// fault where the minimum set fits, and none that the oracle would not have.
func TestRecordedSessions(t *testing.T) {
	sessions := recorded(t)
	for _, s := range sessions {
		for _, n := range []int{50, 100, 200, 0} {
			w := fromTranscript(s, s.ID, n)
			if err := w.check(); err != nil {
				t.Fatal(err)
			}
			r, err := Run(t.Context(), w, policy(t, "clawvm"), traceBudget, Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%.8s %3d turns, %3d pages, %d explicit, %d pinned, %d alerts, %d hits, fits %v", s.ID, r.Turns, len(w.Pages), r.ExplicitFaults, r.Faults["pinned_invariant_miss"], r.Alerts, r.Hits, r.MinimumFits)
			if r.ExplicitFaults != 0 && r.MinimumFits || *r.OracleGap != 0 {
				t.Errorf("%s, %d turns: %v faults, oracle gap %d", s.ID, r.Turns, r.Faults, *r.OracleGap)
			}
		}
	}
	tab, err := Table10(t.Context(), sessions, false, 50, 100, 200, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + tab.Text())
	narrow(t, tab)
}
