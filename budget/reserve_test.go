package budget

import "testing"

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
