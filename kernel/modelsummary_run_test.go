package kernel_test

import (
	"context"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
)

// stubModel answers from a function, on this machine.
type stubModel func(ctx context.Context, p summary.Prompt) (string, error)

func (m stubModel) Name() string { return "stub" }

func (m stubModel) Complete(ctx context.Context, p summary.Prompt) (summary.Completion, error) {
	text, err := m(ctx, p)
	return summary.Completion{Text: text}, err
}

// TestNobodyWaits: while a model hangs, turns are observed and calls are planned;
// Close cancels it, and the delta is asked about again.
func TestNobodyWaits(t *testing.T) {
	dir, ck, c := t.TempDir(), newClock(), ruled(5)
	began := make(chan bool, 8)
	hang := stubModel(func(ctx context.Context, _ summary.Prompt) (string, error) {
		began <- true
		<-ctx.Done()
		return "", ctx.Err()
	})
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Now: ck.Now, Summary: api.SummaryOptions{Model: hang, Tokens: 1, Timeout: time.Hour, CloseWait: -1}})
	if err != nil {
		t.Fatal(err)
	}
	observe(t, k, api.Turn{Messages: c.msgs})
	<-began
	c.user()
	planned(t, k, request(c))
	c.say()
	observe(t, k, api.Turn{Messages: c.msgs})
	if len(began) > 0 {
		t.Error("the session was asked about twice at a time")
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	st := statusOf(t, dir)
	if len(st.SummaryModels) > 0 || len(st.Sessions[0].ModelSummaries) > 0 {
		t.Errorf("what was cancelled counts: %+v, %+v", st.SummaryModels, st.Sessions)
	}
	var asked string
	observeNoted(t, dir, stubModel(func(_ context.Context, p summary.Prompt) (string, error) { asked = p.User; return goodAnswer, nil }), ck, c.msgs)
	if !strings.Contains(asked, "[m1 user] Fix the retry") {
		t.Errorf("what was cancelled is not asked about again: %s", asked)
	}
}

// TestStubbornModel: a model that takes no notice of being cancelled keeps nobody,
// and writes nothing after Close.
func TestStubbornModel(t *testing.T) {
	dir, ck, c := t.TempDir(), newClock(), ruled(6)
	began, release, ended := make(chan bool), make(chan bool), make(chan bool)
	deaf := stubModel(func(context.Context, summary.Prompt) (string, error) {
		close(began)
		defer close(ended)
		<-release
		return goodAnswer, nil
	})
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Now: ck.Now, Summary: api.SummaryOptions{Model: deaf, Tokens: 1, CloseWait: -1}})
	if err != nil {
		t.Fatal(err)
	}
	observe(t, k, api.Turn{Messages: c.msgs})
	<-began
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	close(release)
	<-ended
	if st := statusOf(t, dir).Sessions[0].ModelSummaries; len(st) > 0 {
		t.Errorf("written after Close: %+v", st)
	}
}

// TestOneOfTwo: of two kernels on one state directory, one asks about a delta.
func TestOneOfTwo(t *testing.T) {
	dir, ck, c := t.TempDir(), newClock(), ruled(7)
	var mu sync.Mutex
	asked, release := 0, make(chan bool)
	m := stubModel(func(context.Context, summary.Prompt) (string, error) {
		mu.Lock()
		asked++
		mu.Unlock()
		<-release
		return goodAnswer, nil
	})
	a, b := openNoted(t, dir, m, ck), openNoted(t, dir, m, ck)
	observe(t, a, api.Turn{Messages: c.msgs})
	observe(t, b, api.Turn{Messages: c.msgs})
	observe(t, b, api.Turn{Messages: c.msgs})
	close(release)
	a.Close()
	b.Close()
	if st := statusOf(t, dir).Sessions[0].ModelSummaries; asked != 1 || len(st) != 1 || st[0].Deltas != 1 || st[0].Notes != 3 {
		t.Errorf("asked %d times; notes %+v", asked, st)
	}
}

