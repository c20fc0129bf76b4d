package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/replay/recall"
	"github.com/memkernel/memkernel/transcript"
)

// The carry block, measured on recorded sessions at a window of 200,000 tokens:
//
//	go test -C bench -v -run TestCarry .
//
// CARRY_SESSIONS names the sessions, by a pattern of files. With CARRY_PRINT set, the carry block
// of every cut is printed.
const carryWindow = 200_000

// carried is a session that is planned call by call.
type carried struct {
	k       *kernel.Kernel
	msgs    []memkernel.Message
	calls   []transcript.Call
	model   string
	counter budget.Model
	cuts    int
}

func carriedSessions(t *testing.T) []string {
	pattern := os.Getenv("CARRY_SESSIONS")
	if pattern == "" {
		pattern = "../../shared/data/transcripts/claude-code/*.jsonl"
	}
	files, _ := filepath.Glob(pattern)
	if len(files) == 0 {
		t.Skip("no recorded sessions: nothing to measure")
	}
	return files
}

func carriedSession(t *testing.T, view []memkernel.Message) *carried {
	t.Helper()
	c := &carried{}
	c.msgs, _ = transcript.Repair(view, false)
	for i := range c.msgs {
		if c.msgs[i].Model != "" && c.msgs[i].Model != "<synthetic>" {
			c.model = c.msgs[i].Model
		}
	}
	var err error
	if c.counter, err = budget.NewModel("", c.model, nil); err != nil {
		t.Fatal(err)
	}
	if c.k, err = kernel.Open(context.Background(), t.TempDir(), &kernel.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.k.Close() })
	c.calls = transcript.Calls(c.msgs)
	return c
}

// plan plans the calls before message end, and returns the last plan.
func (c *carried) plan(t *testing.T, end int) (last *api.ContextPlan) {
	t.Helper()
	for n, call := range c.calls {
		if call.Index > end {
			break
		}
		p, err := c.k.PlanContext(context.Background(), c.request(call))
		if err != nil {
			t.Logf("call %d: %v", n+1, err)
			continue
		}
		if last != nil && p.Generation > last.Generation {
			c.cuts++
			if os.Getenv("CARRY_PRINT") != "" {
				fmt.Printf("==== call %d of %d, %d tokens\n%s\n", n+1, len(c.calls), c.tokens(carryText(p)), carryText(p))
			}
		}
		last = p
	}
	return last
}

func (c *carried) request(call transcript.Call) api.PlanRequest {
	return api.PlanRequest{SessionKey: "carry", Model: c.model, ContextWindow: carryWindow, FixedTokens: 20_000,
		Messages: c.msgs[:call.Index:call.Index], Now: call.Start, Resolver: "memory_get"}
}

func (c *carried) tokens(text string) int {
	return c.counter.Message(&memkernel.Message{Role: memkernel.RoleUser, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: text}}})
}

// carryText returns the kernel's text about the messages that left, "" if there is none.
func carryText(p *api.ContextPlan) string {
	for i := range p.Messages {
		if text := recall.TextOf(p.Messages[i]); strings.Contains(text, "[Context kept by memkernel") {
			return text
		}
	}
	return ""
}

// wordLine matches the first line of a person's words in a carry block.
var wordLine = regexp.MustCompile(`^(?:goal, turn |  - |  )\d+(?: \(correct[^)]*\))?: `)

// withoutWords returns a carry block without persons' words, and these words.
func withoutWords(text string) (rest, words string) {
	within := false
	for line := range strings.Lines(text) {
		if within = wordLine.MatchString(line) || within && strings.HasPrefix(line, "    "); within {
			words += line
		} else {
			rest += line
		}
	}
	return rest, words
}

// standing returns what persons typed in the messages of a plan.
func standing(p *api.ContextPlan) (words string) {
	for i := range p.Messages {
		if own, quoted := transcript.Typed(p.Messages[i]); !strings.HasPrefix(p.Messages[i].Key, "memkernel:") {
			words += own + quoted
		}
	}
	return words
}

// facts are plain statements of a person. None of them reads like a rule.
var facts = []string{
	"The staging database listens on port 54331 behind the bastion.",
	"Our customer in Lyon still runs release 2.7.4 on two machines.",
	"Marit owns the billing exporter, she is back on 14 March.",
	"The nightly import takes 47 minutes since we moved to the new disks.",
	"I keep the sample invoices in the folder harbour-fixtures on my laptop.",
	"The old dashboard reads its figures from the table tide_levels.",
	"Legal wants the audit trail for 11 years and not for seven.",
	"The mobile team calls that field crewCount, we call it headcount.",
	"My machine has 16 GB of memory and the build box has 128.",
	"The partner's sandbox answers with status 429 after 30 calls a minute.",
}

