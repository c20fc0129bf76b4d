package represent

import (
	"fmt"
	"testing"
)

func TestNames(t *testing.T) {
	cases := []struct {
		text string
		same string // a text with the same names
		want int
	}{
		{"", "just plain words, 42 and 1234", 0},
		{"open pkg/queue/ledger.go now", "pkg/queue/ledger.go", 1},
		{"func newLedger() {", "newLedger", 1},
		{"newLedger newLedger", "(newLedger)", 1},
		{"at 4223dea3d028b57b", "4223dea3d028b57b", 1},
		{"see ledger.go and page_table", "page_table, ledger.go", 2},
		{"page_\ntable ledger.\ngo \n\npage_table", "page_table", 1},
		{"page_table\r\nledger.go\n", "page_table ledger.go", 2},
	}
	for _, tc := range cases {
		a, b := map[Name]bool{}, map[Name]bool{}
		for _, n := range Names(tc.text) {
			a[n] = true
		}
		for _, n := range Names(tc.same) {
			b[n] = true
		}
		if len(a) != tc.want || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%q has %d names, want %d and those of %q", tc.text, len(a), tc.want, tc.same)
		}
	}
}
