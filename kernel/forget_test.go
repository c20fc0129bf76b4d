package kernel_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
)

// secretWord stands in everything that these tests forget, and nowhere else.
const secretWord = "Trondheim7731"

// confided is a session whose user, assistant, results large and small, and a
// picture all speak of what is to be forgotten, and which goes on long enough to be
// cut.
func confided() *conversation {
	c := newConversation(91)
	c.add(memkernel.RoleUser, words("We decided to ship from "+secretWord+" because the customer there asked for it. Always use the "+secretWord+" account from now on."))
	c.add(memkernel.RoleAssistant, words("I will use the account of "+secretWord+" for every shipment from here on, and not the old one."), call("call_a", "Read", `{"file_path":"notes/plan.md"}`), call("call_b", "Bash", `{"command":"cat small.txt"}`))
	c.add(memkernel.RoleUser, result("call_a", words("error: the list of "+secretWord+" could not be sent\n"+strings.Repeat("a row of the "+secretWord+" ledger says that the invoice is open\n", 200))),
		result("call_b", words("the small note says that "+secretWord+" pays on Fridays only")),
		memkernel.Part{Kind: memkernel.PartImage, Media: &memkernel.Media{Type: "image/png", Data: base64.StdEncoding.EncodeToString([]byte("\x89PNG " + secretWord + "\xff"))}})
	c.add(memkernel.RoleAssistant, words("Done for "+secretWord+". Shall I look at the next service?"))
	for range 9 {
		c.user()
		c.loop(2, 8000)
		c.say()
	}
	c.user()
	return c
}

// live plans and observes the session turn by turn, as a host does.
func live(t fataler, k *kernel.Kernel, c *conversation) {
	t.Helper()
	for i := range c.msgs {
		if i+1 < len(c.msgs) && c.msgs[i].Role == memkernel.RoleUser && c.msgs[i+1].Role == memkernel.RoleAssistant {
			at := *c
			at.msgs = c.msgs[: i+1 : i+1]
			at.now = at.msgs[i].Time
			p := mustPlan(t, k, narrow(&at))
			observe(t, k, api.Turn{Messages: c.msgs[: i+2 : i+2], PlanID: p.ID})
		}
	}
}

// holding are the files below dir that hold a word.
func holding(t *testing.T, dir, word string) (files []string) {
	t.Helper()
	for _, f := range tree(t, filepath.Join(dir, ".memkernel")) {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if i := bytes.Index(b, []byte(word)); i >= 0 {
			files = append(files, filepath.Base(f)+": …"+string(b[max(0, i-90):min(len(b), i+40)]))
		}
	}
	return files
}

func forget(t fataler, k *kernel.Kernel, apply bool, ids ...string) *api.Forgotten {
	t.Helper()
	f, err := k.Forget(context.Background(), api.ForgetRequest{SessionKey: "s", IDs: ids, Session: len(ids) == 0, Reason: "asked for", Apply: apply})
	if err != nil {
		t.Fatalf("forget: %v", err)
	}
	return f
}

// fetch is Get, whatever it answers.
func fetch(t fataler, k *kernel.Kernel, id string) *api.Content {
	t.Helper()
	g, err := k.Get(context.Background(), "s", id)
	if err != nil {
		t.Fatalf("get %s: %v", id, err)
	}
	return g
}

