package checkpoint_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/transcript"
)

func build(msgs []memkernel.Message) *checkpoint.Checkpoint {
	return checkpoint.Build(captured(checkpoint.State{}, msgs), nil, input(checkpoint.TriggerAuto, 162_431))
}

// all renders lists of texts for comparison.
func all[T ~string](list []T) string {
	var out []string
	for _, t := range list {
		out = append(out, string(t))
	}
	return strings.Join(out, " | ")
}

func decisions(c *checkpoint.Checkpoint) string {
	var out []checkpoint.Text
	for _, d := range c.Decisions {
		out = append(out, d.What)
	}
	return all(out)
}

func TestCapture(t *testing.T) {
	c := build(japan())
	w := c.Working
	if w.Topic != "现在签证怎么办？" || w.Status != checkpoint.StatusInProgress || !w.Interrupted || w.LastToolCall == nil || w.LastToolCall.Name != "web_search" {
		t.Errorf("working: %+v %+v", w, w.LastToolCall)
	}
	for _, l := range []struct{ name, got, want string }{
		{"decisions", decisions(c), "I propose two weeks: Tokyo, Kyoto, Osaka. Is that fine? → Looks good"},
		{"tools", all(c.Resources.ToolsUsed), "write_file | web_search"},
		{"modified", all(c.Resources.FilesModified), "plan.md"},
		{"read", all(c.Resources.FilesRead), ""},
		{"thread", string(c.Thread.Summary), "I want to go to Japan in March, budget-friendly ... 现在签证怎么办？"},
	} {
		if l.got != l.want {
			t.Errorf("%s: %q, want %q", l.name, l.got, l.want)
		}
	}
	var gists []string
	for _, e := range c.Thread.KeyExchanges {
		gists = append(gists, string(e.Role)+": "+string(e.Gist))
	}
	want := []string{"user: I want to go to Japan in March, budget-friendly", "user: Looks good",
		"agent: Written to plan.md. Which hotels do you prefer?", "user: 现在签证怎么办？"}
	if d := cmp.Diff(want, gists); d != "" {
		t.Error(d)
	}
}

