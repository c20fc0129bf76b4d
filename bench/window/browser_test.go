package window

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve/ui"
)

// chromium is the browser's program; a test that needs it is skipped where there is none.
func chromium(t testing.TB) string {
	t.Helper()
	if os.Getenv("MEMKERNEL_UI") == "" {
		t.Skip("the window is tested in a browser by make test-ui (MEMKERNEL_UI=1)")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no Chromium on the PATH")
	return ""
}

// browser is a browser with a profile of its own. All that it complains of is collected.
type browser struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	trouble  []string
	outside  []string // addresses that are not the window's
	bytes    float64
	requests int
}

func open(t testing.TB) *browser {
	t.Helper()
	opts := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true), chromedp.UserDataDir(t.TempDir()))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, end := chromedp.NewContext(alloc)
	t.Cleanup(func() { end(); stop() })
	b := &browser{t: t, ctx: ctx}
	err := chromedp.Listen(ctx, func(ev any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			b.trouble = append(b.trouble, e.ExceptionDetails.Text+" "+e.ExceptionDetails.URL)
			if x := e.ExceptionDetails.Exception; x != nil {
				b.trouble = append(b.trouble, x.Description)
			}
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError && !strings.Contains(e.Entry.URL, "#token=") { // the door is no page
				b.trouble = append(b.trouble, e.Entry.Text+" "+e.Entry.URL)
			}
		case *network.EventRequestWillBeSent:
			b.requests++
			if u, err := url.Parse(e.Request.URL); err == nil && u.Hostname() != "127.0.0.1" && u.Scheme != "data" {
				b.outside = append(b.outside, e.Request.URL)
			}
		case *network.EventLoadingFinished:
			b.bytes += e.EncodedDataLength
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	return b
}

// patience is how long one step of a page may take.
const patience = 90 * time.Second

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// told is what a script comes to.
func told[T any](b *browser, script string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
	return out
}

// see waits until a page says something is so, a script that gives true or false.
func (b *browser) see(what string) {
	b.t.Helper()
	for range 600 {
		if ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+what+")")); err == nil && ok {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.t.Fatalf("the page never comes to %s: it is %s", what, told[string](b, "location.href + ' ' + document.body.innerText.slice(0, 600)"))
}

// size sets the width of the page, and whether it is dark.
func (b *browser) size(width int, dark bool) {
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	_, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: int64(width), Height: int64(max(800, width*9/16)), DeviceScaleFactor: 1, Mobile: width < 600})
	if err == nil {
		_, err = chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// shoot keeps what a page looks like, the whole of it or what is in sight.
func (b *browser) shoot(name string, whole bool) {
	b.t.Helper()
	how := chromedp.CaptureScreenshot()
	if whole {
		how = chromedp.FullScreenshot(100)
	}
	png, err := chromedp.Run(b.ctx, how)
	if err != nil {
		b.t.Fatal(err)
	}
	dir := shots(b.t)
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// shots is where screenshots are kept: MEMKERNEL_UI_SHOTS, else a folder of the test.
func shots(t testing.TB) string {
	dir := os.Getenv("MEMKERNEL_UI_SHOTS")
	if dir == "" {
		return t.TempDir()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// calm fails the test for anything that the browser complained of, or asked of others.
func (b *browser) calm(what string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.trouble) > 0 {
		b.t.Errorf("%s: the browser complains:\n%s", what, strings.Join(b.trouble, "\n"))
	}
	if len(b.outside) > 0 {
		b.t.Errorf("%s: the page asks others: %v", what, b.outside)
	}
	b.trouble, b.outside = nil, nil
}

// window opens a window on a workspace and transcripts.
func window(t testing.TB, workspace string, o ui.Options, transcripts ...string) *ui.Server {
	t.Helper()
	k, err := kernel.Open(t.Context(), workspace, &kernel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o.Kernel, o.Prices, o.Workspace, o.Private = k, cachelayout.DefaultBook(), workspace, true
	o.Transcripts = func() []string { return transcripts }
	o.Hint = func(s string) string { return s }
	if o.Elsewhere == nil {
		o.Elsewhere = func() []string { return nil }
	}
	s, err := ui.Listen("127.0.0.1:0", o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		k.Close()
	})
	return s
}

// root is the repository.
const root = "../.."

// workspace copies the bundled one.
func workspace(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "testdata/workspace"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// enter opens the link and waits for the page behind it.
func (b *browser) enter(s *ui.Server) string {
	b.t.Helper()
	link := s.Link()
	b.do(chromedp.Navigate(link))
	b.see(`document.querySelector("#main .view")`)
	base, _, _ := strings.Cut(link, "/#")
	return base
}

// visit moves to a view as a click on a link does, and waits until it stands.
func (b *browser) visit(base, path, ready string) {
	b.t.Helper()
	b.do(chromedp.Navigate(base + path))
	b.see(`document.querySelector("#main:not([aria-busy]) .view") && (` + ready + `)`)
}

// ask gets a document as the page does.
func (b *browser) ask(path string, out any) {
	b.t.Helper()
	text := told[string](b, fmt.Sprintf(`fetch(%q).then(r => r.text())`, path))
	if err := json.NewDecoder(bytes.NewReader([]byte(text))).Decode(out); err != nil {
		b.t.Fatalf("%s: %v: %s", path, err, text)
	}
}

// pause lets a page settle.
var pause = chromedp.Sleep(250 * time.Millisecond)
