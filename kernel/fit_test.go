package kernel_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
	"pgregory.net/rapid"
)

// bulk makes texts of many kinds, some of which no line or word holds together.
var bulk = map[string]func(rng *rand.Rand, n int) string{
	"code": func(rng *rand.Rand, n int) string { return (&conversation{rng: rng}).code(n)[:n] },
	"log": func(rng *rand.Rand, n int) string {
		return repeated(n, func(i int) string {
			return fmt.Sprintf("2026-11-03T09:%02d:%02d.%03dZ %s worker-%d took job %x in %d ms\n", i/60%60, i%60, rng.Intn(1000), []string{"INFO", "INFO", "DEBUG", "ERROR"}[rng.Intn(4)], rng.Intn(9), rng.Int63(), rng.Intn(900))
		})
	},
	"json": func(rng *rand.Rand, n int) string {
		return "[" + repeated(n, func(i int) string {
			return fmt.Sprintf(`{"id":%d,"name":"item %x","tags":["a","b%d"],"price":%d.%02d},`, i, rng.Int31(), rng.Intn(20), rng.Intn(900), rng.Intn(100))
		}) + `{"id":-1}]`
	},
	"csv": func(rng *rand.Rand, n int) string {
		return "id\tname\tcity\n" + repeated(n, func(i int) string { return fmt.Sprintf("%d\tperson %x\tcity %d\n", i, rng.Int31(), rng.Intn(50)) })
	},
	"html": func(rng *rand.Rand, n int) string {
		return "<html><body>" + repeated(n, func(i int) string {
			return fmt.Sprintf(`<div class="row r%d"><a href="/item/%x">Item %d</a></div>`, i%7, rng.Int31(), i)
		}) + "</body></html>"
	},
	"chinese": func(rng *rand.Rand, n int) string {
		return repeated(n, func(i int) string {
			return fmt.Sprintf("第%d条：系统在%d秒内完成了任务%x，结果已写入数据库。", i, rng.Intn(60), rng.Int31()) + []string{"", "\n"}[rng.Intn(2)]
		})
	},
	"one line": func(rng *rand.Rand, n int) string {
		return repeated(n, func(int) string { return fmt.Sprintf("%x ", rng.Int31()) })
	},
	"base64": func(rng *rand.Rand, n int) string {
		raw := make([]byte, n*3/4)
		rng.Read(raw)
		return base64.StdEncoding.EncodeToString(raw)
	},
	"binary": func(rng *rand.Rand, n int) string {
		raw := make([]byte, n)
		rng.Read(raw)
		return string(raw)
	},
	"spaces": func(rng *rand.Rand, n int) string { return "x" + strings.Repeat(" \n\t", n/3) },
	"breaks": func(rng *rand.Rand, n int) string { return strings.Repeat("a"+represent.PartBreak+"\n", n/3) },
}

func repeated(n int, line func(i int) string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(line(i))
	}
	return b.String()
}

func picture(n int) memkernel.Part {
	return memkernel.Part{Kind: memkernel.PartImage, Media: &memkernel.Media{Type: "image/png", Data: base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "png %d", n)), Width: 800, Height: 600}}
}

// TestAnySizeIsPlanned: whatever the sizes and kinds of results, pastes and pictures,
// a plan fits and is valid, or says by an error what keeps its shape and is too large;
// off a cut it extends the plan before; a kernel that is opened anew, and two that take
// turns, send the same and decide it from the same; and the trace decides the same again.
func TestAnySizeIsPlanned(t *testing.T) {
	kinds := rapid.SampledFrom(slices.Sorted(maps.Keys(bulk)))
	sizes := rapid.SampledFrom([]int{10, 1_000, 10_000, suite.Pick(15_000, 100_000), suite.Pick(25_000, 400_000)})
	rapid.Check(t, func(t *rapid.T) {
		dir := tempDir(t)
		k, alone, shared := openKernel(t, dir), tempDir(t), tempDir(t)
		stay := openKernel(t, alone)
		pair := []*kernel.Kernel{openKernel(t, shared), openKernel(t, shared)}
		defer func() { k.Close(); stay.Close(); pair[0].Close(); pair[1].Close() }()
		c := newConversation(rapid.Int64().Draw(t, "seed"))
		window := rapid.IntRange(16_000, suite.Pick(26_000, 300_000)).Draw(t, "window")
		req := api.PlanRequest{SessionKey: "s", Model: model, ContextWindow: window, Resolver: rapid.SampledFrom([]string{"", "memory_get"}).Draw(t, "resolver")}
		last, plans, pictures := "", 0, 0
		parts := func() (out []memkernel.Part) {
			for range rapid.IntRange(1, 4).Draw(t, "parts") {
				if rapid.IntRange(0, 3).Draw(t, "picture") == 0 {
					pictures++
					out = append(out, picture(pictures))
					continue
				}
				n := sizes.Draw(t, "size")
				out = append(out, words(bulk[kinds.Draw(t, "kind")](c.rng, n+c.rng.Intn(n))))
			}
			return out
		}
		for range rapid.IntRange(1, suite.Pick(4, 6)).Draw(t, "steps") {
			switch what := rapid.IntRange(0, 5).Draw(t, "step"); {
			case len(c.msgs) == 0 || what == 0:
				c.add(memkernel.RoleUser, parts()...)
			case what == 1:
				c.say()
				c.user()
			default:
				c.call(rapid.IntRange(1, 4).Draw(t, "parallel"))
				var rs []memkernel.Part
				for _, p := range c.msgs[len(c.msgs)-1].Parts[2:] {
					rs = append(rs, result(p.Call.ID, parts()...))
				}
				c.add(memkernel.RoleUser, rs...)
			}
			if rapid.IntRange(0, 2).Draw(t, "reopen") == 0 {
				k = reopen(t, k, dir)
			}
			req.Messages, req.Now = slices.Clone(c.msgs), c.now
			p, err := k.PlanContext(context.Background(), req)
			q, other := stay.PlanContext(context.Background(), req)
			r, third := pair[rapid.IntRange(0, 1).Draw(t, "whose turn")].PlanContext(context.Background(), req)
			if (err == nil) != (other == nil) || (err == nil) != (third == nil) {
				t.Fatalf("a kernel that is opened anew says %v, one that stays %v, one of two %v", err, other, third)
			}
			var small *budget.TooSmallError
			if errors.As(err, &small) && pictures*650 > (window-8_000)/4 {
				return
			}
			if err != nil {
				t.Fatalf("plan: %v", err)
			}
			checkPlan(t, p, c.msgs)
			s := stream(p)
			if diff := cmp.Diff(stream(q), s); diff != "" {
				t.Fatalf("a kernel that is opened anew sends other bytes:\n%s", diff)
			}
			if diff := cmp.Diff(stream(r), s); diff != "" {
				t.Fatalf("one of two kernels sends other bytes:\n%s", diff)
			}
			if p.Layout.Made == nil && !strings.HasPrefix(s, last) {
				t.Fatalf("off a cut the request is no extension of the one before")
			}
			last = s
			plans++
		}
		wantSame(t, sessionFile(dir, "trace.jsonl"), plans)
		given := deciderSaw(t, alone)
		for name, other := range map[string]string{"that is opened anew": dir, "of two": shared} {
			if diff := cmp.Diff(deciderSaw(t, other), given); diff != "" {
				t.Errorf("a kernel %s decides from other messages than one that stays:\n%s", name, diff)
			}
		}
	})
}

