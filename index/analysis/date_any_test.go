package analysis

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// No text makes reading fail, and what is found stands in its line.
func TestAnyDates(t *testing.T) {
	part := rapid.OneOf(rapid.SampledFrom([]string{"yesterday", "last", "Friday", "3", "weeks", "ago", "May", "7", "2023", "vor", "Wochen", "上周五", "三", "天前", "5月", "7日", " ", "# 2024-02-30", "2024-02-29", "\n", "é", "\xe2", "\xff", "`", "10000000000000000000000"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		lines := strings.Split(text, "\n")
		for _, m := range DatesIn(text, nil, rapid.SampledFrom([]string{"", "2024-02-29", "x", "0001-01-01", "9999-12-31"}).Draw(t, "day")) {
			if m.Text == "" || !strings.Contains(lines[m.Line], m.Text) || m.To.Before(m.From) {
				t.Fatalf("%+v", m)
			}
			DateWords(text, nil, "2024-02-29")
		}
	})
}
