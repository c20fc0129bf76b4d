package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// What every record has to carry, in the words of ruledWork.
var mustCarry = map[string]string{
	"goal":        "Ship the parcel tracker to production by Friday",
	"step":        "write the migration for parcels",
	"constraint":  "Never touch the billing tables.",
	"decision":    "Shall I go with Postgres",
	"open item":   "wire the webhook",
	"second rule": "Always run the linter before a commit.",
}

// ruledWork is a session with a goal, rules, a decision and a plan under way, padded
// with results until it fills a window of 40,000 tokens by about a share.
func ruledWork(share float64) *conversation {
	c := newConversation(90)
	c.add(memkernel.RoleUser, words(mustCarry["goal"]+"."))
	c.add(memkernel.RoleAssistant, words(strings.Repeat("I looked at the code and weighed the choices that there are for the store. ", 12)+
		"\n\nShall I go with Postgres and keep the queue as it is?"))
	c.add(memkernel.RoleUser, words("Yes please."))
	c.add(memkernel.RoleAssistant, words("I make a plan first."), memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: "plan_1", Name: "TodoWrite",
		Input: `{"todos":[{"content":"read the schema","status":"completed"},{"content":"write the migration for parcels","status":"in_progress"},{"content":"wire the webhook","status":"pending"}]}`}})
	c.add(memkernel.RoleUser, memkernel.Part{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: "plan_1", Content: []memkernel.Part{words("ok")}, Text: true}})
	c.say()
	c.add(memkernel.RoleUser, words("Two rules for this work:\n\n- "+mustCarry["constraint"]+"\n- "+mustCarry["second rule"]))
	c.say()
	c.add(memkernel.RoleUser, words("Go on with the migration for the parcels, please."))
	for size := 1000.0; size < share*40_000; size += 700 {
		c.loop(1, 1500)
	}
	c.add(memkernel.RoleAssistant, words("The schema is read and the migration is half done."))
	return c
}

// fallback is one record, and the options under which it is the only one.
type fallback struct {
	name api.Net
	life kernel.LifeOptions
}

var fallbacks = []fallback{
	{api.NetCheckpoint, kernel.LifeOptions{NoStateFile: true, NoBuffer: true}},
	{api.NetSessionState, kernel.LifeOptions{NoBuffer: true}},
	{api.NetBuffer, kernel.LifeOptions{NoStateFile: true}},
}

func (n fallback) open(t fataler, dir string) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Life: n.life})
	if err != nil {
		t.Fatalf("open kernel: %v", err)
	}
	return k
}