// deciderSaw is, for each plan of a trace, the conversation as the deciders were given it.
func deciderSaw(t fataler, dir string) (plans []string) {
	t.Helper()
	var hosts []json.RawMessage
	for _, line := range traceLines(t, sessionFile(dir, "trace.jsonl"))[1:] {
		var rec struct {
			Body struct {
				Keep int `json:"keep_host"`
				Host []json.RawMessage
			}
		}
		decode(t, line, &rec)
		hosts = append(hosts[:rec.Body.Keep:rec.Body.Keep], rec.Body.Host...)
		seen, err := json.MarshalIndent(hosts, "", " ")
		if err != nil {
			t.Fatalf("%v", err)
		}
		plans = append(plans, string(seen))
	}
	return plans
}

// free is the room that a plan leaves.
func free(p *api.ContextPlan) int {
	b := p.Budgets
	return b.ContextWindow - b.ReserveTokens - b.MarginTokens - b.PlannedInputTokens
}

// reducedTokens is what stands of the results that are not shown in full, by level.
func reducedTokens(p *api.ContextPlan) map[pagevm.Level]int {
	out := map[pagevm.Level]int{}
	for _, row := range p.Debug.Included {
		if row.Level < pagevm.Full && row.Kind != "carry" {
			out[row.Level] += row.Tokens
		}
	}
	return out
}

// TestLargeResultTakesTheRoom: where the model can read no more of it later, a result
// that does not fit stands compressed, and takes most of the room that is free, whatever
// it consists of and however the room came about; so do several at once.
func TestLargeResultTakesTheRoom(t *testing.T) {
	for _, name := range suite.Some(slices.Sorted(maps.Keys(bulk)), 3) {
		if name == "spaces" || name == "base64" {
			continue // there is nothing in it, or nothing to be read
		}
		for _, parallel := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s/%d", name, parallel), func(t *testing.T) {
				dir := t.TempDir()
				k := openKernel(t, dir)
				defer func() { k.Close() }()
				c := session(301, 2, 2, 1500)
				c.call(parallel)
				var rs []memkernel.Part
				for _, p := range c.msgs[len(c.msgs)-1].Parts[2:] {
					rs = append(rs, result(p.Call.ID, words(bulk[name](c.rng, 240_000))))
				}
				c.add(memkernel.RoleUser, rs...)
				req := request(c)
				req.Resolver, req.ContextWindow = "", 50_000
				p := planned(t, k, req)
				shown := reducedTokens(p)
				if p.Layout.Made != nil || shown[pagevm.Structured] > 0 || 100*shown[pagevm.Compressed] < 80*(shown[pagevm.Compressed]+free(p)) {
					t.Errorf("%v of %d tokens are shown, cut %v", shown, shown[pagevm.Compressed]+free(p), p.Layout.Made)
				}
				for _, r := range p.Reduced {
					if got := get(t, k, r.Handle); got.Reason != api.GetOK || len(got.Text) < 200_000 {
						t.Errorf("%s restores to %d bytes", r.Handle, len(got.Text))
					}
				}
				k = reopen(t, k, dir)
				again := planned(t, k, req)
				c.call(1)
				c.results(1, 400)
				req.Messages, req.Now = c.msgs, c.now
				next := planned(t, k, req)
				if stream(again) != stream(p) || next.Layout.Made == nil && !strings.HasPrefix(stream(next), stream(p)) {
					t.Error("what stands changed")
				}
				clean(t, k)
			})
		}
	}
}
