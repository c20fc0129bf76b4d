package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
)

// stateOf is SESSION-STATE.md.
func stateOf(t *testing.T, dir string) string {
	t.Helper()
	return read(t, dir, "SESSION-STATE.md")
}

// speak observes a conversation of a session as a private one.
func speak(t fataler, k *kernel.Kernel, key string, c *conversation) *api.Observation {
	t.Helper()
	o, err := k.ObserveTurn(context.Background(), api.Turn{SessionKey: key, Model: model, Messages: c.msgs, Private: true, Now: c.now.Add(time.Second)})
	if err != nil {
		t.Fatalf("observe: %v", err)
	}
	return o
}

// said is a short conversation of one turn.
func said(seed int64, text string) *conversation {
	c := newConversation(seed)
	c.n = int(seed) * 1000
	c.add(memkernel.RoleUser, words(text))
	c.loop(1, 300)
	c.add(memkernel.RoleAssistant, words("Done with it."))
	return c
}

// What people and agents write beside the kernel's section stays through every turn of
// the session, byte for byte.
func TestStateKeepsOthersText(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	const mine = "# Where we are\n\nWaiting for Kim.\n"
	put(t, dir, "SESSION-STATE.md", mine)
	c := said(1, "Please make the export of parcels faster.")
	speak(t, k, "s", c)
	text := stateOf(t, dir)
	if !strings.HasPrefix(text, mine+"\n<!-- memkernel:state session=s ") || !strings.Contains(text, "- [goal] Please make the export of parcels faster.") {
		t.Fatalf("%s", text)
	}
	put(t, dir, "SESSION-STATE.md", text+"\nKim answered: go.\n")
	c.add(memkernel.RoleUser, words("Now measure the export of parcels again."))
	c.add(memkernel.RoleAssistant, words("Measured."))
	speak(t, k, "s", c)
	text = stateOf(t, dir)
	if !strings.HasPrefix(text, mine) || !strings.HasSuffix(text, "\nKim answered: go.\n") || strings.Count(text, "memkernel:state session=") != 1 ||
		!strings.Contains(text, "- [task] Now measure the export of parcels again.") || !strings.Contains(text, "- [read] pkg/queue/worker_") {
		t.Errorf("%s", text)
	}
	before := text
	speak(t, k, "s", c)
	if stateOf(t, dir) != before {
		t.Error("a turn delivered again wrote the file")
	}
}

// A section that somebody edited is theirs: it stays as it is, a new one stands below
// it, and that is told.
func TestStateEditedSection(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := said(1, "Please make the export of parcels faster.")
	speak(t, k, "s", c)
	put(t, dir, "SESSION-STATE.md", strings.Replace(stateOf(t, dir), "- [goal] Please make the export", "- [goal] Actually, make the import", 1))
	c.add(memkernel.RoleUser, words("Go on with it please."))
	c.add(memkernel.RoleAssistant, words("Done."))
	o := speak(t, k, "s", c)
	if len(o.Faults) != 1 || o.Faults[0].Code != fault.Net || !strings.Contains(o.Faults[0].Detail, "edited") {
		t.Errorf("faults: %+v", o.Faults)
	}
	text := stateOf(t, dir)
	if strings.Count(text, "memkernel:state session=") != 1 || strings.Index(text, "Actually, make the import") > strings.Index(text, "memkernel:state session=") ||
		!strings.Contains(text, "Actually, make the import") {
		t.Errorf("%s", text)
	}
	c.add(memkernel.RoleUser, words("And once more please."))
	c.add(memkernel.RoleAssistant, words("Done."))
	if o := speak(t, k, "s", c); len(o.Faults) > 0 || strings.Count(stateOf(t, dir), "## Session state of ") != 2 {
		t.Errorf("the turn after: %+v\n%s", o.Faults, stateOf(t, dir))
	}
}

