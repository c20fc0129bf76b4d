package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel"
)

// empty is the answer by which each host goes on as if there were no hook.
var empty = map[Host]string{claude: "", codex: "{}\n", gemini: "{}\n"}

// eventAt is what a host calls a moment.
func eventAt(h Host, m moment) string {
	for name, of := range h.row().moments {
		if of == m {
			return name
		}
	}
	return ""
}

// TestNothingFailsTheHost gives each host's hook what it can't use.
func TestNothingFailsTheHost(t *testing.T) {
	for _, h := range allHosts() {
		for name, in := range map[string]string{
			"nothing":        ``,
			"no JSON":        `{"hook_event_name":`,
			"a list":         `[]`,
			"another type":   `{"hook_event_name":7,"cwd":"$P"}`,
			"no event":       `{"session_id":"s","cwd":"$P"}`,
			"no session":     `{"hook_event_name":"` + eventAt(h, userPrompt) + `","cwd":"$P","prompt":"x"}`,
			"foreign event":  `{"hook_event_name":"Whatever","session_id":"s","cwd":"$P"}`,
			"no folder":      `{"hook_event_name":"` + eventAt(h, turnEnd) + `","session_id":"s","cwd":"$P/gone"}`,
			"relative":       `{"hook_event_name":"` + eventAt(h, turnEnd) + `","session_id":"s","cwd":"."}`,
			"no transcript":  `{"hook_event_name":"` + eventAt(h, turnEnd) + `","session_id":"s","cwd":"$P","transcript_path":"$P/gone.jsonl"}`,
			"null":           `{"hook_event_name":"` + eventAt(h, turnEnd) + `","session_id":"s","cwd":"$P","transcript_path":null}`,
			"a folder":       `{"hook_event_name":"` + eventAt(h, turnEnd) + `","session_id":"s","cwd":"$P","transcript_path":"$P"}`,
			"no transcript2": `{"hook_event_name":"` + eventAt(h, turnEnd) + `","session_id":"s","cwd":"$P","transcript_path":"$P/MEMORY.md"}`,
			"odd session":    `{"hook_event_name":"` + eventAt(h, turnEnd) + `","session_id":"../../../x\u0000","cwd":"$P"}`,
		} {
			t.Run(string(h)+"/"+name, func(t *testing.T) {
				p := newProject(t, memoryFiles)
				if out := p.raw(h, strings.ReplaceAll(in, "$P", p.dir)); out != empty[h] {
					t.Errorf("answer %q, want %q", out, empty[h])
				}
				if _, err := os.Stat(filepath.Join(p.dir, "..", "x")); err == nil {
					t.Error("a session's name led out of the state directory")
				}
			})
		}
	}
}

// TestErrorsAreLogged: the log names the event and the cause, and stays bounded.
func TestErrorsAreLogged(t *testing.T) {
	p := newProject(t, memoryFiles)
	p.spoil = func(*Setup) { panic("a bug\nof ours") }
	event := map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": "deploy window"}
	if out := p.hook(codex, event); out != "{}\n" {
		t.Errorf("answer %q", out)
	}
	log := p.log()
	if !strings.Contains(log, "codex UserPromptSubmit s1: panic: a bug of ours") || strings.Count(log, "\n") != 1 {
		t.Errorf("log: %q", log)
	}
	long := errors.New(strings.Repeat("é", maxLog))
	for range 3 {
		if err := os.Truncate(filepath.Join(p.state, logFile), maxLog-maxLogLine); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := logLine(p.state, now, long.Error()); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{logFile, logFile + ".1"} {
		st, err := os.Stat(filepath.Join(p.state, name))
		if err != nil || st.Size() > maxLog+2*maxLogLine {
			t.Errorf("%s: %v, %v", name, st, err)
		}
	}
}

// TestDeadline: a hook that hangs is answered for when its time is up. The clock is
// synctest's, which does not move until the hook hangs, and the hook has ended before its
// folder is removed.
func TestDeadline(t *testing.T) {
	p := newProject(t, memoryFiles)
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		defer close(hang)
		o := Options{Host: gemini, Deadline: time.Millisecond, Getenv: func(string) string { return "" }, Problems: &p.problems,
			Open: func(context.Context, string, string) (*Setup, error) { <-hang; return nil, errors.New("late") }}
		var out bytes.Buffer
		in := fmt.Sprintf(`{"hook_event_name":"BeforeAgent","session_id":"s","cwd":%q,"prompt":"x"}`, p.dir)
		if err := Run(t.Context(), o, strings.NewReader(in), &out); err != nil || out.String() != "{}\n" {
			t.Errorf("%q, %v", out.String(), err)
		}
	})
	if !strings.Contains(p.log(), "more than 1ms") {
		t.Errorf("log: %s", p.log())
	}
}

