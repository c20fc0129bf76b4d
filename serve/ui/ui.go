// Package ui serves the window of memkernel: a web page on this machine that shows what was said in
// sessions, what memkernel added and saved, and memory. It lets in one browser, by a link that is
// valid once. It changes memory only if [Options.Voice] is set. A page reads its data from /api/, as
// documents of doc/json.md. Text of sessions is masked and is never used as markup or as a link.
//
// The package plans nothing itself. Package replay has a kernel plan a recorded session in
// temporary folders.
package ui

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/serve/proxy"
)

// Options are the sources and the settings of a window.
type Options struct {
	Kernel *kernel.Kernel
	Prices *cachelayout.Book
	// Workspace is shown on the page.
	Workspace string
	// Location is the time zone of days. A nil Location is UTC.
	Location *time.Location
	// Private means that MEMORY.md and USER.md may be shown.
	Private bool
	// Voice is the author of the changes that a visitor makes to memory: a person or an agent.
	// Without a voice the window only reads.
	Voice api.Voice
	// Transcripts returns files and folders of recorded sessions.
	Transcripts func() []string
	// Elsewhere returns folders with sessions of other workspaces.
	Elsewhere func() []string
	// Window, Economy and Resolver are the settings by which recorded sessions are planned again.
	// Window is in tokens. 0 is the price book's window.
	Window   int
	Economy  cachelayout.Economy
	Resolver string
	// Audit has the thresholds of an audit.
	Audit api.AuditOptions
	// Doctor runs a doctor. It may be nil.
	Doctor func(context.Context) (*health.Report, error)
	// Hint completes the commands of a hint.
	Hint func(string) string
	// Masker finds secrets. A nil Masker uses all rules.
	Masker *mask.Masker
}

// mask masks secrets in a text, and makes visible the characters that can't be seen or that
// reverse the order of writing.
func (o *Options) mask(s string) string { return textutil.Visible(o.Masker.Text(s)) }

// begin returns the first `most` bytes of a text with its secrets masked. It reads little more
// than these bytes, because a text may have many megabytes.
func (o *Options) begin(s string, most int) string {
	return clip(o.mask(clip(s, most+longestSecret)), most)
}

// head is begin for a line of a list: it ends in an ellipsis if it is not the whole text.
func (o *Options) head(s string, most int) string {
	out := o.begin(s, most)
	if len(s) > most && len(out) > most-utf8.UTFMax {
		out += "…"
	}
	return out
}

// longestSecret is a bound that is longer than any private key.
const longestSecret = 16 << 10

// Server is a window that is open.
type Server struct {
	o        Options
	gate     *gate
	shelf    *shelf
	listener net.Listener
	http     http.Server
	ctx      context.Context // ends with the server
	stop     context.CancelFunc
	slow     once
}

// Listen opens a window at an address of this machine, such as 127.0.0.1:0.
func Listen(addr string, o Options) (*Server, error) {
	if err := proxy.CheckListen(addr, false); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	s := &Server{o: o, gate: newGate(l.Addr()), listener: l}
	s.shelf = &shelf{o: &s.o}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.http = http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return s.ctx }}
	return s, nil
}

// Link returns the address that lets in one browser, once.
func (s *Server) Link() string {
	return "http://" + s.listener.Addr().String() + "/#token=" + s.gate.token
}

// Serve answers until ctx ends.
func (s *Server) Serve(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- s.http.Serve(s.listener) }()
	select {
	case err := <-ended:
		s.Close()
		return err
	case <-ctx.Done():
	}
	s.stop()
	shut, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.http.Shutdown(shut)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	<-ended
	s.shelf.Close()
	return err
}

// Close ends a server that does not serve.
func (s *Server) Close() error {
	s.stop()
	err := s.http.Close()
	s.listener.Close()
	s.shelf.Close()
	return err
}

// once caches values that are slow to make. One caller at a time makes a value.
type once struct {
	mu   sync.Mutex
	kept map[string]*kept
}

type kept struct {
	mu    sync.Mutex
	at    time.Time
	state string
	value any
}

// mostKept bounds the kept answers.
const mostKept = 64

// cached returns the value of a name, which make1 made at most age ago from the same state.
func cached[T any](o *once, name, state string, age time.Duration, make1 func() (T, error)) (value T, err error) {
	o.mu.Lock()
	k := o.kept[name]
	if k == nil {
		if o.kept == nil || len(o.kept) >= mostKept {
			o.kept = map[string]*kept{}
		}
		k = &kept{}
		o.kept[name] = k
	}
	o.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.value != nil && k.state == state && time.Since(k.at) < age {
		return k.value.(T), nil
	}
	if value, err = make1(); err == nil {
		k.at, k.state, k.value = time.Now(), state, value
	}
	return value, err
}

//go:embed assets
var assets embed.FS

//go:embed shell.html
var shellText string

//go:embed door.html
var doorText string

// shell is the page that shows all views. door is the page that exchanges the token for a cookie.
var (
	shell = template.Must(template.New("shell").Parse(shellText))
	door  = template.Must(template.New("door").Parse(doorText))
)

// serveAsset serves the page's own files. They have no data of the user.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if st, err := fs.Stat(assets, name); err != nil || st.IsDir() {
		refuse(w, http.StatusNotFound, "there is no such file")
		return
	}
	http.ServeFileFS(w, r, assets, name)
}

// showPage writes a page.
func showPage(w http.ResponseWriter, page *template.Template, o *Options) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	page.Execute(w, o) // it fails only if the client has gone
}
