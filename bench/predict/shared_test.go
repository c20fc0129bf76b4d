package predict

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/memkernel/memkernel/transcript"
)

// runFile predicts a transcript file.
func runFile(t *testing.T, path string, opt *Options) *Report {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	segs, err := Segments(f, st.Size(), &transcript.Options{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	return Run(segs, opt)
}

// TestRecordedSessions holds the predictor against real bills. The bars are far
// enough from the measured figures that another session passes too.
func TestRecordedSessions(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/data/transcripts/*/*.jsonl")
	if len(files) == 0 {
		t.Skip("no recorded sessions at ../../../shared/data/transcripts")
	}
	calls, right := 0, 0.0
	for _, f := range files {
		r := runFile(t, f, nil)
		s := r.Summary
		t.Logf("%-44.44s %3d calls, %5.1f%% right, %2d/%2d cold, read %4.1f%% p90 %5.1f%%, write %5.1f%% p90 %6.1f%%, fixed %d (%s), ttl %ds", filepath.Base(f),
			s.Calls, 100*s.RightShare, s.Foreseen, s.Cold, 100*s.ReadMedian, 100*s.ReadP90, 100*s.WriteMedian, 100*s.WriteP90, r.FixedTokens, r.FixedFrom, r.TTLSeconds)
		calls += s.Temperate
		right += s.RightShare * float64(s.Temperate)
	}
	if calls == 0 {
		t.Fatal("no call was judged")
	}
	if share := right / float64(calls); share < 0.95 {
		t.Errorf("warm or cold is right for %.1f %% of %d calls, want 95", 100*share, calls)
	}
}