// TestDeltasAreDisjoint: each answer is about what came after the one before, an
// old turn that is delivered again is not asked about, and long deltas go in parts.
func TestDeltasAreDisjoint(t *testing.T) {
	dir, ck := t.TempDir(), newClock()
	var prompts []string
	m := stubModel(func(_ context.Context, p summary.Prompt) (string, error) {
		_, said, _ := strings.Cut(p.User, "NEWEST MESSAGES\n")
		prompts = append(prompts, said)
		return `{"ops":[]}`, nil
	})
	c := ruled(8)
	first := c.msgs
	observeNoted(t, dir, m, ck, first)
	c.user()
	c.say()
	observeNoted(t, dir, m, ck, c.msgs)
	observeNoted(t, dir, m, ck, c.msgs)
	observeNoted(t, dir, m, ck, first)
	if len(prompts) != 2 || !strings.Contains(prompts[0], "Never push") || strings.Contains(prompts[1], "Never push") || strings.Count(prompts[1], "\n") != 2 {
		t.Errorf("asked about %q", prompts)
	}
	// A rewind: the turn is said again in other words, and nothing before it.
	c.msgs = append(c.msgs[:len(first):len(first)], memkernel.Message{Key: "other", Role: memkernel.RoleUser, Parts: []memkernel.Part{words("Rather drop it.")}, Time: c.now})
	c.say()
	observeNoted(t, dir, m, ck, c.msgs)
	if len(prompts) != 3 || strings.Contains(prompts[2], "Never push") || !strings.Contains(prompts[2], "Rather drop it.") {
		t.Errorf("after a rewind asked about %q", prompts[2:])
	}
}

// TestOldTurnsAgain: the turns of one delta, delivered again one by one as a script
// does it, are not asked about.
func TestOldTurnsAgain(t *testing.T) {
	dir, ck, asked := t.TempDir(), newClock(), 0
	m := stubModel(func(context.Context, summary.Prompt) (string, error) { asked++; return `{"ops":[]}`, nil })
	c := ruled(13)
	first := c.msgs
	c.user()
	c.say()
	k := openKernel(t, dir)
	observe(t, k, api.Turn{Messages: first})
	k.Close()
	observeNoted(t, dir, m, ck, c.msgs)
	observeNoted(t, dir, m, ck, first)
	observeNoted(t, dir, m, ck, c.msgs)
	if asked != 1 {
		t.Errorf("asked %d times, want once", asked)
	}
}

// TestRewindTakesNotesAway: what rests on a message that the host took back is not
// in the next summary; the rest is.
func TestRewindTakesNotesAway(t *testing.T) {
	dir, ck, c := t.TempDir(), newClock(), ruled(14)
	m := stubModel(func(_ context.Context, p summary.Prompt) (string, error) {
		last := p.User[strings.LastIndex(p.User, "\n[m")+2:]
		last, _, _ = strings.Cut(last, " ")
		return `{"ops":[{"op":"add","field":"open_threads","text":"This stays","evidence":"m1"},{"op":"add","field":"open_threads","text":"This goes","evidence":"` + last + `"}]}`, nil
	})
	observeNoted(t, dir, m, ck, c.msgs)
	whole := cutText(t, dir, c)
	c.msgs = append(c.msgs[:len(c.msgs)-1:len(c.msgs)-1], memkernel.Message{Key: "other", Role: memkernel.RoleAssistant, Parts: []memkernel.Part{words("It works otherwise.")}, Time: c.now})
	text := cutText(t, dir, longer(c)) // long enough for another cut
	if !strings.Contains(whole, "This stays") || !strings.Contains(whole, "This goes") || !strings.Contains(text, "This stays") || strings.Contains(text, "This goes") {
		t.Errorf("after the rewind\n%s\nbefore\n%s", text, whole)
	}
}

