package consolidation_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/consolidation"
)

const factLog = `# 2026-03-10 (Tuesday, 10 March 2026)

- Ana: I painted the lake at sunrise last year! [image: a photo of a painting of a sunset over a lake]
- Ben: Lovely. Are your kids still with you in Porto?
- Ana: Yes, all three of them. Tomás is 7 now, he plays the flute.
- Ben: I moved the deploy of api-gateway to 02:00, see docs/deploy.md.
- Ana: Ich habe in der Werkstatt die Pumpe von Boot 12 repariert.
- 王芳: 我们昨天在北京买了三张票。
- Ben: $1,200 for the crane, nobody agreed.
`

// A fact is taken if each name, number and date in it stands in its lines, and only then.
func TestExtract(t *testing.T) {
	for _, c := range []struct {
		text, about string
		lines       []int
		taken       bool
	}{
		{"Ana painted a lake at sunrise.", "art, hobby", []int{3}, true},
		{"Ana's painting shows a sunset over a lake.", "art", []int{3}, true},
		{"Ana has 3 kids, one of them Tomás.", "family", []int{5}, true},
		{"Tomás, who is seven, plays the flute.", "music", []int{5}, true},
		{"Ana's kids live in Porto.", "", []int{4, 5}, true},
		{"Ben moved the deploy of api-gateway to 02:00 (docs/deploy.md).", "", []int{6}, true},
		{"The deploy of api-gateway runs at 02:00.", "deploys", []int{6}, true},
		{"Painting lakes is what Ana does.", "", []int{3}, true},
		{"On 10 March 2026 Ben moved the deploy of api-gateway.", "", []int{1, 6}, true},
		{"Ana hat die Pumpe von Boot 12 repariert.", "boote", []int{7}, true},
		{"王芳在北京买了三张票。", "", []int{8}, true},
		{"The crane cost 1200 dollars.", "money", []int{9}, false}, // as it is written there
		{"The crane cost $1,200, says Ben.", "money", []int{9}, true},
		{"Ben paints lakes at sunrise in Lisbon.", "", []int{3}, false},
		{"Ana's kids live in Porto.", "", []int{5}, false},
		{"Ana painted it in 2025.", "", []int{3}, false},
		{"Ana has 4 kids and a flute.", "", []int{5}, false},
		{"Ana has four kids and a flute.", "", []int{5}, false},
		{"Tomás is 70 and plays the flute.", "", []int{5}, false},
		{"On 11 March 2026 Ben moved the deploy.", "", []int{1, 6}, false},
		{"Ben moved the deploy of api_gateway.", "", []int{6}, false},
		{"Ben moved it, see docs/other.md there.", "", []int{6}, false},
		{"Ana painted a lake at sunrise.", "Monet", []int{3}, false},
		{"Carl painted a lake at sunrise.", "", []int{3}, false},
		{"李明在上海卖了一辆旧汽车。", "", []int{8}, false},
		{"Ana hat die Pumpe von Boot 13 repariert.", "", []int{7}, false},
		{"Ana painted a lake at sunrise.", "", nil, false},
		{"Ana painted a lake at sunrise.", "", []int{2}, false},
		{"Ana painted a lake at sunrise.", "", []int{0, 3}, false},
		{"Ana painted a lake at sunrise.", "", []int{3, 99}, false},
		{"Yes.", "", []int{5}, false},
		{"", "", []int{5}, false},
		{strings.Repeat("lake at sunrise ", 40), "", []int{3}, false},
		{"Ana painted a lake.", strings.Repeat("art ", 40), []int{3}, false},
	} {
		raw, err := json.Marshal(map[string]any{"facts": []any{map[string]any{"text": c.text, "about": c.about, "lines": c.lines}}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := consolidation.Extract(string(raw), factLog, 9)
		if err != nil {
			t.Fatalf("%q: %v", c.text, err)
		}
		if got.Taken != len(got.Facts) || got.Taken+got.Dropped != 1 || got.Dropped != len(got.Why) || (got.Taken == 1) != c.taken {
			t.Errorf("%q of %v: %+v", c.text, c.lines, got)
		}
	}
}

// What is not the one object that was asked for gives nothing, and an error.
func TestExtractStrictly(t *testing.T) {
	for _, answer := range []string{"", "no", "{}", `{"facts":7}`, `[]`, `{"facts":[{"text":"a"}]} and more`, `{"facts":[{"text":"a","lines":["L3"]}]}`, `{"facts":[],"note":"x"}`,
		`{"facts":[{"text":"a","lines":[3],"who":"b"}]}`, `{"facts":[`, "```json\n{\"facts\":null}\n```"} {
		if got, err := consolidation.Extract(answer, factLog, 9); err == nil {
			t.Errorf("%q gives %+v", answer, got)
		}
	}
	got, err := consolidation.Extract("```json\n{\"facts\":[{\"text\":\"Ana painted the lake.\",\"lines\":[3]},{\"text\":\"Ana painted the lake.\",\"lines\":[3]}]}\n```\n", factLog, 9)
	if err != nil || got.Taken != 1 || got.Dropped != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, `,{"text":"Ana painted the lake so %s","lines":[3]}`, strings.Repeat("x", i+1))
	}
	if got, err := consolidation.Extract(`{"facts":[`+b.String()[1:]+`]}`, factLog, 9); err != nil || got.Taken != 256 || got.Dropped != 144 || len(got.Why) > 20 {
		t.Errorf("%d taken, %d dropped, %v", got.Taken, got.Dropped, err)
	}
	if user := consolidation.FactsUser(strings.Split(factLog, "\n"), 5, 6); user != "1: # 2026-03-10 (Tuesday, 10 March 2026)\n5: - Ana: Yes, all three of them. Tomás is 7 now, he plays the flute.\n6: - Ben: I moved the deploy of api-gateway to 02:00, see docs/deploy.md.\n" {
		t.Errorf("asked is %q", user)
	}
}
