package window

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/ui"
)

// TestPictures writes those of doc/ui.md to the folder that MEMKERNEL_UI_PICTURES names (make
// picture-ui).
func TestPictures(t *testing.T) {
	dir := os.Getenv("MEMKERNEL_UI_PICTURES")
	if dir == "" {
		t.Skip("MEMKERNEL_UI_PICTURES names no folder; make picture-ui does")
	}
	b := open(t)
	place := filepath.Join(os.TempDir(), "harborline")
	if err := os.CopyFS(place, os.DirFS(filepath.Join(root, "testdata/workspace"))); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(place)
	s := window(t, place, ui.Options{Window: 128_000, Resolver: "memory_get", Doctor: healthy, Voice: api.VoicePerson}, filepath.Join(root, "testdata/session.jsonl"))
	b.size(1280, false)
	base := b.enter(s)
	id, call := b.sample("session")
	all := map[string]view{}
	for _, v := range views(id, call) {
		all[v.name] = v
	}
	for _, p := range []struct {
		name, view    string
		width, height int
		dark          bool
	}{
		{"said", "said", 1280, 900, false}, {"session", "session", 1280, 1180, false}, {"call", "call", 1280, 1060, false},
		{"memory", "memory", 1280, 860, false}, {"search-dark", "search", 1280, 860, true}, {"said-390", "said", 390, 1000, false},
	} {
		b.size(p.width, p.dark)
		b.visit(base, all[p.view].path, all[p.view].ready)
		b.do(pause, pause)
		quality, beyond := int64(82), true
		shot, err := chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatWebp, Quality: &quality,
			Clip: &page.Viewport{Width: float64(p.width), Height: float64(p.height), Scale: 1}, CaptureBeyondViewport: &beyond})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, p.name+".webp"), shot.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
