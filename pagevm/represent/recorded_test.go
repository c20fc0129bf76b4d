package represent

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/hostile"
	"github.com/memkernel/memkernel/pagevm"
)

// The representations of every recorded tool result keep their contract.
func TestRecordedEvidence(t *testing.T) {
	for _, text := range hostile.Recorded(t) {
		if !strings.Contains(text, "[…") {
			checkReps(t, text, Evidence(evidence(text)))
		}
	}
}

func repAt(reps []pagevm.Rep, l pagevm.Level) *pagevm.Rep {
	for i := range reps {
		if reps[i].Level == l {
			return &reps[i]
		}
	}
	return nil
}
