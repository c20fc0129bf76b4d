package kernel_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
)

// TestStories tells what went wrong in the field with the hosts' own memory, and
// holds the mechanism against it that is to keep it from happening here. Where an
// option switches the mechanism off, the story is told once more without it: it
// must then end badly, or the test would show nothing.
func TestStories(t *testing.T) {
	for _, s := range []struct {
		name string
		tell func(*testing.T)
	}{
		{"stale count jump", staleCountJump},
		{"second surge in one cycle", secondSurge},
		{"NO_REPLY", noReply},
		{"summary too large", summaryTooLarge},
		{"summariser down", summariserDown},
		{"reset without compaction", resetWithoutCompaction},
		{"destructive overwrite", destructiveOverwrite},
	} {
		t.Run(s.name, s.tell)
	}
}

// openLife opens a kernel whose working state is kept as life says.
func openLife(t *testing.T, dir string, life kernel.LifeOptions) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Life: life})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k
}

// Stale count jump. A host decided whether to flush by the token count of the turn
// before. One large message went from below the threshold to over the compaction
// point, the flush never fired, and the conversation was compacted with nothing
// written down. Here every decision is made on what the next call would hold: the
// plan that carries the large result has written the checkpoint and asks for the
// flush turn before it is used. What the turn before was billed, and its plan, say
// nothing of the kind. Switched off, the result goes out and nothing is written.
func staleCountJump(t *testing.T) {
	for _, off := range []bool{false, true} {
		dir := t.TempDir()
		k := openLife(t, dir, kernel.LifeOptions{Off: off, NoFlush: off})
		c := newConversation(71)
		c.user()
		before := fill(t, k, c, roomy, 0.3)
		billed := &memkernel.Usage{InputTokens: before.Budgets.PlannedInputTokens}
		if share := float64(billed.InputTotal()) / float64(before.Budgets.ContextWindow); share > 0.5 || before.FlushDue != "" || len(checkpoints(t, dir)) > 0 {
			t.Fatalf("the turn before is at %.2f already, flush due %q", share, before.FlushDue)
		}
		c.call(6)
		observe(t, k, api.Turn{Messages: c.msgs, PlanID: before.ID, Usage: billed})
		c.results(6, 9_000)
		req := request(c)
		roomy(&req)
		p := mustPlan(t, k, req)
		checkPlan(t, p, c.msgs)
		saved, asked := len(checkpoints(t, dir)) == 1, p.FlushDue == "tokens"
		if saved == off || asked == off || p.Budgets.Utilization < 0.8 {
			t.Errorf("off %v: at %.2f of the window: checkpoint %v, flush asked for %v", off, p.Budgets.Utilization, saved, asked)
		}
	}
}

// Second surge in one cycle. A host flushed once per compaction cycle and noted that
// it had. More came, in the same cycle, up to the compaction: "already flushed". Here
// a flush is remembered by what it wrote: the second one writes what is new and
// nothing again, and the host is asked for another flush turn once as much has come
// again as the soft threshold is. With the flush switched off in the second surge,
// what came in it is in no file.
func secondSurge(t *testing.T) {
	for _, off := range []bool{false, true} {
		dir := t.TempDir()
		c := session(72, 3, 1, 1500)
		k := openLife(t, dir, kernel.LifeOptions{})
		pass(t, k.Flush, api.Boundary{Messages: c.msgs})
		first := noted(logs(t, dir))
		k.Close()
		c.add(memkernel.RoleAssistant, words("Shall I keep the second table?"))
		c.add(memkernel.RoleUser, words("Yes, under a name of its own."))
		k = openLife(t, dir, kernel.LifeOptions{NoFlush: off})
		pass(t, k.Compact, api.Boundary{Messages: c.msgs})
		text := logs(t, dir)
		if stands := strings.Contains(text, "second table? → Yes"); stands == off || first == 0 {
			t.Errorf("off %v: the second surge is written %v, %d entries before it", off, stands, first)
		}
		if n := noted(text); !off && n != first+1 {
			t.Errorf("%d entries after the second surge, %d before it", n, first)
		}
	}
	if asked := askedInACycle(t); len(asked) < 2 {
		t.Errorf("one cycle, and asked for a flush turn at %v tokens only", asked)
	}
}

// askedInACycle lists the sizes at which a plan asked for a flush turn before the
// kernel's own cut came.
func askedInACycle(t *testing.T) (at []int) {
	k := openLife(t, t.TempDir(), kernel.LifeOptions{})
	c := newConversation(73)
	for c.user(); ; c.loop(1, 3000) {
		req := request(c)
		roomy(&req)
		p := mustPlan(t, k, req)
		if p.Layout.Made != nil {
			return at
		}
		if p.FlushDue != "" {
			at = append(at, p.Budgets.PlannedInputTokens)
		}
	}
}

