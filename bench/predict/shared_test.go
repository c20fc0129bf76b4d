package predict

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/transcript"
)

// runFile predicts a transcript file.
func runFile(t *testing.T, path string, opt *options) *report {
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
	segs, err := segmentsOf(f, st.Size(), &transcript.Options{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	return run(segs, opt)
}

// TestRecordedSessions holds the predictor against real bills. The bars are far
// enough from the measured figures that another session passes too.
func TestRecordedSessions(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/data/transcripts/*/*.jsonl")
	if len(files) == 0 {
		t.Skip("no recorded sessions at ../../../shared/data/transcripts")
	}
	var calibrated, plain, recorded []*report
	for _, f := range suite.Some(files, 6) {
		c, p := runFile(t, f, nil), runFile(t, f, &options{Plain: true})
		calibrated, plain = append(calibrated, c), append(plain, p)
		if c.TTLFrom == ttlRecorded {
			recorded = append(recorded, c)
		}
		s := &c.Summary
		t.Logf("%-44.44s %d calls, %d of %d cold past %d s, %d unexplained; writes off by %+.1f %%, plain %+.1f %%; growth %.1f %%, %.1f %%, bytes/4 %.1f %%", filepath.Base(f),
			s.Calls, s.PastTTL-s.missed, s.PastTTL, c.TTLSeconds, s.Unexplained, percent(s.WriteError), percent(p.Summary.WriteError), 100*s.Growth.Predicted, 100*s.Growth.Counted, 100*s.Growth.Quarter)
		if e := percent(s.WriteError); e < -20 || e > 20 {
			t.Errorf("%s: the writes of explained calls are off by %+.1f %%, want 20 at most", filepath.Base(f), e)
		}
		if g := s.Growth; g.Counted > g.Quarter/2 || g.Predicted > g.Quarter/2 {
			t.Errorf("%s: new content is off by %.1f %%, %.1f %% calibrated: more than half of %.1f %%", filepath.Base(f), 100*g.Counted, 100*g.Predicted, 100*g.Quarter)
		}
	}
	if !suite.Long() {
		return // the shares hold of all sessions together
	}
	all := total(calibrated)
	if all.RightShare < 0.97 || percent(all.Recall) < 95 || percent(all.Precision) < 90 {
		t.Errorf("warm or cold: %+v", all)
	}
	if s := total(recorded); len(recorded) > 0 && percent(s.Precision) < 95 {
		t.Errorf("with lifetimes that the writes name: %+v", s)
	}
	if p := total(plain); all.ReadMedian >= p.ReadMedian || all.WriteMedian >= p.WriteMedian {
		t.Errorf("calibration makes reads or writes worse: %+v, without it %+v", all, p)
	}
}

// percent is a share in hundredths, 0 of nothing.
func percent(v *float64) float64 {
	if v == nil {
		return 0
	}
	return 100 * *v
}