// The work of a Codex session whose agent runs everything by scripts is known.
func TestScriptedSession(t *testing.T) {
	var log strings.Builder
	item := func(payload map[string]any) {
		line, _ := json.Marshal(map[string]any{"timestamp": "2026-11-03T09:00:00Z", "type": "response_item", "payload": payload})
		log.Write(append(line, '\n'))
	}
	item(map[string]any{"type": "message", "role": "user", "content": []map[string]string{{"type": "input_text", "text": "Mend the door in src/door.ts"}}})
	run := func(id, script string, blocks ...string) {
		item(map[string]any{"type": "custom_tool_call", "call_id": id, "name": "exec", "input": script})
		var out []map[string]string
		for _, b := range append([]string{"Script completed\nWall time 0.3 seconds\nOutput:\n"}, blocks...) {
			out = append(out, map[string]string{"type": "input_text", "text": b})
		}
		item(map[string]any{"type": "custom_tool_call_output", "call_id": id, "output": out})
	}
	run("1", `const r = await Promise.all([
  tools.exec_command({cmd:"sed -n '1,80p' src/door.ts",workdir:"/w",yield_time_ms:10000}),
  tools.exec_command({cmd:"cat README.md",workdir:"/w"})
]);
r.forEach(x=>text(x.output));`, "const open = false;", "# Doors")
	run("2", `const patch = "*** Begin Patch\n*** Update File: /w/src/door.ts\ncheckpoint.Update(\n-const open = false;\n+const open = true;\n*** End Patch";
text(await tools.apply_patch(patch));`, "{}")
	run("3", `const r = await tools.exec_command({cmd:"git commit -am 'Open the door'",workdir:"/w"}); text(r.output);`, "[main 1a2b3c4] Open the door\n 1 file changed\n")
	run("4", `const r = await tools.exec_command({cmd:"pnpm test",workdir:"/w"}); text(JSON.stringify({output:r.output, exit_code:r.exit_code}));`,
		`{"output":"FAIL test/door.test.ts > it is shut at night","exit_code":1}`)
	s, err := transcript.Load(strings.NewReader(log.String()), "rollout.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	c := build(s.View(transcript.Full))
	for _, l := range []struct{ name, got, want string }{
		{"read", all(c.Resources.FilesRead), "/w/src/door.ts | /w/README.md"},
		{"modified", all(c.Resources.FilesModified), "/w/src/door.ts"},
		{"decisions", decisions(c), ""},
		{"commits", all(c.Resources.Commits), "commit 1a2b3c4: Open the door"},
		{"uncommitted", all(c.Resources.FilesUncommitted), ""},
		{"open", all(c.OpenItems), "failing: pnpm test (FAIL test/door.test.ts > it is shut at night)"},
	} {
		if l.got != l.want {
			t.Errorf("%s: %q, want %q", l.name, l.got, l.want)
		}
	}
}

// A short reply to a question is a decision, in every language.
func TestDecisionsInAnyLanguage(t *testing.T) {
	for _, c := range []struct{ name, agent, reply string }{
		{"german", strings.Repeat("Das ist eine lange Erklärung der Möglichkeiten. ", 12) + "Welche soll ich nehmen?", "Nimm das zweite."},
		{"chinese", strings.Repeat("这里详细说明可以选择的各种方案以及它们各自的优点和缺点。", 15) + "您选哪一个？", "用第一个方案"},
		{"arabic", strings.Repeat("هذا شرح طويل للخيارات المتاحة. ", 20) + "هل أبدأ؟", "نعم"},
		{"russian question", "Какой вариант выбрать?", "Второй"},
		{"swahili", "Nianze na ghala la kaskazini?", "Hapana, la kusini"},
		{"icelandic", "Á ég að loka höfninni?", "ekki fyrr en í kvöld"},
	} {
		if got := build(talk(user("los"), says(c.agent), user(c.reply))); len(got.Decisions) != 1 || !strings.HasSuffix(string(got.Decisions[0].What), "→ "+c.reply) {
			t.Errorf("%s: %q", c.name, decisions(got))
		}
		if got := build(talk(user("los"), says("ok."), user(c.reply))); len(got.Decisions) != 0 {
			t.Errorf("%s: a reply to next to nothing is a decision: %q", c.name, decisions(got))
		}
	}
}

// The files of a commit are told from the files that were changed after it, in later checkpoints
// too.
func TestCommits(t *testing.T) {
	edit := func(id, path string) []memkernel.Message {
		return []memkernel.Message{calls(id, "Write", `{"file_path":"/w/`+path+`","content":"x"}`), answers(id, "ok", false)}
	}
	msgs := talk(slices.Concat([]memkernel.Message{user("mend the quay")}, edit("1", "quay.go"), []memkernel.Message{bash("2", "git commit -am mend"), answers("2", "[main 1a2b3c4] mend", false)}, edit("3", "crane.go"), edit("4", "ferry.go"))...)
	s := captured(checkpoint.State{}, msgs[:7])
	first := checkpoint.Build(s, nil, input(checkpoint.TriggerManual, 1))
	c := checkpoint.Build(captured(checkpoint.Begin(s, first), msgs[7:]), first, input(checkpoint.TriggerManual, 1))
	if got := all(c.Resources.Commits) + "; " + all(c.Resources.FilesUncommitted); got != "commit 1a2b3c4: mend; /w/crane.go | /w/ferry.go" {
		t.Error(got)
	}
	if text := checkpoint.Restore(c, nil); !strings.Contains(text, "\nFiles changed since the last commit: /w/ferry.go, /w/crane.go\nFiles changed before the last commit: /w/quay.go\n") {
		t.Error(text)
	}
}

func TestStatus(t *testing.T) {
	plan := calls("p", "TodoWrite", `{"todos":[{"content":"read it","status":"completed"},{"content":"mend it","status":"in_progress"},{"content":"test it","status":"pending"}]}`)
	for _, c := range []struct {
		name        string
		msgs        []memkernel.Message
		status      checkpoint.Status
		interrupted bool
		next, open  string
	}{
		{"nothing", nil, checkpoint.StatusIdle, false, "", ""},
		{"unanswered user", talk(user("fix it")), checkpoint.StatusInProgress, false, "to answer: fix it", ""},
		{"turn over", talk(user("fix it"), says("Done.")), checkpoint.StatusIdle, false, "", ""},
		{"question", talk(user("fix it"), says("A or B?")), checkpoint.StatusWaiting, false, "the user's answer to: A or B?", "unanswered: A or B?"},
		{"answered", talk(user("fix it"), says("A or B?"), user("A")), checkpoint.StatusInProgress, false, "to answer: A", ""},
		{"call under way", talk(user("fix it"), bash("1", "make")), checkpoint.StatusInProgress, true, "the result of make", ""},
		{"plan", talk(user("fix it"), plan, answers("p", "ok", false)), checkpoint.StatusInProgress, false, "mend it", "in_progress: mend it | pending: test it"},
		{"plan of an earlier turn", talk(user("fix it"), plan, answers("p", "ok", false), says("Done."), user("thanks, and why?")), checkpoint.StatusInProgress, false, "to answer: thanks, and why?", "in_progress, from an earlier request: mend it | pending, from an earlier request: test it"},
		{"failing check", talk(user("fix it"), bash("1", "go test ./a"), answers("1", "Exit code 1\n--- FAIL: TestA", true)), checkpoint.StatusInProgress, false,
			"to answer: fix it", "failing: go test ./a (--- FAIL: TestA)"},
	} {
		w := build(c.msgs)
		if w.Working.Status != c.status || w.Working.Interrupted != c.interrupted || string(w.Working.NextAction) != c.next || all(w.OpenItems) != c.open {
			t.Errorf("%s: %s %v %q %q", c.name, w.Working.Status, w.Working.Interrupted, w.Working.NextAction, all(w.OpenItems))
		}
	}
}

// A call that the conversation left without a result is named until its result comes, it is
// made again or the user has spoken twice; other calls leave it.
func TestLostCalls(t *testing.T) {
	begun := []memkernel.Message{user("move the bookings"), bash("1", "./copy.sh"), answers("1", "ok", false), bash("2", "./index.sh")}
	const lost = "begun, no known outcome: ./index.sh"
	for _, c := range []struct {
		name        string
		more        []memkernel.Message
		interrupted bool
		next, open  string
	}{
		{"the process died", nil, true, "to find out what became of ./index.sh, which was begun and has no known outcome", lost},
		{"the result came", []memkernel.Message{answers("2", "done", false), says("Both are done.")}, false, "", ""},
		{"the user goes on", []memkernel.Message{user("go on"), says("I look.")}, false, "", lost},
		{"the user goes on twice", []memkernel.Message{user("go on"), says("I look."), user("now the invoices"), says("They are sorted.")}, false, "", ""},
		{"made again at once", []memkernel.Message{bash("3", "./index.sh"), answers("3", "done", false), says("Both are done.")}, false, "", ""},
		{"another call", []memkernel.Message{user("go on"), bash("3", "ls"), answers("3", "x", false), says("Listed.")}, false, "", lost},
		{"made again", []memkernel.Message{user("go on"), bash("3", "./index.sh"), answers("3", "done", false), says("Done.")}, false, "", ""},
		{"made again, and it failed", []memkernel.Message{user("go on"), bash("3", "./index.sh"), answers("3", "Exit code 2\nno rows", true), says("No.")}, false, "", "last command failed: ./index.sh"},
	} {
		msgs := talk(append(begun[:len(begun):len(begun)], c.more...)...)
		before, _ := transcript.Repair(msgs[:len(begun)], false)
		whole, _ := transcript.Repair(msgs, false)
		s := captured(captured(checkpoint.State{}, before), whole)
		for name, w := range map[string]*checkpoint.Checkpoint{"in two steps": checkpoint.Build(s, nil, input(checkpoint.TriggerAuto, 1)), "at once": build(whole)} {
			if w.Working.Interrupted != c.interrupted || string(w.Working.NextAction) != c.next || all(w.OpenItems) != c.open {
				t.Errorf("%s, %s: %v %q %q", c.name, name, w.Working.Interrupted, w.Working.NextAction, all(w.OpenItems))
			}
			if c.interrupted && (w.Working.LastToolCall == nil || string(w.Working.LastToolCall.ParamsSummary) != "./index.sh") {
				t.Errorf("%s, %s: the call is not named: %+v", c.name, name, w.Working)
			}
		}
	}
}

// TestLostCallsBeforeReset: of many calls that were lost a new conversation names the last
// three, next to what else is open, and none once its user has spoken twice.
func TestLostCallsBeforeReset(t *testing.T) {
	msgs := []memkernel.Message{user("sort the berths"), bash("f", "make berths"), answers("f", "Exit code 2\nno tide", true)}
	for i := range 10 {
		msgs = append(msgs, bash(strconv.Itoa(i), "./berth.sh "+strconv.Itoa(i)))
	}
	lost, _ := transcript.Repair(talk(msgs...), false)
	c := build(lost)
	const failed = "failing: make berths"
	if got := all(c.OpenItems); strings.Count(got, "begun, no known outcome: ") != 3 || !strings.Contains(got, "./berth.sh 9") || !strings.Contains(got, failed) {
		t.Errorf("open: %q", got)
	}
	said := talk(user("good morning"), says("Good morning."), user("and the pier?"), says("It is closed."))
	for n, want := range map[int]int{2: 3, 4: 0} {
		s := captured(checkpoint.Begin(checkpoint.State{}, c), said[:n])
		if got := all(checkpoint.Build(s, c, input(checkpoint.TriggerAuto, 2)).OpenItems); strings.Count(got, "begun, no known outcome: ") != want || strings.Contains(got, failed) != (want > 0) {
			t.Errorf("%d messages later: %q, want %d lost calls", n, got, want)
		}
	}
}

func TestLearnings(t *testing.T) {
	boom := "Exit code 1\nerror: boom"
	for _, c := range []struct {
		name string
		msgs []memkernel.Message
		want string
	}{
		{"other input", talk(bash("1", "npm run biuld"), answers("1", boom, true), bash("2", "npm run build"), answers("2", "ok", false)), ""},
		{"other flags", talk(bash("1", "git push origin"), answers("1", boom, true), bash("2", "git push origin --force-with-lease"), answers("2", "ok", false)),
			"git push origin failed: error: boom → git push origin --force-with-lease worked"},
		{"an edit between", talk(bash("1", "go test ./a"), answers("1", "Exit code 1\n--- FAIL: TestA", true), edit("2", "/r/a.go"), answers("2", "ok", false), bash("3", "go test ./a"), answers("3", "ok", false)),
			"go test ./a failed: --- FAIL: TestA → worked after changing a.go"},
		{"a flake", talk(bash("1", "go test ./a"), answers("1", boom, true), bash("2", "go test ./a"), answers("2", "ok", false)), ""},
		{"another path", talk(calls("1", "Read", `{"file_path":"/r/x/a.go"}`), answers("1", "File does not exist.", true), calls("2", "Read", `{"file_path":"/r/y/a.go"}`), answers("2", "package a", false)),
			"Read /r/x/a.go failed: File does not exist. → Read /r/y/a.go worked"},
		{"another tool", talk(edit("1", "/r/a.go"), answers("1", "String to replace not found", true), calls("2", "Write", `{"file_path":"/r/a.go","content":"x"}`), answers("2", "ok", false)),
			"Edit /r/a.go failed: String to replace not found → Write /r/a.go worked"},
		{"read first", talk(edit("1", "/r/a.go"), answers("1", "File has not been read yet", true), calls("2", "Read", `{"file_path":"/r/a.go"}`), answers("2", "x", false), edit("1", "/r/a.go"), answers("1", "ok", false)),
			"Edit /r/a.go failed: File has not been read yet → worked after reading a.go"},
		{"unrelated success", talk(bash("1", "go test ./a"), answers("1", boom, true), bash("2", "go vet ./a"), answers("2", "ok", false)), ""},
		{"a search that finds nothing", talk(bash("1", "grep -n x a.go"), answers("1", "Exit code 1", true), bash("2", "grep -n y a.go"), answers("2", "y", false)), ""},
		{"refused by the user", talk(bash("1", "git push origin"), answers("1", "The user doesn't want to proceed", true), bash("2", "git push origin --tags"), answers("2", "ok", false)), ""},
		{"never made good", talk(bash("1", "go test ./a"), answers("1", boom, true)), ""},
	} {
		if got := all(build(c.msgs).Learnings); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSecretsAreMasked(t *testing.T) {
	const key = "AKIAQ3EGRTXW5ZL7N2PH"
	msgs := talk(user("use "+key+" for it"), calls("1", "deploy", `{"key":"`+key+`"}`), answers("1", "error: denied for "+key, true),
		calls("2", "deploy", `{"key":"x","id":"`+key+`"}`), answers("2", "ok", false), says("Shall I keep "+key+"?"), user("yes "+key))
	s := captured(checkpoint.State{}, msgs)
	state, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	yaml, err := checkpoint.Marshal(checkpoint.Build(s, nil, input(checkpoint.TriggerAuto, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if both := string(state) + string(yaml); strings.Contains(both, key) || !strings.Contains(both, "[masked:") {
		t.Errorf("a key stands in:\n%s", both)
	}
}

// shapes draws conversations from what the package reads.
func shapes() *rapid.Generator[[]memkernel.Message] {
	said := rapid.SampledFrom([]string{"yes", "", "fix the parser please", long, "Which?\n1. a\n2. b", "不要动它", "\xff\xfe: - |", "<system-reminder>x</system-reminder>", long + "?"})
	inputs := rapid.SampledFrom([]string{`{"command":"go test ./a"}`, `{"command":"git push origin x"}`, `{"path":"a.go","content":"x"}`, `{"file_path":"/r/b.go"}`, `{`, ``, "*** Begin Patch\n*** Update File: q.go",
		`{"todos":[{"content":"t","status":"pending"}]}`, `{"todos":[]}`, `{"query":"x"}`, `{"command":"  "}`, `{"command":"A=1"}`})
	results := rapid.SampledFrom([]string{"", "ok", "Exit code 1\nerror: x", "[b 1234567] s", "(no output)", "Process running with session ID 3\n"})
	ids := rapid.SampledFrom([]string{"1", "2", "3", ""})
	names := rapid.SampledFrom([]string{"Bash", "Edit", "Read", "web", ""})
	return rapid.Custom(func(t *rapid.T) []memkernel.Message {
		var msgs []memkernel.Message
		for range rapid.IntRange(0, 60).Draw(t, "n") {
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				msgs = append(msgs, user(said.Draw(t, "user")))
			case 1:
				msgs = append(msgs, says(said.Draw(t, "says")))
			case 2:
				msgs = append(msgs, calls(ids.Draw(t, "id"), names.Draw(t, "name"), inputs.Draw(t, "input")))
			case 3:
				msgs = append(msgs, answers(ids.Draw(t, "id"), results.Draw(t, "result"), rapid.Bool().Draw(t, "error")))
			}
			if rapid.IntRange(0, 9).Draw(t, "side") == 0 {
				msgs[len(msgs)-1].Branch = "side"
			}
		}
		return talk(msgs...)
	})
}

func asJSON(t interface{ Fatal(...any) }, s checkpoint.State) string {
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A message changes a state once, wherever deliveries are cut and whatever is
// delivered again; and a state survives its files.
func TestDeliveredOnceOrTwice(t *testing.T) {
	gen := shapes()
	rapid.Check(t, func(t *rapid.T) {
		msgs := gen.Draw(t, "messages")
		whole := asJSON(t, captured(checkpoint.State{}, msgs))
		var s checkpoint.State
		for from := 0; from < len(msgs); {
			n := rapid.IntRange(1, len(msgs)-from).Draw(t, "n")
			back := rapid.IntRange(0, from).Draw(t, "again from")
			before := asJSON(t, s)
			next := captured(s, msgs[back:from+n])
			if asJSON(t, s) != before {
				t.Fatal("Update changed its argument")
			}
			s, from = checkpoint.State{}, from+n
			if err := json.Unmarshal([]byte(asJSON(t, next)), &s); err != nil {
				t.Fatal(err)
			}
		}
		if got := asJSON(t, s); len(msgs) > 0 && got != whole {
			t.Fatalf("delivered in parts:\n%s\nwant\n%s", got, whole)
		}
	})
}

// TestGrowing: hosts add results to a message as they arrive, and calls to the one
// before it.
func TestGrowing(t *testing.T) {
	join := func(msgs ...memkernel.Message) memkernel.Message {
		m := msgs[0]
		for _, o := range msgs[1:] {
			m.Parts = append(slices.Clip(m.Parts), o.Parts...)
		}
		return m
	}
	two := join(bash("1", "go test ./a"), edit("2", "/r/b.go"))
	both := join(answers("1", "Exit code 1\n--- FAIL: TestA", true), answers("2", "ok", false))
	whole := talk(user("fix it"), two, both)
	var s checkpoint.State
	for _, step := range [][]memkernel.Message{
		talk(user("fix it"), bash("1", "go test ./a")),
		talk(user("fix it"), bash("1", "go test ./a"), answers("1", "Exit code 1\n--- FAIL: TestA", true)),
		talk(user("fix it"), two, answers("1", "Exit code 1\n--- FAIL: TestA", true)),
		whole, whole[2:], whole,
	} {
		s = captured(s, step)
	}
	want := build(whole)
	got := checkpoint.Build(s, nil, input(checkpoint.TriggerAuto, 162_431))
	if d := cmp.Diff(want, got); d != "" || len(want.Resources.ToolsUsed) != 2 || len(want.Resources.FilesModified) != 1 || want.Working.Interrupted || len(want.OpenItems) != 1 {
		t.Errorf("grown (- delivered whole, + in parts): %s\n%+v", d, want)
	}
}

// TestLongHistory: a host that repeats more messages than keys are remembered
// changes nothing as long as the last one is among them.
func TestLongHistory(t *testing.T) {
	var msgs []memkernel.Message
	for i := range 1500 {
		msgs = append(msgs, user(fmt.Sprintf("ask %d", i)), says(long+"?"))
	}
	msgs = talk(msgs...)
	s := captured(checkpoint.State{}, msgs)
	if got, want := asJSON(t, captured(s, msgs)), asJSON(t, s); got != want {
		t.Error("all delivered again changed the state")
	}
	if n := captured(s, append(msgs, talk(append(make([]memkernel.Message, len(msgs)), user("new"))...)[len(msgs)])).Thread.Captured; n != len(msgs)+1 {
		t.Errorf("%d captured", n)
	}
}

func TestCapsAndRoundTrip(t *testing.T) {
	gen := shapes()
	rapid.Check(t, func(t *rapid.T) {
		s := captured(checkpoint.State{}, gen.Draw(t, "messages"))
		c := checkpoint.Build(s, nil, input(checkpoint.TriggerAuto, 1000))
		if a, b := roundTrip(t, c), roundTrip(t, checkpoint.Build(s, nil, input(checkpoint.TriggerAuto, 1000))); string(a) != string(b) {
			t.Fatal("two checkpoints of one state differ")
		}
	})
}

// TestCapsHold captures far more of everything than is kept, over several
// checkpoints.
func TestCapsHold(t *testing.T) {
	var msgs []memkernel.Message
	for i := range 400 {
		id := fmt.Sprintf("item-%03d", i)
		msgs = append(msgs, user("do "+id), calls(id, "tool-"+id, `{"path":"/r/`+id+`"}`), answers(id, "ok", false),
			calls("w"+id, "Write", `{"file_path":"/r/`+id+`","content":"x"}`), answers("w"+id, "ok", false), says(long+" Go on with "+id+"?"))
	}
	msgs = talk(msgs...)
	var s checkpoint.State
	var latest *checkpoint.Checkpoint
	for from := 0; from < len(msgs); from += 600 {
		s = captured(checkpoint.Begin(s, latest), msgs[from:min(from+600, len(msgs))])
		latest = checkpoint.Build(s, latest, input(checkpoint.TriggerCompaction, 1000))
		checkCaps(t, latest)
	}
	n := map[string]int{"decisions": len(latest.Decisions), "exchanges": len(latest.Thread.KeyExchanges), "tools": len(latest.Resources.ToolsUsed), "files": len(latest.Resources.FilesModified)}
	if d := cmp.Diff(map[string]int{"decisions": 50, "exchanges": 8, "tools": 100, "files": 100}, n); d != "" {
		t.Error(d)
	}
	if last := latest.Decisions[49]; string(last.ID) != "d200" || !strings.HasSuffix(string(last.What), "→ do item-399") {
		t.Errorf("the newest decision is %+v", last)
	}
}