// pagesWith are the pages of the session s whose content has a word.
func pagesWith(t *testing.T, k *kernel.Kernel, c *conversation, word string) (ids []string) {
	t.Helper()
	all := forget(t, k, false)
	for _, p := range all.Pages {
		g := fetch(t, k, p.ID)
		has := strings.Contains(g.Text, word)
		for _, m := range g.Page.Media {
			has = has || strings.Contains(fetch(t, k, m.Blob).Text, word)
		}
		if has {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// TestForgetPages: what was forgotten is on no disk, in no prompt, and does not
// come back when the host sends it again; all else stands.
func TestForgetPages(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer func() { k.Close() }()
	c := confided()
	live(t, k, c)
	ids := pagesWith(t, k, c, secretWord)
	if len(ids) != 6 {
		t.Fatalf("%d pages speak of it: %v", len(ids), ids)
	}
	before := len(forget(t, k, false).Pages)
	preview := forget(t, k, false, ids...)
	if preview.Applied || len(preview.Pages) != 6 || len(preview.Blobs) != 2 || len(preview.Kept) != 0 || len(holding(t, dir, secretWord)) == 0 {
		t.Fatalf("preview: %+v", preview)
	}
	if fetch(t, k, ids[0]).Reason != api.GetOK {
		t.Fatal("the preview forgot")
	}
	done := forget(t, k, true, ids...)
	if !done.Applied || len(done.Blobs) != 2 {
		t.Errorf("%+v", done)
	}
	if left := holding(t, dir, secretWord); len(left) > 0 {
		t.Errorf("it still stands in %s", strings.Join(left, "\n"))
	}
	for _, id := range append(ids, done.Blobs...) {
		if g := fetch(t, k, id); g.Reason != api.GetForgotten || g.Text != "" || g.Fault != nil {
			t.Errorf("%s: %+v", id, g)
		}
	}
	clean(t, k)
	if got := len(forget(t, k, false).Pages); got != before-6 {
		t.Errorf("%d pages are left of %d", got, before)
	}
	// The host still has it all, and sends it again, to this process and the next.
	for range 2 {
		p := mustPlan(t, k, narrow(c))
		if strings.Contains(body(t, p), secretWord) {
			t.Error("the prompt shows it")
		}
		c.say()
		o := observe(t, k, api.Turn{Messages: c.msgs, PlanID: p.ID})
		if o.Outcome == api.Conflict {
			t.Errorf("%+v", o)
		}
		c.user()
		if left := holding(t, dir, secretWord); len(left) > 0 {
			t.Errorf("it came back: %s", strings.Join(left, "\n"))
		}
		clean(t, k)
		k.Close()
		k = openKernel(t, dir)
	}
	if g := fetch(t, k, ids[0]); g.Reason != api.GetForgotten || !strings.Contains(g.Detail, "asked for") {
		t.Errorf("%+v", g)
	}
	if again := forget(t, k, true, ids...); len(again.Pages) != 0 || len(again.Already) != 6 {
		t.Errorf("a second time: %+v", again)
	}
	replayTraces(t, dir, 0)
	// An observed turn that is delivered again is no conflict.
	for i := range c.msgs {
		if i > 0 && c.msgs[i].Role == memkernel.RoleAssistant && len(c.msgs[i].Parts) == 1 {
			if o := observe(t, k, api.Turn{Messages: c.msgs[: i+1 : i+1]}); o.Outcome == api.Conflict {
				t.Errorf("turn that ends at %d: %+v", i, o)
			}
			break
		}
	}
}

// Another session's copy keeps the blob; a blob's hash forgets both.
func TestForgetSharedBlob(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := confided()
	c.msgs = c.msgs[:3]
	for _, key := range []string{"s", "other"} {
		req := request(c)
		req.SessionKey = key
		mustPlan(t, k, req)
	}
	var page, hash string
	for _, p := range forget(t, k, false).Pages {
		if p.Tool == "Read" {
			page, hash = p.ID, fetch(t, k, p.ID).Page.Blob
		}
	}
	if f := forget(t, k, true, page); len(f.Blobs) != 0 || len(f.Kept) != 1 || f.Kept[0] != hash {
		t.Errorf("%+v", f)
	}
	clean(t, k)
	if g, err := k.Get(context.Background(), "other", page); err != nil || g.Reason != api.GetOK {
		t.Errorf("the other session lost it: %+v %v", g, err)
	}
	if g := fetch(t, k, page); g.Reason != api.GetForgotten {
		t.Errorf("%+v", g)
	}
	if f := forget(t, k, true, hash); len(f.Pages) != 1 || f.Pages[0].Session != "other" || len(f.Blobs) != 1 {
		t.Errorf("%+v", f)
	}
	if g, _ := k.Get(context.Background(), "other", page); g.Reason != api.GetForgotten {
		t.Errorf("%+v", g)
	}
	clean(t, k)
}

// A span forgets its messages; a message that the host changed since is another.
func TestForgetSpanAndChangedMessage(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c, p := cutSession(t, k, 3)
	span := ""
	for _, h := range goneKeys(p) {
		span = h
	}
	f := forget(t, k, true, span)
	if len(f.Pages) < 2 {
		t.Fatalf("%+v", f)
	}
	if g := fetch(t, k, span); strings.Count(g.Text, "[forgotten on request]") != len(g.Pages) || strings.Contains(g.Text, "queue.Take") {
		t.Errorf("%.300s", g.Text)
	}
	clean(t, k)
	key := f.Pages[0].ID
	for i := range c.msgs {
		for _, row := range f.Pages {
			if row.Type == pagevm.Conversation && c.msgs[i].Role == memkernel.RoleUser && len(c.msgs[i].Parts) == 1 && c.msgs[i].Parts[0].Kind == memkernel.PartText {
				c.msgs[i].Parts = []memkernel.Part{words("This is another question altogether, number " + c.msgs[i].Key)}
			}
		}
	}
	q := mustPlan(t, k, narrow(c))
	if !strings.Contains(stream(q), "forgotten on request") && q.Layout.Made == nil {
		t.Error("nothing stands in the place of what was forgotten")
	}
	if g := fetch(t, k, key); g.Reason != api.GetForgotten {
		t.Errorf("%+v", g)
	}
	clean(t, k)
}

func TestForgetSession(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := confided()
	live(t, k, c)
	write(t, k, pin("r1", "Rule of "+secretWord+" binds."))
	if f := forget(t, k, false); len(f.Pages) < 20 || len(f.Elsewhere) != 0 {
		t.Errorf("%d pages, %v", len(f.Pages), f.Elsewhere)
	}
	forget(t, k, true)
	if left := holding(t, dir, secretWord); len(left) > 0 {
		t.Errorf("%s", strings.Join(left, "\n"))
	}
	if left := holding(t, dir, "queue.Take"); len(left) > 0 {
		t.Errorf("%s", strings.Join(left, "\n"))
	}
	clean(t, k)
	p := mustPlan(t, k, narrow(c))
	if strings.Contains(body(t, p), secretWord) {
		t.Error("the prompt shows it")
	}
	c.say()
	c.add(memkernel.RoleUser, words("Something new is said here, which nobody has asked to forget."))
	if q := mustPlan(t, k, narrow(c)); !strings.Contains(stream(q), "Something new is said here") {
		t.Error("the session can't go on")
	}
	clean(t, k)
}

func TestForgetRefuses(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	mustPlan(t, k, request(session(4, 1, 1, 500)))
	for name, req := range map[string]api.ForgetRequest{
		"nothing": {SessionKey: "s"}, "both": {SessionKey: "s", Session: true, IDs: []string{"ev-1"}},
		"no such page": {SessionKey: "s", IDs: []string{"ev-0000000000000000"}}, "no such session": {SessionKey: "nope", Session: true},
		"no such blob": {SessionKey: "s", IDs: []string{strings.Repeat("a", 64)}},
	} {
		if f, err := k.Forget(context.Background(), req); err == nil {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestForgetKilledAnywhere kills a session that forgets before each of its writes.
// Once the promise is written nothing of it is answered, and the next session that
// is opened has nothing of it on disk.
func TestForgetKilledAnywhere(t *testing.T) {
	c := confided()
	c.msgs = c.msgs[:7]
	suite.EveryWrite(t, "TestForgetChild", 30, func(dir string, n int, out []byte) {
		k := openKernel(t, dir)
		defer k.Close()
		_, acked, begun := bytes.Cut(out, []byte("PAGE "))
		id, rest, _ := bytes.Cut(acked, []byte("\n"))
		clean(t, k)
		if !begun {
			return
		}
		if g := fetch(t, k, string(id)); bytes.Contains(rest, []byte("FORGOT")) && g.Reason != api.GetForgotten || g.Reason != api.GetForgotten && g.Reason != api.GetOK {
			t.Fatalf("killed at %d: %+v", n, g)
		}
		promised := fetch(t, k, string(id)).Reason == api.GetForgotten
		p := mustPlan(t, k, request(c))
		if promised != !strings.Contains(stream(p), "ledger says") {
			t.Fatalf("killed at %d: promised is %v", n, promised)
		}
		if left := holding(t, dir, "ledger says"); promised && len(left) > 0 {
			t.Fatalf("killed at %d: %s", n, strings.Join(left, "\n"))
		}
		clean(t, k)
	})
}

// TestForgetChild is the session that TestForgetKilledAnywhere kills.
func TestForgetChild(t *testing.T) {
	k := openKernel(t, suite.Child(t))
	c := confided()
	c.msgs = c.msgs[:7]
	mustPlan(t, k, request(c))
	for _, p := range forget(t, k, false).Pages {
		if p.Tool == "Read" && strings.Contains(fetch(t, k, p.ID).Text, "ledger says") {
			os.Stdout.WriteString("PAGE " + p.ID + "\n")
			forget(t, k, true, p.ID)
			os.Stdout.WriteString("FORGOT\n")
		}
	}
	k.Close()
}