// bare takes away what the other fallbacks, or the state captured beside the checkpoints,
// could know.
func (n fallback) bare(t *testing.T, dir string) {
	t.Helper()
	if n.name != api.NetCheckpoint {
		for _, d := range []string{"state", "checkpoints"} {
			if err := os.RemoveAll(sessionFile(dir, d)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for path, of := range map[string]api.Net{"SESSION-STATE.md": api.NetSessionState, "memory/working-buffer.md": api.NetBuffer} {
		if _, err := os.Stat(filepath.Join(dir, path)); (err == nil) != (n.name == of) {
			t.Errorf("%s alone: %s is there: %v", n.name, path, err == nil)
		}
	}
}

// aside moves what bare takes away, until the function that it returns is called.
func (n fallback) aside(t *testing.T, dir string) (back func()) {
	t.Helper()
	if n.name == api.NetCheckpoint {
		return func() {}
	}
	move := func(from, to string) {
		for _, d := range []string{"state", "checkpoints"} {
			if err := os.Rename(sessionFile(dir, d+from), sessionFile(dir, d+to)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
	}
	move("", ".aside")
	return func() { move(".aside", "") }
}

// carries checks that a text has all that must not be lost.
func carries(t *testing.T, where, text string) {
	t.Helper()
	text = strings.ReplaceAll(text, `\n`, "\n") // a prompt's text is JSON
	for what, want := range mustCarry {
		if !strings.Contains(text, want) {
			t.Errorf("%s: the %s is lost in\n%s", where, what, text)
			return
		}
	}
	rule := regexp.MustCompile(`(?m)^- (\[constraint\] )?Never touch the billing tables\.$`)
	if !rule.MatchString(text) {
		t.Errorf("%s: the rule does not stand as one in\n%s", where, text)
	}
}

// privately asks as a private session with a small window.
func privately(c *conversation) api.PlanRequest {
	r := request(c)
	r.ContextWindow, r.Reserve, r.Private = 40_000, 1000, true
	return r
}

// turnOf is the turn that a conversation ends with.
func turnOf(c *conversation, p *api.ContextPlan) api.Turn {
	return api.Turn{SessionKey: "s", Model: model, Messages: c.msgs, PlanID: p.ID, Private: true, Now: c.now.Add(time.Second)}
}

// spoken plans and observes a conversation that ended a turn.
func spoken(t fataler, k *kernel.Kernel, c *conversation) *api.Observation {
	t.Helper()
	asked := *c
	asked.msgs = c.msgs[:len(c.msgs)-1]
	p := mustPlan(t, k, privately(&asked))
	o, err := k.ObserveTurn(context.Background(), turnOf(c, p))
	if err != nil {
		t.Fatalf("observe: %v", err)
	}
	return o
}

// begin is the first plan of a new conversation of the same session.
func begin(t *testing.T, k *kernel.Kernel) string {
	t.Helper()
	fresh := newConversation(91)
	fresh.n = 700
	fresh.user()
	req := privately(fresh)
	req.ContextWindow = 200_000 // so that a restore text may have all of its 700 tokens
	p := mustPlan(t, k, req)
	checkPlan(t, p, fresh.msgs)
	return stream(p)
}

// Each record carries goal, step, rules, decisions and open items over a reset, a
// restart and a kill, with the other two switched off and their files gone.
func TestEachNetAlone(t *testing.T) {
	for _, n := range fallbacks {
		for _, over := range []string{"reset", "restart", "kill", "compaction"} {
			t.Run(string(n.name)+"/"+over, func(t *testing.T) {
				dir := t.TempDir()
				k := n.open(t, dir)
				c := ruledWork(0.65)
				if o := spoken(t, k, c); o.Outcome != api.Committed || len(o.Faults) > 0 {
					t.Fatalf("%+v", o)
				}
				b := api.Boundary{Messages: c.msgs, Private: true, Now: c.now.Add(time.Minute)}
				switch over {
				case "reset":
					pass(t, k.Reset, b)
				case "restart":
					pass(t, k.EndSession, b)
				case "compaction":
					pass(t, k.Compact, b)
				}
				if over != "kill" { // a killed process closes nothing
					k.Close()
				}
				n.bare(t, dir)
				k = n.open(t, dir)
				defer k.Close()
				r, err := k.Restore(context.Background(), api.RestoreRequest{SessionKey: "s"})
				killed := over == "kill" && n.name == api.NetCheckpoint
				if err != nil || r.Net != n.name && !killed {
					t.Fatalf("restored from %q: %v", r.Net, err)
				}
				if !killed { // what was captured is bundled when the next conversation begins
					carries(t, "restore", r.Text)
				}
				carries(t, "the next conversation", begin(t, k))
			})
		}
	}
}

// Over a compaction of the host's or the kernel's own the model goes on with all of
// it in the prompt, whichever record is left.
func TestEachNetOverACompactionInProcess(t *testing.T) {
	for _, n := range fallbacks {
		t.Run(string(n.name), func(t *testing.T) {
			dir := t.TempDir()
			k := n.open(t, dir)
			defer k.Close()
			c := ruledWork(0.65)
			spoken(t, k, c)
			c.user()
			for range 20 {
				c.loop(1, 4000)
				if p := mustPlan(t, k, privately(c)); p.Layout.Made != nil {
					carries(t, "behind a cut", stream(p))
					return
				}
			}
			t.Fatal("no cut was made")
		})
	}
}

// The records are asked in their order: checkpoint, SESSION-STATE.md, buffer; one that
// is damaged or gone gives way to the next.
func TestRecoveryOrder(t *testing.T) {
	dir := t.TempDir()
	all := fallback{}
	k := all.open(t, dir)
	c := ruledWork(0.65)
	spoken(t, k, c)
	pass(t, k.Compact, api.Boundary{Messages: c.msgs, Private: true})
	k.Close()
	for _, step := range []struct {
		want  api.Net
		spoil func()
	}{
		{api.NetCheckpoint, func() {}},
		{api.NetSessionState, func() {
			for _, f := range checkpoints(t, dir) {
				os.WriteFile(f, []byte("schema: nonsense\n"), 0o600)
			}
			os.RemoveAll(sessionFile(dir, "state"))
		}},
		{api.NetBuffer, func() { os.Remove(filepath.Join(dir, "SESSION-STATE.md")) }},
		{api.NetJournal, func() { os.Remove(filepath.Join(dir, "memory/working-buffer.md")) }},
		{"", func() { os.RemoveAll(filepath.Dir(sessionFile(dir, "state"))) }},
	} {
		step.spoil()
		k := all.open(t, dir)
		r, err := k.Restore(context.Background(), api.RestoreRequest{SessionKey: "s"})
		if step.want == "" && errors.Is(err, api.ErrNoSession) {
			k.Close()
			continue
		}
		if err != nil || r.Net != step.want || step.want == "" {
			t.Errorf("restored from %q, want %q: %v", r.Net, step.want, err)
			k.Close()
			continue
		}
		carries(t, string(step.want), r.Text)
		if damaged := step.want != api.NetCheckpoint; damaged != (len(r.Damaged) > 0) {
			t.Errorf("%s: damaged are %v", step.want, r.Damaged)
		}
		k.Close()
	}
}

// What one record knew goes on in the next checkpoint: a session whose checkpoints
// were lost does not forget its rules at the next reset.
func TestFallbackIsCarriedOn(t *testing.T) {
	dir := t.TempDir()
	all := fallback{}
	k := all.open(t, dir)
	c := ruledWork(0.65)
	spoken(t, k, c)
	k.Close()
	os.RemoveAll(sessionFile(dir, "state"))
	os.RemoveAll(sessionFile(dir, "checkpoints"))
	k = all.open(t, dir)
	defer k.Close()
	fresh := newConversation(92)
	fresh.n = 800
	fresh.user()
	fresh.say()
	spoken(t, k, fresh)
	pass(t, k.Reset, api.Boundary{Messages: fresh.msgs, Private: true})
	r, err := k.Restore(context.Background(), api.RestoreRequest{SessionKey: "s"})
	if err != nil || r.Net != api.NetCheckpoint {
		t.Fatalf("%+v %v", r, err)
	}
	for _, what := range []string{"constraint", "decision"} {
		if !strings.Contains(r.Text, mustCarry[what]) {
			t.Errorf("the %s was not carried on:\n%s", what, r.Text)
		}
	}
}

// The dump: from the checkpoint's share on checkpoint, day's log, buffer and
// SESSION-STATE.md have all of it before the next call, once for the same content, and
// again for a second surge; in the middle of a loop, too.
func TestDump(t *testing.T) {
	dir := t.TempDir()
	all := fallback{}
	k := all.open(t, dir)
	defer k.Close()
	c := ruledWork(0.70)
	spoken(t, k, c)
	buffer := func() string { return read(t, dir, "memory/working-buffer.md") }
	if strings.Contains(buffer(), ", dump of session") || len(checkpoints(t, dir)) != 0 {
		t.Fatal("dumped before the share was reached")
	}
	c.user()
	for range 8 {
		c.loop(1, 1500)
	}
	tool := func() *api.Observation {
		t.Helper()
		o, err := k.ObserveToolResult(context.Background(), api.Turn{SessionKey: "s", Model: model, Messages: c.msgs, Private: true, Now: c.now})
		if err != nil || len(o.Faults) > 0 {
			t.Fatalf("%+v %v", o, err)
		}
		return o
	}
	tool()
	carries(t, "buffer", buffer())
	carries(t, "state", read(t, dir, "SESSION-STATE.md"))
	if n := strings.Count(buffer(), ", dump of session"); n != 1 || len(checkpoints(t, dir)) != 1 {
		t.Errorf("%d dumps, %d checkpoints", n, len(checkpoints(t, dir)))
	}
	if day := logs(t, dir); noted(strings.ReplaceAll(day, buffer(), "")) == 0 {
		t.Errorf("the day's log has no entry:\n%s", day)
	}
	before := buffer()
	tool()
	if buffer() != before {
		t.Errorf("equal content was dumped twice:\n%s", strings.TrimPrefix(buffer(), before))
	}
	c.add(memkernel.RoleAssistant, words("Done."))
	c.add(memkernel.RoleUser, words("Never rename the parcel topic."))
	c.loop(1, 900)
	tool()
	if now := buffer(); strings.Count(now, ", dump of session") != 2 || !strings.HasPrefix(now, before) || !strings.Contains(strings.TrimPrefix(now, before), "Never rename the parcel topic") {
		t.Errorf("the second surge is not in the buffer:\n%s", strings.TrimPrefix(buffer(), before))
	}
}

// A plan writes no Markdown, a shared session neither, a sidechain neither, and
// what is switched off stays away.
func TestWhoWritesNoMarkdown(t *testing.T) {
	ctx := context.Background()
	c := ruledWork(0.9)
	asked := *c
	asked.msgs = c.msgs[:len(c.msgs)-1]
	turn := api.Turn{SessionKey: "s", Model: model, Messages: c.msgs, Private: true}
	off := kernel.LifeOptions{NoStateFile: true, NoBuffer: true}
	for name, tt := range map[string]struct {
		life kernel.LifeOptions
		do   func(k *kernel.Kernel) error
	}{
		"plan": {kernel.LifeOptions{}, func(k *kernel.Kernel) error { _, err := k.PlanContext(ctx, privately(&asked)); return err }},
		"peek": {kernel.LifeOptions{}, func(k *kernel.Kernel) error { _, err := k.Peek(ctx, privately(&asked)); return err }},
		"shared": {kernel.LifeOptions{}, func(k *kernel.Kernel) error {
			t := turn
			t.Private = false
			_, err := k.ObserveTurn(ctx, t)
			return err
		}},
		"sidechain": {kernel.LifeOptions{}, func(k *kernel.Kernel) error {
			t := turn
			t.Branch = "side"
			_, err := k.ObserveTurn(ctx, t)
			return err
		}},
		"more":     {kernel.LifeOptions{}, func(k *kernel.Kernel) error { t := turn; t.More = true; _, err := k.ObserveTurn(ctx, t); return err }},
		"life off": {kernel.LifeOptions{Off: true}, func(k *kernel.Kernel) error { _, err := k.ObserveTurn(ctx, turn); return err }},
		"fallbacks off": {off, func(k *kernel.Kernel) error {
			t := turn
			t.Messages = ruledWork(0.5).msgs
			_, err := k.ObserveTurn(ctx, t)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			n := fallback{life: tt.life}
			k := n.open(t, dir)
			defer k.Close()
			if err := tt.do(k); err != nil {
				t.Fatal(err)
			}
			for _, f := range tree(t, dir) {
				if rel, _ := filepath.Rel(dir, f); !strings.HasPrefix(rel, ".memkernel") {
					t.Errorf("%s was written", rel)
				}
			}
		})
	}
}

// Forgetting takes what the session said out of both files, and only that.
func TestForgetReachesTheNets(t *testing.T) {
	dir := t.TempDir()
	all := fallback{}
	k := all.open(t, dir)
	defer k.Close()
	put(t, dir, "SESSION-STATE.md", "# Mine\n\nLunch at noon.\n")
	put(t, dir, "memory/working-buffer.md", "# Mine too\n")
	c := ruledWork(0.65)
	spoken(t, k, c)
	if !strings.Contains(read(t, dir, "memory/working-buffer.md"), mustCarry["goal"]) {
		t.Fatal("nothing was buffered")
	}
	c.user()
	first := ""
	for _, row := range mustPlan(t, k, privately(c)).Debug.Included {
		if row.Kind == "conversation" && first == "" {
			first = row.ID
		}
	}
	if _, err := k.Forget(context.Background(), api.ForgetRequest{SessionKey: "s", IDs: []string{first}, Apply: true, Now: c.now}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, "SESSION-STATE.md"); strings.Contains(got, "parcel") || !strings.HasPrefix(got, "# Mine\n\nLunch at noon.\n") {
		t.Errorf("SESSION-STATE.md: %q", got)
	}
	if got := read(t, dir, "memory/working-buffer.md"); strings.Contains(got, "parcel tracker") || !strings.HasPrefix(got, "# Mine too\n") {
		t.Errorf("working-buffer.md: %q", got)
	}
	if r, err := k.Restore(context.Background(), api.RestoreRequest{SessionKey: "s"}); err != nil || strings.Contains(r.Text, "parcel tracker") {
		t.Errorf("restored: %+v %v", r, err)
	}
}

// What a boundary without messages writes is the same whether the process that observed
// them goes on, another goes on from a closed or a killed one, or the session was
// released in between; whichever records are on beside the checkpoints.
func TestBoundaryAfterReopening(t *testing.T) {
	c := ruledWork(0)
	for name, life := range map[string]kernel.LifeOptions{
		"all": {}, "no state file": {NoStateFile: true}, "no buffer": {NoBuffer: true},
		"checkpoints alone": fallbacks[0].life,
	} {
		for point, end := range map[string]func(*kernel.Kernel) func(context.Context, api.Boundary) (*api.Passed, error){
			"flush": func(k *kernel.Kernel) func(context.Context, api.Boundary) (*api.Passed, error) { return k.Flush },
			"end": func(k *kernel.Kernel) func(context.Context, api.Boundary) (*api.Passed, error) {
				return k.EndSession
			},
		} {
			want := ""
			for _, between := range []string{"same process", "closed", "killed", "released"} {
				dir := t.TempDir()
				n := fallback{life: life}
				k := n.open(t, dir)
				if _, err := k.ObserveTurn(context.Background(), api.Turn{SessionKey: "s", Model: model, Messages: c.msgs, Private: true, Now: c.now}); err != nil {
					t.Fatal(err)
				}
				switch between {
				case "closed":
					k.Close()
					k = n.open(t, dir)
				case "killed": // which closes nothing
					defer k.Close()
					k = n.open(t, dir)
				case "released":
					k.ReleaseIdle(0)
				}
				p, err := end(k)(context.Background(), api.Boundary{SessionKey: "s", Private: true, Now: c.now.Add(time.Minute)})
				if err != nil || len(p.Faults) > 0 || p.Flushed == 0 {
					t.Errorf("%s, %s, %s: %+v %v", name, point, between, p, err)
				}
				var got strings.Builder
				fmt.Fprintln(&got, p.Flushed, p.Checkpoint, len(checkpoints(t, dir)))
				got.WriteString(logs(t, dir))
				if !life.NoStateFile {
					got.WriteString(read(t, dir, "SESSION-STATE.md"))
				}
				if want == "" {
					want = got.String()
				}
				if got.String() != want {
					t.Errorf("%s, %s, %s:\n%s\nin the same process:\n%s", name, point, between, got.String(), want)
				}
				k.Close()
			}
		}
	}
}