// TestCarryFacts writes ten facts into the first third of long sessions, as a person's messages,
// and looks for each at 95 % of the session, word for word.
func TestCarryFacts(t *testing.T) {
	found, asked := 0, 0
	for _, file := range carriedSessions(t) {
		s, err := transcript.LoadFile(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		view := s.View(transcript.Full)
		if len(view) < 300 {
			continue
		}
		var told []memkernel.Message
		for i := range view {
			told = append(told, view[i])
			for n, f := range facts {
				if at := len(view) * (12*9 + 22*n) / 900; i == at {
					m := memkernel.Message{Key: fmt.Sprint("fact-", n), Role: memkernel.RoleUser, Time: view[i].Time,
						Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: f, Typed: true}}}
					if len(view[i].Parts) > 0 && slices.ContainsFunc(view[i].Parts, func(p memkernel.Part) bool { return p.Call != nil }) {
						told = append(told[:len(told)-1], m, view[i]) // not between a call and its result
					} else {
						told = append(told, m)
					}
				}
			}
		}
		c := carriedSession(t, told)
		p := c.plan(t, len(c.msgs)*95/100)
		if p == nil || c.cuts == 0 {
			continue
		}
		n := 0
		var all strings.Builder
		for i := range p.Messages {
			all.WriteString(recall.TextOf(p.Messages[i]) + "\n")
		}
		for _, f := range facts {
			if strings.Contains(all.String(), f) {
				n++
			}
		}
		_, words := withoutWords(carryText(p))
		t.Logf("%-45s %2d of %d facts, %2d cuts, words %4d in the carry block, %4d in messages, prompt %d", filepath.Base(file), n, len(facts), c.cuts,
			c.tokens(words), c.tokens(standing(p)), p.Budgets.PlannedInputTokens)
		found, asked = found+n, asked+len(facts)
	}
	t.Logf("%d of %d facts", found, asked)
	if found*30 < 27*asked {
		t.Errorf("%d of %d facts are in the prompts, want 27 of 30", found, asked)
	}
}

var (
	carryName   = regexp.MustCompile(`[A-Za-z_][\w-]*(?:\.[a-z]{1,5}\b)?`)
	carryInner  = regexp.MustCompile(`[_0-9.]|[a-z][A-Z]`)
	carryNumber = regexp.MustCompile(`\b(?:\d+\.\d+|\d{3,})\b`)
)

// namesIn returns the names and numbers of a text: words with a capital, a digit, an underscore
// or an extension inside, and numbers of three digits or with a decimal point.
func namesIn(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range carryName.FindAllString(text, -1) {
		if len(w) >= 4 && carryInner.MatchString(w[1:]) {
			out[w] = true
		}
	}
	for _, w := range carryNumber.FindAllString(text, -1) {
		out[w] = true
	}
	return out
}

// TestCarryNames compares the carry block at the host's own compactions with the host's summary,
// which is not among the messages: how many of the summary's names and numbers does it hold?
func TestCarryNames(t *testing.T) {
	sum, bare, of, blocks := 0, 0, 0, 0
	for _, file := range carriedSessions(t) {
		s, err := transcript.LoadFile(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		view := s.View(transcript.Full)
		for _, w := range s.Rewrites() {
			i := slices.IndexFunc(w.Messages, func(m memkernel.Message) bool { return m.Origin == memkernel.OriginSummary })
			if i < 0 {
				continue
			}
			said := recall.TextOf(w.Messages[i])
			if _, after, ok := strings.Cut(said, "Summary:"); ok {
				said = after
			}
			said, _, _ = strings.Cut(said, "If you need specific details from before compaction")
			c := carriedSession(t, view[:w.At])
			c.plan(t, len(c.msgs))
			last := c.calls[len(c.calls)-1]
			last.Index = len(c.msgs)
			req := c.request(last)
			pass, err := c.k.Compact(context.Background(), api.Boundary{SessionKey: "carry", Model: c.model, Messages: c.msgs, Now: req.Now,
				Compact: &api.CompactWish{Tokens: 25_000, Force: true}})
			if err != nil {
				t.Fatal(err)
			}
			text := pass.Compaction.Summary
			rest, _ := withoutWords(text)
			var input strings.Builder
			for i := range c.msgs {
				input.WriteString(recall.TextOf(c.msgs[i]) + "\n")
			}
			names, n, b, all := namesIn(said), 0, 0, input.String()
			total := 0
			var lost []string
			for name := range names {
				if !strings.Contains(all, name) {
					continue
				}
				total++
				switch {
				case strings.Contains(rest, name):
					n, b = n+1, b+1
				case strings.Contains(text, name):
					n++
				default:
					lost = append(lost, name)
				}
			}
			slices.Sort(lost)
			t.Logf("%-40s at %4d: %3d of %3d (%2d %%), without words %3d (%2d %%), block %d tokens, without words %d; %v, %d messages left", filepath.Base(file), w.At,
				n, total, 100*n/max(total, 1), b, 100*b/max(total, 1), c.tokens(text), c.tokens(rest), pass.Compaction.Reason, pass.Compaction.Messages)
			if os.Getenv("CARRY_PRINT") != "" {
				fmt.Printf("lost: %v\n%s\n", lost, text)
			}
			sum, bare, of, blocks = sum+n, bare+b, of+total, blocks+1
		}
	}
	if blocks == 0 {
		t.Skip("no session has a summary of its host")
	}
	t.Logf("%d blocks: %d %% of the names and numbers, %d %% without words", blocks, 100*sum/of, 100*bare/of)
	if os.Getenv("CARRY_SESSIONS") == "" && 2*bare < of {
		t.Error("the carry block holds less than half of what the host's own summary names")
	}
}
