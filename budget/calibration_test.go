package budget

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func estimated(n int) Count { return Count{Tokens: n, Bound: n * 6 / 5, Kind: Estimated} }

func TestCalibrationLearnsRatioAndSpread(t *testing.T) {
	for _, tc := range []struct {
		name         string
		ratio, noise float64
	}{{"low", 1.3, 0.05}, {"high", 0.8, 0.1}, {"steady", 1, 0}, {"wild", 1.1, 0.15}} {
		t.Run(tc.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 6))
			var c Calibration
			held := 0
			for i := range 600 {
				n := 500 + rng.IntN(8000)
				actual := int(float64(n) * tc.ratio * math.Exp(tc.noise*rng.NormFloat64()))
				if i >= 100 && applied(&c, estimated(n)).Bound >= actual {
					held++
				}
				c.Observe(estimated(n), 1, actual)
			}
			ratio, margin := c.Factor()
			if math.Abs(ratio/tc.ratio-1) > 0.02+tc.noise/2 {
				t.Errorf("learnt %.3f, want %.3f", ratio, tc.ratio)
			}
			if want := math.Exp(2 * max(tc.noise, 0.02)); margin < 1+(want-1)/2 || margin > 1+(want-1)*2 {
				t.Errorf("margin %.3f, want about %.3f", margin, want)
			}
			if held < 440 {
				t.Errorf("the bound held %d times of 500", held)
			}
		})
	}
}

func TestCalibrationNeedsSamples(t *testing.T) {
	var c Calibration
	for i := range minSamples {
		if got := applied(&c, estimated(1000)); got != estimated(1000) {
			t.Fatalf("after %d samples: %+v", i, got)
		}
		c.Observe(estimated(1000), 1, 1200)
	}
	got := applied(&c, estimated(1000))
	if got.Kind != Calibrated || got.Tokens < 1195 || got.Tokens > 1205 || got.Bound <= got.Tokens {
		t.Errorf("%+v", got)
	}
	exact := Count{Tokens: 10, Bound: 10, Kind: Exact}
	if applied(&c, exact) != exact {
		t.Error("an exact count was corrected")
	}
}

func TestCalibrationRefusesNonsense(t *testing.T) {
	var c Calibration
	for range 20 {
		c.Observe(estimated(2000), 2, 2200)
	}
	before := c
	for _, pair := range [][2]int{{2000, 0}, {2000, -5}, {0, 2000}, {-1, 500}, {2000, 70_000}, {70_000, 2000}, {100, 110}, {2000, math.MaxInt}} {
		if c.Observe(estimated(pair[0]), 1, pair[1]) {
			t.Errorf("believed %v", pair)
		}
	}
	if c.Observe(estimated(2000), 1, 4000) { // within reason, but a surprise
		t.Error("believed an outlier")
	}
	before.Ratio.Outliers = c.Ratio.Outliers
	if diff := cmp.Diff(before, c); diff != "" {
		t.Error(diff)
	}
	for range patience + minSamples {
		c.Observe(estimated(2000), 1, 4000)
	}
	if r, _ := c.Factor(); math.Abs(r-2) > 0.1 {
		t.Errorf("did not follow a lasting change: %.2f", r)
	}
}

func TestCalibrationOfExactCounterLearnsFraming(t *testing.T) {
	var c Calibration
	if c.Framing.Samples > 0 {
		t.Error("framing known before anything was seen")
	}
	for i := range 20 {
		c.Observe(Count{Tokens: 1000, Bound: 1000, Kind: Exact}, 10, 1040+i%3)
	}
	if c.Trusted() {
		t.Error("exact counts trained the ratio")
	}
	if f := c.Framing; f.Samples < minSamples || f.Mean < 4 || f.Mean > 4.25 || f.Variance < 0 {
		t.Errorf("%+v", f)
	}
}

func TestCalibrationJSON(t *testing.T) {
	var c, back Calibration
	for i := range 10 {
		c.Observe(estimated(1000), 1, 1100+i)
	}
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, back); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{
		`{"version":2}`, `{"version":1,"log_ratio":{"mean":9}}`, `{"version":1,"log_ratio":{"variance":-1}}`,
		`{"version":1,"framing":{"mean":1e9}}`, `{"version":1,"log_ratio":{"samples":-3}}`, `[]`,
	} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("read %s", bad)
		}
	}
	if diff := cmp.Diff(c, back); diff != "" {
		t.Error("a failed read changed the value: " + diff)
	}
}

func TestCalibrationProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var c Calibration
		for range rapid.IntRange(0, 60).Draw(rt, "observations") {
			kind := rapid.SampledFrom([]Kind{Exact, Estimated}).Draw(rt, "kind")
			n := rapid.OneOf(rapid.Int(), rapid.IntRange(0, 5000)).Draw(rt, "counted")
			c.Observe(Count{Tokens: n, Kind: kind}, rapid.IntRange(-1, 9).Draw(rt, "messages"),
				rapid.OneOf(rapid.Int(), rapid.IntRange(0, 5000)).Draw(rt, "actual"))
		}
		n := rapid.IntRange(0, 1_000_000).Draw(rt, "n")
		got := applied(&c, estimated(n))
		if got.Bound < got.Tokens || got.Tokens < n/4 || got.Bound > 5*n+2 {
			rt.Fatalf("%d became %+v by %+v", n, got, c)
		}
		data, err := json.Marshal(c)
		if err != nil {
			rt.Fatal(err)
		}
		if err := json.Unmarshal(data, &c); err != nil {
			rt.Fatalf("cannot read what was written: %v", err)
		}
	})
}

func TestTooSmallMessage(t *testing.T) {
	err := &TooSmallError{Window: 10_000, Reserve: 4_000, Fixed: 8_000, Over: 2_000, Largest: []Item{{"tools", 5_000}, {"system prompt", 3_000}}}
	if !strings.Contains(err.Error(), "2000 too many (largest: tools 5000, system prompt 3000)") {
		t.Errorf("%v", err)
	}
}

// applied is an estimate as a plan corrects it: tokens by the ratio, the bound by the margin.
func applied(c *Calibration, n Count) Count {
	if n.Kind != Estimated || !c.Trusted() {
		return n
	}
	ratio, margin := c.Factor()
	tokens := float64(n.Tokens) * ratio
	return Count{Tokens: int(math.Ceil(tokens)), Bound: max(int(math.Ceil(tokens*margin)), int(math.Ceil(tokens))), Kind: Calibrated}
}