// TestStateShowsEverySession: the file shows the session that spoke last in full and the
// others in a line each, by whose last turn is newer, and keeps what people wrote.
func TestStateShowsEverySession(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	const mine = "A note of Kim's: the vault code is on the board.\n"
	put(t, dir, "SESSION-STATE.md", mine)
	talks := map[string]*conversation{}
	minute := func(key, text string, minute int) {
		t.Helper()
		if talks[key] == nil {
			talks[key] = newConversation(int64(len(talks)))
		}
		c := talks[key]
		c.add(memkernel.RoleUser, words(text))
		c.add(memkernel.RoleAssistant, words("Done."))
		o, err := k.ObserveTurn(context.Background(), api.Turn{SessionKey: key, Model: model, Messages: c.msgs, Private: true, Now: talks["a"].now.Add(time.Duration(minute) * time.Minute)})
		if err != nil || len(o.Faults) > 0 {
			t.Fatalf("%+v %v", o, err)
		}
	}
	shows := func(whole string, lines ...string) {
		t.Helper()
		text := stateOf(t, dir)
		if !strings.HasPrefix(text, mine) || strings.Count(text, "memkernel:state session=") != 1 || !strings.Contains(text, "## Session state of \""+whole+"\", ") {
			t.Errorf("want %s in full in\n%s", whole, text)
		}
		got := regexp.MustCompile(`(?m)^- \[session\] "(\w+)", \S+: (.*)$`).FindAllStringSubmatch(text, -1)
		var names []string
		for _, m := range got {
			names = append(names, m[1]+": "+m[2])
		}
		if strings.Join(names, "\n") != strings.Join(lines, "\n") {
			t.Errorf("the lines are %q, want %q", names, lines)
		}
	}
	minute("a", "Please make the export of parcels faster.", 1)
	minute("b", "Please write the report on ferries.", 2)
	shows("b", "a: Please make the export of parcels faster.")
	minute("a", "Now measure the export.", 3)
	shows("a", "b: Please write the report on ferries.")
	// An older session that is taken in late takes nothing from the younger ones.
	minute("c", "Please paint the shed.", 1)
	shows("a", "b: Please write the report on ferries.", "c: Please paint the shed.")
	for i, key := range []string{"d", "e", "f", "g"} {
		minute(key, "Please sort the files.", 4+i)
	}
	shows("g", "f: Please sort the files.", "e: Please sort the files.", "d: Please sort the files.", "a: Now measure the export.", "b: Please write the report on ferries.")
	// A boundary is no word: a's end does not take the file back.
	if _, err := k.EndSession(context.Background(), api.Boundary{SessionKey: "a", Model: model, Private: true}); err != nil {
		t.Fatal(err)
	}
	shows("g", "f: Please sort the files.", "e: Please sort the files.", "d: Please sort the files.", "a: Now measure the export.", "b: Please write the report on ferries.")
	for _, key := range []string{"g", "e"} {
		if _, err := k.Forget(context.Background(), api.ForgetRequest{SessionKey: key, Session: true, Apply: true}); err != nil {
			t.Fatal(err)
		}
	}
	shows("f", "d: Please sort the files.", "a: Now measure the export.", "b: Please write the report on ferries.")
	clean(t, k)
}

// Somebody who writes at the same moment wins: the section comes with the next try, and
// nothing of theirs is lost.
func TestStateConflict(t *testing.T) {
	for _, always := range []bool{false, true} {
		dir := t.TempDir()
		k := openKernel(t, dir)
		c := said(1, "Please make the export of parcels faster.")
		speak(t, k, "s", c)
		c.add(memkernel.RoleUser, words("Go on with it please."))
		c.add(memkernel.RoleAssistant, words("Done."))
		n, renames := 0, 0
		restore := atomicfile.SetHook(func(op, path string) error {
			if op != "rename" || filepath.Base(path) != "SESSION-STATE.md" {
				return nil
			}
			// Every second one puts back what was written meanwhile.
			if renames++; renames%2 == 1 && (always || n == 0) {
				n++
				f, err := os.OpenFile(filepath.Join(dir, "SESSION-STATE.md"), os.O_APPEND|os.O_WRONLY, 0)
				if err != nil {
					return err
				}
				f.WriteString("Written meanwhile.\n")
				f.Close()
			}
			return nil
		})
		o := speak(t, k, "s", c)
		restore()
		text := stateOf(t, dir)
		if n == 0 {
			t.Fatal("no write was met")
		}
		if strings.Count(text, "Written meanwhile.\n") != n || strings.Contains(text, "Go on with it") == always || (len(o.Faults) == 1) != always {
			t.Errorf("always %v, %d writes: %+v\n%s", always, n, o.Faults, text)
		}
		k.Close()
	}
}

