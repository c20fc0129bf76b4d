package cachelayout

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// places writes breakpoints as "block:why:ttl".
func places(bps []Breakpoint) []string {
	var out []string
	for _, b := range bps {
		ttl := strings.TrimSuffix(b.TTL.String(), "0s")
		if strings.Contains(ttl, "h") {
			ttl = strings.TrimSuffix(ttl, "0m")
		}
		out = append(out, fmt.Sprintf("%d:%s:%s", b.Block, b.Why, ttl))
	}
	return out
}

func TestLayoutPlaces(t *testing.T) {
	opus, gpt := mustModel(t, "claude-opus-5-5"), mustModel(t, "gpt-6.1-sol")
	carry := append(fixedPart(), block(RegionCarry, "carry", 3000))
	long := grow(carry, 10, 500) // blocks 3 to 12
	unmarkable := grow(carry, 10, 500)
	unmarkable[12].Markable, unmarkable[11].Markable = false, false
	wide := grow(carry, 60, 500)
	many := grow(carry, 4, 500)
	many[4].Positions, many[5].Positions = 15, 15
	tests := []struct {
		name   string
		model  Model
		blocks []Block
		prev   int
		opt    LayoutOptions
		want   []string
	}{
		{"first request", opus, long, -1, LayoutOptions{}, []string{"1:fixed:5m", "2:carry:5m", "12:end:5m"}},
		{"next request", opus, long, 9, LayoutOptions{}, []string{"1:fixed:5m", "2:carry:5m", "9:previous_tail:5m", "12:end:5m"}},
		{"nothing new", opus, long, 12, LayoutOptions{}, []string{"1:fixed:5m", "2:carry:5m", "12:end:5m"}},
		{"previous tail past the end", opus, long, 99, LayoutOptions{}, []string{"1:fixed:5m", "2:carry:5m", "12:end:5m"}},
		{"no carry", opus, grow(fixedPart(), 5, 500), 3, LayoutOptions{}, []string{"1:fixed:5m", "3:previous_tail:5m", "6:end:5m"}},
		{"fixed part kept for an hour", opus, long, 9, LayoutOptions{Fixed: time.Hour},
			[]string{"1:fixed:1h", "2:carry:5m", "9:previous_tail:5m", "12:end:5m"}},
		{"messages for an hour raise all", opus, long, 9, LayoutOptions{Messages: time.Hour},
			[]string{"1:fixed:1h", "2:carry:1h", "9:previous_tail:1h", "12:end:1h"}},
		{"an odd wish is rounded up", opus, long, -1, LayoutOptions{Messages: 20 * time.Minute},
			[]string{"1:fixed:1h", "2:carry:1h", "12:end:1h"}},
		{"unmarkable end moves back", opus, unmarkable, 11, LayoutOptions{}, []string{"1:fixed:5m", "2:carry:5m", "10:end:5m"}},
		{"a long first prompt is guarded", opus, wide, -1, LayoutOptions{},
			[]string{"1:fixed:5m", "2:carry:5m", "43:guard:5m", "62:end:5m"}},
		{"wide blocks count by positions", opus, many, -1, LayoutOptions{},
			[]string{"1:fixed:5m", "2:carry:5m", "4:guard:5m", "6:end:5m"}},
		{"the previous tail serves as the guard", opus, wide, 20, LayoutOptions{},
			[]string{"1:fixed:5m", "2:carry:5m", "20:previous_tail:5m", "62:end:5m"}},
		{"openai explicit", gpt, long, 9, LayoutOptions{}, []string{"1:fixed:30m", "2:carry:30m", "9:previous_tail:30m", "12:end:30m"}},
		{"openai automatic", mustModel(t, "gpt-5"), long, 9, LayoutOptions{}, nil},
		{"gemini", mustModel(t, "gemini-2.5-pro"), long, 9, LayoutOptions{}, nil},
		{"unknown model", Model{}, long, 9, LayoutOptions{}, nil},
		{"empty prompt", opus, nil, -1, LayoutOptions{}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bps, _ := Layout(tt.blocks, tt.model, tt.prev, tt.opt)
			if diff := cmp.Diff(tt.want, places(bps)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestLayoutBelowMinimum(t *testing.T) {
	m := mustModel(t, "claude-opus-4-6") // 4,096
	small := []Block{block(RegionSystem, "s", 3000), block(RegionNewest, "q", 500)}
	bps, notes := Layout(small, m, -1, LayoutOptions{})
	if bps != nil || len(notes) != 1 || !strings.Contains(notes[0], "4096") {
		t.Errorf("%v %q", bps, notes)
	}
	larger := append(small, block(RegionNewest, "r", 2000))
	bps, _ = Layout(larger, m, 1, LayoutOptions{})
	if diff := cmp.Diff([]string{"2:end:5m"}, places(bps)); diff != "" {
		t.Errorf("markers below the minimum take no slot:\n%s", diff)
	}
}

func TestLayoutNothingMarkable(t *testing.T) {
	blocks := grow(nil, 3, 5000)
	for i := range blocks {
		blocks[i].Markable = false
	}
	bps, notes := Layout(blocks, mustModel(t, "claude-opus-5"), -1, LayoutOptions{})
	if len(bps) != 0 || len(notes) != 1 {
		t.Errorf("%v %q", bps, notes)
	}
}

func TestCacheKey(t *testing.T) {
	a := CacheKey("s", grow(fixedPart(), 1, 10))
	if a != CacheKey("s", grow(fixedPart(), 9, 10)) {
		t.Error("the key changes with the messages")
	}
	if a == CacheKey("other", fixedPart()) || a == CacheKey("s", fixedPart()[:1]) {
		t.Error("the key does not tell sessions or prefixes apart")
	}
}

// genBlocks draws a prompt in provider order.
func genBlocks(t *rapid.T) []Block {
	var out []Block
	add := func(region string, lo, hi int) {
		for range rapid.IntRange(lo, hi).Draw(t, region) {
			out = append(out, Block{
				ID: fmt.Sprintf("%s%d", region, len(out)), Region: region,
				Hash:      rapid.StringMatching(`[a-f]{4}`).Draw(t, "hash"),
				Tokens:    rapid.IntRange(0, 6000).Draw(t, "tokens"),
				Positions: rapid.IntRange(0, 8).Draw(t, "positions"),
				Markable:  rapid.IntRange(0, 9).Draw(t, "markable") > 0,
			})
		}
	}
	add(RegionTools, 0, 2)
	add(RegionSystem, 0, 2)
	add(RegionCarry, 0, 2)
	add(RegionWorkingSet, 0, 30)
	add(RegionNewest, 0, 2)
	return out
}

func genModel(t *rapid.T) Model {
	ids := []string{"claude-opus-5-5", "claude-opus-4-6", "claude-haiku-5-5", "gpt-6.2-sol", "gpt-5", "gemini-2.5-pro", "deepseek-flash", "gpt-4-turbo"}
	m, _ := DefaultBook().Lookup(rapid.SampledFrom(ids).Draw(t, "model"), noon)
	return m
}

func genOptions(t *rapid.T) LayoutOptions {
	ttl := rapid.SampledFrom([]time.Duration{0, 5 * time.Minute, time.Hour})
	return LayoutOptions{Fixed: ttl.Draw(t, "fixed"), Messages: ttl.Draw(t, "messages")}
}

func TestLayoutHoldsProviderRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blocks, m := genBlocks(t), genModel(t)
		bps, _ := Layout(blocks, m, rapid.IntRange(-1, 40).Draw(t, "prev"), genOptions(t))
		at := sums(blocks)
		if len(bps) > m.MaxBreakpoints {
			t.Fatalf("%d markers, %d allowed", len(bps), m.MaxBreakpoints)
		}
		for i, b := range bps {
			if !blocks[b.Block].Markable || b.CumulativeTokens != at[b.Block+1].tokens || b.CumulativeTokens < m.MinCacheTokens {
				t.Fatalf("bad marker %+v", b)
			}
			if i > 0 && (bps[i-1].Block >= b.Block || bps[i-1].TTL < b.TTL) {
				t.Fatalf("order of %+v", bps)
			}
		}
	})
}
