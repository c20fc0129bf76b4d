package checkpoint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/checkpoint"
)

const (
	none    = checkpoint.LevelNone
	show    = checkpoint.LevelShow
	save    = checkpoint.LevelCheckpoint
	compact = checkpoint.LevelCompact
)

func at(tokens int) checkpoint.Reading { return checkpoint.Reading{Tokens: tokens, Window: 200_000} }

func TestCross(t *testing.T) {
	th := checkpoint.DefaultThresholds()
	early := checkpoint.Thresholds{Show: .7, Checkpoint: .8, Compact: checkpoint.CompactionPoint(200_000, 80_000)}
	for _, c := range []struct {
		name    string
		th      checkpoint.Thresholds
		last    checkpoint.Level
		tokens  int
		now     checkpoint.Level
		crossed []checkpoint.Level
	}{
		{"below all", th, none, 139_999, none, nil},
		{"on the line", th, none, 140_000, show, []checkpoint.Level{show}},
		{"still there", th, show, 159_999, show, nil},
		{"one further", th, show, 160_000, save, []checkpoint.Level{save}},
		{"a huge result", th, none, 199_000, compact, []checkpoint.Level{show, save, compact}},
		{"over the window", th, save, 260_000, compact, []checkpoint.Level{compact}},
		{"fell back", th, compact, 30_000, none, nil},
		{"re-armed", th, show, 165_000, save, []checkpoint.Level{save}},
		{"compaction before the thresholds", early, none, 121_000, compact, []checkpoint.Level{show, save, compact}},
		{"no level without reason", early, none, 119_000, none, nil},
	} {
		now, crossed := c.th.Cross(c.last, at(c.tokens))
		if now != c.now || !cmp.Equal(crossed, c.crossed) {
			t.Errorf("%s: %v %v, want %v %v", c.name, now, crossed, c.now, c.crossed)
		}
	}
}

// Whatever the readings, between two of them every level that lies above the first
// and not above the second is crossed once, and a level is crossed again only
// after a reading below it.
func TestCrossingProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		share := rapid.Float64Range(0.01, 1)
		th := checkpoint.Thresholds{Show: share.Draw(t, "show"), Checkpoint: share.Draw(t, "save"), Compact: share.Draw(t, "compact")}
		if err := th.Check(); err != nil {
			t.Fatal(err)
		}
		armed := map[checkpoint.Level]bool{show: true, save: true, compact: true}
		last := none
		for _, tokens := range rapid.SliceOfN(rapid.IntRange(0, 300_000), 1, 20).Draw(t, "tokens") {
			now, crossed := th.Cross(last, at(tokens))
			for _, l := range crossed {
				if !armed[l] {
					t.Fatalf("level %d crossed twice", l)
				}
				armed[l] = false
			}
			for l := show; l <= compact; l++ {
				if reached := th.Level(at(tokens)) >= l; reached && armed[l] {
					t.Fatalf("level %d jumped past at %d tokens", l, tokens)
				} else if !reached {
					armed[l] = true
				}
			}
			last = now
		}
	})
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		tokens int
		level  checkpoint.Level
		saved  bool
		want   string
	}{
		{139_000, none, false, ""},
		{148_000, show, false, "[Context: 74% | 148k/200k tokens]"},
		{162_431, save, true, "[Context: 81% | 162k/200k tokens | Checkpoint saved]\n" + checkpoint.Advice},
		{162_431, save, false, "[Context: 81% | 162k/200k tokens]\n" + checkpoint.Advice},
		{159_999, show, false, "[Context: 79% | 159k/200k tokens]"},
		{160_000, save, true, "[Context: 80% | 160k/200k tokens | Checkpoint saved]\n" + checkpoint.Advice},
		{208_000, compact, true, "[Context: 104% | 208k/200k tokens | Checkpoint saved]\n" + checkpoint.Advice},
	} {
		if got := (checkpoint.NextCut{}).Line(at(c.tokens), c.level, c.saved); got != c.want {
			t.Errorf("%d tokens: %q, want %q", c.tokens, got, c.want)
		}
	}
	if got := (checkpoint.NextCut{}).Line(checkpoint.Reading{Tokens: 700, Window: 999}, show, false); got != "[Context: 70% | 700/999 tokens]" {
		t.Errorf("small window: %q", got)
	}
	first, _, _ := strings.Cut(checkpoint.NextCut{}.Line(at(162_431), save, true), "\n")
	if n := tokens(t)(first); n > 24 {
		t.Errorf("the gauge takes %d tokens", n)
	}
}

