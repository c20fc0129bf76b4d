package paging

import (
	"math"
	"strings"
	"testing"
)

// TestTables holds every structural and shaped cell against the paper's figure, and
// the order of the policies.
func TestTables(t *testing.T) {
	tables, err := Tables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tab := range tables {
		t.Log("\n" + tab.Text())
		for _, r := range tab.Rows {
			for i, c := range r.Cells {
				d := 0
				if i < len(tab.digits) {
					d = tab.digits[i]
				}
				// The paper's figures are rounded.
				if c.Kind != Ours && math.Abs(c.Ours-*c.Paper) > 0.51*math.Pow10(-d) {
					t.Errorf("%s, %s, %s: %v, the paper has %v", tab.Name, r.Label, tab.Columns[i], c.Ours, *c.Paper)
				}
			}
		}
		narrow(t, tab)
	}
	four := tables[1].Rows
	for i := 1; i < 4; i++ {
		if four[i].Cells[0].Ours >= four[i-1].Cells[0].Ours {
			t.Errorf("%s has no fewer faults than %s", four[i].Label, four[i-1].Label)
		}
	}
}

func narrow(t *testing.T, tab *Table) {
	t.Helper()
	for _, l := range strings.Split(tab.Text(), "\n") {
		if len([]rune(l)) > 80 {
			t.Errorf("%s is wider than 80 columns: %q", tab.Name, l)
		}
	}
}

func policy(t testing.TB, name string) Policy {
	p, err := PolicyByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
