package budget

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSplit(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   Request
		want Plan
	}{
		{"200k", Request{Window: 200_000, Fixed: []Item{{"tools", 15_000}, {"system", 5_000}}},
			Plan{Window: 200_000, Reserve: 40_000, Budget: 160_000, Fixed: 20_000, WorkingSet: 136_800, LowWater: 30_000, Summary: 1_200, Retrieval: 2_000}},
		{"openclaw", Request{Window: 64_000, Reserve: 20_000},
			Plan{Window: 64_000, Reserve: 20_000, Budget: 44_000, WorkingSet: 40_800, LowWater: 24_200, Summary: 1_200, Retrieval: 2_000}},
		{"small", Request{Window: 8_000},
			Plan{Window: 8_000, Reserve: 1_600, Budget: 6_400, WorkingSet: 3_632, LowWater: 3_520, Summary: 768, Retrieval: 2_000}},
		{"tight", Request{Window: 32_000, Fixed: []Item{{"tools", 15_000}}},
			Plan{Window: 32_000, Reserve: 6_400, Budget: 25_600, Fixed: 15_000, WorkingSet: 10_600, LowWater: 10_600}},
		{"full", Request{Window: 32_000, Reserve: -1, Fixed: []Item{{"tools", 32_000}}},
			Plan{Window: 32_000, Budget: 32_000, Fixed: 32_000}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Split(tc.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSplitTooSmall(t *testing.T) {
	items := []Item{{"a", 1}, {"b", 9_000}, {"c", 2}, {"d", 30_000}, {"e", 3}, {"f", 9_000}, {"g", 4}}
	_, err := Split(Request{Window: 50_000, Reserve: 10_000, Fixed: items})
	var small *TooSmallError
	if !errors.As(err, &small) {
		t.Fatalf("got %v", err)
	}
	want := &TooSmallError{Window: 50_000, Reserve: 10_000, Fixed: 48_010, Over: 8_010,
		Largest: []Item{{"d", 30_000}, {"b", 9_000}, {"f", 9_000}, {"g", 4}, {"e", 3}}}
	if diff := cmp.Diff(want, small); diff != "" {
		t.Error(diff)
	}
	if items[0].Name != "a" {
		t.Error("the caller's items were reordered")
	}
}

func TestSplitBadInput(t *testing.T) {
	for _, r := range []Request{{}, {Window: -1}, {Window: 1000, Fixed: []Item{{"x", -1}}}} {
		if _, err := Split(r); err == nil {
			t.Errorf("no error for %+v", r)
		}
	}
}

func TestSplitProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := Request{Window: rapid.IntRange(1, 2_000_000).Draw(rt, "window"), Reserve: rapid.IntRange(-1, 100_000).Draw(rt, "reserve")}
		for range rapid.IntRange(0, 6).Draw(rt, "items") {
			r.Fixed = append(r.Fixed, Item{"x", rapid.IntRange(0, 60_000).Draw(rt, "tokens")})
		}
		p, err := Split(r)
		var small *TooSmallError
		if errors.As(err, &small) {
			if small.Over <= 0 || small.Fixed+small.Reserve-small.Window != small.Over {
				rt.Fatalf("%+v", small)
			}
			return
		} else if err != nil {
			rt.Fatal(err)
		}
		if p.Fixed+p.WorkingSet+p.Summary+p.Retrieval != p.Budget || p.Budget+p.Reserve != p.Window {
			rt.Fatalf("doesn't add up: %+v", p)
		}
		if p.LowWater > p.WorkingSet || min(p.Fixed, p.WorkingSet, p.LowWater, p.Summary, p.Retrieval) < 0 || p.Summary > 1200 || p.Retrieval > 2000 {
			rt.Fatalf("out of bounds: %+v", p)
		}
	})
}

func TestReserve(t *testing.T) {
	for _, tc := range []struct{ window, reserve, large int }{
		{0, 0, 0}, {-5, 0, 0}, {8_000, 1_600, 800}, {16_000, 3_200, 1_600}, {32_000, 6_400, 3_200},
		{128_000, 25_600, 12_800}, {200_000, 40_000, 20_000}, {1_000_000, 40_000, 25_000},
	} {
		if got := Reserve(tc.window, 0, 0); got != tc.reserve {
			t.Errorf("reserve of %d: %d, want %d", tc.window, got, tc.reserve)
		}
		if got := LargeResult(tc.window); got != tc.large {
			t.Errorf("large result of %d: %d, want %d", tc.window, got, tc.large)
		}
	}
}

// TestReserveOfAnswers: the reserve follows the longest answer between an eighth and a fifth of a
// small window, and is never larger than the longest possible answer.
func TestReserveOfAnswers(t *testing.T) {
	for _, tc := range []struct{ window, longest, limit, reserve int }{
		{8_000, 100, 0, 1_000}, {8_000, 900, 0, 1_350}, {8_000, 9_000, 0, 1_600}, {8_000, 100, 256, 256},
		{200_000, 100, 0, 8_000}, {200_000, 100, 64_000, 8_000}, {200_000, 10_000, 64_000, 15_000},
		{200_000, 50_000, 0, 40_000}, {200_000, 0, 32_000, 32_000},
	} {
		if got := Reserve(tc.window, tc.longest, tc.limit); got != tc.reserve {
			t.Errorf("reserve of %d after an answer of %d, at most %d: %d, want %d", tc.window, tc.longest, tc.limit, got, tc.reserve)
		}
	}
}
