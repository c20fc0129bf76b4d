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
			r, best := ran(t, w, "clawvm", traceBudget), ran(t, w, "oracle", traceBudget)
			t.Logf("%.8s %3d turns, %3d pages, %d explicit, %d pinned, %d alerts, %d hits, fits %v", s.ID, r.Turns, len(w.Pages), r.Explicit, r.Faults["pinned_invariant_miss"], r.Alerts, r.Hits, r.MinimumFits)
			if r.Explicit != 0 && r.MinimumFits || r.Explicit != best.Explicit {
				t.Errorf("%s, %d turns: %v faults, the oracle has %v", s.ID, r.Turns, r.Faults, best.Faults)
			}
		}
	}
	tab, err := table10(t.Context(), sessions, false, 50, 100, 200, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + tab.text())
	narrow(t, tab)
}
