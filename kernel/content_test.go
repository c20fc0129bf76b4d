package kernel_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
)

// TestInvalidUTF8: the request is valid all the same, and what is stored is what
// came.
func TestInvalidUTF8(t *testing.T) {
	const bad = "caf\xe9 \xff\xfe\x00 \xed\xa0\x80 end\r\n"
	for name, text := range map[string]string{"small": bad, "lines": strings.Repeat("ERROR in a/b/c.go: "+bad, 90), "large": strings.Repeat(bad, 20_000)} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			k := openKernel(t, dir)
			c := newConversation(24)
			c.add(memkernel.RoleUser, words("see \xff here"))
			c.add(memkernel.RoleAssistant, call("call_1", "Read", `{"file_path":"a/b/c.go"}`))
			c.add(memkernel.RoleUser, result("call_1", words(text)))
			p := planned(t, k, request(c))
			body(t, p)
			if got := pageOf(t, k, p, "call_1"); got.Text != text {
				t.Errorf("stored %d bytes that differ from the %d that came", len(got.Text), len(text))
			}
			for range 9 {
				c.say()
				c.user()
				c.loop(2, 18_000)
			}
			q := planned(t, k, request(c))
			body(t, q)
			k.Close()
			k = openKernel(t, dir)
			defer k.Close()
			if diff := cmp.Diff(stream(q), stream(planned(t, k, request(c)))); diff != "" {
				t.Errorf("a reopened kernel sends other bytes:\n%s", diff)
			}
			clean(t, k)
		})
	}
}

// TestHugeResult: a result of 50 MB becomes a blob that restores byte for byte.
// With a resolver the model sees a preview, without one what fits.
func TestHugeResult(t *testing.T) {
	size := suite.Pick(3, 50) << 20
	c := newConversation(25)
	unit := c.code(64 << 10)
	text := strings.Repeat(unit, size/len(unit)+1)[:size]
	c.user()
	c.add(memkernel.RoleAssistant, call("call_big", "Bash", `{"command":"cat everything.log"}`))
	c.add(memkernel.RoleUser, result("call_big", words(text)))
	for _, resolver := range []string{"memory_get", ""} {
		t.Run("resolver "+resolver, func(t *testing.T) {
			req := request(c)
			req.Resolver = resolver
			var k *kernel.Kernel
			var p *api.ContextPlan
			least := uint64(math.MaxUint64) // of three plans, since other goroutines allocate as well
			for range 3 {
				k = memoryKernel(t)
				defer k.Close()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				p = planned(t, k, req)
				runtime.ReadMemStats(&after)
				least = min(least, after.TotalAlloc-before.TotalAlloc)
			}
			if least > 8*uint64(size) {
				t.Errorf("planning allocated %d MB for a result of %d MB", least>>20, size>>20)
			}
			if len(p.Reduced) != 1 || p.Reduced[0].Level == pagevm.Full {
				t.Fatalf("reduced is %+v", p.Reduced)
			}
			shown := p.Messages[2].Parts[0].Result.Content[0].Text
			if resolver != "" && (!strings.HasPrefix(shown, text[:400]) || !strings.Contains(shown, fmt.Sprint(size)) || !strings.Contains(shown, resolver)) {
				t.Errorf("no preview: %.700s", shown)
			}
			content := get(t, k, p.Reduced[0].Handle)
			if content.Text != text || content.Page.Blob == "" {
				t.Errorf("%d bytes restored, want %d", len(content.Text), size)
			}
			if resolver != "" && !strings.Contains(shown, content.Page.Blob) {
				t.Error("the preview does not name the hash")
			}
		})
	}
}

// TestImagesInText: base64 in the middle of what a tool printed is a blob that the
// text names; what the user says stands in the request as it came.
func TestImagesInText(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	raw := make([]byte, 30_000)
	for i := range raw {
		raw[i] = byte(i * i >> 3)
	}
	text := "<img src=\"data:image/png;base64," + base64.StdEncoding.EncodeToString(raw) + "\"> what is this?"
	c := newConversation(26)
	c.add(memkernel.RoleUser, words(text))
	c.add(memkernel.RoleAssistant, call("call_1", "Screenshot", `{}`))
	c.add(memkernel.RoleUser, result("call_1", words(text)))
	p := planned(t, k, request(c))
	if sent := body(t, p); strings.Count(sent, text[50:30_000]) != 1 {
		t.Error("the user's message does not stand in the request as it came, and alone")
	}
	for _, id := range []string{pageOf(t, k, p, "call_1").ID, p.Debug.Included[1].ID} {
		got := get(t, k, id)
		if len(got.Page.Media) != 1 || got.Page.Masked != 0 || get(t, k, got.Page.Media[0].Blob).Text != string(raw) ||
			!strings.Contains(got.Text, got.Page.Media[0].Blob) || !strings.Contains(got.Text, "what is this?") {
			t.Errorf("%s is stored as %.300q with %+v", id, got.Text, got.Page.Media)
		}
	}
}

