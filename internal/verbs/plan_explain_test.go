package verbs

import (
	"io"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
)

func TestApportionFillsTheBar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tokens := rapid.SliceOfN(rapid.IntRange(0, 300000), 1, 9).Draw(t, "tokens")
		var all []band
		total := 0
		for _, n := range tokens {
			all = append(all, band{tokens: n})
			total += n
		}
		sum := 0
		for i, n := range apportion(all, 76) {
			if all[i].tokens > 0 && n < 1 {
				t.Fatalf("band %d of %d tokens has no cell", i, all[i].tokens)
			}
			sum += n
		}
		if total > 0 && sum != 76 {
			t.Fatalf("cells add up to %d, want 76", sum)
		}
	})
}

func TestLifetime(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "-", 5 * time.Minute: "5m", time.Hour: "1h", 12 * time.Hour: "12h", 90 * time.Second: "1m30s"} {
		if got := lifetime(int(d / time.Second)); got != want {
			t.Errorf("lifetime(%v) = %q, want %q", d, got, want)
		}
	}
}

// TestMarker: painting adds colour and nothing else, and finds other forms of a
// word.
func TestMarker(t *testing.T) {
	mark := marker("deploys 数据库", display.Style{Color: true})
	if got, want := screened(mark("We deployed 数据, the deploy: ok")), "We \x1b[33mdeployed\x1b[0m \x1b[33m数据\x1b[0m, the \x1b[33mdeploy\x1b[0m: ok"; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	strip := strings.NewReplacer("\x1b[33m", "", "\x1b[0m", "")
	rapid.Check(t, func(t *rapid.T) {
		line := display.Printable(rapid.String().Draw(t, "line"))
		if got := strip.Replace(screened(mark(line))); got != line {
			t.Fatalf("%q became %q", line, got)
		}
		if got := marker("deploy", display.Style{})(line); got != line {
			t.Fatalf("without colour %q became %q", line, got)
		}
	})
}

// TestExplainTakesTheTerminal: every line keeps to the width, a wider one is used, and
// where there is none it is 80.
func TestExplainTakesTheTerminal(t *testing.T) {
	out := plan100(func(p *api.ContextPlan) {
		p.SessionKey = strings.Repeat("数据👨‍👩‍👧שלום", 30)
		p.Model = strings.Repeat("gpt-数据", 30)
		p.Faults = []fault.Fault{{Code: "workspace_cut", Detail: strings.Repeat("größe 数据库 👨‍👩‍👧 ", 60)}}
		p.Regions = []api.Region{{Name: "carry", Tokens: 60_000}}
		p.Retrieval = api.Retrieval{Reason: "OK", Items: 1, Citations: []string{"memory/" + strings.Repeat("数据", 40) + ".md"}}
	})
	for _, width := range []int{0, 44, 80, 100, 140} {
		text := display.Style{Width: width, All: true}.Text(func(s *display.Sheet) { explainPlan(s, out) })
		widest := 0
		for l := range strings.Lines(text) {
			widest = max(widest, display.Width(strings.TrimSuffix(l, "\n")))
		}
		if want := max(width, display.Columns); widest != want {
			t.Errorf("at %d columns the widest line has %d, want %d", width, widest, want)
		}
	}
}

// screened returns what a terminal gets of a text.
func screened(text string) string {
	var b strings.Builder
	io.WriteString(display.TextScreen(&b), text)
	return b.String()
}
