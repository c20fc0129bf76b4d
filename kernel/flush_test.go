package kernel_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
)

// logs is what all daily logs of a workspace say.
func logs(t *testing.T, dir string) string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "memory", "*.md"))
	var b strings.Builder
	for _, f := range files {
		b.WriteString(read(t, "/", f))
	}
	return b.String()
}

// What a session came to is in the day's log before the conversation is taken away,
// once, whatever the model does.
func TestMechanicalFlush(t *testing.T) {
	for _, name := range []string{"compact", "reset", "end", "flush"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			k := openKernel(t, dir)
			defer k.Close()
			h := map[string]hook{"flush": k.Flush, "compact": k.Compact, "reset": k.Reset, "end": k.EndSession}[name]
			c := session(61, 4, 2, 2000)
			c.say() // with a question that stays open
			p := pass(t, h, api.Boundary{Messages: c.msgs})
			text := logs(t, dir)
			if len(p.Faults) > 0 || noted(text) == 0 || !strings.Contains(text, p.Checkpoint) {
				t.Fatalf("%+v\n%s", p, text)
			}
			if open := strings.Contains(text, "[open]"); open != (name == "reset" || name == "end") {
				t.Errorf("open items are in the log: %v", open)
			}
			pass(t, k.EndSession, api.Boundary{Messages: c.msgs})
			if n := noted(logs(t, dir)); n != noted(text) {
				t.Errorf("%d entries, then %d", noted(text), n)
			}
		})
	}
}

// A second surge in the same cycle is flushed, too: what counts is what is new, not
// that there was a flush.
func TestSecondSurgeIsFlushed(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := session(62, 3, 1, 1500)
	pass(t, k.Flush, api.Boundary{Messages: c.msgs})
	first := noted(logs(t, dir))
	for range 3 {
		c.loop(1, 1500)
		c.say()
		c.user()
	}
	k.Close()
	k = openKernel(t, dir) // what was flushed is known after a restart
	defer k.Close()
	pass(t, k.Flush, api.Boundary{Messages: c.msgs})
	text := logs(t, dir)
	if n := noted(text); n <= first {
		t.Errorf("%d entries after the second surge, %d before", n, first)
	}
	seen := map[string]bool{}
	for l := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(l, "- [") && seen[l] {
			t.Errorf("twice: %s", l)
		}
		seen[l] = true
	}
}

// A workspace that can't be written is no error, and no silence.
func TestFlushSkipsReadOnly(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	// A file in the folder's place can't be written by root either.
	if err := os.WriteFile(filepath.Join(dir, "memory"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	p := pass(t, k.Compact, api.Boundary{Messages: session(63, 3, 1, 800).msgs})
	if len(p.Faults) != 1 || p.Faults[0].Code != fault.FlushSkipped || p.Checkpoint == "" {
		t.Errorf("%+v", p)
	}
}

func TestFlushTurn(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	ctx := context.Background()
	now := time.Now()
	f, err := k.FlushTurn(ctx, api.FlushRequest{Now: now, Prompt: "Mine: what is worth keeping?"})
	if err != nil || !strings.Contains(f.Prompt, "Mine:") || !strings.Contains(f.Prompt, api.NoReply) || !strings.Contains(f.Prompt, f.Path) || !strings.Contains(f.System, "read-only") {
		t.Fatalf("%+v %v", f, err)
	}
	secret := "AKIA" + "IOSFODNN7EXAMPLE"
	for _, test := range []struct {
		text, reason string
		items        int
	}{
		{"NO_REPLY", api.NoReply, 0},
		{" `NO_REPLY` ", api.NoReply, 0},
		{"", "EMPTY", 0},
		{strings.Repeat("x", 40<<10), "TOO_LARGE", 0},
		{"# Memories\n- The port is 8443.\n- The key is " + secret + ".\n\n", api.GetOK, 2},
		{"- The port is 8443.\n- It moved to 9443.", api.GetOK, 1},
		{"I am afraid I can't do that.\nAsk again later.", "EMPTY", 0},
		{"Here is what matters:\n\n1. [decision] Deploys go out daily,\n   unless it is Friday.\n2. Berths:\n   - north is closed\n   - south is open\n\nThat is all.", api.GetOK, 2},
		{"  - [human] Tea at four.\n  - [human] Coffee at five.", api.GetOK, 2},
		{"[human] Rum at six.", api.GetOK, 1},
		{"- The port is 8443.", api.GetOK, 0},
	} {
		got, err := k.ObserveFlush(ctx, api.FlushReply{SessionKey: "s", Text: test.text, Now: now})
		if err != nil || got.Reason != test.reason || got.Items != test.items {
			t.Errorf("%.40q: %+v %v", test.text, got, err)
		}
	}
	text := logs(t, dir)
	for _, want := range []string{"\n- [decision] Deploys go out daily, unless it is Friday.\n", "\n- Berths: north is closed; south is open\n", "\n- [human] Tea at four.\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the log has no %q", want)
		}
	}
	if strings.Contains(text, "That is all") || strings.Contains(text, "what matters") || strings.Count(text, "8443") != 1 || !strings.Contains(text, "9443") || strings.Contains(text, secret) {
		t.Errorf("the log says\n%s", text)
	}
}

