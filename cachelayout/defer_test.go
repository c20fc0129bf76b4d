package cachelayout

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// deferred is an input of n tools that eight earlier sessions had and never called, at the
// start of a session, with the prices of a model whose reads cost a tenth.
func deferred(n int) DeferInput {
	in := DeferInput{Search: 600, Ratios: Ratios{Write: 1.25, Read: 0.1}, Output: 5, Calls: 100, Prompt: 40_000, Cached: 40_000, Start: true}
	for i := range n {
		in.Tools = append(in.Tools, DeferTool{Name: fmt.Sprintf("t%d", i), Tokens: 400, Offered: 8})
	}
	return in
}

func TestSearchesTools(t *testing.T) {
	for model, want := range map[string]bool{"claude-opus-4-5-20251101": true, "claude-haiku-4-5": true, "claude-opus-5": true, "claude-sonnet-5-5": true, "claude-fable-5-2": true,
		"anthropic/claude-sonnet-4.6": true, "us.anthropic.claude-opus-4-8": true, "claude-opus-4-1-20250805": false, "claude-sonnet-4-20250514": false,
		"claude-3-5-haiku-20241022": false, "claude-instant": false, "glm-5.3": false, "gpt-5.4": false, "": false, "claude-": false, "claude-opus": false} {
		if got := SearchesTools(model); got != want {
			t.Errorf("%s: %v", model, got)
		}
	}
}

// Each rule by itself: what it keeps, and what is deferred beside it.
func TestPlanDeferRules(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*DeferInput)
		waits  int
		why    string // of the decision, or of t0
	}{
		"start":                       {func(in *DeferInput) {}, 9, "nothing is cached yet"},
		"used in this session":        {func(in *DeferInput) { in.Tools[0].Used = true }, 9, keepUsed},
		"a definition's rule":         {func(in *DeferInput) { in.Tools[0].Keep = "the provider's own" }, 9, "the provider's own"},
		"used in a quarter":           {func(in *DeferInput) { in.Tools[0].Earlier = 2 }, 9, "used in 2 of 8 earlier sessions"},
		"used in one of eight, small": {func(in *DeferInput) { in.Tools[0].Earlier = 1; in.Prompt = 200_000 }, 9, "searching for it"},
		"used in one of eight, large": {func(in *DeferInput) { in.Tools[0].Earlier, in.Tools[0].Tokens = 1, 4000 }, 9, keepOne},
		"hardly known":                {func(in *DeferInput) { in.Tools[0].Offered = 2 }, 9, "2 earlier sessions had it, 3 are asked for"},
		"never all":                   {func(in *DeferInput) {}, 9, keepOne},
		"too little":                  {func(in *DeferInput) { in.Tools = in.Tools[:3] }, 0, "are worth one"},
		"a short session":             {func(in *DeferInput) { in.Calls = 2; in.Prompt = 400_000 }, 0, "no tool may wait"},
		"nothing known": {func(in *DeferInput) {
			for i := range in.Tools {
				in.Tools[i].Offered = 0
			}
		}, 0, "no tool may wait"},
		"warm, does not pay": {func(in *DeferInput) { in.Start = false; in.Cached = 400_000; in.Prompt = 40_000 }, 0, "pays after"},
		"warm, pays":         {func(in *DeferInput) { in.Start = false; in.Cached = 12_000; in.Calls = 200 }, 9, "cached tokens are written anew"},
		"cold":               {func(in *DeferInput) { in.Start = false; in.Cold = true; in.Cached = 400_000 }, 9, "the cache is cold"},
		"bound thinking":     {func(in *DeferInput) { in.Start = false; in.Cold = true; in.Bound = true }, 0, "another prefix would make invalid"},
		"bound, but found":   {func(in *DeferInput) { in.Start = false; in.Bound = true; in.Tools[0].Found = true }, 9, "holds searches"},
		"no cache":           {func(in *DeferInput) { in.Ratios = Ratios{Write: 1, Read: 1} }, 9, "nothing is cached yet"},
	} {
		in := deferred(10)
		c.change(&in)
		d := PlanDefer(in)
		kept := ""
		for _, k := range d.Kept {
			if k.Name == "t0" {
				kept = k.Why
			}
		}
		if len(d.Names) != c.waits || !strings.Contains(d.Why+"|"+kept, c.why) {
			t.Errorf("%s: %d wait, %q, t0 %q", name, len(d.Names), d.Why, kept)
		}
	}
}

