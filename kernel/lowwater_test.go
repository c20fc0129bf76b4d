package kernel_test

import (
	"context"
	"testing"

	"github.com/memkernel/memkernel/kernel"
)

// TestLowWaterOption: the mark is what was asked for, above the fixed part.
func TestLowWaterOption(t *testing.T) {
	k, err := kernel.Open(context.Background(), t.TempDir(), &kernel.Options{LowWater: 8000})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	req := request(session(5, 2, 2, 4000))
	req.FixedTokens = 1000
	f := planned(t, k, req).Layout.Cut.Figures
	if f.LowWater < 9000 || f.LowWater > 9100 {
		t.Errorf("low-water mark %d, want 8,000 above the fixed part", f.LowWater)
	}
}