// A workspace that can't be written is told once, and fails no turn.
func TestStateReadOnly(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	restore := atomicfile.SetHook(func(op, path string) error {
		if strings.HasPrefix(path, dir) {
			return &os.PathError{Op: op, Path: path, Err: syscall.EROFS}
		}
		return nil
	})
	defer restore()
	c := said(1, "Please make the export of parcels faster.")
	told := 0
	for range 3 {
		o := speak(t, k, "s", c)
		if o.Outcome != api.Committed {
			t.Errorf("%+v", o)
		}
		for _, f := range o.Faults {
			if told++; f.Code != fault.Net || f.Cause != string(api.NetSessionState) || !strings.Contains(f.Detail, "not writable") {
				t.Errorf("%+v", f)
			}
		}
		c.user()
		c.say()
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}

// TestStatesOfSessionsStayApart: three sessions speak in turn in one workspace. No prompt
// holds another session's work. A session that begins is told in one line which one was at
// work, a shared one is told nothing, and a question where the work was shows the whole.
func TestStatesOfSessionsStayApart(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	tasks := map[string]string{"ann": "Please move the parcels to rail.", "bea": "Please write the report on ferries.", "cid": "Please count the lemurs."}
	names := []string{"ann", "bea", "cid"}
	talks := map[string]*conversation{}
	plan := func(key string, private bool) string {
		t.Helper()
		asked := request(talks[key])
		asked.SessionKey, asked.Private = key, private
		p := mustPlan(t, k, asked)
		checkPlan(t, p, talks[key].msgs)
		return stream(p)
	}
	for turn := range 3 {
		for i, key := range names {
			if turn == 0 {
				talks[key] = newConversation(int64(i))
				talks[key].now = talks[key].now.Add(time.Duration(i) * time.Hour)
				talks[key].add(memkernel.RoleUser, words(tasks[key]))
			} else {
				talks[key].user()
			}
			text := plan(key, true)
			for _, other := range names {
				if other != key && strings.Contains(text, strings.TrimPrefix(tasks[other], "Please ")) {
					t.Errorf("turn %d of %s holds the task of %s:\n%s", turn, key, other, text)
				}
			}
			if n := strings.Count(text, checkpoint.BesideMark); n != min(i, 1) {
				t.Errorf("turn %d of %s names %d sessions:\n%s", turn, key, n, text)
			}
			if i > 0 && !strings.Contains(text, "memkernel restore --session "+names[i-1]) {
				t.Errorf("turn %d of %s does not say how to go on with %s:\n%s", turn, key, names[i-1], text)
			}
			talks[key].say()
			speak(t, k, key, talks[key])
		}
	}
	for key, words := range map[string][2]string{"dan": {"Wo waren wir stehen geblieben?", "Goal, as first stated: Please count the lemurs."}, "eve": {"continue", "Goal, as first stated: Please count the lemurs."}, "shared": {"where were we?", ""}} {
		talks[key] = newConversation(9)
		talks[key].add(memkernel.RoleUser, memkernel.Part{Kind: memkernel.PartText, Text: words[0]})
		text := plan(key, key != "shared")
		if got := strings.Contains(text, "Working state of session cid, from which the user goes on"); got != (words[1] != "") || !strings.Contains(text, words[1]) || strings.Contains(text, checkpoint.BesideMark) {
			t.Errorf("%s asks %q and is shown\n%s", key, words[0], text)
		}
	}
}

// Odd files do no harm: marks without their partner, two sections, other line ends.
func TestStateOddFiles(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := said(1, "Please make the export of parcels faster.")
	speak(t, k, "s", c)
	section := stateOf(t, dir)
	k.Close()
	begin, _, _ := strings.Cut(section, "\n")
	for name, text := range map[string]string{
		"begin alone":  "x\n" + begin + "\ny\n",
		"end alone":    "x\n<!-- /memkernel:state -->\ny\n",
		"twice":        section + "between\n" + section,
		"dos":          strings.ReplaceAll("first\n"+section, "\n", "\r\n"),
		"no last line": "x",
		"empty":        "",
		"huge numbers": strings.Replace(section, "captured=4", "captured=99999999999999999999", 1),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			k := openKernel(t, dir)
			defer k.Close()
			put(t, dir, "SESSION-STATE.md", text)
			for range 3 {
				c := said(1, "Please make the export of parcels faster.")
				if o := speak(t, k, "s", c); len(o.Faults) > 0 {
					t.Errorf("%+v", o.Faults)
				}
				c.user()
				c.say()
				speak(t, k, "s", c)
			}
			got := stateOf(t, dir)
			for _, line := range []string{"x", "y", "between", "first"} {
				had := regexp.MustCompile(`(?m)^` + line + `\r?$`)
				if had.MatchString(text) != had.MatchString(got) {
					t.Errorf("line %q of\n%s\nis not kept in\n%s", line, text, got)
				}
			}
			if n := strings.Count(got, begin[:30]); n > 1+strings.Count(text, begin[:30]) || n == 0 {
				t.Errorf("%d sections in\n%s", n, got)
			}
		})
	}
}

// What stands in the file never holds a secret, and never grows beyond its bound.
func TestStateIsMaskedAndBounded(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	secret := "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
	c := newConversation(3)
	for i := range 120 {
		c.add(memkernel.RoleUser, words("Never print "+secret+" in step "+strings.Repeat("x", i)+" of the upload."))
		c.say()
	}
	speak(t, k, "s", c)
	if text := stateOf(t, dir); strings.Contains(text, secret) || len(text) > 8<<10+600 || !strings.Contains(text, "left out: ") {
		t.Errorf("%d bytes:\n%s", len(text), text)
	}
}