func TestWhenAModelIsAsked(t *testing.T) {
	for name, c := range map[string]struct {
		opt  api.SummaryOptions
		wait time.Duration // between what was said and the turn
		want bool
	}{
		"too little, too new": {api.SummaryOptions{Tokens: 1 << 20}, time.Minute, false},
		"enough":              {api.SummaryOptions{Tokens: 1000}, time.Minute, true},
		"old":                 {api.SummaryOptions{Tokens: 1 << 20}, time.Hour, true},
		"not old enough":      {api.SummaryOptions{Tokens: 1 << 20, After: 2 * time.Hour}, time.Hour, false},
		"by default enough":   {api.SummaryOptions{}, time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			c.opt.Model = stubModel(func(context.Context, summary.Prompt) (string, error) { asked++; return `{"ops":[]}`, nil })
			c.opt.CloseWait = 20 * time.Second
			k, err := kernel.Open(context.Background(), t.TempDir(), &kernel.Options{Summary: c.opt})
			if err != nil {
				t.Fatal(err)
			}
			talk := ruled(9)
			observe(t, k, api.Turn{Messages: talk.msgs, Now: talk.msgs[0].Time.Add(c.wait)})
			k.Close()
			if (asked == 1) != c.want {
				t.Errorf("asked %d times, want %v", asked, c.want)
			}
		})
	}
}

// TestResetForgetsNotes: notes belong to an epoch, and an answer that a reset
// overtook is not written.
func TestResetForgetsNotes(t *testing.T) {
	dir, ck, c := t.TempDir(), newClock(), ruled(10)
	release, began := make(chan bool), make(chan bool)
	m := stubModel(func(context.Context, summary.Prompt) (string, error) { close(began); <-release; return goodAnswer, nil })
	k := openNoted(t, dir, m, ck)
	observe(t, k, api.Turn{Messages: c.msgs})
	<-began
	pass(t, k.Reset, api.Boundary{Messages: c.msgs})
	close(release)
	k.Close()
	if st := statusOf(t, dir).Sessions[0].ModelSummaries; len(st) > 0 {
		t.Errorf("of before the reset: %+v", st)
	}
	if log := dailyLogs(t, dir); strings.Contains(log, "make check") {
		t.Errorf("a fact of before the reset was remembered: %s", log)
	}
}

// TestHostRefusesNotes: a policy of the host's binds a model's notes too, and never
// the mark.
func TestHostRefusesNotes(t *testing.T) {
	dir, ck, c := t.TempDir(), newClock(), ruled(11)
	no := journal.Policy{Name: "no models", Refuse: func(p journal.Proposal) string {
		if strings.HasPrefix(p.By.Name, "model ") {
			return "a model wrote it"
		}
		return ""
	}}
	m := stubModel(func(context.Context, summary.Prompt) (string, error) { return goodAnswer, nil })
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Now: ck.Now, Policies: []journal.Policy{no}, Summary: api.SummaryOptions{Model: m, Tokens: 1, CloseWait: 20 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	observe(t, k, api.Turn{Messages: c.msgs})
	k.Close()
	if st := statusOf(t, dir).Sessions[0].ModelSummaries; len(st) != 1 || st[0].Notes != 0 || st[0].Deltas != 1 {
		t.Errorf("notes: %+v", st)
	}
	if log := dailyLogs(t, dir); strings.Contains(log, "make check") {
		t.Errorf("a fact that the host refused was remembered: %s", log)
	}
}

// TestNotesUnwritten: where the journal can't be written, the model is not asked
// at every turn.
func TestNotesUnwritten(t *testing.T) {
	dir, ck, c := t.TempDir(), newClock(), ruled(17)
	var restore func()
	m := stubModel(func(context.Context, summary.Prompt) (string, error) {
		restore = atomicfile.SetHook(func(_, path string) error {
			if strings.HasSuffix(path, "journal.jsonl") {
				return syscall.ENOSPC
			}
			return nil
		})
		return goodAnswer, nil
	})
	observeNoted(t, dir, m, ck, c.msgs)
	restore()
	st := statusOf(t, dir)
	if len(st.SummaryModels) != 1 || st.SummaryModels[0].Reason != summary.ReasonNotWritten || len(st.Sessions[0].ModelSummaries) != 0 || dailyLogs(t, dir) != "" {
		t.Errorf("status: %+v", st)
	}
	ck.add(2 * time.Minute)
	observeNoted(t, dir, stubModel(func(context.Context, summary.Prompt) (string, error) { return goodAnswer, nil }), ck, c.msgs)
	if got := statusOf(t, dir).Sessions[0].ModelSummaries; len(got) != 1 || got[0].Notes != 3 {
		t.Errorf("notes: %+v", got)
	}
}
