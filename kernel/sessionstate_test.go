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
	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/fault"
)

// stateOf is SESSION-STATE.md.
func stateOf(t *testing.T, dir string) string {
	t.Helper()
	return read(t, dir, "SESSION-STATE.md")
}

// speak observes a conversation of a session as a private one.
func speak(t fataler, k *kernel.Kernel, key string, c *conversation) *kernel.Observation {
	t.Helper()
	o, err := k.ObserveTurn(context.Background(), kernel.Turn{SessionKey: key, Model: model, Messages: c.msgs, Private: true, Now: c.now.Add(time.Second)})
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
	if o := speak(t, k, "s", c); len(o.Faults) > 0 || strings.Count(stateOf(t, dir), "Session state, ") != 2 {
		t.Errorf("the turn after: %+v\n%s", o.Faults, stateOf(t, dir))
	}
}

var pageInState = regexp.MustCompile(`is page (ss-[0-9a-f]+)\.`)

// Another session's first turn takes the file over: what people wrote is in a page that
// its checkpoint names, what the session before had said is in that one's checkpoint.
func TestStateChangesHands(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	ctx := context.Background()
	speak(t, k, "a", said(1, "Please make the export of parcels faster."))
	const mine = "\nA note of Kim's: the vault code is on the board.\n"
	put(t, dir, "SESSION-STATE.md", stateOf(t, dir)+mine)
	b := said(2, "Please write the report on ferries.")
	if o := speak(t, k, "b", b); len(o.Faults) > 0 {
		t.Errorf("%+v", o.Faults)
	}
	text := stateOf(t, dir)
	if !strings.HasPrefix(text, "<!-- memkernel:state session=b ") || strings.Contains(text, "parcels") || strings.Contains(text, "Kim") {
		t.Errorf("%s", text)
	}
	m := pageInState.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no page is named in\n%s", text)
	}
	if got, err := k.Get(ctx, "b", m[1]); err != nil || got.Text != strings.TrimSpace(mine) {
		t.Errorf("the page: %+v %v", got, err)
	}
	if got, err := k.Get(ctx, "b", "cp_001"); err != nil || !strings.Contains(got.Text, `session_state: "`+m[1]+`"`) {
		t.Errorf("b's checkpoint: %+v %v", got, err)
	}
	if got, err := k.Get(ctx, "a", "cp_001"); err != nil || !strings.Contains(got.Text, "Please make the export of parcels faster") {
		t.Errorf("a's checkpoint: %+v %v", got, err)
	}
	// b goes on: what it named stays named.
	b.add(memkernel.RoleUser, words("Add a chart of the ferries."))
	b.add(memkernel.RoleAssistant, words("Added."))
	speak(t, k, "b", b)
	if !strings.Contains(stateOf(t, dir), m[1]) {
		t.Error("the page is named no longer")
	}
	clean(t, k)
	// A boundary is no word: a's end does not take the file back.
	if _, err := k.EndSession(ctx, kernel.Boundary{SessionKey: "a", Model: model, Private: true}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(stateOf(t, dir), "<!-- memkernel:state session=b ") {
		t.Error("a boundary of another session took the file")
	}
}