// TestMediaKeepTheirShape: an image stays an image wherever its message stands,
// and its bytes can be read from its blob, also after the message left.
func TestMediaKeepTheirShape(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	pixels := strings.Repeat("\x89PNG\r\n\x1a\n\xff", 900)
	image := memkernel.Part{Kind: memkernel.PartImage, Media: &memkernel.Media{Type: "image/png", Data: base64.StdEncoding.EncodeToString([]byte(pixels)), Width: 800, Height: 600}}
	paper := memkernel.Part{Kind: memkernel.PartDocument, Text: "THE PAPER SAYS SO", Media: &memkernel.Media{Type: "text/plain"}}
	c := newConversation(27)
	c.add(memkernel.RoleUser, words("what is on it?"), image, paper)
	c.add(memkernel.RoleAssistant, call("call_1", "Screenshot", `{}`))
	c.add(memkernel.RoleUser, result("call_1", words("the page, as asked"), image))
	p := planned(t, k, request(c))
	sent := body(t, p)
	if strings.Count(sent, `"type":"image"`) != 2 || strings.Count(sent, image.Media.Data) != 2 {
		t.Errorf("the images do not stand in the request: %.300s", sent)
	}
	media := pageOf(t, k, p, "call_1").Page.Media
	if len(media) != 1 || media[0].Type != "image/png" || get(t, k, media[0].Blob).Text != pixels {
		t.Fatalf("the image is not stored: %+v", media)
	}
	for range 8 {
		c.say()
		c.user()
		c.loop(2, 18_000)
	}
	q := planned(t, k, request(c))
	for i := range q.Messages {
		for _, part := range q.Messages[i].Parts {
			if part.Result != nil && part.Result.CallID == "call_1" && len(part.Result.Content) != 2 {
				t.Errorf("the result with an image lost its shape: %+v", part.Result)
			}
		}
	}
	k.Close()
	k = openKernel(t, dir)
	defer k.Close()
	if get(t, k, media[0].Blob).Text != pixels {
		t.Error("the image's bytes are gone")
	}
	if first := get(t, k, p.Debug.Included[1].ID); !strings.Contains(first.Text, "THE PAPER SAYS SO") {
		t.Errorf("the document's text is not stored: %q", first.Text)
	}
	clean(t, k)
}

// TestUnknownBlock: a block of a type that nobody knows goes out as it came, and
// can be read after its message left.
func TestUnknownBlock(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer func() { k.Close() }()
	const odd = `{"type":"hologram","depth":[1, 2.50],"note":"caf\u00e9 \/ x"}`
	other := memkernel.Part{Kind: memkernel.PartOther, Raw: odd}
	c := newConversation(28)
	c.add(memkernel.RoleUser, words("look at this"), other)
	c.add(memkernel.RoleAssistant, call("call_1", "Scan", `{}`))
	c.add(memkernel.RoleUser, result("call_1", words("scanned"), other))
	p := planned(t, k, request(c))
	if n := strings.Count(body(t, p), odd); n != 2 {
		t.Errorf("the block stands %d times in the request, want 2", n)
	}
	var ids []string
	for _, row := range p.Debug.Included {
		if c, err := k.Get(context.Background(), "s", row.ID); err == nil && strings.Contains(c.Text, odd) {
			ids = append(ids, row.ID)
		}
	}
	if len(ids) != 2 {
		t.Fatalf("%d pages hold the block, want 2", len(ids))
	}
	for range 8 {
		c.say()
		c.user()
		c.loop(2, 18_000)
	}
	planned(t, k, request(c))
	k.Close()
	k = openKernel(t, dir)
	for _, id := range ids {
		if !strings.Contains(get(t, k, id).Text, odd) {
			t.Errorf("page %s lost the block", id)
		}
	}
	clean(t, k)
}
