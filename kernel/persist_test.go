package kernel_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// noise is n bytes that no model reads, the same for the same seed.
func noise(seed int64, n int) string {
	b := make([]byte, n)
	rand.New(rand.NewSource(seed)).Read(b)
	return string(b)
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// pictures is a session with images that a tool handed over, a recording, and
// binary files that commands printed as base64, one of them the image again.
func pictures() *conversation {
	c := newConversation(8)
	image, other := noise(1, 9000), noise(2, 7000)
	media := func(kind memkernel.PartKind, typ, data string) memkernel.Part {
		return memkernel.Part{Kind: kind, Media: &memkernel.Media{Type: typ, Data: b64(data)}}
	}
	c.add(memkernel.RoleUser, words("What is on this picture?"), media(memkernel.PartImage, "image/png", image), media(memkernel.PartDocument, "audio/wav", other))
	c.add(memkernel.RoleAssistant, call("call_1", "Read", `{"file_path":"logo.png"}`), call("call_2", "Bash", `{"command":"base64 logo.png"}`), call("call_3", "Bash", `{"command":"cat page.html"}`))
	c.add(memkernel.RoleUser, result("call_1", media(memkernel.PartImage, "image/png", image)),
		result("call_2", words("$ base64 logo.png\n"+b64(image)+"\n")),
		result("call_3", words(`<img src="data:image/png;base64,`+b64(other)+`"> and so on`)))
	c.add(memkernel.RoleAssistant, words("It is a logo."), call("call_4", "Write", `{"file_path":"b.html","content":"data:image/png;base64,`+b64(other)+`"}`))
	c.add(memkernel.RoleUser, result("call_4", words("written")))
	return c
}

// TestBase64IsStoredOnce: base64 is in no journal and no trace, and in a prompt only
// where an image was handed over as an image; what it decodes to is stored once, by
// its hash, whoever showed it.
func TestBase64IsStoredOnce(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := pictures()
	p := mustPlan(t, k, request(c))
	sent := body(t, p)
	image, other := b64(noise(1, 9000)), b64(noise(2, 7000))
	if n := strings.Count(sent, image[:200]); n != 2 {
		t.Errorf("the image stands %d times in the prompt, the host handed it over as an image twice", n)
	}
	if n := strings.Count(sent, other[:200]); n != 2 {
		t.Errorf("the other stands %d times: as a medium, and where the model itself wrote it", n)
	}
	if strings.Contains(sent, "$ base64 logo.png\\n"+image[:50]) || strings.Count(sent, "[base64 of ") != 2 || p.Stats.LiftedBytes < 20_000 {
		t.Errorf("%d bytes were lifted", p.Stats.LiftedBytes)
	}
	c.say()
	observe(t, k, api.Turn{Messages: c.msgs, PlanID: p.ID})
	for _, f := range tree(t, filepath.Join(dir, ".memkernel")) {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{image[:100], other[:100], image[4000:4100], other[4000:4100]} {
			if bytes.Contains(raw, []byte(s)) {
				t.Errorf("%s holds base64", f)
			}
		}
	}
	if n := len(tree(t, filepath.Join(dir, ".memkernel", "blobs"))); n != 2 {
		t.Errorf("%d blobs are stored of two files", n)
	}
	refs := map[string]int{}
	for _, page := range forget(t, k, false).Pages {
		for _, r := range fetch(t, k, page.ID).References {
			refs[r.Type]++
			if got := fetch(t, k, r.SHA256).Text; got != noise(1, 9000) && got != noise(2, 7000) || int64(len(got)) != r.Bytes {
				t.Errorf("%+v does not resolve", r)
			}
			if _, err := os.Stat(filepath.Join(dir, ".memkernel", r.Path)); err != nil {
				t.Error(err)
			}
		}
	}
	if refs["image_ref"] < 4 || refs["audio_ref"] != 1 {
		t.Errorf("references are %v", refs)
	}
	clean(t, k)
	// The next process sends the same bytes.
	k.Close()
	k = openKernel(t, dir)
	c.msgs = c.msgs[:len(c.msgs)-1]
	if stream(mustPlan(t, k, request(c))) != stream(p) {
		t.Error("a kernel that is opened anew sends other bytes")
	}
	clean(t, k)
}

// TestLargeOutputsAreStoredOnce: the same large result in ten calls is one blob, and
// the journal has its preview only.
func TestLargeOutputsAreStoredOnce(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := newConversation(9)
	large := c.code(60_000)
	c.user()
	for i := range 10 {
		id := fmt.Sprint("call_", i)
		c.add(memkernel.RoleAssistant, call(id, "Bash", `{"command":"cat all.go"}`))
		c.add(memkernel.RoleUser, result(id, words(large)))
	}
	req := request(c)
	req.ContextWindow = 1_000_000
	p := mustPlan(t, k, req)
	if p.Stats.Blobs != 1 || p.Stats.BlobBytes != int64(len(large)) {
		t.Errorf("%d blobs of %d bytes", p.Stats.Blobs, p.Stats.BlobBytes)
	}
	page := pageOf(t, k, p, "call_7")
	if len(page.References) != 1 || page.References[0].Type != "tool_output_ref" || page.References[0].ToolCallID != "call_7" ||
		!strings.HasPrefix(large, page.References[0].Preview) || len(page.References[0].Preview) < 400 {
		t.Errorf("%+v", page.References)
	}
	if p.Stats.JournalBytes > 10*int64(len(large)) {
		t.Errorf("%d bytes of journal for one text of %d", p.Stats.JournalBytes, len(large))
	}
	clean(t, k)
}

// The most that a turn may write: a plan commits blobs (one sync of the file
// system, or one for each file and folder) and one line of the journal; observing it
// commits one more. Nothing else is synced.
const (
	turnSyncs    = 10
	turnOverhead = 40_000 // bytes beside four times what was said
)

// TestWritesOfATurnAreBounded counts what a turn writes below the journals: the
// syncs are those that are reported, and they and the bytes keep to a bound however
// long the session is.
func TestWritesOfATurnAreBounded(t *testing.T) {
	t.Run("journal, blobs, projections", func(t *testing.T) { boundedWrites(t, true, turnSyncs) })
	t.Run("with the working state", func(t *testing.T) { boundedWrites(t, false, lifeSyncs) })
}

// lifeSyncs bounds the syncs of a turn with the files of the working state, and a
// checkpoint where a cut is made.
const lifeSyncs = 12

func boundedWrites(t *testing.T, off bool, bound int) {
	dir := t.TempDir()
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Life: kernel.LifeOptions{Off: off}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	c := newConversation(10)
	syncs, most := 0, 0
	t.Cleanup(atomicfile.SetHook(func(op, _ string) error {
		switch op {
		case "sync", "syncfs", "syncdir":
			syncs++
		}
		return nil
	}))
	for turn := range suite.Pick(15, 30) {
		before, was := diskBytes(t, dir), 0
		for i := range c.msgs {
			was += size(&c.msgs[i])
		}
		c.user()
		c.loop(2, 9000)
		said := -was
		for i := range c.msgs {
			said += size(&c.msgs[i])
		}
		syncs = 0
		p := mustPlan(t, k, request(c))
		c.say()
		o := observe(t, k, api.Turn{Messages: c.msgs, PlanID: p.ID})
		if turn > 0 && syncs != p.Stats.Syncs+o.Stats.Syncs {
			t.Errorf("turn %d: %d syncs, %d and %d are reported", turn, syncs, p.Stats.Syncs, o.Stats.Syncs)
		}
		if turn > 0 {
			most = max(most, syncs)
		}
		if turn > 0 && syncs > bound {
			t.Errorf("turn %d: %d syncs, want at most %d", turn, syncs, bound)
		}
		if grown := diskBytes(t, dir) - before; grown > 4*said+turnOverhead {
			t.Errorf("turn %d: %d bytes are written for %d", turn, grown, said)
		}
		if p.Stats.Files == 0 || p.Stats.Files > 12 || off && p.Stats.Files > 8 || p.Stats.JournalBytes == 0 || p.Stats.LogBytes == 0 {
			t.Errorf("turn %d: %+v", turn, p.Stats)
		}
	}
	t.Logf("at most %d syncs in a turn behind the first", most)
	c.user()
	mustPlan(t, k, request(c))
	syncs = 0
	if p := mustPlan(t, k, request(c)); syncs != 0 || p.Stats.Syncs != 0 || p.Stats.JournalBytes != 0 {
		t.Errorf("a plan with nothing new syncs %d times, %+v", syncs, p.Stats)
	}
}

// size is what a message says, in bytes.
func size(m *memkernel.Message) (n int) {
	for i := range m.Parts {
		p := &m.Parts[i]
		n += len(p.Text)
		if p.Result != nil {
			n += len(p.Result.Content[0].Text)
		}
		if p.Call != nil {
			n += len(p.Call.Input)
		}
	}
	return n
}

// diskBytes is the size of all files of the state but the projection's records and
// the trace, which grow by what a prompt holds.
func diskBytes(t *testing.T, dir string) (n int) {
	t.Helper()
	root := filepath.Join(dir, ".memkernel")
	if _, err := os.Stat(root); err != nil {
		return 0
	}
	for _, f := range tree(t, root) {
		if fi, err := os.Stat(f); err == nil && !strings.Contains(f, "trace") && !strings.Contains(f, "projection") {
			n += int(fi.Size())
		}
	}
	return n
}
