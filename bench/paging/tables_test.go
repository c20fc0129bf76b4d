package paging

import (
	"math"
	"strings"
	"testing"
)

// TestTables holds every structural and shaped cell against the paper's figure, and
// the order of the policies.
func TestTables(t *testing.T) {
	all, err := tables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tab := range all {
		t.Log("\n" + tab.text())
		for _, r := range tab.Rows {
			for i, c := range r.Cells {
				d := 0
				if i < len(tab.digits) {
					d = tab.digits[i]
				}
				// The paper's figures are rounded.
				if c.Kind != ours && math.Abs(c.Ours-*c.Paper) > 0.51*math.Pow10(-d) {
					t.Errorf("%s, %s, %s: %v, the paper has %v", tab.Name, r.Label, tab.Columns[i], c.Ours, *c.Paper)
				}
			}
		}
		narrow(t, tab)
	}
	four := all[1].Rows
	for i := 1; i < 4; i++ {
		if four[i].Cells[0].Ours >= four[i-1].Cells[0].Ours {
			t.Errorf("%s has no fewer faults than %s", four[i].Label, four[i-1].Label)
		}
	}
}

func narrow(t *testing.T, tab *table) {
	t.Helper()
	for _, l := range strings.Split(tab.text(), "\n") {
		if len([]rune(l)) > 80 {
			t.Errorf("%s is wider than 80 columns: %q", tab.Name, l)
		}
	}
}
