package budget

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// growth is what one recorded model call added to the prompt.
type growth struct {
	text          string // of the assistant turn before and of what answered it
	uses, results int
	recorded      int // growth of the provider's total input, in tokens
	total         int // that total input
}

// recordedGrowth reads a Claude Code session: the growth of each call that
// follows another without a break of any kind.
func recordedGrowth(tb testing.TB, path string) []growth {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var (
		out    []growth
		cur    growth
		last   string // message id of the call being read
		total  int    // its total input
		broken = true // nothing to compare with
	)
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var rec struct {
			Type, Subtype          string
			IsSidechain, IsCompact bool
			Message                struct {
				ID, Model string
				Content   json.RawMessage
				Usage     map[string]any
			}
		}
		if json.Unmarshal(sc.Bytes(), &rec) != nil || rec.IsSidechain {
			continue
		}
		switch {
		case rec.Subtype == "compact_boundary" || rec.Subtype == "microcompact_boundary":
			broken = true
		case rec.Type == "assistant" && strings.HasPrefix(rec.Message.Model, "claude-"):
			if rec.Message.ID != last {
				n := 0
				for _, k := range []string{"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"} {
					v, _ := rec.Message.Usage[k].(float64)
					n += int(v)
				}
				if cur.recorded = n - total; !broken && cur.recorded > 0 {
					cur.total = n
					out = append(out, cur)
				}
				cur, last, total, broken = growth{}, rec.Message.ID, n, false
			}
			cur.add(rec.Message.Content)
		case rec.Type == "user":
			cur.add(rec.Message.Content)
		}
	}
	return out
}

// add takes in the content of one record.
func (g *growth) add(content json.RawMessage) {
	var s string
	if json.Unmarshal(content, &s) == nil {
		g.text += s + "\n"
		return
	}
	var blocks []struct {
		Type, Text, Thinking, Name string
		Input, Content             json.RawMessage
	}
	if json.Unmarshal(content, &blocks) != nil {
		return
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			g.text += b.Text + "\n"
		case "thinking":
			g.text += b.Thinking + "\n"
		case "tool_use":
			g.uses++
			g.text += b.Name + string(b.Input) + "\n"
		case "tool_result":
			g.results++
			g.add(b.Content)
		}
	}
}

// TestGrowthOfRealSessions compares the estimate of what each call adds with
// what the provider billed, on recorded sessions if there are any.
func TestGrowthOfRealSessions(t *testing.T) {
	files, _ := filepath.Glob("../../shared/data/transcripts/claude-code/*.jsonl")
	if len(files) == 0 {
		t.Skip("no recorded sessions in ../../shared/data/transcripts/claude-code")
	}
	c, _ := For(ClaudeOld)
	o := OverheadsFor(ClaudeOld)
	for _, path := range files {
		var estimated, bound, recorded int
		var errs, under []float64
		rows := recordedGrowth(t, path)
		for _, g := range rows {
			n := c.Count(g.text)
			frame := 2*o.PerMessage + g.uses*o.PerToolUse + g.results*o.PerToolResult
			estimated += n.Tokens + frame
			bound += n.Bound + frame
			recorded += g.recorded
			errs = append(errs, math.Abs(float64(n.Tokens+frame)/float64(g.recorded)-1))
			under = append(under, float64(g.recorded-n.Bound-frame)/float64(g.total))
		}
		slices.Sort(errs)
		slices.Sort(under)
		t.Logf("%-42s %3d calls: estimate %.2f, bound %.2f of recorded growth; median error per call %.0f %%; worst excess over bound %.2f %% of the prompt",
			filepath.Base(path), len(rows), float64(estimated)/float64(recorded), float64(bound)/float64(recorded),
			100*errs[len(errs)/2], 100*under[len(under)-1])
		if r := float64(estimated) / float64(recorded); r < 0.8 || r > 1.2 {
			t.Errorf("%s: the estimate is %.2f of the recorded growth", filepath.Base(path), r)
		}
	}
}