// TestNobodysFolder: a folder that nobody set up becomes no workspace by a hook.
func TestNobodysFolder(t *testing.T) {
	home := t.TempDir()
	below := filepath.Join(home, "src", "x")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{home, "/", "", "x", below} {
		if got := findWorkspace(dir); got != "" {
			t.Errorf("findWorkspace(%q) = %q", dir, got)
		}
	}
	if err := os.MkdirAll(filepath.Join(home, "src", kernel.DefaultStateDir), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, want := findWorkspace(below), filepath.Join(home, "src"); got != want {
		t.Errorf("below a workspace: %q, want %q", got, want)
	}
}

// TestSideBySide: events of one session that come at once commit each turn once.
func TestSideBySide(t *testing.T) {
	p := newProject(t, nil)
	var wg sync.WaitGroup
	for _, name := range []string{"PreCompact", "PreCompact", "Stop", "PreCompact", "SessionEnd", "Stop"} {
		wg.Go(func() {
			o := Options{Host: claude, Now: func() time.Time { return now }, Getenv: func(string) string { return "" }, Deadline: time.Minute,
				Open: func(ctx context.Context, w, s string) (*Setup, error) {
					k, err := kernel.Open(ctx, w, &kernel.Options{StateDir: s})
					return &Setup{Kernel: k, Private: true, Prices: cachelayout.DefaultBook()}, err
				}}
			in := fmt.Sprintf(`{"hook_event_name":%q,"session_id":"s1","cwd":%q,"transcript_path":%q}`, name, p.dir, sampleAbs(t))
			if err := Run(context.Background(), o, strings.NewReader(in), &bytes.Buffer{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if want, _ := whole(t, claude, sampleAbs(t)); p.turns("claude:s1") != want {
		t.Errorf("%d turns, want %d", p.turns("claude:s1"), want)
	}
	if log := p.log(); log != "" {
		t.Errorf("log: %s", log)
	}
}

func sampleAbs(t *testing.T) string {
	abs, err := filepath.Abs(sample)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// TestRewrittenTranscript: a transcript with other bytes before the seam is read
// whole, and a record that is damaged is begun anew.
func TestRewrittenTranscript(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "claude", "transcript.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	p := newProject(t, nil)
	path := filepath.Join(t.TempDir(), "t.jsonl")
	stop := func() {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		p.hook(claude, map[string]any{"hook_event_name": "Stop", "transcript_path": path})
	}
	stop()
	before, _ := readRecord(p.state, "claude:s1")
	data = bytes.ReplaceAll(data, []byte("Tuesday"), []byte("Monday!"))
	n, err := readNews(claude, path, before.Seam)
	if err != nil || len(n.msgs) > 3 {
		t.Fatalf("%d messages were read behind the seam, %v", len(n.msgs), err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err = readNews(claude, path, before.Seam); err != nil || len(n.msgs) < 8 {
		t.Errorf("%d messages were read of a file that was rewritten, %v", len(n.msgs), err)
	}
	if err := os.WriteFile(folder(p.state).Where(safeName("claude:s1")+".json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	stop()
	if log := p.log(); !strings.Contains(log, "begun anew") {
		t.Errorf("log: %s", log)
	}
}

// TestGauge: a threshold is reported once, with a checkpoint where it asks for one.
func TestGauge(t *testing.T) {
	p := newProject(t, nil)
	p.window = 1200 // the transcript's calls have 1020
	path, err := filepath.Abs(filepath.Join("testdata", "claude", "transcript.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	p.hook(claude, map[string]any{"hook_event_name": "Stop", "transcript_path": path})
	ask := map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": "go on", "transcript_path": path}
	if got := contextOf(t, p.hook(claude, ask)); !strings.Contains(got, "[Context: 85%") || !strings.Contains(got, "Checkpoint saved") || strings.Count(got, "memory_append") != 1 {
		t.Errorf("gauge: %q", got)
	}
	if got := contextOf(t, p.hook(claude, ask)); got != "" {
		t.Errorf("told again: %q", got)
	}
}

// TestSummaryWritesDown: what Claude Code's summariser was asked to write down beside its
// summary is in the day's log once, masked and as the agent's, and told in the hooks' log.
func TestSummaryWritesDown(t *testing.T) {
	path, err := filepath.Abs(filepath.Join("testdata", "claude", "transcript.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	secret := "AKIA" + "IOSFODNN7EXAMPLE"
	for _, off := range []bool{false, true} {
		p := newProject(t, nil)
		p.flushOff = off
		asked := p.hook(claude, map[string]any{"hook_event_name": "PreCompact", "trigger": "auto", "transcript_path": path})
		if strings.Contains(asked, "<memory>") == off {
			t.Errorf("flushes off %v, the summariser is told\n%s", off, asked)
		}
		if off {
			continue
		}
		for range 2 { // hosts repeat themselves
			if out := p.hook(claude, map[string]any{"hook_event_name": "PostCompact", "trigger": "auto", "transcript_path": path,
				"compact_summary": "1. The goal.\n\n<memory>\n- [decision] The ledger moves to Oslo, the key is " + secret + ".\n</memory>"}); out != "" {
				t.Errorf("answered %q", out)
			}
		}
		p.hook(claude, map[string]any{"hook_event_name": "PostCompact", "trigger": "auto", "transcript_path": path, "compact_summary": "- [decision] Of a summary without memories."})
		data, err := os.ReadFile(filepath.Join(p.dir, "memory", "2026-11-20.md"))
		if err != nil {
			t.Fatal(err, p.log())
		}
		text := string(data)
		if strings.Count(text, "moves to Oslo") != 1 || !strings.Contains(text, "<!-- mk:fa-") || strings.Contains(text, secret) || strings.Contains(text, "without memories") {
			t.Errorf("the day's log says\n%s", text)
		}
		if log := p.log(); strings.Count(log, "\n") != 1 || !strings.Contains(log, "PostCompact s1: flush: 1 entry to memory/2026-11-20.md") {
			t.Errorf("log: %s", log)
		}
	}
}

// TestHandedOver: a turn's end goes on without what the commit doesn't need, and is
// committed at once where that fails.
func TestHandedOver(t *testing.T) {
	p := newProject(t, nil)
	path := sampleAbs(t)
	var got string
	o := Options{Host: claude, Open: p.open, Getenv: func(string) string { return "" }, Deadline: time.Minute,
		Behind: func(event []byte) error { got = string(event); return nil }}
	in := fmt.Sprintf(`{"hook_event_name":"Stop","session_id":"s1","cwd":%q,"transcript_path":%q,"last_assistant_message":"long"}`, p.dir, path)
	for _, fails := range []bool{false, true} {
		if fails {
			o.Behind = func([]byte) error { return errors.New("no process") }
		}
		var out bytes.Buffer
		if err := Run(context.Background(), o, strings.NewReader(in), &out); err != nil || out.Len() > 0 {
			t.Errorf("%q, %v", out.String(), err)
		}
		if committed := p.opened > 0; committed != fails {
			t.Errorf("hand over fails %v, committed at once %v", fails, committed)
		}
	}
	if strings.Contains(got, "last_assistant") || !strings.Contains(got, `"session_id":"s1"`) {
		t.Errorf("handed over: %s", got)
	}
}

// TestUnreadTranscripts: a transcript that holds something and can't be read is reported as
// that, by its name, for every host; nothing is committed of it, and once it can be read
// it is. One that is missing or empty is reported to nobody.
func TestUnreadTranscripts(t *testing.T) {
	for _, h := range allHosts() {
		good, err := os.ReadFile(filepath.Join("testdata", string(h), "transcript.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		p := newProject(t, nil)
		path := filepath.Join(t.TempDir(), "the-file")
		event := map[string]any{"hook_event_name": eventAt(h, turnEnd), "transcript_path": path}
		said := 0
		for _, bad := range []struct {
			name, text string
			silent     bool
		}{
			{"empty", "", true}, {"blank", " \n\n", true}, {"half a line", string(good[:len(good)/100]), false}, {"zeros", strings.Repeat("\x00", 99), false},
			{"zeros and a line", "\x00\x00\x00\n", false}, {"words", "hello\n", false}, {"packed", "\x1f\x8b\x08\n\x00", false}, {"a list", "[]\n", false}, {"other JSON", "{}\n", false},
			{"a document, cut", `{"sessionId":"s","projectHash":"h","messages":[{"id":"a","type":"us`, false},
		} {
			if err := os.WriteFile(path, []byte(bad.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if out := p.hook(h, event); out != empty[h] {
				t.Errorf("%s, %s: %q", h, bad.name, out)
			}
			log := p.log()
			if news := log[said:]; bad.silent != (news == "") || !bad.silent && (!strings.Contains(news, path) || strings.Contains(news, "empty")) {
				t.Errorf("%s, %s: log: %q", h, bad.name, news)
			}
			said = len(log)
		}
		if os.Getuid() != 0 { // whom no mode keeps out
			if err := os.Chmod(path, 0); err != nil {
				t.Fatal(err)
			}
			p.hook(h, event)
			if news := p.log()[said:]; !strings.Contains(news, path) || !strings.Contains(news, "permission") {
				t.Errorf("%s: log: %q", h, news)
			}
			os.Remove(path)
		}
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
		if p.hook(h, event); p.turns(h.Key("s1")) == 0 {
			t.Errorf("%s: nothing is committed: %s", h, p.log())
		}
	}
}