// NO_REPLY. The flush was a prompt: "write down what matters, or answer NO_REPLY".
// Models answered NO_REPLY, and the cycle's only flush was spent. Here that answer
// is taken for what it is, and the mechanical flush, which asks nobody, writes the
// decisions at the boundary all the same. Without it the log is empty.
func noReply(t *testing.T) {
	for _, off := range []bool{false, true} {
		dir := t.TempDir()
		k := openLife(t, dir, kernel.LifeOptions{NoFlush: off})
		c := session(74, 4, 1, 1500)
		observe(t, k, api.Turn{Messages: c.msgs[:len(c.msgs)-1]})
		if _, err := k.FlushTurn(context.Background(), api.FlushRequest{Now: c.now}); err != nil {
			t.Fatal(err)
		}
		got, err := k.ObserveFlush(context.Background(), api.FlushReply{SessionKey: "s", Text: api.NoReply, Now: c.now})
		if err != nil || got.Reason != api.NoReply || logs(t, dir) != "" {
			t.Fatalf("%+v %v, the log says %q", got, err, logs(t, dir))
		}
		pass(t, k.Compact, api.Boundary{Messages: c.msgs})
		if wrote := noted(logs(t, dir)) > 0; wrote == off {
			t.Errorf("off %v: something is in the log: %v", off, wrote)
		}
	}
}

// Summary too large. A summariser's answer was longer than what it replaced, and was
// put in its place: the compaction made the prompt grow until it was over the window.
// Here a model only proposes entries beside the mechanical summary; 200 KB of them
// are refused under a reason, the text is byte for byte what it is without a model,
// and it is within its cap. The same model's short answer is taken, so it is the size
// that was refused.
func summaryTooLarge(t *testing.T) {
	bare, got, status := toldBy(t, rude["200 KB"].answer)
	if got != bare || status.Reason != summary.ReasonTooLarge {
		t.Errorf("%s: the summary is\n%s\nwithout a model\n%s", status.Reason, got, bare)
	}
	// A token is at most as long as this text is on average.
	if limit := summary.Cap(32_000) * 8; len(got) > limit {
		t.Errorf("the summary has %d bytes, want at most %d", len(got), limit)
	}
	if _, got, status := toldBy(t, says(goodAnswer)); status.Failures != 0 || !strings.Contains(got, "Retries use a table") {
		t.Errorf("%s: a short answer is not in\n%s", status.Reason, got)
	}
}

// Summariser down. The compaction waited for a model that did not answer, and then
// replaced the history by "Summary unavailable". Here no plan and no boundary waits
// for a model: the mechanical summary is there with its rules and decisions, the
// reason is kept, and the model is left alone for a while. The same model, up, is
// listened to.
func summariserDown(t *testing.T) {
	for _, how := range []string{"closing", "broken", "limited"} {
		bare, got, status := toldBy(t, rude[how].answer)
		if got != bare || !strings.Contains(got, rule) || !strings.Contains(got, decision) || status.Reason != rude[how].want || status.Until.IsZero() {
			t.Errorf("%s, %s: the summary is\n%s\nwithout a model\n%s", how, status.Reason, got, bare)
		}
	}
	if bare, got, _ := toldBy(t, says(goodAnswer)); got == bare {
		t.Error("a model that is up is not listened to")
	}
}

// toldBy is the summary behind a cut, without a model and with one that answers so,
// and how it stands with that model.
func toldBy(t *testing.T, answer noteAnswer) (bare, got string, status api.Cooldown) {
	t.Helper()
	c, ck := ruled(75), newClock()
	dir := t.TempDir()
	k := openKernel(t, dir)
	observe(t, k, api.Turn{Messages: c.msgs})
	k.Close()
	bare = cutText(t, dir, c)
	dir = t.TempDir()
	observeNoted(t, dir, askedModel(t, serveNotes(t, answer), "openai", time.Minute), ck, c.msgs)
	if st := statusOf(t, dir).SummaryModels; len(st) == 1 {
		status = st[0]
	}
	return bare, cutText(t, dir, c), status
}

// Reset without compaction. The flush hung on compaction; /new and the daily reset
// threw the conversation away without one. Here the reset is a boundary like any
// other: decisions, open items, rules told in conversation and a memory that was
// asked for in a turn which never ended are in the log, and the next conversation of
// the session begins with what was left. Switched off, nothing is.
func resetWithoutCompaction(t *testing.T) {
	for _, off := range []bool{false, true} {
		dir := t.TempDir()
		k := openLife(t, dir, kernel.LifeOptions{Off: off, NoFlush: off})
		c := newConversation(76)
		c.add(memkernel.RoleUser, words("Fix the retry in pkg/queue please. Never push to main."))
		c.add(memkernel.RoleAssistant, words("Shall I use a backoff table?"))
		c.add(memkernel.RoleUser, words("yes"))
		c.loop(2, 900)
		c.add(memkernel.RoleAssistant, words("It is done.\n\nShall I measure it under load?"))
		observe(t, k, api.Turn{Messages: c.msgs})
		pass(t, k.Reset, api.Boundary{Messages: c.msgs})
		text := logs(t, dir)
		for _, want := range []string{"- [decision] Shall I use a backoff table? → yes\n", "- [open] unanswered: Shall I measure it under load?\n", "- [human] Never push to main.\n"} {
			if n := strings.Count(text, want); (n == 1) == off {
				t.Errorf("off %v: %q stands %d times in\n%s", off, want, n, text)
			}
		}
		fresh := newConversation(77)
		fresh.n = 500
		fresh.add(memkernel.RoleUser, words("Remember this: the harbour closes at six."))
		p := mustPlan(t, k, request(fresh))
		if goesOn := strings.Contains(stream(p), "Shall I measure it under load?"); goesOn == off {
			t.Errorf("off %v: the next conversation goes on from the last: %v", off, goesOn)
		}
		pass(t, k.Reset, api.Boundary{Messages: fresh.msgs, Key: "again"})
		pass(t, k.Reset, api.Boundary{Messages: fresh.msgs, Key: "again"})
		if n := strings.Count(logs(t, dir), "the harbour closes at six"); n == 1 == off {
			t.Errorf("off %v: the memory of the turn that never ended stands %d times", off, n)
		}
	}
}

