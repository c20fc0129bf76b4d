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
	tokenizer     string // of the model that was called
	text          string // of the assistant turn before and of what answered it
	hidden        Count  // thinking that is not shown
	bytes         int    // of text and JSON as they are in the file
	uses, results int
	recorded      int // growth of the provider's total input, in tokens
	total         int // that total input
}

// recordedGrowth reads a Claude Code session: the growth of each call that
// follows another without a break of any kind.
func recordedGrowth(tb testing.TB, path string) []growth {
	tb.Helper()
	if out := growths[path]; out != nil {
		return out
	}
	out := readGrowth(tb, path)
	growths[path] = out
	return out
}

// growths holds what recordedGrowth has read.
var growths = map[string][]growth{}

func readGrowth(tb testing.TB, path string) []growth {
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
				cur, last, total, broken = growth{tokenizer: familyOf(rec.Message.Model)}, rec.Message.ID, n, false
			}
			cur.add(rec.Message.Content)
		case rec.Type == "user":
			cur.add(rec.Message.Content)
		}
	}
	return out
}

// add adds the content of one record.
func (g *growth) add(content json.RawMessage) {
	var s string
	if json.Unmarshal(content, &s) == nil {
		g.text += s + "\n"
		g.bytes += len(s)
		return
	}
	var blocks []struct {
		Type, Text, Thinking, Name, Signature string
		Input, Content                        json.RawMessage
	}
	if json.Unmarshal(content, &blocks) != nil {
		return
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			g.text += b.Text + "\n"
			g.bytes += len(b.Text)
		case "thinking":
			g.text += b.Thinking + "\n"
			n := hiddenThinking(g.tokenizer, b.Thinking, b.Signature)
			g.hidden.Tokens, g.hidden.Bound = g.hidden.Tokens+n, g.hidden.Bound+n+n/2
			g.bytes += len(b.Thinking)
		case "tool_use":
			g.uses++
			g.text += b.Name + "\n" + toolInput(g.tokenizer, string(b.Input)) + "\n"
			g.bytes += len(b.Name) + len(b.Input)
		case "tool_result":
			g.results++
			g.add(b.Content)
		}
	}
}

// framed is the estimate of what a call added, with its framing.
func (g *growth) framed() Count {
	c, err := For(g.tokenizer)
	if err != nil {
		panic(err)
	}
	n, o := c.Count(g.text), overheadsFor(g.tokenizer)
	frame := 2*o.PerMessage + g.uses*o.PerToolUse + g.results*o.PerToolResult
	return Count{Tokens: n.Tokens + g.hidden.Tokens + frame, Bound: n.Bound + g.hidden.Bound + frame}
}

// TestGrowthOfRealSessions compares the estimate of what each call adds with
// what the provider billed, on recorded sessions if there are any, and with the
// rule of four bytes per token.
func TestGrowthOfRealSessions(t *testing.T) {
	files, _ := filepath.Glob("../../shared/data/transcripts/claude-code/*.jsonl")
	if len(files) == 0 {
		t.Skip("no recorded sessions in ../../shared/data/transcripts/claude-code")
	}
	for _, path := range files {
		var estimated, bound, recorded int
		var errs, quarters, under []float64
		rows := recordedGrowth(t, path)
		for i := range rows {
			g, n := &rows[i], rows[i].framed()
			estimated, bound, recorded = estimated+n.Tokens, bound+n.Bound, recorded+g.recorded
			errs = append(errs, math.Abs(float64(n.Tokens)/float64(g.recorded)-1))
			quarters = append(quarters, math.Abs(float64(g.bytes)/4/float64(g.recorded)-1))
			under = append(under, float64(g.recorded-n.Bound)/float64(g.total))
		}
		slices.Sort(errs)
		slices.Sort(quarters)
		slices.Sort(under)
		median, rule := errs[len(errs)/2], quarters[len(quarters)/2]
		t.Logf("%-42s %3d calls: estimate %.2f, bound %.2f of recorded growth; median error per call %.1f %%, of bytes/4 %.1f %%; worst excess over bound %.2f %% of the prompt",
			filepath.Base(path), len(rows), float64(estimated)/float64(recorded), float64(bound)/float64(recorded),
			100*median, 100*rule, 100*under[len(under)-1])
		if r := float64(estimated) / float64(recorded); r < 0.8 || r > 1.2 {
			t.Errorf("%s: the estimate is %.2f of the recorded growth", filepath.Base(path), r)
		}
		if median > rule/2 {
			t.Errorf("%s: the median error is %.1f %%, more than half of that of bytes/4, %.1f %%", filepath.Base(path), 100*median, 100*rule)
		}
	}
}

// TestCallFraming chooses, for each recorded session by the others alone, what a
// call and its result cost beside their text: the multiple of 5 with the least
// median error. That it is about the same for all is what the constants rest on.
func TestCallFraming(t *testing.T) {
	files, _ := filepath.Glob("../../shared/data/transcripts/claude-code/*.jsonl")
	if len(files) < 3 {
		t.Skip("no recorded sessions in ../../shared/data/transcripts/claude-code")
	}
	o := overheadsFor(claudeOld)
	const from, to, step = 60, 120, 5
	errors := make([][]float64, len(files)) // by file, of each candidate
	for f, path := range files {
		rows := recordedGrowth(t, path)
		texts := make([]int, len(rows))
		for i := range rows {
			texts[i] = rows[i].framed().Tokens - rows[i].uses*o.PerToolUse - rows[i].results*o.PerToolResult
		}
		for each := from; each <= to; each += step {
			var errs []float64
			for i := range rows {
				n := texts[i] + rows[i].uses*each
				errs = append(errs, math.Abs(float64(n)/float64(rows[i].recorded)-1))
			}
			slices.Sort(errs)
			errors[f] = append(errors[f], errs[len(errs)/2])
		}
	}
	for out := range files {
		best, least := 0, math.Inf(1)
		for c := range errors[0] {
			sum := 0.0
			for f := range files {
				if f != out {
					sum += errors[f][c]
				}
			}
			if sum < least {
				best, least = from+c*step, sum
			}
		}
		t.Logf("without %-42s %d tokens, where its own median error is %.1f %%", filepath.Base(files[out]), best, 100*errors[out][(best-from)/step])
		if d := best - o.PerToolUse - o.PerToolResult; d < -10 || d > 10 {
			t.Errorf("the others want %d tokens for a call and its result, %d are counted", best, o.PerToolUse+o.PerToolResult)
		}
	}
}