func TestThresholdsCheck(t *testing.T) {
	for _, th := range []checkpoint.Thresholds{{}, {Show: .7, Checkpoint: 80, Compact: .9}, {Show: .7, Checkpoint: .8, Compact: checkpoint.CompactionPoint(8000, 20_000)}} {
		if th.Check() == nil {
			t.Errorf("%+v was accepted", th)
		}
	}
	if p := checkpoint.CompactionPoint(200_000, 20_000); p != 0.9 || checkpoint.DefaultThresholds().Check() != nil {
		t.Errorf("compaction point %v", p)
	}
}

// What is said of the next cut: when it comes, and what the model can do until then, by
// the tools that it has.
func TestNextCutLine(t *testing.T) {
	next := checkpoint.NextCut{Low: 43_000, High: 74_400}
	repeat := "\nIn the message that answers this one, and in no later one, repeat briefly what of them you still need: decisions, open points, exact names and numbers."
	for _, c := range []struct {
		set    func(*checkpoint.NextCut)
		tokens int
		level  checkpoint.Level
		saved  bool
		want   string
	}{
		{nil, 65_000, none, false, ""},
		{nil, 65_000, show, false, "[Context: 32% | 65k/200k tokens | older parts leave in about 9k tokens]"},
		{nil, 68_600, save, false, "[Context: 34% | 68k/200k tokens | older parts leave in about 5k tokens]" + repeat},
		{func(n *checkpoint.NextCut) { n.Tool = "mcp__m__memory_append" }, 68_600, save, false, "[Context: 34% | 68k/200k tokens | older parts leave in about 5k tokens]" + repeat + " What must outlive the session belongs in memory: call mcp__m__memory_append."},
		{func(n *checkpoint.NextCut) { n.Tool, n.Maybe, n.Resolver = "memory_append", true, "memory_get" }, 68_600, save, false, "[Context: 34% | 68k/200k tokens | older parts leave in about 5k tokens]" + repeat +
			" What must outlive the session belongs in memory: call memory_append, if you have it. What has left can be fetched with memory_get."},
		{func(n *checkpoint.NextCut) { n.InLoop = true }, 80_000, compact, false, "[Context: 40% | 80k/200k tokens | older parts leave when this run of tool calls ends]" + repeat},
		{func(n *checkpoint.NextCut) { n.InLoop, n.Told, n.Tool = true, true, "memory" }, 162_000, save, true, "[Context: 81% | 162k/200k tokens | older parts leave when this run of tool calls ends | Checkpoint saved]\nWhat was not repeated or written down by then is shown shortened, or not at all."},
		{nil, 73_900, show, false, "[Context: 36% | 73k/200k tokens | older parts leave next]"},
		{func(n *checkpoint.NextCut) { *n = checkpoint.NextCut{} }, 162_000, save, true, "[Context: 81% | 162k/200k tokens | Checkpoint saved]\n" + checkpoint.Advice},
	} {
		n := next
		if c.set != nil {
			c.set(&n)
		}
		if got := n.Line(at(c.tokens), c.level, c.saved); got != c.want {
			t.Errorf("%+v at %d: %q, want %q", n, c.tokens, got, c.want)
		}
	}
	for tokens, want := range map[int]checkpoint.Level{40_000: none, 64_000: none, 65_000: show, 68_200: save, 74_400: compact, 90_000: compact} {
		th := checkpoint.DefaultThresholds()
		th.Compact = 1
		if got := th.Level(next.Way(tokens)); got != want {
			t.Errorf("%d on the way: %v, want %v", tokens, got, want)
		}
	}
	if (checkpoint.NextCut{}).Way(10) != (checkpoint.Reading{Tokens: 10}) {
		t.Error("no cut in sight is no window")
	}
}