// Destructive overwrite. A flush wrote the day's note anew, and what had stood there
// was gone; two flushes at once both said that they had written, and one was lost; a
// compaction put an empty skeleton in the place of a good summary. Here the log is
// only appended to, under a lock that processes share; committed text is not
// replaced by nothing; and a boundary at which nothing new was said leaves the
// summary as it is. A field that nothing guards can be emptied, which shows that it
// is the guard that refuses.
func destructiveOverwrite(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	day := filepath.Join(dir, "memory", now.Format("2006-01-02")+".md")
	const mine = "# My day\n\nThe harbour closes at six.\n"
	if err := os.MkdirAll(filepath.Dir(day), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(day, []byte(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	flushTogether(t, dir, now)
	text := logs(t, dir)
	if !strings.HasPrefix(text, mine) {
		t.Errorf("what a person wrote is not where it was:\n%.200s", text)
	}
	for i := range 4 {
		if want := fmt.Sprintf("Memory %d of a process of its own.", i); strings.Count(text, want) != 1 {
			t.Errorf("%q stands %d times", want, strings.Count(text, want))
		}
	}
	emptied(t, dir)
	k := memoryKernel(t)
	defer k.Close()
	c := longer(ruled(78))
	mustPlan(t, k, request(c))
	pass(t, k.Compact, api.Boundary{Messages: c.msgs})
	good := summarised(mustPlan(t, k, request(c)))
	pass(t, k.Compact, api.Boundary{Key: "nothing was said since"})
	c.loop(1, 300)
	if now := summarised(mustPlan(t, k, request(c))); now != good || !strings.Contains(good, "Never push to main.") {
		t.Errorf("a compaction with nothing new changed the summary from\n%s\nto\n%s", good, now)
	}
}

// summarised is the line of a prompt that holds the summary, without what lists messages that left.
func summarised(p *api.ContextPlan) string {
	for line := range strings.SplitSeq(stream(p), "\n") {
		if strings.Contains(line, "[SESSION_SUMMARY") {
			line, _, _ = strings.Cut(line, `\nleft the prompt:`)
			line, _, _ = strings.Cut(line, `\nfiles (`)
			return line
		}
	}
	return ""
}

// flushTogether lets four kernels append to one log at once.
func flushTogether(t *testing.T, dir string, now time.Time) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range 4 {
		k := openLife(t, dir, kernel.LifeOptions{})
		wg.Go(func() {
			_, err := k.ObserveFlush(context.Background(), api.FlushReply{SessionKey: fmt.Sprint("s", i), Text: fmt.Sprintf("- Memory %d of a process of its own.", i), Now: now})
			if err != nil {
				t.Errorf("flush %d: %v", i, err)
			}
		})
	}
	wg.Wait()
}

// emptied tries to put nothing in the place of what is guarded, to write what was
// made from an older version, and to empty what nothing guards.
func emptied(t *testing.T, dir string) {
	t.Helper()
	k := openKernel(t, dir)
	defer k.Close()
	of := func(field, text string, version int) journal.Update {
		u := pin("work", text)
		u.Type, u.Field, u.Version = pagevm.Plan, field, version
		return u
	}
	rule := pin("r1", "")
	rule.Version = 1
	write(t, k, pin("r1", "Never push to main."), of("step", "Measure it.", 0))
	write(t, k, of("step", "Mend it.", 1))
	for _, test := range []struct {
		u    journal.Update
		want string
	}{
		{rule, journal.CodePolicy},
		{of("step", "Measure it again.", 1), journal.CodeDestructive},
		{of("step", "", 2), ""},
	} {
		code := ""
		if r := write(t, k, test.u); len(r.Rejected) == 1 {
			code = r.Rejected[0].Code
		}
		if code != test.want {
			t.Errorf("%s %s version %d: %q, want %q", test.u.Field, test.u.Value, test.u.Version, code, test.want)
		}
	}
}
