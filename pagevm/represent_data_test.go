package pagevm

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/transcript"
)

// toolResult is a call's result as found in a recorded session.
type toolResult struct{ in EvidenceInput }

// recordedResults reads the text results of the recorded sessions, or skips the
// test.
func recordedResults(t testing.TB) (out []toolResult) {
	t.Helper()
	files, _ := filepath.Glob("../../shared/data/transcripts/*/*.jsonl")
	if len(files) == 0 {
		t.Skip("no recorded sessions under ../../shared/data/transcripts")
	}
	for _, f := range files {
		s, err := transcript.LoadFile(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Messages {
			for j := range s.Messages[i].Parts {
				if r := s.Messages[i].Parts[j].Result; r != nil && len(r.Content) == 1 {
					out = append(out, toolResult{evidence(r.Content[0].Text)})
				}
			}
		}
	}
	return out
}

// The representations of every recorded tool result keep their contract.
func TestRecordedEvidence(t *testing.T) {
	for _, r := range recordedResults(t) {
		if !strings.Contains(r.in.Text, "[…") {
			checkReps(t, r.in.Text, RepresentEvidence(r.in, nil))
		}
	}
}

func repAt(reps []Rep, l Level) *Rep {
	for i := range reps {
		if reps[i].Level == l {
			return &reps[i]
		}
	}
	return nil
}