// What stands, stands: whatever is used, found or forgotten behind a warm prefix. Only a
// rule of the API takes a tool out, and what the client adds may wait beside it.
func TestPlanDeferStands(t *testing.T) {
	warm := func(change func(*DeferInput)) Deferral {
		in := deferred(10)
		in.Start = false
		for i := range in.Tools[1:] {
			in.Tools[i+1].Deferred = true
		}
		change(&in)
		return PlanDefer(in)
	}
	for name, c := range map[string]struct {
		change func(*DeferInput)
		waits  []string // beside t3 to t9
	}{
		"as it was":             {func(in *DeferInput) {}, []string{"t1", "t2"}},
		"found and used":        {func(in *DeferInput) { in.Tools[1].Used, in.Tools[1].Found = true, true }, []string{"t1", "t2"}},
		"used, its search gone": {func(in *DeferInput) { in.Tools[1].Used = true }, []string{"t1", "t2"}},
		"used elsewhere":        {func(in *DeferInput) { in.Tools[1].Earlier = 8 }, []string{"t1", "t2"}},
		"a short rest":          {func(in *DeferInput) { in.Calls = 1 }, []string{"t1", "t2"}},
		"cold, found":           {func(in *DeferInput) { in.Cold = true; in.Tools[1].Used, in.Tools[1].Found = true, true }, []string{"t1", "t2"}},
		"cold, used":            {func(in *DeferInput) { in.Cold = true; in.Tools[1].Used = true }, []string{"t0", "t2"}},
		"tool_choice names it":  {func(in *DeferInput) { in.Tools[1].Keep = "tool_choice names it" }, []string{"t0", "t2"}},
		"bound, tool_choice":    {func(in *DeferInput) { in.Bound = true; in.Tools[1].Keep = "tool_choice names it" }, []string{"t2"}},
		"bound, cold, used":     {func(in *DeferInput) { in.Bound, in.Cold = true, true; in.Tools[1].Used = true }, []string{"t1", "t2"}},
		"a new one that may wait": {func(in *DeferInput) {
			in.Tools = append(in.Tools, DeferTool{Name: "new", Tokens: 400, Offered: 8, New: true})
		}, []string{"t1", "t2", "new"}},
		"a new one that may not": {func(in *DeferInput) { in.Tools = append(in.Tools, DeferTool{Name: "new", Tokens: 400, New: true}) }, []string{"t0", "t1", "t2"}},
	} {
		d := warm(c.change)
		got := slices.DeleteFunc(slices.Clone(d.Names), func(n string) bool { return len(n) == 2 && n >= "t3" })
		if !slices.Equal(got, c.waits) {
			t.Errorf("%s: %q wait, %s", name, d.Names, d.Why)
		}
	}
}

// Whatever comes, the answer keeps the rules of the API, is the same for the same question,
// and what it says of its figures holds.
func TestPlanDeferHolds(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	for range 20_000 {
		in := DeferInput{Search: rng.Intn(900), Ratios: Ratios{Write: 1 + rng.Float64(), Read: rng.Float64()}, Output: rng.Float64() * 8, Calls: rng.Float64() * 300,
			Prompt: rng.Intn(200_000), Cached: rng.Intn(200_000), Start: rng.Intn(3) == 0, Cold: rng.Intn(3) == 0, Bound: rng.Intn(4) == 0}
		for i := range rng.Intn(30) {
			tool := DeferTool{Name: fmt.Sprint(i), Tokens: rng.Intn(3000), Used: rng.Intn(4) == 0, Offered: rng.Intn(9), Deferred: !in.Start && rng.Intn(3) == 0, New: rng.Intn(20) == 0, Found: rng.Intn(20) == 0}
			tool.Earlier = rng.Intn(tool.Offered + 1)
			if rng.Intn(5) == 0 {
				tool.Keep = "a rule"
			}
			in.Tools = append(in.Tools, tool)
		}
		d := PlanDefer(in)
		if again := PlanDefer(in); !slices.Equal(d.Names, again.Names) || d.Why != again.Why {
			t.Fatal("the same question has two answers")
		}
		if len(d.Names) > 0 && (len(d.Names)+len(d.Kept) != len(in.Tools)) || d.Why == "" {
			t.Fatalf("%d wait, %d stand, of %d: %q", len(d.Names), len(d.Kept), len(in.Tools), d.Why)
		}
		for _, tool := range in.Tools {
			waits := slices.Contains(d.Names, tool.Name)
			switch {
			case waits && tool.Keep != "":
				t.Fatalf("%+v waits against a rule of the API", tool)
			case waits && tool.Used && !tool.Found && !tool.Deferred:
				t.Fatalf("%+v waits and was used", tool)
			case waits && !tool.Deferred && !tool.Found && (tool.Offered < DeferMinSessions || tool.Earlier > 0 && float64(tool.Earlier) >= DeferKeepShare*float64(tool.Offered)):
				t.Fatalf("%+v waits and earlier sessions used it", tool)
			}
		}
	}
}
