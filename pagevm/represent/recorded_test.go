package represent

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/internal/recorded"
)

// The representations of every recorded tool result keep their contract.
func TestRecordedEvidence(t *testing.T) {
	for _, text := range recorded.Results(t) {
		if !strings.Contains(text, "[…") {
			checkReps(t, text, Evidence(evidence(text), nil))
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
