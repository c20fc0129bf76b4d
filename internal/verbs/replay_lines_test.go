package verbs

import "testing"

func TestCostsOfLines(t *testing.T) {
	usd := func(v float64) *float64 { return &v }
	for got, want := range map[string]string{
		inCents(usd(1.239)): "$1.24", inCents(usd(-1.239)): "−$1.24", inCents(usd(-0.001)): "$0.00", inCents(nil): "unpriced",
		offBy(usd(1.5), usd(2)): "−25.0 %", offBy(usd(3), usd(2)): "+50.0 %", offBy(usd(2.0001), usd(2)): "0 %", offBy(usd(1.9999), usd(2)): "0 %",
		offBy(nil, usd(2)): "–", offBy(usd(2), nil): "–", offBy(usd(2), usd(0)): "–",
	} {
		if got != want {
			t.Errorf("printed %q, want %q", got, want)
		}
	}
}
