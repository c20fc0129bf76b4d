package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/markdownstore"
)

var update = flag.Bool("update", false, "write the golden files anew")

const sample = "../../testdata/session.jsonl"

// now is when all tests take place.
var now = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// project is a workspace with hooks.
type project struct {
	*testing.T
	dir, state string
	problems   bytes.Buffer
	window     int
	opened     int
	include    []string
	flushOff   bool
	extension  bool
	env        map[string]string
	later      time.Duration // the time since now
	spoil      func(*Setup)
}

func newProject(t *testing.T, files map[string]string) *project {
	t.Helper()
	p := &project{T: t, dir: filepath.Join(t.TempDir(), "project")}
	p.state = filepath.Join(p.dir, kernel.DefaultStateDir)
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p.put(".memkernel/.gitignore", "*")
	for path, text := range files {
		p.put(path, text)
	}
	if len(files) > 0 {
		k := p.kernel()
		if _, err := k.Reindex(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *project) put(path, text string) {
	p.Helper()
	path = filepath.Join(p.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
}

func (p *project) remove(path string) {
	p.Helper()
	if err := os.RemoveAll(filepath.Join(p.dir, path)); err != nil {
		p.Fatal(err)
	}
}

func (p *project) kernel() *kernel.Kernel {
	p.Helper()
	k, err := kernel.Open(context.Background(), p.dir, &kernel.Options{StateDir: p.state, Now: func() time.Time { return now }})
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { k.Close() })
	return k
}

func (p *project) open(ctx context.Context, workspace, stateDir string) (*Setup, error) {
	p.opened++
	k, err := kernel.Open(ctx, workspace, &kernel.Options{StateDir: stateDir, Now: func() time.Time { return now }, Memory: kernel.MemoryOptions{NoSpans: true, Store: markdownstore.Options{Include: p.include}},
		Life: kernel.LifeOptions{NoFlush: p.flushOff}})
	if err != nil {
		return nil, err
	}
	store, err := markdownstore.Open(workspace, &markdownstore.Options{Private: true, Timezone: time.UTC})
	if err != nil {
		return nil, err
	}
	s := &Setup{Kernel: k, Store: store, Private: true, Prices: cachelayout.DefaultBook(), Window: p.window, Thresholds: checkpoint.DefaultThresholds()}
	if p.spoil != nil {
		p.spoil(s)
	}
	return s, nil
}

// hook runs one event and gives what was printed.
func (p *project) hook(h Host, event map[string]any) string {
	p.Helper()
	if event["cwd"] == nil {
		event["cwd"] = p.dir
	}
	if event["session_id"] == nil {
		event["session_id"] = "s1"
	}
	raw, err := json.Marshal(event)
	if err != nil {
		p.Fatal(err)
	}
	return p.raw(h, string(raw))
}

func (p *project) raw(h Host, in string) string {
	p.Helper()
	var out bytes.Buffer
	o := Options{Host: h, Extension: p.extension, Open: p.open, Now: func() time.Time { return now.Add(p.later) }, Getenv: func(name string) string { return p.env[name] }, Problems: &p.problems, Deadline: time.Minute}
	if err := Run(context.Background(), o, strings.NewReader(in), &out); err != nil {
		p.Fatal(err)
	}
	return out.String()
}

// log is what the hooks had to say.
func (p *project) log() string {
	data, _ := os.ReadFile(filepath.Join(p.state, logFile))
	return string(data) + p.problems.String()
}

// turns counts the committed turns of a session.
func (p *project) turns(key string) int {
	p.Helper()
	st, _, err := p.kernel().SessionStatus(context.Background(), key)
	if err != nil {
		p.Fatal(err)
	}
	return st.Turns
}

// text is the model's text in an answer.
func contextOf(t *testing.T, out string) string {
	t.Helper()
	if strings.TrimSpace(out) == "" {
		return ""
	}
	var a struct {
		Specific struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		t.Fatalf("%v: %q", err, out)
	}
	return a.Specific.Context
}