// A reset begins the file anew; so does a session that the host says begins, once it
// turns out to be another conversation, and not if it goes on.
func TestStateBeginsAnew(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(k *kernel.Kernel) hook
		next func(c *conversation) *conversation
		kept bool
	}{
		"reset":           {func(k *kernel.Kernel) hook { return k.Reset }, func(*conversation) *conversation { return said(2, "Please write the report on ferries.") }, false},
		"start":           {func(k *kernel.Kernel) hook { return k.StartSession }, func(*conversation) *conversation { return said(2, "Please write the report on ferries.") }, false},
		"taken up again":  {func(k *kernel.Kernel) hook { return k.StartSession }, func(c *conversation) *conversation { return c }, true},
		"compaction only": {func(k *kernel.Kernel) hook { return k.Compact }, func(c *conversation) *conversation { return c }, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			k := openKernel(t, dir)
			defer k.Close()
			c := said(1, "Please make the export of parcels faster.")
			speak(t, k, "s", c)
			put(t, dir, "SESSION-STATE.md", stateOf(t, dir)+"\nA note of Kim's.\n")
			b := kernel.Boundary{Private: true}
			if name != "start" && name != "taken up again" {
				b.Messages = c.msgs
			}
			pass(t, tt.end(k), b)
			if !strings.Contains(stateOf(t, dir), "A note of Kim's.") {
				t.Error("the boundary alone took the text away")
			}
			next := tt.next(c)
			next.add(memkernel.RoleUser, words("One more thing about the work."))
			next.add(memkernel.RoleAssistant, words("Fine."))
			speak(t, k, "s", next)
			text := stateOf(t, dir)
			if strings.Contains(text, "A note of Kim's.") != tt.kept {
				t.Errorf("%s", text)
			}
			if m := pageInState.FindStringSubmatch(text); (m == nil) != tt.kept {
				t.Errorf("a page is named: %v", m)
			} else if m != nil {
				if got, err := k.Get(context.Background(), "s", m[1]); err != nil || !strings.Contains(got.Text, "A note of Kim's.") {
					t.Errorf("%+v %v", got, err)
				}
			}
		})
	}
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
			if op != atomicfile.OpRename || filepath.Base(path) != "SESSION-STATE.md" {
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
		if o.Outcome != kernel.Committed {
			t.Errorf("%+v", o)
		}
		for _, f := range o.Faults {
			if told++; f.Code != fault.Net || f.Cause != string(kernel.NetSessionState) || !strings.Contains(f.Detail, "not writable") {
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

// What the kernel wrote itself is not told back to the model in its own session; what
// others write is, once; another session is told once where the one before stood; a
// shared one never.
func TestStateIsNotEchoed(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := said(1, "Please make the export of parcels faster.")
	turns := 0
	plan := func(key string, c *conversation, private bool) string {
		t.Helper()
		turns++
		asked := request(c)
		asked.SessionKey, asked.Private = key, private
		return stream(mustPlan(t, k, asked))
	}
	for range 3 {
		speak(t, k, "s", c)
		c.user()
		if text := plan("s", c, true); strings.Contains(text, "SESSION-STATE") || strings.Contains(text, "[goal]") {
			t.Fatalf("echoed: %s", text)
		}
		c.say()
	}
	speak(t, k, "s", c)
	put(t, dir, "SESSION-STATE.md", "Kim is on leave.\n\n"+stateOf(t, dir))
	for i := range 3 {
		c.user()
		if text := plan("s", c, true); strings.Count(text, "Kim is on leave.") != 1 || strings.Contains(text, "[goal]") {
			t.Errorf("turn %d: %s", i, text)
		}
		c.say()
		speak(t, k, "s", c)
	}
	other := newConversation(7)
	other.n = 9000
	for i := range 2 {
		other.user()
		if text := plan("other", other, true); strings.Count(text, "[goal] Please make the export") != 1 {
			t.Errorf("turn %d of another session: %s", i, text)
		}
		other.say()
	}
	shared := newConversation(8)
	shared.n = 9500
	shared.user()
	if text := plan("shared", shared, false); strings.Contains(text, "parcels") {
		t.Errorf("a shared session is shown %s", text)
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
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Life: kernel.LifeOptions{StateFile: kernel.StateFileOptions{MaxBytes: 2000}}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	secret := "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
	c := newConversation(3)
	for i := range 30 {
		c.add(memkernel.RoleUser, words("Never print "+secret+" in step "+strings.Repeat("x", i)+" of the upload."))
		c.say()
	}
	speak(t, k, "s", c)
	if text := stateOf(t, dir); strings.Contains(text, secret) || len(text) > 2600 || !strings.Contains(text, "left out: ") {
		t.Errorf("%d bytes:\n%s", len(text), text)
	}
}