// The host is asked for a flush turn when the reserve is near, once a cycle, and
// again when as much came behind it.
func TestFlushIsDue(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(64)
	c.user()
	asked := 0
	var at []int
	for range 60 {
		req := request(c)
		req.ContextWindow, req.Reserve = 40_000, 4000
		p := mustPlan(t, k, req)
		if p.Layout.Made != nil {
			break
		}
		if p.FlushDue != "" {
			asked++
			at = append(at, p.Budgets.PlannedInputTokens)
		}
		c.loop(1, 900)
	}
	if asked == 0 {
		t.Error("never asked before a cut")
	}
	for i := 1; i < len(at); i++ {
		if at[i]-at[i-1] < 2000 {
			t.Errorf("asked again within the soft threshold: %v", at)
		}
	}
}

// What a model is shown for a flush is what was said since the last one that it answered,
// without secrets, however large that is; what it answers carries the agent's mark and is
// told in one line.
func TestFlushShowsWhatWasSaid(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	ctx := context.Background()
	secret := "AKIA" + "IOSFODNN7EXAMPLE"
	c := newConversation(81)
	c.add("user", words("We move the harbour job to Lisbon, the key is "+secret+"."))
	c.say()
	ask := func(want ...string) *api.FlushTurn {
		t.Helper()
		c.user()
		mustPlan(t, k, request(c))
		f, err := k.FlushTurn(ctx, api.FlushRequest{SessionKey: "s", Now: c.now})
		if err != nil || f.MaxTokens <= 0 {
			t.Fatalf("%+v %v", f, err)
		}
		for _, w := range want {
			if !strings.Contains(f.Prompt, w) {
				t.Errorf("the prompt has no %q:\n%.3000s", w, f.Prompt)
			}
		}
		if strings.Contains(f.Prompt, secret) {
			t.Error("the prompt holds a secret")
		}
		return f
	}
	answer := func(text string, section bool) *api.Flushed {
		t.Helper()
		got, err := k.ObserveFlush(ctx, api.FlushReply{SessionKey: "s", Text: text, Section: section, Now: c.now})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	ask("Lisbon", api.NoReply)
	// A model that doesn't answer is not asked again and again.
	if f, err := k.FlushTurn(ctx, api.FlushRequest{SessionKey: "s", Now: c.now}); err != nil || f.Prompt != "" {
		t.Errorf("asked again: %v\n%s", err, f.Prompt)
	}
	got := answer("- [decision] The harbour job runs in Lisbon, the key is "+secret+".\n- [lesson] Ask the pilot.", false)
	if got.Items != 2 || got.Line != "flush: 2 entries to "+got.Path {
		t.Errorf("%+v", got)
	}
	text := logs(t, dir)
	if strings.Contains(text, secret) || !strings.Contains(text, "<!-- mk:fa-") || strings.Count(text, "Lisbon") != 1 {
		t.Errorf("the log says\n%s", text)
	}
	c.say()
	c.user()
	mustPlan(t, k, request(c))
	if f, err := k.FlushTurn(ctx, api.FlushRequest{SessionKey: "s", Now: c.now}); err != nil || f.Prompt != "" {
		t.Errorf("a second turn in the cycle, for little: %v\n%s", err, f.Prompt)
	}
	c.say()
	for range 40 {
		c.loop(4, 3000)
	}
	c.add("assistant", words("The last word is Porto."))
	if f := ask("Porto"); strings.Contains(f.Prompt, "Lisbon") || len(f.Prompt) > 80_000 {
		t.Errorf("the prompt has %d bytes, and what was asked about before: %v", len(f.Prompt), strings.Contains(f.Prompt, "Lisbon"))
	}
	if got := answer(api.NoReply, false); got.Line != "flush: nothing new to keep" {
		t.Errorf("%+v", got)
	}
	f, err := k.FlushTurn(ctx, api.FlushRequest{SessionKey: "s", Now: c.now})
	if err != nil || f.Prompt != "" || !strings.Contains(f.Section, "<memory>") {
		t.Errorf("asked again about the same: %+v %v", f, err)
	}
	for text, items := range map[string]int{
		"A summary without memories.\n- [decision] Not one.":                                                    0,
		"A summary.\n<memory>\n- cut off":                                                                       0,
		"A summary.\n<memory>\nNO_REPLY\n</memory>":                                                             0,
		"The words <memory> and </memory> stand here.\n\n<memory>\n- [human] Tea at four.\n</memory>\nThe end.": 1,
	} {
		if got := answer(text, true); got.Items != items {
			t.Errorf("%q: %+v", text, got)
		}
	}
	st, err := k.Status(ctx, nil)
	if err != nil || len(st.Sessions) != 1 {
		t.Fatal(st, err)
	}
	if l := st.Sessions[0].Life; l.FlushedByModel != 2 || l.LastFlushItems != 1 || l.LastFlushPath != got.Path {
		t.Errorf("status: %+v", l)
	}
	// A conversation without keys of its own, of a session that no plan of this process knows.
	var bare []memkernel.Message
	for _, text := range []string{"We move to Faro.", "Fine.", "And on to Lagos.", "Done."} {
		role := memkernel.RoleUser
		if len(bare)%2 == 1 {
			role = memkernel.RoleAssistant
		}
		bare = append(bare, memkernel.Message{Role: role, Parts: []memkernel.Part{words(text)}})
	}
	if f, err := k.FlushTurn(ctx, api.FlushRequest{SessionKey: "bare", Messages: bare, Model: model, Now: c.now}); err != nil || !strings.Contains(f.Prompt, "Faro") || !strings.Contains(f.Prompt, "Lagos") {
		t.Errorf("%+v %v", f, err)
	}
	if _, err := k.ObserveFlush(ctx, api.FlushReply{SessionKey: "bare", Text: api.NoReply, Now: c.now}); err != nil {
		t.Fatal(err)
	}
	if f, err := k.FlushTurn(ctx, api.FlushRequest{SessionKey: "bare", Messages: bare, Model: model, Now: c.now}); err != nil || f.Prompt != "" {
		t.Errorf("nothing is new: %+v %v", f, err)
	}
	if _, err := k.FlushTurn(ctx, api.FlushRequest{SessionKey: "nobody"}); !errors.Is(err, api.ErrNoSession) {
		t.Errorf("a session that is not there: %v", err)
	}
}

// A cut of the kernel's own loses nothing of what a flush writes: by default it is in the
// day's log with the next turn, whatever the model did.
func TestCutIsFlushed(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := session(66, 8, 3, 9000)
	req := request(c)
	req.Private = true
	p := mustPlan(t, k, req)
	if p.Layout.Made == nil {
		t.Fatal("no cut was made: the window is too large for this test")
	}
	c.say()
	observe(t, k, api.Turn{Messages: c.msgs, PlanID: p.ID, Private: true})
	if !strings.Contains(logs(t, dir), "[decision]") {
		t.Error("the log has nothing of what was cut")
	}
}

func TestRememberThis(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := newConversation(65)
	asks := []string{"Remember this: the staging port is 8443.", "Bitte merk dir, dass Kim freitags fehlt.", "Recuerda que el puerto es 8080.",
		"记住，部署要等 Kim 批准。", "Fix the test. Don't forget that the harbour closes at six."}
	for _, text := range asks {
		c.add("user", words(text))
		c.say()
	}
	c.add("user", words("I do remember this being different, what did we say about memory?"))
	c.say()
	for i := range c.msgs {
		if i%2 == 1 {
			observe(t, k, api.Turn{Messages: c.msgs[:i+1], Now: time.Now()})
		}
	}
	observe(t, k, api.Turn{Messages: c.msgs, Now: time.Now()})
	text := logs(t, dir)
	asks[len(asks)-1] = "Don't forget that the harbour closes at six." // the order before it is not remembered
	for _, want := range asks {
		if strings.Count(text, "- [human] "+want+"\n") != 1 {
			t.Errorf("%q stands %d times in\n%s", want, strings.Count(text, want), text)
		}
	}
	if strings.Contains(text, "being different") {
		t.Error("talk about remembering was remembered")
	}
}

// Two messages that a person types before the agent answers are both kept.
func TestBothMessagesAreKept(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := newConversation(66)
	for _, said := range [][2]string{
		{"Our staging database is called ulme-2.", "Start with the parser."}, {"Never push to the release branch.", "Go on, please."},
	} {
		c.add("user", words(said[0]))
		c.add("user", words(said[1]))
		c.say()
		observe(t, k, api.Turn{Messages: c.msgs, Now: time.Now()})
	}
	for _, want := range []string{"[human] Our staging database is called ulme-2.\n", "[human] Never push to the release branch.\n"} {
		if strings.Count(logs(t, dir), want) != 1 {
			t.Errorf("%q is not once in\n%s", want, logs(t, dir))
		}
	}
}

// A plan writes nothing to the workspace, though it cuts.
func TestPlansWriteNoLog(t *testing.T) {
	dir := t.TempDir()
	k := openLife(t, dir, kernel.LifeOptions{})
	c := session(66, 8, 3, 9000)
	if p := mustPlan(t, k, request(c)); p.Layout.Made == nil {
		t.Fatal("no cut was made: the window is too large for this test")
	}
	k.Close()
	if n := noted(logs(t, dir)); n > 0 {
		t.Errorf("%d entries", n)
	}
}

// What a person typed is in the day's log before its turn has ended, and once after.
func TestWordsOfAnOpenTurn(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := newConversation(8)
	c.user()
	c.msgs[len(c.msgs)-1].Parts = []memkernel.Part{words("From now on never open the pilots' books at night.")}
	c.loop(1, 300)
	if o := observe(t, k, api.Turn{Messages: c.msgs}); o.Outcome != api.OpenTurn {
		t.Fatalf("%+v", o)
	}
	const line = "- [human] From now on never open the pilots' books at night.\n"
	if n := strings.Count(logs(t, dir), line); n != 1 {
		t.Errorf("%d times in the log of an open turn:\n%s", n, logs(t, dir))
	}
	c.say()
	observe(t, k, api.Turn{Messages: c.msgs})
	if n := strings.Count(logs(t, dir), line); n != 1 {
		t.Errorf("%d times in the log of an ended turn", n)
	}
}
